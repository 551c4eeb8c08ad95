---Checks arguments of users before anything uses them.
local M = {}

local function list_of_strings(value)
  if type(value) ~= "table" or not vim.islist(value) then
    return false
  end
  for _, entry in ipairs(value) do
    if type(entry) ~= "string" then
      return false
    end
  end
  return true
end

local function strings_by_name(value)
  if type(value) ~= "table" then
    return false
  end
  for name, entry in pairs(value) do
    if type(name) ~= "string" or type(entry) ~= "string" then
      return false
    end
  end
  return true
end

local function whole(value)
  return type(value) == "number" and value % 1 == 0
end

---Kinds of values besides Lua's types: the name and the test of each.
---@type table<string, { [1]: string, [2]: fun(value: any): boolean }>
local kinds = {
  callback = { "a function", vim.is_callable },
  command = {
    "a list of strings, the program first",
    function(value)
      return list_of_strings(value) and (value[1] or "") ~= ""
    end,
  },
  integer = { "a whole number", whole },
  name = {
    "a string",
    function(value)
      return type(value) == "string" and value ~= ""
    end,
  },
  names = {
    "a string or a list of strings",
    function(value)
      return type(value) == "string" or list_of_strings(value)
    end,
  },
  port = {
    "a number from 1 to 65535",
    function(value)
      return whole(value) and value >= 1 and value <= 65535
    end,
  },
  strings = { "a list of strings", list_of_strings },
  strings_by_name = { "a table of strings by name", strings_by_name },
  url = {
    "an address that begins with https:// or http://",
    function(value)
      return type(value) == "string" and value:find("^https?://[^/%s]+[^%s]*$") ~= nil
    end,
  },
  time = {
    "a whole number of milliseconds",
    function(value)
      return whole(value) and value >= 0 and value < 2 ^ 31
    end,
  },
}

---Says what is wrong with a value, worded to follow its name.
---@param value any
---@param want string a type of Lua or one of the kinds above
---@return string? problem
function M.problem(value, want)
  local kind = kinds[want]
  if not kind then
    return type(value) ~= want and ("must be a %s, not a %s"):format(want, type(value)) or nil
  elseif not kind[2](value) then
    local shown = vim.inspect(value, { newline = " ", indent = "" })
    return ("must be %s, not %s"):format(kind[1], shown)
  end
end

---Raises an error in the caller of hermes.{who} if a value is wrong.
---@param value any
---@param want string
---@param who string
---@param what string
---@param level? integer of error(), for the function that calls this one
---@return any value
function M.need(value, want, who, what, level)
  local problem = M.problem(value, want)
  if problem then
    error(("hermes.%s: %s %s"):format(who, what, problem), (level or 2) + 1)
  end
  return value
end

---The options that all functions share.
local options = {
  additionalDirectories = "strings",
  additional_directories = "strings",
  agent = "name",
  cursor = "string",
  cwd = "name",
  file = "name",
  mcpServers = "table",
  mcp_servers = "table",
  on_done = "callback",
  timeout = "time",
  update = "boolean",
}

---@param opts any
---@param who string
---@param level? integer
---@return table
function M.options(opts, who, level)
  level = (level or 2) + 1
  if opts == nil then
    return {}
  elseif type(opts) ~= "table" then
    error(("hermes.%s: expected a table of options, not a %s"):format(who, type(opts)), level)
  end
  for key, want in pairs(options) do
    if opts[key] ~= nil then
      M.need(opts[key], want, who, key, level)
    end
  end
  return opts
end

return M
