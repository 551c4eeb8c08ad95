---Calls of the methods of agents.
local M = {}

local rpc = require("hermes.core.rpc")

---Called before the agent of a prompt can change a file.
function M.before_prompt() end

---The agent that a call is for.
---@param opts hermes.Opts
---@param session_id? string
---@return string?
function M.agent_for(opts, session_id)
  return opts.agent or require("hermes.session.state").agent_for(session_id)
end

---@param op "request"|"notify"
---@param method string
---@param params table|fun(): table
---@param opts? hermes.Opts
---@param prefix? string of the id
---@return string id
local function to_agent(op, method, params, opts, prefix)
  opts = opts or {}
  local info = { method = method, on_done = opts.on_done }
  local id = rpc.new_id(prefix or "op")
  return rpc.call(op, function()
    local wire = type(params) == "function" and params() or params
    info.session_id, info.prompt = wire.sessionId, wire.prompt
    if wire.prompt then
      M.before_prompt()
    end
    info.agent = M.agent_for(opts, wire.sessionId)
    if not info.agent then
      rpc.fail_soon(
        id,
        "not_connected",
        "no agent is connected; connect one with :Hermes connect or hermes.connect(name)"
      )
      return nil
    end
    local payload = { agent = info.agent, method = method, params = wire }
    payload.force, payload.steer = opts.force, opts.steer
    return payload
  end, info, id)
end

---Calls a method of an agent.
---@param method string
---@param params table|fun(): table
---@param opts? hermes.Opts
---@param prefix? string of the id
---@return string id
function M.request(method, params, opts, prefix)
  return to_agent("request", method, params, opts, prefix)
end

---Sends a notification to an agent.
---@param method string
---@param params table
---@param opts? hermes.Opts
---@return string id
function M.notify(method, params, opts)
  return to_agent("notify", method, params, opts)
end

return M
