---Checks those parts of the configuration whose members the user names, and agents and rules that
---are given later.
local M = {}

---@param set table<string, any>
---@return string its keys
function M.list(set)
  local list = vim.tbl_keys(set)
  table.sort(list)
  return table.concat(list, ", ")
end

---Says what is wrong with a value.
---@param value any
---@param want string a kind of hermes.check
---@param words? table<string, true> words that it may be instead
---@return string? problem
function M.problem(value, want, words)
  if want == "sandbox" then
    return require("hermes.wiring").problems.sandbox(value)
  elseif type(value) == want then
    return nil -- without loading the kinds that are not types of Lua
  elseif not words then
    return require("hermes.core.arguments").problem(value, want)
  elseif not words[value] then
    local shown = vim.inspect(value)
    return ("must be a %s or one of %s, not %s"):format(want, M.list(words), shown)
  end
end

local agent_fields = {
  command = "string",
  args = "strings",
  env = "strings_by_name",
  cwd = "string",
  pass_env = "strings",
  inherit_env = "boolean",
  quirks = "table",
  paths = "strings_by_name",
  reconnect = "boolean",
  sandbox = "sandbox",
  shared = "boolean",
  shim = "boolean",
  terminal_access = "boolean",
  protocol = "string",
  path = "string",
  host = "string",
  port = "port",
  tls = "boolean",
  url = "string",
  token = "string",
  headers = "strings_by_name",
}

local quirk_fields = {
  missing_file = "string",
  one_session = "boolean",
  ignores_eof = "boolean",
  unannounced = "boolean",
  elsewhere = "boolean",
}

local protocols = { stdio = true, socket = true, tcp = true, websocket = true, http = true }

-- Strings that some keys take besides their type.
local words = { shared = { manual = true }, terminal_access = { ask = true } }

---Says what is wrong with a way to start or reach an agent.
---@param agent table
---@param at string put before the names of its keys
---@return string? problem
function M.agent_problem(agent, at)
  for key, value in pairs(agent) do
    local want = agent_fields[key]
    if not want then
      return require("hermes.core.arguments").unknown(at, key, agent_fields)
    end
    local problem = M.problem(value, want, words[key])
    if problem then
      return ("%s%s %s"):format(at, key, problem)
    end
  end
  if agent.protocol and not protocols[agent.protocol] then
    return ("%sprotocol: unknown protocol %q; valid protocols: %s"):format(
      at,
      agent.protocol,
      M.list(protocols)
    )
  end
  for here, there in pairs(agent.paths or {}) do
    for _, folder in ipairs({ (here:gsub("^~/", "/")), there }) do
      if not folder:find("^/") and not folder:find("^%a:[/\\]") then
        return ("%spaths: %q is not an absolute path"):format(at, folder)
      end
    end
  end
  for key, value in pairs(agent.quirks or {}) do
    local want = quirk_fields[key]
    if not want then
      return require("hermes.core.arguments").unknown(at .. "quirks.", key, quirk_fields)
    elseif type(value) ~= want then
      return ("%squirks.%s must be a %s, not a %s"):format(at, key, want, type(value))
    elseif key == "missing_file" and value ~= "error" and value ~= "empty" then
      return ('%squirks.missing_file must be "error" or "empty", not %s'):format(
        at,
        vim.inspect(value)
      )
    end
  end
end

local rule_fields = {
  action = "string",
  agent = "string",
  kind = "string",
  path = "string",
  command = "strings",
  exact = "boolean",
  env = "strings",
  cwd = "string",
  scope = "string",
  session = "string",
}

---Says what is wrong with a rule. A misspelt key would make the rule wider.
---@param rule any
---@param at string its place, for the message
---@return string? problem
function M.rule_problem(rule, at)
  if type(rule) ~= "table" then
    return ("%s must be a table, not a %s"):format(at, type(rule))
  end
  for key, value in pairs(rule) do
    local want = rule_fields[key]
    if not want then
      return require("hermes.core.arguments").unknown(at .. ".", key, rule_fields)
    end
    local problem = M.problem(value, want)
    if problem then
      return ("%s.%s %s"):format(at, key, problem)
    end
  end
  if rule.action ~= "allow" and rule.action ~= "deny" then
    return ('%s.action must be "allow" or "deny", not %s'):format(at, vim.inspect(rule.action))
  end
  if rule.command and #rule.command == 0 then
    return ("%s.command must hold the first words of a command"):format(at)
  end
  if rule.action == "allow" and rule.command and rule.path then
    return ("%s: a command may touch any path; a rule that allows has one or the other"):format(at)
  end
  if rule.exact and not (rule.command and rule.action == "allow") then
    return ("%s: exact is for rules that allow a command"):format(at)
  end
  if (rule.env or rule.cwd) and (rule.action ~= "allow" or rule.path) then
    return ("%s: env and cwd are for rules that allow a command"):format(at)
  end
end

---@return string? problem
local function rules_problem(rules)
  if not vim.islist(rules) then
    return "permissions.rules must be a list"
  end
  for i, rule in ipairs(rules) do
    local at = ("permissions.rules[%d]"):format(i)
    local problem = M.rule_problem(rule, at)
    if not problem and (rule.scope or rule.session) then
      problem = at .. ": rules of setup() hold always and have no scope"
    end
    if problem then
      return problem
    end
  end
end

---@return string? problem
local function agents_problem(agents)
  for name, agent in pairs(agents) do
    local at = ("agents.%s"):format(name)
    local problem = type(name) ~= "string"
        and "agents must have names: { name = { command = ... } }"
      or type(agent) ~= "table" and ("%s must be a table, not a %s"):format(at, type(agent))
      or M.agent_problem(agent, at .. ".")
    if problem then
      return problem
    end
  end
end

---Says what is wrong with the name of a handler. The method of an extension may have any name but a
---misspelt name of an event.
---@param name any
---@return string? problem
function M.handler_problem(name)
  local events = require("hermes.core.event_names")
  local canonical = type(name) == "string" and events.canonical(name)
  if canonical and not events.is_request(canonical) then
    local requests = vim.tbl_filter(events.is_request, events.names())
    return ("%s is an event that needs no answer; hermes.on() hears it. Requests: %s"):format(
      canonical,
      table.concat(requests, ", ")
    )
  elseif type(name) ~= "string" or not name:find("^%u%a+$") or canonical then
    return nil
  end
  local meant = require("hermes.core.arguments").similar(name, events.names())
  return meant and ("there is no event %q; did you mean %q?"):format(name, meant) or nil
end

---@return string? problem
local function handlers_problem(handlers)
  for name, handler in pairs(handlers) do
    local problem = M.handler_problem(name)
    if problem then
      return "handlers: " .. problem
    end
    if type(handler) ~= "function" then
      return ("handlers.%s must be a function, not a %s"):format(name, type(handler))
    end
  end
end

---@param defaults table<any, any>
---@return string? problem
local function defaults_problem(defaults)
  for name, value in pairs(defaults) do
    local events = require("hermes.core.event_names")
    local canonical = type(name) == "string" and events.canonical(name)
    if not canonical or not events.is_request(canonical) then
      local requests = vim.tbl_filter(events.is_request, events.names())
      return require("hermes.core.arguments").unknown("defaults.", name, requests)
    elseif type(value) ~= "boolean" then
      return ("defaults.%s must be a boolean, not a %s"):format(name, type(value))
    end
  end
end

---@param patterns string[]
---@return string? problem
local function off_problem(patterns)
  for _, pattern in ipairs(patterns) do
    local events = require("hermes.core.event_names")
    if #events.matching(pattern) == 0 then
      local meant = require("hermes.core.arguments").similar(pattern, events.names())
      local text = "events.off: %q is not the name of an event%s"
      return text:format(pattern, meant and ("; did you mean %q?"):format(meant) or "")
    end
  end
end

---Says what is wrong with what setup() was given.
---@param opts table
---@return string? problem
function M.parts_problem(opts)
  local others = require("hermes.wiring").problems
  return agents_problem(opts.agents or {})
    or handlers_problem(opts.handlers or {})
    or rules_problem(opts.permissions and opts.permissions.rules or {})
    or defaults_problem(opts.defaults or {})
    or opts.session_defaults and others.session_defaults(opts.session_defaults)
    or off_problem(opts.events and opts.events.off or {})
    or opts.chat and others.chat(opts.chat)
    or opts.shim and opts.shim.presets and others.presets(opts.shim.presets)
end

return M
