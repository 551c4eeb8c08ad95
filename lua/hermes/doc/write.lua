--- Writes buffers to their files with the autocommands of the user, as `:write` does. An agent may
--- exchange the names on the way to a file at any time, and `:write` would follow them. So Neovim
--- encodes the text into a file of our own, and core/disk.lua puts that in its place.
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

--- The new content of a buffer's file: the text in the encoding and format of the buffer.
---@param buf integer
---@return string bytes
local function encoded(buf)
  local copy = vim.fn.tempname()
  local ok, result = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd({
      cmd = "write",
      args = { copy },
      magic = { file = false, bar = false },
      mods = { silent = true, keepalt = true, lockmarks = true, noautocmd = true },
    })
    return disk.read(copy, math.huge)
  end)
  vim.fn.delete(copy)
  return ok and result or error(result or "E509: the text could not be encoded", 0)
end

--- Has the autocommands of another plugin write a buffer.
---@param buf integer
---@param noautocmd boolean
local function hand_over(buf, noautocmd)
  local name = vim.api.nvim_buf_get_name(buf)
  local before = disk.version(name)
  local ok, problem = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd({
      cmd = "write",
      bang = true,
      magic = { file = false, bar = false },
      mods = { silent = true, lockmarks = true, noautocmd = noautocmd },
    })
  end)
  if not ok and vim.bo[buf].modified then
    error(problem, 0)
  elseif vim.bo[buf].modified and disk.version(name) == before then
    error("an autocommand handled the write but did not write the file", 0)
  end
  return problem
end

---@param buf integer
---@param noautocmd boolean
---@return any problem of an autocommand after the write
local function write(buf, noautocmd)
  local name = vim.api.nvim_buf_get_name(buf)
  local home, before = versions.home(buf), disk.version(name)
  local function fire(event)
    if not noautocmd then
      vim.api.nvim_buf_call(buf, function() -- other than in nvim_exec_autocmds, an error ends it
        local args = { "<nomodeline>", event }
        vim.cmd({ cmd = "doautocmd", args = args, mods = { silent = true } })
      end)
    end
  end
  local function check()
    versions.need_home(buf)
    if disk.version(name) ~= before then
      error("changed on disk while it was being written", 0)
    end
  end
  fire("BufWritePre")
  check() -- autocommands may be slow
  disk.replace(home or name, encoded(buf), check)
  M.accept(buf, true)
  if vim.bo[buf].undofile then
    pcall(vim.api.nvim_buf_call, buf, function()
      local undo = vim.fn.fnameescape(vim.fn.undofile(name))
      vim.cmd({ cmd = "wundo", args = { undo }, mods = { silent = true } })
    end)
  end
  local _, problem = pcall(fire, "BufWritePost")
  return problem
end

--- Writes a buffer to its file. After an error the file is unchanged.
---@param buf integer
---@param noautocmd? boolean without BufWrite autocommands
function M.save(buf, noautocmd)
  local name, fixes = vim.api.nvim_buf_get_name(buf), vim.bo[buf].fixendofline
  versions.need_home(buf)
  vim.bo[buf].fixendofline = false -- the file ends as the buffer does, and that is a change too
  local ok, problem = pcall(function()
    if vim.bo[buf].modified or not disk.exists(name) then
      local by = versions.is_managed(buf) and hand_over or write
      return by(buf, noautocmd or false)
    end
  end)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.bo[buf].fixendofline = fixes
  end
  if not ok then
    error(problem, 0)
  elseif problem then -- an autocommand failed after the write
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

return M
