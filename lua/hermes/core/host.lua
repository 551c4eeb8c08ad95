---Finds and builds the host, the Go program behind Hermes.
local M = {}

local windows = vim.fn.has("win32") == 1

local root = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h:h")
root = windows and root:gsub("\\", "/") or root

---@return string folder of the plugin
function M.root()
  return root
end

---The programs in the folder bin: the host, and the agent that comes with it.
M.programs = { "hermes", "hermes-agent" }

---@param name string one of M.programs
---@return string path in the plugin's folder
function M.path(name)
  return vim.fs.joinpath(root, "bin", windows and name .. ".exe" or name)
end

---The location of the host: setup{host={cmd}}, bin/hermes in the plugin's folder, or hermes in
---PATH.
---@return string[]? cmd
---@return string? err
function M.command()
  local cmd = require("hermes.core.config").get().host.cmd
  if cmd then
    if vim.fn.executable(cmd[1]) ~= 1 then
      return nil, ("cannot run the host %q; setup{host={cmd}} names it"):format(tostring(cmd[1]))
    end
    return vim.deepcopy(cmd)
  end
  for _, program in ipairs({ M.path("hermes"), "hermes" }) do
    if vim.fn.executable(program) == 1 then
      return { program, "host" }
    end
  end
  return nil, "the host is missing; run :Hermes build, or :Hermes install if you do not have Go"
end

---Says why the host cannot be built here. Go may fetch a newer Go by itself.
---@param on_done fun(problem: string?)
local function check_go(on_done)
  local needed ---@type string
  for line in io.lines(vim.fs.joinpath(root, "go.mod")) do
    needed = needed or line:match("^go (%d+%.%d+)")
  end
  local problem = ("Go %s or newer is not in PATH"):format(needed)
  if vim.fn.executable("go") ~= 1 then
    return on_done(problem)
  end
  vim.system({ "go", "env", "GOVERSION" }, { cwd = root, text = true }, function(out)
    vim.schedule(function()
      local version = out.stdout:match("%d+%.%d+[%d.]*")
      if out.code ~= 0 then
        on_done(("%s: %s"):format(problem, vim.trim(out.stderr)))
      elseif version and vim.version.lt(version, needed) then
        on_done(("%s, only Go %s"):format(problem, version))
      else
        on_done(nil)
      end
    end)
  end)
end

---Builds the host and hermes-agent in the plugin's folder. Without Go, installs the release.
---@param on_done? fun(err: string?, installed: hermes.Installed?)
function M.build(on_done)
  local log = require("hermes.core.log")
  on_done = on_done or function() end
  local function finish(err)
    log.notify(err and vim.log.levels.ERROR or vim.log.levels.INFO, err or "the host is built")
    on_done(err)
  end
  check_go(function(problem)
    if problem then
      log.notify(vim.log.levels.WARN, problem .. "; installing the host instead of building it")
      require("hermes.core.install").start({
        update = true,
        on_done = function(err, result)
          if err then
            log.show(vim.log.levels.ERROR, err.message)
          end
          on_done(err and err.message, result)
        end,
      })
      return
    end
    log.notify(vim.log.levels.INFO, "building the host …")
    local cmd =
      { "go", "build", "-trimpath", "-o", "bin/", "./tools/hermes", "./tools/hermes-agent" }
    -- Like a release. Without C libraries to load, it starts sooner.
    require("hermes.core.quit").add_process(
      vim.system(cmd, { cwd = root, text = true, env = { CGO_ENABLED = "0" } }, function(out)
        vim.schedule(function()
          finish(out.code ~= 0 and ("go build failed: " .. vim.trim(out.stderr)) or nil)
        end)
      end)
    )
  end)
end

---The output of a program, or nil if it fails.
---@param cmd string[]
---@param on_done fun(text: string?)
local function output_of(cmd, on_done)
  local opts = { cwd = root } -- not the folder of a project
  require("hermes.core.exec").start(cmd, opts, function(out)
    vim.schedule(function()
      on_done(out.code == 0 and vim.trim(out.stdout) or nil)
    end)
  end)
end

---Says which versions are here.
---@param on_done fun(text: string)
function M.describe(on_done)
  local git = { "git", "--git-dir", vim.fs.joinpath(root, ".git"), "--work-tree", root }
  vim.list_extend(git, { "describe", "--tags", "--always", "--dirty" })
  output_of(git, function(checkout)
    local release = require("hermes.core.install").release()
    local cmd = M.command()
    local function finish(host)
      on_done(
        ("plugin %s, host %s, protocol %d, Neovim %s"):format(
          checkout or release and release.version or "unknown",
          host or cmd and "does not run" or "missing",
          require("hermes.core.rpc").PROTOCOL,
          vim.version()
        )
      )
    end
    if cmd then
      output_of({ cmd[1], "version" }, finish)
    else
      finish()
    end
  end)
end

---Runs a program to its end.
---@param program string
---@param ... string arguments
---@return string? out
---@return string? err
---@return string? said the program's own message
function M.ask(program, ...)
  -- Not in the folder of a project.
  local out = require("hermes.core.exec").wait({ program, ... }, { cwd = M.root() })
  if out.code ~= 0 then
    local said = require("hermes.core.text").line(vim.trim(out.stderr), 400)
    return nil, ("%s cannot be run: %s"):format(program, said), said
  end
  return vim.trim(out.stdout)
end

---Asks the host's program for its version or the presets.
---@param ... string arguments of the program
---@return string? out
---@return string? err
---@return string? said the program's own message
function M.query(...)
  local cmd, err = M.command()
  if not cmd then
    return nil, err
  end
  return M.ask(cmd[1], ...)
end

return M
