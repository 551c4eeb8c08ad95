-- hermes.chat on a real screen, with real keys. Needs bin/hermes (make build).

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local root = vim.fs.dirname(vim.fs.dirname(here))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local eq = MiniTest.expect.equality

describe("the chat on the screen", function()
  local screen ---@type hermes.test.Screen

  before_each(function()
    screen = screens.start()
    screen:lua(
      [[local root, program = ...
      _G.notes = {}
      _G.hermes, _G.chat = require("hermes"), require("hermes.chat")
      hermes.setup({ agents = { scripted = {
        command = program,
        args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
        env = { HERMES_TEST_AGENT = vim.json.encode({
          modes = { currentModeId = "ask", availableModes = { { id = "ask", name = "Ask" } } },
        }) },
      } } })
      function _G.Buffer(filetype)
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          if vim.bo[buf].filetype == filetype then
            return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
          end
        end
      end
      function _G.Say(steps)
        hermes.prompt((next(hermes.state().sessions)), vim.json.encode(steps))
      end]],
      root,
      vim.v.progpath
    )
  end)
  after_each(function()
    screen:stop()
  end)

  ---@param opts? table
  local function open(opts)
    screen:lua("chat.setup(...)", opts or {})
    screen:type(":Hermes chat scripted<CR>")
    screen:wait_for_text("scripted · idle")
  end

  --- The columns of the chat, without blanks at the end of lines.
  ---@return string[]
  local function right()
    local lines = {}
    for line in (screen:text() .. "\n"):gmatch("(.-)\n") do
      local own = vim.trim(line:match("│(.*)$") or ""):gsub("%s+", " ")
      lines[#lines + 1] = (own:gsub(" ?[\194\183]+$", "")) -- what fills the line of a fold
    end
    return lines
  end

  local function text(kind, value)
    return { update = { sessionUpdate = kind, content = { type = "text", text = value } } }
  end

  local turn = {
    text("agent_thought_chunk", "Let me see\nwhat there is\nto be done"),
    {
      update = {
        sessionUpdate = "plan",
        entries = {
          { content = "Look", status = "completed", priority = "low" },
          { content = "Change \27[1m", status = "pending", priority = "low" },
        },
      },
    },
    {
      update = {
        sessionUpdate = "tool_call",
        toolCallId = "e",
        title = "Edit it",
        status = "completed",
        content = { { type = "diff", path = "/w/a", oldText = "a\nb\n", newText = "a\n2\n" } },
      },
    },
    {
      update = {
        sessionUpdate = "tool_call",
        toolCallId = "r",
        title = "Run %{1+1}",
        status = "failed",
        content = { { type = "content", content = { type = "text", text = "1\n2\n3\n4" } } },
      },
    },
    text("agent_message_chunk", "**Done**, with `code`."),
    {
      update = {
        sessionUpdate = "usage_update",
        used = 12000,
        size = 200000,
        cost = { amount = 0.5, currency = "USD" },
      },
    },
    { update = { sessionUpdate = "session_info_update", title = "A %{2+2} title" } },
  }

  it("gives none of its lines to the command line", function()
    open()
    screen:type("<Esc><C-w>Lione<CR>two<CR>three<CR>four<Esc>")
    screen:wait_for_text("four")
    eq(screen:lua("return vim.o.cmdheight"), 1)
    screen:type(":only<CR>")
    screen:wait_for("both windows of the chat", function()
      return screen:lua("return #vim.api.nvim_list_wins() == 2 and vim.bo.filetype")
        == "hermes_prompt"
    end)
    eq(screen:lua("return vim.o.cmdheight"), 1)
    screen:type(":q<CR>")
    screen:wait_for("end of the chat's windows", function()
      return screen:lua("return #vim.api.nvim_list_wins() == 1 and vim.bo.filetype == ''")
    end)
    eq(screen:lua("return vim.o.cmdheight"), 1)
  end)

  it("shows each kind of thing, and hides nothing", function()
    open()
    screen:lua("Say(...)", turn)
    screen:wait_for("the answer", function() -- the prompt has the same words
      return vim.tbl_contains(right(), "**Done**, with `code`.")
    end)
    screen:wait_for_text("12k/200k")
    local status = "scripted · idle · Ask · 12k/200k 6% · 0.50 USD · A %{2+2} title"
    screen:wait_for("status", function()
      return screen:lua([[for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.bo[buf].filetype == "hermes_chat" then return vim.b[buf].hermes_chat end
      end]]) == status
    end)
    screen:wait_for("status on the screen", function()
      return vim.startswith(right()[1], "scripted · idle · Ask · 12k/200k 6%")
    end)
    local lines = right()
    local last = 0
    for i, line in ipairs(lines) do
      last = line:find("with `code`.", 1, true) and i or last
    end
    eq(vim.list_slice(lines, last - 12, last), {
      "… Let me see (+2 lines)",
      "",
      "≡ ● Look",
      "○ Change <1b>[1m",
      "",
      "● Edit it",
      "/w/a",
      "a",
      "-b",
      "+2",
      "✗ Run %{1+1} (+4 lines)",
      "",
      "**Done**, with `code`.",
    })
  end)

  it("shows the tokens of a window whose size the agent does not know", function()
    open()
    screen:lua("Say(...)", {
      { update = { sessionUpdate = "usage_update", used = 12000, size = 0 } },
    })
    screen:wait_for("the status", function()
      return vim.startswith(right()[1], "scripted · idle · Ask · 12k tokens")
    end)
    screen:type("<Esc>:Hermes status<CR>")
    screen:wait_for("the row of the session", function()
      local lines = screen:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
      return vim.endswith(lines[#lines], "mode ask, 12k tokens")
    end)
  end)

  it("says of a command that printed nothing only how it failed", function()
    open()
    local steps = {}
    for i, code in ipairs({ 0, 3 }) do
      steps[i] = {
        update = {
          sessionUpdate = "tool_call",
          toolCallId = "c" .. i,
          title = "make",
          status = code == 0 and "completed" or "failed",
          rawInput = { command = "make" },
          rawOutput = { status = "it has ended", exitCode = code },
        },
      }
    end
    screen:lua("Say(...)", vim.list_extend(steps, { text("agent_message_chunk", "That is all.") }))
    local shown
    screen:wait_for("the end of the turn", function() -- whose prompt has the same words
      shown = screen:lua("return Buffer('hermes_chat')")
      return shown:find("\nThat is all.\n", 1, true)
    end)
    eq(shown:match("make\n.*") or shown, "make\nmake\nexit status 3\n\nThat is all.\n")
  end)

  it("gives no lines of the file to a change of a part of it", function()
    open()
    local many = vim.fn.range(1, 20)
    local function part(last)
      return table.concat(many, "\n") .. last
    end
    local steps = {}
    for i, texts in ipairs({
      { "wrold", "world" },
      { "one" .. part("x"), "two" .. part("y") },
      { "a\n", "b\n" },
      { "a", "a\n" },
    }) do
      steps[i] = {
        update = {
          sessionUpdate = "tool_call",
          toolCallId = "e" .. i,
          title = "Edit " .. i,
          status = "completed",
          content = { { type = "diff", path = "/w/a", oldText = texts[1], newText = texts[2] } },
        },
      }
    end
    screen:lua("Say(...)", vim.list_extend(steps, { text("agent_message_chunk", "That is all.") }))
    local shown
    screen:wait_for("the end of the turn", function()
      shown = screen:lua("return Buffer('hermes_chat')")
      return shown:find("\nThat is all.\n", 1, true)
    end)
    eq(vim.split(shown:match("Edit 1\n.*"), "\n", { trimempty = true }), {
      "Edit 1",
      "/w/a",
      "-wrold",
      "+world",
      "Edit 2",
      "/w/a",
      "-one1",
      "+two1",
      " 2",
      " 3",
      " 4",
      "…",
      " 17",
      " 18",
      " 19",
      "-20x",
      "+20y",
      "Edit 3",
      "/w/a",
      "-a",
      "+b",
      "Edit 4",
      "/w/a",
      "-a",
      "\\ No newline at end of file",
      "+a",
      "",
      "That is all.",
    })
  end)

  it("keeps the height of the prompt when windows come and go", function()
    open({ prompt_height = { 3, 12 } })
    screen:lua(
      [[hermes.setup({ permissions = { rules = { { action = "deny", kind = "read" } } } })]]
    )
    screen:type("one<CR>two<CR>three<CR>four<Esc>")
    local function height()
      return screen:lua([[for _, win in ipairs(vim.api.nvim_list_wins()) do
        if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == "hermes_prompt" then
          return vim.fn.winheight(win) -- without the winbar
        end
      end]])
    end
    screen:wait_for("a line for each of the prompt", function()
      return height() == 4
    end)
    for _, keys in ipairs({
      ":Hermes permissions<CR>",
      ":Hermes status<CR>",
      ":quit<CR>",
      ":botright split<CR>",
      ":quit<CR>",
    }) do
      local before = screen:lua("return #vim.api.nvim_list_wins()")
      screen:type(keys)
      screen:wait_for("a window more or less by " .. keys, function()
        return screen:lua("return #vim.api.nvim_list_wins()") ~= before
      end)
      screen:wait_for(keys .. " to leave the prompt as it was", function()
        return height() == 4
      end)
    end
  end)

  it("shows its keys, in a window that can be scrolled and closed", function()
    open()
    for _, enter in ipairs({ "<Esc>", "<C-w>k" }) do
      screen:type(enter .. "g?")
      screen:wait_for_text("Keys of the chat")
      screen:wait_for_text("send the prompt")
      screen:type("G")
      screen:wait_for_text("show these keys")
      screen:type("q")
      screen:wait_for("the chat alone", function()
        return not screen:shows("Keys of the chat")
      end)
      eq(screen:lua("return vim.v.errmsg"), "")
    end
  end)

  it("fits a narrow window", function()
    screen:lua("vim.o.columns = 40")
    open()
    screen:lua("Say(...)", turn)
    screen:wait_for("text", function()
      return table.concat(right(), " "):find("**Done**, with `code`.", 1, true)
    end)
    screen:type("a prompt that is longer than the window")
    screen:wait_for("prompt", function()
      return table.concat(right(), " "):find("longer than the window", 1, true)
    end)
  end)

  for _, columns in ipairs({ 40, 80 }) do
    local on = (", on %d columns"):format(columns)
    it("says in one row what a question is about, and why it cannot be allowed" .. on, function()
      screen:lua("vim.notify = builtin_notify; vim.o.columns, vim.o.lines = ..., 20", columns)
      open()
      local words = {}
      for i = 1, 400 do
        words[i] = ("w%04d"):format(i)
      end
      local call = { toolCallId = "t", kind = "execute", title = table.concat(words, " ") }
      screen:lua("Say(...)", { { ask = { toolCall = call } } })
      screen:wait_for_text("▸ Yes  [allow once]")
      screen:type("<Esc>ga")
      screen:wait_for("the question", function()
        return screen:lua("return vim.api.nvim_get_current_line()"):find("▸ No", 1, true)
      end)
      screen:type("j<CR>")
      screen:wait_for_text("NOT ALL IS SHOWN")
      screen:wait_for_mode("n") -- and not for Enter
      screen:wait_for("the heading above the title", function()
        return screen:text():find("scripted asks: w0001[^\n]*\n[^\n]*title: w0001 ")
      end)
    end)
  end

  it("follows the end, unless the user reads something else", function()
    open({ insert = false })
    screen:lua(
      "Say(...)",
      { { say = "line\n", times = 100 }, { say = "the la" }, { say = "st line" } }
    )
    screen:wait_for_text("the last line")
    screen:type("<C-w>kgg")
    screen:wait_for("top", function()
      return not screen:shows("the last line")
    end)
    screen:lua(
      "Say(...)",
      { { say = "line\n", times = 100 }, { say = "another e" }, { say = "nd" } }
    )
    screen:wait_for("text", function()
      return screen:lua("return Buffer('hermes_chat')"):find("another end", 1, true)
    end)
    vim.wait(200)
    eq({ screen:shows("another end"), screen:lua("return vim.fn.line('.')") }, { false, 1 })
    screen:wait_for_text("↓ 104 new lines · scripted · idle") -- with the prompt and two gaps
    screen:type("G")
    screen:wait_for_text("another end")
    screen:wait_for("all lines seen", function()
      return vim.startswith(right()[1], "scripted · idle")
    end)
  end)

  -- The prompt is shown, too, so that the text comes in two pieces.
  local long = { { say = "line\n", times = 100 }, { say = "the la" }, { say = "st line" } }

  it("goes to the answer when a prompt is sent, wherever the user has read", function()
    open()
    screen:lua("Say(...)", long)
    screen:wait_for_text("the last line")
    screen:type("<Esc><C-w>kgg")
    screen:wait_for("top", function()
      return not screen:shows("the last line")
    end)
    screen:type("ihello<C-s>")
    screen:wait_for_text("You said: hello")
    eq(right()[1], "scripted · idle · Ask")
  end)

  it("follows the end again once the mouse has brought it back", function()
    screen:lua("vim.o.mouse = 'a'")
    open()
    local function wheel(direction)
      screen:lua("vim.api.nvim_input_mouse('wheel', ..., '', 0, 5, 60)", direction)
    end
    screen:lua("Say(...)", long)
    screen:wait_for_text("the last line")
    while screen:shows("the last line") do
      wheel("up")
      vim.wait(20)
    end
    screen:lua("Say(...)", { { say = "mo" }, { say = "re" } })
    screen:wait_for_text("new lines")
    while not screen:shows("more") do
      wheel("down")
      vim.wait(20)
    end
    screen:lua("Say(...)", { long[1], { say = "the very" }, { say = " end" } })
    screen:wait_for_text("the very end")
    screen:wait_for_mode("i")
  end)

  -- One question of every kind.
  local function form(property)
    return {
      mode = "form",
      message = "2 or 3?",
      requestedSchema = { type = "object", properties = { it = property }, required = { "it" } },
    }
  end
  local kinds = {
    {
      toolCall = { toolCallId = "t", title = "rm", rawInput = { command = "rm -rf /" } },
      options = {
        { optionId = "no", name = "No", kind = "reject_once" },
        { optionId = "all", name = "All", kind = "allow_always" },
        { optionId = "yes", name = "Yes", kind = "allow_always" },
      },
    },
    form({ type = "boolean" }),
    form({ type = "string" }),
    { mode = "url", message = "1, 2, y", url = "https://example.com/x" },
  }

  -- Where the user types, how to get there, and the keys that are typed again and again.
  local places = {
    { "prompt", "i", "i", "2 of 3, 1 more\r1\r2\ry yes n\r" },
    { "prompt", "n", "", "0x2~03rAyyP1G02wD.Jiabc 1\27" },
    { "chat", "n", "<C-w>kG", "0\r2l\r$+\r1|+\r0\r5l\r^+\r9h\r+" },
  }
  local waves, of_each_kind = 2, 10

  for _, where in ipairs({ "dialog", "chat" }) do
    it("loses no key to 240 questions and answers none by one; in the " .. where, function()
      open({ permissions = where, insert = false })
      screen:lua([[
        require("hermes.ask.reading").too_soon_ms = 0
        _G.asked, _G.answered, _G.entered, _G.plus = 0, 0, 0, 0
        hermes.on({ "PermissionRequest", "FormElicitation", "UrlElicitation" }, function()
          asked = asked + 1
        end)
        hermes.on("PermissionResolved", function(data)
          answered = answered + (data.outcome == "selected" and 1 or 0)
        end)
        vim.api.nvim_create_autocmd("WinEnter", { callback = function() entered = entered + 1 end })
        vim.keymap.set("n", "+", function() plus = plus + 1 end)]])
      local function pending(count)
        screen:wait_for(count .. " questions", function()
          return screen:lua("return #hermes.pending()") == count
        end)
      end
      for _, place in ipairs(places) do
        local window, mode, enter, keys = unpack(place)
        local name = window .. " " .. mode
        local function type_keys(ms)
          for key in keys:gmatch(".") do
            vim.rpcrequest(screen.channel, "nvim_input", key)
            vim.wait(ms)
          end
        end
        local function begin()
          screen:lua(
            [[for _, buf in ipairs(vim.api.nvim_list_bufs()) do
            if vim.bo[buf].filetype == "hermes_prompt" then
              vim.api.nvim_set_current_win(vim.fn.win_findbuf(buf)[1])
              vim.api.nvim_buf_set_lines(buf, 0, -1, true, ...)
              vim.api.nvim_win_set_cursor(0, { 1, 0 })
            end
          end]],
            mode == "i" and { "" } or vim.split(("one two three four\n"):rep(20), "\n")
          )
          screen:type(enter)
          screen:wait_for("place", function()
            local there = screen:lua("return vim.bo.filetype") == "hermes_" .. window
            return there and screen:mode() == mode
          end)
          screen:lua("plus, entered = 0, 0")
        end
        local function outcome()
          return screen:lua("return { Buffer('hermes_prompt'), plus }")
        end
        begin() -- and without questions
        for _ = 1, 2 * waves do
          type_keys(3)
        end
        screen:type("<C-\\><C-n>")
        screen:wait_for_mode("n")
        local want = outcome()
        begin()
        for _ = 1, waves do
          screen:lua("Say(...)", { { asks = kinds, times = of_each_kind } })
          type_keys(33) -- 30 keys a second
          pending(#kinds * of_each_kind)
          if mode == "n" and where == "dialog" then
            screen:wait_for_question() -- and beside its window
          end
          type_keys(33)
          eq({ name, screen:lua("return answered") }, { name, 0 })
          pending(#kinds * of_each_kind)
          screen:lua("hermes.cancel((next(hermes.state().sessions)))")
          pending(0)
        end
        vim.wait(60000, function()
          return vim.deep_equal(outcome(), want)
        end, 20)
        eq({ name, outcome() }, { name, want })
        eq({ name, screen:lua("return entered"), screen:mode() }, {
          name,
          0,
          mode,
        })
        screen:type("<C-\\><C-n>")
      end
      eq(screen:lua("return { asked, answered }"), { #places * waves * #kinds * of_each_kind, 0 })
      eq(screen:lua("return Buffer('hermes_chat')"):find("ask%-%d+: "), nil)
    end)
  end
end)
