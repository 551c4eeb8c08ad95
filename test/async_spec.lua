-- Workflows with real agents: needs bin/hermes (make build).

local this = assert(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local root = vim.fs.dirname(vim.fs.dirname(this))
local eq = MiniTest.expect.equality

describe("a workflow", function()
  local child = MiniTest.new_child_neovim()

  before_each(function()
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua([[
      _G.hermes, _G.log, _G.notes = require("hermes"), {}, {}
      vim.notify = function(text) table.insert(notes, text) end
      _G.await = hermes.await
      function _G.finish(...) _G.out = vim.F.pack_len(...) end
      hermes.on_request("PermissionRequest", function(data)
        for _, option in ipairs(data.options) do
          if option.kind == "reject_once" then return option.optionId end
        end
      end)]])
  end)
  after_each(function()
    child.lua("hermes.disconnect()")
    child.stop()
  end)

  ---@param is string Lua expression
  local function wait_for(is)
    local ok = vim.wait(60000, function()
      return child.lua_get(is) == true
    end, 5)
    eq(ok or ("%s: %s"):format(is, child.lua_get("vim.inspect({ log, notes, out })")), true)
  end

  it("is straight code, from the connection to the end of a turn", function()
    child.lua([[
      hermes.async(function()
        local agent = await.connect("demo")
        local session = await.create_session({ cwd = vim.fn.getcwd() })
        local turn = await.prompt(session.sessionId, "hi")
        await.close_session(session.sessionId)
        return agent.protocolVersion, turn.stopReason, vim.tbl_count(hermes.state().sessions)
      end, finish)]])
    wait_for("out ~= nil")
    eq(child.lua_get("{ out[1] == nil, out[2], out[3], out[4] }"), { true, 1, "end_turn", 0 })
  end)

  it("can wait for anything that calls back, also where Neovim's API is not allowed", function()
    child.lua([[
      hermes.async(function()
        local now = await(function(done) done(nil, "at once") end)
        local system = await(function(done)
          vim.system({ "echo", "out" }, {}, function(result) done(nil, result) end)
        end)
        vim.cmd("let g:api = 1") -- fails in a fast event
        local event = await(function(done)
          hermes.once("StateChanged", function(data) done(nil, data) end)
          hermes.connect("demo")
        end)
        return now, system.stdout, event.to
      end, finish)]])
    wait_for("out ~= nil")
    eq(
      child.lua_get("{ out[1] == nil, out[2], out[3], out[4] }"),
      { true, "at once", "out\n", "starting" }
    )
  end)

  it("gets what fails as an error, which it can catch", function()
    child.lua([[
      hermes.async(function()
        local ok, err = pcall(await.connect, "no-such-agent")
        table.insert(log, { ok, err.kind, tostring(err) == err.message })
        await.create_session({ agent = "no-such-agent" })
        table.insert(log, "never")
      end, finish)]])
    wait_for("out ~= nil")
    eq(child.lua_get("log"), { { false, "unknown_agent", true } })
    eq(child.lua_get("out[1].kind"), "not_connected")
    eq(child.lua_get("notes"), {})
    child.lua([[_G.out = nil
      hermes.async(function() error("a mistake") end, finish)
      hermes.async(function() await.connect("no-such-agent") end)
      hermes.async(function() await.conect("x") end)]])
    wait_for("#notes == 2")
    eq(child.lua_get("{ out[1].kind, out[1].message:match('a mistake') }"), { "lua", "a mistake" })
    local notes = table.concat(child.lua_get("notes"), "\n")
    eq(notes:find('async: unknown agent "no-such-agent"', 1, true) ~= nil or notes, true)
    eq(notes:find('there is no function "conect" to wait for', 1, true) ~= nil or notes, true)
  end)

  it("can be cancelled where it waits, and clean up", function()
    child.lua([[
      _G.task = hermes.async(function()
        local ok, err = pcall(await, function(done) _G.late = done end)
        table.insert(log, { ok, err.kind, err.message })
        await.connect("demo") -- raises, too
        table.insert(log, "never")
      end, finish)
      table.insert(log, task.done())
      task.cancel("enough")
      task.cancel("again")
      late(nil, "too late")]])
    eq(child.lua_get("log"), { false, { false, "cancelled", "enough" } })
    eq(
      child.lua_get("{ out[1].kind, out[1].message, task.done() }"),
      { "cancelled", "enough", true }
    )
    eq(child.lua_get("next(hermes.state().agents) == nil"), true)
    child.lua([[_G.task = hermes.async(function() await(function() end) end); task.cancel()]])
    eq(child.lua_get("{ task.done(), #notes }"), { true, 0 }) -- it is what the user wanted
  end)

  it("leaves nothing behind", function()
    child.lua([[_G.held = setmetatable({}, { __mode = "v" })
      for i = 1, 3 do
        local value = { i }
        held[i] = value
        hermes.async(function()
          await(function(done) done(nil, value) end)
          if i == 2 then error(value) end
        end, function() end)
      end]])
    eq(
      child.lua_get(
        "(function() collectgarbage(); collectgarbage(); return vim.tbl_count(held) end)()"
      ),
      0
    )
  end)

  it("is needed to wait", function()
    eq(
      child.lua_get("{ pcall(await, print) }")[2]:find("hermes.async() runs", 1, true) ~= nil,
      true
    )
    eq(
      child
        .lua_get("{ pcall(hermes.async, 5) }")[2]
        :find("the function must be a function", 1, true) ~= nil,
      true
    )
  end)
end)
