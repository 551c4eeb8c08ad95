--- Which version of its file a buffer holds.
---
--- Neovim does not expose the timestamp that it compares, and its events about
--- it can be switched off. So this module records the state of the file on disk
--- whenever a buffer is read or written, and compares it itself.

local M = {}

-- The state of a buffer's file when its text last equalled the buffer's. Nil:
-- unknown. False: the buffer was given the name of a file that it was never
-- read from.
---@type table<integer, string|false|nil>
local known = {}

-- Buffers that may already have been out of date at the start.
---@type table<integer, true>
local unsure = {}

--- The mark at the beginning of some files that names their encoding.
M.bom = "\239\187\191"

--- The identity of a version of a file. "" means that there is no file.
---@param path string
---@return string? version nil when the path is not a regular file
function M.version(path)
  local stat = vim.uv.fs_stat(path)
  if not stat then
    return ""
  elseif stat.type ~= "file" then
    return nil
  end
  local time = stat.mtime
  return ("%d.%09d/%d/%d"):format(time.sec, time.nsec, stat.size, stat.ino)
end

--- Records that a buffer and a version of its file hold the same text.
---@param buf integer
---@param version? string by default the file as it is now
function M.note(buf, version)
  known[buf] = version or M.version(vim.api.nvim_buf_get_name(buf))
  unsure[buf] = nil
end

--- The version of its file whose text a buffer last had.
---@param buf integer
---@return string? version nil when it is not known
function M.noted(buf)
  return known[buf] or nil
end

--- Whether a file pattern of an autocommand matches a path.
---@param pattern string
---@param path string
---@return boolean
function M.matches(pattern, path)
  local subject = pattern:find("/", 1, true) and path or vim.fs.basename(path)
  return vim.regex(vim.fn.glob2regpat(pattern)):match_str(subject) ~= nil
end

--- Whether another plugin's autocommand writes the buffer, so that its text
--- need not be that of its file.
---@param buf integer
---@return boolean
function M.is_managed(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  for _, autocmd in ipairs(vim.api.nvim_get_autocmds({ event = "BufWriteCmd" })) do
    if autocmd.buflocal and autocmd.buffer == buf then
      return true
    elseif not autocmd.buflocal and M.matches(autocmd.pattern, name) then
      return true
    end
  end
  return false
end

---@alias hermes.disk.State
---| "same" # the buffer holds what is on disk, and perhaps unsaved edits of that
---| "changed" # the file changed, and the buffer has no unsaved edits
---| "conflict" # the file changed, and the buffer has unsaved edits
---| "deleted" # the file is gone

--- How the file of a loaded buffer compares to the buffer.
---@param buf integer
---@return hermes.disk.State
function M.state(buf)
  local was, now = known[buf], M.version(vim.api.nvim_buf_get_name(buf))
  local doubt = unsure[buf] and now ~= "" and not vim.bo[buf].modified
  if now == nil or (was == now and not doubt) or (now == "" and not was) then
    return "same"
  elseif M.is_managed(buf) then
    return "same"
  elseif now == "" then
    return "deleted"
  end
  return (vim.bo[buf].modified or was == false) and "conflict" or "changed"
end

--- Milliseconds that a file must have been left alone until it counts: programs
--- write in pieces.
M.settle_ms = 40

--- The same of a file that is empty or gone: programs empty a file before they
--- write it, and remove it before they replace it.
M.settle_gone_ms = 300

--- How long to wait until the file of a buffer has been left alone for a while.
---@param buf integer
---@return integer ms 0 when it has
function M.unsettled(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  local stat = vim.uv.fs_stat(name)
  local quiet = stat and stat.size > 0 and M.settle_ms or M.settle_gone_ms
  stat = stat or vim.uv.fs_stat(vim.fs.dirname(name)) -- which has lost it
  if not stat then
    return 0
  end
  local seconds, micros = vim.uv.gettimeofday()
  local age = (seconds - stat.mtime.sec) * 1000 + micros / 1000 - stat.mtime.nsec / 1e6
  -- A file of the future has the time of another machine.
  return age < 0 and 0 or math.max(0, math.ceil(quiet - age))
end

--- Whether the file did not exist when the buffer was created, so that the
--- buffer has never held any of it.
---@param buf integer
---@return boolean
function M.is_new(buf)
  return known[buf] == ""
end

--- Makes Neovim treat the file on disk as the one that the buffer was read
--- from, so that it neither warns about it nor asks before it writes. Nothing
--- is read or written: Neovim believes that an autocommand has written the
--- buffer.
---@param buf integer
---@param saved boolean the buffer holds the same text as the file, so it is no longer modified
---@return boolean done false while autocommands are blocked
function M.accept(buf, saved)
  local o = vim.bo[buf]
  local buftype, readonly, ignored = o.buftype, o.readonly, vim.o.eventignore
  local called = false
  local autocmd = vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buf,
    callback = function()
      called = true
      if saved then
        o.modified = false
      end
    end,
  })
  if ignored ~= "" then
    vim.o.eventignore = ""
  end
  o.buftype = "acwrite" -- if the autocommand does not run, this is an error, not a write
  local ok, problem = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd({ cmd = "write", bang = true, mods = { silent = true, lockmarks = true } })
  end)
  vim.api.nvim_del_autocmd(autocmd)
  if ignored ~= "" then
    vim.o.eventignore = ignored
  end
  o.buftype, o.readonly = buftype, readonly
  if not ok and called then
    error(problem, 0)
  end
  return called
end

--- Says which character of a text an encoding cannot hold, and in which line; it
--- would be lost.
---@param text string UTF-8
---@param encoding string 'fileencoding'
---@return string? problem nil when all of the text can be written
function M.encoding_problem(text, encoding)
  if encoding == "" or encoding == "utf-8" then
    return nil
  end
  local function survives(s)
    local there = vim.iconv(s, "utf-8", encoding)
    return there ~= nil and vim.iconv(there, encoding, "utf-8") == s
  end
  if survives(text) then
    return nil
  end
  local row = 0
  for line in vim.gsplit(text, "\n", { plain = true }) do
    row = row + 1
    for char in (survives(line) and "" or line):gmatch("[\194-\244][\128-\191]*") do
      if not survives(char) then
        return ("the file is %s, which has no %s (U+%04X), in line %d; nothing was written"):format(
          encoding,
          require("hermes.text").line(char),
          vim.fn.char2nr(char, 1),
          row
        )
      end
    end
  end
  return ("the text cannot be written in the file's encoding, %s"):format(encoding)
end

--- The text of a file as a buffer with that encoding would hold it.
---@param bytes string
---@param encoding string 'fileencoding'
---@return string? text nil when the bytes are something else
function M.decode(bytes, encoding)
  if encoding == "" or encoding == "utf-8" then
    local wide = not bytes:find("[\128-\255]") or vim.iconv(bytes, "utf-8", "utf-16le")
    if wide == true or (wide and vim.iconv(wide, "utf-16le", "utf-8") == bytes) then
      return bytes
    end
    return nil
  end
  local text = vim.iconv(bytes, encoding, "utf-8")
  return text and vim.iconv(text, "utf-8", encoding) == bytes and text or nil
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
  local o, lines = vim.bo[buf], M.lines(buf)
  local first = math.max(line or 1, 1)
  local last = limit and math.min(#lines, first + limit - 1) or #lines
  local eol = line_ends[o.fileformat]
  local text = table.concat(lines, eol, first, last)
  local final = o.endofline or (o.modified and o.fixendofline and not o.binary)
  if last >= first and (last < #lines or final) then
    text = text .. eol
  end
  return (o.bomb and first == 1) and M.bom .. text or text
end

--- The content of a file, and a version that is no newer than it.
---@param path string
---@return string? bytes nil when it can't be read
---@return string? version
function M.read(path)
  local version = M.version(path)
  local file = version and io.open(path, "rb")
  if not file then
    return nil
  end
  local bytes = file:read("*a")
  file:close()
  return bytes, version
end

--- Records a file that was written while events were off.
---@param buf integer
local function settle(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if not known[buf] or vim.bo[buf].modified or known[buf] == M.version(name) then
    return
  end
  local bytes, version = M.read(name)
  if bytes and M.decode(bytes, vim.bo[buf].fileencoding) == M.text(buf) then
    M.note(buf, version)
  end
end

--- Starts recording the versions of files, including those of existing buffers.
--- Unsaved edits count as edits of the file as it is now.
local function track()
  local group = vim.api.nvim_create_augroup("hermes.disk", {})
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufWritePost" }, {
    group = group,
    callback = function(args)
      M.note(args.buf)
    end,
  })
  vim.api.nvim_create_autocmd({ "BufModifiedSet", "FileChangedShellPost" }, {
    group = group,
    callback = function(args)
      settle(args.buf)
    end,
  })
  vim.api.nvim_create_autocmd("BufFilePost", {
    group = group,
    callback = function(args)
      known[args.buf] = false
    end,
  })
  vim.api.nvim_create_autocmd("BufUnload", {
    group = group,
    callback = function(args)
      known[args.buf], unsure[args.buf] = nil, nil
    end,
  })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" then
      M.note(buf)
      unsure[buf] = not vim.bo[buf].modified or nil
    end
  end
end

track()

return M
