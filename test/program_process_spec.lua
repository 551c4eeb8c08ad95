-- How agents in a terminal are known among the processes of the system.

local eq = MiniTest.expect.equality
local process = require("hermes.program.process")

it("a process that has ended does not run, even before its parent has asked", function()
  local out = ""
  local parent = vim.system({ "sh", "-c", "sleep 0 & echo $!; exec sleep 300" }, {
    stdout = function(_, data)
      out = out .. (data or "")
    end,
  })
  MiniTest.finally(function()
    parent:kill("sigkill")
  end)
  local ended = vim.wait(60000, function()
    return out:find("\n") ~= nil and not process.runs(tonumber(out))
  end, 20)
  eq({ ended, process.runs(parent.pid), process.runs(vim.uv.os_getpid()) }, { true, true, true })
end)

it("the program of a command line is what the user calls the agent", function()
  for line, want in pairs({
    ["claude --resume"] = "claude",
    ["/usr/bin/codex"] = "codex",
    ["node --no-warnings /opt/x/bin/gemini -p hi"] = "gemini",
    ["env A=b python3 -u /usr/bin/aider"] = "aider",
    ["/opt/bin/hermes shim --root /w --gate -- node /bin/claude"] = "claude",
    ["hermes shim doctor"] = "hermes",
    ["sh"] = vim.NIL,
    ["/usr/bin/zsh -l"] = vim.NIL,
  }) do
    eq({ line, process.program(line) or vim.NIL }, { line, want })
  end
  eq(process.matches("node /bin/claude-code", "claude"), false)
  eq(process.matches("node /bin/claude-code", "claude.*"), true)
end)
