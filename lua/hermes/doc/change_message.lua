---The message that tells the host about a change of a buffer by an agent or from the disk.
local M = {}

local plain = require("hermes.doc.plain_text")

local reached = { written = true, refreshed = true, merged = true }
local parted = { deleted = true, large = true, conflict = true } -- the disk has something else

---@param change hermes.Changed
---@param h? hermes.review.Held nil when the buffer is not held
---@return table? message nil if there is nothing to say; without a text the host looks at the disk
function M.of(change, h)
  if not reached[change.outcome] and not parted[change.outcome] then
    return nil
  elseif h and change.outcome == "conflict" or not h and not change.agent and not change.text then
    return nil
  end
  local message = {
    path = h and h.path or change.path,
    agent = change.agent, -- nil: the host knows who works
    sessionId = change.sessionId,
    toolCallId = change.toolCallId,
    source = change.source,
    tick = vim.api.nvim_buf_get_changedtick(change.bufnr),
  }
  local text = reached[change.outcome] and change.text
  if text and plain.is_plain(change.bufnr, text) then
    message.text, message.disk = text, change.disk
    message.before = not h and (change.base or change.before) or nil
  end
  return message
end

return M
