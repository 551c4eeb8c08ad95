---Installs the host of a release, for those who do not have Go.
---
---release.json comes with the plugin and pins the SHA-256 of the release's manifest. The manifest
---has the SHA-256 of every archive, and of the programs in it: the host and hermes-agent. Downloads
---stay in memory: bytes reach the disk only once they are what was pinned, and the programs replace
---the previous ones only once they have run.
local M = {}

local task = require("hermes.core.install_task")
local uv = vim.uv

local max_manifest = 64 * 1024 -- bytes; a real one has 4 KB
local default_timeout = 30000 -- ms
local slowest = 1000 -- bytes per second
local telling_every = 2000 -- ms

---@class hermes.Release what release.json pins
---@field version string such as "v1.2.3"
---@field protocol integer between host and plugin
---@field go string the version of Go that built it
---@field manifest string SHA-256 of manifest.json

---@class hermes.ReleaseFile
---@field path string
---@field size integer
---@field sha256 string

---@class hermes.ReleaseArchive: hermes.ReleaseFile
---@field programs table<string, hermes.ReleaseFile> by name

---Whether a text is a safe name in addresses, paths and arguments.
local function is_name(text)
  return type(text) == "string"
    and text:find("^%w[%w._/-]*$") ~= nil
    and not text:find("..", 1, true)
end

local function is_digest(text)
  return type(text) == "string" and #text == 64 and text:find("^%x+$") ~= nil
end

---@param text string
---@return table?
local function decode(text)
  local ok, value = pcall(vim.json.decode, text)
  return ok and type(value) == "table" and value or nil
end

---@param path string
---@return string?
local function read(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local text = file:read("*a")
  file:close()
  return text
end

---The release that this version of the plugin pins.
---@return hermes.Release?
---@return string? err
function M.release()
  local path = vim.fs.joinpath(require("hermes.core.host").root(), "release.json")
  local text = read(path)
  if not text then
    return nil, "this version of the plugin has no release; build the host with Go: :Hermes build"
  end
  local release = decode(text)
  if not release or not is_name(release.version) or not is_digest(release.manifest) then
    return nil, path .. " is damaged; update the plugin"
  end
  if release.protocol ~= require("hermes.core.rpc").PROTOCOL then
    return nil,
      (
        "this version of the plugin is newer than the release %s; "
        .. "check out a release, or build the host with Go: :Hermes build"
      ):format(release.version)
  end
  return release
end

---@return string such as "linux-amd64"
local function platform()
  local system = uv.os_uname()
  local os = vim.fn.has("win32") == 1 and "windows" or system.sysname:lower()
  local arch = system.machine:lower()
  return os .. "-" .. (({ x86_64 = "amd64", aarch64 = "arm64" })[arch] or arch)
end

---@return string folder of the programs that are installed
local function bin()
  return vim.fs.joinpath(require("hermes.core.host").root(), "bin")
end

---@param data string
---@param file hermes.ReleaseFile
---@param name string
---@param why? string when it is something else
local function verify(data, file, name, why)
  if file.size and file.size ~= #data then
    task.fail("%s was cut: it has %d of %d bytes", name, #data, file.size)
  end
  local digest = coroutine.yield(function(done)
    require("hermes.core.sha256").of(data, done)
  end)
  if digest ~= file.sha256 then
    task.fail(
      "%s is not what this version of the plugin pins: its SHA-256 is %s, not %s%s",
      name,
      digest,
      file.sha256,
      why or ""
    )
  end
end

---------------------------------------------------------------------------
-- Where the bytes come from.

---@alias hermes.Source fun(name: string, limit: integer, tell: fun(size: integer)): string, string

---@param url string
---@return string url for messages, without a password
local function shown(url)
  return (url:gsub("^(%a+://)[^/@]*@", "%1"))
end

---Downloads from the folder of a release. Another host than the first one may send the bytes,
---because servers of releases redirect to their stores, and because nothing is taken on trust.
---@param base string
---@param timeout integer
---@return hermes.Source
local function download(base, timeout)
  if vim.fn.executable("curl") ~= 1 then
    task.fail(
      "curl is not in PATH; download manifest.json and the archive for %s from %s "
        .. "and name that file: :Hermes install {file}",
      platform(),
      shown(base)
    )
  end
  local protocols = base:find("^https:") and "=https" or "=http,https"
  local seconds = tostring(math.max(1, math.ceil(timeout / 1000)))
  return function(name, limit, tell)
    local url = base .. "/" .. name
    local exceeded = false
    -- stylua: ignore
    local out = task.run({
      "curl", "--silent", "--show-error", "--fail", "--globoff",
      "--location", "--max-redirs", "10", "--proto", protocols, "--proto-redir", protocols,
      "--connect-timeout", seconds, "--speed-time", seconds, "--speed-limit", tostring(slowest),
      "--url", url,
    }, nil, function(size, kill)
      tell(size)
      if size > limit and not exceeded then
        exceeded = true
        kill()
      end
    end)
    if exceeded then
      task.fail("%s: more than the expected %d bytes came", shown(url), limit)
    elseif out.code ~= 0 then
      local reason = vim.trim(out.stderr):gsub("^curl: ", "")
      task.fail("%s: curl failed: %s", shown(url), reason ~= "" and reason or "code " .. out.code)
    end
    return out.stdout, shown(url)
  end
end

---Takes an archive that came by other means, and the manifest beside it.
---@param path string
---@return hermes.Source
local function offline(path)
  path = vim.fs.normalize(vim.fn.fnamemodify(path, ":p"), { expand_env = false })
  local folder = vim.fn.isdirectory(path) == 1 and path or vim.fs.dirname(path)
  return function(name, limit)
    local file = vim.fs.joinpath(folder, name)
    if name ~= "manifest.json" and folder ~= path then
      file = path
    end
    local fd = task.must(file, uv.fs_open, file, "r", 0)
    local err, stat = task.call(uv.fs_fstat, fd)
    local data
    if not err and stat.size <= limit then
      err, data = task.call(uv.fs_read, fd, stat.size, 0)
    end
    uv.fs_close(fd)
    if err then
      task.fail("%s: %s", file, err)
    elseif not data then
      task.fail("%s: it has %d bytes, which is more than the expected %d", file, stat.size, limit)
    end
    return data, file
  end
end

---------------------------------------------------------------------------
-- From bytes to a program.

---@param manifest table
---@return hermes.ReleaseArchive
local function archive_of(manifest)
  local archives = type(manifest.archives) == "table" and manifest.archives or {}
  local archive = archives[platform()]
  if not archive then
    local names = vim.tbl_keys(archives)
    table.sort(names)
    task.fail(
      "the release has no host for %s, only for %s; build it with Go: :Hermes build",
      platform(),
      table.concat(names, ", ")
    )
  end
  local files = { archive }
  for _, name in ipairs(require("hermes.core.host").programs) do
    table.insert(files, type(archive.programs) == "table" and archive.programs[name] or {})
  end
  for _, file in ipairs(files) do
    if not is_name(file.path) or not is_digest(file.sha256) or type(file.size) ~= "number" then
      task.fail("manifest.json is damaged")
    end
  end
  return archive
end

---A program out of a verified archive. tar prints that one file and writes none.
---@param data string
---@param archive hermes.ReleaseArchive
---@param program hermes.ReleaseFile
---@return string
local function unpack_program(data, archive, program)
  if vim.fn.executable("tar") ~= 1 then
    task.fail("tar is not in PATH")
  end
  local out = task.run({ "tar", "-xzOf", "-", program.path }, data)
  if out.code ~= 0 or #out.stdout ~= program.size then
    task.fail("%s cannot be unpacked: %s", archive.path, vim.trim(out.stderr))
  end
  verify(out.stdout, program, program.path)
  return out.stdout
end

local serial = 0

---@param path string of a program
---@return string path of a new file in the same folder
local function beside(path)
  serial = serial + 1
  return vim.fs.joinpath(
    vim.fs.dirname(path),
    (".%d-%d-%s"):format(uv.os_getpid(), serial, vim.fs.basename(path))
  )
end

---Saves a program beside the previous one and runs it.
---@param path string where it will be
---@param data string
---@param release hermes.Release
---@return string path where it is
local function save(path, data, release)
  local temporary = beside(path)
  local fd = task.must(bin(), uv.fs_open, temporary, "wx", 448) -- 0700
  local err, written
  local offset = 0
  repeat
    err, written = task.call(uv.fs_write, fd, data:sub(offset + 1), offset)
    offset = offset + (written or 0)
  until err or offset == #data
  err = err or task.call(uv.fs_fchmod, fd, 493) -- 0755
  err = err or task.call(uv.fs_fsync, fd)
  uv.fs_close(fd)
  if err then
    task.fail("%s: %s", temporary, err)
  end
  local out = task.run({ temporary, "version" })
  if out.code ~= 0 or vim.trim(out.stdout) ~= release.version then
    task.fail("%s does not run here: %s", vim.fs.basename(path), vim.trim(out.stderr .. out.stdout))
  end
  return temporary
end

---Replaces a program.
---@param temporary string
---@param path string
local function replace(temporary, path)
  local err = task.call(uv.fs_rename, temporary, path)
  if err and uv.fs_lstat(path) then
    -- Windows does not replace a program that runs, but it renames it.
    local aside = beside(path)
    task.must(path, uv.fs_rename, path, aside)
    err = task.call(uv.fs_rename, temporary, path)
    if err then
      uv.fs_rename(aside, path)
    end
  end
  if err then
    task.fail("%s: %s", path, err)
  end
end

---Takes the programs out of a verified archive, and replaces the previous ones once all of them
---have run. The host is the last, so that it is never newer than what comes with it.
---@param data string
---@param archive hermes.ReleaseArchive
---@param release hermes.Release
local function save_all(data, archive, release)
  if not uv.fs_stat(bin()) then
    task.must(bin(), uv.fs_mkdir, bin(), 493) -- 0755
  end
  local host, temporaries = require("hermes.core.host"), {}
  for i, name in ipairs(host.programs) do
    local program = unpack_program(data, archive, archive.programs[name])
    temporaries[i] = save(host.path(name), program, release)
  end
  for i = #temporaries, 1, -1 do
    replace(temporaries[i], host.path(host.programs[i]))
  end
end

---Removes the files of unfinished installations, of this Neovim and of Neovims that are gone.
local function sweep()
  for name in vim.fs.dir(bin()) do
    local pid = tonumber(name:match("^%.(%d+)%-%d+%-hermes"))
    if pid then
      local _, _, problem = uv.kill(pid, 0)
      if pid == uv.os_getpid() or problem == "ESRCH" then
        uv.fs_unlink(vim.fs.joinpath(bin(), name))
      end
    end
  end
end

---@param version string
---@return boolean whether all programs are here and of this version
local function is_installed(version)
  local host = require("hermes.core.host")
  for _, name in ipairs(host.programs) do
    local out = task.run({ host.path(name), "version" })
    if out.code ~= 0 or vim.trim(out.stdout) ~= version then
      return false
    end
  end
  return true
end

---@param opts hermes.InstallOpts
---@return hermes.Installed
local function install(opts)
  local log = require("hermes.core.log")
  local release, err = M.release()
  if not release then
    task.fail(err)
  end
  local config = require("hermes.core.config").get().host
  if config.cmd then
    task.fail("setup{host={cmd}} names another host, %q; remove it first", config.cmd[1])
  end
  local result = {
    version = release.version,
    path = require("hermes.core.host").path("hermes"),
    unchanged = true,
  }
  if opts.update and is_installed(release.version) then
    return result
  end
  sweep()
  local base = config.url:gsub("/+$", "") .. "/" .. release.version
  local source = opts.file and offline(opts.file) or download(base, opts.timeout or default_timeout)
  log.notify(
    vim.log.levels.INFO,
    ("installing the host %s from %s …"):format(release.version, opts.file or shown(base))
  )

  local text, origin = source("manifest.json", max_manifest, function() end)
  local page = text:find("^%s*<") and "; it is a web page, perhaps of a login or a proxy"
  verify(text, { sha256 = release.manifest }, origin, page)
  local archive = archive_of(decode(text) or {})

  local told = uv.now()
  local data
  data, origin = source(archive.path, archive.size, function(size)
    if uv.now() - told >= telling_every then
      told = uv.now()
      vim.schedule(function()
        local megabytes = ("%.1f of %.1f MB"):format(size / 1e6, archive.size / 1e6)
        log.show(
          vim.log.levels.INFO,
          ("installing the host %s: %s"):format(release.version, megabytes)
        )
      end)
    end
  end)
  verify(data, archive, origin)
  save_all(data, archive, release)
  result.unchanged = false
  return result
end

local busy = false

---@class hermes.Installed
---@field version string
---@field path string of the program
---@field unchanged boolean it was there already

---@class hermes.InstallOpts
---@field file? string an archive that came by other means, with manifest.json beside it, or their
---folder; nothing is downloaded then
---@field update? boolean do nothing if the release is installed already
---@field timeout? integer milliseconds without an answer, or with less than 1000 bytes a second,
---after which a download fails; default 30000
---@field on_done? fun(err: hermes.Error?, result: hermes.Installed?)

---Installs the release that this version of the plugin pins.
---@param opts hermes.InstallOpts
---@return string id
function M.start(opts)
  local rpc = require("hermes.core.rpc")
  local id = rpc.new_id("op")
  return rpc.call("install", function()
    local function finish(err, result)
      rpc.finish(id, err and { kind = "install", message = err }, result)
    end
    vim.schedule(function()
      if busy then
        return finish("an installation is already running")
      end
      busy = true
      task.start(function()
        return install(opts)
      end, function(err, result)
        busy = false
        sweep()
        if result then
          require("hermes.core.log").notify(
            vim.log.levels.INFO,
            ("the host %s is %s"):format(
              result.version,
              result.unchanged and "already installed" or "installed"
            )
          )
        end
        finish(err, result)
      end)
    end)
  end, { method = "install", on_done = opts.on_done }, id)
end

---Removes the programs below the plugin's folder, and what installations have left.
---@return string? err
function M.clean()
  sweep()
  local host, failed = require("hermes.core.host"), nil
  for _, name in ipairs(host.programs) do
    local ok, err, kind = uv.fs_unlink(host.path(name))
    failed = failed or not ok and kind ~= "ENOENT" and err or nil
  end
  return failed
end

return M
