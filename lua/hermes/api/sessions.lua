---The functions of require("hermes") that open and close sessions and set what they run with.
---@class hermes.Api
local M = {}

local check = require("hermes.core.arguments")

---@param method string
---@param params table|fun(): table
---@param opts table
---@param prefix? string
---@return string id
local function request(method, params, opts, prefix)
  return require("hermes.session.requests").request(method, params, opts, prefix)
end

---@class hermes.SessionOpts: hermes.Opts
---@field cwd? string folder of the session; default: the root of the project
---@field additional_directories? string[]
---@field mcp_servers? table[]
---@field mcpServers? table[]

local session_keys =
  { "cwd", "additional_directories", "additionalDirectories", "mcp_servers", "mcpServers" }

---Start a session; its id is in the result and in SessionCreated.
---@param opts? hermes.SessionOpts
---@return string id
function M.create_session(opts)
  opts = check.options(opts, "create_session", 2, session_keys)
  return request("session/new", function()
    return require("hermes.session.params").session(opts)
  end, opts)
end

---Reopen a session of the agent and replay its history.
---@param session_id string
---@param opts? hermes.SessionOpts
---@return string id
function M.load_session(session_id, opts)
  check.need(session_id, "name", "load_session", "the id of the session", 2)
  opts = check.options(opts, "load_session", 2, session_keys)
  return request("session/load", function()
    return require("hermes.session.params").session(opts, session_id)
  end, opts)
end

---Reopen a session of the agent without its history.
---@param session_id string
---@param opts? hermes.SessionOpts
---@return string id
function M.resume_session(session_id, opts)
  check.need(session_id, "name", "resume_session", "the id of the session", 2)
  opts = check.options(opts, "resume_session", 2, session_keys)
  return request("session/resume", function()
    return require("hermes.session.params").session(opts, session_id)
  end, opts)
end

---Copy a session: the copy has the conversation so far and continues on its own. Its id is in the
---result and in SessionForked.
---@param session_id string
---@param opts? hermes.SessionOpts default of `cwd`: the folder of the session
---@return string id
function M.fork_session(session_id, opts)
  check.need(session_id, "name", "fork_session", "the id of the session", 2)
  opts = check.options(opts, "fork_session", 2, session_keys)
  return request("session/fork", function()
    local origin = require("hermes.session.state").session(session_id, opts.agent) or {}
    local own = vim.tbl_extend("keep", opts, { cwd = origin.cwd })
    return require("hermes.session.params").session(own, session_id)
  end, opts)
end

---List the sessions that the agent has stored.
---@param opts? { cwd?: string, cursor?: string, agent?: string, on_done?: function }
---@return string id
function M.list_sessions(opts)
  opts = check.options(opts, "list_sessions", 2, { "cwd", "cursor" })
  local params = vim.empty_dict()
  params.cwd, params.cursor = opts.cwd, opts.cursor
  return request("session/list", params, opts)
end

---End a session and free what it holds.
---@param session_id string
---@param opts? hermes.Opts
---@return string id
function M.close_session(session_id, opts)
  check.need(session_id, "name", "close_session", "the id of the session", 2)
  return request(
    "session/close",
    { sessionId = session_id },
    check.options(opts, "close_session", 2)
  )
end

---Delete sessions that the agent has stored.
---@param ids string|string[]
---@param opts? hermes.Opts
---@return string ... one id for each session
function M.delete_session(ids, opts)
  opts = check.options(opts, "delete_session", 2)
  local list = type(ids) == "table" and ids or { ids }
  check.need(list[1], "name", "delete_session", "the id of the session", 2)
  check.need(list, "strings", "delete_session", "the ids of sessions")
  local ops = {}
  for _, id in ipairs(list) do
    ops[#ops + 1] = request("session/delete", { sessionId = id }, opts)
  end
  return unpack(ops)
end

---Choose one of `modes()`: with the config option of the category "mode", or with session/set_mode
---if the agent does not offer one.
---@param session_id string
---@param mode string id of one of the session's modes
---@param opts? hermes.Opts
---@return string id
function M.set_mode(session_id, mode, opts)
  check.need(session_id, "name", "set_mode", "the id of the session", 2)
  check.need(mode, "name", "set_mode", "the mode", 2)
  opts = check.options(opts, "set_mode", 2)
  return require("hermes.session.modes").set(session_id, mode, opts)
end

---Choose one of `models()`: with session/set_model, which agents with `models` offer, otherwise
---with the config option of the category "model".
---@param session_id string
---@param model string its id
---@param opts? hermes.Opts
---@return string id
function M.set_model(session_id, model, opts)
  check.need(session_id, "name", "set_model", "the id of the session", 2)
  check.need(model, "name", "set_model", "the model", 2)
  opts = check.options(opts, "set_model", 2)
  return require("hermes.session.models").set(session_id, model, opts)
end

M.set_session_model = M.set_model

---The choices of `set_model` for the session. A copy; nil when there is nothing to choose.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.Models?
function M.models(session_id, opts)
  return require("hermes.session.models").get(
    session_id,
    check.agent_of("models", session_id, opts)
  )
end

---The choices of `set_mode` for the session. A copy; nil when there is nothing to choose.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.acp.SessionModeState?
function M.modes(session_id, opts)
  return require("hermes.session.modes").get(session_id, check.agent_of("modes", session_id, opts))
end

---The choices of `set_config_option` for the session. A copy; empty when there are none.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.acp.SessionConfigOption[]
function M.config_options(session_id, opts)
  local agent = check.agent_of("config_options", session_id, opts)
  return require("hermes.session.state").get(session_id, "configOptions", agent) or {}
end

---@param session_id any
---@param option any
---@param who string
local function check_option(session_id, option, who)
  local need = require("hermes.core.arguments").need
  need(session_id, "name", who, "the id of the session", 3)
  need(option, "table", who, "the option", 3)
  need(option.id, "name", who, "the id of the option", 3)
  if type(option.value) ~= "boolean" then
    need(option.value, "string", who, "the value", 3)
  end
end

---@param session_id string
---@param option { id: string, value: string|boolean }
---@param opts? hermes.Opts
---@return string id
function M.set_config_option(session_id, option, opts)
  check_option(session_id, option, "set_config_option")
  local params =
    require("hermes.session.config_options").params(session_id, option.id, option.value)
  return request("session/set_config_option", params, check.options(opts, "set_config_option", 2))
end

M.set_session_config_option = M.set_config_option

---The config options of the model in use: all of the category "model_config". A copy; empty when
---there are none.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.acp.SessionConfigOption[]
function M.model_configurations(session_id, opts)
  local agent = check.agent_of("model_configurations", session_id, opts)
  local session = require("hermes.session.state").session(session_id, agent)
  return vim.deepcopy(require("hermes.session.config_options").all(session, "model_config"))
end

---Change one of `model_configurations()`.
---@param session_id string
---@param option { id: string, value: string|boolean }
---@param opts? hermes.Opts
---@return string id
function M.configure_model(session_id, option, opts)
  check_option(session_id, option, "configure_model")
  opts = check.options(opts, "configure_model", 2)
  local set = require("hermes.session.config_options").set
  return set(session_id, "model_config", option.id, option.value, opts)
end

---The choices of `set_thought_level`. A copy; nil when there is nothing to choose.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.ThoughtLevels?
function M.thought_levels(session_id, opts)
  local agent = check.agent_of("thought_levels", session_id, opts)
  return require("hermes.session.config_options").thought_levels(session_id, agent)
end

---Choose how much the model thinks: one of `thought_levels()`.
---@param session_id string
---@param level string its value
---@param opts? hermes.Opts
---@return string id
function M.set_thought_level(session_id, level, opts)
  check.need(session_id, "name", "set_thought_level", "the id of the session", 2)
  check.need(level, "name", "set_thought_level", "the level", 2)
  opts = check.options(opts, "set_thought_level", 2)
  return require("hermes.session.config_options").set(session_id, "thought_level", nil, level, opts)
end

return M
