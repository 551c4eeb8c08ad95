---The status window: agents, their sessions and what waits, with keys to act on them.
local M = {}

local choose = require("hermes.view.choose")
local pane = require("hermes.view.pane")

local topic = "status"
local namespace = vim.api.nvim_create_namespace("hermes_status")

local function hermes()
  return require("hermes")
end

---@class hermes.StatusRow
---@field text string
---@field key? string what stays the same when the row moves
---@field highlight? string
---@field agent? string
---@field connected? boolean
---@field session? hermes.SessionInfo
---@field request? hermes.PendingRequest

local rows = {} ---@type hermes.StatusRow[] of the window

---@param n integer
---@return string
local function short(n)
  return n >= 1000000 and ("%.1fM"):format(n / 1000000)
    or n >= 1000 and ("%.0fk"):format(n / 1000)
    or ("%d"):format(n)
end

---@param usage any
---@return string?
local function usage_of(usage)
  if type(usage) ~= "table" or type(usage.used) ~= "number" then
    return nil
  end
  -- An agent that does not know the size says 0.
  local known = type(usage.size) == "number" and usage.size > 0
  local size = known and " of " .. short(usage.size) or ""
  local cost = type(usage.cost) == "table" and usage.cost or {}
  local price = type(cost.amount) == "number"
      and (", %.2f %s"):format(
        cost.amount,
        require("hermes.core.text").line(cost.currency or "", 10)
      )
    or ""
  return short(usage.used) .. size .. " tokens" .. price
end

local highlights = {
  running = "DiagnosticInfo",
  waiting = "DiagnosticWarn",
  cancelling = "DiagnosticWarn",
  replaying = "DiagnosticInfo",
}

---@param program hermes.Program
---@return string
local function place_of(program)
  return ("in a terminal (%s)"):format(program.pane and "pane " .. program.pane or program.terminal)
end

---@param session hermes.SessionInfo
---@param program? hermes.Program that is in the session, too
---@return hermes.StatusRow
local function session_row(session, program)
  local text = require("hermes.core.text")
  local parts = { choose.state_of(session) }
  if session.mode then
    parts[#parts + 1] = "mode " .. text.line(session.mode, 30)
  end
  if session.model then
    parts[#parts + 1] = "model " .. text.line(session.model, 40)
  end
  if session.queued > 0 then
    local s = session.queued == 1 and " waits" or "s wait"
    parts[#parts + 1] = ("%d prompt%s"):format(session.queued, s)
  end
  parts[#parts + 1] = usage_of(session.usage)
  if program and program.state == "running" then
    parts[#parts + 1] = place_of(program)
  end
  local name = text.line(session.sessionId, 60)
  if session.name ~= name then
    name = ("%s (%s)"):format(session.name, name)
  end
  return {
    text = ("  session %s: %s"):format(name, table.concat(parts, ", ")),
    key = ("session %s %s"):format(session.agent, session.sessionId),
    highlight = highlights[session.state],
    agent = session.agent,
    connected = true,
    session = session,
  }
end

---@param request hermes.PendingRequest
---@param session? hermes.SessionInfo
---@return hermes.StatusRow
local function request_row(request, session)
  local who = request.by_default and "waits for an answer" or "waits for a handler"
  return {
    text = ("    %s: %s"):format(who, require("hermes.view.waiting").what(request)),
    key = "request " .. request.requestId,
    highlight = "DiagnosticWarn",
    agent = request.agent,
    connected = true,
    session = session,
    request = request,
  }
end

---@return hermes.StatusRow[]
local function make_rows()
  local text = require("hermes.core.text")
  local host = require("hermes.core.rpc").info()
  local list = {
    { text = "host: " .. (host and host.version or "not running") .. "   (g? shows the keys)" },
  }
  local pending = hermes().pending()
  local programs = {} ---@type table<string, hermes.Program> by session id
  for _, program in ipairs(package.loaded["hermes.program"] and hermes().shim.list() or {}) do
    programs[program.sessionId] = program
  end
  ---@param agent string
  ---@param session? hermes.SessionInfo
  ---@param open table<string, true> ids of the sessions that have rows of their own
  local function requests(agent, session, open)
    for _, request in ipairs(pending) do
      local id = request.sessionId
      local fits = session and id == session.sessionId or not session and not open[id or ""]
      if request.agent == agent and fits then
        list[#list + 1] = request_row(request, session)
      end
    end
  end
  local known = {}
  for _, agent in ipairs(hermes().connections()) do
    known[agent.name] = true
    local info = agent.agentInfo or {}
    local title = info.title or info.name
    list[#list + 1] = {
      text = ("agent %s: %s%s"):format(
        text.line(agent.name, 40),
        agent.state,
        title and ("  (%s %s)"):format(text.line(title, 60), text.line(info.version or "", 20))
          or ""
      ),
      key = "agent " .. agent.name,
      highlight = "Title",
      agent = agent.name,
      connected = true,
    }
    if agent.sandbox then
      list[#list + 1] = {
        text = "  confined: " .. require("hermes.session.sandbox").line(agent.sandbox),
        key = "sandbox " .. agent.name,
        agent = agent.name,
        connected = true,
      }
    end
    local open = {}
    local sessions = hermes().sessions({ agent = agent.name })
    table.sort(sessions, function(a, b) -- rows stay where they are
      return a.sessionId < b.sessionId
    end)
    for _, session in ipairs(sessions) do
      open[session.sessionId] = true
      list[#list + 1] = session_row(session, programs[session.sessionId])
      programs[session.sessionId] = nil
      requests(agent.name, session, open)
    end
    requests(agent.name, nil, open)
  end
  local shown = {} ---@type table<string, boolean?> sessions whose records have rows
  for _, program in vim.spairs(programs) do
    local name = text.line(program.agent, 40)
    shown[program.sessionId] = program.watched
    local record = program.watched and ", " .. require("hermes.session.unseen").of(program)
    list[#list + 1] = {
      text = ("agent %s: %s %s%s"):format(name, program.state, place_of(program), record or ""),
      key = "program " .. program.name,
    }
  end
  for _, one in ipairs(require("hermes.session.unseen").list()) do
    local who = one.session or one.agent or ""
    list[#list + 1] = not shown[who]
        and {
          text = ("changes of %s: %s"):format(
            text.line(who, 60),
            require("hermes.session.unseen").line(one)
          ),
          key = "unseen " .. (one.agent or "") .. " " .. who,
          highlight = "DiagnosticWarn",
        }
      or nil
  end
  for name in vim.spairs(require("hermes.core.config").get().agents) do
    if not known[name] then
      list[#list + 1] = {
        text = ("agent %s: not connected"):format(text.line(name, 40)),
        key = "agent " .. name,
        highlight = "Comment",
        agent = name,
      }
    end
  end
  if #list == 1 then
    list[2] = { text = "no agent is connected; c connects one", highlight = "Comment" }
  end
  return list
end

local help ---@type fun(): string[]
local with_help = false

---@return hermes.StatusRow row that the cursor is on; in a closed fold nobody sees which
local function current_row()
  local row = vim.fn.foldclosed(".") < 0 and rows[vim.api.nvim_win_get_cursor(0)[1]]
  return row or { text = "" }
end

---@param wanted string key of a row
---@return integer? line
local function line_of(wanted)
  for i, row in ipairs(rows) do
    if row.key == wanted then
      return i
    end
  end
end

---@param buf integer
local function draw(buf)
  local places = {} ---@type table<integer, hermes.StatusRow> the rows under the cursors
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    places[win] = rows[vim.api.nvim_win_get_cursor(win)[1]]
  end
  rows = make_rows()
  for _, row in ipairs(rows) do
    row.text = require("hermes.core.text").line(row.text)
  end
  for _, line in ipairs(with_help and help() or {}) do
    rows[#rows + 1] = { text = line, highlight = "Comment" }
  end
  pane.set(
    buf,
    vim.tbl_map(function(row)
      return row.text
    end, rows)
  )
  pane.fit(buf)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for i, row in ipairs(rows) do
    if row.highlight then
      vim.api.nvim_buf_set_extmark(buf, namespace, i - 1, 0, {
        end_row = i - 1,
        end_col = #row.text,
        hl_group = row.highlight,
      })
    end
  end
  for win, place in pairs(places) do
    -- No other row takes the place of one that is gone: a key may be on its way.
    local line = place.key and (line_of(place.key) or line_of("agent " .. (place.agent or "")) or 1)
    if line then
      local column = vim.api.nvim_win_get_cursor(win)[2]
      vim.api.nvim_win_set_cursor(win, { line, column })
    end
  end
end

---Runs a subcommand. Those for sessions find the one of the line that the cursor is on.
---@param name string
---@param ... string? its words
local function run(name, ...)
  require("hermes.wiring").subcommand(name, { ... })
end

---@class hermes.StatusKey
---@field key string
---@field does string
---@field needs? "agent"|"session" what the line must be about
---@field command? string subcommand for the session of the line
---@field run? fun(row: hermes.StatusRow)

---@type hermes.StatusKey[]
local keys = {
  {
    key = "<CR>",
    does = "what fits the line: answer, chat, list sessions, connect",
    run = function(row)
      if row.request then
        require("hermes.view.waiting").answer(row.request)
      elseif row.session then
        run("chat", row.agent, row.session.sessionId)
      elseif row.connected then
        run("sessions", row.agent)
      else
        run("connect", row.agent)
      end
    end,
  },
  {
    key = "c",
    does = "connect: this agent, or one that you choose",
    run = function(row)
      run("connect", not row.connected and row.agent or nil)
    end,
  },
  {
    key = "D",
    needs = "agent",
    does = "disconnect the agent",
    run = function(row)
      run("disconnect", row.agent)
    end,
  },
  {
    key = "L",
    needs = "agent",
    does = "log in to the agent",
    run = function(row)
      run("login", row.agent)
    end,
  },
  {
    key = "l",
    needs = "agent",
    does = "what the agent wrote to its standard error",
    run = function(row)
      run("log", row.agent)
    end,
  },
  {
    key = "n",
    needs = "agent",
    does = "new session of the agent",
    run = function(row)
      run("new", "agent=" .. row.agent)
    end,
  },
  {
    key = "s",
    does = "list sessions, also stored ones",
    run = function(row)
      run("sessions", row.connected and row.agent or nil)
    end,
  },
  {
    key = "a",
    does = "answer what waits",
    run = function(row)
      require("hermes.view.waiting").respond(row.request, row.session)
    end,
  },
  { key = "p", needs = "session", does = "send a prompt", command = "prompt" },
  { key = "x", needs = "session", does = "cancel the turn", command = "cancel" },
  { key = "m", needs = "session", does = "set the mode", command = "mode" },
  { key = "M", needs = "session", does = "set the model", command = "model" },
  { key = "o", needs = "session", does = "set an option", command = "config" },
  { key = "f", needs = "session", does = "fork the session", command = "fork" },
  { key = "X", needs = "session", does = "close the session", command = "close" },
  {
    key = "t",
    needs = "session",
    does = "show its commands",
    run = function(row)
      run("terminal", row.session.sessionId)
    end,
  },
  {
    key = "T",
    needs = "session",
    does = "show its messages on the wire",
    run = function(row)
      run("traffic", "session=" .. row.session.sessionId)
    end,
  },
}

---@return string[]
function help()
  local lines = { "keys:" }
  for _, key in ipairs(keys) do
    lines[#lines + 1] = ("  %-5s %s"):format(key.key, key.does)
  end
  lines[#lines + 1] = "  q     close this window"
  lines[#lines + 1] = "  g?    hide the keys"
  return lines
end

---@param buf integer
local function set_keys(buf)
  for _, key in ipairs(keys) do
    vim.keymap.set("n", key.key, function()
      local row = current_row()
      if key.needs and not row[key.needs] then
        return choose.say(
          ("the cursor is not on a line of %s %s"):format(
            key.needs == "agent" and "an" or "a",
            key.needs
          )
        )
      elseif key.command then
        return run(key.command)
      end
      key.run(row)
    end, { buffer = buf, nowait = true, desc = key.does })
  end
  vim.keymap.set("n", "g?", function()
    with_help = not with_help
    draw(buf)
    pane.fit(buf, true)
  end, { buffer = buf, nowait = true, desc = "show or hide the keys" })
  choose.of_line(buf, function()
    return current_row().session
  end)
end

---Events that change what the window shows.
local events = {
  "StateChanged",
  "ConnectionInitialized",
  "ConnectionFailed",
  "Disconnected",
  "SessionCreated",
  "SessionLoaded",
  "SessionResumed",
  "SessionForked",
  "SessionClosed",
  "SessionDeleted",
  "SessionUpdate",
  "QueueChanged",
  "TurnEnded",
  "AgentCurrentMode",
  "ModeUpdated",
  "ModelUpdated",
  "AgentConfigOption",
  "ConfigurationUpdated",
  "UsageUpdate",
  "PermissionRequest",
  "PermissionResolved",
  "FormElicitation",
  "UrlElicitation",
  "RequestCancelled",
  "ChangesUnseen",
}

---Opens the status window, or goes to it, with the cursor on a session if one is given.
---@param session? { agent: string, sessionId: string }
function M.open(session)
  local buf, win, new = pane.open(topic, #make_rows() + 1)
  if new then
    with_help = false
    set_keys(buf)
    pane.follow(buf, events, function()
      draw(buf)
    end)
  end
  draw(buf)
  local line = session and line_of(("session %s %s"):format(session.agent, session.sessionId))
  if line then
    vim.api.nvim_win_set_cursor(win, { line, 0 })
  end
end

return M
