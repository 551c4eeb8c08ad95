-- The traffic inspector. Needs bin/hermes (make build).

local eq = MiniTest.expect.equality
local screens =
  dofile(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))) .. "/screen.lua")

-- What the specs do inside the Neovim on the screen.
local prelude = [[
local rpc = require("hermes.core.rpc")
_G.traffic = require("hermes.traffic")
local seq = 0
function _G.Message(data)
  seq = seq + 1
  data = vim.tbl_extend("keep", data, {
    agent = "demo", connection = 1, seq = seq, direction = "in", kind = "notification",
    time = ("2026-01-02T03:04:%09.6fZ"):format(seq % 60), message = "{}",
  })
  data.message = data.message:gsub("\\/", "/") -- as older Neovims write it
  rpc.deliver(vim.json.encode({ "TrafficMessage", data }))
end
function _G.Ask(id, method, session, direction)
  Message({ kind = "request", id = id, method = method, sessionId = session,
    direction = direction or "out", message = vim.json.encode({ id = tonumber(id),
      method = method, params = { sessionId = session } }) })
end
function _G.Answer(id, result, direction)
  Message({ kind = "response", id = id, direction = direction or "in",
    message = vim.json.encode({ id = tonumber(id), result = result }) })
end
function _G.Update(text, session)
  Message({ method = "session/update", sessionId = session or "s1", message = vim.json.encode({
    jsonrpc = "2.0", method = "session/update", params = { sessionId = session or "s1",
    update = { sessionUpdate = "agent_message_chunk", content = { type = "text",
      text = text } } } }) })
end
function _G.Lines()
  return vim.api.nvim_buf_get_lines(vim.fn.bufnr("%"), 0, -1, false)
end
function _G.Fresh(config)
  traffic.close()
  traffic.stop()
  traffic.filter()
  vim.cmd("silent! only!")
  require("hermes.core.config").reset()
  require("hermes").setup(config or {})
end
]]

---@param config? table
local function fresh(config)
  local screen = screens.fresh()
  screen:lua("if not traffic then " .. prelude .. " end Fresh(...)", config)
  return screen
end

---@param screen hermes.test.Screen
---@param needle string
local function has(screen, needle)
  screen:wait_for(("%q in the list"):format(needle), function()
    local lines = screen:lua("return Lines()")
    return table.concat(lines, "\n"):find(needle, 1, true)
  end)
end

describe("the traffic inspector", function()
  it("takes a filter from words", function()
    local traffic = require("hermes.traffic")
    for words, want in pairs({
      ["method=session/prompt direction=in"] = { method = "session/prompt", direction = "in" },
      ["some text agent=a"] = { text = "some text", agent = "a" },
      ["nosuch=1"] = { text = "nosuch=1" },
      [""] = {},
    }) do
      local list = vim.split(words, " ", { trimempty = true })
      eq({ words, traffic.parse_filter(list) }, { words, want })
    end
  end)

  it("joins a request to its response, with the time between", function()
    local screen = fresh()
    screen:lua([[traffic.open() Ask("1", "session/prompt", "s1") Update("hi")
      Ask("1", "fs/read_text_file", "s1", "in") Answer("1", {}, "out")
        Answer("1", { stopReason = "end_turn" })]])
    screen:wait_for_text("✓ session/prompt")
    eq(screen:text():find("→ session/prompt +#1 +4.00 s") ~= nil, true)
    eq(screen:text():find("← ✓ session/prompt +#1 +4.00 s") ~= nil, true)
    eq(screen:text():find("← fs/read_text_file +#1 +1.00 s") ~= nil, true)
    eq(screen:shows("agent_message"), true)
    -- To the other end and back.
    screen:type("gg")
    screen:type("gd")
    screen:wait_for("the response", function()
      return screen:lua("return vim.fn.line('.')") == 5
    end)
    screen:type("gd")
    screen:wait_for("the request", function()
      return screen:lua("return vim.fn.line('.')") == 1
    end)
    screen:type("<CR>")
    screen:wait_for_text('"method": "session/prompt"')
    eq(screen:shows("to demo request session/prompt 4000 ms"), true)
    screen:type("gd")
    screen:wait_for_text('"stopReason": "end_turn"')
  end)

  it("shows a response of another connection as its own", function()
    local screen = fresh()
    screen:lua([[traffic.open() Ask("1", "session/new")
      Message({ connection = 2, kind = "response", id = "1" })]])
    eq(screen:lua("return traffic.messages()[2].method"), vim.NIL)
    eq(screen:lua("return traffic.messages()[1].ms"), vim.NIL)
  end)

  it("filters by session, method, direction and text", function()
    local screen = fresh()
    screen:lua([[traffic.open() Ask("1", "session/prompt", "s1") Update("Apple")
        Update("pear", "s2") Answer("1", {})]])
    local function shown(filter)
      screen:lua("traffic.filter(...)", filter)
      screen:wait_for("a settled list", function()
        return screen:lua(
          [[local n = #traffic.messages(...)
          return #vim.tbl_filter(function(line) return line ~= "" end, Lines()) == n]],
          filter
        )
      end)
      return screen:lua("return #vim.tbl_filter(function(line) return line ~= '' end, Lines())")
    end
    eq(shown({ session = "s1" }), 3)
    eq(shown({ session = "s2" }), 1)
    eq(shown({ method = "session/prompt" }), 2)
    eq(shown({ method = "session/*" }), 4)
    eq(shown({ method = "session/*", direction = "out" }), 1)
    eq(shown({ text = "apple" }), 1)
    eq(shown({ text = "Apple" }), 1)
    eq(shown({ text = "aPPle" }), 0)
    eq(shown({ agent = "other" }), 0)
    eq(shown({}), 4)
    screen:type("d")
    screen:wait_for_text("direction=out")
    screen:type("c")
    screen:type("f")
    screen:wait_for_text("Filter:")
    screen:type("session=s2 pear<CR>")
    screen:wait_for_text("session=s2 text=pear")
    local bad = screen:lua("return { pcall(traffic.filter, { sessions = 'x' }) }")
    eq(bad[1], false)
  end)

  it("is within its limits, and says what it did not capture", function()
    local screen = fresh({ traffic = { count = 50 } })
    screen:lua("traffic.open() for i = 1, 500 do Update('number ' .. i) end")
    has(screen, "number 500")
    eq(screen:lua("return { #traffic.messages(), #Lines() }"), { 50, 50 })
    eq(screen:lua("return Lines()[1]:find('number 451', 1, true) ~= nil"), true)
    screen:lua([[traffic.pause() Update("unheard") Update("unheard") traffic.resume()
        Update("heard again")]])
    has(screen, "[2 messages not captured]")
    eq(screen:lua("return #traffic.messages({ text = 'unheard' })"), 0)
    screen = fresh({ traffic = { bytes = 100000 } })
    screen:lua("traffic.open() for i = 1, 100 do Update(('x'):rep(5000)) end")
    eq(screen:lua("return #traffic.messages() < 20 and #traffic.messages() > 10"), true)
    screen:lua("Update(('x'):rep(500000))")
    eq(screen:lua("return #traffic.messages()"), 1)
  end)

  it("follows the newest message until the cursor leaves it", function()
    local screen = fresh()
    screen:lua("traffic.open() for i = 1, 100 do Update('number ' .. i) end")
    has(screen, "number 100")
    screen:type("gg")
    screen:wait_for("the cursor on the first line", function()
      return screen:lua("return vim.fn.line('.')") == 1
    end)
    screen:lua("for i = 101, 200 do Update('number ' .. i) end")
    screen:wait_for("all lines", function()
      return screen:lua("return #Lines()") == 200
    end)
    eq(screen:lua("return vim.fn.line('.')"), 1)
  end)

  it("costs nothing when it is closed", function()
    local screen = fresh()
    local wanted = "return require('hermes.core.listeners').wants_traffic()"
    eq(screen:lua(wanted), false)
    screen:lua("traffic.open() Update('x')")
    eq(screen:lua(wanted), true)
    screen:type("q")
    screen:wait_for("nobody listening", function()
      return screen:lua(wanted) == false
    end)
    eq(screen:lua("return { traffic.capturing(), #traffic.messages() }"), { false, 0 })
    screen:lua("traffic.start() traffic.open() Update('x')")
    screen:type(":q<CR>")
    screen:wait_for("a closed window", function()
      return screen:lua("return #vim.api.nvim_list_wins()") == 1
    end)
    eq(screen:lua("return { traffic.capturing(), #traffic.messages() }"), { true, 1 })
    screen:lua("traffic.stop()")
    eq(screen:lua(wanted), false)
  end)

  it("says of a recording whether secrets may be in it", function()
    local screen = fresh()
    local function redacted()
      local path = vim.fn.tempname()
      screen:lua("traffic.save(..., function(err) saved = err or 'yes' end)", path)
      screen:wait_for("a file", function()
        return screen:lua("return saved == 'yes'")
      end)
      return vim.json.decode(vim.fn.readfile(path)[1]).meta.redacted
    end
    screen:lua("traffic.start() Update('x')")
    eq(redacted(), true)
    screen:lua("saved = nil require('hermes').setup({ traffic = { raw = true } }) Update('y')")
    screen:lua("require('hermes').setup({ traffic = { raw = false } }) Update('z')")
    eq(redacted(), false)
    screen:lua("traffic.stop()")
  end)

  it("is one window, in whatever tab page", function()
    local screen = fresh()
    screen:lua([[traffic.open() Update("x") vim.cmd("tabnew")]])
    local buf = screen:lua("return traffic.open()")
    eq(
      screen:lua("return { vim.api.nvim_get_current_buf(), #vim.fn.win_findbuf(traffic.open()) }"),
      {
        buf,
        1,
      }
    )
    screen:lua("vim.cmd('tabonly')")
  end)

  it("is one command away", function()
    local screen = fresh({ traffic = { keys = false } })
    screen:type(":Hermes traffic direction=in pear<CR>")
    screen:wait_for_text("direction=in text=pear")
    screen:lua([[Update("apple") Update("pear")]])
    screen:wait_for("one line", function()
      return screen:lua("return #Lines() == 1 and Lines()[1]:find('pear', 1, true) ~= nil")
    end)
    screen:wait_for_text(" messages, 2 KB")
    screen:type(":Hermes traffic pause<CR>")
    screen:wait_for_text("paused")
    screen:type(":Hermes traffic resume<CR>")
    eq(screen:lua("return vim.fn.maparg('q', 'n')"), "")
    screen:lua([[vim.keymap.set("n", "K", "<Plug>(hermes-traffic-clear)", { buffer = true })]])
    screen:type("K")
    screen:wait_for("two lines", function()
      return screen:lua("return #Lines()") == 2
    end)
    screen:type(":Hermes traffic close<CR>")
    screen:wait_for("a closed window", function()
      return screen:lua("return #vim.api.nvim_list_wins()") == 1
    end)
    eq(screen:lua("return vim.fn.getcompletion('Hermes traffic pa', 'cmdline')"), { "pause" })
  end)

  it("lays JSON out as it was sent", function()
    local lines = require("hermes.view.traffic.json").lines
    for _, case in ipairs({
      { "{}", { "{}" } },
      {
        '{"a":1.50,"a":[ ],"b":[1,{"c":null}]}',
        {
          "{",
          '  "a": 1.50,',
          '  "a": [],',
          '  "b": [',
          "    1,",
          "    {",
          '      "c": null',
          "    }",
          "  ]",
          "}",
        },
      },
      {
        '{"s":"a,b:{}[]\\"\\\\","n":12345678901234567890}',
        {
          "{",
          '  "s": "a,b:{}[]\\"\\\\",',
          '  "n": 12345678901234567890',
          "}",
        },
      },
      { '{"cut":"in the mid', { "{", '  "cut": "in the mid' } },
      { '{"a":[1,2', { "{", '  "a": [', "    1,", "    2" } },
      { '{"\226\128\174":"\27"}', { "{", '  "<U+202E>": "<1b>"', "}" } },
      { "]]]", { "", "]", "]", "]" } },
    }) do
      eq({ case[1], lines(case[1]) }, { case[1], case[2] })
    end
  end)
end)

describe("a recording of the traffic inspector", function()
  local child = MiniTest.new_child_neovim()
  local root =
    vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))

  after_each(function()
    child.lua("require('hermes').disconnect()")
    child.stop()
  end)

  ---@param is string Lua expression
  local function wait_for(is)
    local ok = vim.wait(60000, function()
      return child.lua_get(is) == true
    end, 20)
    eq(ok or ("%s: %s"):format(is, child.cmd_capture("messages")), true)
  end

  it("is one of hermes record, and plays again", function()
    local dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir, "p")
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua(
      [[vim.cmd.cd(...)
      vim.cmd.runtime("plugin/hermes.lua")
      _G.hermes, _G.traffic, _G.said = require("hermes"), require("hermes.traffic"), {}
      hermes.on("AgentTextMessage", function(data)
        said[data.agent] = (said[data.agent] or "") .. data.text
      end)
      hermes.on_request("PermissionRequest", function(data)
        for _, option in ipairs(data.options) do
          if option.kind == "allow_once" then return option.optionId end
        end
      end)
      traffic.start()
      hermes.connect("demo")
      hermes.create_session({ on_done = function(_, r)
        hermes.prompt(r.sessionId, "/say one two three")
        hermes.prompt(r.sessionId, "/run echo here", { on_done = function() _G.over = true end })
      end })]],
      { dir }
    )
    wait_for("over == true")
    local path = dir .. "/saved.jsonl"
    child.lua([[traffic.save(..., function(err) _G.saved = err or "yes" end)]], { path })
    wait_for("saved ~= nil")
    child.cmd("Hermes traffic save again.jsonl")
    wait_for("vim.uv.fs_stat('again.jsonl') ~= nil")
    eq(child.lua_get("saved"), "yes")
    eq(vim.uv.fs_stat(path).mode % 512, 384) -- 0600
    local lines = vim.fn.readfile(path)
    local meta = vim.json.decode(lines[1])
    eq(
      { meta.direction, meta.meta.format, meta.meta.agent, meta.meta.redacted },
      { "meta", 1, "demo", true }
    )
    eq(#lines - 1, child.lua_get("#traffic.messages()"))
    child.lua(
      [[traffic.replay(..., function(err, agent) _G.replayed = {
        err and err.message or "fine", agent } end)]],
      { path }
    )
    wait_for("replayed ~= nil")
    eq(child.lua_get("replayed"), { "fine", "replay-1" })
    wait_for("said['replay-1'] == said.demo")
    eq(child.lua_get("said.demo:find('one two three', 1, true) ~= nil"), true)

    local late = vim.list_extend({ lines[1] }, vim.list_slice(lines, 4))
    vim.fn.writefile(late, dir .. "/late.jsonl")
    local refused = child.lua("return { pcall(traffic.replay, 'late.jsonl') }")
    eq(refused, { false, "hermes.traffic: the recording does not begin with a connection" })
  end)
end)
