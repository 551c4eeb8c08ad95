---The log file, and single lines shown to the user.
local M = {}

local names = { [0] = "TRACE", "DEBUG", "INFO", "WARN", "ERROR" }

---@return string path of the log file of the Lua side
function M.path()
  return vim.fs.joinpath(vim.fn.stdpath("log"), "hermes.log")
end

---@return string path of the log file of the host
function M.host_path()
  return vim.fs.joinpath(vim.fn.stdpath("log"), "hermes-host.log")
end

---Text with its control characters made visible, on one line.
---@param text any
---@return string
function M.line(text)
  text = tostring(text):gsub("%s*\n%s*", " | "):gsub("%c", function(c)
    return ("\\x%02x"):format(c:byte())
  end)
  return text
end

---Append a line to the log when `level` is high enough.
---@param level integer one of vim.log.levels
---@param text string
function M.write(level, text)
  local config = require("hermes.config").get()
  if level < config.log.level then
    return
  end
  local path = M.path()
  local fd = vim.uv.fs_open(path, "a", 384) -- 0600
  if not fd then
    vim.fn.mkdir(vim.fs.dirname(path), "p")
    fd = vim.uv.fs_open(path, "a", 384)
  end
  if fd then
    local stamp = os.date("!%Y-%m-%dT%H:%M:%SZ")
    vim.uv.fs_write(fd, ("%s %s %s\n"):format(stamp, names[level] or level, M.line(text)))
    vim.uv.fs_close(fd)
  end
end

---@param notifier function
---@return boolean
local function is_builtin(notifier)
  local source = debug.getinfo(notifier, "S").source
  return vim.startswith(source, "@vim/") or source == "=?" or source == "?" or source == "@?"
end

---Show one line. Longer text would ask the user to press enter,
---which stops all events, so it is cut to the width of the screen.
---@param level integer one of vim.log.levels
---@param text string
function M.show(level, text)
  local line = M.line(text)
  local function show()
    local shown = "hermes: " .. line
    local room = math.max(vim.o.columns - 15, 40)
    -- A notifier with its own window has room for all of it.
    if is_builtin(vim.notify) then
      if vim.fn.strdisplaywidth(shown) > room then
        shown = vim.fn.strcharpart(shown, 0, room - 1) .. "…"
      end
    end
    local ok = pcall(vim.notify, shown, level, { title = "hermes" })
    if not ok then
      vim.api.nvim_echo({ { shown } }, true, {})
    end
  end
  -- Never inside a callback of somebody else: an error there is not ours.
  vim.schedule(show)
end

---Show one line and log it.
---@param level integer one of vim.log.levels
---@param text string
function M.notify(level, text)
  vim.schedule(function()
    M.write(level, text)
  end)
  M.show(level, text)
end

return M
