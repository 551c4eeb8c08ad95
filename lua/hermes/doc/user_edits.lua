---Collects the user's changes in a buffer under review until they are reported to the host.
local M = {}

local applied = require("hermes.doc.applied")
local buffer_text = require("hermes.doc.buffer_text")
local encoding = require("hermes.core.encoding")
local plain = require("hermes.doc.plain_text")

-- The most changes of a buffer that are remembered. They move the rows of hunks that the host found
-- in an earlier text.
local max_log = 1000

---A run of lines that the user has changed since the last message to the host.
---@class hermes.review.Region
---@field first integer 0-based row
---@field last integer row after its last line, as the buffer is now
---@field delta integer lines that it has more than before
---@field repeats boolean made by a command that began no undo block of its own, as undo does

---Notes that the host knows all changes of a buffer.
---@param buf integer
---@param h hermes.review.Held
local function told(buf, h)
  h.tick = vim.api.nvim_buf_get_changedtick(buf)
  for i = h.logged + 1, #h.log do
    h.log[i][4] = h.tick
  end
  h.logged = #h.log
  if h.logged > max_log then
    h.log, h.logged, h.floor = {}, 0, h.tick
  end
end

---@param buf integer
---@return integer number of the newest undo block
function M.newest_block(buf)
  local ok, tree = pcall(vim.fn.undotree, buf)
  return ok and tree.seq_last or 0
end

---Notes the text of a buffer that the host knows from now on.
---@param buf integer
---@param h hermes.review.Held
---@param text string
function M.settle(buf, h, text)
  h.open, h.edits = nil, {}
  h.empty, h.final = text == "", plain.has_final_end(buf)
  h.count = h.empty and 0 or vim.api.nvim_buf_line_count(buf)
  h.format, h.bomb = vim.bo[buf].fileformat, vim.bo[buf].bomb
  h.newest = math.max(h.newest, vim.api.nvim_buf_call(buf, vim.fn.changenr))
  told(buf, h)
end

---Takes the lines of the open region, which ends.
---@param buf integer
---@param h hermes.review.Held
---@param shift? integer lines that have been added above it since
local function close(buf, h, shift)
  local open = h.open
  if not open then
    return
  end
  h.open = nil
  shift = shift or 0
  local lines = vim.api.nvim_buf_get_lines(buf, open.first + shift, open.last + shift, false)
  h.edits[#h.edits + 1] = {
    start = open.first,
    ["end"] = open.last - open.delta,
    lines = lines,
    repeats = open.repeats,
  }
end

---Whether the edits can be sent by lines. All is simple as long as every line has an end.
---@param buf integer
---@param h hermes.review.Held
---@return boolean
local function is_simple(buf, h)
  if h.empty or not h.final or not plain.has_final_end(buf) then
    return false
  elseif vim.bo[buf].fileformat ~= h.format or vim.bo[buf].bomb ~= h.bomb then
    return false
  elseif vim.api.nvim_buf_line_count(buf) == 1 and buffer_text.text(buf) == "" then
    return false
  end
  local eol = h.format == "dos" and "\r\n" or "\n"
  for _, edit in ipairs(h.edits) do
    if h.bomb and edit.start == 0 then
      return false
    end
    for i, line in ipairs(edit.lines) do
      if line:find("\n", 1, true) or not encoding.is_utf8(line) then
        return false
      end
      edit.lines[i] = line .. eol
    end
  end
  return true
end

---Whether a buffer has other bytes than the host knows, although no line was changed.
---@param buf integer
---@param h hermes.review.Held
---@return boolean
local function is_other(buf, h)
  return vim.bo[buf].fileformat ~= h.format
    or vim.bo[buf].bomb ~= h.bomb
    or (not h.empty and plain.has_final_end(buf) ~= h.final)
    or (vim.api.nvim_buf_line_count(buf) == 1 and (buffer_text.text(buf) == "") ~= h.empty)
end

---Takes the user's edits that the host does not know.
---@param buf integer
---@param h hermes.review.Held
---@return table[]? edits nil when only the whole text can say what has changed
---@return boolean undo whether all of them undo or redo something
function M.take(buf, h)
  close(buf, h)
  local edits = h.edits
  if #edits == 0 then
    return not is_other(buf, h) and {} or nil, false
  end
  local undo = true
  for _, edit in ipairs(edits) do
    edit.repeats = nil
    undo = undo and edit.undo == true
  end
  if not is_simple(buf, h) then
    return nil, undo
  end
  h.edits = {}
  told(buf, h)
  return edits, undo
end

---Notes a change of the lines of a buffer. Called for each one, so it must be quick.
---@param buf integer
---@param h hermes.review.Held
---@param first integer
---@param last integer before
---@param now integer after
---@return boolean user whether the user has made it
function M.note(buf, h, first, last, now)
  h.log[#h.log + 1] = { first, last, now }
  h.count = h.count + now - last
  if h.count == 0 then -- Neovim keeps one empty line
    h.empty = true
  end
  if applied.applying[buf] then
    return false
  end
  local repeats = false
  if buf == vim.api.nvim_get_current_buf() then
    local number = vim.fn.changenr()
    if number > h.newest then
      h.newest = number
    else
      repeats = not vim.api.nvim_get_mode().mode:find("^[iR]")
    end
  end
  local open = h.open
  if open and open.repeats == repeats and first <= open.last and last >= open.first then
    open.first = math.min(open.first, first)
    open.last = math.max(open.last, last) + now - last
    open.delta = open.delta + now - last
  else
    if open and not (first <= open.last and last >= open.first) then
      close(buf, h, last <= open.first and now - last or 0)
    elseif open then
      -- An undo of what has just been typed. The lines between are gone, and so are those that
      -- were typed: together they are one edit of the user.
      open.repeats = false
      open.first = math.min(open.first, first)
      open.last = math.max(open.last, last) + now - last
      open.delta = open.delta + now - last
    end
    h.open = h.open or { first = first, last = now, delta = now - last, repeats = repeats }
  end
  return true
end

---Notes a change of 'changedtick' alone, which Neovim reports after it has undone or redone
---something.
---@param buf integer
---@param h hermes.review.Held
function M.note_undo(buf, h)
  if applied.applying[buf] then
    return
  end
  close(buf, h)
  for i = #h.edits, 1, -1 do
    if not h.edits[i].repeats then
      break
    end
    h.edits[i].undo = true
  end
end

return M
