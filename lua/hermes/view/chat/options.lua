--- The options of the chat, from `chat` of hermes.setup() and from hermes.chat.setup().

local M = {}

---@class hermes.chat.Options
---@field agent? string the agent of a chat that names none
---@field position "right"|"left"|"above"|"below"
---@field size number part of the screen, between 0 and 1
---@field prompt_height integer[] the least and the most lines
---@field max_lines integer of the transcript; older ones are dropped
---@field highlight boolean markdown, with treesitter
---@field insert boolean whether a chat opens in insert mode
---@field permissions "dialog"|"chat" where questions are answered
---@field on_last "disconnect"|"keep"|"ask" what becomes of an agent whose last chat closes
---@field keys table<string, string|table<string, string>|false>
local defaults = {
  position = "right",
  size = 0.45,
  prompt_height = { 3, 12 },
  max_lines = 5000,
  highlight = true,
  insert = true,
  permissions = "chat",
  on_last = "disconnect",
  keys = {},
}

local own = {} ---@type table the options of hermes.chat.setup()

---@param value any
---@return boolean
local function is_whole(value)
  return type(value) == "number" and value % 1 == 0
end

---@param ... string
---@return { [1]: string, [2]: fun(value: any): boolean }
local function one_of(...)
  local valid = { ... }
  return {
    'one of "' .. table.concat(valid, '", "') .. '"',
    function(value)
      return vim.tbl_contains(valid, value)
    end,
  }
end

---@param value any
---@return boolean
local function is_boolean(value)
  return type(value) == "boolean"
end

--- What a value must be, in words and as a test.
---@type table<string, { [1]: string, [2]: fun(value: any): boolean }>
local kinds = {
  agent = {
    "the name of an agent",
    function(value)
      return type(value) == "string" and value ~= ""
    end,
  },
  position = one_of("right", "left", "above", "below"),
  size = {
    "a part of the screen, a number between 0 and 1",
    function(value)
      return type(value) == "number" and value > 0 and value < 1
    end,
  },
  prompt_height = {
    "the least and the most lines, such as { 3, 12 }",
    function(value)
      if type(value) ~= "table" or not vim.islist(value) or #value ~= 2 then
        return false
      end
      local least, most = value[1], value[2]
      return is_whole(least) and is_whole(most) and least >= 1 and most >= least
    end,
  },
  max_lines = {
    "a whole number, 100 or more",
    function(value)
      return is_whole(value) and value >= 100
    end,
  },
  highlight = { "true or false", is_boolean },
  insert = { "true or false", is_boolean },
  permissions = one_of("dialog", "chat"),
  on_last = one_of("disconnect", "keep", "ask"),
}

---@param value any
---@return string
local function shown(value)
  return vim.inspect(value, { newline = " ", indent = "" })
end

---@param at string put before the key
---@param key any
---@param valid table<string, any>
---@return string
local function unknown(at, key, valid)
  local names = vim.tbl_keys(valid)
  table.sort(names)
  return ("unknown key %q; valid keys: %s"):format(at .. tostring(key), table.concat(names, ", "))
end

---@param keys any
---@param at string put before the names of keys
---@return string? problem
local function keys_problem(keys, at)
  if type(keys) ~= "table" then
    return ("%s must be a table of keys by name, not %s"):format(at, shown(keys))
  end
  local modes = require("hermes.view.chat.actions").resolve({}) or {}
  for name, key in pairs(keys) do
    local where = ("%s.%s"):format(at, tostring(name))
    local valid = modes[name]
    if not valid then
      return unknown(at .. ".", name, modes)
    elseif type(key) ~= "string" and type(key) ~= "table" and key ~= false then
      return ("%s must be a key, keys by mode or false, not %s"):format(where, shown(key))
    end
    for mode, given in pairs(type(key) == "table" and key or {}) do
      if not valid[mode] then
        return unknown(where .. ".", mode, valid)
      elseif given ~= false and (type(given) ~= "string" or given == "") then
        return ("%s.%s must be a key or false, not %s"):format(where, mode, shown(given))
      end
    end
  end
end

--- Says what is wrong with options.
---@param opts any
---@param at string put before their names
---@return string? problem
function M.problem(opts, at)
  if type(opts) ~= "table" then
    return ("%s must be a table, not %s"):format(at == "" and "the options" or at, shown(opts))
  end
  local prefix = at == "" and "" or at .. "."
  for name, value in pairs(opts) do
    local kind = kinds[name]
    if name == "keys" then
      local problem = keys_problem(value, prefix .. "keys")
      if problem then
        return problem
      end
    elseif not kind then
      local valid = vim.tbl_extend("force", { keys = true }, kinds)
      return unknown(prefix, name, valid)
    elseif not kind[2](value) then
      return ("%s%s must be %s, not %s"):format(prefix, name, kind[1], shown(value))
    end
  end
end

---@param before table
---@param opts table
---@return table
local function over(before, opts)
  local both = vim.tbl_extend("force", {}, before, opts)
  both.keys = vim.tbl_extend("force", {}, before.keys or {}, opts.keys or {})
  return both
end

--- Lays checked options over the earlier ones.
---@param opts table
function M.set(opts)
  own = over(own, opts)
end

---@return hermes.chat.Options
function M.get()
  return over(over(defaults, require("hermes.core.config").get().chat), own)
end

return M
