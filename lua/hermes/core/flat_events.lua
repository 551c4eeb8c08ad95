---The flat view of events: members of the update in the data itself, also under older names.
local M = {}

local function camel(member)
  return (member:gsub("%u", function(c)
    return "_" .. c:lower()
  end))
end

local function blocks(list)
  local flat = {}
  for i, item in ipairs(list) do
    local from = item
    if item.type == "content" then
      from = item.content or {}
    end
    local both = vim.tbl_extend("force", {}, from)
    if item.type == "diff" then
      both.new_text, both.old_text = item.newText, item.oldText
    elseif item.type == "terminal" then
      both.id = item.terminalId
    end
    flat[i] = both
  end
  return flat
end

---@class hermes.FlatOption: hermes.acp.SessionConfigOption
---@field kind { currentValue: string|boolean, options?: table[] } the value, and the choices, each
---with the type "ungrouped" or "grouped"

---@param list hermes.acp.SessionConfigOption[]
---@return hermes.FlatOption[]
local function config_options(list)
  return vim.tbl_map(function(option)
    local choices = option.options
      and vim.tbl_map(function(choice)
        local kind = choice.options and "grouped" or "ungrouped"
        return vim.tbl_extend("force", choice, { type = kind })
      end, option.options)
    local kind = { currentValue = option.currentValue, options = choices }
    return vim.tbl_extend("force", option, { kind = kind })
  end, list)
end

local convert = {
  json = vim.json.encode,
  options = function(value)
    return type(value) == "table" and config_options(value) or value
  end,
  blocks = function(value)
    return type(value) == "table" and blocks(value) or value
  end,
}

local function annotations(value)
  if type(value) ~= "table" then
    return value
  end
  local both = vim.tbl_extend("force", {}, value)
  for key, member in pairs(value) do
    both[camel(key)] = member
  end
  return both
end

---Adds the members of the update to the data, also under older names.
---@param shape hermes.EventShape
---@param data table
function M.flatten(shape, data)
  local source = data
  for _, part in ipairs(shape.place) do
    source = type(source) == "table" and source[part] or nil
  end
  if type(source) ~= "table" then
    return
  end
  for key, value in pairs(source) do
    if key == "annotations" then
      data[key] = annotations(value)
    elseif key == "_meta" then
      data.meta = value
    elseif data[key] == nil and key ~= "sessionUpdate" then
      data[key] = value
    end
  end
  for key, from in pairs(shape.flat) do
    local value = source[from[1]]
    if value ~= nil then
      data[key] = from[2] and convert[from[2]](value) or value
    end
  end
end

return M
