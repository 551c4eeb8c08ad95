---Connects agents: hermes.connect().
local M = {}

---@class hermes.ConnectOpts: hermes.AgentConfig
---@field on_done? fun(err: hermes.Error?, result: table?)

---@param name string|{ agent: string }
---@param opts? hermes.ConnectOpts|"stdio"|"http"|"socket"|"tcp"|"websocket"
---@return string id
function M.start(name, opts)
  opts = type(opts) == "string" and { protocol = opts } or opts
  local given = {}
  if opts ~= nil or type(name) == "table" then
    local check = require("hermes.core.arguments")
    opts = check.options(opts, "connect", 2, false)
    if type(name) == "table" then
      opts = check.options(vim.tbl_extend("keep", opts, name), "connect", 2, false)
      name = name.agent
    end
    given = vim.tbl_extend("force", {}, opts)
    given.agent, given.on_done = nil, nil
  end
  if type(name) ~= "string" or name == "" then
    require("hermes.core.arguments").need(name, "name", "connect", "the name of the agent", 2)
  end
  local payload = { agent = name }
  if next(given) then
    local problem = require("hermes.core.config_check").agent_problem(given, "")
    if problem then
      error("hermes.connect: " .. problem, 2)
    end
    payload = require("hermes.core.config_wire").agent(given)
    payload.agent = name
  end
  local config = require("hermes.core.config").get()
  if config.sandbox or given.sandbox ~= nil or (config.agents[name] or {}).sandbox ~= nil then
    local boxed, problem = require("hermes.session.sandbox").payload(name, given.sandbox)
    if problem then
      error("hermes.connect: " .. problem, 2)
    end
    payload = vim.tbl_extend("force", payload, boxed)
  end
  local shim = given.shim
  if shim == nil then
    shim = (config.agents[name] or {}).shim
  end
  if shim then
    payload.folders = payload.folders or { require("hermes.session.params").session({}).cwd }
  end
  local shared = given.shared
  if shared == nil then
    shared = (config.agents[name] or {}).shared
  end
  if shared then
    require("hermes.program.shared_session").follow(name, shared == true)
  end
  local rpc = require("hermes.core.rpc")
  rpc.use(name)
  return rpc.call("connect", function()
    payload.cwd = payload.cwd and require("hermes.session.params").folder(payload.cwd)
    return payload
  end, {
    method = "connect",
    agent = name,
    on_done = opts and opts.on_done,
  })
end

return M
