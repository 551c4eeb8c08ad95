--- Reads files that are open in Neovim through their buffers, so that unsaved edits are seen, and
--- keeps the buffers up to date, so that marks, folds, cursor and undo survive.
---
--- Two paths match if they lead to the same file. This module leaves a path
--- that no loaded buffer shows to the host, which reads and writes it on disk.

local M = {}

local buffer_text = require("hermes.doc.buffer_text")
local versions = require("hermes.doc.versions")
local disk = require("hermes.core.disk")
local replace = require("hermes.doc.replace")
local writing = require("hermes.doc.write")

--- The loaded buffers that hold files.
---@return integer[]
function M.all()
  return vim.tbl_filter(function(buf)
    return vim.api.nvim_buf_is_loaded(buf)
      and vim.bo[buf].buftype == ""
      and vim.api.nvim_buf_get_name(buf) ~= ""
  end, vim.api.nvim_list_bufs())
end

--- The loaded buffers by the places that they were read from, with all links resolved.
---@return table<string, integer>
local function by_place()
  local bufs = {}
  for _, buf in ipairs(M.all()) do
    if versions.is_foreign(buf) and not M.is_busy(buf) then
      pcall(M.update, buf)
    end
    local home = not versions.is_foreign(buf) and versions.home(buf)
    if home and not bufs[home] then
      bufs[home] = buf
    end
  end
  return bufs
end

--- A path without double slashes and dots. vim.fs.normalize() looks at each name of a long one.
---@param path string absolute
---@return string
local function normal(path)
  local is_odd = path:find("/[/.]")
    and (path:find("//", 1, true) or path:find("/%.%.?/") or path:find("/%.%.?$"))
  if is_odd or path:byte(-1) == 47 or not path:find("^/") then
    path = vim.fs.normalize(path, { expand_env = false })
  end
  return path
end

--- Finds the loaded buffers that show files, for many paths: it looks at the buffers once. A path
--- below the folder of a session that leads out of it has none: an agent may have made it lead to
--- any file that the user has open.
---@return fun(path: string): integer? find for an absolute path
function M.finder()
  local bufs ---@type table<string, integer>?
  return function(path)
    if #path > disk.max_path or path:find("^%a[%w+.-]+://") or path:find("%z") then
      return nil
    end
    path = normal(path)
    local place = disk.place(path)
    if not place or disk.leads_out(path, place) then
      return nil
    end
    bufs = bufs or by_place()
    return bufs[place]
  end
end

--- The loaded buffer that shows a file.
---@param path string absolute
---@return integer? buf
function M.find(path)
  return M.finder()(path)
end

--- The loaded buffer that was read from a place.
---@param place string with all links resolved
---@return integer? buf
function M.at(place)
  return by_place()[place]
end

--- Whether the user is busy in the buffer, such as typing.
---@param buf integer
---@return boolean
function M.is_busy(buf)
  local mode = vim.api.nvim_get_mode().mode
  return buf == vim.api.nvim_get_current_buf() and not mode:find("^n?t?$")
end

---@param buf integer
---@param bytes string of its file
---@return string? text nil when Neovim has to find out how to show it
local function text_of(buf, bytes)
  local o = vim.bo[buf]
  if o.binary or versions.is_new(buf) then
    return nil
  end
  return require("hermes.core.encoding").decode(bytes, o.fileencoding)
end

---@param buf integer
---@param text? string of its file
---@param bytes string of its file
local function show_file(buf, text, bytes)
  local o = vim.bo[buf]
  if text then
    local marked = text:sub(1, #buffer_text.bom) == buffer_text.bom
    local modifiable, readonly = o.modifiable, o.readonly
    o.modifiable, o.readonly = true, false
    local ok, problem = pcall(function()
      replace.carry_out(buf, replace.plan(buf, nil, text))
    end)
    o.modifiable, o.readonly = modifiable, readonly
    if not ok then
      error(problem, 0)
    elseif o.bomb ~= marked then
      o.bomb = marked
    end
    vim.api.nvim_buf_call(buf, replace.end_undo_block)
  else
    require("hermes.doc.show").reload(buf, bytes)
  end
  writing.accept(buf, true)
end

---@alias hermes.buffer.Outcome "refreshed"|"conflict"|"deleted"|"strayed"|"large"|"unsettled"

--- Updates a buffer from its file as one undo step, without asking. A buffer
--- with unsaved edits, or whose file is gone, stays as it is, and so does one whose file somebody
--- has just emptied.
---@param buf integer
---@param cause? hermes.refresh.Cause
---@return hermes.buffer.Outcome? outcome nil: nothing to do
function M.update(buf, cause)
  local changed = require("hermes.doc.applied")
  local name = vim.api.nvim_buf_get_name(buf)
  local outcome
  for _ = 1, 3 do -- the file may change again meanwhile
    local state = versions.state(buf)
    if state ~= "changed" then
      return state ~= "same" and state or outcome
    end
    local bytes, version, large = versions.read(buf)
    if large or buffer_text.is_large(buf) or (bytes and buffer_text.is_long(bytes)) then
      return "large"
    elseif not bytes then
      return outcome
    elseif bytes == "" and disk.unsettled(name, version) > 0 then
      return outcome or "unsettled"
    end
    local text = text_of(buf, bytes)
    if not text and #bytes > buffer_text.max_odd_bytes then
      return "large"
    elseif not writing.accept(buf, false) then
      error("E218: autocommands are blocked", 0)
    end
    local tick = vim.b[buf].changedtick
    local ok, problem, before = changed.apply(buf, function()
      show_file(buf, text, bytes)
    end)
    if not ok then
      error(problem, 0)
    end
    versions.note(buf, version)
    require("hermes.doc.ancestor").keep(buf, version, bytes)
    if vim.b[buf].changedtick ~= tick then
      outcome = "refreshed"
      changed.report({
        bufnr = buf,
        agent = cause and cause.agent,
        sessionId = cause and cause.sessionId,
        toolCallId = cause and cause.toolCallId,
        source = cause and cause.toolCallId and "tool" or "disk",
        outcome = outcome,
        before = before,
      })
    end
  end
  return outcome
end

--- Whether so many lines of a buffer are too much to hand over at once.
---@param buf integer
---@param line? integer first line, 1-based
---@param limit? integer number of lines
---@return boolean
local function is_much(buf, line, limit)
  if not buffer_text.is_large(buf) then
    return false
  elseif not limit then
    return true
  end
  local count = vim.api.nvim_buf_line_count(buf)
  local first = math.min(math.max(line or 1, 1) - 1, count)
  local last = math.min(first + limit, count)
  local bytes = vim.api.nvim_buf_get_offset(buf, last) - vim.api.nvim_buf_get_offset(buf, first)
  return bytes > disk.max_bytes or last - first > buffer_text.max_lines
end

--- The text of a loaded buffer as it would be on disk, unsaved edits included.
---@param path string absolute
---@param line? integer first line, 1-based
---@param limit? integer number of lines
---@return string? text nil when no loaded buffer shows the file as it is, or the text is too large
---@return string? problem the text is too large, and the disk has another one
function M.read(path, line, limit)
  local buf = M.find(path)
  if buf then
    return M.text(buf, line, limit)
  end
end

--- The text of a loaded buffer as it would be on disk, unsaved edits included.
---@param buf integer
---@param line? integer first line, 1-based
---@param limit? integer number of lines
---@return string? text nil when the file has another one by now, or the text is too large
---@return string? problem the text is too large, and the disk has another one
function M.text(buf, line, limit)
  if versions.state(buf) == "changed" then
    local update = not M.is_busy(buf) and disk.unsettled(vim.api.nvim_buf_get_name(buf)) == 0
    if not update or not pcall(M.update, buf) or versions.state(buf) == "changed" then
      return nil
    end
  end
  if is_much(buf, line, limit) then
    local problem = "%s has unsaved edits and is too large to read at once;"
      .. " read at most 1000 lines, with line and limit"
    return nil, vim.bo[buf].modified and problem:format(vim.api.nvim_buf_get_name(buf)) or nil
  end
  return buffer_text.text(buf, line, limit)
end

--- Gives a loaded buffer new content as one undo step because the user has decided so.
---@param buf integer
---@param content string as it shall be on disk
---@param write boolean also write the file
---@return boolean replaced
---@return string? problem why it was not replaced, or not written
function M.put(buf, content, write)
  local marked = content:sub(1, #buffer_text.bom) == buffer_text.bom
  local plain = marked and content:sub(#buffer_text.bom + 1) or content
  local o = vim.bo[buf]
  local reason = not o.modifiable and "E21: 'modifiable' is off"
    or o.readonly and "E45: 'readonly' option is set"
    or write and versions.refusal(buf)
    or require("hermes.core.encoding").problem(plain, o.fileencoding)
  if reason then
    return false, reason
  end
  local replaced = false
  local ok, problem = require("hermes.doc.applied").apply(buf, function()
    if o.bomb ~= marked then
      o.bomb = marked
    end
    replace.carry_out(buf, replace.plan(buf, nil, content))
    replaced = true
    if write then
      writing.save(buf)
    end
  end)
  vim.api.nvim_buf_call(buf, replace.end_undo_block)
  return replaced, not ok and writing.reason(tostring(problem)) or nil
end

---@class hermes.buffer.Conflict
---@field path string
---@field reason "conflict"|"deleted"|"strayed"|"large"|"unsettled"

--- Updates buffers whose files changed on disk. Buffers with unsaved edits, and
--- those whose file is gone or has just been emptied, stay as they are and are returned.
---@param paths? string[] absolute; by default every loaded file
---@return hermes.buffer.Conflict[]
function M.refresh(paths)
  local kept = {}
  for _, buf in ipairs(paths and vim.tbl_map(M.finder(), paths) or M.all()) do
    local outcome = M.update(buf)
    if outcome and outcome ~= "refreshed" then
      kept[#kept + 1] = { path = vim.api.nvim_buf_get_name(buf), reason = outcome }
    end
  end
  return kept
end

return M
