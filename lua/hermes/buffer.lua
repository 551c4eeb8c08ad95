--- Reads and writes files that are open in Neovim through their buffers, so
--- that unsaved edits are seen and marks, folds, cursor and undo survive.
---
--- Two paths match if they lead to the same file. This module leaves a path
--- that no loaded buffer shows to the host, which reads and writes it on disk.

local M = {}

local disk = require("hermes.disk")

--- How often, and how many milliseconds apart, a write is retried while the
--- buffer is locked.
M.retries, M.retry_ms = 40, 50

--- How often a write is merged anew because the user changes the same place meanwhile.
M.merges = 100

--- Writes of more than this many bytes are prepared in several slices.
M.at_once = 256 * 1024

-- Added to the reason when a write fails after the buffer was changed.
local unsaved = "; the buffer holds the change, unsaved"

-- Up to this many changed lines are edited in place, one by one.
local max_line_edits = 500

--- The real path. For a file that does not exist yet, its name in the real path
--- of its folder.
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

--- The part of a Neovim error that is useful to a person, without the source
--- locations.
---@param problem string
---@return string
local function one_line(problem)
  local first = problem:match("^[^\r\n]*"):gsub('^.*Autocommands for ".-": ', "")
  first = first:gsub("^.-(E%d+:)", "%1"):gsub("^Vim%([%w_]+%):", "")
  first = first:gsub("Error executing lua callback: ", ""):gsub("Lua callback: ", "")
  first = first:gsub("[^%s:][^:\n]*%.%a+:%d+: ", ""):gsub('%[string ".-"%]:%d+: ', "")
  return require("hermes.text").line(first, 500)
end

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
local function break_undo()
  vim.go.undolevels = vim.go.undolevels
end

---@param content string as it shall be on disk
---@param format string 'fileformat'
---@param pause fun() called now and then
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
    if #lines % disk.lines_at_once == 0 then
      pause()
    end
  end
  local final = content:sub(-1) == "\n"
  return lines, final
end

---@class hermes.buffer.Plan what replaces the text of a buffer
---@field tick integer 'changedtick' that it was made for
---@field format string 'fileformat' that it was made for
---@field merged? boolean it keeps what others have changed
---@field shifted? boolean others have changed the buffer since
---@field old? string[]
---@field final? boolean whether the last line has an end
---@field hunks? hermes.Hunk[]
---@field work? thread that makes it

--- Makes a plan.
---@param buf integer
---@param content string
---@param plan hermes.buffer.Plan
---@param pause fun() called now and then
local function make(buf, content, plan, pause)
  local new
  new, plan.final = split(content, plan.format, pause)
  plan.old = plan.old or disk.lines(buf, pause)
  plan.hunks = require("hermes.diff").hunks(plan.old, new)
end

local function at_once() end

--- Plans to replace the text of a buffer.
---@param buf integer
---@param lines? string[] that the hunks are for, by default those of the buffer
---@param content string as it shall be on disk
---@return hermes.buffer.Plan
function M.plan(buf, lines, content)
  local marked = content:sub(1, #disk.bom) == disk.bom
  local plan = { tick = vim.b[buf].changedtick, format = vim.bo[buf].fileformat, old = lines }
  make(buf, marked and content:sub(#disk.bom + 1) or content, plan, at_once)
  return plan
end

--- Carries out a plan, as one undo step.
---@param buf integer
---@param plan hermes.buffer.Plan whole
function M.carry_out(buf, plan)
  if #plan.hunks > 0 then
    vim.api.nvim_buf_call(buf, function()
      break_undo()
      apply(buf, #disk.lines(buf), plan.hunks)
    end)
  end
  if vim.bo[buf].endofline ~= plan.final then
    vim.bo[buf].endofline = plan.final
  end
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
local function show_file(buf, bytes)
  local o = vim.bo[buf]
  local text = not o.binary and not disk.is_new(buf) and disk.decode(bytes, o.fileencoding)
  local modeline = o.modeline
  if text then
    local marked = text:sub(1, #disk.bom) == disk.bom
    local modifiable, readonly = o.modifiable, o.readonly
    o.modifiable, o.readonly = true, false
    local ok, problem = pcall(function()
      M.carry_out(buf, M.plan(buf, nil, text))
    end)
    o.modifiable, o.readonly = modifiable, readonly
    if not ok then
      error(problem, 0)
    elseif o.bomb ~= marked then
      o.bomb = marked
    end
    vim.api.nvim_buf_call(buf, break_undo)
    disk.accept(buf, true)
  else
    -- An agent may have written the file, so its modelines are ignored.
    o.modeline = false
    local ok, problem = pcall(vim.api.nvim_buf_call, buf, function()
      vim.cmd({ cmd = "edit", mods = { silent = true, keepalt = true, lockmarks = true } })
    end)
    o.modeline = modeline
    if not ok then
      error(problem, 0)
    end
  end
end

--- Updates a buffer from its file as one undo step, without asking. A buffer
--- with unsaved edits, or whose file is gone, stays as it is.
---@param buf integer
---@param cause? hermes.refresh.Cause
---@return "refreshed"|"conflict"|"deleted"? outcome nil when there was nothing to do
function M.update(buf, cause)
  local changed = require("hermes.changed")
  local name = vim.api.nvim_buf_get_name(buf)
  local outcome
  for _ = 1, 3 do -- the file may change again meanwhile
    local state = disk.state(buf)
    if state ~= "changed" then
      return state ~= "same" and state or outcome
    end
    local bytes, version = disk.read(name)
    if not bytes then
      return outcome
    elseif not disk.accept(buf, false) then
      error("E218: autocommands are blocked", 0)
    end
    local tick = vim.b[buf].changedtick
    local ok, problem, before = changed.apply(buf, function()
      show_file(buf, bytes)
    end)
    if not ok then
      error(problem, 0)
    end
    disk.note(buf, version)
    require("hermes.common").keep(buf, version, bytes)
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

--- The text of a loaded buffer as it would be on disk, unsaved edits included.
---@param path string absolute
---@param line? integer first line, 1-based
---@param limit? integer number of lines
---@return string? text nil when no loaded buffer shows the file as it is
function M.read(path, line, limit)
  local buf = M.find(path)
  if not buf then
    return nil
  end
  if disk.state(buf) == "changed" then
    local update = not M.is_busy(buf) and disk.unsettled(buf) == 0
    if not update or not pcall(M.update, buf) or disk.state(buf) == "changed" then
      return nil
    end
  end
  return disk.text(buf, line, limit)
end

--- Whether Neovim would overwrite the file in place. Without a backup, a write
--- that fails half way would then destroy the text.
---@param name string
---@return boolean
local function is_written_in_place(name)
  local go, stat = vim.go, vim.uv.fs_lstat(name)
  for _, pattern in ipairs(vim.opt.backupskip:get()) do
    if disk.matches(pattern, name) then
      return true
    end
  end
  return not go.backup
    and (not go.writebackup or (stat ~= nil and (stat.type == "link" or stat.nlink > 1)))
end

--- Calls `fn` with options set so that a failed write leaves the file as it
--- was, Neovim asks nothing, and the file ends as the buffer does.
---@param buf integer
---@param fn fun()
local function with_options(buf, fn)
  local name = vim.api.nvim_buf_get_name(buf)
  local here = { fixendofline = false }
  local everywhere = { confirm = false, writebackup = true, backupskip = "" }
  local copies, size
  local stat = vim.uv.fs_lstat(name)
  if stat and stat.type == "file" and stat.nlink > 1 then
    here.backupcopy = "no" -- the other names keep their text, as when the host writes
  elseif is_written_in_place(name) then
    copies, size = vim.fn.tempname(), (vim.uv.fs_stat(name) or { size = 0 }).size
    vim.fn.mkdir(copies, "", 448) -- 0700
    here.backupcopy = "yes"
    everywhere.backup = false
    everywhere.backupdir = vim.fn.escape(copies, [[\ ,]])
  end
  local function swap(options, values)
    for option, value in pairs(values) do
      options[option], values[option] = value, options[option]
    end
  end
  swap(vim.go, everywhere)
  swap(vim.bo[buf], here)
  local ok, problem = pcall(fn)
  swap(vim.go, everywhere)
  if vim.api.nvim_buf_is_valid(buf) then
    swap(vim.bo[buf], here)
  end
  if copies and (ok or (vim.uv.fs_stat(name) or { size = 0 }).size == size) then
    vim.fn.delete(copies, "rf")
  elseif copies then
    require("hermes.log").notify(
      vim.log.levels.ERROR,
      ("%s could not be written and may be damaged; its old text is in %s"):format(name, copies)
    )
  end
  if not ok then
    error(problem, 0)
  end
end

--- Writes a buffer to its file. After an error the file is unchanged.
---@param buf integer
---@param opts hermes.buffer.WriteOpts
local function save(buf, opts)
  local name = vim.api.nvim_buf_get_name(buf)
  local before = disk.version(name)
  if not vim.bo[buf].modified and before ~= "" then
    return
  end
  vim.fn.mkdir(vim.fs.dirname(name), "p")
  -- Neovim asks when the file is newer than it remembers. "!" would prevent
  -- that, but would also write when no backup can be made. The caller has
  -- checked that the file may be overwritten.
  local accepted = not disk.is_managed(buf) and disk.accept(buf, false)
  local guard = vim.api.nvim_create_autocmd("BufWritePre", {
    buffer = buf,
    callback = function() -- after other plugins' autocommands, which may be slow
      if accepted and disk.version(name) ~= before then
        error("changed on disk while it was being written", 0)
      end
    end,
  })
  local ok, problem = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd({
      cmd = "write",
      bang = not accepted,
      magic = { file = false, bar = false },
      mods = { silent = true, lockmarks = true, noautocmd = opts.noautocmd or false },
    })
  end)
  pcall(vim.api.nvim_del_autocmd, guard)
  local modified = vim.bo[buf].modified
  if not ok and modified then
    error(problem, 0)
  elseif ok and modified and disk.version(name) == before then
    error("an autocommand handled the write but did not write the file", 0)
  elseif not ok then -- an autocommand failed after the write
    require("hermes.log").notify(
      vim.log.levels.WARN,
      ("%s was written for the agent, but then: %s"):format(
        vim.fn.fnamemodify(name, ":~:."),
        one_line(tostring(problem))
      )
    )
  end
  disk.note(buf)
end

--- Says why the buffer may not be written, if so.
---@param buf integer
---@param content string
---@return string?
local function refusal(buf, content)
  if M.update(buf) == "conflict" then
    return "changed on disk while the buffer has unsaved edits"
  elseif vim.bo[buf].readonly then
    return "E45: 'readonly' option is set"
  end
  local name = vim.api.nvim_buf_get_name(buf)
  if vim.uv.fs_stat(name) and not vim.uv.fs_access(name, "W") then
    return "E505: the file is read-only"
  end
  return disk.encoding_problem(content, vim.bo[buf].fileencoding)
end

-- Temporary errors: textlock, the command-line window, blocked autocommands,
-- and a buffer that is unmodifiable for a moment.
local passing = { "E565:", "E523:", "E788:", "E11:", "E21:", "E218:" }

--- The text that a write has led to. An autocommand may have changed the file
--- once more, as formatters do; then the buffer follows.
---@param buf integer
---@param content string that was to be written
---@param opts hermes.buffer.WriteOpts
---@return string
local function written(buf, content, opts)
  local saved = opts.save ~= false and not vim.bo[buf].modified and not disk.is_managed(buf)
  if saved and disk.read(vim.api.nvim_buf_get_name(buf)) == content then
    return content -- reading a large buffer takes time
  end
  local text = disk.text(buf)
  if opts.save == false or vim.bo[buf].modified or disk.is_managed(buf) then
    return text
  end
  local bytes = disk.read(vim.api.nvim_buf_get_name(buf))
  if bytes == text then
    return text -- most are UTF-8, and decoding takes time
  end
  local now = bytes and disk.decode(bytes, vim.bo[buf].fileencoding)
  if now and now ~= text then
    disk.note(buf, "another") -- than the text of the buffer
    pcall(M.update, buf)
    return now
  end
  return text
end

---@class hermes.buffer.WriteOpts
---@field save? boolean also write the file, default true
---@field noautocmd? boolean without BufWrite autocommands, default false
---@field author? hermes.buffer.Author the agent that writes

---@class hermes.buffer.Author an agent whose write must not undo what others have changed
---@field tick? integer 'changedtick' when the buffer had the text that the agent knows
---@field rebase fun(now: string, done: fun(problem: string?, text: string?)) says what the buffer
---is to hold, when it holds `now`
---@field agent string
---@field sessionId string
---@field requestId string

--- Gives a loaded buffer new content as one undo step and saves it.
---@param path string absolute
---@param content string as it shall be on disk
---@param opts? hermes.buffer.WriteOpts
---@param done fun(problem: string?, text: string?, merged: boolean?) called once, later; without
---a problem it is written, and `text` is what the file holds then; `merged` says that others have
---a share in it
---@return boolean taken false when no loaded buffer shows the file; `done` is not called then
function M.write(path, content, opts, done)
  local buf = M.find(path)
  if not buf then
    return false
  end
  opts = opts or {}
  local author = opts.author
  local marked = content:sub(1, #disk.bom) == disk.bom
  local plain = marked and content:sub(#disk.bom + 1) or content
  local tries, replaced, merged = 0, false, false
  local large = #plain > M.at_once or vim.api.nvim_buf_line_count(buf) > M.at_once / 32
  local target = content
  local plan, plans = nil, 0 ---@type hermes.buffer.Plan?, integer
  local disk_merges = 0
  local attempt

  --- Begins a plan. When the buffer no longer has the text that the agent knows, the agent's
  --- changes are made in what it has.
  ---@return boolean ready
  local function begin()
    plans = plans + 1
    ---@type hermes.buffer.Plan
    local new = { tick = vim.b[buf].changedtick, format = vim.bo[buf].fileformat }
    local function work(text)
      target = text
      local without = text:sub(1, #disk.bom) == disk.bom and text:sub(#disk.bom + 1) or text
      if not large or plans > 20 then
        return make(buf, without, new, at_once)
      end
      new.work = coroutine.create(function()
        make(buf, without, new, coroutine.yield)
      end)
    end
    plan = new
    if not author or author.tick == new.tick then
      work(content)
      return new.hunks ~= nil
    elseif plans > M.merges then
      error("the user is typing where you write; read the file again and try once more", 0)
    end
    new.merged, new.old = true, disk.lines(buf)
    author.rebase(disk.text(buf), function(problem, text)
      if problem then
        return done(problem)
      end
      work(text)
      attempt()
    end)
    return false
  end

  --- Whether the plan can be carried out. Prepares the next part of a large one, which would
  --- take a frame at once. While the user changes the buffer it begins anew, but not for ever.
  ---@return boolean
  local function prepare()
    local tick, format = vim.b[buf].changedtick, vim.bo[buf].fileformat
    if not plan or plan.format ~= format or (plan.tick ~= tick and not plan.merged) then
      return begin()
    elseif not plan.hunks then
      local ok, problem = coroutine.resume(plan.work)
      if not ok then
        error(problem, 0)
      end
      return false
    elseif plan.tick ~= tick then
      local lines = disk.lines(buf)
      plan.hunks = require("hermes.diff").shift(plan.hunks, plan.old, lines)
      plan.tick, plan.old, plan.shifted = tick, lines, true
      return plan.hunks ~= nil or begin()
    end
    return true
  end

  --- Writes, unless that takes longer.
  ---@return string|false|nil problem nil: it is written; false: it goes on later
  local function try()
    if author and not replaced and disk.state(buf) == "conflict" and disk_merges < 3 then
      disk_merges = disk_merges + 1
      require("hermes.merge").with_disk(buf, nil, function()
        attempt()
      end)
      return false
    end
    local reason = refusal(buf, plain)
    if reason then
      return reason .. (replaced and unsaved or "")
    elseif not vim.bo[buf].modifiable then
      error("E21: 'modifiable' is off", 0)
    elseif not replaced and not prepare() then
      if plan and plan.work then
        vim.defer_fn(attempt, 1)
      end
      return false
    end
    local tick = vim.b[buf].changedtick
    local ok, problem, before = require("hermes.changed").apply(buf, function()
      if not replaced then
        if marked then
          vim.bo[buf].bomb = true
        end
        M.carry_out(buf, plan)
        replaced, merged = true, plan.shifted or target ~= content
      else
        merged = true -- what was typed after an attempt that failed
      end
      if opts.save ~= false then
        with_options(buf, function()
          save(buf, opts)
        end)
      end
    end)
    if author and vim.api.nvim_buf_is_loaded(buf) and vim.b[buf].changedtick ~= tick then
      require("hermes.changed").report({
        bufnr = buf,
        agent = author.agent,
        sessionId = author.sessionId,
        requestId = author.requestId,
        source = "write",
        outcome = "written",
        before = before,
      })
    end
    if not ok then
      error(problem, 0)
    end
  end

  function attempt()
    if not vim.api.nvim_buf_is_loaded(buf) then
      return done("the buffer was closed before it could be written")
    end
    local ok, problem = pcall(try)
    if ok and problem == false then
      return
    elseif vim.api.nvim_buf_is_loaded(buf) then
      -- After the write, so that changes by its autocommands join the same undo
      -- step.
      vim.api.nvim_buf_call(buf, break_undo)
    end
    if ok then
      return done(problem, not problem and written(buf, target, opts) or nil, merged)
    end
    for _, pattern in ipairs(passing) do
      if tries < M.retries and tostring(problem):find(pattern, 1, true) then
        tries = tries + 1
        return vim.defer_fn(attempt, M.retry_ms)
      end
    end
    done(one_line(tostring(problem)) .. (replaced and unsaved or ""))
  end
  vim.schedule(attempt) -- inside an autocommand the write would fire no events
  return true
end

--- Gives a loaded buffer new content as one undo step because the user has decided so.
---@param buf integer
---@param content string as it shall be on disk
---@param write boolean also write the file
---@return boolean replaced
---@return string? problem why it was not replaced, or not written
function M.put(buf, content, write)
  local marked = content:sub(1, #disk.bom) == disk.bom
  local plain = marked and content:sub(#disk.bom + 1) or content
  local o = vim.bo[buf]
  local reason = not o.modifiable and "E21: 'modifiable' is off"
    or o.readonly and "E45: 'readonly' option is set"
    or disk.encoding_problem(plain, o.fileencoding)
  if reason then
    return false, reason
  end
  local replaced = false
  local ok, problem = require("hermes.changed").apply(buf, function()
    if o.bomb ~= marked then
      o.bomb = marked
    end
    M.carry_out(buf, M.plan(buf, nil, content))
    replaced = true
    if write then
      with_options(buf, function()
        save(buf, {})
      end)
    end
  end)
  vim.api.nvim_buf_call(buf, break_undo)
  return replaced, not ok and one_line(tostring(problem)) or nil
end

---@class hermes.buffer.Conflict
---@field path string
---@field reason "conflict"|"deleted"

--- The loaded buffers that hold files.
---@return integer[]
function M.all()
  return vim.tbl_filter(function(buf)
    return vim.api.nvim_buf_is_loaded(buf)
      and vim.bo[buf].buftype == ""
      and vim.api.nvim_buf_get_name(buf) ~= ""
  end, vim.api.nvim_list_bufs())
end

--- Updates buffers whose files changed on disk. Buffers with unsaved edits, and
--- those whose file is gone, stay as they are and are returned.
---@param paths? string[] absolute; by default every loaded file
---@return hermes.buffer.Conflict[]
function M.refresh(paths)
  local kept = {}
  for _, buf in ipairs(paths and vim.tbl_map(M.find, paths) or M.all()) do
    local outcome = M.update(buf)
    if outcome == "conflict" or outcome == "deleted" then
      kept[#kept + 1] = { path = vim.api.nvim_buf_get_name(buf), reason = outcome }
    end
  end
  return kept
end

return M
