-- The short lists of what runs and waits, with the real host and a real agent.
-- Needs bin/hermes (make build).

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

describe("the lists of what runs", function()
  local child = MiniTest.new_child_neovim()

  before_each(function()
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua(
      [[local agent, config = ...
      _G.hermes = require("hermes")
      vim.notify = function() end
      local spec = {
        command = vim.v.progpath,
        args = { "--clean", "-l", agent },
        env = { HERMES_TEST_AGENT = config },
      }
      hermes.setup({ agents = { spec = spec, other = spec } })
      hermes.connect("spec")]],
      {
        root .. "/test/scripted_agent.lua",
        vim.json.encode({
          ids = { "b", "a" },
          modes = { currentModeId = "ask", availableModes = {} },
          options = {
            {
              id = "model",
              name = "Model",
              category = "model",
              type = "select",
              currentValue = "m",
              options = { { value = "m", name = "M" } },
            },
            {
              id = "level",
              name = "Level",
              category = "thought_level",
              type = "select",
              currentValue = "low",
              options = { { value = "low", name = "Low" }, { value = "high", name = "High" } },
            },
            {
              id = "fast",
              name = "Fast",
              category = "model_config",
              type = "boolean",
              currentValue = false,
            },
          },
        }),
      }
    )
  end)
  after_each(child.stop)

  ---@param code string of an expression
  local function wait_for(code)
    local ok = vim.wait(60000, function()
      return child.lua_get(code) == true
    end, 10)
    eq({ code, ok }, { code, true })
  end

  local function open(count)
    for i = 1, count do
      child.lua("hermes.create_session({ cwd = '/' })")
      wait_for(("#hermes.sessions() == %d"):format(i))
    end
  end

  it("are empty before anything is connected", function()
    child.lua([[hermes.disconnect()]])
    wait_for("#hermes.connections() == 0")
    eq(child.lua_get("{ hermes.sessions(), hermes.pending(), hermes.agent_log('spec') }"), {
      {},
      {},
      child.lua_get("hermes.agent_log('spec')"),
    })
    eq(child.lua_get("hermes.agent_log('nosuch')"), {})
  end)

  it("have agents, and sessions with the one used last first", function()
    open(2)
    eq(
      child.lua_get("vim.tbl_map(function(s) return s.sessionId end, hermes.sessions())"),
      { "a", "b" }
    )
    local name = "hermes.sessions({ session_id = 'b' })[1].name"
    eq(child.lua_get(name), "b")
    child.lua("hermes.prompt('b', '\\n fix the\\27[2J greeting\\nof all')")
    wait_for(name .. " == 'fix the<1b>[2J greeting of all'")
    wait_for("hermes.sessions({ session_id = 'b' })[1].state == 'idle'")
    child.lua("hermes.prompt('b', 'title The title')")
    wait_for("hermes.sessions()[1].title == 'The title' and hermes.sessions()[1].state == 'idle'")
    eq(child.lua_get("hermes.sessions({ agent = 'spec' })[1]"), {
      sessionId = "b",
      agent = "spec",
      state = "idle",
      name = "The title",
      title = "The title",
      cwd = "/",
      mode = "ask",
      model = "m",
      queued = 0,
      pending = 0,
      ended = "done",
    })
    eq(child.lua_get("hermes.sessions({ agent = 'other' })"), {})
    eq(child.lua_get("#hermes.sessions({ session_id = 'a' })"), 1)
    local agent = child.lua_get("hermes.connections()[1]")
    eq(
      { agent.name, agent.state, agent.current, agent.agentCapabilities.loadSession },
      { "spec", "ready", true, true }
    )
    -- Copies: nothing changes by them.
    child.lua(
      "hermes.sessions()[1].title = 'mine'; hermes.connections()[1].agentInfo.name = 'mine'"
    )
    eq(
      child.lua_get("hermes.sessions()[1].title .. hermes.connections()[1].agentInfo.name"),
      "The titlespec"
    )
  end)

  it("tell two agents apart that use the same id", function()
    open(1)
    child.lua("hermes.connect('other')")
    wait_for("#hermes.connections() == 2")
    child.lua("hermes.create_session({ agent = 'other', cwd = '/tmp' })")
    wait_for("#hermes.sessions() == 2")
    child.lua([[hermes.set_mode("b", "code", { agent = "other" })
      hermes.set_thought_level("b", "high", { agent = "other" })]])
    wait_for("hermes.modes('b', { agent = 'other' }).currentModeId == 'code'")
    wait_for("hermes.thought_levels('b', { agent = 'other' }).current == 'high'")
    for call, want in pairs({
      [ [[modes("b", %s).currentModeId]] ] = { "ask", "code" },
      [ [[models("b", %s).currentModelId]] ] = { "m", "m" },
      [ [[config_options("b", %s)[2].currentValue]] ] = { "low", "high" },
      [ [[model_configurations("b", %s)[1].currentValue]] ] = { false, false },
      [ [[thought_levels("b", %s).current]] ] = { "low", "high" },
      [ [[state("b", "cwd", %s)]] ] = { "/", "/tmp" },
      [ [[sessions(%s)[1].mode]] ] = { "ask", "code" },
      [ [[queue.list("b", %s)]] ] = { {}, {} },
      [ [[terminals("b", %s)]] ] = { {}, {} },
      [ [[terminal_output("b", "t", %s)]] ] = { vim.NIL, vim.NIL },
    }) do
      for i, agent in ipairs({ "spec", "other" }) do
        local code = "hermes." .. call:format(("{ agent = %q }"):format(agent))
        eq({ code, child.lua_get(code) }, { code, want[i] })
      end
      local code = "hermes." .. call:format("{ agent = 1 }")
      eq({ code, child.lua_get(("pcall(function() return %s end)"):format(code)) }, { code, false })
    end
  end)

  it("have the requests that wait, and who is to answer", function()
    child.lua("hermes.on_request('PermissionRequest', function() end)")
    open(1)
    child.lua("hermes.prompt('b', 'ask Clean up')")
    wait_for("#hermes.pending() == 1")
    local request = child.lua_get("hermes.pending()[1]")
    eq(
      { request.agent, request.sessionId, request.name, request.title, request.by_default },
      { "spec", "b", "PermissionRequest", "Clean up", false }
    )
    wait_for("hermes.sessions()[1].pending == 1")
    -- Hermes answers in place of the handler: it asks the user.
    child.lua([[vim.ui.select = function(items, _, chosen)
      _G.chosen = chosen
    end]])
    eq(child.lua_get(("hermes.default(%q)"):format(request.requestId)), true)
    wait_for("hermes.pending()[1].by_default")
    wait_for("chosen ~= nil")
    child.lua([[hermes.respond(hermes.pending()[1].requestId, "yes")]])
    wait_for("#hermes.pending() == 0")
    eq(child.lua_get(("hermes.default(%q)"):format(request.requestId)), false)
  end)

  it("have the waiting prompts, which can be changed", function()
    open(1)
    child.lua([[_G.ids = {}
      for i, text in ipairs({ "hold", "one", "two", "three" }) do
        ids[i] = hermes.prompt("b", text)
      end]])
    local texts =
      "vim.tbl_map(function(p) return (p.content or {{}})[1].text end, hermes.queue.list('b'))"
    wait_for("#hermes.queue.list('b') == 3")
    child.lua([[hermes.queue.move(ids[4], 1)
      hermes.queue.edit(ids[2], "another")
      hermes.queue.remove(ids[3])]])
    wait_for(("vim.deep_equal(%s, { 'three', 'another' })"):format(texts))
    child.lua("hermes.queue.send_now(ids[2])")
    wait_for("#hermes.queue.list('b') == 0 and hermes.sessions()[1].state == 'idle'")
  end)

  it("follow the functions that are named like the methods", function()
    child.lua([[
      function _G.Call(name, begin)
        _G.done = nil
        begin({ agent = "spec", on_done = function(err)
          _G.done = { name, err and err.message or "fine" }
        end })
        vim.wait(60000, function() return done ~= nil end, 5)
        return done
      end]])
    for _, code in ipairs({
      [[hermes.session_new({ cwd = "/", mcpServers = {} }, opts)]],
      [[hermes.session_set_mode({ sessionId = "b", modeId = "code" }, opts)]],
      [[hermes.session_set_config_option(
        { sessionId = "b", configId = "level", value = "high" }, opts)]],
      [[hermes.initialize({ protocolVersion = 1 }, opts)]],
      [[hermes.session_cancel({ sessionId = "b" }, opts)]],
      [[hermes.session_prompt(
        { sessionId = "b", prompt = { { type = "text", text = "x" } } }, opts)]],
      [[hermes.session_close({ sessionId = "b" }, opts)]],
      [[hermes.session_load({ sessionId = "b", cwd = "/", mcpServers = {} }, opts)]],
      [[hermes.session_close({ sessionId = "b" }, opts)]],
      [[hermes.session_resume({ sessionId = "b", cwd = "/", mcpServers = {} }, opts)]],
      [[hermes.session_delete({ sessionId = "b" }, opts)]],
    }) do
      local run = ("return Call(%q, function(opts) %s end)"):format(code, code)
      eq(child.lua(run), { code, "fine" })
    end
    local list = child.lua_get("hermes.permissions.details({ toolCall = { title = 'T' } })")
    eq(list, { "title: T", "kind: unknown" }) -- without arguments the title decides
    eq(child.lua_get("hermes.text.diff('a\\n', 'b\\n')"), { "@@ -1 +1 @@", "-a", "+b" })
    local ends = "(('a\\n'):rep(9)), 'b\\n' .. ('a\\n'):rep(8) .. 'b\\n'"
    eq(child.lua_get("hermes.text.diff(" .. ends .. ", { part = true })"), {
      "+b",
      " a",
      " a",
      " a",
      "…",
      " a",
      " a",
      " a",
      "-a",
      "+b",
    })
  end)

  it("keep what an agent wrote to its standard error, within limits, beyond its end", function()
    open(1)
    child.lua("hermes.prompt('b', 'noise mind the gap')")
    wait_for("vim.tbl_contains(hermes.agent_log('spec'), 'mind the gap')")
    child.lua("hermes.disconnect()")
    wait_for("#hermes.connections() == 0")
    eq(child.lua_get("vim.tbl_contains(hermes.agent_log('spec'), 'mind the gap')"), true)
    child.lua([[local log = require("hermes.core.agent_log")
      for i = 1, 5000 do log.add("many", "line " .. i) end
      for i = 1, 100 do log.add("long", i .. ("x"):rep(8192)) end]])
    eq(
      child.lua_get("{ #hermes.agent_log('many'), hermes.agent_log('many')[1] }"),
      { 2000, "line 3001" }
    )
    eq(child.lua_get("#table.concat(hermes.agent_log('long')) <= 256 * 1024"), true)
    eq(child.lua_get("hermes.agent_log('long')[#hermes.agent_log('long')]:sub(1, 4)"), "100x")
  end)
end)
