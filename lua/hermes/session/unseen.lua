---Changes of programs in a shim that were not recorded.
local M = {}

local max_sessions = 100

---@class hermes.Unseen
---@field agent? string
---@field session? string
---@field count integer
---@field reason string the last one
---@field limit? string what the record cannot have at all

local all = {} ---@type hermes.Unseen[] the newest last
local unheard = {} ---@type table<string, true?> folders whose review is not open here

---@param data hermes.event.ChangesUnseen
function M.note(data)
  local agent, session = data.agent, data.sessionId
  for i, one in ipairs(all) do
    if one.agent == agent and one.session == session then
      table.remove(all, i)
      break
    end
  end
  local one = { agent = agent, session = session, count = data.count, reason = data.reason }
  one.limit = data.limit
  all[#all + 1] = one
  if #all > max_sessions then
    table.remove(all, 1)
  end
end

---@return hermes.Unseen[]
function M.list()
  return all
end

---@param one hermes.Unseen
---@return string
function M.line(one)
  local line = require("hermes.core.text").line
  local limit = one.limit and line(one.limit, 200)
  if one.count == 0 then
    return limit or line(one.reason, 200)
  end
  local changes = one.count == 1 and "1 change was" or one.count .. " changes were"
  local lost = ("%s not recorded, because %s"):format(changes, line(one.reason, 200))
  return limit and limit .. "; " .. lost or lost
end

---Notes whether the review of a folder is open here. Only then does Neovim learn what was not
---recorded.
---@param root string
---@param open boolean
function M.hears(root, open)
  unheard[root] = not open or nil
end

---The state of the record of a program in a shim.
---@param program hermes.Program
---@return string
function M.of(program)
  for _, one in ipairs(all) do
    if one.agent == program.agent and one.session == program.sessionId then
      return M.line(one)
    end
  end
  return unheard[program.root] and "what its record lacks is not known here" or "record complete"
end

return M
