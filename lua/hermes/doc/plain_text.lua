---The texts of buffers that messages of the review can carry line by line.
local M = {}

local buffer_text = require("hermes.doc.buffer_text")
local encoding = require("hermes.core.encoding")

--- Larger texts are reviewed on the disk only.
M.max_bytes, M.max_lines = 8 * 1024 * 1024, 200000

---Whether the last line of a buffer will have an end on the disk.
---@param buf integer
---@return boolean
function M.has_final_end(buf)
  local o = vim.bo[buf]
  return o.endofline or (o.modified and o.fixendofline and not o.binary)
end

---Whether messages can carry the text of a buffer line by line.
---@param buf integer
---@param text string
---@return boolean
function M.is_plain(buf, text)
  local o = vim.bo[buf]
  if o.fileformat == "mac" or not (o.fileencoding == "" or o.fileencoding == "utf-8") then
    return false
  elseif #text > M.max_bytes or text:find("%z") or not encoding.is_utf8(text) then
    return false
  end
  local _, breaks = text:gsub("\n", "")
  -- Neovim has a line break in the place of a NUL.
  return breaks <= vim.api.nvim_buf_line_count(buf)
end

---The text of a buffer as messages can carry it.
---@param buf integer
---@return string? text nil when it is too large or not plain
function M.of(buf)
  local count = vim.api.nvim_buf_line_count(buf)
  if count > M.max_lines or vim.api.nvim_buf_get_offset(buf, count) > M.max_bytes then
    return nil
  end
  local text = buffer_text.text(buf)
  return M.is_plain(buf, text) and text or nil
end

return M
