---:checkhealth hermes
local M = {}

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
  local cmd, err = require("hermes.core.host").command()
  local release = require("hermes.core.install").release()
  if not cmd then
    return vim.health.error(err, {
      "with Go: :Hermes build",
      release and ("without: :Hermes install gets the release %s"):format(release.version),
    })
  end
  local version, why = require("hermes.core.host").query("version")
  if not version then
    return vim.health.error(why)
  end
  report_program("host", cmd[1], version, release)
  local running = require("hermes.core.rpc").info()
  if running and running.protocol ~= require("hermes.core.rpc").PROTOCOL then
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
  local agent = vim.iter((require("hermes.core.known_agents").list())):find(function(agent)
    return agent.name == "hermes"
  end)
  if not agent or not vim.fs.basename(agent.command):find("^hermes%-agent") then
    return -- setup{agents={hermes}} names another one
  elseif vim.fn.executable(agent.command) ~= 1 then
    return vim.health.info("hermes-agent is not installed: " .. agent.install)
  end
  local path = vim.fn.exepath(agent.command)
  local version, why = require("hermes.core.host").ask(path, "version")
  if not version then
    return vim.health.error(why)
  end
  report_program("hermes-agent", path, version, (require("hermes.core.install").release()))
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
        require("hermes.core.text").line(agent.name, 60),
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

--- The program that runs a script.
---@param path string of a program
---@return string? name nil if it is no script
local function interpreter(path)
  local line = require("hermes.core.disk").beginning(path, 256) or ""
  local words = vim.split(line:match("^#!%s*([^\r\n]*)") or "", "%s+", { trimempty = true })
  if words[1] and vim.fs.basename(words[1]) == "env" and vim.fn.executable(words[1]) == 1 then
    repeat -- its options, and variables
      table.remove(words, 1)
    until not words[1] or not words[1]:find("^%-") and not words[1]:find("=", 1, true)
  end
  return words[1]
end

--- The name of the missing program. The agent "codex" runs one of two programs; its hint installs
--- the one called codex.
---@param agent hermes.KnownAgent
---@return string
local function named(agent)
  local either = agent.command == "codex-acp" and agent.install ~= ""
  return agent.behind or either and "codex" or agent.command
end

local function check_agents()
  local npm = false
  local agents, unknown = require("hermes.core.known_agents").list()
  if unknown then
    vim.health.error("only the agents of setup() are known: " .. unknown)
  end
  for _, agent in ipairs(agents) do
    npm = npm or vim.startswith(agent.install or "", "npm ")
    if agent.protocol and agent.protocol ~= "stdio" then
      vim.health.ok(("%s: runs elsewhere, reached by %s"):format(agent.name, agent.protocol))
    elseif agent.installed then
      local why = (agent.why or "") ~= "" and (" (%s)"):format(agent.why) or ""
      local path = vim.fn.exepath(agent.command)
      local runner = interpreter(path)
      if runner and vim.fn.executable(runner) ~= 1 then
        local missing = "%s: %s cannot run, because its interpreter %s is not there"
        runner = require("hermes.core.text").line(runner, 60)
        vim.health.error(missing:format(agent.name, path, runner))
      else
        vim.health.ok(("%s: %s%s"):format(agent.name, path, why))
      end
    elseif agent.configured then
      vim.health.error(
        ("%s: %s is not in PATH"):format(agent.name, named(agent)),
        agent.install ~= "" and agent.install or nil
      )
    else
      -- Names of agents and of programs may be the same and mean different things.
      local program = vim.fs.basename(named(agent))
      vim.health.info(
        ("%s: %s is not installed (%s)"):format(agent.name, program, agent.install or "")
      )
    end
  end
  if npm and vim.fn.executable("npm") == 0 then
    vim.health.info("npm is not in PATH; install Node.js to install agents with it")
  end
end

local function check_sandbox()
  local wanted = require("hermes.core.config").get().sandbox
  local lacks, err = require("hermes.core.host").query("confine", "--check")
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
    "logs: " .. require("hermes.core.log").path() .. ", " .. require("hermes.core.log").host_path()
  )
  vim.health.start("hermes: connections")
  check_connections()
  vim.health.start("hermes: sandbox")
  check_sandbox()
  vim.health.start("hermes: agents in a terminal")
  require("hermes.program.health").check(function(...)
    local out, err, said = require("hermes.core.host").query(...)
    return out, said or err
  end)
  vim.health.start("hermes: agents")
  check_agents()
end

return M
