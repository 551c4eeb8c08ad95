---A summary of agents and sessions, for status lines, pickers and scripts that do not need the
---conversations. Unlike hermes.state(), which copies everything, it takes no longer for a session
---that has done much.
local M = {}

---@class hermes.ConnectionInfo
---@field name string
---@field state string as in hermes.AgentState
---@field current boolean whether calls go to it by default
---@field agentInfo? table
---@field agentCapabilities? table
---@field authMethods? table[]
---@field protocolVersion? integer
---@field sandbox? hermes.SandboxState nil: the agent is not confined

---@class hermes.SessionInfo
---@field sessionId string
---@field agent string
---@field state string as in hermes.SessionState
---@field name string what people call it, on one line: its title, the beginning of its first
---prompt, or its id
---@field title? string
---@field cwd? string
---@field mode? string id of the current one
---@field model? string id of the current one
---@field usage? table
---@field percent? integer of the context window that is used
---@field queued integer prompts that wait
---@field pending integer requests of the session that wait for an answer
---@field ended? "done"|"failed" how the last turn ended, until the next begins
---@field error? string why it failed

---@class hermes.SessionsOpts
---@field agent? string only the sessions of this agent
---@field session_id? string only this session
---@field waiting_first? boolean those that need the user first, then those that work

---@return hermes.ConnectionInfo[] sorted by name
function M.connections()
  local state = require("hermes.session.state")
  local current = state.agent_for()
  local list = {}
  for name, agent in vim.spairs(state.agents()) do
    list[#list + 1] = {
      name = name,
      state = agent.state,
      current = name == current,
      agentInfo = vim.deepcopy(agent.agentInfo),
      agentCapabilities = vim.deepcopy(agent.agentCapabilities),
      authMethods = vim.deepcopy(agent.authMethods),
      protocolVersion = agent.protocolVersion,
      sandbox = vim.deepcopy(agent.sandbox),
    }
  end
  return list
end

---@param session hermes.SessionState
---@return string?
local function model_of(session)
  local option = require("hermes.session.config_options").choice(session, "model")
  return option and option.currentValue or (session.models or {}).currentModelId
end

---@param usage? table
---@return integer?
local function percent(usage)
  local size, tokens = tonumber(usage and usage.size), tonumber(usage and usage.used)
  return size and tokens and size > 0 and math.floor(100 * tokens / size + 0.5) or nil
end

---What people call a session, on one line and safe to show: its title, or the beginning of its
---first prompt, or its id.
---@param session { sessionId: string, title?: string, firstPrompt?: string }
---@return string
function M.name(session)
  for _, member in ipairs({ "title", "firstPrompt" }) do
    local words = session[member]
    if type(words) == "string" and words:find("%S") then
      return require("hermes.core.text").line((vim.trim(words:sub(1, 400)):gsub("%s+", " ")), 60)
    end
  end
  return require("hermes.core.text").line(session.sessionId, 60)
end

local order = { waiting = 1, cancelling = 2, running = 3, replaying = 4, idle = 5 }

---@param opts? hermes.SessionsOpts
---@return hermes.SessionInfo[] the one used last first
function M.sessions(opts)
  opts = opts or {}
  local found = {} ---@type hermes.SessionState[]
  for name, agent in pairs(require("hermes.session.state").agents()) do
    for id, session in pairs(agent.sessions) do
      if (opts.agent or name) == name and (opts.session_id or id) == id then
        found[#found + 1] = session
      end
    end
  end
  table.sort(found, function(a, b)
    local at, bt = order[a.state] or 6, order[b.state] or 6
    if opts.waiting_first and at ~= bt then
      return at < bt
    elseif a.used ~= b.used then
      return a.used > b.used
    end
    return a.agent .. "\0" .. a.sessionId < b.agent .. "\0" .. b.sessionId
  end)
  local asked = {}
  for _, request in ipairs(require("hermes.session.state").pending()) do
    local key = ("%s\0%s"):format(request.agent, request.sessionId)
    asked[key] = (asked[key] or 0) + 1
  end
  return vim.tbl_map(function(session)
    return {
      sessionId = session.sessionId,
      agent = session.agent,
      state = session.state,
      name = M.name(session),
      title = session.title,
      cwd = session.cwd,
      mode = require("hermes.session.modes").current(session),
      model = model_of(session),
      usage = vim.deepcopy(session.usage),
      percent = percent(session.usage),
      queued = #session.queue,
      pending = asked[("%s\0%s"):format(session.agent, session.sessionId)] or 0,
      ended = session.ended,
      error = session.error,
    }
  end, found)
end

return M
