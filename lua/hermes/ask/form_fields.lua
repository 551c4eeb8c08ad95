---The fields of a form that an agent asks for: what each may hold, and what a text means in it.
local M = {}

local text = require("hermes.core.text")

---@class hermes.elicitation.Field
---@field name string
---@field property table
---@field required boolean
---@field title string

---The fields of a form, in the order of its schema.
---@param data table
---@return hermes.elicitation.Field[]
function M.of(data)
  local schema = data.requestedSchema or {}
  local properties = schema.properties or {}
  local names = {}
  for _, name in ipairs(data.fields or {}) do -- the host knows the order
    names[#names + 1] = properties[name] and name or nil
  end
  if #names ~= vim.tbl_count(properties) then
    names = vim.tbl_keys(properties)
    table.sort(names)
  end
  local required = {} ---@type table<string, boolean>
  for _, name in ipairs(schema.required or {}) do
    required[name] = true
  end
  return vim.tbl_map(function(name)
    local property = properties[name]
    return {
      name = name,
      property = property,
      required = required[name] or false,
      title = text.line(property.title or property.description or name, 80),
    }
  end, names)
end

---The values a property offers, with their titles.
---@param property table
---@return { value: any, title: string }[]?
function M.choices(property)
  if property.type == "boolean" then
    return { { value = true, title = "yes" }, { value = false, title = "no" } }
  end
  local list = property.oneOf or property.anyOf
  if list then
    return vim.tbl_map(function(option)
      return { value = option.const, title = option.title or option.const }
    end, list)
  end
  return property.enum
    and vim.tbl_map(function(value)
      return { value = value, title = value }
    end, property.enum)
end

---The value that a text stands for.
---@param property table
---@param typed string
---@return any value nil when it is invalid
---@return string? err
function M.parse(property, typed)
  if property.type == "number" or property.type == "integer" then
    local n = tonumber(typed)
    if not n or (property.type == "integer" and n % 1 ~= 0) then
      return nil, property.type == "integer" and "a whole number, please" or "a number, please"
    elseif property.minimum and n < property.minimum then
      return nil, ("at least %s, please"):format(property.minimum)
    elseif property.maximum and n > property.maximum then
      return nil, ("at most %s, please"):format(property.maximum)
    end
    return n
  elseif property.minLength and vim.fn.strchars(typed) < property.minLength then
    return nil, ("at least %d characters, please"):format(property.minLength)
  elseif property.maxLength and vim.fn.strchars(typed) > property.maxLength then
    return nil, ("at most %d characters, please"):format(property.maxLength)
  end
  return typed
end

---@param list { value: any }[]
---@return table<any, boolean>
local function values_of(list)
  local values = {}
  for _, item in ipairs(list) do
    if item.value ~= nil then
      values[item.value] = true
    end
  end
  return values
end

---The default of a property; nil if it is not a valid value of the property.
---@param property table
---@return any
function M.default_of(property)
  local default, list = property.default, M.choices(property)
  if property.type == "array" then
    local allowed = values_of(M.choices(property.items or {}) or {})
    local fits = type(default) == "table"
      and vim.islist(default)
      and vim.iter(default):all(function(value)
        return allowed[value]
      end)
    return fits and vim.list_slice(default) or nil
  elseif list then
    if default ~= nil and values_of(list)[default] then
      return default
    end
    return nil
  end
  local number = property.type == "number" or property.type == "integer"
  local fits = type(default) == (number and "number" or "string") and default ~= ""
  if fits and M.parse(property, tostring(default)) ~= nil then
    return default
  end
end

---A value as a text.
---@param value any
---@return string
function M.show(value)
  return value == nil and ""
    or type(value) == "table" and table.concat(vim.tbl_map(tostring, value), ", ")
    or tostring(value)
end

return M
