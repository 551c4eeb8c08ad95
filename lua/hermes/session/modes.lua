---The modes of a session. Agents offer them as `modes`, which the protocol will drop, as a config
---option of the category "mode", or as both. This module presents all as `modes`. If there is an
---option, it wins: clients that know options are to use nothing else.
local M = {}

---@param session hermes.SessionState?
---@return hermes.acp.SessionConfigOption.select?
local function option(session)
  return require("hermes.session.config_options").choice(session, "mode")
end

---@param choice hermes.acp.SessionConfigOption.select
---@return hermes.acp.SessionMode[]
local function offered(choice)
  return vim.tbl_map(function(value)
    return { id = value.value, name = value.name, description = value.description }
  end, require("hermes.session.config_options").values(choice))
end

---The mode in use. An agent that changes it itself may say so in one of the two ways only.
---@param session hermes.SessionState
---@return string?
function M.current(session)
  local chosen, old = option(session), session.modes or {}
  if chosen and not require("hermes.session.config_options").has(chosen, old.currentModeId) then
    return chosen.currentValue
  end
  return old.currentModeId
end

---@param session_id string
---@param agent? string
---@return hermes.acp.SessionModeState? copy
function M.get(session_id, agent)
  local session = require("hermes.session.state").session(session_id, agent)
  local chosen = option(session)
  if not session or not chosen then
    return session and vim.deepcopy(session.modes)
  end
  return { currentModeId = M.current(session), availableModes = offered(chosen) }
end

---@param session_id string
---@param mode string
---@param opts hermes.Opts
---@return string id of the operation
function M.set(session_id, mode, opts)
  local session = require("hermes.session.state").session(session_id, opts.agent)
  local requests, options =
    require("hermes.session.requests"), require("hermes.session.config_options")
  local chosen, old = option(session), session and session.modes or {}
  if chosen and options.decides(chosen, old.availableModes, "id", mode) then
    local params = options.params(session_id, chosen.id, mode)
    return requests.request("session/set_config_option", params, opts)
  end
  return requests.request("session/set_mode", { sessionId = session_id, modeId = mode }, opts)
end

return M
