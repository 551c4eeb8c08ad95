---:checkhealth hermes
local M = {}

---Runs a program to its end.
---@param program string
---@param ... string arguments
---@return string? out
---@return string? err
---@return string? said its own words
local function ask(program, ...)
  local ok, out = pcall(function(...)
    return vim.system({ program, ... }, { text = true, timeout = 5000 }):wait()
  end, ...)
  if not ok or out.code ~= 0 then
    local said = require("hermes.text").line(ok and vim.trim(out.stderr) or out, 400)
    return nil, ("%s cannot be run: %s"):format(program, said), said
  end
  return vim.trim(out.stdout)
end

---Asks the host's program for its version or the presets.
---@param ... string arguments of the program
---@return string? out
---@return string? err
---@return string? said its own words
local function ask_host(...)
  local cmd, err = require("hermes.host").command()
  if not cmd then
    return nil, err
  end
  return ask(cmd[1], ...)
end

---@return { name: string, command: string, install?: string, why?: string, protocol?: string }[]
local function agents()
  local list = {}
  local out = ask_host("agents")
  for line in vim.gsplit(out or "", "\n", { trimempty = true }) do
    local parts = vim.split(line, "\t", { plain = true })
    list[parts[1]] =
      { name = parts[1], command = parts[2], install = parts[3] or "", why = parts[4] or "" }
  end
  for name, agent in pairs(require("hermes.config").get().agents) do
    list[name] = vim.tbl_extend("force", list[name] or { name = name, command = "" }, {
      command = agent.command,
      install = agent.command and "" or nil,
      why = agent.command and "" or nil,
      protocol = agent.protocol,
      configured = true,
    })
  end
  local sorted = vim.tbl_values(list)
  table.sort(sorted, function(a, b)
    return a.name < b.name
  end)
  return sorted
end

---@return string[] names of the agents that connect() knows
function M.agent_names()
  return vim.tbl_map(function(agent)
    return agent.name
  end, agents())
end

local function check_neovim()
  local version = tostring(vim.version())
  if vim.fn.has("nvim-0.10") == 1 then
    vim.health.ok("Neovim " .. version)
  else
    vim.health.error("Neovim " .. version .. " is too old; Hermes needs 0.10 or newer")
  end
end

---Says which program is used, and whether it is the one of this plugin.
---@param name string
---@param path string
---@param version string
---@param release hermes.Release?
local function report_program(name, path, version, release)
  local released = release and release.version == version
  vim.health.ok(
    ("%s %s, version %s%s"):format(
      name,
      path,
      version,
      released and ", the release of this plugin" or ""
    )
  )
  if release and not released and version:find("^v%d+%.%d+%.%d+$") then
    vim.health.warn(
      ("%s is the release %s; the plugin pins %s"):format(name, version, release.version),
      "run :Hermes update"
    )
  end
end

local function check_host()
  local cmd, err = require("hermes.host").command()
  local release = require("hermes.install").release()
  if not cmd then
    return vim.health.error(err, {
      "with Go: :Hermes build",
      release and ("without: :Hermes install gets the release %s"):format(release.version),
    })
  end
  local version, why = ask_host("version")
  if not version then
    return vim.health.error(why)
  end
  report_program("host", cmd[1], version, release)
  local running = require("hermes.rpc").info()
  if running and running.protocol ~= require("hermes.rpc").PROTOCOL then
    vim.health.error("the running host does not match the plugin", {
      "run :Hermes build and restart Neovim",
    })
  elseif running and running.version ~= version then
    vim.health.warn(
      ("the running host is version %s; restart Neovim to use %s"):format(running.version, version)
    )
  end
end

---Says which program the agent "hermes" is. It comes with the host.
local function check_hermes_agent()
  local agent = vim.iter(agents()):find(function(agent)
    return agent.name == "hermes"
  end)
  if not agent or not vim.fs.basename(agent.command):find("^hermes%-agent") then
    return -- setup{agents={hermes}} names another one
  elseif vim.fn.executable(agent.command) ~= 1 then
    return vim.health.info("hermes-agent is not installed: " .. agent.install)
  end
  local path = vim.fn.exepath(agent.command)
  local version, why = ask(path, "version")
  if not version then
    return vim.health.error(why)
  end
  report_program("hermes-agent", path, version, (require("hermes.install").release()))
end

---@param n integer
---@param what string
---@return string
local function count(n, what)
  return ("%d %s%s"):format(n, what, n == 1 and "" or "s")
end

local function check_connections()
  local hermes = require("hermes")
  local connected = hermes.connections()
  if #connected == 0 then
    vim.health.info("no agent is connected")
  end
  for _, agent in ipairs(connected) do
    local sessions = #hermes.sessions({ agent = agent.name })
    vim.health.info(
      ("%s: %s, %s, %s"):format(
        require("hermes.text").line(agent.name, 60),
        agent.state,
        count(sessions, "session"),
        agent.sandbox and "confined" or "not confined"
      )
    )
  end
  local waiting = #hermes.pending()
  if waiting > 0 then
    vim.health.warn(
      ("%s %s for an answer; see :Hermes pending"):format(
        count(waiting, "request"),
        waiting == 1 and "waits" or "wait"
      )
    )
  end
end

---Whether the program is there that an agent of Hermes itself watches.
---@param agent { name: string, configured?: boolean }
---@return boolean
local function runs(agent)
  return agent.name ~= "claude-terminal" or agent.configured or vim.fn.executable("claude") == 1
end

local function check_agents()
  local npm = false
  for _, agent in ipairs(agents()) do
    npm = npm or vim.startswith(agent.install or "", "npm ")
    if agent.protocol and agent.protocol ~= "stdio" then
      vim.health.ok(("%s: runs elsewhere, reached by %s"):format(agent.name, agent.protocol))
    elseif vim.fn.executable(agent.command) == 1 and runs(agent) then
      local why = (agent.why or "") ~= "" and (" (%s)"):format(agent.why) or ""
      vim.health.ok(("%s: %s%s"):format(agent.name, vim.fn.exepath(agent.command), why))
    elseif agent.configured then
      vim.health.error(
        ("%s: %s is not in PATH"):format(agent.name, agent.command),
        agent.install ~= "" and agent.install or nil
      )
    else
      vim.health.info(("%s: not installed (%s)"):format(agent.name, agent.install or ""))
    end
  end
  if npm and vim.fn.executable("npm") == 0 then
    vim.health.info("npm is not in PATH; install Node.js to install agents with it")
  end
end

local function check_sandbox()
  local wanted = require("hermes.config").get().sandbox
  local lacks, err = ask_host("confine", "--check")
  if err then
    return vim.health.info("it is not known whether agents can be confined: " .. err)
  elseif lacks == "" then
    return vim.health.ok("this system can confine agents: `sandbox`, see :help hermes-sandbox")
  end
  for lack in vim.gsplit(lacks, "\n", { trimempty = true }) do
    local report = wanted and vim.health.warn or vim.health.info
    report("agents cannot be confined completely: " .. lack)
  end
end

function M.check()
  vim.health.start("hermes")
  check_neovim()
  check_host()
  check_hermes_agent()
  vim.health.info(
    "logs: " .. require("hermes.log").path() .. ", " .. require("hermes.log").host_path()
  )
  vim.health.start("hermes: connections")
  check_connections()
  vim.health.start("hermes: sandbox")
  check_sandbox()
  vim.health.start("hermes: agents in a terminal")
  require("hermes.program.health").check(function(...)
    local out, err, said = ask_host(...)
    return out, said or err
  end)
  vim.health.start("hermes: agents")
  check_agents()
end

return M
