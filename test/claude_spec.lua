-- Claude Code in a terminal, played by a program that takes the same arguments, with the real host
-- and its agent. Needs bin/hermes (make build).

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

-- Says where it runs, and ends with a line of its input.
local program = [[#!/bin/sh
case $1 in
  --version) echo "2.1.400 (Claude Code)" ;;
  --settings) printf "%s\n" "$PWD" "$2" > "${0%/*}/started"; read -r line ;;
esac
]]

describe("Claude Code in a terminal", function()
  local child = MiniTest.new_child_neovim()
  local dir ---@type string

  ---@param code string of an expression
  local function wait_for(code)
    if not child.lua_get(("vim.wait(20000, function() return %s end, 10)"):format(code)) then
      error(
        ("never: %s; %s"):format(code, vim.inspect(child.lua_get("{ result, failure, notes }")))
      )
    end
  end

  ---@param opts string
  local function open(opts)
    child.lua(([[_G.result, _G.failure = nil, nil
      hermes.claude.open(vim.tbl_extend("force", {
        cwd = dir,
        on_done = function(err, terminal) _G.failure, _G.result = err, terminal end,
      }, %s))]]):format(opts))
    wait_for("result or failure")
  end

  before_each(function()
    dir = assert(vim.uv.fs_realpath(vim.fn.tempname():match("(.*)/")))
      .. "/claude-"
      .. vim.uv.hrtime()
    vim.fn.mkdir(dir .. "/bin", "p")
    vim.fn.writefile(vim.split(program, "\n"), dir .. "/bin/claude")
    vim.uv.fs_chmod(dir .. "/bin/claude", 493)
    child.restart({ "-u", "NONE", "--cmd", "set rtp^=" .. root })
    child.lua(
      [[_G.dir = ...
        vim.env.PATH = dir .. "/bin:" .. vim.env.PATH
        vim.env.TMUX = nil
        _G.hermes, _G.notes = require("hermes"), {}
        vim.notify = function(text) table.insert(notes, text) end
        hermes.setup({ review = false })]],
      { dir }
    )
  end)

  after_each(function()
    child.stop()
    vim.fn.delete(dir, "rf")
  end)

  it("gets a settings file, and its session ends with it", function()
    open("{}")
    eq(child.lua_get("failure"), vim.NIL)
    wait_for([[#vim.fn.glob(dir .. "/bin/started") > 0
      and vim.deep_equal(vim.fn.readfile(dir .. "/bin/started"), { dir, result.settings })]])
    eq(child.lua_get("vim.b[result.bufnr].hermes_session == result.sessionId"), true)
    eq(child.lua_get("vim.api.nvim_get_current_buf() == result.bufnr"), false)
    eq(child.lua_get("hermes.sessions()[1].state"), "idle")
    child.lua([[vim.fn.chansend(vim.bo[result.bufnr].channel, "end\n")]])
    wait_for("#hermes.sessions() == 0 and vim.fn.filereadable(result.settings) == 0")
  end)

  it("is not left behind half open", function()
    open("{ command = { 'no-such-claude' } }")
    eq(child.lua_get("failure.message"), "no-such-claude is not executable")
    eq(child.lua_get("#hermes.sessions()"), 0)
    open("{ terminal = 'tmux' }")
    eq(child.lua_get("failure.message"), "Neovim does not run in tmux")
    wait_for("#hermes.sessions() == 0")
  end)
end)
