-- :checkhealth and :Hermes, with the real host. Needs bin/hermes (make build).

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

describe("health and the command", function()
  local child = MiniTest.new_child_neovim()

  before_each(function()
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua([[
      _G.notes = {}
      vim.notify = function(text) notes[#notes + 1] = text end]])
    child.cmd("runtime plugin/hermes.lua")
  end)
  after_each(child.stop)

  local function text()
    return table.concat(child.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  end

  local function has(what, part)
    eq(what:find(part, 1, true) and part or what, part)
  end

  local function noted(part)
    vim.wait(60000, function()
      return table.concat(child.lua_get("notes"), "\n"):find(part, 1, true) ~= nil
    end, 20)
    has(table.concat(child.lua_get("notes"), "\n"), part)
  end

  it("say that all is well", function()
    child.lua([[
      require("hermes").setup({
        agents = {
          here = { command = "sh" },
          gone = { command = "no-such-agent" },
          far = { protocol = "http", url = "http://localhost:1" },
        },
      })]])
    child.lua("vim.env.TMUX = nil")
    child.cmd("checkhealth hermes")
    has(text(), "Neovim 0.")
    has(text(), "Neovim does not run in tmux: agents open in terminal buffers")
    has(text(), "bin/hermes, version ")
    has(text(), "here: ")
    has(text(), "far: runs elsewhere, reached by http")
    has(text(), "gone: no-such-agent is not in PATH")
  end)

  it("say which agents lack what runs them", function()
    local dir = vim.fn.tempname()
    vim.fn.mkdir(dir, "p")
    local agents, lines =
      {}, {
        direct = "#! /no/such/runner -x",
        by_env = "#!/usr/bin/env -S A=b no-such-runner --flag",
        fine = "#!/usr/bin/env sh",
        plain = "#!/bin/sh",
      }
    for name, line in pairs(lines) do
      vim.fn.writefile({ line }, dir .. "/" .. name)
      vim.fn.setfperm(dir .. "/" .. name, "rwx------")
      agents[name] = { command = dir .. "/" .. name }
    end
    child.lua("require('hermes').setup({ agents = ... })", { agents })
    child.cmd("checkhealth hermes")
    for name, runner in pairs({ direct = "/no/such/runner", by_env = "no-such-runner" }) do
      local why = "cannot run, because its interpreter " .. runner .. " is not there"
      has(text(), ("%s: %s/%s %s"):format(name, dir, name, why))
    end
    for _, name in ipairs({ "fine", "plain" }) do
      has(text(), ("%s: %s/%s\n"):format(name, dir, name))
    end
  end)

  it("say which program codex is, and why", function()
    local dir = vim.fn.tempname()
    vim.fn.mkdir(dir, "p")
    for _, name in ipairs({ "codex", "codex-acp" }) do
      vim.fn.writefile({ "#!/bin/sh" }, dir .. "/" .. name)
      vim.fn.setfperm(dir .. "/" .. name, "rwx------")
    end
    child.lua("vim.env.PATH = ... .. ':' .. vim.env.PATH", { dir })
    child.cmd("checkhealth hermes")
    has(text(), "bin/hermes (codex is installed: Hermes speaks its app-server protocol")
    vim.fn.delete(dir .. "/codex")
    child.cmd("checkhealth hermes")
    has(text(), dir .. "/codex-acp (codex is not in PATH: codex-acp is used)")
  end)

  it("say which hermes-agent is used: the one beside the host, or the one in PATH", function()
    local beside, path = vim.fn.tempname(), vim.fn.tempname()
    for dir, version in pairs({ [beside] = "beside", [path] = "in-path" }) do
      vim.fn.mkdir(dir, "p")
      vim.fn.writefile({ "#!/bin/sh", "echo " .. version }, dir .. "/hermes-agent")
      vim.fn.setfperm(dir .. "/hermes-agent", "rwx------")
    end
    assert(vim.uv.fs_copyfile(root .. "/bin/hermes", beside .. "/hermes"))
    child.lua(
      [[vim.env.PATH = select(2, ...) .. ":" .. vim.env.PATH
      require("hermes").setup({ host = { cmd = { (...) .. "/hermes", "host" } } })]],
      { beside, path }
    )
    child.cmd("checkhealth hermes")
    has(text(), "hermes-agent " .. beside .. "/hermes-agent, version beside")
    has(text(), "hermes: " .. beside .. "/hermes-agent")
    vim.fn.delete(beside .. "/hermes-agent")
    child.cmd("checkhealth hermes")
    has(text(), "hermes-agent " .. path .. "/hermes-agent, version in-path")
    vim.fn.writefile({ "#!/bin/sh", "echo broken >&2; exit 1" }, path .. "/hermes-agent")
    child.cmd("checkhealth hermes")
    has(text(), path .. "/hermes-agent cannot be run: broken")
    child.lua([[require("hermes").setup({ agents = { hermes = { command = "no-such-agent" } } })]])
    child.cmd("checkhealth hermes")
    has(text(), "hermes: no-such-agent is not in PATH")
    eq(text():find("hermes-agent " .. path, 1, true), nil)
    eq(text():find("cannot be run: broken", 1, true), nil)
  end)

  it("say what keeps programs in terminals from working, if they are wanted or there", function()
    local dir = vim.fn.tempname()
    vim.fn.mkdir(dir, "p")
    local function program(name, script)
      vim.fn.writefile({ "#!/bin/sh", script }, dir .. "/" .. name)
      vim.fn.setfperm(dir .. "/" .. name, "rwx------")
    end
    child.lua("vim.env.PATH = ...", { dir })
    ---@param agents string
    local function look(agents)
      child.lua(([[require("hermes.core.config").reset()
        require("hermes").setup({ agents = %s })]]):format(agents))
      child.cmd("checkhealth hermes")
    end
    look("{}")
    eq(text():find("terminal of Codex"), nil)
    eq(text():find("Claude Code in a terminal"), nil)
    has(text(), "hermes-agent: hermes-acp is not installed (see https://hermes-agent.nous")
    has(text(), "claude-terminal: claude is not installed (npm install -g @anthropic-ai/claude-")
    look([[{ codex = { shared = true }, ["claude-terminal"] = {} }]])
    has(text(), "ERROR the terminal of Codex: codex is not in PATH")
    has(text(), "npm install -g @openai/codex, then codex login")
    has(text(), "ERROR Claude Code in a terminal: claude is not in PATH")
    has(text(), "npm install -g @anthropic-ai/claude-code, then log in with claude")
    has(text(), "ERROR claude-terminal: claude is not in PATH")
    program("codex", "echo broken >&2; exit 1")
    program("claude", "echo '2.1.90 (Claude Code)'")
    look("{}")
    has(text(), "WARNING the terminal of Codex cannot be used: codex: ")
    has(text(), "OK Claude Code 2.1.90 reports to Neovim, see :help |hermes-claude|")
    look([[{ codex = { shared = "manual" },
      ["claude-terminal"] = { args = { "claude-hooks", "--gate" } } }]])
    has(text(), "ERROR the terminal of Codex cannot be used: codex: ")
    has(text(), "update it: npm install -g @openai/codex")
    has(text(), "ERROR Claude Code in a terminal cannot be used: Claude Code 2.1.90 is too old")
    has(text(), "update it: claude update")
    look([[{ codex = { command = "sh" }, ["claude-terminal"] = { command = "sh" } }]])
    eq(text():find("terminal of Codex"), nil)
    eq(text():find("Claude Code in a terminal"), nil)
  end)

  it("say why agents cannot open in panes", function()
    child.lua([[vim.env.TMUX = nil
      require("hermes").setup({ shim = { terminal = "tmux" } })]])
    child.cmd("checkhealth hermes")
    has(text(), "agents cannot open in panes: Neovim does not run in tmux")
    child.lua([[require("hermes").setup({ shim = { terminal = "auto" } })]])
  end)

  it("say what is connected and what waits", function()
    child.cmd("checkhealth hermes")
    has(text(), "no agent is connected")
    child.lua([[_G.session = nil
      local hermes = require("hermes")
      hermes.setup({ defaults = { PermissionRequest = false }, sandbox = { best_effort = true } })
      hermes.connect("demo")
      hermes.create_session({ on_done = function(_, result)
        hermes.prompt(result.sessionId, "/edit note.txt")
      end })]])
    -- Before it asks, the agent reads the file, and that request waits for a moment too.
    vim.wait(60000, function()
      return child.lua_get([[(require("hermes").pending()[1] or {}).name]]) == "PermissionRequest"
    end, 20)
    child.cmd("checkhealth hermes")
    has(text(), "demo: ready, 1 session, confined")
    local whole = text():find("this system can confine agents", 1, true)
    local lacks = text():find("agents cannot be confined completely: ", 1, true)
    eq((whole or lacks) ~= nil, true)
    has(text(), "1 request waits for an answer; see :Hermes pending")
    child.lua([[local hermes = require("hermes")
      hermes.cancel(hermes.sessions()[1].sessionId)
      hermes.disconnect()]])
  end)

  it("say how to install agents that need npm where it is missing", function()
    child.lua([[local executable = vim.fn.executable
      vim.fn.executable = function(name) return name == "npm" and 0 or executable(name) end]])
    child.cmd("checkhealth hermes")
    has(text(), "npm is not in PATH; install Node.js to install agents with it")
  end)

  it("name each agent once, and no program as one that is there and is not", function()
    local agents = child.lua_get([[(require("hermes.core.known_agents").list())]])
    local all, some = vim.fn.tempname(), vim.fn.tempname()
    for i, agent in ipairs(agents) do
      for _, dir in ipairs(i % 2 == 0 and { all } or { all, some }) do
        local path = dir .. "/" .. vim.fs.basename(agent.command)
        vim.fn.mkdir(dir, "p")
        vim.fn.writefile({ "#!/bin/sh", "echo v1.2.3" }, path)
        vim.fn.setfperm(path, "rwx------")
      end
    end
    for _, path in ipairs({ "/nowhere", some, all }) do
      child.lua("vim.env.PATH = ...", { path })
      child.cmd("checkhealth hermes")
      local section = vim.split(text(), "hermes: agents ~\n", { plain = true })[2]
      local there, missing, names = {}, {}, {}
      for line in vim.gsplit(text(), "\n") do
        local found = line:match(" (/%S+)$") or line:match(" (/%S+) %(")
        local program = found and vim.fs.basename(found)
        local lost = line:match("(%S+) is not installed") or line:match("(%S+) is not in PATH")
        there[program or ""], missing[lost or ""] = line, line
      end
      there[""], missing[""] = nil, nil
      for line in section:gmatch("[^\n]+") do
        local name = line:match("^%- .-(%S+): ")
        if name then
          eq({ name, names[name] }, { name })
          names[name] = line
        end
      end
      for program in pairs(there) do
        eq(missing[program] and { there[program], missing[program] }, nil)
      end
      eq({ path, vim.tbl_count(names) }, { path, #agents })
    end
    vim.fn.delete(all, "rf")
    vim.fn.delete(some, "rf")
  end)

  it("say how to get a host that is missing", function()
    child.lua([[
      require("hermes.core.host").root = function() return "/nowhere" end
      vim.env.PATH = "/nowhere"
      local executable = vim.fn.executable
      vim.fn.executable = function(name)
        return name:find("bin/hermes$") and 0 or executable(name)
      end]])
    child.cmd("checkhealth hermes")
    has(text(), "with Go: :Hermes build")
    child.cmd("Hermes connect demo")
    noted("the host is missing; run :Hermes build")
  end)

  it("connect, create, prompt and cancel by command", function()
    child.cmd("Hermes connect demo")
    noted("demo is connected")
    child.cmd(
      "Hermes new " .. vim.fn.fnameescape(vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())))
    )
    noted("session ")
    child.cmd("Hermes status")
    has(text(), "agent demo: ready")
    child.cmd("Hermes cancel")
    child.cmd("Hermes disconnect demo")
    vim.wait(60000, function()
      return child.lua_get([[next(require("hermes").state().agents)]]) == vim.NIL
    end, 20)
    child.cmd("Hermes nonsense")
    noted('unknown subcommand "nonsense"; use one of: build, cancel, ')
  end)

  it("complete subcommands, agents and sessions", function()
    eq(child.fn.getcompletion("Hermes con", "cmdline"), { "config", "conflict", "connect" })
    eq(vim.tbl_contains(child.fn.getcompletion("Hermes connect ", "cmdline"), "demo"), true)
    eq(child.fn.getcompletion("Hermes cancel ", "cmdline"), {})
    eq(child.fn.getcompletion("silent! Hermes connect de", "cmdline"), { "demo" })
    eq(child.fn.getcompletion("tab Hermes he", "cmdline"), { "health" })
    eq(child.fn.getcompletion("Hermes new /et", "cmdline"), { "/etc/" })
    eq(child.fn.getcompletion("Hermes connect mine env", "cmdline")[1], "env")
    eq(child.fn.getcompletion("Hermes nonsense ", "cmdline"), {})
  end)
end)
