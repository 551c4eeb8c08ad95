-- Installing the host of a release, from a server on this machine that answers well and badly. The
-- hosts here are shell scripts. tools/release tests the same with real ones.

local uv = vim.uv
local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local plugin = vim.fs.dirname(vim.fs.dirname(here))
local eq = MiniTest.expect.equality
local pace = dofile(plugin .. "/test/pace.lua")
local patience = 30000

---@param path string
---@param data string
local function write(path, data)
  local file = assert(io.open(path, "wb"))
  file:write(data)
  file:close()
end

---@param path string
---@return string
local function read(path)
  local file = assert(io.open(path, "rb"))
  local data = file:read("*a")
  file:close()
  return data
end

---@return string data
local function run(...)
  local out = vim.system({ ... }):wait()
  assert(out.code == 0, out.stderr)
  return out.stdout
end

---@param what string
---@param is fun(): any
local function wait_for(what, is)
  assert(vim.wait(patience, is, 5), "no " .. what)
end

local scratch = uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. uv.hrtime()
local root = scratch .. "/hermes" -- the plugin's folder
local serial = 0

---@return string folder that is new
local function folder()
  serial = serial + 1
  local path = ("%s/%d"):format(scratch, serial)
  vim.fn.mkdir(path, "p")
  return path
end

---@param data string
---@return string
local function sha256(data)
  local path = folder() .. "/data"
  write(path, data)
  return run("sha256sum", path):match("^%x+")
end

---------------------------------------------------------------------------
-- The server. A test sets how it answers.

---@alias Client { send: fun(data: string), close: fun() }

local answer ---@type fun(client: Client, path: string)
local requests = {} ---@type string[]

---@return string address
local function serve()
  local server = assert(uv.new_tcp())
  assert(server:bind("127.0.0.1", 0))
  server:listen(16, function()
    local socket, text = uv.new_tcp(), ""
    server:accept(socket)
    local client = {
      send = function(data)
        if not socket:is_closing() then
          socket:write(data, function() end)
        end
      end,
      close = function()
        if not socket:is_closing() then
          socket:shutdown(function()
            if not socket:is_closing() then
              socket:close()
            end
          end)
        end
      end,
      closed = function()
        return socket:is_closing()
      end,
    }
    socket:read_start(function(_, data)
      if not data then
        return socket:is_closing() or socket:close()
      end
      text = text .. data
      if text:find("\r\n\r\n", 1, true) then
        local path = text:match("^GET (%S+)")
        text = ""
        table.insert(requests, path)
        answer(client, path)
      end
    end)
  end)
  return "127.0.0.1:" .. server:getsockname().port
end

local address = serve()

---@param client Client
---@param body string
---@param status? string
---@param headers? string
local function respond(client, body, status, headers)
  client.send(
    ("HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n%s\r\n"):format(
      status or "200 OK",
      #body,
      headers or ""
    ) .. body
  )
  client.close()
end

---@class Published a release on the server
---@field version string
---@field program string
---@field agent string
---@field name string of the archive
---@field archive string
---@field manifest string

---@param published Published
---@return fun(client: Client, path: string)
local function right(published)
  return function(client, path)
    local file = path:match("/" .. vim.pesc(published.version) .. "/([^/]+)$")
    if file == "manifest.json" then
      respond(client, published.manifest)
    elseif file == published.name then
      respond(client, published.archive)
    else
      respond(client, "not found", "404 Not Found")
    end
  end
end

--- Answers as the release does, but not to one request.
---@param published Published
---@param which "manifest"|"archive"
---@param fn fun(client: Client, path: string)
local function wrong(published, which, fn)
  local rest = right(published)
  return function(client, path)
    if (which == "manifest") == (path:find("manifest.json", 1, true) ~= nil) then
      return fn(client, path)
    end
    rest(client, path)
  end
end

local system = uv.os_uname()
local platform = system.sysname:lower()
  .. "-"
  .. (({ x86_64 = "amd64", aarch64 = "arm64" })[system.machine] or system.machine)

--- Makes a release and pins it.
---@param change? table
---@return Published
local function publish(change)
  change = change or {}
  local version = change.version or "v9.9.9"
  local program = change.program or ("#!/bin/sh\necho %s\n"):format(version)
  local agent = change.agent or ("#!/bin/sh\necho %s # agent\n"):format(version)
  local dir, name = folder(), ("hermes-%s-%s"):format(version, platform)
  vim.fn.mkdir(dir .. "/" .. name)
  write(dir .. "/" .. name .. "/hermes", program)
  write(dir .. "/" .. name .. "/hermes-agent", agent)
  local members =
    vim.list_extend({ name .. "/hermes", name .. "/hermes-agent" }, change.members or {})
  run("tar", "-czPf", dir .. "/archive", "-C", dir, unpack(members))
  local archive = read(dir .. "/archive")
  local function described(file, text)
    return { path = name .. "/" .. file, size = #text, sha256 = sha256(text) }
  end
  local published = {
    version = version,
    program = program,
    agent = agent,
    name = name .. ".tar.gz",
    archive = archive,
    manifest = vim.json.encode({
      version = version,
      archives = {
        [change.platform or platform] = {
          path = name .. ".tar.gz",
          size = #archive,
          sha256 = sha256(archive),
          programs = change.programs or {
            hermes = described("hermes", change.promised or program),
            ["hermes-agent"] = described("hermes-agent", change.promised_agent or agent),
          },
        },
      },
    }),
  }
  write(
    root .. "/release.json",
    vim.json.encode({
      version = version,
      protocol = change.protocol or require("hermes.core.rpc").PROTOCOL,
      go = "go1.26",
      manifest = change.pinned or sha256(published.manifest),
    })
  )
  answer = right(published)
  return published
end

---------------------------------------------------------------------------
-- The Neovim that installs.

local before = "#!/bin/sh\necho v0.0.1\n" -- the programs that are there
local both = { "hermes", "hermes-agent" }

local function start(child)
  child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
  child.lua(
    [[vim.cmd.runtime("plugin/hermes.lua")
    _G.notes = {}
    vim.notify = function(text) notes[#notes + 1] = text end
    require("hermes").setup({ host = { url = "http://" .. ... .. "/releases/" } })]],
    { address }
  )
end

--- Starts to install; the end is in `ended`.
local function begin(child, opts)
  child.lua(
    [[_G.ended = nil
    local opts = ...
    opts.on_done = function(err, result)
      _G.ended = { err and err.message or false, result or false, err and err.kind }
    end
    _G.id = require("hermes").install(opts)]],
    { opts or vim.empty_dict() }
  )
end

---@return string|false err
---@return table|false result
---@return string? kind
local function finish(child)
  wait_for("end of the installation", function()
    return child.lua_get("ended ~= nil")
  end)
  return unpack(child.lua_get("ended"))
end

---@return string[] names of all files in bin/
local function files()
  local names = {}
  for name in vim.fs.dir(root .. "/bin") do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

--- The programs are what they were, and nothing else is there.
local function untouched()
  eq(files(), both)
  eq({ read(root .. "/bin/hermes"), read(root .. "/bin/hermes-agent") }, { before, before })
end

--- The programs are those of a release.
---@param published Published
local function installed(published)
  eq(read(root .. "/bin/hermes"), published.program)
  eq(read(root .. "/bin/hermes-agent"), published.agent)
end

local function has(text, part)
  eq(tostring(text):find(part, 1, true) and part or text, part)
end

describe("installing the host", function()
  local child = MiniTest.new_child_neovim()

  local function install(opts)
    begin(child, opts)
    return finish(child)
  end

  local function noted(part)
    wait_for("message " .. part, function()
      return table.concat(child.lua_get("notes"), "\n"):find(part, 1, true) ~= nil
    end)
  end

  before_each(function()
    vim.fn.delete(root, "rf")
    vim.fn.mkdir(root .. "/bin", "p")
    for _, name in ipairs({ "lua", "plugin", "doc", "go.mod" }) do
      assert(uv.fs_symlink(plugin .. "/" .. name, root .. "/" .. name))
    end
    for _, program in ipairs(both) do
      write(root .. "/bin/" .. program, before)
      assert(uv.fs_chmod(root .. "/bin/" .. program, 493))
    end
    requests = {}
    if not child.is_running() then
      start(child)
    end
    child.lua("_G.notes = {}")
  end)

  it("downloads, verifies, and replaces the host", function()
    local published = publish()
    child.lua([[local ffi = require("ffi")
    ffi.cdef("unsigned umask(unsigned)")
    ffi.C.umask(63) -- 077]])
    local err, result = install()
    eq(err, false)
    eq(result, { version = "v9.9.9", path = root .. "/bin/hermes", unchanged = false })
    eq(files(), both)
    installed(published)
    eq(uv.fs_stat(root .. "/bin/hermes").mode % 512, 493)
    eq(requests, {
      "/releases/v9.9.9/manifest.json",
      "/releases/v9.9.9/" .. published.name,
    })
    noted("installing the host v9.9.9 from http://127.0.0.1")
    noted("the host v9.9.9 is installed")
  end)

  it("makes the folder of the host", function()
    vim.fn.delete(root .. "/bin", "rf")
    publish()
    eq(
      { install() },
      { false, { version = "v9.9.9", path = root .. "/bin/hermes", unchanged = false } }
    )
  end)

  -- What the server does, and what the message says.
  local bad = {
    {
      "a manifest that is not the pinned one",
      function(published)
        return wrong(published, "manifest", function(client)
          respond(client, (published.manifest:gsub("v9", "v8")))
        end)
      end,
      "manifest.json is not what this version of the plugin pins",
    },
    {
      "a page that asks for a login",
      function(published)
        return wrong(published, "manifest", function(client)
          respond(client, "<!DOCTYPE html><form>Log in</form>")
        end)
      end,
      "it is a web page, perhaps of a login or a proxy",
    },
    {
      "a manifest without end",
      function(published)
        return wrong(published, "manifest", function(client)
          respond(client, (" "):rep(70000))
        end)
      end,
      "more than the expected 65536 bytes came",
    },
    {
      "no manifest",
      function(published)
        return wrong(published, "manifest", function(client)
          respond(client, "no", "404 Not Found")
        end)
      end,
      "/releases/v9.9.9/manifest.json: curl failed: (22)",
    },
    {
      "no archive",
      function(published)
        return wrong(published, "archive", function(client)
          respond(client, "no", "500 Internal Server Error")
        end)
      end,
      ".tar.gz: curl failed: (22)",
    },
    {
      "an archive that was changed",
      function(published)
        return wrong(published, "archive", function(client)
          respond(client, published.archive:sub(1, -2) .. "x")
        end)
      end,
      ".tar.gz is not what this version of the plugin pins",
    },
    {
      "an archive that is cut, and says how long it is",
      function(published)
        return wrong(published, "archive", function(client)
          local size = #published.archive
          client.send(("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"):format(size))
          client.send(published.archive:sub(1, size / 2))
          client.close()
        end)
      end,
      "curl failed: (18)",
    },
    {
      "an archive that is cut, and does not say how long it is",
      function(published)
        return wrong(published, "archive", function(client)
          client.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
          client.send(published.archive:sub(1, 10))
          client.close()
        end)
      end,
      "was cut: it has 10 of ",
    },
    {
      "an archive without end",
      function(published)
        return wrong(published, "archive", function(client)
          client.send("HTTP/1.1 200 OK\r\n\r\n")
          local timer = uv.new_timer()
          timer:start(0, 1, function()
            client.send(("x"):rep(10000))
            if client.closed() then
              timer:stop()
            end
          end)
        end)
      end,
      "more than the expected",
    },
    {
      "a byte now and then",
      function(published)
        return wrong(published, "archive", function(client)
          client.send("HTTP/1.1 200 OK\r\n\r\n")
          local timer = uv.new_timer()
          timer:start(0, 100, function()
            client.send("x")
            if client.closed() then
              timer:stop()
            end
          end)
        end)
      end,
      "curl failed: (28)",
      { timeout = 1000 },
    },
    {
      "nothing",
      function(published)
        return wrong(published, "manifest", function() end)
      end,
      "curl failed: (28)",
      { timeout = 1000 },
    },
    {
      "a redirect to a file",
      function(published)
        write(scratch .. "/manifest.json", published.manifest)
        return wrong(published, "manifest", function(client)
          local to = ("Location: file://%s/manifest.json\r\n"):format(scratch)
          respond(client, "", "302 Found", to)
        end)
      end,
      "curl failed: (1)",
    },
    {
      "redirects without end",
      function(published)
        return wrong(published, "manifest", function(client, path)
          respond(client, "", "302 Found", ("Location: %s\r\n"):format(path))
        end)
      end,
      "curl failed: (47)",
    },
    {
      "something that is not HTTP",
      function()
        return function(client)
          client.send("\1\2\3\27[31m\r\n\r\n")
          client.close()
        end
      end,
      "curl failed: ",
    },
  }
  it("leaves the host alone when the server sends", function()
    for _, row in ipairs(bad) do
      local name, how, message, opts = unpack(row)
      answer = how(publish())
      local err, result, kind = install(opts)
      eq({ name, err and err:find(message, 1, true) and message or err }, { name, message })
      eq({ name, result, kind }, { name, false, "install" })
      untouched()
    end
  end)

  it("leaves the host alone when the release is wrong", function()
    local outside = scratch .. "/outside"
    for message, change in pairs({
      ["/hermes is not what this version of the plugin pins"] = {
        promised = ("#!/bin/sh\necho %s\n"):format("v9.9.8"),
      },
      ["/hermes-agent is not what this version of the plugin pins"] = {
        promised_agent = ("#!/bin/sh\necho %s # agent\n"):format("v9.9.8"),
      },
      ["cannot be unpacked"] = { promised = "x" },
      ["hermes does not run here: v1.0.0"] = { program = "#!/bin/sh\necho v1.0.0\n" },
      ["hermes does not run here: broken"] = { program = "#!/bin/sh\necho broken >&2\nexit 1\n" },
      ["hermes does not run here"] = { program = "\127ELF no program" },
      ["hermes-agent does not run here: v1.0.0"] = { agent = "#!/bin/sh\necho v1.0.0\n" },
      ["hermes-agent does not run here"] = { agent = "\127ELF no program" },
      ["manifest.json is damaged"] = { programs = { hermes = "nothing" } },
      ["only for plan9-mips"] = { platform = "plan9-mips" },
      ["is newer than the release v9.9.9"] = { protocol = 1 },
      ["release.json is damaged"] = { pinned = "x" },
    }) do
      publish(change)
      local err = install()
      has(err, message)
      untouched()
    end
    write(outside, "mine")
    publish({ members = { outside } })
    write(outside, "still mine")
    eq((install()), false)
    eq({ read(outside), files() }, { "still mine", both })
  end)

  it("says that a checkout has no release", function()
    eq(uv.fs_stat(root .. "/release.json"), nil)
    has(install(), "has no release; build the host with Go")
    untouched()
  end)

  it("follows redirects to other servers", function()
    local published = publish()
    local rest = right(published)
    answer = function(client, path)
      if path:find("^/releases") then
        local other = address:gsub("127.0.0.1", "localhost")
        local to = ("Location: http://%s/store%s\r\n"):format(other, path)
        return respond(client, "", "302 Found", to)
      end
      rest(client, path)
    end
    eq((install()), false)
    installed(published)
  end)

  it("goes through a proxy, and names no password", function()
    local published = publish()
    child.lua(
      [[vim.env.http_proxy = "http://" .. ...
      require("hermes").setup({ host = { url = "http://me:secret@releases.invalid" } })]],
      { address }
    )
    local err = install()
    child.lua(
      [[vim.env.http_proxy = nil
      require("hermes").setup({ host = { url = "http://" .. ... .. "/releases" } })]],
      { address }
    )
    eq(err, false)
    eq(requests[1], "http://releases.invalid/v9.9.9/manifest.json")
    installed(published)
    noted("from http://releases.invalid/v9.9.9")
    eq(table.concat(child.lua_get("notes")):find("secret"), nil)
  end)

  it("takes an archive from the disk", function()
    local published = publish()
    local dir = folder()
    has(install({ file = dir }), "manifest.json: ENOENT")
    write(dir .. "/manifest.json", published.manifest)
    has(install({ file = dir }), ".tar.gz: ENOENT")
    write(dir .. "/archive", published.archive:sub(1, -2))
    has(install({ file = dir .. "/archive" }), "archive was cut")
    write(dir .. "/archive", published.archive:sub(1, -2) .. "x")
    has(install({ file = dir .. "/archive" }), "archive is not what this version")
    write(dir .. "/archive", published.archive .. "x")
    has(install({ file = dir .. "/archive" }), "more than the expected")
    write(dir .. "/manifest.json", published.manifest .. " ")
    has(install({ file = dir .. "/archive" }), "manifest.json is not what this version")
    untouched()

    write(dir .. "/manifest.json", published.manifest)
    write(dir .. "/archive", published.archive)
    eq((install({ file = dir .. "/archive" })), false)
    installed(published)
    write(root .. "/bin/hermes", before)
    write(dir .. "/" .. published.name, published.archive)
    eq((install({ file = dir })), false)
    eq({ read(root .. "/bin/hermes"), requests }, { published.program, {} })
  end)

  it("leaves nothing behind when Neovim is killed, and removes what others left", function()
    local published = publish()
    answer = wrong(published, "archive", function(client)
      client.send(("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"):format(#published.archive))
      client.send(published.archive:sub(1, 100))
    end)
    local other = MiniTest.new_child_neovim()
    start(other)
    begin(other)
    wait_for("request for the archive", function()
      return #requests == 2
    end)
    local pid = other.fn.getpid()
    uv.kill(pid, "sigkill")
    wait_for("end of Neovim", function()
      return select(3, uv.kill(pid, 0)) == "ESRCH"
    end)
    pcall(other.stop)
    untouched()

    -- One that was killed while it wrote, and one that still writes.
    write(root .. ("/bin/.%d-1-hermes"):format(pid), "half")
    local alive = (".%d-1-hermes"):format(uv.os_getpid())
    write(root .. "/bin/" .. alive, "half")
    answer = right(published)
    eq((install()), false)
    eq(files(), { alive, "hermes", "hermes-agent" })
  end)

  it("is not disturbed by another Neovim that installs", function()
    local published = publish()
    local waiting, rest = {}, right(published)
    answer = wrong(published, "archive", function(client, path)
      table.insert(waiting, function()
        rest(client, path)
      end)
    end)
    local other = MiniTest.new_child_neovim()
    start(other)
    begin(other)
    begin(child)
    wait_for("two downloads", function()
      return #waiting == 2
    end)
    waiting[1]()
    waiting[2]()
    eq({ (finish(other)), (finish(child)) }, { false, false })
    other.stop()
    eq(files(), both)
    installed(published)
  end)

  it("happens once at a time", function()
    local published = publish()
    local go_on
    answer = wrong(published, "archive", function(client, path)
      go_on = function()
        right(published)(client, path)
      end
    end)
    begin(child)
    wait_for("download", function()
      return go_on ~= nil
    end)
    child.lua(
      [[require("hermes").install({ on_done = function(err) _G.second = err.message end })]]
    )
    wait_for("second answer", function()
      return child.lua_get("second ~= nil")
    end)
    eq(child.lua_get("second"), "an installation is already running")
    go_on()
    eq((finish(child)), false)
  end)

  it("costs no frame", function()
    local program = "#!/bin/sh\necho v9.9.9\nexit\n"
      .. run("head", "-c", "12000000", "/dev/urandom")
    publish({ program = program })
    -- The time that this thread works at a stretch; the machine may have other things to do.
    child.lua([[local ffi = require("ffi")
    ffi.cdef("struct timespec { long sec, nsec; }; int clock_gettime(int, struct timespec *);")
    local time = ffi.new("struct timespec")
    local function worked()
      ffi.C.clock_gettime(jit.os == "OSX" and 16 or 3, time)
      return tonumber(time.sec) * 1e3 + tonumber(time.nsec) / 1e6
    end
    _G.longest, _G.last = 0, worked()
    _G.timer = vim.uv.new_timer()
    timer:start(0, 1, function()
      local now = worked()
      longest, last = math.max(longest, now - last), now
    end)]])
    begin(child)
    eq((finish(child)), false)
    child.lua("timer:stop()")
    local longest = child.lua_get("longest")
    eq(longest < pace.most_ms(100, child.lua) or longest, true)
    eq(#read(root .. "/bin/hermes"), #program)
  end)

  it("moves a program out of the way that cannot be replaced", function()
    vim.fn.delete(root .. "/bin/hermes")
    vim.fn.mkdir(root .. "/bin/hermes") -- as Windows refuses to replace a running program
    local published = publish()
    eq((install()), false)
    installed(published)
  end)

  it("fires the event of failed operations", function()
    child.lua([[require("hermes").once("RequestFailed", function(data) _G.failed = data end)]])
    install()
    local failed = child.lua_get("failed")
    eq({ failed.method, failed.kind, failed.opId }, { "install", "install", child.lua_get("id") })
  end)

  it("needs curl, tar, and a host that nobody has chosen", function()
    local path = child.lua_get("vim.env.PATH")
    local published = publish()
    local bin = folder()
    child.lua("vim.env.PATH = ...", { bin })
    local err = install()
    has(err, "curl is not in PATH; download manifest.json and the archive for " .. platform)
    has(err, "http://" .. address .. "/releases/v9.9.9")
    uv.fs_symlink(vim.fn.exepath("curl"), bin .. "/curl")
    has(install(), "tar is not in PATH")
    child.lua(
      [[vim.env.PATH = ...
    require("hermes").setup({ host = { cmd = { "/opt/hermes", "host" } } })]],
      { path }
    )
    has(install(), 'setup{host={cmd}} names another host, "/opt/hermes"')
    child.lua("require('hermes.core.config').get().host.cmd = nil")
    untouched()
    eq(published.version, "v9.9.9")
  end)

  it("is what :Hermes build does without Go", function()
    local path = child.lua_get("vim.env.PATH")
    local bin = folder()
    for _, name in ipairs({ "curl", "tar", "gzip", "sh" }) do
      uv.fs_symlink(vim.fn.exepath(name), bin .. "/" .. name)
    end
    child.lua("vim.env.PATH = ...", { bin })
    local published = publish()
    child.cmd("Hermes build")
    noted("Go 1.26 or newer is not in PATH; installing the host instead of building it")
    installed(published)

    write(bin .. "/go", "#!/bin/sh\necho go1.20.3\n")
    uv.fs_chmod(bin .. "/go", 493)
    publish({ version = "v9.9.10" })
    child.cmd("Hermes build")
    noted("Go 1.26 or newer is not in PATH, only Go 1.20.3; installing")
    noted("the host v9.9.10 is installed")

    vim.fn.delete(root .. "/release.json")
    child.cmd("Hermes build")
    noted("this version of the plugin has no release; build the host with Go")

    write(
      bin .. "/go",
      [[#!/bin/sh
      [ "$1" = env ] && { echo go1.99.0; exit; }
      for package; do
        case $package in ./tools/*) echo "$CGO_ENABLED $1" >bin/${package##*/} ;; esac
      done]]
    )
    child.cmd("Hermes build")
    noted("the host is built")
    eq(
      { read(root .. "/bin/hermes"), read(root .. "/bin/hermes-agent") },
      { "0 build\n", "0 build\n" }
    )
    child.lua("vim.env.PATH = ...", { path })
  end)

  it("goes on while the user types", function()
    local published = publish()
    local go_on
    answer = wrong(published, "archive", function(client, path)
      go_on = function()
        right(published)(client, path)
      end
    end)
    local screen = dofile(plugin .. "/test/screen.lua").start(root)
    screen:lua(
      [[vim.cmd.runtime("plugin/hermes.lua")
      require("hermes").setup({ host = { url = "http://" .. ... .. "/releases" } })]],
      address
    )
    screen:type(":Hermes install<CR>")
    screen:wait_for("download", function()
      return go_on
    end)
    screen:type("ithis is typed")
    screen:wait_for_text("this is typed")
    untouched()
    go_on()
    screen:wait_for("host", function()
      return read(root .. "/bin/hermes") == published.program
    end)
    screen:type(" and this")
    screen:wait_for_text("this is typed and this")
    screen:stop()
  end)

  it("has commands, which wait where nobody else would", function()
    local published = publish()
    child.cmd("Hermes install")
    installed(published)
    requests = {}
    child.cmd("Hermes update")
    noted("the host v9.9.9 is already installed")
    eq(requests, {})
    vim.fn.delete(root .. "/bin/hermes-agent") -- of a version that had none
    child.cmd("Hermes update")
    installed(published)
    requests = {}
    published = publish({ version = "v9.9.10" })
    child.cmd("Hermes update")
    installed(published)

    local dir = folder()
    write(dir .. "/manifest.json", published.manifest)
    write(dir .. "/" .. published.name, published.archive)
    write(root .. "/bin/hermes", before)
    requests = {}
    child.cmd("Hermes install " .. dir)
    eq({ read(root .. "/bin/hermes"), requests }, { published.program, {} })

    child.cmd("Hermes version")
    noted("plugin v9.9.10, host v9.9.10, protocol ")
    child.cmd("checkhealth hermes")
    local health = table.concat(child.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
    has(health, "version v9.9.10, the release of this plugin")
    publish({ version = "v9.9.11" })
    child.cmd("checkhealth hermes")
    health = table.concat(child.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
    has(health, "the plugin pins v9.9.11")

    child.cmd("Hermes clean")
    eq(files(), {})
    child.cmd("Hermes update")
    eq(files(), both)
    child.stop()
  end)
end)

describe("SHA-256", function()
  it("of any bytes is what other programs say", function()
    local sha = require("hermes.core.sha256")
    local function of(data)
      local digest
      sha.of(data, function(got)
        digest = got
      end)
      wait_for("digest", function()
        return digest ~= nil
      end)
      return digest
    end
    local all = ""
    for byte = 0, 255 do
      all = all .. string.char(byte)
    end
    local dir, sizes =
      folder(), { 0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 256, 1e6 }
    local paths = vim.tbl_map(function(size)
      local path = ("%s/%d"):format(dir, size)
      write(path, all:rep(math.ceil(size / 256)):sub(1, size))
      return path
    end, sizes)
    for line in vim.gsplit(run("sha256sum", unpack(paths)), "\n", { trimempty = true }) do
      local want, path = line:match("^(%x+) +(.+)$")
      eq({ path, of(read(path)) }, { path, want })
    end
  end)
end)
