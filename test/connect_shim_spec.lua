-- An agent of the protocol in a shim, with the real host. Needs bin/hermes (make build).

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

-- Changes files by itself, in a tool call.
local agent = [[#!/bin/sh
say() { read -r _; tell "$1"; }
tell() { printf '{"jsonrpc":"2.0",%s}\n' "$1"; }
call() {
  update="{\"toolCallId\":\"t1\",$1}"
  tell "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":$update}"
}
say '"id":1,"result":{"protocolVersion":1}'
say '"id":2,"result":{"sessionId":"s"}'
read -r _
call '"sessionUpdate":"tool_call","title":"work","kind":"execute","status":"in_progress"'
sleep 0.3
echo two >> f
echo new > made
call '"sessionUpdate":"tool_call_update","status":"completed"'
tell '"id":3,"result":{"stopReason":"end_turn"}'
read -r _
]]

describe("An agent of the protocol in a shim", function()
  local child = MiniTest.new_child_neovim()
  local dir ---@type string

  ---@param code string of an expression
  local function wait_for(code)
    if not child.lua_get(("vim.wait(60000, function() return %s end, 10)"):format(code)) then
      error(("never: %s; %s"):format(code, vim.inspect(child.lua_get("{ answers, hunks }"))))
    end
  end

  before_each(function()
    dir = assert(vim.uv.fs_realpath(vim.fn.tempname():match("(.*)/")))
      .. "/shim-"
      .. vim.uv.hrtime()
    vim.fn.mkdir(dir .. "/p/.git", "p")
    vim.fn.writefile({ "one" }, dir .. "/p/f")
    vim.fn.writefile(vim.split(agent, "\n"), dir .. "/agent")
    vim.uv.fs_chmod(dir .. "/agent", 493)
    child.restart({ "-u", "NONE", "--cmd", "set rtp^=" .. root })
    child.lua(
      [[_G.dir = ...
        vim.api.nvim_set_current_dir(dir .. "/p")
        _G.hermes, _G.answers, _G.hunks = require("hermes"), {}, {}
        vim.notify = function() end
        function _G.answer(name)
          return function(err, result) answers[name] = { err = err, result = result } end
        end]],
      { dir }
    )
  end)

  after_each(function()
    child.stop()
    vim.fn.delete(dir, "rf")
  end)

  for _, where in ipairs({ "connect", "setup" }) do
    it("has its changes exactly, with their turn and tool call, by " .. where, function()
      child.lua(
        [[local agent = { command = dir .. "/agent", cwd = dir .. "/p", shim = true }
          local setup = ...
          hermes.setup({ review = true, agents = setup and { worker = agent } or {} })
          hermes.connect("worker", setup and {} or agent)
          hermes.create_session({ agent = "worker", on_done = answer("session") })]],
        { where == "setup" }
      )
      wait_for("answers.session")
      eq(child.lua_get("answers.session.err"), vim.NIL)
      child.lua([[hermes.prompt("s", "go on", { on_done = answer("turn") })]])
      wait_for("answers.turn")
      child.lua([[function _G.Ask()
        hermes.review.pending({ on_done = function(_, result)
          hunks = {}
          for _, hunk in ipairs(result and result.hunks or {}) do
            local a = hunk.authors[1]
            local how = { a.toolCallId, a.source, a.inferred or false }
            local who = { vim.fs.basename(hunk.path), a.agent, a.sessionId, a.turn ~= nil }
            hunks[#hunks + 1] = vim.list_extend(who, how)
          end
        end })
      end]])
      wait_for(("vim.inspect(hunks) == %q or Ask()"):format(vim.inspect({
        { "f", "worker", "s", true, "t1", "shim", false },
        { "made", "worker", "s", true, "t1", "shim", false },
      })))
    end)
  end

  it("needs a review, and to run here", function()
    child.lua([[hermes.setup({ review = false })
      local off = { command = dir .. "/agent", shim = true, on_done = answer("off") }
      hermes.connect("worker", off)]])
    wait_for("answers.off")
    eq(
      child.lua_get("answers.off.err.message"),
      'agent "worker" cannot run in a shim: the review is off; setup{review = true} turns it on'
    )
    child.lua([[hermes.setup({ review = true })
      local far = { protocol = "socket", path = dir .. "/x", shim = true, on_done = answer("far") }
      hermes.connect("far", far)]])
    wait_for("answers.far")
    eq(
      child.lua_get("answers.far.err.message"),
      'agent "far" cannot run in a shim: it runs elsewhere'
    )
  end)
end)
