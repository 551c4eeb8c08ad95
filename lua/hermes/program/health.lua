---What :checkhealth says about programs in terminals.
local M = {}

local function check_tmux()
  local tmux, done = require("hermes.program.tmux"), false
  if not tmux.here() and require("hermes.core.config").get().shim.terminal ~= "tmux" then
    return vim.health.info("Neovim does not run in tmux: agents open in terminal buffers")
  end
  require("hermes.core.async").run(tmux.check, function(err, version)
    done = true
    if err then
      vim.health.warn("agents cannot open in panes: " .. err.message)
    else
      vim.health.ok(("tmux %s: agents open in panes"):format(version))
    end
  end)
  vim.wait(10000, function()
    return done
  end, 10)
end

---Asks the program of an agent, which is a part of Hermes, whether it can be used. It reports
---nothing about an agent whose program is missing and not wanted.
---@param agent { name: string, program: string, install: string, update: string }
---@param wanted boolean
---@param ask fun(...: string): string?, string? asks the program of the host
---@param ... string arguments
---@return string? out
local function check_agent(agent, wanted, ask, ...)
  local report = wanted and vim.health.error or vim.health.warn
  if vim.fn.executable(agent.program) == 1 then
    local out, err = ask(...)
    if not out then
      err = err:gsub("^hermes [%l-]+: ", "")
      report(("%s cannot be used: %s"):format(agent.name, err), agent.update)
    end
    return out
  elseif wanted then
    report(("%s: %s is not in PATH"):format(agent.name, agent.program), agent.install)
  end
end

local function check_shared(ask)
  local config = require("hermes.core.config").get().agents.codex or {}
  if config.command or config.protocol then
    return
  end
  local out = check_agent({
    name = "the terminal of Codex",
    program = "codex",
    install = "npm install -g @openai/codex, then codex login",
    update = "update it: npm install -g @openai/codex",
  }, config.shared ~= nil and config.shared ~= false, ask, "codex-agent", "--shared", "--check")
  if not out then
    return
  end
  local said = {}
  for key, value in (out .. "\n"):gmatch("(%l+): ([^\n]*)\n") do
    said[key] = value
  end
  local can = "%s can share its sessions with its terminal, see :help hermes-shared"
  vim.health.ok(can:format(said.codex))
  vim.health.info("shared sessions of Codex: " .. (said.sharing or "not known to this host"))
  if vim.startswith(said.login or "", "needed") then
    vim.health.warn("Codex has no account", "run codex login in a shell")
  end
end

local function check_claude(ask)
  local config = require("hermes.core.config").get().agents["claude-terminal"]
  if config and (config.command or config.protocol) then
    return
  end
  local words = vim.list_slice(config and config.args or { "claude-hooks" })
  words[#words + 1] = "--check"
  local out = check_agent({
    name = "Claude Code in a terminal",
    program = "claude",
    install = "npm install -g @anthropic-ai/claude-code, then log in with claude",
    update = "update it: claude update",
  }, config ~= nil, ask, unpack(words))
  if out then
    local version = out:match("^claude: (%S+)")
    vim.health.ok(("Claude Code %s reports to Neovim, see :help hermes-claude"):format(version))
  end
end

---@param ask fun(...: string): string?, string? asks the program of the host
function M.check(ask)
  check_tmux()
  check_shared(ask)
  check_claude(ask)
end

return M
