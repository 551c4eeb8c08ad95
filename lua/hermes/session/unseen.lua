---What programs in a shim may have changed without a record.
local M = {}

local max_sessions = 100

---@class hermes.Unseen
---@field agent? string
---@field session? string
---@field count integer
---@field reason string the last one

local all = {} ---@type hermes.Unseen[] the newest last

---@param data hermes.event.ChangesUnseen
function M.note(data)
  local agent, session = data.agent, data.sessionId
  for i, one in ipairs(all) do
    if one.agent == agent and one.session == session then
      table.remove(all, i)
      break
    end
  end
  all[#all + 1] = { agent = agent, session = session, count = data.count, reason = data.reason }
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
  local changes = one.count == 1 and "1 change was" or one.count .. " changes were"
  return ("%s not recorded, because %s"):format(
    changes,
    require("hermes.core.text").line(one.reason, 200)
  )
end

---What the record of a session is.
---@param agent string
---@param session string
---@return string
function M.of(agent, session)
  for _, one in ipairs(all) do
    if one.agent == agent and one.session == session then
      return M.line(one)
    end
  end
  return "record complete"
end

return M
