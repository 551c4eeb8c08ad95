--- Remembers the text that a buffer and its file last had in common, for buffers that the user may
--- be editing while an agent changes the file. Without this text, a merge cannot separate the edits
--- of the two.

local M = {}

local buffer_text = require("hermes.doc.buffer_text")
local versions = require("hermes.doc.versions")
local disk = require("hermes.core.disk")

---@class hermes.common.Text
---@field version string of the file
---@field bytes? string of the file
---@field text? string of the buffer, when the file had changed already

local texts = {} ---@type table<integer, hermes.common.Text>

--- Remembers the text, unless it is known already or no longer to be had.
---@param buf integer
function M.note(buf)
  local version, name = versions.noted(buf), vim.api.nvim_buf_get_name(buf)
  if not version or version == "" or versions.is_managed(buf) or buffer_text.is_large(buf) then
    texts[buf] = nil
  elseif texts[buf] and texts[buf].version == version then
    return
  elseif disk.version(name) ~= version then
    local unmodified = not vim.bo[buf].modified
    texts[buf] = unmodified and { version = version, text = buffer_text.text(buf) } or nil
  else
    local bytes = versions.read(buf)
    local still = bytes and disk.version(name) == version
    texts[buf] = still and { version = version, bytes = bytes } or nil
  end
end

--- Remembers a text that the buffer has just got from its file, which may be
--- another one by now.
---@param buf integer
---@param version string of the file
---@param bytes string of the file
function M.keep(buf, version, bytes)
  local keeps = not buffer_text.is_long(bytes) and not versions.is_managed(buf)
  local edited = vim.bo[buf].modified or vim.fn.bufwinid(buf) ~= -1 -- or soon
  texts[buf] = keeps and edited and { version = version, bytes = bytes } or nil
end

--- The text, as UTF-8 with the line ends of the file.
---@param buf integer
---@return string? text nil when it is not known
function M.text(buf)
  local t = texts[buf]
  if not t or t.version ~= versions.noted(buf) then
    return nil
  end
  return t.text or require("hermes.core.encoding").decode(t.bytes, vim.bo[buf].fileencoding)
end

---@return boolean
local function has_sessions()
  for _, agent in pairs(require("hermes.session.state").agents()) do
    if next(agent.sessions) then
      return true
    end
  end
  return false
end

--- Looks at the buffers that the user edits or can edit right away. An event may
--- have been missed because of 'eventignore', or because there was no session.
function M.note_all()
  for _, buf in ipairs(require("hermes.doc.buffer").all()) do
    if vim.bo[buf].modified or vim.fn.bufwinid(buf) ~= -1 then
      M.note(buf)
    end
  end
end

require("hermes.session.requests").before_prompt = M.note_all

local group = vim.api.nvim_create_augroup("hermes.common", {})
vim.api.nvim_create_autocmd({ "BufModifiedSet", "BufWinEnter" }, {
  group = group,
  callback = function(args)
    if not has_sessions() then
      texts[args.buf] = nil
    elseif vim.bo[args.buf].buftype == "" then
      M.note(args.buf)
    end
  end,
})
vim.api.nvim_create_autocmd("BufUnload", {
  group = group,
  callback = function(args)
    texts[args.buf] = nil
  end,
})

return M
