-- hermes.chat in real Neovims, with the demo agent and a scripted one. Needs
-- bin/hermes (make build).

local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))
local eq = MiniTest.expect.equality
local pace = dofile(root .. "/test/pace.lua")

describe("the chat", function()
  local child = MiniTest.new_child_neovim()
  local dir

  local prelude = [[
    local root, dir, program, config = ...
    vim.cmd.cd(dir)
    vim.cmd.runtime("plugin/hermes.lua")
    _G.hermes, _G.chat, _G.picked = require("hermes"), require("hermes.chat"), {}
    hermes.setup({ agents = {
      scripted = {
        command = program,
        args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
        env = { HERMES_TEST_AGENT = config },
      },
    } })
    chat.setup({ permissions = "dialog" })
    _G.choose = function() end -- what the user picks: an item, or nil
    vim.ui.select = function(items, opts, done)
      local labels = vim.tbl_map(opts.format_item or tostring, items)
      table.insert(picked, { opts.prompt, labels })
      done(choose(items, labels))
    end
    function _G.OnScreen() -- keys come from the spec; the picker is still the one above
      vim.api.nvim_list_uis = function() return { {} } end
      hermes.setup({ questions = { style = "select" } })
    end
    _G.stderr = {}
    hermes.on("AgentStderr", function(data) table.insert(stderr, data.line) end)
    _G.find = function(filetype)
      for i = #vim.api.nvim_list_bufs(), 1, -1 do
        local buf = vim.api.nvim_list_bufs()[i]
        if vim.bo[buf].filetype == filetype then return buf end
      end
    end
  ]]

  local modes = {
    currentModeId = "ask",
    availableModes = { { id = "ask", name = "Ask" }, { id = "code", name = "Code" } },
  }
  local model = {
    id = "model",
    name = "Model",
    category = "model",
    type = "select",
    currentValue = "small",
    options = { { value = "small", name = "Small" }, { value = "large", name = "Large" } },
  }

  ---@param stored? table[] sessions
  local function start(stored)
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.o.lines, child.o.columns = 50, 120
    local config = { modes = modes, options = { model }, stored = stored or {} }
    child.lua(prelude, { root, dir, vim.v.progpath, vim.json.encode(config) })
  end

  before_each(function()
    dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir, "p")
    start()
  end)
  after_each(function()
    pcall(child.lua, "require('hermes').disconnect()")
    child.stop()
  end)

  ---@param filetype? string
  ---@param first? integer line
  local function shown(filetype, first)
    return child.lua(
      [[local filetype, first = ...
      local buf = find(filetype)
      return buf and table.concat(vim.api.nvim_buf_get_lines(buf, first, -1, false), "\n") or ""]],
      { filetype or "hermes_chat", first or 0 }
    )
  end

  local function status()
    return child.lua("local buf = find('hermes_chat') return buf and vim.b[buf].hermes_chat or ''")
  end

  ---@param what string
  ---@param is fun(): any
  local function wait_for(what, is)
    if not vim.wait(60000, function()
      return is() and true or false
    end, 20) then
      error(
        ("no %s; status %q, messages %q, prompt %q, transcript:\n%s"):format(
          what,
          status(),
          child.cmd_capture("messages"),
          shown("hermes_prompt"),
          shown(nil, -50)
        )
      )
    end
  end

  ---@param text string
  local function wait_for_text(text)
    wait_for(("%q"):format(text), function()
      return shown(nil, -50):find(text, 1, true)
    end)
  end

  ---@param state string
  local function wait_for_state(state)
    wait_for("state " .. state, function()
      return status():find("· " .. state, 1, true)
    end)
  end

  ---@param agent? string
  local function open(agent)
    child.cmd("Hermes chat " .. (agent or "scripted"))
    wait_for_state("idle")
  end

  --- Writes a prompt and sends it. Steps are written so that their words are not in the prompt:
  --- what a test waits for would be there before the turn.
  ---@param text string|table steps
  local function send(text)
    if type(text) == "table" then
      text = vim.json.encode(text):gsub("[g-kmo-qv-z]", function(letter)
        return ("\\u%04x"):format(letter:byte())
      end)
    end
    child.lua(
      [[vim.cmd.stopinsert()
      vim.api.nvim_buf_set_lines(find("hermes_prompt"), 0, -1, true, vim.split(..., "\n"))]],
      { text }
    )
    child.type_keys("<Esc><CR>")
  end

  local function say(kind, text)
    return { update = { sessionUpdate = kind, content = { type = "text", text = text } } }
  end

  it("shows a turn as it goes, with the user's text as it was written", function()
    open("demo")
    child.lua("choose = function(items) return items[2], 2 end")
    send("hello\n# there")
    wait_for_text("That was the tour; ask again for another line.")
    wait_for_state("idle")
    eq(
      vim.trim(shown()),
      vim.trim([[
hello
# there

A file and a command will show it all.

Hello! I keep a list of visits in hermes-demo.md. 

● Write this visit down
● Count the lines

Read hermes-demo.md
Edit hermes-demo.md
hermes-demo.md
@@ -0,0 +1,3 @@
+# Visits of the demo agent
+
+- visit 1

Edit hermes-demo.md: allowed once

wc -l hermes-demo.md
3 hermes-demo.md

wc -l hermes-demo.md: allowed once

wc ended with status 0 and printed "3 hermes-demo.md". That was the tour; ask again for another line.
]])
    )
    eq(shown("hermes_prompt"), "")
    -- Signs and colors stay with their lines.
    eq(
      child.lua([[local signs, groups, buf = {}, {}, find("hermes_chat")
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, -1, 0, -1, { details = true })) do
        local line = vim.api.nvim_buf_get_lines(buf, mark[2], mark[2] + 1, true)[1]
        local what = mark[4].sign_text and vim.trim(mark[4].sign_text)
        if what then
          table.insert(signs, what .. " " .. line)
        elseif (mark[4].hl_group or ""):find("Done") or (mark[4].hl_group or ""):find("Added") then
          table.insert(groups, "   " .. line)
        end
      end
      vim.list_extend(signs, groups)
      return signs]]),
      {
        "❯ hello",
        "… A file and a command will show it all.",
        "≡ ● Write this visit down",
        "● Read hermes-demo.md",
        "● Edit hermes-demo.md",
        "? Edit hermes-demo.md: allowed once",
        "● wc -l hermes-demo.md",
        "? wc -l hermes-demo.md: allowed once",
        "   Read hermes-demo.md",
        "   Edit hermes-demo.md",
        "   +# Visits of the demo agent",
        "   +",
        "   +- visit 1",
        "   wc -l hermes-demo.md",
      }
    )
    eq(vim.trim(child.cmd_capture("messages")), "")
  end)

  it("folds thoughts and outputs once they are over, also while the user types", function()
    open()
    child.type_keys("i")
    child.lua("hermes.prompt((next(hermes.state().sessions)), ...)", {
      vim.json.encode({
        say("agent_thought_chunk", "one\ntwo\nthree"),
        say("agent_message_chunk", "answer"),
        {
          update = {
            sessionUpdate = "tool_call",
            toolCallId = "t",
            title = "Run",
            status = "completed",
            content = { { type = "content", content = { type = "text", text = "a\nb\nc\nd\ne" } } },
          },
        },
      }),
    })
    wait_for_text("\ne\n")
    wait_for_state("idle")
    local folds =
      [[return vim.api.nvim_win_call(vim.fn.win_findbuf(find("hermes_chat"))[1], function()
      local list = {}
      for i = 1, vim.fn.line("$") do
        if vim.fn.foldclosed(i) == i then
          list[#list + 1] = { vim.fn.getline(i), vim.fn.getline(vim.fn.foldclosedend(i)) }
        end
      end
      return list
    end)]]
    eq(child.lua(folds), { { "one", "three" }, { "Run", "e" } })
    eq(child.api.nvim_get_mode().mode, "i")
    child.cmd("stopinsert | quit") -- and in another window
    wait_for("one window", function()
      return child.lua_get("#vim.api.nvim_list_wins()") == 1
    end)
    child.cmd("Hermes chat")
    wait_for("folds", function()
      return vim.deep_equal(child.lua(folds), { { "one", "three" }, { "Run", "e" } })
    end)
  end)

  it("keeps the prompt until it was accepted, and what is typed after it", function()
    child.cmd("Hermes chat scripted")
    child.type_keys("too early<C-s> and more")
    wait_for_text("You said: too early")
    wait_for("rest", function()
      return shown("hermes_prompt") == " and more"
    end)
  end)

  it("gives prompts back that never got to the agent", function()
    open()
    send({ { hold = true } })
    wait_for_state("running")
    for i, text in ipairs({ "second", "third,\nof two lines", "fourth" }) do
      send(text)
      wait_for("queue", function()
        return status():find(i .. " waiting", 1, true) and shown("hermes_prompt") == ""
      end)
    end
    child.type_keys("ia draft<Esc><C-c>")
    wait_for_state("idle")
    wait_for("them in the prompt", function()
      return shown("hermes_prompt") == "second\nthird,\nof two lines\nfourth\na draft"
    end)
    wait_for_text("cancelled")
  end)

  it("stops the turn from insert mode, and without one leaves that mode", function()
    child.lua([[chat.setup({ keys = { cancel = "gc" } })]]) -- not in insert mode, where it is text
    open()
    send({ { hold = true } })
    wait_for_state("running")
    child.type_keys("igc")
    wait_for("the text", function()
      return shown("hermes_prompt") == "gc"
    end)
    child.type_keys("<C-c>")
    wait_for_text("cancelled")
    wait_for_state("idle")
    eq({ child.api.nvim_get_mode().mode, shown("hermes_prompt") }, { "i", "gc" })
    child.type_keys("<C-c>")
    eq(child.api.nvim_get_mode().mode, "n")
  end)

  it("takes a waiting prompt back, and sends one at once", function()
    open()
    send({ { hold = true } })
    wait_for_state("running")
    for _, text in ipairs({ "first", "second" }) do
      send(text)
      wait_for("empty prompt", function()
        return shown("hermes_prompt") == ""
      end)
    end
    child.type_keys("gb")
    wait_for("second in the prompt", function()
      return shown("hermes_prompt") == "second"
    end)
    child.type_keys("gs")
    wait_for_text("You said: first")
    eq(shown("hermes_prompt"), "second")
  end)

  it("says at once that the agent died, keeps the prompt, and starts it again", function()
    open()
    send({ { stderr = "my last words" }, { exit = 3 } })
    wait_for_state("ended")
    wait_for_text("my last words")
    eq(select(2, shown():gsub("exited with status 3", "")), 1)
    send("do not lose this")
    vim.uv.sleep(200)
    eq(shown("hermes_prompt"), "do not lose this")
    eq(status():find("running", 1, true), nil)
    eq(
      child.lua_get("vim.b[find('hermes_prompt')].hermes_chat"),
      "ended; gR starts the agent again"
    )
    child.type_keys("<Esc>gR")
    wait_for_state("idle")
    wait_for_text("a new session: the agent could not load the old one")
    child.type_keys("<CR>")
    wait_for_text("You said: do not lose this")
  end)

  it("takes a session that is open already, by its name", function()
    open()
    send("make it blue")
    wait_for_text("You said: make it blue")
    wait_for_state("idle")
    local first = child.lua_get("vim.b[find('hermes_chat')].hermes_session")
    child.cmd("stopinsert")
    child.cmd("Hermes fork")
    wait_for("fork", function()
      return child.lua_get("#hermes.sessions()") == 2
    end)
    local fork = first .. "-fork"
    eq(
      child.lua_get("require('hermes.command').complete('', 'Hermes chat scripted ')"),
      { "make-it-blue", fork }
    )
    child.cmd("Hermes status")
    child.fn.search("session " .. fork)
    child.type_keys("<CR>")
    wait_for_text("this session was open already")
    send("make it red")
    wait_for_text("You said: make it red")
    wait_for_state("idle")
    eq(
      child.lua_get("vim.tbl_map(function(c) return { c.session, c.name } end, chat.list())"),
      { { first, "make it blue" }, { fork, "make it red" } }
    )
    child.cmd("Hermes chat scripted " .. first)
    eq(child.lua_get("vim.b.hermes_session"), first)
    child.lua("choose = function(items) return items[2], 2 end; chat.pick()")
    eq(
      child.lua_get("picked[#picked][2]"),
      { "make it red · scripted · idle · Ask", "make it blue · scripted · idle · Ask" }
    )
  end)

  it("says why an agent cannot be started, and tries again", function()
    child.lua([[hermes.setup({ agents = { missing = { command = "/no/such/program" } } })]])
    child.cmd("Hermes chat missing")
    wait_for_state("ended")
    wait_for_text("/no/such/program")
    child.lua(
      [[hermes.setup({ agents = { missing = {
      command = vim.v.progpath,
      args = { "--clean", "--headless", "-l", ... },
    } } })]],
      { root .. "/test/scripted_agent.lua" }
    )
    child.type_keys("<Esc>gR")
    wait_for_state("idle")
    send("hello")
    wait_for_text("You said: hello")
  end)

  it("opens a session once the user has logged in", function()
    child.lua(
      [[hermes.setup({ agents = { locked = {
      command = vim.v.progpath,
      args = { "--clean", "--headless", "-l", ... },
      env = { HERMES_TEST_AGENT = vim.json.encode({
        locked = true, login = { { id = "key", name = "With a key" } },
      }) },
    } } })]],
      { root .. "/test/scripted_agent.lua" }
    )
    child.cmd("Hermes chat locked")
    wait_for_state("ended")
    child.type_keys("<Esc>gL")
    wait_for_state("idle")
  end)

  it("says at once that the host died", function()
    open()
    send({ { hold = true } })
    wait_for_state("running")
    child.lua([[for _, chan in ipairs(vim.api.nvim_list_chans()) do
      if chan.argv and chan.argv[1]:find("hermes", 1, true) then
        vim.uv.kill(vim.fn.jobpid(chan.id), "sigkill")
      end
    end]])
    wait_for_state("ended")
    child.type_keys("<Esc>gR")
    wait_for_state("idle")
    send("hello again")
    wait_for_text("You said: hello again")
  end)

  it("closes the session with its buffer, and the agent with its last chat", function()
    open()
    child.lua("chat.open({ agent = 'scripted', new = true })")
    wait_for("two sessions", function()
      return child.lua_get("vim.tbl_count(hermes.state().sessions)") == 2
    end)
    eq(child.lua_get("#chat.list()"), 2)
    wait_for_state("idle")
    -- One chat takes the place of the other, and picking the first brings it back.
    eq(child.lua_get("#vim.api.nvim_list_wins()"), 3)
    local before = child.lua_get("chat.list()[2].buf")
    child.lua("choose = function(items) return items[1], 1 end chat.pick()")
    eq(child.lua_get("{ chat.list()[1].buf, #vim.api.nvim_list_wins() }"), { before, 3 })
    child.lua("chat.pick()")
    local one, two = "s1 · scripted · idle · Ask", "s2 · scripted · idle · Ask"
    eq(child.lua_get("picked"), { { "Chat:", { one, two } }, { "Chat:", { two, one } } })
    eq(child.lua_get("chat.list()[2].buf"), before)
    child.cmd("stopinsert | bdelete")
    wait_for("one session", function()
      return child.lua_get("vim.tbl_count(hermes.state().sessions)") == 1
    end)
    eq(child.lua_get("hermes.state().agents.scripted.state"), "ready")
    eq(child.lua_get("#vim.api.nvim_list_wins()"), 1)
    child.cmd("Hermes chat")
    child.type_keys("<Esc>gX")
    wait_for("no agent", function()
      return child.lua_get("next(hermes.state().agents) == nil")
    end)
    eq(child.lua_get("{ #vim.api.nvim_list_wins(), #chat.list() }"), { 1, 0 })
    eq(vim.trim(child.cmd_capture("messages")), "")
  end)

  it("hides with :q and comes back with its text, and does not refuse :qa", function()
    open()
    child.type_keys("half a prompt<Esc>")
    child.cmd("quit")
    wait_for("one window", function()
      return child.lua_get("#vim.api.nvim_list_wins()") == 1
    end)
    eq(child.lua_get("vim.tbl_count(hermes.state().sessions)"), 1)
    child.cmd("Hermes chat")
    eq(child.lua_get("#vim.api.nvim_list_wins()"), 3)
    eq(shown("hermes_prompt"), "half a prompt")
    pcall(child.cmd, "qa")
    eq(
      vim.wait(60000, function()
        return not pcall(child.lua_get, "1")
      end, 20),
      true
    )
    pcall(child.stop)
    start()
  end)

  it("gives what was not sent to the next chat of the folder, and only once", function()
    local function ended()
      wait_for("no chat", function()
        return child.lua_get("#chat.list() == 0 and next(hermes.state().agents) == nil")
      end)
    end
    local ways = {
      function()
        child.type_keys("gX")
        ended()
      end,
      function()
        child.lua("vim.api.nvim_buf_delete(find('hermes_prompt'), { force = true })")
        ended()
      end,
      function()
        pcall(child.cmd, "qall") -- E37 would leave it there
        local gone = vim.wait(60000, function()
          return not pcall(child.lua_get, "1")
        end, 20)
        eq(gone, true)
        pcall(child.stop)
        start()
      end,
      function()
        vim.uv.kill(child.fn.getpid(), "sigterm")
        vim.wait(60000, function()
          return not pcall(child.lua_get, "1")
        end, 20)
        pcall(child.stop)
        start()
      end,
    }
    for i, leave in ipairs(ways) do
      open()
      eq(shown("hermes_prompt"), "")
      send({ { hold = true } })
      wait_for_state("running")
      for waiting, text in ipairs({ "second", "third,\nof two lines" }) do
        send(text)
        wait_for("queue", function()
          return status():find(waiting .. " waiting", 1, true) and shown("hermes_prompt") == ""
        end)
      end
      child.type_keys("ia draft<Esc>")
      wait_for("draft", function()
        return shown("hermes_prompt") == "a draft"
      end)
      leave()
      open()
      eq({ i, shown("hermes_prompt") }, { i, "second\nthird,\nof two lines\na draft" })
      eq(child.lua_get("vim.api.nvim_win_get_cursor(0)[1]"), 4)
      child.lua("vim.api.nvim_buf_set_lines(find('hermes_prompt'), 0, -1, true, {})")
      child.type_keys("<Esc>gX")
      ended()
    end
  end)

  it("keeps the name of a link in its line", function()
    open()
    local link =
      { type = "resource_link", uri = "https://example.com", name = "a\n▸ Yes  [allow]" }
    send({ { update = { sessionUpdate = "agent_message_chunk", content = link } } })
    wait_for_text("(https://example.com)")
    eq(shown():find("\n▸ Yes", 1, true), nil)
    eq(shown():find("[a", 1, true) ~= nil, true)
  end)

  it("says that a terminal is not known", function()
    open()
    local content = { { type = "terminal", terminalId = "gone" } }
    local call = { sessionUpdate = "tool_call", toolCallId = "t", title = "Build" }
    local done = vim.tbl_extend("error", call, { status = "completed", content = content })
    send({ { update = done } })
    wait_for_text("Build\nthe output is not known: there is no terminal gone")
  end)

  it("shows of an output what a terminal would", function()
    open()
    local function text(output)
      return { type = "content", content = { type = "text", text = output } }
    end
    local outputs = {
      count = "Counting 22\27[K\rCounting 100, \27[32mdone\27[0m.\27[K\n",
      title = "\27]0;title\7named \27]8;;https://x.example\27\\link\27]8;;\27\\\n",
      erase = "working\27[2K\27[1Gready\r\n",
      above = "one 1%\ntwo 1%\n\27[2A\27[Kone 9%\n",
    }
    local want = {
      count = "Counting 100, done.",
      title = "named link",
      erase = "ready",
      above = "one 9%\ntwo 1%",
    }
    local function run(name, steps)
      send(vim.list_extend(steps, { say("agent_message_chunk", "the end of " .. name) }))
      wait_for_text("the end of " .. name)
      wait_for_state("idle")
    end
    ---@param name string
    ---@param more table what else the call has
    ---@return table step
    local function call(name, more)
      local update = { sessionUpdate = "tool_call", toolCallId = name, title = "Run " .. name }
      return { update = vim.tbl_extend("error", update, { status = "completed" }, more) }
    end
    for name, output in pairs(outputs) do
      local input = { command = "make" }
      run(name, {
        call(name .. " 1", { kind = "execute", content = { text(output) } }),
        call(name .. " 2", { rawInput = input, content = { text(output) } }),
        call(name .. " 3", { rawInput = input, rawOutput = output }),
      })
      for i = 1, 3 do
        local is = ("Run %s %d%s\n%s\n"):format(name, i, i > 1 and "\n$ make" or "", want[name])
        eq({ is, shown():find(is, 1, true) ~= nil or shown() }, { is, true })
      end
    end
    -- The text of a file is no output.
    run("file", { call("file", { kind = "read", content = { text("a\27[2Kb\n") } }) })
    wait_for_text("Run file\na<1b>[2Kb\n")
    -- Of a long one the end is shown, in whole lines and characters.
    local long = ("漢字 of a line\n"):rep(5000)
    run("long", { call("long", { kind = "execute", content = { text(long) } }) })
    wait_for_text("\n漢字 of a line\n漢字 of a line\n")
    eq(shown():find("… the beginning is not shown\n漢字 of a line\n", 1, true) ~= nil, true)
    -- Of a terminal, too, and of one of which the beginning is not kept.
    local function terminal(id, name, data)
      data = vim.tbl_extend("error", data, { agent = "scripted", terminalId = id })
      child.lua(
        [[local name, data = ...
        data.sessionId = next(hermes.state().sessions)
        require("hermes.core.events").emit(name, data)]],
        { name, data }
      )
    end
    terminal("t1", "TerminalStarted", { command = "make" })
    terminal("t1", "TerminalData", { chunk = outputs.count })
    terminal("t2", "TerminalStarted", { command = "make" })
    terminal("t2", "TerminalData", { chunk = "\151\165 of a line\nnext", skipped = 100 })
    local function of(id)
      return call("in " .. id, { content = { { type = "terminal", terminalId = id } } })
    end
    run("terminals", { of("t1"), of("t2") })
    wait_for_text("Run in t1\nCounting 100, done.\n")
    wait_for_text("Run in t2\n… the beginning is not shown\nnext\n")
  end)

  --- What the last line of that text is, as a plugin that reads the tree sees it.
  ---@param text string
  ---@return table<string, boolean> captures of its characters, with their languages
  local function captures(text)
    return child.lua(
      [[local text, buf, found = ..., find("hermes_chat"), vim.empty_dict()
      vim.treesitter.get_parser(buf):parse(true)
      local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
      for row = #lines - 1, 0, -1 do
        if lines[row + 1] == text then
          for col = 0, #text - 1 do
            for _, capture in ipairs(vim.treesitter.get_captures_at_pos(buf, row, col)) do
              found[capture.lang .. " " .. capture.capture] = true
            end
          end
          break
        end
      end
      return found]],
      { text }
    )
  end

  --- Waits until a line is marked up, and not as anything that another block has begun.
  ---@param text string
  ---@param capture string
  local function wait_for_capture(text, capture)
    local now
    local ok = vim.wait(20000, function()
      now = captures(text)
      return now[capture] and not now["markdown markup.raw.block"]
    end, 50)
    eq({ text, ok or now }, { text, true })
  end

  it("keeps what one block leaves open out of the others", function()
    open()
    wait_for("the highlighter", function()
      return child.lua_get("vim.treesitter.highlighter.active[find('hermes_chat')] ~= nil")
    end)
    local number = 0
    local function call(content)
      local update = { sessionUpdate = "tool_call", toolCallId = "t" .. number, title = "Run" }
      return { update = vim.tbl_extend("error", update, { content = { content } }) }
    end
    local ways = {
      output = function(text)
        local content = { type = "text", text = text }
        send({ call({ type = "content", content = content }) })
      end,
      diff = function(text)
        local old, new = text .. "\na\n", text .. "\nb\n"
        send({ call({ type = "diff", path = "/a", oldText = old, newText = new }) })
      end,
      thought = function(text)
        send({ say("agent_thought_chunk", text) })
      end,
      prompt = function(text)
        send(text)
      end,
      ["cancelled message"] = function(text)
        send({ { say = text }, { hold = true } })
        wait_for_text(text)
        child.type_keys("<C-c>")
      end,
    }
    for what, way in vim.spairs(ways) do
      for _, begin in ipairs({ "```", "~~~~", "<!--", "<pre>", "* * *\n- item" }) do
        number = number + 1
        way(("%s\nof %s %d"):format(begin, what, number))
        wait_for_text(("of %s %d"):format(what, number))
        wait_for_state("idle")
        local heading, keyword = ("# Heading %d"):format(number), ("local x = %d"):format(number)
        send({ say("agent_message_chunk", heading .. "\n\n```lua\n" .. keyword .. "\n```\nend\n") })
        wait_for_text(keyword .. "\n```\nend")
        wait_for_state("idle")
        wait_for_capture(heading, "markdown markup.heading.1")
        local now = captures(keyword)
        eq({ what, begin, now["lua keyword"] or now }, { what, begin, true })
      end
    end
    -- Only what is in sight is parsed.
    local trees = "vim.tbl_count(vim.treesitter.get_parser(find('hermes_chat')):trees())"
    eq(child.lua_get(trees) < 20, true)
    -- So it is where the user scrolls to, and in a window that is opened later.
    child.type_keys("<Esc><C-w>kgg")
    wait_for_capture("# Heading 1", "markdown markup.heading.1")
    child.cmd("quit")
    child.cmd("Hermes chat")
    wait_for_capture("# Heading 25", "markdown markup.heading.1")
    -- A text is one tree, however it came. An output is none.
    send({ { say = "one\n" }, { say = "```\ntwo\n" }, { say = "# three\n" } })
    wait_for_text("# three")
    wait_for_state("idle")
    eq(captures("# three")["markdown markup.heading.1"], nil)
    number = number + 1
    send({ call({ type = "content", content = { type = "text", text = "# four" } }) })
    wait_for_text("# four")
    eq(captures("# four"), vim.empty_dict())
    eq(vim.trim(child.cmd_capture("messages")), "")
  end)

  it("parses no more at a stretch than a frame has time for, and goes on after it", function()
    open()
    wait_for("the highlighter", function()
      return child.lua_get("vim.treesitter.highlighter.active[find('hermes_chat')] ~= nil")
    end)
    -- What is parsed in Neovim 0.10 is parsed at a stretch.
    child.lua([[_G.most = 0
      local parser = getmetatable(vim.treesitter.get_parser(find("hermes_chat"))).__index
      local parse = parser.parse
      function parser:parse(...)
        if self:lang() == "markdown" and vim.fn.has("nvim-0.11") == 0 then
          local bytes = 0
          for _, region in ipairs(self:included_regions()) do
            for _, range in ipairs(region) do bytes = bytes + range[6] - range[3] end
          end
          most = math.max(most, bytes)
        end
        return parse(self, ...)
      end]])
    send({ { say = ("*_"):rep(100) .. "\n", times = 1500 }, { say = "the long end" } })
    wait_for_text("the long end")
    wait_for_state("idle")
    send({ { say = "# a heading\nof the next" } })
    wait_for_text("of the next")
    wait_for_state("idle")
    if child.fn.has("nvim-0.11") == 0 then
      local most = child.lua_get("most")
      eq(most > 0 and most <= 16 * 1024 or most, true)
      wait_for_capture("# a heading", "markdown markup.heading.1")
    end
    eq(vim.trim(child.cmd_capture("messages")), "")
  end)

  it("keeps both of its windows at :only, and leaves the file that was beside it", function()
    vim.fn.writefile({ "a file" }, dir .. "/a")
    local function names()
      return child.lua([[return vim.tbl_map(function(window)
        return vim.bo[vim.api.nvim_win_get_buf(window)].filetype
      end, vim.api.nvim_list_wins())]])
    end
    for _, position in ipairs({ "right", "below" }) do
      child.lua("chat.setup({ position = ... })", { position })
      for _, keys in ipairs({ "<Esc><C-w>k<C-w>o", "<Esc><C-w>o" }) do
        child.cmd("edit " .. dir .. "/a")
        open()
        local here = keys:find("k", 1, true) and "hermes_chat" or "hermes_prompt"
        child.type_keys(keys)
        wait_for("both windows", function()
          return vim.deep_equal(names(), { "hermes_chat", "hermes_prompt" })
        end)
        eq(child.bo.filetype, here)
        child.type_keys("<C-w>j")
        send("still there")
        wait_for_text("You said: still there")
        child.type_keys("<Esc><C-w>j")
        child.cmd("quit") -- one by one they go together
        wait_for("no window of the chat", function()
          return #names() == 1 and not names()[1]:find("hermes")
        end)
        eq(child.lua_get("vim.fs.basename(vim.api.nvim_buf_get_name(0))"), "a")
      end
    end
  end)

  it("leaves no dead window in a session file", function()
    vim.fn.writefile({ "a file" }, dir .. "/a")
    for name, command in pairs({ a = "Hermes traffic", [""] = "1close" }) do -- it is all there is
      child.cmd("edit a")
      open()
      child.cmd("stopinsert | " .. command)
      child.cmd("mksession! " .. dir .. "/s.vim")
      child.stop()
      start()
      child.cmd("source " .. dir .. "/s.vim")
      local names = child.lua([[return vim.tbl_map(function(window)
        return vim.fs.basename(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(window)))
      end, vim.api.nvim_list_wins())]])
      eq(names, { name })
      eq(child.lua_get("vim.fn.bufnr('hermes://')"), -1)
      wait_for("a word on it", function()
        return child.cmd_capture("messages"):find(":Hermes chat, and there gl, reopens it", 1, true)
      end)
    end
  end)

  it("lets no file into its windows", function()
    vim.fn.writefile(vim.fn["repeat"]({ "line" }, 100), dir .. "/a")
    vim.fn.writefile({ "b:70" }, dir .. "/list")
    vim.fn.writefile(vim.fn["repeat"]({ "line" }, 100), dir .. "/b")
    local function layout()
      return child.lua([[local names = {}
      for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
        local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(window))
        names[#names + 1] = name:match("^hermes://%a+") or vim.fs.basename(name)
      end
      local at = vim.api.nvim_win_get_cursor(0)
      return { names, vim.fs.basename(vim.api.nvim_buf_get_name(0)), at[1] }]])
    end
    local chat = { "hermes://chat", "hermes://prompt" }
    for _, case in ipairs({
      { "edit +50 b", "b", 50 },
      { "edit a", "a", 1 }, -- which is in a window
      { "call setline(1, 'b') | normal! gf", "b", 50 },
      { "cgetexpr ['b:70:x'] | cfirst", "b", 70 },
      { "call nvim_win_set_buf(0, bufadd('b'))", "b", 70 }, -- as pickers do
      { "edit b", "b" },
    }) do
      for _, from in ipairs({ "k", "j" }) do -- the transcript, and the prompt
        child.cmd("silent! only! | edit! +1 a")
        open()
        child.cmd("stopinsert | wincmd " .. from)
        local command, name, line = unpack(case)
        if command:find("setline", 1, true) and from == "k" then
          child.bo.modifiable = true
        elseif not line then -- there is no other window
          child.cmd("1close")
        end
        child.cmd(command)
        local want = { vim.list_extend({ name }, chat), name }
        local now
        wait_for(command .. " from " .. from, function()
          now = layout()
          return vim.deep_equal({ now[1], now[2] }, want) and (not line or now[3] == line)
        end)
        eq(child.lua_get("{ vim.wo.winbar, vim.wo.signcolumn }"), { "", "auto" })
        child.cmd("wincmd l")
        eq(child.lua_get("vim.wo.winbar ~= '' and vim.wo.signcolumn"), "yes:1")
      end
    end
    eq(vim.trim(child.cmd_capture("messages")):find("E%d+:"), nil)
  end)

  it("takes several lines that are pasted", function()
    open()
    child.api.nvim_paste("one\ntwo\r\nthree\n", true, -1)
    wait_for("text", function()
      return shown("hermes_prompt") == "one\ntwo\nthree\n"
    end)
    child.type_keys("<C-s>")
    wait_for_text("You said: one\ntwo\nthree")
  end)

  it("refuses options that it does not know, and takes keys of the user", function()
    for _, wrong in ipairs({
      { { colour = 1 }, 'unknown key "<colour"; valid keys: agent, highlight, insert, keys,' },
      { { agent = 1 }, "<agent must be the name of an agent, not 1" },
      { { agent = "" }, '<agent must be the name of an agent, not ""' },
      { { highlight = 1 }, "<highlight must be true or false, not 1" },
      { { keys = { sned = "x" } }, 'unknown key "<keys.sned"; valid keys: cancel, chats,' },
      { { keys = { send = { x = "y" } } }, 'unknown key "<keys.send.x"; valid keys: i, n' },
      { { keys = { send = { i = 1 } } }, "<keys.send.i must be a key or false, not 1" },
      { { keys = { send = 1 } }, "<keys.send must be a key, keys by mode or false, not 1" },
      { { max_lines = 5 }, "<max_lines must be a whole number, 100 or more, not 5" },
      { { on_last = "x" }, '<on_last must be one of "disconnect", "keep", "ask", not "x"' },
      { { permissions = 1 }, '<permissions must be one of "dialog", "chat", not 1' },
      { { position = "middle" }, '"right", "left", "above", "below", not "middle"' },
      { { prompt_height = 5 }, "<prompt_height must be the least and the most lines, such as { 3" },
      { { prompt_height = { 5, 3 } }, "<prompt_height must be the least and the most lines" },
      { { prompt_height = { 5 } }, "<prompt_height must be the least and the most lines" },
      { { size = 2 }, "<size must be a part of the screen, a number between 0 and 1, not 2" },
      { { size = 80 }, "<size must be a part of the screen, a number between 0 and 1, not 80" },
    }) do
      local text = wrong[2]:gsub("<", "")
      local ok, err = unpack(child.lua("return { pcall(chat.setup, ...) }", { wrong[1] }))
      eq({ ok, err:find(text, 1, true) ~= nil or err }, { false, true })
      text = wrong[2]:gsub("<", "chat.")
      ok, err = unpack(
        child.lua("return { pcall(require([[hermes]]).setup, { chat = ... }) }", { wrong[1] })
      )
      eq({ ok, err:find(text, 1, true) ~= nil or err }, { false, true })
    end
    child.lua(
      "require([[hermes]]).setup({ chat = { size = 0.3, keys = { mode = 'gy', cancel = false } } })"
    )
    child.lua("options = require('hermes.view.chat.options').get()")
    eq(
      child.lua_get("{ options.size, options.keys, options.position }"),
      { 0.3, { mode = "gy", cancel = false }, "right" }
    )
    child.lua([[chat.setup({ keys = { send = { i = "<M-CR>" }, mode = "gz", hide = false } })]])
    open()
    child.type_keys("hello<M-CR>")
    wait_for_text("You said: hello")
    child.type_keys("<Esc>gz")
    eq(child.lua_get("picked[1][1]"), "Mode")
    child.cmd("wincmd k")
    eq(child.fn.maparg("q", "n"), "")
    eq(child.fn.maparg("<Plug>(hermes-chat-hide)", "n") ~= "", true)
  end)

  it("offers modes, models and options by key", function()
    open()
    child.lua("choose = function(items) return items[2], 2 end")
    child.type_keys("<Esc>gm")
    wait_for("mode", function()
      return status():find("· Code", 1, true)
    end)
    child.type_keys("gM")
    wait_for("model", function()
      return child.lua_get("hermes.models((next(hermes.state().sessions))).currentModelId")
        == "large"
    end)
    child.type_keys("<C-w>k")
    child.lua("choose = function(items) return items[1], 1 end")
    child.type_keys("go") -- the only option is the model
    wait_for("option", function()
      return child.lua_get("hermes.sessions()[1].model") == "small"
    end)
    eq(child.lua_get("picked"), {
      { "Mode", { "* Ask", "  Code" } },
      { "Model", { "* Small", "  Large" } },
      { "Option", { "Model: Large" } },
      { "Model", { "  Small", "* Large" } },
    })
  end)

  it("answers in place, by a key on the line of a choice and on no other", function()
    child.lua("OnScreen() chat.setup({ permissions = 'chat' })")
    open()
    local call =
      { toolCallId = "t", title = "Clean", kind = "execute", rawInput = { command = "rm x" } }
    local options = {
      { optionId = "yes", name = "Yes", kind = "allow_once" },
      { optionId = "always", name = "Always", kind = "allow_always" },
      { optionId = "no", name = "No", kind = "reject_once" },
    }
    send({
      say("agent_message_chunk", "▸ Yes  [allow once]\n"), -- words of the agent are no choice
      { ask = { toolCall = call, options = options }, times = 2 },
    })
    wait_for_text("▸ No  [reject once]\n▸ Yes  [allow once]\n▸ Always  [allow always]\n")
    child.type_keys("<C-w>kG") -- the end, which the cursor follows, is no choice
    eq(child.api.nvim_get_current_line(), "")
    child.type_keys("gg/^▸ Yes<CR><CR>")
    eq(child.api.nvim_get_current_line(), "▸ Yes  [allow once]")
    child.type_keys("i<Esc>")
    wait_for_text("▸ Yes  [allow once]")
    wait_for_text("command: rm x")
    eq(child.lua_get("picked"), {})
    child.type_keys("ga")
    eq(child.api.nvim_get_current_line(), "▸ No  [reject once]")
    child.type_keys("k<CR>") -- a line that is no choice
    child.type_keys("jj")
    eq(child.api.nvim_get_current_line(), "▸ Yes  [allow once]")
    vim.uv.sleep(600)
    child.type_keys("<CR>")
    wait_for_text("answer 1: yes")
    wait_for("second question", function()
      return select(2, shown():gsub("▸ No", "")) == 1
    end)
    eq(shown():find("answer 2", 1, true), nil)
    child.type_keys("ga<CR>")
    wait_for_text("answer 2: no")
  end)

  --- Puts a question in a chat with the settings that a new user has.
  ---@param call? table what else the tool call has
  local function ask_by_default(call)
    child.lua([[package.loaded["hermes.chat"], package.loaded["hermes.view.chat.options"] = nil, nil
      _G.chat = require("hermes.chat")
      require("hermes.ask.reading").too_soon_ms = 0
      OnScreen()]])
    open()
    local what = vim.tbl_extend("error", { toolCallId = "t", title = "Clean" }, call or {})
    send({ { ask = { toolCall = what } } })
  end

  it("is where its questions are answered by default, and where :Hermes respond leads", function()
    ask_by_default()
    wait_for_text("▸ Yes  [allow once]")
    eq(child.lua_get("picked"), {})
    child.cmd("stopinsert")
    child.cmd("Hermes respond")
    wait_for("the question", function()
      return child.api.nvim_get_current_line() == "▸ No  [reject once]"
    end)
    child.type_keys("gg/asks: Clean<CR><CR>") -- from the line that says who asks
    eq(child.api.nvim_get_current_line(), "▸ No  [reject once]")
    child.type_keys("j<CR>")
    wait_for_text("answer 1: yes")
  end)

  it(
    "takes the number of a choice for those who want it, in the question and nowhere else",
    function()
      child.lua("hermes.setup({ questions = { digits = 'answer' } })")
      ask_by_default()
      wait_for_text("▸ 1: No  [reject once]\n▸ 2: Yes  [allow once]")
      child.cmd("stopinsert")
      child.type_keys("<C-w>kgg", "2j")
      eq(child.api.nvim_win_get_cursor(0)[1], 3) -- a count
      eq(shown():find("answer 1", 1, true), nil)
      child.type_keys("ga")
      wait_for("the question", function()
        return child.api.nvim_get_current_line() == "▸ 1: No  [reject once]"
      end)
      child.type_keys("9k", "ga", "2")
      wait_for_text("answer 1: yes")
    end
  )

  it("leads to the beginning of a question that was not shown in full", function()
    child.o.lines, child.o.columns = 20, 80
    ask_by_default({ kind = "execute", rawInput = { command = "make " .. ("all "):rep(300) } })
    wait_for_text("▸ Yes  [allow once]")
    child.type_keys("<Esc>ga")
    eq(child.api.nvim_get_current_line(), "▸ No  [reject once]")
    child.type_keys("j<CR>")
    eq(child.api.nvim_get_current_line(), "scripted asks: Clean")
    eq(child.lua_get("vim.fn.winline()"), 1)
    eq(child.cmd_capture("messages"):find("NOT ALL IS SHOWN; it begins here", 1, true) ~= nil, true)
    for _ = 1, 10 do -- what the user reads, screen by screen
      child.type_keys("<C-e><C-e><C-e><C-e>")
      child.cmd("redraw")
    end
    child.type_keys("gaj<CR>")
    wait_for_text("answer 1: yes")
  end)

  it("says in a question what the agent has changed since, and takes no old answer", function()
    ask_by_default({ kind = "execute", rawInput = { command = "ls" } })
    wait_for_text("▸ Yes")
    child.lua([[require("hermes.core.events").emit("AgentToolCallUpdate", {
      agent = "scripted",
      sessionId = next(require("hermes").state().sessions),
      update = { toolCallId = "t", rawInput = { command = "rm -rf build" } },
    })]])
    wait_for_text("command: rm -rf build")
    wait_for_text("It was asked:\n  command: ls")
    child.lua("require('hermes.ask.reading').too_soon_ms = 600000")
    child.type_keys("<Esc>gaj<CR>")
    wait_for("why not", function()
      return child.cmd_capture("messages"):find("Too fast to have read it", 1, true)
    end)
    child.lua("require('hermes.ask.reading').too_soon_ms = 0")
    child.type_keys("<CR>")
    wait_for_text("answer 1: yes")
  end)

  it("goes to a question that is still on its way into the transcript", function()
    child.lua("OnScreen() chat.setup({ permissions = 'chat' })")
    open()
    child.cmd("stopinsert")
    child.lua([[local permission = require("hermes.ask.permission")
      local in_sight = permission.in_sight
      function permission.in_sight(...)
        local taken = in_sight(...)
        vim.cmd("normal ga")
        return taken
      end]])
    send({ { ask = { toolCall = { toolCallId = "t", title = "Clean" } } } })
    wait_for("the question", function()
      return child.api.nvim_get_current_line() == "▸ No  [reject once]"
    end)
    eq({ child.lua_get("vim.v.errmsg"), child.cmd_capture("messages") }, { "", "" })
    child.type_keys("<CR>")
    wait_for_text("answer 1: no")
  end)

  it("leaves questions to a handler of the user", function()
    child.lua("hermes.on_request('PermissionRequest', function() return 'no' end)")
    ask_by_default()
    wait_for_text("answer 1: no")
    eq(shown():find("▸", 1, true), nil)
  end)

  it("makes a rule in place, in words, which answers the next question", function()
    child.lua(
      "OnScreen() chat.setup({ permissions = 'chat' }) require('hermes.ask.reading').too_soon_ms = 0"
    )
    open()
    local call = {
      toolCallId = "t",
      title = "Test",
      kind = "execute",
      rawInput = { command = { "go", "test", "./..." } },
    }
    send({ { ask = { toolCall = call }, times = 3 } })
    wait_for_text(
      "▸ No  [reject once]\n▸ Yes  [allow once]\n▸ Allow this and more …  [rule]\n"
    )
    child.type_keys("gajj<CR>")
    wait_for_text(
      "▸ Back\n▸ Allow the command go test ./..., by scripted, until the session ends\n"
    )
    eq(child.api.nvim_get_current_line(), "▸ Back")
    child.type_keys("<CR>")
    wait_for_text("▸ No  [reject once]\n▸ Yes")
    eq(child.api.nvim_get_current_line(), "▸ No  [reject once]")
    child.type_keys("<CR>")
    wait_for_text("answer 1: no")
    wait_for_text("▸ Allow this and more …  [rule]")
    child.type_keys("gajj<CR>")
    wait_for_text("▸ Back\n")
    child.type_keys("j<CR>")
    wait_for_text("answer 2: yes\nanswer 3: yes")
    eq(shown():find("▸", 1, true), nil)
  end)

  for what, case in pairs({
    ["a question that has only just appeared"] = { soon = true, command = "rm x" },
    ["a question of which a part is out of sight"] = { command = ("rm x\n"):rep(60) },
    ["a question that is too long to show"] = { command = ("x"):rep(70000) },
  }) do
    it("allows nothing in place for " .. what .. ", and refuses all the same", function()
      child.lua("OnScreen() chat.setup({ permissions = 'chat' })")
      child.lua("require('hermes.ask.reading').too_soon_ms = ...", { case.soon and 60000 or 0 })
      open()
      local call = { toolCallId = "t", title = "T", rawInput = { command = case.command } }
      send({ { ask = { toolCall = call }, times = 1 } })
      wait_for_text("▸ Yes")
      child.type_keys("gaj")
      eq(child.api.nvim_get_current_line(), "▸ Yes  [allow once]")
      child.type_keys("<CR>")
      vim.uv.sleep(200)
      wait_for_text("▸ Yes")
      child.type_keys("ga<CR>")
      wait_for_text("answer 1: no")
    end)
  end

  it("leaves a question to the dialog once the chat is out of sight", function()
    child.lua(
      "OnScreen() chat.setup({ permissions = 'chat' }) choose = function(items) return items[1], 1 end"
    )
    open()
    send({ { ask = { toolCall = { toolCallId = "t", title = "Clean" } } } })
    wait_for_text("▸ Yes")
    child.cmd("quit")
    wait_for("the end of the choices", function()
      return not shown():find("▸", 1, true)
    end)
    child.cmd("stopinsert")
    child.cmd("Hermes respond")
    wait_for_text("answer 1: no")
  end)

  --- From now on, measures for how long nothing else gets its turn.
  local function measure()
    child.lua([[_G.longest, _G.last = 0, os.clock() -- of this process: others may be busy, too
      vim.uv.new_timer():start(5, 5, function()
        local now = os.clock()
        longest, last = math.max(longest, (now - last) * 1000), now
      end)]])
  end

  local function took_no_frame()
    local longest = child.lua_get("longest")
    eq(longest < pace.most_ms(150, child.lua) or longest, true)
  end

  it("takes no frame for a flood of tool calls, diffs and outputs", function()
    open()
    measure()
    local half = 300 * 1024
    send({
      {
        times = 3000,
        update = {
          sessionUpdate = "tool_call",
          toolCallId = "c",
          title = "Look",
          status = "completed",
          content = { { type = "content", content = { type = "text", text = ("x\n"):rep(100) } } },
        },
      },
      {
        times = 10,
        update = {
          sessionUpdate = "tool_call",
          toolCallId = "d",
          title = "Edit",
          content = {
            {
              type = "diff",
              path = "/w/a",
              oldText = ("1\n"):rep(half),
              newText = ("2\n"):rep(half),
            },
          },
        },
      },
      { say = ("x"):rep(1000), times = 1000 }, -- one line
      { say = "\nthe end" },
    })
    wait_for_text("\nthe end")
    eq(shown():find("too large to compare", 1, true) ~= nil, true)
    eq(shown():find("too large to compare", 1, true) ~= nil, true)
    took_no_frame()
  end)

  it("opens no menu over a user who has begun to type, and never asks for Enter", function()
    child.stop()
    start({ { sessionId = "old-1", cwd = dir } })
    local function said(text)
      wait_for(text, function()
        return child.cmd_capture("messages"):find(text, 1, true)
      end)
    end
    child.type_keys("i")
    child.lua([[vim.schedule(function() chat.resume({ agent = "scripted" }) end)]])
    said("came while you typed; ask for them again")
    eq({ child.api.nvim_get_mode().mode, child.lua_get("picked") }, { "i", {} })
    child.type_keys("<Esc>")
    child.o.columns = 60
    child.lua([[local list = hermes.list_sessions
      hermes.list_sessions = function(opts)
        opts.on_done({ kind = "agent", message = ("word "):rep(100) })
      end
      chat.resume({ agent = "scripted" })
      hermes.list_sessions = list]])
    said("hermes: word word")
    eq(child.api.nvim_get_mode(), { mode = "n", blocking = false })
    eq(child.cmd_capture("messages"):find(("word "):rep(99), 1, true) ~= nil, true)
  end)

  it("resumes a stored session, and a long history takes no frame", function()
    child.stop()
    start({
      { sessionId = "old-1", cwd = "/", title = "An old talk", history = 10 * 1024 * 1024 },
      { sessionId = "old-2", cwd = dir, title = "\27[31mA%{1}", history = 10 },
    })
    measure()
    child.lua([[choose = function(items) return items[1], 1 end
      vim.schedule(function() chat.resume({ agent = "scripted" }) end)]])
    wait_for_text("The end of the history.")
    wait_for_state("idle")
    eq(child.lua_get("picked"), { { "Session:", { "An old talk", "<1b>[31mA%{1}" } } })
    eq(child.lua_get("hermes.sessions()[1].cwd"), dir) -- not where the agent would like to be
    local lines = select(2, shown():gsub("\n", ""))
    eq(lines <= 6000, true)
    eq(shown():match("^… %d+ earlier lines are not shown\n") ~= nil, true)
    took_no_frame()
  end)
end)
