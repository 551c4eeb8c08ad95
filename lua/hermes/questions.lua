--- The questions that agents ask the user, permissions and elicitations alike.
---
--- They wait in one queue and are asked one at a time. A question comes up only
--- while the user's hands are free: in normal mode, with nothing half typed and
--- no key pressed for a moment. Until then a single message names the waiting
--- agent, and every key goes where the user sends it.

local M = {}

--- After this many milliseconds an unanswered question expires.
M.timeout_ms = 30 * 60 * 1000

--- A question comes up once no key has been pressed for this many milliseconds.
M.quiet_ms = 500

local tick_ms = 25

---@class hermes.Question
---@field id string request id
---@field agent string
---@field ask fun() puts the question on the screen, even if it is already there
---@field close fun() takes it off the screen; the user can no longer answer it
---@field expire fun() answers when the user does not
---@field timer? uv.uv_timer_t

local queue = {} ---@type hermes.Question[]
local asked ---@type hermes.Question? the first of the queue, while it is on the screen
local noticed = false -- the user has been told that a question waits
local watch ---@type uv.uv_timer_t? runs while a question waits for free hands
local last_key_ms = 0
local keys = vim.api.nvim_create_namespace("hermes_questions")

---@return number milliseconds
local function now()
  return vim.uv.hrtime() / 1e6
end

--- True without a screen: then only a picker of the user's own can answer.
---@return boolean
function M.unattended()
  return #vim.api.nvim_list_uis() == 0
end

--- Safe in fast events.
---@return boolean
local function in_normal_mode()
  local mode = vim.api.nvim_get_mode()
  return not mode.blocking and (mode.mode == "n" or mode.mode == "nt")
end

--- True when nothing is half typed: no operator, register, count or mapping is
--- pending, no macro is being recorded or executed, no menu is open.
---@return boolean
local function hands_free()
  return in_normal_mode()
    and vim.fn.getcmdwintype() == ""
    and vim.fn.reg_recording() == ""
    and vim.fn.reg_executing() == ""
    and vim.fn.pumvisible() == 0
    -- Without a screen nobody types, and a script never reaches a "safe" state.
    and (M.unattended() or vim.fn.state("moxaS") == "")
end

-- Modes in which a message disturbs nobody. It would cover a command line, a
-- prompt or a menu, and in Visual mode Neovim would pause for three seconds.
local readable = { n = true, nt = true, no = true, i = true, R = true, Rv = true, t = true }

--- Safe in fast events.
---@return boolean
local function may_notice()
  local mode = vim.api.nvim_get_mode()
  return not noticed and not mode.blocking and readable[mode.mode] == true
end

--- Says once that an agent is waiting.
local function notice()
  if asked or not queue[1] or not may_notice() then
    return
  end
  noticed = true
  last_key_ms = now() -- time to read it
  local agent = require("hermes.text").line(queue[1].agent, 30)
  require("hermes.log").notify(
    vim.log.levels.INFO,
    agent .. " waits for your answer (:Hermes respond)"
  )
end

local function stop_watching()
  if watch then
    watch:stop()
    watch:close()
    watch = nil
    vim.on_key(nil, keys)
  end
end

local try

--- Checks again from time to time. Neovim itself is woken only when there may
--- be something to do.
local function start_watching()
  if watch then
    return
  end
  vim.on_key(function()
    last_key_ms = now()
  end, keys)
  watch = assert(vim.uv.new_timer())
  watch:start(tick_ms, tick_ms, function()
    if not in_normal_mode() then
      if may_notice() then
        vim.schedule(notice)
      end
    elseif now() - last_key_ms >= M.quiet_ms then
      vim.schedule(try)
    end
  end)
end

--- Asks the first question, now or once it disturbs nobody.
function try()
  local question = queue[1]
  if not question or asked then
    noticed = false
    return stop_watching()
  end
  local free = hands_free()
  if free and (M.unattended() or now() - last_key_ms >= M.quiet_ms) then
    stop_watching()
    asked, noticed = question, false
    return question.ask()
  elseif not free then
    notice()
  end
  start_watching()
end

--- Puts a question at the end of the queue.
---@param question hermes.Question
function M.add(question)
  queue[#queue + 1] = question
  question.timer = assert(vim.uv.new_timer())
  question.timer:start(
    M.timeout_ms,
    0,
    vim.schedule_wrap(function()
      if M.remove(question.id) then
        question.expire()
      end
    end)
  )
  if #queue == 1 then
    last_key_ms = now() -- a key may just have been pressed
    vim.schedule(try)
  end
end

--- Removes a question because it was answered or withdrawn, and continues with
--- the next one.
---@param id string
---@return boolean removed false when it was already gone
function M.remove(id)
  for i, question in ipairs(queue) do
    if question.id == id then
      table.remove(queue, i)
      question.timer:stop()
      question.timer:close()
      question.close()
      if asked == question then
        asked = nil
        last_key_ms = now()
      end
      vim.schedule(try)
      return true
    end
  end
  return false
end

--- Asks the question on the screen again, or its next part.
---@param id string
function M.again(id)
  if asked and asked.id == id then
    asked, last_key_ms = nil, -math.huge
    vim.schedule(try)
  end
end

--- Asks the first question now, or again if its picker closed without an
--- answer. If the user is busy with something else it still waits.
---@return integer waiting number of questions without an answer
function M.open()
  vim.schedule(function()
    if in_normal_mode() then
      asked, last_key_ms = nil, -math.huge
      try()
    end
  end)
  return #queue
end

return M
