--- Files that are open in Neovim, read and written through their buffers, so
--- that unsaved edits are seen and marks, folds, cursor and undo survive.
---
--- Paths are matched by the file they lead to. A path that no loaded buffer
--- shows is not touched here: the host reads and writes it on disk.

local M = {}

--- How often, and how many milliseconds apart, a write is tried again while
--- the buffer is locked.
M.retries, M.retry_ms = 40, 50

-- Up to this many changed lines are changed inside, one by one.
local max_line_edits = 500

local bom = "\239\187\191"

-- Buffers that were found changed on disk while they held unsaved edits.
---@type table<integer, true>
local conflicts = {}

--- The real path; of a file that does not exist yet, the real path of its
--- folder with its name.
---@param path string
---@return string?
local function real(path)
  local found = vim.uv.fs_realpath(path)
  if found then
    return found
  end
  local dir = vim.uv.fs_realpath(vim.fs.dirname(path))
  return dir and vim.fs.joinpath(dir, vim.fs.basename(path))
end

--- The loaded buffer that shows a file.
---@param path string absolute
---@return integer? buf
function M.find(path)
  if path:find("^%a[%w+.-]+://") or path:find("%z") then
    return nil
  end
  local wanted = real(vim.fs.normalize(path, { expand_env = false }))
  for _, buf in ipairs(wanted and vim.api.nvim_list_bufs() or {}) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" then
      local name = vim.api.nvim_buf_get_name(buf)
      if name ~= "" and (name == path or real(name) == wanted) then
        return buf
      end
    end
  end
end

--- Neovim counts one line in an empty buffer; the file has none.
---@param buf integer
---@return string[]
local function get_lines(buf)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  if #lines == 1 and lines[1] == "" then
    local count = vim.api.nvim_buf_call(buf, vim.fn.wordcount)
    return count.bytes == 0 and {} or lines
  end
  return lines
end

local line_ends = { unix = "\n", dos = "\r\n", mac = "\r" }

---@param buf integer
---@return boolean
local function ends_with_newline(buf)
  local o = vim.bo[buf]
  return o.endofline or (o.fixendofline and not o.binary)
end

--- The part of a Neovim error that a person can use.
---@param problem string
---@return string
local function one_line(problem)
  local first = problem:match("^[^\r\n]*"):gsub("^.-(E%d+:)", "%1")
  return require("hermes.text").line(first:gsub("^%S+%.lua:%d+: ", ""), 500)
end

--- Brings a buffer up to date with its file, without asking. A buffer with
--- unsaved edits stays as it is.
---@param buf integer
---@return string? reason why it was left alone: "conflict" or "deleted"
local function reload(buf)
  local reason
  local watch = vim.api.nvim_create_autocmd("FileChangedShell", {
    buffer = buf,
    callback = function()
      reason = vim.v.fcs_reason
      local keep = reason == "conflict" or reason == "deleted"
      vim.v.fcs_choice = keep and "" or "reload"
    end,
  })
  -- The file may hold what an agent wrote: its modelines are not obeyed.
  local modeline = vim.bo[buf].modeline
  vim.bo[buf].modeline = false
  pcall(vim.cmd --[[@as function]], { cmd = "checktime", count = buf, mods = { silent = true } })
  if vim.api.nvim_buf_is_valid(buf) then
    vim.bo[buf].modeline = modeline
    vim.api.nvim_del_autocmd(watch)
  end
  if reason == "conflict" then
    conflicts[buf] = true
    vim.api.nvim_create_autocmd({ "BufReadPost", "BufWritePost", "BufUnload" }, {
      buffer = buf,
      once = true,
      callback = function()
        conflicts[buf] = nil
      end,
    })
  end
  return (reason == "conflict" or reason == "deleted") and reason or nil
end

--- The text of a loaded buffer as it would be on disk, unsaved edits included.
---@param path string absolute
---@param line? integer first line, 1-based
---@param limit? integer number of lines
---@return string? text nil when no loaded buffer shows the file
function M.read(path, line, limit)
  local buf = M.find(path)
  if not buf then
    return nil
  end
  if not vim.bo[buf].modified then
    reload(buf)
  end
  local lines = get_lines(buf)
  local first = math.max(line or 1, 1)
  local last = limit and math.min(#lines, first + limit - 1) or #lines
  local eol = line_ends[vim.bo[buf].fileformat]
  local text = table.concat(lines, eol, first, last)
  if last >= first and (last < #lines or ends_with_newline(buf)) then
    text = text .. eol
  end
  return (vim.bo[buf].bomb and first == 1) and bom .. text or text
end

--- Replaces what differs between two lines, so that extmarks beside it stay.
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
  local function inside_character(s, i) -- is byte i the continuation of a character?
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
---@param old string[]
---@param new string[]
local function apply(buf, old, new)
  if #new == 0 then
    local all = { cmd = "delete", reg = "_", range = { 1, #old }, mods = { silent = true } }
    return vim.cmd(all)
  elseif #old == 0 then
    -- By way of a line with text: an empty buffer can't take one empty line.
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, { "-" })
    return vim.api.nvim_buf_set_lines(buf, 0, -1, false, new)
  end
  local hunks = require("hermes.diff").hunks(old, new)
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
local function break_undo()
  vim.go.undolevels = vim.go.undolevels
end

---@param content string as it shall be on disk
---@param format string 'fileformat'
---@return string[] lines
---@return boolean final_newline
local function split(content, format)
  if format == "dos" then
    content = content:gsub("\r\n", "\n")
  elseif format == "mac" then
    content = content:gsub("\r\n?", "\n")
  end
  if content == "" then
    return {}, true
  end
  local lines = vim.split(content, "\n", { plain = true })
  local final = lines[#lines] == ""
  if final then
    lines[#lines] = nil
  end
  return lines, final
end

---@param buf integer
---@param content string
local function replace(buf, content)
  if content:sub(1, #bom) == bom then
    content = content:sub(#bom + 1)
    vim.bo[buf].bomb = true
  end
  local lines, final = split(content, vim.bo[buf].fileformat)
  local old = get_lines(buf)
  vim.api.nvim_buf_call(buf, function()
    if not vim.deep_equal(old, lines) then
      break_undo()
      apply(buf, old, lines)
      break_undo()
    end
    if vim.bo.endofline ~= final then
      vim.bo.endofline = final
    end
  end)
end

---@param buf integer
---@param opts hermes.buffer.WriteOpts
local function save(buf, opts)
  local name = vim.api.nvim_buf_get_name(buf)
  if not vim.bo[buf].modified and vim.uv.fs_stat(name) then
    return
  end
  vim.fn.mkdir(vim.fs.dirname(name), "p")
  vim.api.nvim_buf_call(buf, function()
    -- With "!" because Neovim asks otherwise when the file is newer; what "!"
    -- overrides has been checked before.
    vim.cmd({
      cmd = "write",
      bang = true,
      magic = { file = false, bar = false },
      mods = { silent = true, lockmarks = true, noautocmd = opts.noautocmd or false },
    })
  end)
end

--- Why the buffer may not be written, if so.
---@param buf integer
---@return string?
local function refusal(buf)
  local reason = reload(buf)
  if reason == "conflict" or conflicts[buf] then
    return "changed on disk while the buffer has unsaved edits"
  elseif vim.bo[buf].readonly then
    return "E45: 'readonly' option is set"
  end
  local name = vim.api.nvim_buf_get_name(buf)
  if vim.uv.fs_stat(name) and not vim.uv.fs_access(name, "W") then
    return "E505: the file is read-only"
  end
end

-- Errors that go away by themselves: textlock, the command-line window, and a
-- buffer somebody made unmodifiable for a moment.
local passing = { "E565:", "E523:", "E788:", "E11:", "E21:" }

---@class hermes.buffer.WriteOpts
---@field save? boolean write the file too, default true
---@field noautocmd? boolean without BufWrite autocommands, default false

--- Gives a loaded buffer new content as one undo step and saves it.
---@param path string absolute
---@param content string as it shall be on disk
---@param opts? hermes.buffer.WriteOpts
---@param done fun(problem: string?) called once, later; nil means written
---@return boolean taken false when no loaded buffer shows the file; `done` is not called then
function M.write(path, content, opts, done)
  local buf = M.find(path)
  if not buf then
    return false
  end
  opts = opts or {}
  local tries, replaced = 0, false
  local function attempt()
    if not vim.api.nvim_buf_is_loaded(buf) then
      return done("the buffer was closed before it could be written")
    end
    local problem = refusal(buf)
    if problem then
      return done(problem)
    end
    local ok, err = pcall(function()
      if not vim.bo[buf].modifiable then
        error("E21: 'modifiable' is off", 0)
      elseif not replaced then
        replace(buf, content)
        replaced = true
      end
      if opts.save ~= false then
        save(buf, opts)
      end
    end)
    if ok then
      return done(nil)
    end
    for _, pattern in ipairs(passing) do
      if tries < M.retries and tostring(err):find(pattern, 1, true) then
        tries = tries + 1
        return vim.defer_fn(attempt, M.retry_ms)
      end
    end
    done(one_line(tostring(err)) .. (replaced and "; the buffer holds the change, unsaved" or ""))
  end
  vim.schedule(attempt) -- inside an autocommand the events of the write would not fire
  return true
end

---@class hermes.buffer.Conflict
---@field path string
---@field reason "conflict"|"deleted"

--- Shows what changed on disk in the buffers that show it. Buffers with unsaved
--- edits and those whose file is gone stay as they are and are returned.
---@param paths? string[] absolute; by default every loaded file
---@return hermes.buffer.Conflict[]
function M.refresh(paths)
  local bufs = {}
  for _, path in ipairs(paths or {}) do
    bufs[#bufs + 1] = M.find(path)
  end
  local kept = {}
  for _, buf in ipairs(paths and bufs or vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" then
      local reason = reload(buf)
      if reason then
        kept[#kept + 1] = { path = vim.api.nvim_buf_get_name(buf), reason = reason }
      end
    end
  end
  return kept
end

return M
