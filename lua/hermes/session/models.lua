---The models of a session. Agents offer them in one of two ways: as `models`, which the protocol
---has dropped, or as a config option of the category "model". This module presents both as
---`models`. If an agent offers both, the option wins: its models may have other names, and the
---agent may ignore `models`.
local M = {}

---@class hermes.Models
---@field currentModelId string
---@field availableModels { modelId: string, name: string, description?: string }[]

---@param session hermes.SessionState?
---@return hermes.acp.SessionConfigOption.select?
local function option(session)
  return require("hermes.session.config_options").choice(session, "model")
end

---@param choice hermes.acp.SessionConfigOption.select
---@return table[]
local function offered(choice)
  return vim.tbl_map(function(value)
    return { modelId = value.value, name = value.name, description = value.description }
  end, require("hermes.session.config_options").values(choice))
end

---@param session_id string
---@param agent? string
---@return hermes.Models? copy
function M.get(session_id, agent)
  local session = require("hermes.session.state").session(session_id, agent)
  if not session then
    return nil
  end
  local chosen = option(session)
  if not chosen then
    return vim.deepcopy(session.models)
  end
  return {
    currentModelId = chosen.currentValue,
    availableModels = offered(chosen),
  }
end

---@param session_id string
---@param model string
---@param opts hermes.Opts
---@return string id
function M.set(session_id, model, opts)
  local session = require("hermes.session.state").session(session_id, opts.agent)
  local requests, options =
    require("hermes.session.requests"), require("hermes.session.config_options")
  local chosen, old = option(session), session and session.models
  if chosen and options.decides(chosen, old and old.availableModels, "modelId", model) then
    local params = options.params(session_id, chosen.id, model)
    return requests.request("session/set_config_option", params, opts)
  elseif old then
    return requests.request("session/set_model", { sessionId = session_id, modelId = model }, opts)
  end
  return options.refuse("session/set_model", session_id, opts, "choice of models")
end

return M
