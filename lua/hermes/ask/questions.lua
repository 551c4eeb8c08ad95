--- The questions that agents ask the user, permissions and elicitations alike.
---
--- They wait in one queue and are asked one at a time. The window of a question
--- opens without focus, and only while the user's hands are free: in normal mode,
--- with nothing half typed and no key pressed for a moment. Until then a single
--- message names the waiting agent. Every key goes where the user sends it: only
--- M.open() lets a question take keys.

local M = {}

--- After this many milliseconds an unanswered question expires.
M.timeout_ms = 30 * 60 * 1000

--- A question comes up once no key has been pressed for this many milliseconds.
M.quiet_ms = 500

-- For this many milliseconds after the user has asked for a question, it may
-- take the keys once they are free.
local wanted_ms = 300

local tick_ms = 25

---@class hermes.Question
---@field id string request id
---@field agent string
---@field session_id? string
---@field ask fun(wanted: boolean) puts the question on the screen, even if it is already there;
---only with `wanted` it may take keys
---@field close fun() takes it off the screen; the user can no longer answer it
---@field leave fun() takes it off the screen until it is asked again
---@field expire fun() answers when the user does not
---@field timer? uv.uv_timer_t
---@field told? string the message that announced it
---@field hidden? boolean the user has put it off

---@class hermes.StandingQuestion a question that stands in a window of something else, takes no
---key there and waits for no other
---@field id string request id
---@field agent string
---@field session_id? string
---@field go fun() takes the user to it
---@field expire fun() answers when the user does not
---@field timer? uv.uv_timer_t
---@field told? string the message that announced it

local queue = {} ---@type hermes.Question[]
local standing = {} ---@type hermes.StandingQuestion[] the oldest first
local asked ---@type hermes.Question? the first of the queue, while it is on the screen
local noticed = false -- a message has said that a question waits
local watch ---@type uv.uv_timer_t? runs while a question waits for free hands
local last_key_ms = 0
local wanted_until = 0 -- ms; until then the user has asked for the question
local came_from ---@type { window: integer, cursor: integer[], mode: string }? left by M.open()
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

--- Whether questions have a window. Without a screen nobody would see one.
---@return boolean
function M.in_window()
  return require("hermes.core.config").get().questions.style == "window" and not M.unattended()
end

--- Whether the number of a choice answers, in a question that the user has gone to.
---@return boolean
function M.digits_answer()
  return require("hermes.core.config").get().questions.digits == "answer"
end

--- Whether a question may come up before the user asks for it.
---@return boolean
local function opens_by_itself()
  return M.unattended() or (M.in_window() and require("hermes.core.config").get().questions.open)
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

---@param question hermes.Question|hermes.StandingQuestion
local function tell(question)
  local agent = require("hermes.core.text").line(question.agent, 30)
  question.told = agent .. " waits for your answer (:Hermes respond)"
  require("hermes.session.attention").tell({
    kind = "waiting",
    agent = question.agent,
    sessionId = question.session_id,
    text = question.told,
  })
end

--- Stops the timer of a question that is over, and hides the message that announced it.
---@param question hermes.Question|hermes.StandingQuestion
local function forget(question)
  question.timer:stop()
  question.timer:close()
  if question.told then
    require("hermes.core.log").hide(question.told)
  end
end

--- Says once that an agent is waiting.
local function notice()
  if asked or not queue[1] or not may_notice() then
    return
  end
  noticed = true
  last_key_ms = now() -- time to read it
  tell(queue[1])
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
    elseif now() < wanted_until or now() - last_key_ms >= M.quiet_ms then
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
  local wanted = now() < wanted_until
  local may = wanted or (not question.hidden and opens_by_itself())
  local free = hands_free()
  if free and may and (wanted or M.unattended() or now() - last_key_ms >= M.quiet_ms) then
    stop_watching()
    if
      not wanted
      and not M.unattended()
      and not require("hermes.session.attention").has_focus()
    then
      tell(question) -- the user does not see the window
    end
    asked, noticed, question.hidden, wanted_until = question, false, false, 0
    return question.ask(wanted)
  elseif not question.hidden and not (free and may) then
    notice()
  end
  if may or not (noticed or question.hidden) then
    start_watching()
  else
    stop_watching()
  end
end

--- Goes back to the mode that M.open() left.
local function go_back()
  local from = came_from
  came_from = nil
  if not from or vim.api.nvim_get_current_win() ~= from.window then
    return
  elseif from.mode == "t" then
    return vim.cmd.startinsert()
  end
  pcall(vim.api.nvim_win_set_cursor, from.window, from.cursor)
  if from.cursor[2] > vim.api.nvim_win_get_cursor(from.window)[2] then
    vim.cmd("startinsert!")
  elseif from.mode == "R" then
    vim.cmd.startreplace()
  else
    vim.cmd.startinsert()
  end
end

---@param question hermes.Question|hermes.StandingQuestion
local function limit(question)
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
end

--- Adds a question that is on the screen already, such as in a chat.
---@param question hermes.StandingQuestion
function M.stand(question)
  standing[#standing + 1] = question
  limit(question)
  if not M.unattended() and not require("hermes.session.attention").has_focus() then
    tell(question) -- the user does not see it
  end
end

--- Puts a question at the end of the queue.
---@param question hermes.Question
function M.add(question)
  queue[#queue + 1] = question
  limit(question)
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
  for i, question in ipairs(standing) do
    if question.id == id then
      table.remove(standing, i)
      forget(question)
      return true
    end
  end
  for i, question in ipairs(queue) do
    if question.id == id then
      table.remove(queue, i)
      forget(question)
      question.close()
      if asked == question then
        asked = nil
        last_key_ms = now()
        go_back()
      end
      vim.schedule(try)
      return true
    end
  end
  return false
end

--- Asks the question on the screen again, or its next part. The user has just
--- answered the part before, and expects it.
---@param id string
function M.again(id)
  if asked and asked.id == id then
    asked, wanted_until = nil, now() + wanted_ms
    vim.schedule(try)
  end
end

--- Puts the question on the screen off until the user asks for it.
---@param id string
function M.hide(id)
  if asked and asked.id == id then
    asked.hidden, asked = true, nil
    go_back()
    vim.schedule(try)
  end
end

--- Leaves the mode that the user is in, to come back to it later.
local function leave_mode()
  local mode = vim.api.nvim_get_mode().mode:sub(1, 1)
  if mode == "i" or mode == "R" or mode == "t" then
    local window = vim.api.nvim_get_current_win()
    came_from = { window = window, cursor = vim.api.nvim_win_get_cursor(window), mode = mode }
    vim.cmd.stopinsert()
  elseif ("vVsS\22\19"):find(mode, 1, true) then
    vim.cmd("normal! \27")
  end
end

--- Moves a question to the front. Another one that is on the screen makes room for it.
---@param question hermes.Question
local function prefer(question)
  for i, one in ipairs(queue) do
    if one == question then
      table.insert(queue, 1, table.remove(queue, i))
    end
  end
  if asked and asked ~= question then
    asked.leave()
    asked = nil
  end
end

--- Goes to a question: to its window, or to a picker, also if it was hidden or closed without an
--- answer. From now on it may take keys. While the user is busy with something else it still waits.
---@param id? string of the question, by default the first one
---@return boolean found false when no such question waits for the user
function M.open(id)
  local question = not id and queue[1] or nil ---@type hermes.Question?
  local there = not id and not question and standing[1] or nil ---@type hermes.StandingQuestion?
  for _, one in ipairs(id and queue or {}) do
    question = one.id == id and one or question
  end
  for _, one in ipairs(id and standing or {}) do
    there = one.id == id and one or there
  end
  if there then
    leave_mode()
    came_from = nil -- the user stays there
    vim.schedule(there.go)
  elseif question then
    leave_mode()
    vim.schedule(function()
      if not vim.tbl_contains(queue, question) then
        return -- it was answered or withdrawn meanwhile
      end
      prefer(question)
      asked, wanted_until = nil, now() + wanted_ms
      try()
    end)
  end
  return (there or question) ~= nil
end

---@return { id: string, agent: string, hidden: boolean }[] questions without an answer, the next
---one first
function M.list()
  return vim.tbl_map(function(question)
    return { id = question.id, agent = question.agent, hidden = question.hidden == true }
  end, queue)
end

return M
