---Whether and how agents are confined: the key `sandbox` of setup() and of agents. The host does
---it; here it is checked, sent and shown.
local M = {}

---@class hermes.Sandbox rules; a key that is missing has its default
---@field write? string[] what may be changed besides the session's folders, the agent's own state
---and the temporary folder
---@field read? string[] what may be read besides that and the system; default: all but `hide`
---@field hide? string[] what may not be read; default: keys, tokens and passwords
---@field net? boolean|integer[] networks: true, the default, false, or TCP ports
---@field sockets? boolean allow Unix sockets, which lead to programs that are not confined
---@field best_effort? boolean start the agent although the system cannot keep all rules

---A list is a command that confines what follows it. A function is called with the name of the
---agent when it is connected, and returns one of the others.
---@alias hermes.SandboxConfig boolean|hermes.Sandbox|string[]|fun(agent: string): any

---@class hermes.SandboxState how a connected agent is confined: by rules, or by `wrapper`
---@field write? string[]
---@field read? string[] nil: all but `hide`
---@field hide? string[]
---@field net? boolean|integer[]
---@field sockets? boolean
---@field missing? string[] what the system cannot keep, with `best_effort`
---@field wrapper? string[]

local fields = {
  write = "strings",
  read = "strings",
  hide = "strings",
  net = "boolean",
  sockets = "boolean",
  best_effort = "boolean",
}

---@param key string
---@param value any
---@return string? problem
local function rule_problem(key, value)
  local checks = require("hermes.core.arguments")
  if key == "net" and type(value) == "table" then
    for _, port in ipairs(vim.islist(value) and value or { false }) do
      if checks.problem(port, "port") then
        return "net must be true, false or a list of ports, not " .. vim.inspect(value)
      end
    end
    return nil
  elseif key == "net" and type(value) ~= "boolean" then
    return "net must be true, false or a list of ports, not " .. vim.inspect(value)
  end
  local problem = checks.problem(value, fields[key])
  if problem then
    return ("%s %s"):format(key, problem)
  end
  for _, path in ipairs(fields[key] == "strings" and value or {}) do
    if not path:find("^/") and path ~= "~" and not path:find("^~/") then
      return ("%s: %q is not an absolute path"):format(key, path)
    end
  end
end

---Says what is wrong with a sandbox, worded to follow its name.
---@param value any
---@return string? problem
function M.problem(value)
  if type(value) == "boolean" or vim.is_callable(value) then
    return nil
  elseif type(value) ~= "table" then
    return "must be true, false, a table, a list of strings or a function, not "
      .. vim.inspect(value)
  elseif next(value) ~= nil and vim.islist(value) then
    return require("hermes.core.arguments").problem(value, "command")
  end
  for key, member in pairs(value) do
    local problem = not fields[key] and require("hermes.core.arguments").unknown("", key, fields)
      or fields[key] and rule_problem(key, member)
    if problem then
      return "is wrong: " .. problem
    end
  end
end

---The sandbox of an agent in the form in which connect() sends it to the host.
---@param name string of the agent
---@param given hermes.SandboxConfig? what connect() was given
---@return table payload
---@return string? problem
function M.payload(name, given)
  local config, default = require("hermes.core.config").get(), false
  if given == nil then
    given = (config.agents[name] or {}).sandbox
  end
  if given == nil then
    given, default = config.sandbox, true
  end
  if vim.is_callable(given) then
    local ok, value = pcall(given, name)
    local problem = not ok and "failed: " .. tostring(value)
      or vim.is_callable(value) and "returned another function"
      or M.problem(value)
    if problem then
      return {}, "the function sandbox " .. problem
    end
    given = value
  end
  if type(given) == "table" and next(given) == nil then
    given = true -- an empty table would arrive as an empty list
  end
  local session = require("hermes.session.params").session({})
  local folders = vim.list_extend({ session.cwd }, session.additionalDirectories or {})
  return {
    sandbox = given,
    sandbox_default = default,
    folders = given and vim.tbl_filter(require("hermes.core.disk").exists, folders) or nil,
  }
end

---@param net boolean|integer[]
---@return string
local function networks(net)
  if type(net) == "table" and #net > 0 then
    return "ports " .. table.concat(net, ", ")
  end
  return net == true and "on" or "off"
end

---@param sandbox hermes.SandboxState
---@return string what it allows, in one line
function M.line(sandbox)
  local text = require("hermes.core.text")
  if sandbox.wrapper then
    return "started by " .. text.line(table.concat(sandbox.wrapper, " "), 200)
  end
  local write = vim.tbl_map(function(path)
    return text.line(vim.fn.fnamemodify(path, ":~"), 80)
  end, sandbox.write)
  local parts = {
    "may change " .. table.concat(write, ", "),
    sandbox.read and "read only what it needs and is allowed to" or "read all but secrets",
    "network " .. networks(sandbox.net),
  }
  if sandbox.sockets then
    parts[#parts + 1] = "Unix sockets on"
  end
  if sandbox.missing then
    table.insert(parts, 1, "NOT completely: " .. table.concat(sandbox.missing, "; "))
  end
  return table.concat(parts, "; ")
end

return M
