---The log file, and single lines shown to the user.
local M = {}

local names = { [0] = "TRACE", "DEBUG", "INFO", "WARN", "ERROR" }

---@return string path of the log file of the Lua side
function M.path()
  return vim.fn.stdpath("log") .. "/hermes.log"
end

---@return string path of the log file of the host
function M.host_path()
  return vim.fn.stdpath("log") .. "/hermes-host.log"
end

---The longest line of the log file, in bytes.
local max_logged = 64 * 1024

---Puts text on one line; characters that would hide or break it are made visible.
---@param text any
---@param max? integer bytes; by default the limit of hermes.text
---@return string
function M.line(text, max)
  local plain = require("hermes.core.text")
  return plain.line(plain.joined(tostring(text), " | "), max)
end

---Sets a log file aside: path becomes path.1, path.1 becomes path.2, and so on.
---@param path string
---@param keep integer files that are set aside and kept
local function rotate(path, keep)
  for i = keep - 1, 1, -1 do
    vim.uv.fs_rename(("%s.%d"):format(path, i), ("%s.%d"):format(path, i + 1))
  end
  if keep > 0 then
    vim.uv.fs_rename(path, path .. ".1")
  else
    vim.uv.fs_unlink(path)
  end
end

---Appends a line to the log if `level` is high enough.
---@param level integer one of vim.log.levels
---@param text string
function M.write(level, text)
  local config = require("hermes.core.config").get()
  if level < config.log.level then
    return
  end
  local path = M.path()
  local size = config.log.max_size > 0 and (vim.uv.fs_stat(path) or {}).size or 0
  if config.log.max_size > 0 and size >= config.log.max_size then
    rotate(path, config.log.keep)
  end
  local fd = vim.uv.fs_open(path, "a", 384) -- 0600
  if not fd then
    vim.fn.mkdir(vim.fs.dirname(path), "p")
    fd = vim.uv.fs_open(path, "a", 384)
  end
  if fd then
    local stamp = os.date("!%Y-%m-%dT%H:%M:%SZ")
    vim.uv.fs_write(
      fd,
      ("%s %s %s\n"):format(stamp, names[level] or level, M.line(text, max_logged))
    )
    vim.uv.fs_close(fd)
  end
end

---@param notifier function
---@return boolean
local function is_builtin(notifier)
  local source = debug.getinfo(notifier, "S").source
  return vim.startswith(source, "@vim/") or source == "=?" or source == "?" or source == "@?"
end

local highlights = { [vim.log.levels.WARN] = "WarningMsg", [vim.log.levels.ERROR] = "ErrorMsg" }
local again ---@type integer? autocommand that shows the last line once more

---Returns the part that fits into the last line of the screen without a prompt
---to press enter.
---@param text string
---@return string
local function fitting(text)
  return require("hermes.core.text").row(text, math.max(vim.v.echospace, 20))
end

---Whether messages have scrolled the screen, which ends in a prompt to press enter.
---@return boolean
local function has_scrolled()
  return vim.fn.state("s") ~= ""
end

local entry = "" -- text about to be added to the history

---@private
---@return string
function M._entry()
  return entry
end

---Adds the whole text to the message history, and shows the part that fits. A
---prompt to press enter would stop all events, and vim.notify causes one for a
---long text and for several short ones. |:echomsg| with the flag T of
---'shortmess' adds the whole text but shows it shortened in the middle. The
---beginning says most, so it then replaces the shortened text.
---@param text string
---@param level integer
local function echo(text, level)
  local shortmess = vim.o.shortmess
  local untruncated = not shortmess:find("T", 1, true)
  if untruncated then
    vim.o.shortmess = shortmess .. "T"
  end
  entry = text
  local had_scrolled = has_scrolled()
  vim.cmd("echomsg v:lua.require'hermes.core.log'._entry()")
  if untruncated then
    vim.o.shortmess = shortmess
  end
  local function display()
    vim.api.nvim_echo({ { fitting(text), highlights[level] } }, false, {})
  end
  display()
  if not had_scrolled and has_scrolled() then -- any message does while a command runs
    vim.cmd.redraw() -- which takes the prompt away, too
    display()
  end
  if again then
    pcall(vim.api.nvim_del_autocmd, again)
    again = nil
  end
  if vim.fn.mode() == "n" then
    return
  end
  -- The command line and the name of the mode are drawn over it.
  again = vim.api.nvim_create_autocmd("ModeChanged", {
    pattern = "*:n",
    once = true,
    callback = function()
      again = nil
      vim.schedule(display)
    end,
  })
end

---Whether the last lines of the screen show messages.
---@return boolean
local function on_screen()
  local uis = vim.api.nvim_list_uis()
  return #uis > 0 and not vim.iter(uis):any(function(ui)
    return ui.ext_messages
  end)
end

---Takes a line off the screen that M.show() has put there, unless another message has come since.
---@param text string
function M.hide(text)
  local shown = "hermes: " .. M.line(text)
  -- Scheduled, as it is shown; what is about to be shown comes before.
  vim.schedule(function()
    if entry ~= shown or not on_screen() or vim.fn.execute("1messages") ~= "\n" .. shown then
      return
    end
    entry = ""
    if again then
      pcall(vim.api.nvim_del_autocmd, again)
      again = nil
    end
    if vim.o.cmdheight > 0 and vim.fn.mode() ~= "c" then
      vim.api.nvim_echo({ { "" } }, false, {})
    end
  end)
end

---Shows one line. Another plugin's notifier gets the whole text.
---@param level integer one of vim.log.levels
---@param text string
function M.show(level, text)
  local shown = "hermes: " .. M.line(text)
  local function show()
    local ok, err
    if is_builtin(vim.notify) and on_screen() then
      ok, err = pcall(echo, shown, level)
    else
      ok, err = pcall(vim.notify, shown, level, { title = "hermes" })
    end
    if not ok then
      M.write(vim.log.levels.ERROR, "a message was not shown: " .. tostring(err))
      vim.api.nvim_echo({ { fitting(shown) } }, true, {})
    end
  end
  -- Never inside somebody else's callback, where an error would look like
  -- theirs.
  vim.schedule(show)
end

---Shows one line and logs it.
---@param level integer one of vim.log.levels
---@param text string
function M.notify(level, text)
  vim.schedule(function()
    M.write(level, text)
  end)
  M.show(level, text)
end

---Calls `fn`. An error is shown as one line and goes no further.
---@param what string
---@param fn function
---@return any ... what fn returned
function M.guard(what, fn, ...)
  local out = vim.F.pack_len(pcall(fn, ...))
  if not out[1] then
    M.notify(vim.log.levels.ERROR, ("%s failed: %s"):format(what, out[2]))
    return nil
  end
  return unpack(out, 2, out.n)
end

return M
