--- The files of buffers and of sessions: where they are, and every look at them, opening and
--- removing of them. No other module does that by itself: an agent may change the names below a
--- session's folders at any time, so that a name can lead to another file than the one that the
--- user knows by it.
local M = {}

local constants = vim.uv.constants

--- The longest path that a system takes, in bytes. An agent may name longer ones.
M.max_path = 4096

--- What Neovim handles within a frame or two, in bytes. It reads no larger file by itself.
M.max_bytes = 1024 * 1024

--- Where a path leads once all links are resolved. What does not exist yet keeps its name.
---@param path string absolute
---@return string? place nil when a link on the way leads nowhere, or the path is too long
function M.place(path)
  if #path > M.max_path then
    return nil
  end
  local found = vim.uv.fs_realpath(path)
  if found then
    return found
  elseif vim.uv.fs_lstat(path) then
    return nil
  end
  local dir = vim.fs.dirname(path)
  local above = dir ~= path and M.place(dir) or nil
  return above and vim.fs.joinpath(above, vim.fs.basename(path)) or nil
end

--- The absolute form of a path that somebody names. Neovim's own one follows links of folders.
---@param path string
---@return string
function M.absolute(path)
  path = vim.fs.normalize(path, { expand_env = false })
  if not path:find("^/") and not path:find("^%a:/") then
    path = vim.fs.joinpath(vim.fn.getcwd(), path)
  end
  return vim.fs.normalize(path, { expand_env = false })
end

--- What there is at a path, wherever it leads.
---@param path string
---@return string? kind "file", "directory", "fifo" and so on; nil when there is nothing
function M.kind(path)
  local stat = vim.uv.fs_stat(path)
  return stat and stat.type
end

--- Whether there is something at a path.
---@param path string
---@return boolean
function M.exists(path)
  return vim.uv.fs_stat(path) ~= nil
end

--- Whether a file may only be read.
---@param path string
---@return boolean
function M.is_readonly(path)
  return vim.uv.fs_stat(path) ~= nil and not vim.uv.fs_access(path, "W")
end

--- Removes a file. Raises an error if it is there after that.
---@param path string
function M.remove(path)
  local ok, why = vim.uv.fs_unlink(path)
  if not ok and vim.uv.fs_lstat(path) then
    error(why, 0)
  end
end

--- Changes the permissions of a file.
---@param path string
---@param mode integer
---@param check fun() raises an error if it is not to be done; called when the file is open
function M.chmod(path, mode, check)
  local flags = constants.O_RDONLY + (constants.O_NOFOLLOW or 0) + (constants.O_NONBLOCK or 0)
  local fd = assert(vim.uv.fs_open(path, flags, 0))
  local ok, problem = pcall(function()
    check()
    assert(vim.uv.fs_fchmod(fd, mode))
  end)
  vim.uv.fs_close(fd)
  if not ok then
    error(problem, 0)
  end
end

---@param stat uv.fs_stat.result?
---@return string? version
local function version_of(stat)
  if not stat then
    return ""
  elseif stat.type ~= "file" then
    return nil
  end
  local time = stat.mtime
  return ("%d.%09d/%d/%d"):format(time.sec, time.nsec, stat.size, stat.ino)
end

-- Since when files have been empty or gone, in milliseconds of our own clock. Their own time
-- says nothing: on ext4 a file that was just emptied has that of the write before for a while.
local gone = {} ---@type table<string, number>

--- The identity of a version of a file. "" means that there is no file.
---@param path string
---@return string? version nil when the path is not a regular file
function M.version(path)
  local stat = vim.uv.fs_stat(path)
  if stat and stat.size > 0 then
    gone[path] = nil
  end
  return version_of(stat)
end

--- The size of a file.
---@param path string
---@return integer? bytes nil when there is no regular file
function M.size(path)
  local stat = vim.uv.fs_stat(path)
  return stat and stat.type == "file" and stat.size or nil
end

--- Milliseconds that a file must have been left alone until it counts: programs
--- write in pieces.
M.settle_ms = 40

--- The same of a file that is empty or gone: programs empty a file before they
--- write it, and remove it before they replace it.
M.settle_gone_ms = 300

--- How long a file is waited for that is written all the time. Then what it holds counts.
M.settle_limit_ms = 600

--- How long to wait until a file has been left alone for a while. A text counts only then, so
--- ask after it was read.
---@param path string
---@param version? string what was read; it does not count if the file is another one by now
---@return integer ms until it is worth asking again; 0 when it has
function M.unsettled(path, version)
  local stat = vim.uv.fs_stat(path)
  if version and version ~= version_of(stat) then
    return M.settle_ms
  elseif not stat or stat.type == "file" and stat.size == 0 then
    local now = vim.uv.hrtime() / 1e6
    gone[path] = gone[path] or now
    return math.min(M.settle_ms, math.max(0, math.ceil(gone[path] + M.settle_gone_ms - now)))
  end
  gone[path] = nil
  local seconds, micros = vim.uv.gettimeofday()
  local age = (seconds - stat.mtime.sec) * 1000 + micros / 1000 - stat.mtime.nsec / 1e6
  -- A file of the future has the time of another machine.
  return age < 0 and 0 or math.max(0, math.ceil(M.settle_ms - age))
end

--- Opens a regular file for reading. Never waits for the other end of a named pipe.
---@param path string
---@return integer? fd
---@return uv.fs_stat.result|string stat what the file is, or why it cannot be opened
local function open(path)
  local fd, problem = vim.uv.fs_open(path, constants.O_RDONLY + (constants.O_NONBLOCK or 0), 0)
  if not fd then
    return nil, problem
  end
  local stat, why = vim.uv.fs_fstat(fd)
  if stat and stat.type == "file" then
    return fd, stat
  end
  vim.uv.fs_close(fd)
  return nil, stat and ("%s: not a file, but a %s"):format(path, stat.type) or why
end

--- Reads and closes a file.
---@param fd integer
---@param limit? integer the most bytes
---@return string? bytes
local function drain(fd, limit)
  local parts, left = {}, limit or math.huge
  while parts and left > 0 do
    local part = vim.uv.fs_read(fd, math.min(left, 1024 * 1024))
    if not part then
      parts = nil
    elseif part == "" then
      break
    else
      parts[#parts + 1], left = part, left - #part
    end
  end
  vim.uv.fs_close(fd)
  return parts and table.concat(parts)
end

--- The content of a file, and a version that is no newer than it.
---@param path string
---@param limit? integer bytes, by default M.max_bytes
---@return string? bytes nil when it can't be read, or is larger than the limit
---@return string? version
---@return integer? size of a file that is larger than the limit
function M.read(path, limit)
  limit = limit or M.max_bytes
  local fd, stat = open(path)
  if not fd then
    return nil
  elseif stat.size > limit then
    vim.uv.fs_close(fd)
    return nil, nil, stat.size
  end
  local bytes = drain(fd, limit + 1) -- it may grow meanwhile
  if bytes and #bytes > limit then
    return nil, nil, #bytes
  end
  return bytes, bytes and version_of(stat --[[@as uv.fs_stat.result]]) or nil
end

--- The first bytes of a file.
---@param path string
---@param count integer at most
---@return string? bytes nil when it can't be read
function M.beginning(path, count)
  local fd = open(path)
  return fd and drain(fd, count)
end

--- The folders of all open sessions. lua/hermes/session/state.lua knows them.
---@return string[]
function M.folders()
  return {}
end

---@param path string
---@param folder string
---@return boolean
local function is_below(path, folder)
  return path == folder or vim.startswith(path, (folder:gsub("/$", "")) .. "/")
end

--- Whether a file is below the folder of a session.
---@param path string absolute
---@return boolean
function M.is_in_session(path)
  local place = M.place(path)
  return place ~= nil
    and vim.iter(M.folders()):any(function(folder)
      return is_below(place, M.place(folder) or folder)
    end)
end

--- Why a path that somebody names may not be sent to an agent: it is below the folder of a session
--- by its name, but not by where it leads.
---@param path string absolute
---@return string? problem
function M.leads_out(path)
  local place = M.place(path)
  for _, folder in ipairs(M.folders()) do
    local real = M.place(folder) or folder
    local inside = is_below(path, folder) or is_below(path, real)
    if inside and not (place and is_below(place, real)) then
      local where = place and vim.fn.fnamemodify(place, ":~") or "nowhere"
      return ("%s: it leads out of the folder of a session (%s)"):format(path, where)
    end
  end
end

--- Reads a file that is to be sent to an agent, if it is where its name says.
---@param path string absolute
---@param limit integer bytes; of a larger file only the size is told
---@return string? bytes
---@return integer|string size or why it is not sent
function M.read_to_send(path, limit)
  local fd, stat = open(path)
  if not fd then
    return nil, stat --[[@as string]]
  end
  local problem = M.leads_out(path) -- after it was opened: it is the file that has to be there
  local place = not problem and M.place(path)
  local now = place and vim.uv.fs_lstat(place)
  if not problem and not (now and now.ino == stat.ino and now.dev == stat.dev) then
    problem = ("%s: it changed while it was opened"):format(path)
  end
  if problem or stat.size > limit then
    vim.uv.fs_close(fd)
    return nil, problem or stat.size
  end
  local bytes = drain(fd, limit)
  return bytes, bytes and stat.size or ("%s: cannot be read"):format(path)
end

return M
