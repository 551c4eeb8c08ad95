--- Reports what agents change in buffers, by writes and by refreshes from the
--- disk, to FileEdited and to the review.

local M = {}

---@class hermes.Changed a change of an agent that reached a buffer, or could not
---@field bufnr integer
---@field path string name of the buffer
---@field agent? string nil when nobody knows who changed the file
---@field sessionId? string
---@field toolCallId? string
---@field requestId? string of a write
---@field source "write"|"tool"|"disk"
---@field outcome hermes.changed.Outcome
---@field tick integer 'changedtick' of the buffer now
---@field before? string the text before as it would be on disk; only if somebody takes changes
---@field text? string the text now as it would be on disk; only if somebody takes changes, and
---not of large buffers
---@field disk? string of a merge: the text that was read from the disk
---@field base? string of a merge: what the buffer and the disk had in common before

---@alias hermes.changed.Outcome
---| "written" # the agent wrote the buffer
---| "refreshed" # the buffer shows what is on disk
---| "merged" # the buffer shows what is on disk and has unsaved edits of the user
---| "conflict" # the user changed the same lines; the buffer stays as it is
---| "deleted" # the file is gone; the buffer stays as it is
---| "large" # the file or the buffer is too large to follow; the buffer stays as it is

--- The buffers that are being changed because of an agent right now, including by autocommands such
--- as formatters. Callbacks of nvim_buf_attach check here whether a change is the user's.
M.applying = {} ---@type table<integer, true>

--- Called before a buffer changes because of an agent.
---@type fun(buf: integer)?
M.begin = nil

--- Called with each change right after it. If it returns true, somebody else fires
--- FileEdited.
---@type fun(change: hermes.Changed): boolean?
M.take = nil

--- Calls `fn`, which changes a buffer because of an agent.
---@param buf integer
---@param fn fun(): any
---@return boolean ok as pcall does
---@return any result
---@return string? before the text before, if somebody takes changes
function M.apply(buf, fn)
  if M.applying[buf] then
    return pcall(fn)
  elseif M.begin then
    require("hermes.core.log").guard("a change of " .. vim.api.nvim_buf_get_name(buf), M.begin, buf)
  end
  local buffer_text = require("hermes.doc.buffer_text")
  local before = M.take and not buffer_text.is_large(buf) and buffer_text.text(buf) or nil
  M.applying[buf] = true
  local ok, result = pcall(fn)
  M.applying[buf] = nil
  return ok, result, before or nil
end

--- Reports a change. Call it before anything else can change the buffer.
---@param change hermes.Changed without path, tick and text
function M.report(change)
  local buf = change.bufnr
  change.path = vim.api.nvim_buf_get_name(buf)
  change.tick = vim.b[buf].changedtick
  if M.take then
    local buffer_text = require("hermes.doc.buffer_text")
    change.text = not buffer_text.is_large(buf) and buffer_text.text(buf) or nil
    local ok, taken = pcall(M.take, change)
    if not ok then
      require("hermes.core.log").notify(
        vim.log.levels.ERROR,
        "the review failed: " .. tostring(taken)
      )
    elseif taken then
      return
    end
  end
  if change.source ~= "write" and change.agent then
    require("hermes.core.events").emit("FileEdited", {
      agent = change.agent,
      sessionId = change.sessionId,
      toolCallId = change.toolCallId,
      path = change.path,
      bufnr = buf,
      outcome = change.outcome,
    })
  end
end

return M
