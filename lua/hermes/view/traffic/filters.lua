--- Filters of the traffic, as users give them and as they are shown.
local M = {}

local text = require("hermes.core.text")

local fields = {
  agent = true,
  session = true,
  method = true,
  direction = true,
  text = true,
}

--- Why a table is no filter.
---@param which table
---@return string?
function M.problem(which)
  for name, value in pairs(which) do
    if not fields[name] or type(value) ~= "string" then
      return ("%q is not a filter"):format(tostring(name))
    elseif name == "direction" and value ~= "in" and value ~= "out" then
      return 'direction is "in" or "out"'
    end
  end
end

--- A filter from words such as method=session/prompt; all others are the text.
---@param words string[]
---@return hermes.TrafficFilter
function M.parse(words)
  local which, rest = {}, {}
  for _, word in ipairs(words) do
    local name, value = word:match("^(%a+)=(.+)$")
    if name and fields[name] then
      which[name] = value
    else
      rest[#rest + 1] = word
    end
  end
  if #rest > 0 then
    which.text = table.concat(rest, " ")
  end
  return which
end

--- The filter in words.
---@param filter hermes.TrafficFilter
---@return string
function M.words(filter)
  local parts = {}
  for _, name in ipairs({ "agent", "session", "method", "direction", "text" }) do
    if filter[name] then
      parts[#parts + 1] = ("%s=%s"):format(name, text.line(filter[name], 60))
    end
  end
  return table.concat(parts, " ")
end

return M
