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
  cancel = {
    'true, false or "fallback"',
    function(value)
      return type(value) == "boolean" or value == "fallback"
    end,
  },
  command = {
    "a list of strings, the program first",
    function(value)
      return list_of_strings(value) and (value[1] or "") ~= ""
    end,
  },
  count = {
    "a whole number above 0",
    function(value)
      return whole(value) and value > 0 and value < 2 ^ 31
    end,
  },
  amount = {
    "a whole number, 0 or more",
    function(value)
      return whole(value) and value >= 0
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
  size = {
    'a number of cells or a part such as "40%"',
    function(value)
      local part = type(value) == "string" and tonumber(value:match("^(%d%d?)%%$"))
      return whole(part or value) and (part or value) > 0
    end,
  },
  strings = { "a list of strings", list_of_strings },
  table_or_function = {
    "a table or a function",
    function(value)
      return type(value) == "table" or vim.is_callable(value)
    end,
  },
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

---How many letters are wrong: added, missing, changed or swapped with the next one.
---@param a string
---@param b string
---@return integer
local function distance(a, b)
  local before, last = {}, {}
  for j = 0, #b do
    last[j] = j
  end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], before[j - 2] + 1)
      end
    end
    before, last = last, row
  end
  return last[#b]
end

---The name that was probably meant.
---@param name any
---@param names string[]
---@return string? nil when none is similar
function M.similar(name, names)
  if type(name) ~= "string" or #name > 64 then
    return nil
  end
  local best, least = nil, math.max(1, math.floor(#name / 3)) + 1
  for _, candidate in ipairs(names) do
    local d = distance(name:lower(), candidate:lower())
    if #name > 2 and vim.startswith(candidate, name) then
      d = 1
    end
    if d < least then
      best, least = candidate, d
    end
  end
  return best
end

---Says that a key is unknown, and what it may have been meant to be.
---@param at string put before the key
---@param key any
---@param valid table<string, any>|string[] the valid keys, or a table that has them
---@return string
function M.unknown(at, key, valid)
  local names = vim.islist(valid) and vim.list_slice(valid) or vim.tbl_keys(valid)
  table.sort(names)
  local meant = M.similar(key, names)
  return ("unknown key %q; %svalid keys: %s"):format(
    at .. tostring(key),
    meant and ("did you mean %q? "):format(meant) or "",
    table.concat(names, ", ")
  )
end

---The options that functions take, and their kinds.
local kinds_of_options = {
  additionalDirectories = "strings",
  additional_directories = "strings",
  agent = "name",
  blocks = "boolean",
  bufnr = "integer",
  cancel = "cancel",
  cursor = "string",
  cwd = "name",
  file = "name",
  force = "boolean",
  format = "callback",
  mcpServers = "table",
  mcp_servers = "table",
  on_done = "callback",
  session_id = "name",
  timeout = "time",
  update = "boolean",
  url = "name",
  waiting_first = "boolean",
}

local shared = { "agent", "force", "on_done" }

---@param opts any
---@param who string
---@param level? integer
---@param more? string[]|false names of options beside those that all functions take; false: the
---caller checks the others
---@return table
function M.options(opts, who, level, more)
  level = (level or 2) + 1
  if opts == nil then
    return {}
  elseif type(opts) ~= "table" then
    error(("hermes.%s: expected a table of options, not a %s"):format(who, type(opts)), level)
  end
  local valid = vim.list_extend(vim.list_slice(shared), more or {})
  for key, value in pairs(opts) do
    if vim.tbl_contains(valid, key) then
      M.need(value, kinds_of_options[key], who, key, level)
    elseif more ~= false then
      error(("hermes.%s: %s"):format(who, M.unknown("", key, valid)), level)
    end
  end
  return opts
end

---@class hermes.OfAgent
---@field agent? string whose session it is; two agents may use the same id

---Checks the arguments of a function that only looks at a session.
---@param who string
---@param session_id any
---@param opts any
---@param any_session? boolean nil stands for all sessions
---@return string? agent
function M.agent_of(who, session_id, opts, any_session)
  if session_id ~= nil or not any_session then
    M.need(session_id, "name", who, "the id of the session", 3)
  end
  return M.options(opts, who, 3).agent
end

return M
