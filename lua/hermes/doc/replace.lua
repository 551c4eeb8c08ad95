--- Replaces the text of a buffer by edits of what differs, as one undo step, so that marks, folds
--- and the cursor stay.
local M = {}

local buffer_text = require("hermes.doc.buffer_text")

-- Up to this many changed lines are edited in place, one by one.
local max_line_edits = 500

--- Replaces only the part that differs between two lines, so that extmarks next
--- to it stay.
---@param buf integer
---@param row integer
---@param old string
---@param new string
local function set_line(buf, row, old, new)
  local head, tail = 0, 0
  local shorter = math.min(#old, #new)
  while head < shorter and old:byte(head + 1) == new:byte(head + 1) do
    head = head + 1
  end
  while tail < shorter - head and old:byte(#old - tail) == new:byte(#new - tail) do
    tail = tail + 1
  end
  local function inside_character(s, i) -- whether byte i continues a character
    return i <= #s and s:byte(i) >= 0x80 and s:byte(i) < 0xC0
  end
  while head > 0 and (inside_character(old, head + 1) or inside_character(new, head + 1)) do
    head = head - 1
  end
  while tail > 0 and inside_character(old, #old - tail + 1) do
    tail = tail - 1
  end
  local text = new:sub(head + 1, #new - tail)
  vim.api.nvim_buf_set_text(buf, row, head, row, #old - tail, { text })
end

---@param buf integer
---@param count integer lines of the buffer
---@param hunks hermes.Hunk[]
local function apply(buf, count, hunks)
  local left = count
  for _, hunk in ipairs(hunks) do
    left = left + #hunk.new - #hunk.old
  end
  if left == 0 then
    local all = { cmd = "delete", reg = "_", range = { 1, count }, mods = { silent = true } }
    return vim.cmd(all)
  elseif count == 0 then
    -- Insert a line with text first: an empty buffer cannot take one empty
    -- line.
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, { "-" })
    return vim.api.nvim_buf_set_lines(buf, 0, -1, false, hunks[1].new)
  end
  for i = #hunks, 1, -1 do
    local hunk = hunks[i]
    if #hunk.old == #hunk.new and #hunk.new <= max_line_edits then
      for k = #hunk.old, 1, -1 do
        set_line(buf, hunk.first + k - 1, hunk.old[k], hunk.new[k])
      end
    else
      vim.api.nvim_buf_set_lines(buf, hunk.first, hunk.first + #hunk.old, true, hunk.new)
    end
  end
end

--- Ends the current undo block of the current buffer.
function M.end_undo_block()
  vim.go.undolevels = vim.go.undolevels
end

---@param content string as it shall be on disk
---@param format string 'fileformat'
---@param pause? fun() called now and then
---@return string[] lines
---@return boolean final_newline
local function split(content, format, pause)
  if format == "dos" then
    content = content:gsub("\r\n", "\n")
  elseif format == "mac" then
    content = content:gsub("\r\n?", "\n")
  end
  if content == "" then
    return {}, true
  end
  local lines, at = {}, 1 -- much faster than vim.split
  while at <= #content do
    local last = content:find("\n", at, true)
    lines[#lines + 1] = content:sub(at, last and last - 1)
    at = (last or #content) + 1
    if pause and #lines % buffer_text.lines_at_once == 0 then
      pause()
    end
  end
  local final = content:sub(-1) == "\n"
  return lines, final
end

---@class hermes.replace.Plan what replaces the text of a buffer
---@field tick integer 'changedtick' that it was made for
---@field format string 'fileformat' that it was made for
---@field merged? boolean it keeps what others have changed
---@field shifted? boolean others have changed the buffer since
---@field old? string[]
---@field final? boolean whether the last line has an end
---@field hunks? hermes.Hunk[]
---@field work? thread that makes it

--- Fills in a plan.
---@param buf integer
---@param content string as it shall be on disk, without a byte order mark
---@param plan hermes.replace.Plan
---@param pause? fun() called now and then
function M.make(buf, content, plan, pause)
  local new
  new, plan.final = split(content, plan.format, pause)
  plan.old = plan.old or buffer_text.lines(buf, pause)
  plan.hunks = require("hermes.doc.diff").hunks(plan.old, new)
end

--- Plans to replace the text of a buffer.
---@param buf integer
---@param lines? string[] the old lines of the hunks, by default the lines of the buffer
---@param content string as it shall be on disk
---@return hermes.replace.Plan
function M.plan(buf, lines, content)
  local marked = content:sub(1, #buffer_text.bom) == buffer_text.bom
  local plan = { tick = vim.b[buf].changedtick, format = vim.bo[buf].fileformat, old = lines }
  M.make(buf, marked and content:sub(#buffer_text.bom + 1) or content, plan)
  return plan
end

--- Carries out a plan, as one undo step.
---@param buf integer
---@param plan hermes.replace.Plan whole
function M.carry_out(buf, plan)
  if #plan.hunks > 0 then
    vim.api.nvim_buf_call(buf, function()
      M.end_undo_block()
      apply(buf, #buffer_text.lines(buf), plan.hunks)
    end)
  end
  if vim.bo[buf].endofline ~= plan.final then
    vim.bo[buf].endofline = plan.final
  end
end

return M
