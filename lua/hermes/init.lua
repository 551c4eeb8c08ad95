---Hermes: talk to AI coding agents over the Agent Client Protocol.
---
---This file is what a configuration loads at startup, so it holds setup() and
---connect() only. The other functions are in lua/hermes/api.lua, and loaded with
---the first call of one.

---@class hermes.Api
---@field await hermes.Await waits in a function that async() runs
---@field claude hermes.Claude the stock Claude Code in a terminal
---@field context hermes.Context content blocks for prompts
---@field queue hermes.Queue the prompts that wait
---@field review hermes.Review what agents changed in files
---@field shared hermes.Shared sessions that an agent's own terminal shows, too
---@field shim hermes.Shim agents in a terminal
local M = {}

local wiring = require("hermes.wiring")

function wiring.channel()
  return require("hermes.channel")
end

function wiring.signs()
  return require("hermes.view.review.signs")
end

wiring.problems = {
  chat = function(options)
    return require("hermes.view.chat.options").problem(options, "chat")
  end,
  presets = function(presets)
    return require("hermes.program.options").presets_problem(presets)
  end,
  sandbox = function(sandbox)
    return require("hermes.session.sandbox").problem(sandbox)
  end,
  session_defaults = function(defaults)
    return require("hermes.session.project").problem(defaults)
  end,
}

---Configure Hermes. Repeated calls merge; see hermes.config for the keys.
---@param opts? hermes.Config
function M.setup(opts)
  local config = require("hermes.core.config")
  for _, warning in ipairs(config.set(opts)) do
    require("hermes.core.log").notify(vim.log.levels.WARN, warning)
  end
  if config.get().compat.seed or package.loaded["hermes.session.compat"] then
    require("hermes.session.compat").apply()
  end
  if package.loaded["hermes.core.rpc"] then
    require("hermes.core.rpc").configure()
  end
end

---Start an agent: one of setup{agents}, a preset, or any `command`. Or reach a running one, by the
---name of a `protocol` or a table with that protocol's keys. Connecting to a connected agent gives
---the same result again.
---@param name string|{ agent: string }
---@param opts? hermes.ConnectOpts|"stdio"|"http"|"socket"|"tcp"|"websocket"
---@return string id
function M.connect(name, opts)
  return require("hermes.connect").start(name, opts) -- a tail call, so that errors blame the caller
end

---------------------------------------------------------------------------
-- Loaded when they are first used.

---The functions of lua/hermes/api.lua.
-- stylua: ignore
local names = {
  "agent_log", "agents", "async", "authenticate", "cancel", "close_session", "config_options",
  "configure_model", "conflicts", "connections", "create_autocmd", "create_session", "default",
  "delete_session", "disconnect", "fork_session", "install", "kill_terminal", "list_files",
  "list_sessions", "load_session", "logout", "mentions", "model_configurations", "models", "modes",
  "notify", "on", "on_request", "once", "pending", "prompt", "reject", "request",
  "resolve_conflict", "respond", "resume_session", "sessions", "set_config_option", "set_mode",
  "set_model", "set_session_config_option", "set_session_model", "set_thought_level", "state",
  "statusline", "steer", "terminal_output", "terminals", "thought_levels",
}

local late = {} ---@type table<string, function> what stands in M for a function until it is loaded

---@return table<string, any>
local function loaded()
  local api = require("hermes.api")
  for name, value in pairs(api) do
    if M[name] == late[name] then -- not one that the user has wrapped
      M[name] = value
    end
  end
  late = {}
  return api
end

for _, name in ipairs(names) do
  late[name] = function(...)
    return loaded()[name](...) -- a tail call, so that errors blame the caller
  end
  M[name] = late[name]
end

local parts = {
  await = function()
    return require("hermes.await")
  end,
  claude = function()
    return require("hermes.program.claude")
  end,
  context = function()
    return require("hermes.doc.context")
  end,
  queue = function()
    return require("hermes.session.queue")
  end,
  review = function()
    return require("hermes.review")
  end,
  shared = function()
    return require("hermes.program.shared_session")
  end,
  shim = function()
    return require("hermes.program.shim")
  end,
}

---Every other method of the agent is available here under its wire name, such
---as session_list for session/list; see hermes.api_gen.
return setmetatable(M, {
  __index = function(_, name)
    if parts[name] then
      return parts[name]()
    end
    local value = require("hermes.api")[name]
    return value == nil and require("hermes.api_gen")[name] or value
  end,
})
