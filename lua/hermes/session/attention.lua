---Draws the user's attention to sessions.
local M = {}

local text = require("hermes.core.text")

---@class hermes.Notice
---@field kind "waiting"|"done"|"failed"
---@field agent string
---@field sessionId? string
---@field text string one line that is safe to show

local focused = true -- Neovim has the focus, as far as the terminal says
local turns = {} ---@type table<string, integer|string> ids of progress messages, by prompt
local used = false -- somebody shows the statusline

---@return table
local function config()
  return require("hermes.core.config").get().attention
end

---------------------------------------------------------------------------
-- The statusline.

---@param session hermes.SessionInfo
---@return string
local function meter(session)
  local parts = {}
  if session.percent then
    parts[1] = ("%d%%"):format(session.percent)
  end
  local cost = session.usage and session.usage.cost
  local amount = cost and tonumber(cost.amount)
  if amount then
    local currency = text.line(cost.currency or "", 8)
    parts[#parts + 1] = ("%.2f %s"):format(amount, currency)
  end
  return #parts > 0 and " (" .. table.concat(parts, ", ") .. ")" or ""
end

---@class hermes.StatuslineOpts
---@field agent? string only sessions of this agent
---@field session_id? string only this session
---@field format? fun(sessions: hermes.SessionInfo[]): string what to show instead; its result is
---escaped as well

---@param sessions hermes.SessionInfo[]
---@return string
local function describe(sessions)
  if #sessions == 1 then
    local only = sessions[1]
    local state = only.state == "idle" and only.ended or only.state
    local queue = only.queued > 0 and (" +%d"):format(only.queued) or ""
    return ("%s: %s%s%s"):format(text.line(only.agent, 30), state, queue, meter(only))
  end
  local counts, parts = {}, {}
  for _, session in ipairs(sessions) do
    counts[session.state] = (counts[session.state] or 0) + 1
  end
  for _, state in ipairs({ "waiting", "cancelling", "running", "replaying", "idle" }) do
    if counts[state] then
      parts[#parts + 1] = ("%d %s"):format(counts[state], state)
    end
  end
  return table.concat(parts, ", ")
end

---For a statusline: `%{%v:lua.require'hermes'.statusline()%}`. Texts of agents are escaped; nothing
---in them is evaluated.
---@param opts? hermes.StatuslineOpts
---@return string empty when there is nothing to say
function M.statusline(opts)
  opts, used = opts or {}, true
  if not package.loaded["hermes.core.rpc"] then
    return "" -- nothing has been connected
  end
  local sessions = require("hermes.session.overview").sessions({
    agent = opts.agent,
    session_id = opts.session_id,
    waiting_first = true,
  })
  local shown
  if opts.format then
    shown = opts.format(sessions)
  elseif #sessions > 0 then
    shown = describe(sessions)
  else
    local names = {}
    for name, agent in vim.spairs(require("hermes.session.state").agents()) do
      if not opts.session_id and (not opts.agent or opts.agent == name) then
        names[#names + 1] = ("%s: %s"):format(text.line(name, 30), agent.state)
      end
    end
    shown = table.concat(names, ", ")
  end
  return (text.line(shown or "", 200):gsub("%%", "%%%%"))
end

---------------------------------------------------------------------------
-- Notices.

---@private
---@return string how many sessions wait and run
function M._title()
  local waiting, running = 0, 0
  for _, session in ipairs(require("hermes.session.overview").sessions()) do
    waiting = waiting + (session.state == "waiting" and 1 or 0)
    running = running + (session.state == "running" and 1 or 0)
  end
  local parts = {}
  parts[1] = waiting > 0 and ("%d waiting"):format(waiting) or nil
  parts[#parts + 1] = running > 0 and ("%d running"):format(running) or nil
  return #parts > 0 and ("[%s] "):format(table.concat(parts, ", ")) or ""
end

local redrawing = false

---Draws the statusline and the title again, once for many changes.
local function redraw()
  if redrawing or not (used or config().title) then
    return
  end
  redrawing = true
  vim.schedule(function()
    redrawing = false
    if config().title then
      vim.o.title = true
      if not vim.o.titlestring:find("hermes.session.attention", 1, true) then
        local own = vim.o.titlestring
        vim.o.titlestring = "%{v:lua.require'hermes.session.attention'._title()}"
          .. (own ~= "" and own or "%t - Nvim")
      else
        vim.o.titlestring = vim.o.titlestring -- evaluated now
      end
    end
    if used then
      vim.cmd.redrawstatus({ bang = true })
    end
  end)
end

---Whether the user cannot see what becomes of a session: Neovim has lost the
---focus, or no window shows a buffer with its id in `b:hermes_session`.
---@param session_id? string
---@return boolean
function M.away(session_id)
  if not focused then
    return true
  end
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if session_id and vim.b[vim.api.nvim_win_get_buf(window)].hermes_session == session_id then
      return false
    end
  end
  return true
end

---@return boolean
function M.has_focus()
  return focused
end

local function ring()
  if vim.fn.has("nvim-0.12") == 1 then
    vim.api.nvim_ui_send("\7")
  else
    pcall(vim.api.nvim_chan_send, vim.v.stderr, "\7")
  end
end

---Tells the user, as far as setup() wants it.
---@param notice hermes.Notice
function M.tell(notice)
  local wanted = config()
  if not wanted[notice.kind] then
    return
  end
  if wanted.bell then
    ring()
  end
  if wanted.notify then
    local guard = require("hermes.core.log").guard
    vim.schedule(function()
      guard("attention.notify", wanted.notify, notice)
    end)
    return
  end
  local levels = vim.log.levels
  local level = notice.kind == "failed" and levels.ERROR or levels.INFO
  require("hermes.core.log").notify(level, notice.text)
end

---Whether a buffer shows the session, in a window or not. Other sessions belong to scripts, which
---report their state themselves.
---@param session_id string
---@return boolean
local function is_shown(session_id)
  return vim.iter(vim.api.nvim_list_bufs()):any(function(buf)
    return vim.b[buf].hermes_session == session_id
  end)
end

---@param kind "done"|"failed"
---@param data table of TurnEnded
---@param why? string
local function tell_end(kind, data, why)
  local wanted, id = config(), data.sessionId
  if wanted.when == "away" and not (M.away(id) and (wanted.notify or is_shown(id))) then
    return
  end
  local session = require("hermes.session.state").session(data.sessionId, data.agent) or {}
  local named = session.title or session.firstPrompt
  local title = named and ": " .. require("hermes.session.overview").name(session) or ""
  local what = kind == "done" and " is done" or " failed"
  M.tell({
    kind = kind,
    agent = data.agent,
    sessionId = data.sessionId,
    text = text.line(data.agent, 40) .. what .. title .. (why and " (" .. why .. ")" or ""),
  })
end

---------------------------------------------------------------------------
-- Progress messages.

---@param data table of TurnStarted or TurnEnded
---@param status "running"|"success"|"failed"
---@param words string a constant
local function progress(data, status, words)
  if not config().progress or vim.fn.has("nvim-0.12") == 0 then
    return
  end
  local key = data.promptId or data.sessionId
  local id = vim.api.nvim_echo({ { words } }, true, {
    kind = "progress",
    id = turns[key],
    source = "hermes",
    status = status,
    title = text.line(data.agent, 40),
  })
  turns[key] = status == "running" and id or nil
end

local heard = {} ---@type table<string, fun(data: table)>

function heard.StateChanged()
  redraw()
end

heard.UsageUpdate, heard.SessionUpdate, heard.QueueChanged = redraw, redraw, redraw

function heard.AttentionNeeded(data)
  if config().when == "away" and not M.away(data.sessionId) then
    return
  end
  M.tell({
    kind = "waiting",
    agent = data.agent,
    sessionId = data.sessionId,
    text = text.line(data.agent .. " waits in its terminal: " .. data.message, 200),
  })
end

function heard.TurnStarted(data)
  progress(data, "running", "works")
end

function heard.TurnEnded(data)
  local session = require("hermes.session.state").session(data.sessionId, data.agent) or {}
  local how = session.ended
  local words = how == "done" and "is done" or how == "failed" and "failed" or "was cancelled"
  progress(data, how == "failed" and "failed" or "success", words)
  local shown = how == "failed"
    and not config().notify
    and require("hermes.core.rpc").shows_error(data.promptId)
  if how and not shown then
    tell_end(how, data, session.error and text.line(session.error, 200))
  end
  redraw()
end

---Begins to listen. Called when the host starts.
function M.start()
  require("hermes.core.events").own = heard
  local group = vim.api.nvim_create_augroup("hermes_attention", { clear = true })
  vim.api.nvim_create_autocmd("FocusLost", {
    group = group,
    callback = function()
      focused = false
    end,
  })
  vim.api.nvim_create_autocmd("FocusGained", {
    group = group,
    callback = function()
      focused = true
    end,
  })
end

return M
