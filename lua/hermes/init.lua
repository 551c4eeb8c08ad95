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

---Configure Hermes. Repeated calls merge; see hermes.config for the keys.
---@param opts? hermes.Config
function M.setup(opts)
  local config = require("hermes.config")
  config.set(opts)
  if config.get().compat.seed or package.loaded["hermes.compat"] then
    require("hermes.compat").apply()
  end
  if package.loaded["hermes.rpc"] then
    require("hermes.rpc").configure()
  end
end

---@class hermes.ConnectOpts: hermes.AgentConfig
---@field on_done? fun(err: hermes.Error?, result: table?)

---Start an agent: one of setup{agents}, a preset, or any `command`. Or reach a running one, by the
---name of a `protocol` or a table with that protocol's keys. Connecting to a connected agent
---repeats what it said when it was first connected.
---@param name string|{ agent: string }
---@param opts? hermes.ConnectOpts|"stdio"|"http"|"socket"|"tcp"|"websocket"
---@return string id
function M.connect(name, opts)
  opts = type(opts) == "string" and { protocol = opts } or opts
  local given = {}
  if opts ~= nil or type(name) == "table" then
    local check = require("hermes.check")
    opts = check.options(opts, "connect", 2, false)
    if type(name) == "table" then
      opts = check.options(vim.tbl_extend("keep", opts, name), "connect", 2, false)
      name = name.agent
    end
    given = vim.tbl_extend("force", {}, opts)
    given.agent, given.on_done = nil, nil
  end
  if type(name) ~= "string" or name == "" then
    require("hermes.check").need(name, "name", "connect", "the name of the agent", 2)
  end
  local payload = { agent = name }
  if next(given) then
    local problem = require("hermes.config_check").agent_problem(given, "")
    if problem then
      error("hermes.connect: " .. problem, 2)
    end
    payload = require("hermes.config_wire").agent(given)
    payload.agent = name
  end
  local config = require("hermes.config").get()
  if config.sandbox or given.sandbox ~= nil or (config.agents[name] or {}).sandbox ~= nil then
    local boxed, problem = require("hermes.sandbox").payload(name, given.sandbox)
    if problem then
      error("hermes.connect: " .. problem, 2)
    end
    payload = vim.tbl_extend("force", payload, boxed)
  end
  local shared = given.shared
  if shared == nil then
    shared = (config.agents[name] or {}).shared
  end
  if shared then
    require("hermes.shared").follow(name, shared == true)
  end
  local rpc = require("hermes.rpc")
  rpc.use(name)
  return rpc.call("connect", function()
    payload.cwd = payload.cwd and require("hermes.params").folder(payload.cwd)
    return payload
  end, {
    method = "connect",
    agent = name,
    on_done = opts and opts.on_done,
  })
end

---------------------------------------------------------------------------
-- Loaded when they are first used.

---The functions of lua/hermes/api.lua.
-- stylua: ignore
local names = {
  "agent_log", "agents", "async", "authenticate", "cancel", "close_session", "config_options",
  "configure_model", "conflicts", "connections", "create_autocmd", "create_session", "default",
  "delete_session", "disconnect", "fork_session", "install", "kill_terminal", "list_sessions",
  "load_session", "logout", "model_configurations", "models", "modes", "notify", "on",
  "on_request", "once", "pending", "prompt", "reject", "request", "resolve_conflict", "respond",
  "resume_session", "sessions", "set_config_option", "set_mode", "set_model",
  "set_session_config_option", "set_session_model", "set_thought_level", "state", "statusline",
  "steer", "terminal_output", "terminals", "thought_levels",
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
    return require("hermes.async").await
  end,
  claude = function()
    return require("hermes.claude")
  end,
  context = function()
    return require("hermes.context")
  end,
  queue = function()
    return require("hermes.queue")
  end,
  review = function()
    return require("hermes.review")
  end,
  shared = function()
    return require("hermes.shared")
  end,
  shim = function()
    return require("hermes.shim")
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
