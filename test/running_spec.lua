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
      hermes.setup({ agents = { spec = {
        command = vim.v.progpath,
        args = { "--clean", "-l", agent },
        env = { HERMES_TEST_AGENT = config },
      } } })
      hermes.connect("spec")]],
      {
        root .. "/test/scripted_agent.lua",
        vim.json.encode({
          ids = { "b", "a" },
          modes = { currentModeId = "ask", availableModes = {} },
        }),
      }
    )
  end)
  after_each(child.stop)

  ---@param code string of an expression
  local function wait_for(code)
    local ok = vim.wait(20000, function()
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
    child.lua("hermes.prompt('b', 'title The title')")
    wait_for("hermes.sessions()[1].title == 'The title'")
    eq(child.lua_get("hermes.sessions('spec')[1]"), {
      sessionId = "b",
      agent = "spec",
      state = "idle",
      title = "The title",
      cwd = "/",
      mode = "ask",
      queued = 0,
      pending = 0,
    })
    eq(child.lua_get("hermes.sessions('other')"), {})
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

  it("keep what an agent wrote to its standard error, within limits, beyond its end", function()
    open(1)
    child.lua("hermes.prompt('b', 'noise mind the gap')")
    wait_for("vim.tbl_contains(hermes.agent_log('spec'), 'mind the gap')")
    child.lua("hermes.disconnect()")
    wait_for("#hermes.connections() == 0")
    eq(child.lua_get("vim.tbl_contains(hermes.agent_log('spec'), 'mind the gap')"), true)
    child.lua([[local log = require("hermes.agent_log")
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
