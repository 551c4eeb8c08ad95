---The state of agents and sessions, kept up to date by the events.
local M = {}

---@class hermes.AgentState
---@field name string
---@field state string disconnected, starting, initializing, ready, reconnecting, closing
---@field agentInfo? table
---@field agentCapabilities? table
---@field authMethods? table[]
---@field protocolVersion? integer
---@field sandbox? hermes.SandboxState nil: the agent is not confined
---@field sessions table<string, hermes.SessionState> by session id

---@class hermes.SessionState
---@field sessionId string
---@field agent string
---@field state string idle, running, waiting, cancelling, replaying
---@field cwd? string
---@field promptId? string of the running turn
---@field modes? table
---@field models? hermes.Models
---@field configOptions? table[]
---@field commands? table[]
---@field plan? table[]
---@field usage? table
---@field title? string
---@field firstPrompt? string the beginning of the first prompt
---@field updatedAt? string
---@field toolCalls table<string, table> accumulated, by toolCallId
---@field queue string[] ids of prompts that wait for the running one
---@field used integer the session used last has the largest
---@field ended? "done"|"failed" how the last turn ended, until the next begins; nil when the user
---ended it
---@field error? string why it failed

-- Two agents may use the same session id, so sessions belong to their agent.
local agents = {} ---@type table<string, hermes.AgentState>
local uses = 0 -- of sessions so far

---@param data table
---@return hermes.SessionState
local function open(data)
  local sessions = agents[data.agent].sessions
  local id = data.sessionId
  sessions[id] = sessions[id]
    or {
      sessionId = id,
      agent = data.agent,
      state = "idle",
      toolCalls = {},
      queue = {},
      used = 0,
    }
  return sessions[id]
end

local function opened(s, data)
  for _, key in ipairs({ "cwd", "modes", "models", "configOptions" }) do
    if data[key] ~= nil then
      s[key] = data[key]
    end
  end
end

---@class hermes.FollowEvent an event that another one brings about
---@field name string
---@field data table

---The most tool calls of a session that are kept, and the most bytes of what
---they hold. Beyond it the oldest lose their contents, then everything.
M.max_calls, M.max_bytes = 1000, 8 * 1024 * 1024

---@class hermes.KeptCalls in which order the tool calls of a session came
---@field ids string[]
---@field sizes table<string, integer>
---@field bytes integer
---@field first integer place of the oldest that is there
---@field whole integer place of the oldest that has its contents

-- By session; not among its members, which users see.
local kept = setmetatable({}, { __mode = "k" }) ---@type table<table, hermes.KeptCalls>

local contents = { "content", "rawInput", "rawOutput", "input", "output", "fields" }

---@param value any
---@param left? integer values that are still looked at
---@return integer bytes, roughly
---@return integer left
local function size_of(value, left)
  left = (left or 5000) - 1
  if type(value) == "string" then
    return #value, left
  elseif type(value) ~= "table" then
    return 8, left
  end
  local bytes = 40
  for key, member in pairs(value) do
    if left <= 0 then
      break
    end
    local more
    more, left = size_of(member, left)
    bytes = bytes + more + (type(key) == "string" and #key or 8)
  end
  return bytes, left
end

---@param member string
---@param value any
---@return integer bytes, roughly
local function size_of_member(member, value)
  return (size_of(value)) + #member
end

---@param k hermes.KeptCalls
---@param id string
---@param size? integer nil: the call is gone
local function resize(k, id, size)
  k.bytes = k.bytes - (k.sizes[id] or 0) + (size or 0)
  k.sizes[id] = size
end

---Lets go of the oldest tool calls, but not of the last one.
---@param s hermes.SessionState
---@param k hermes.KeptCalls
---@param id string that has just changed
local function bound(s, k, id)
  while k.bytes > M.max_bytes and k.whole < #k.ids do
    local old = k.ids[k.whole]
    k.whole = k.whole + 1
    if old ~= id and s.toolCalls[old] then
      local call = vim.tbl_extend("force", s.toolCalls[old], { trimmed = true })
      for _, member in ipairs(contents) do
        call[member] = nil
      end
      s.toolCalls[old] = call
      resize(k, old, (size_of(call)))
    end
  end
  while #k.ids - k.first + 1 > M.max_calls do
    local old = k.ids[k.first]
    k.ids[k.first], k.first = false, k.first + 1
    s.toolCalls[old] = nil
    resize(k, old)
  end
  k.whole = math.max(k.whole, k.first)
  if k.first > M.max_calls then -- drop the empty places in front
    local shift = k.first - 1
    k.ids, k.first, k.whole = vim.list_slice(k.ids, k.first), 1, k.whole - shift
  end
end

---Merges an update into the state of its tool call.
---@param s hermes.SessionState
---@param update table
local function merge_call(s, update)
  local id = update.toolCallId
  if not id then
    return nil
  end
  local k = kept[s]
  if not k or not next(s.toolCalls) then
    k = { ids = {}, sizes = {}, bytes = 0, first = 1, whole = 1 }
    kept[s] = k
  end
  if not s.toolCalls[id] then
    k.ids[#k.ids + 1] = id
  end
  -- A new table, because listeners may keep the one before.
  local call, size = {}, k.sizes[id] or 40
  for member, value in pairs(s.toolCalls[id] or {}) do
    call[member] = value
    if update[member] ~= nil then
      size = size - size_of_member(member, value)
    end
  end
  for member, value in pairs(update) do
    if member ~= "sessionUpdate" then
      call[member] = value
      size = size + size_of_member(member, value)
    end
  end
  s.toolCalls[id] = call
  resize(k, id, size)
  bound(s, k, id)
  return call
end

local function tool_call(s, data)
  local call = merge_call(s, data.update or {})
  local follow = {
    agent = data.agent,
    sessionId = data.sessionId,
    promptId = data.promptId,
    seq = data.seq,
    replay = data.replay,
    toolCall = call,
  }
  return call and { { name = "ToolCallState", data = follow } }
end

---@param make fun(s: hermes.SessionState, data: table)
---@return fun(s: hermes.SessionState, data: table): hermes.FollowEvent[]
local function configured(make)
  return function(s, data)
    return require("hermes.session.config_options").changed(s, function()
      make(s, data)
    end)
  end
end

---@param s hermes.SessionState
---@param data table
---@return hermes.FollowEvent[]?
local function reopened(s, data)
  if not (s.modes or s.models or s.configOptions) then
    return opened(s, data)
  end
  return require("hermes.session.config_options").reopened(s, function()
    opened(s, data)
  end)
end

---@param s hermes.SessionState
---@param data table
local function said(s, data)
  if not s.firstPrompt and type(data.text) == "string" and data.text:find("%S") then
    s.firstPrompt = data.text:sub(1, 400)
  end
end

local function forget(_, data)
  agents[data.agent].sessions[data.sessionId] = nil
end

-- The events of a session that is open from then on.
local opens = {
  SessionCreated = true,
  SessionForked = true,
  SessionLoaded = true,
  SessionResumed = true,
}

local on_session = {
  SessionCreated = opened,
  SessionForked = opened,
  SessionLoaded = reopened,
  SessionResumed = reopened,
  SessionClosed = forget,
  SessionDeleted = forget,
  ClientTextMessage = said,
  UserTextMessage = said, -- of a session that is loaded
  AgentToolCall = tool_call,
  AgentToolCallUpdate = tool_call,
  AgentPlan = function(s, data)
    s.plan = data.update.entries
  end,
  AgentAvailableCommands = function(s, data)
    s.commands = data.update.availableCommands
  end,
  AgentCurrentMode = function(s, data)
    s.modes = vim.tbl_extend("force", s.modes or {}, { currentModeId = data.update.currentModeId })
  end,
  ModeUpdated = function(s, data)
    if s.modes or not require("hermes.session.config_options").choice(s, "mode") then
      s.modes = vim.tbl_extend("force", s.modes or {}, { currentModeId = data.modeId })
    end
  end,
  ModelUpdated = function(s, data)
    if s.models and not require("hermes.session.config_options").choice(s, "model") then
      s.models.currentModelId = data.modelId
    end
  end,
  AgentConfigOption = configured(function(s, data)
    s.configOptions = data.update.configOptions
  end),
  ConfigurationUpdated = configured(function(s, data)
    -- If the answer has no list, an update brings it later. Until then the option has the value
    -- that the agent accepted.
    if not data.configOptions and s.configOptions then
      data.configOptions = vim.deepcopy(s.configOptions)
      for _, option in ipairs(data.configOptions) do
        if option.id == data.configId then
          option.currentValue = data.value
        end
      end
    end
    opened(s, data)
  end),
  UsageUpdate = function(s, data)
    s.usage = data.update
  end,
  SessionUpdate = function(s, data)
    local update = data.update
    s.title, s.updatedAt = update.title or s.title, update.updatedAt or s.updatedAt
    for _, member in ipairs(data.cleared or {}) do
      s[member] = nil
    end
  end,
  QueueChanged = function(s, data)
    s.queue = data.items
  end,
  TurnStarted = function(s, data)
    s.promptId, s.ended, s.error = data.promptId, nil, nil
  end,
  TurnEnded = function(s, data)
    s.promptId = nil
    local err = data.error
    if err and not require("hermes.core.rpc").by_user[err.kind] then
      s.ended, s.error = "failed", err.message
    elseif not err and data.stopReason ~= "cancelled" then
      s.ended = "done"
    end
  end,
  StateChanged = function(s, data)
    s.state = data.to
    if data.to == "replaying" then -- the history is replayed from the start
      s.plan, s.toolCalls = nil, {}
    end
  end,
}

---Whether the user has used a session: opened it or sent a prompt. A connection that is
---re-established opens sessions by itself.
---@param name string
---@param data table
---@return boolean
local function uses_session(name, data)
  return name == "TurnStarted" or (opens[name] and data.opId ~= nil)
end

-- Loaded with the first of them: hermes.output.
local of_terminals = { TerminalStarted = true, TerminalData = true, TerminalExited = true }

---Whether update() does anything at an event.
---@param name string
---@return boolean
function M.follows(name)
  return on_session[name] ~= nil
    or name == "AgentStderr"
    or name == "ConnectionInitialized"
    or of_terminals[name] ~= nil
end

---Called with each event that it follows, before any listener.
---@param name string
---@param data table
---@return hermes.FollowEvent[]? follow events to fire after this one
function M.update(name, data)
  if of_terminals[name] or package.loaded["hermes.core.output"] then
    require("hermes.core.output").update(name, data)
  end
  local a = agents[data.agent]
  if name == "AgentStderr" then
    require("hermes.core.agent_log").add(data.agent, data.line)
  elseif name == "StateChanged" and not data.sessionId then
    if data.to == "disconnected" then
      M.agent_gone(data.agent)
      return
    end
    agents[data.agent] = a or { name = data.agent, sessions = {} }
    agents[data.agent].state = data.to
    agents[data.agent].sandbox = data.sandbox or agents[data.agent].sandbox
  elseif not a then -- a late event of an agent that is gone
    return
  elseif name == "ConnectionInitialized" then
    for _, key in ipairs({ "agentInfo", "agentCapabilities", "authMethods", "protocolVersion" }) do
      a[key] = data[key]
    end
  elseif on_session[name] and data.sessionId then
    local known = opens[name] or data.replay
    local s = known and open(data) or a.sessions[data.sessionId]
    if s and uses_session(name, data) then
      uses = uses + 1
      s.used = uses
    end
    return s and on_session[name](s, data)
  end
end

---Forgets an agent that has ended, and its sessions.
---@param name string
function M.agent_gone(name)
  agents[name] = nil
end

---Reports the end of all turns and agents, because the host has ended.
---@param kind string of the error that turns end with
---@param reason string
function M.host_gone(kind, reason)
  for name, a in pairs(agents) do
    local emit = require("hermes.core.events").emit
    for id, s in pairs(a.sessions) do
      if s.promptId then
        emit("TurnEnded", {
          agent = name,
          sessionId = id,
          promptId = s.promptId,
          error = { kind = kind, message = reason },
        })
      end
    end
    if a.state == "ready" or a.state == "reconnecting" then
      emit("Disconnected", { agent = name, reason = reason })
    end
    emit("StateChanged", { agent = name, from = a.state, to = "disconnected" })
  end
end

---The requests of agents that wait for an answer. lua/hermes/ask/answers.lua knows them.
---@return hermes.PendingRequest[]
function M.pending()
  return {}
end

---The agent that a call is for: the session's, or the one used last, or the
---only one.
---@param session_id? string
---@return string? name
function M.agent_for(session_id)
  local current = require("hermes.core.rpc").current()
  if session_id and not (current and agents[current] and agents[current].sessions[session_id]) then
    for name, a in pairs(agents) do
      if a.sessions[session_id] then
        return name
      end
    end
  end
  if current and agents[current] then
    return current
  end
  local only = next(agents)
  return only and next(agents, only) == nil and only or current
end

---@param session_id string
---@param name? string agent
---@return hermes.SessionState?
function M.session(session_id, name)
  local a = agents[name or M.agent_for(session_id) or ""]
  return a and a.sessions[session_id]
end

---@return table<string, hermes.AgentState> by name; not a copy
function M.agents()
  return agents
end

---A copy of everything, of one session, or of one member of it.
---@param session_id? string
---@param member? string
---@param agent? string
---@return any
function M.get(session_id, member, agent)
  if session_id then
    local session = M.session(session_id, agent)
    return vim.deepcopy(session and member and session[member] or not member and session or nil)
  end
  local sessions = {}
  for _, a in pairs(agents) do
    for id, s in pairs(a.sessions) do
      sessions[id] = s
    end
  end
  return vim.deepcopy({
    agents = agents,
    sessions = sessions, -- of all agents
    current = require("hermes.core.rpc").current(),
    pending = M.pending(),
    host = require("hermes.core.rpc").info(),
  })
end

local disk = require("hermes.core.disk")

function disk.folders()
  local list = {}
  for _, agent in pairs(agents) do
    for _, session in pairs(agent.sessions) do
      list[#list + 1] = session.cwd
    end
  end
  return list
end

local events = require("hermes.core.events")
events.follow(M)

function events.before.ModelUpdated(data)
  -- If there is an option, the option decides, and not the answer to session/set_model.
  local session = M.session(data.sessionId, data.agent)
  return not (session and require("hermes.session.config_options").choice(session, "model"))
end

return M
