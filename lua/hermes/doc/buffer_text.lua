--- The texts of buffers as they are on disk, or would be, and how large a text may be.
local M = {}

local disk = require("hermes.core.disk")

--- The mark at the beginning of some files that names their encoding.
M.bom = "\239\187\191"

--- Neovim follows a file by itself up to this many lines, and up to disk.max_bytes.
M.max_lines = 50000

--- The limit for bytes that are not text in the encoding of the buffer. Neovim tries other
--- encodings for them, which takes longer.
M.max_odd_bytes = 128 * 1024

--- Whether a text has more than so many lines.
---@param text string
---@param count integer
---@return boolean
function M.has_lines(text, count)
  local at = 0
  for _ = 1, count do
    at = text:find("\n", at + 1, true)
    if not at then
      return false
    end
  end
  return at < #text
end

--- Whether a text is too large for Neovim to follow.
---@param text string
---@return boolean
function M.is_long(text)
  return #text > disk.max_bytes or M.has_lines(text, M.max_lines)
end

--- Whether the text of a loaded buffer is too large for Neovim to follow its file.
---@param buf integer
---@return boolean
function M.is_large(buf)
  local count = vim.api.nvim_buf_line_count(buf)
  return count > M.max_lines or vim.api.nvim_buf_get_offset(buf, count) > disk.max_bytes
end

local line_ends = { unix = "\n", dos = "\r\n", mac = "\r" }

--- So many lines are read or split without a pause.
M.lines_at_once = 20000

--- The lines of a buffer. Neovim counts one in an empty buffer; the file has
--- none.
---@param buf integer
---@param pause? fun() called now and then
---@return string[]
function M.lines(buf, pause)
  local total, step = vim.api.nvim_buf_line_count(buf), pause and M.lines_at_once or math.huge
  local lines = vim.api.nvim_buf_get_lines(buf, 0, math.min(step, total), false)
  for first = step, total - 1, step do
    pause()
    vim.list_extend(lines, vim.api.nvim_buf_get_lines(buf, first, first + step, false))
  end
  if #lines == 1 and lines[1] == "" then
    local count = vim.api.nvim_buf_call(buf, vim.fn.wordcount)
    return count.bytes == 0 and {} or lines
  end
  return lines
end

--- The text of a buffer as it is on disk, or would be once it is saved.
---@param buf integer
---@param line? integer first line, 1-based
---@param limit? integer number of lines
---@return string
function M.text(buf, line, limit)
  local o, first, count = vim.bo[buf], math.max(line or 1, 1), vim.api.nvim_buf_line_count(buf)
  local last = limit and math.min(count, first + limit - 1) or count
  local lines
  if first == 1 and last == count then
    lines = M.lines(buf)
    last, count = #lines, #lines
  else
    lines = vim.api.nvim_buf_get_lines(buf, first - 1, math.max(last, first - 1), false)
  end
  local eol = line_ends[o.fileformat]
  local text = table.concat(lines, eol)
  local final = o.endofline or (o.modified and o.fixendofline and not o.binary)
  if last >= first and (last < count or final) then
    text = text .. eol
  end
  return (o.bomb and first == 1) and M.bom .. text or text
end

return M
