--- The files of buffers and of sessions: all code that looks at them, opens or removes them is
--- here. An agent may change the names below a session's folders at any time, so that a name can
--- lead to another file than the one that the user knows by it.
local M = {}

local constants = vim.uv.constants

--- The longest path that a system takes, in bytes. An agent may name longer ones.
M.max_path = 4096

--- The most bytes that Neovim handles within a frame or two. It reads no larger file by itself.
M.max_bytes = 1024 * 1024

local is_windows = vim.fn.has("win32") == 1

--- Where a path leads once all links are resolved. Parts that do not exist yet keep their names.
---@param path string absolute
---@return string? place nil when a link on the way leads nowhere, or the path is too long
function M.place(path)
  if #path > M.max_path then
    return nil
  end
  local found = vim.uv.fs_realpath(path)
  if found then
    return found
  end
  path = is_windows and path:gsub("\\", "/") or path
  local root = is_windows and (path:match("^//[^/]+/[^/]+/?") or path:match("^%a:/+"))
    or path:match("^/*")
  if path:find("//", #root + 1, true) then
    path = root .. path:sub(#root + 1):gsub("//+", "/")
  end
  path = #path > #root and path:byte(-1) == 47 and path:sub(1, -2) or path
  if vim.uv.fs_lstat(path) then
    return (vim.uv.fs_realpath(path))
  end
  -- Bisection finds the longest part that exists. Going from folder to folder, each step would go
  -- over the whole path.
  local exists, missing = #root, #path
  while missing - exists > 1 do
    local middle = math.floor((exists + missing) / 2)
    local slash = path:sub(middle + 1, missing):find("/", 1, true)
    if slash and vim.uv.fs_lstat(path:sub(1, middle + slash - 1)) then
      exists = middle + slash - 1
    else
      missing = middle
    end
  end
  local above = vim.uv.fs_realpath(exists > 0 and path:sub(1, exists) or ".")
  local rest = path:sub(exists + (path:byte(exists + 1) == 47 and 2 or 1))
  return above and (rest == "" and above or vim.fs.joinpath(above, rest)) or nil
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

--- The kind of file that a path leads to.
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

--- Where an open file or folder is. Linux knows it, even if the name leads elsewhere by now. On
--- other systems the name has to lead there still.
---@param fd integer
---@param path string by which it was opened
---@return string? place with all links resolved
local function place_of(fd, path)
  local place = vim.uv.fs_readlink(("/proc/self/fd/%d"):format(fd))
  if place then
    return (place:gsub(" %(deleted%)$", "")) -- another file has taken its name meanwhile
  end
  place = M.place(path)
  local stat, now = vim.uv.fs_fstat(fd), place and vim.uv.fs_lstat(place)
  return stat and now and stat.ino == now.ino and stat.dev == now.dev and place or nil
end

--- Calls a function that changes a file, with a name of the file that others cannot lead elsewhere:
--- on Linux it goes by way of the open folder. Raises an error if the folder is not where it was.
---@generic T
---@param place string of the file, with all links resolved
---@param make boolean whether to make the folders that are missing
---@param change fun(name: string): T
---@return T
local function inside(place, make, change)
  local folder, base = vim.fs.dirname(place), vim.fs.basename(place)
  local flags = constants.O_RDONLY + (constants.O_NONBLOCK or 0)
  local fd, why, code = vim.uv.fs_open(folder, flags, 0)
  if code == "ENOENT" and make then
    inside(folder, true, function(name)
      vim.uv.fs_mkdir(name, 511) -- 0777
    end)
    fd, why = vim.uv.fs_open(folder, flags, 0)
  end
  if not fd and vim.fn.has("win32") == 0 then -- where folders cannot be opened
    error(why, 0)
  end
  local ok, result = pcall(function()
    if fd and place_of(fd, folder) ~= folder then
      error(("%s leads to another folder now"):format(folder), 0)
    end
    local way = fd and ("/proc/self/fd/%d"):format(fd)
    return change(way and vim.uv.fs_readlink(way) and way .. "/" .. base or place)
  end)
  if fd then
    vim.uv.fs_close(fd)
  end
  if not ok then
    error(result, 0)
  end
  return result
end

--- Removes a file. Raises an error if it is there after that.
---@param place string with all links resolved
function M.remove(place)
  inside(place, false, function(name)
    local ok, why = vim.uv.fs_unlink(name)
    if not ok and vim.uv.fs_lstat(name) then
      error(why, 0)
    end
  end)
end

--- Calls a function with the open file of a name, which a link may have taken meanwhile.
---@generic T
---@param name string by way of the open folder
---@param place string
---@param flags integer
---@param change fun(fd: integer): T
---@return T
local function with_file(name, place, flags, change)
  local fd = assert(vim.uv.fs_open(name, flags + (constants.O_NONBLOCK or 0), 0))
  local ok, result = pcall(function()
    local stat = vim.uv.fs_fstat(fd)
    if not stat or stat.type ~= "file" or place_of(fd, name) ~= place then
      error(("%s leads to another file now"):format(place), 0)
    end
    return change(fd)
  end)
  vim.uv.fs_close(fd)
  return ok and result or error(result, 0)
end

--- Changes the permissions of a file.
---@param place string with all links resolved
---@param mode integer
function M.chmod(place, mode)
  inside(place, false, function(name)
    return with_file(name, place, constants.O_RDONLY, function(fd)
      return assert(vim.uv.fs_fchmod(fd, mode))
    end)
  end)
end

--- Writes all of a text into an open file.
---@param fd integer
---@param text string
---@return boolean? ok
---@return string? why
local function fill(fd, text)
  local at = 0
  while at < #text do
    local count, why = vim.uv.fs_write(fd, text:sub(at + 1, at + 1024 * 1024), at)
    if not count then
      return nil, why
    end
    at = at + count
  end
  return vim.uv.fs_ftruncate(fd, #text)
end

--- Writes a text into a new file of our own, which agents cannot exchange.
---@param text string
---@return string path
function M.copy(text)
  local path = vim.fn.tempname()
  local flags = constants.O_WRONLY + constants.O_CREAT + constants.O_EXCL
  local fd = assert(vim.uv.fs_open(path, flags, 384)) -- 0600
  local ok, why = fill(fd, text)
  vim.uv.fs_close(fd)
  return ok and path or error(why, 0)
end

--- Overwrites an open file. After an error it has its old text.
---@param fd integer
---@param text string
local function overwrite(fd, text)
  local old = assert(vim.uv.fs_read(fd, assert(vim.uv.fs_fstat(fd)).size, 0))
  local ok, why = fill(fd, text)
  if not ok and not fill(fd, old) then -- whose room the file still has
    why = ("%s; the file may be damaged, and its old text is in %s"):format(why, M.copy(old))
  end
  return assert(ok, why)
end

--- Replaces a file with a new one, or creates it.
---@param name string
---@param text string
---@param old uv.fs_stat.result? of the file
---@param check fun() called right before the change; raises an error to prevent it
---@return boolean done false when the file has to stay the same one, such as a mounted one
local function exchange(name, text, old, check)
  -- The host ignores files with such names, and removes them when the program that made them has
  -- ended.
  local digits = ("%016x"):format(vim.uv.hrtime())
  local new = vim.fs.joinpath(vim.fs.dirname(name), ".hermes-" .. digits:sub(-16) .. ".tmp")
  local flags = constants.O_WRONLY + constants.O_CREAT + constants.O_EXCL
  local fd = assert(vim.uv.fs_open(new, flags, old and 384 or 438)) -- 0600, 0666
  local ok, why = pcall(function()
    assert(fill(fd, text))
    if old then
      if not vim.uv.fs_fchown(fd, old.uid, old.gid) then
        vim.uv.fs_fchown(fd, -1, old.gid) -- as far as the system allows
      end
      assert(vim.uv.fs_fchmod(fd, old.mode % 512)) -- 01000
    end
    if vim.o.fsync then
      assert(vim.uv.fs_fsync(fd))
    end
    check()
    local renamed, problem, code = vim.uv.fs_rename(new, name)
    assert(renamed or code == "EBUSY", problem)
    return code
  end)
  vim.uv.fs_close(fd)
  if not ok or why then
    vim.uv.fs_unlink(new)
  end
  if not ok then
    error(why, 0)
  end
  return not why
end

--- Gives a file a new text, or makes the file with the folders it needs. It stays the same file if
--- 'backupcopy' says so, and it keeps its permissions, and its owner as far as the system allows.
--- After an error it has its old text.
---@param place string with all links resolved
---@param text string
---@param check fun() called right before the change; raises an error to prevent it
function M.replace(place, text, check)
  inside(place, true, function(name)
    local old = vim.uv.fs_lstat(name)
    if old and old.type ~= "file" then
      error(("it is a %s now; nothing was written"):format(old.type), 0)
    elseif old and not vim.uv.fs_access(name, "W") then
      error("E505: the file is read-only", 0)
    end
    local stays = old and old.nlink == 1 and vim.go.backupcopy:find("yes")
    if stays then
      check()
    end
    if stays or not exchange(name, text, old, check) then
      with_file(name, place, constants.O_RDWR, function(fd)
        return overwrite(fd, text)
      end)
    end
  end)
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

-- Since when files have been empty or gone, in milliseconds of our own clock. The time of the file
-- is no help: on ext4 a file that was just emptied keeps its old time for a while.
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

--- For how many milliseconds a file must be left alone before its text is used: programs write in
--- pieces.
M.settle_ms = 40

--- The same for a file that is empty or gone: programs empty a file before they write it, and
--- remove it before they replace it.
M.settle_gone_ms = 300

--- The longest wait for a file that is written all the time. After that its text is used as it is.
M.settle_limit_ms = 600

--- How long to wait until a file has been left alone for a while. Call it after reading: only then
--- is it known that the text was complete.
---@param path string
---@param version? string the version that was read; if the file is another one by now, read again
---@return integer ms until it is worth asking again; 0 when the text can be used
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
---@param home? string the place where it has to be, if others may lead its name elsewhere
---@return string? bytes nil when it can't be read, is elsewhere, or is larger than the limit
---@return string? version
---@return integer? size of a file that is larger than the limit
function M.read(path, limit, home)
  limit = limit or M.max_bytes
  local fd, stat = open(path)
  if not fd then
    return nil
  elseif stat.size > limit or (home and place_of(fd, path) ~= home) then
    vim.uv.fs_close(fd)
    return nil, nil, stat.size > limit and stat.size or nil
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

--- Why a path that somebody names may not be sent to an agent: its name is below the folder of a
--- session, but it leads out of that folder.
---@param path string absolute
---@param place? string where it leads, by default as its name says now
---@return string? problem
function M.leads_out(path, place)
  place = place or M.place(path)
  for _, folder in ipairs(M.folders()) do
    local real = M.place(folder) or folder
    local below = is_below(path, folder) or is_below(path, real)
    if below and not (place and is_below(place, real)) then
      local where = place and vim.fn.fnamemodify(place, ":~") or "nowhere"
      return ("%s: it leads out of the folder of a session (%s)"):format(path, where)
    end
  end
end

--- Reads a file that is to be sent to an agent, if it is where its name says.
---@param path string absolute
---@param limit integer bytes; of a larger file only the size is returned
---@return string? bytes
---@return integer|string size or why it is not sent
function M.read_to_send(path, limit)
  local fd, stat = open(path)
  if not fd then
    return nil, stat --[[@as string]]
  end
  local place = place_of(fd, path)
  local problem = not place and ("%s: it changed while it was opened"):format(path)
    or M.leads_out(path, place)
  if problem or stat.size > limit then
    vim.uv.fs_close(fd)
    return nil, problem or stat.size
  end
  local bytes = drain(fd, limit)
  return bytes, bytes and stat.size or ("%s: cannot be read"):format(path)
end

return M
