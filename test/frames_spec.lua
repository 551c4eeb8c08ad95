-- Whatever an agent sends, Neovim goes on drawing. A timer inside a Neovim with a
-- screen measures the longest time that its loop was busy: in processor time, so
-- that a busy machine makes no difference, and in wall time for the report.

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local pace = dofile(vim.fs.dirname(here) .. "/pace.lua")
local eq = MiniTest.expect.equality

-- On an idle machine nothing takes 50 ms. Slow ones get five times as long.
local most_ms = 250

describe("no frame is lost to", function()
  local screen ---@type hermes.test.Screen

  before_each(function()
    screen = screens.fresh()
    screen:lua([[
      local rpc = require("hermes.core.rpc")
      rpc.send = function() end
      vim.o.statusline = "reset. %{%v:lua.require'hermes'.statusline()%}"
      function _G.Deliver(items) rpc.deliver(vim.json.encode(items)) end
      Deliver({ "StateChanged", { agent = "demo", from = "starting", to = "ready" } })
      Deliver({ "SessionCreated", { agent = "demo", sessionId = "s" } })
      local function cpu()
        local use = vim.uv.getrusage()
        return (use.utime.sec + use.stime.sec) * 1e3 + (use.utime.usec + use.stime.usec) / 1e3
      end
      local timer
      function _G.Watch()
        if timer then timer:close() end
        local longest, wall = 0, 0
        local last, last_wall = cpu(), vim.uv.hrtime()
        timer = vim.uv.new_timer()
        local function look()
          longest = math.max(longest, cpu() - last)
          wall = math.max(wall, (vim.uv.hrtime() - last_wall) / 1e6 - 5)
          last, last_wall = cpu(), vim.uv.hrtime()
        end
        timer:start(5, 5, look)
        function _G.Longest()
          look()
          return { math.floor(longest + 0.5), math.floor(wall + 0.5) }
        end
      end
      -- Batches as the host sends them: a little at a time, and no more while
      -- Neovim is busy.
      function _G.Batches(count, make)
        local i = 0
        _G.came = 0
        local function one()
          i = i + 1
          if i <= count then
            rpc.deliver(make(i))
            _G.came = i
            vim.defer_fn(one, 1)
          end
        end
        vim.schedule(one)
      end
      function _G.Permission(call)
        return vim.json.encode({ "ask", {
          requestId = "r", name = "PermissionRequest", agent = "demo",
          method = "session/request_permission",
          data = { requestId = "r", agent = "demo", sessionId = "s", toolCall = call, options = {
            { optionId = "yes", name = "Yes", kind = "allow_once" },
            { optionId = "no", name = "No", kind = "reject_once" },
          } },
        } })
      end]])
  end)
  after_each(function()
    screen:lua([[
      require("hermes.ask.answers").drop_all("over")
      require("hermes.session.state").agent_gone("demo")]])
  end)

  ---@param what string
  local function fast_enough(what)
    local cpu, wall = unpack(screen:lua("return Longest()"))
    if vim.env.HERMES_FRAMES then
      io.stdout:write(("%s: %d ms of the processor, %d ms\n"):format(what, cpu, wall))
    end
    local most = pace.most_ms(most_ms, function(code)
      return screen:lua(code)
    end)
    eq({ what, cpu, cpu < most }, { what, cpu, true })
    eq(screen:lua("return vim.v.errmsg"), "")
    eq(screen:mode(), "n")
  end

  local diffs = {
    ["two texts of 600,000 lines"] = [[("1\n"):rep(600000), ("2\n"):rep(600000)]],
    ["a change of 2.4 MB"] = [[("some words\n"):rep(90000) .. "old\n",
      "new\n" .. ("some words\n"):rep(90000)]],
    ["a file of 200,000 lines"] = [[nil, ("line\n"):rep(200000)]],
    ["two texts without anything in common"] = [[(function()
        local a, b = {}, {}
        for i = 1, 90000 do
          a[i], b[i] = tostring(i * 7919 % 10), tostring(i * 104729 % 9)
        end
        return table.concat(a, "\n"), table.concat(b, "\n")
      end)()]],
  }
  for what, texts in pairs(diffs) do
    it("a diff of " .. what, function()
      screen:lua(
        ([[
        local old, new = %s
        local diff = { type = "diff", path = "/w/a", oldText = old, newText = new }
        local text = Permission({ toolCallId = "t", kind = "edit", content = { diff } })
        Watch()
        vim.schedule(function() require("hermes.core.rpc").deliver(text) end)]]):format(
          texts
        )
      )
      screen:wait_for_question()
      screen:go_to()
      screen:wait_for("the diff", function()
        return not screen:shows("comparing")
      end)
      screen:type("G<C-b><C-f>Ggg")
      screen:wait_for_text("e /w/a") -- create or change
      fast_enough("diff of " .. what)
    end)
  end

  local calls = {
    ["400 arguments of 60 KB"] = [[(function()
        local input = {}
        for i = 1, 400 do input["a" .. i] = ("é"):rep(30000) end
        return { kind = "execute", rawInput = input }
      end)()]],
    ["a command of 1 MB"] = [[{ kind = "execute", rawInput = { command = ("a"):rep(1e6) } }]],
    ["a command of 30,000 lines"] = [[{ kind = "execute",
      rawInput = { command = ("a\n"):rep(30000) } }]],
    ["a text of 2 MB"] = [[{ kind = "execute",
      content = { {
        type = "content", content = { type = "text", text = ("x y\n"):rep(500000) },
      } } }]],
  }
  for what, call in pairs(calls) do
    it(what, function()
      screen:lua(([[
        local call = %s
        call.toolCallId = "t"
        local text = Permission(call)
        local data = vim.json.decode(text)[2].data
        _G.text = text
        Watch()
        vim.schedule(function()
          require("hermes.ask.permission").ask(data, function() end)
        end)]]):format(call))
      screen:wait_for_question()
      screen:go_to()
      screen:type("G<C-b><C-f>Ggg")
      fast_enough(what)
      screen:lua("require('hermes.ask.permission').withdraw('r')")
    end)
  end

  local writes = {
    ["a change of 2.4 MB"] = [[many(90000, "some more words of line "),
      { "new", unpack(many(7000, "another line ")) }, 45000]],
    ["a change in a file of 200,000 lines"] = [[many(200000, "line "), { "x" }, 100000]],
    ["45,000 lines without anything in common"] = [[(function()
        local list = {}
        for i = 1, 45000 do list[i] = tostring(i * 7919 % 10) end
        return list
      end)(), (function()
        local list = {}
        for i = 1, 45000 do list[i] = tostring(i * 104729 % 9) end
        return list
      end)()]],
    ["a thousand changes"] = [[many(10000, "line "), (function()
        local list = many(10000, "line ")
        for i = 10, 10000, 10 do list[i] = "changed" end
        return list
      end)()]],
  }
  for what, lines in pairs(writes) do
    it("a write to a buffer: " .. what, function()
      screen:lua(([[
        local function many(count, text)
          local list = {}
          for i = 1, count do list[i] = text .. i end
          return list
        end
        local old, new, at = %s
        if at then
          new = vim.list_extend(vim.list_extend(vim.list_slice(old, 1, at), new),
            vim.list_slice(old, at + #new + 1))
        end
        local path = vim.fn.tempname()
        vim.fn.writefile(old, path)
        require("hermes.doc.versions") -- knows the buffers that are opened from now on
        vim.cmd.edit(path)
        local content = table.concat(new, "\n") .. "\n"
        _G.came = nil
        Watch()
        vim.defer_fn(function()
          require("hermes.doc.agent_write").write(path, content, {}, function(problem, text)
            _G.came = problem or text == content
          end)
        end, 20)]]):format(lines))
      screen:wait_for("the write", function()
        return screen:lua("return came") ~= vim.NIL
      end)
      eq(screen:lua("return came"), true)
      fast_enough("write of " .. what)
    end)
  end

  -- The largest that is loaded again, and what is left to the disk.
  local became = {
    ["1 MB in one line"] = { "('x'):rep(1024 * 1024 - 1) .. '\\n'" },
    ["50,000 lines"] = { "('some words\\n'):rep(50000)" },
    ["lines of all characters"] = {
      "('é\u{1F600}\t\1\u{202e}a\u{301}'):rep(300):gsub('a', '\\n', 9):rep(180)",
    },
    ["10 MB in one line"] = { "('x'):rep(10e6)", true },
    ["a million lines"] = { "('x\\n'):rep(1e6)", true },
    ["700 MB of nothing"] = { "'', 7e8", true },
  }
  for what, case in pairs(became) do
    it("an open file that becomes " .. what, function()
      screen:lua(([[
        local text, size = %s
        vim.notify = function(line) table.insert(notes, line) end -- no screen is too small for it
        _G.path = vim.fn.tempname()
        vim.fn.writefile({ "one" }, path)
        for _, name in ipairs({ "versions", "ancestor", "refresh", "autoread" }) do
          require("hermes.doc." .. name)
        end
        vim.cmd.edit(path)
        local buf = vim.api.nvim_get_current_buf()
        local file = io.open(path, "wb")
        file:write(text)
        file:close()
        if size then
          local fd = vim.uv.fs_open(path, "r+", 0)
          vim.uv.fs_ftruncate(fd, size)
          vim.uv.fs_close(fd)
        end
        vim.uv.fs_utime(path, os.time() - 60, os.time() - 60) -- it is not being written
        Watch()
        vim.schedule(function()
          require("hermes.doc.refresh").check(buf, {})
          require("hermes.doc.refresh").now(buf)
        end)]]):format(case[1]))
      screen:wait_for("the file", function()
        return screen:lua("return vim.fn.getline(1) ~= 'one'") ~= (case[2] or false)
          and (not case[2] or screen:lua("return #notes > 0"))
      end)
      screen:type("G<C-b><C-f>gg$0")
      fast_enough("open file that becomes " .. what)
      screen:lua("vim.cmd.bwipeout({ bang = true }); vim.fn.delete(path)")
    end)
  end

  it("10,000 tool calls of 20 KB", function()
    screen:lua([[
      local text = ("x"):rep(20000)
      Watch()
      Batches(500, function(i)
        local batch = {}
        for call = 20 * i - 19, 20 * i do
          vim.list_extend(batch, { "AgentToolCall", { agent = "demo", sessionId = "s", update = {
            sessionUpdate = "tool_call", toolCallId = "t" .. call, title = "Call " .. call,
            status = "completed",
            content = { { type = "content", content = { type = "text", text = text .. call } } },
          } } })
        end
        return vim.json.encode(batch)
      end)]])
    screen:wait_for("all calls", function()
      return screen:lua("return came") == 500
    end)
    fast_enough("10,000 tool calls")
    local count, kb = unpack(screen:lua([[
      collectgarbage() collectgarbage()
      return { vim.tbl_count(require("hermes.session.state").session("s").toolCalls),
        collectgarbage("count") }]]))
    if vim.env.HERMES_FRAMES then
      io.stdout:write(("10,000 tool calls: %d MB\n"):format(kb / 1024))
    end
    eq({ count, kb < 40 * 1024 }, { 1000, true })
  end)

  it("2000 events at which listeners throw", function()
    screen:lua([[
      _G.counting_notify, vim.notify = vim.notify, builtin_notify
      local off = {}
      for i, name in ipairs({ "AgentTextMessage", "ToolCallState", "*" }) do
        off[i] = require("hermes").on(name, function() error("broken\nin two lines") end)
      end
      function _G.Off() for _, fn in ipairs(off) do fn() end end
      vim.api.nvim_create_autocmd("User", {
        pattern = "Agent*", callback = function() error("b") end })
      vim.api.nvim_create_autocmd("User", { pattern = "AgentTextMessage", command = "throw 'c'" })
      Watch()
      Batches(100, function()
        local batch = {}
        for _ = 1, 20 do
          vim.list_extend(batch, { "AgentTextMessage", { agent = "demo", sessionId = "s", update = {
            sessionUpdate = "agent_message_chunk", content = { type = "text", text = "x" } } } })
        end
        return vim.json.encode(batch)
      end)]])
    screen:wait_for("all events", function()
      return not screen:mode():find("!") and screen:lua("return came") == 100
    end)
    screen:type("ihello<Esc>")
    screen:wait_for_text("hello")
    screen:wait_for_mode("n")
    fast_enough("2000 throwing events")
    local told =
      select(2, screen:lua("return vim.fn.execute('messages')"):gsub("a listener of", ""))
    eq({ told > 0, told <= 4, screen:shows("Press ENTER") }, { true, true, false })
    screen:lua([[
      Off()
      vim.api.nvim_clear_autocmds({ event = "User" })
      vim.notify = counting_notify]])
  end)
end)
