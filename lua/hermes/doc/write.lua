--- Writes buffers to their files, as `:write` does: autocommands and options of the user count.
local M = {}

local versions = require("hermes.doc.versions")
local disk = require("hermes.core.disk")

--- The part of a Neovim error that is useful to a person, without the source
--- locations.
---@param problem string
---@return string
function M.reason(problem)
  local first = problem:match("^[^\r\n]*"):gsub('^.*Autocommands for ".-": ', "")
  first = first:gsub("^.-(E%d+:)", "%1"):gsub("^Vim%([%w_]+%):", "")
  first = first:gsub("Error executing lua callback: ", ""):gsub("Lua callback: ", "")
  first = first:gsub("[^%s:][^:\n]*%.%a+:%d+: ", ""):gsub('%[string ".-"%]:%d+: ', "")
  return require("hermes.core.text").line(first, 500)
end

--- Whether Neovim would overwrite the file in place. Without a backup, a write
--- that fails half way would then destroy the text.
---@param name string
---@return boolean
local function is_written_in_place(name)
  local go, stat = vim.go, vim.uv.fs_lstat(name)
  for _, pattern in ipairs(vim.opt.backupskip:get()) do
    if versions.matches(pattern, name) then
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
    copies, size = vim.fn.tempname(), (disk.size(name) or 0)
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
  if copies and (ok or versions.strays(buf) or (disk.size(name) or 0) == size) then
    vim.fn.delete(copies, "rf")
  elseif copies then
    require("hermes.core.log").notify(
      vim.log.levels.ERROR,
      ("%s could not be written and may be damaged; its old text is in %s"):format(name, copies)
    )
  end
  if not ok then
    error(problem, 0)
  end
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

---@param buf integer
---@param noautocmd boolean
local function write(buf, noautocmd)
  local name = vim.api.nvim_buf_get_name(buf)
  versions.need_home(buf)
  local before = disk.version(name)
  if not vim.bo[buf].modified and before ~= "" then
    return
  end
  vim.fn.mkdir(vim.fs.dirname(name), "p")
  -- Neovim asks when the file is newer than it remembers. "!" would prevent
  -- that, but would also write when no backup can be made. The caller has
  -- checked that the file may be overwritten.
  local accepted = not versions.is_managed(buf) and M.accept(buf, false)
  local guard = vim.api.nvim_create_autocmd("BufWritePre", {
    buffer = buf,
    callback = function() -- after other plugins' autocommands, which may be slow
      versions.need_home(buf)
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
      mods = { silent = true, lockmarks = true, noautocmd = noautocmd },
    })
  end)
  pcall(vim.api.nvim_del_autocmd, guard)
  local modified = vim.bo[buf].modified
  if not ok and modified then
    error(problem, 0)
  elseif ok and modified and disk.version(name) == before then
    error("an autocommand handled the write but did not write the file", 0)
  elseif not ok then -- an autocommand failed after the write
    require("hermes.core.log").notify(
      vim.log.levels.WARN,
      ("%s was written for the agent, but then: %s"):format(
        vim.fn.fnamemodify(name, ":~:."),
        M.reason(tostring(problem))
      )
    )
  end
  versions.note(buf)
end

--- Writes a buffer to its file. After an error the file is unchanged.
---@param buf integer
---@param noautocmd? boolean without BufWrite autocommands
function M.save(buf, noautocmd)
  with_options(buf, function()
    write(buf, noautocmd or false)
  end)
end

return M
