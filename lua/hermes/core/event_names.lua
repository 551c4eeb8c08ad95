---The names of events, however they are spelt.
local M = {}

local gen = require("hermes.core.events_gen")

---Returns the canonical name of an event, however it is spelt.
---@param name string
---@return string? name nil when Hermes has no such event
function M.canonical(name)
  if gen.events[name] then
    return name
  end
  if gen.alias[name] then
    return gen.alias[name]
  end
  local bare = name:match("^Hermes(.+)$")
  return bare and (gen.events[bare] and bare or gen.alias[bare]) or nil
end

---@param name any
---@return boolean
function M.exists(name)
  return gen.events[name] ~= nil
end

---The events that a pattern stands for, where * matches any letters.
---@param pattern string
---@return string[] names
function M.matching(pattern)
  local as_lua = "^" .. vim.pesc(pattern):gsub("%%%*", ".*") .. "$"
  local exact = M.canonical(pattern)
  return vim.tbl_filter(function(name)
    return name == exact or name:find(as_lua) ~= nil
  end, M.names())
end

---@param name string canonical
---@return boolean whether the agent waits for an answer
function M.is_request(name)
  return gen.events[name].source == "request"
end

---@return string[] names of all events, sorted
function M.names()
  local names = vim.tbl_keys(gen.events)
  table.sort(names)
  return names
end

---Raises an error unless `name` is an event.
---@param name any
---@param who string the function that was called
---@return string canonical
function M.need(name, who)
  local canonical = type(name) == "string" and M.canonical(name)
  if canonical then
    return canonical
  end
  local meant = require("hermes.core.arguments").similar(name, M.names())
  error(
    ("hermes.%s: %s is not an event of Hermes%s"):format(
      who,
      vim.inspect(name),
      meant and ("; did you mean %q?"):format(meant) or ""
    ),
    3
  )
end

return M
