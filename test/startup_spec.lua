-- What happens at startup and when the first agent is connected. Needs bin/hermes
-- (make build).

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

local child = MiniTest.new_child_neovim()

---@param code string
---@return any
local function get(code)
  return child.lua_get(code)
end

local function fresh()
  child.restart({ "--clean", "-n", "--cmd", "set rtp^=" .. root })
  child.lua([[
    notes, done, order = {}, {}, {}
    vim.notify = function(text) notes[#notes + 1] = text end
    function finish(name)
      return function(err, result)
        order[#order + 1] = name
        done[name] = { err = err, result = result }
      end
    end
    -- Those loaded since the last call.
    local known = {}
    function loaded()
      local new = {}
      for name in vim.spairs(package.loaded) do
        if vim.startswith(name, "hermes") and not known[name] then
          new[#new + 1], known[name] = name, true
        end
      end
      return new
    end
    function hosts()
      return #vim.tbl_filter(function(chan) return chan.argv ~= nil end, vim.api.nvim_list_chans())
    end]])
end

---@param condition string
local function wait_for(condition)
  eq(get(("vim.wait(60000, function() return %s end, 5)"):format(condition)), true)
end

describe("a configuration", function()
  before_each(fresh)
  after_each(child.stop)

  it("loads only what checks it", function()
    child.lua([[require("hermes").setup()]])
    eq(get("loaded()"), { "hermes", "hermes.core.config", "hermes.wiring" })
    child.lua([[require("hermes").setup({ buffer = { auto_save = false } })]])
    eq(get("loaded()"), {})
    child.lua([[require("hermes").setup({
      agents = { a = { command = "a", args = { "b" } } } })]])
    eq(get("loaded()"), { "hermes.core.arguments", "hermes.core.config_check" })
    child.lua([[require("hermes").setup({ chat = { position = "left" } })]])
    eq(get("loaded()"), { "hermes.view.chat.options" })
  end)

  it("that is wrong is refused at once, and errors blame the caller", function()
    for _, case in ipairs({
      {
        'require("hermes").setup({ agents = { a = { cmd = "x" } } })',
        'unknown key "agents.a.cmd"',
      },
      { 'require("hermes").connect("")', "x.lua:2: hermes.connect: the name of the agent" },
      {
        'require("hermes").connect("a", { cmd = "x" })',
        'x.lua:2: hermes.connect: unknown key "cmd"',
      },
      {
        'require("hermes").connect("a", { on_done = 1 })',
        "x.lua:2: hermes.connect: on_done must be",
      },
      {
        'require("hermes").load_session("s", { x = 1 })',
        'x.lua:2: hermes.load_session: unknown key "x"',
      },
      {
        'require("hermes").load_session("")',
        "x.lua:2: hermes.load_session: the id of the session",
      },
    }) do
      child.lua(
        [[_, err = pcall(assert(loadstring("\n" .. (...) .. "\nreturn", "@x.lua")))]],
        { case[1] }
      )
      eq(
        { case[1], get("err"), get("err"):find(case[2], 1, true) ~= nil },
        { case[1], get("err"), true }
      )
    end
    eq(get("hosts()"), 0)
  end)
end)

describe("require('hermes')", function()
  it("has every function before it is loaded", function()
    fresh()
    local early = get([[vim.tbl_keys(require("hermes"))]])
    eq(get([[package.loaded["hermes.api"] ]]), vim.NIL)
    child.stop()
    local api = require("hermes.api")
    local late = vim.tbl_filter(function(name)
      return type(api[name]) == "function"
    end, vim.tbl_keys(api))
    vim.list_extend(late, { "setup", "connect" })
    table.sort(early)
    table.sort(late)
    eq(early, late)
  end)
end)

describe("connect()", function()
  before_each(fresh)
  after_each(child.stop)

  it("loads little, and starts the host after it has returned", function()
    child.lua([[
      require("hermes").setup()
      loaded()
      require("hermes").connect("nobody", { command = "no-such-program", on_done = finish("it") })
      first, running = loaded(), hosts()
      require("hermes").connect("other", { command = "no-such-program" })
      second = loaded()]])
    eq(get("first"), {
      "hermes.connect",
      "hermes.core.arguments",
      "hermes.core.config_check",
      "hermes.core.config_wire",
      "hermes.core.rpc",
    })
    eq(get("second"), {})
    eq(get("running"), 0)
    eq(get([[require("hermes.core.rpc").running()]]), true)
    wait_for("done.it")
    eq(get("done.it.err.kind"), "start")
    eq(get("hosts()"), 1)
  end)

  it("and what is called before the host runs reaches it in order", function()
    child.lua([[
      local hermes = require("hermes")
      hermes.connect("nobody", { command = "no-such-program", on_done = finish("connect") })
      hermes.permissions.add({ action = "deny", path = "x" }, { on_done = finish("add") })
      hermes.setup({ agents = { late = { command = "late" } } })
      hermes.permissions.list({ on_done = finish("list") })
      hermes.agents({ on_done = finish("agents") })
      early = #order]])
    wait_for("done.connect and done.agents")
    eq(get("early"), 0)
    eq(get("vim.tbl_filter(function(name) return name ~= 'connect' end, order)"), {
      "add",
      "list",
      "agents",
    })
    eq(get("done.list.result.rules[1].path"), "x")
    eq(
      get([[vim.iter(done.agents.result.agents):any(function(a) return a.name == "late" end)]]),
      true
    )
  end)

  it("fails as ever when the host is stopped before it was started", function()
    child.lua([[
      require("hermes").connect("nobody", { command = "x", on_done = finish("it") })
      require("hermes.core.rpc").stop()]])
    wait_for("done.it")
    eq(get("{ done.it.err.kind, done.it.err.message }"), { "disconnected", "the host was stopped" })
    eq(get("{ hosts(), notes }"), { 0, {} })
    child.lua([[require("hermes").connect("nobody", { command = "x", on_done = finish("again") })]])
    wait_for("done.again")
    eq(get("done.again.err.kind"), "start")
  end)

  it("says why the host cannot be started, and what cannot be sent", function()
    child.lua([[
      require("hermes").setup({ host = { cmd = { "/no/such/host" } } })
      require("hermes").connect("nobody", { command = "x", on_done = finish("host") })
      require("hermes").request("nobody", "x/y", { print }, finish("invalid"))]])
    wait_for("done.host and done.invalid")
    eq(get("{ done.host.err.kind, done.invalid.err.kind }"), { "host", "invalid" })
    eq(
      get("done.host.err.message"),
      'cannot run the host "/no/such/host"; setup{host={cmd}} names it'
    )
  end)
end)
