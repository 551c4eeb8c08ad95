-- What the user sees of a question, on a real screen of 80 columns and 24 lines.

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local eq = MiniTest.expect.equality

for _, style in ipairs({ "window", "line" }) do
  describe("the facts of a question in a " .. style, function()
    local screen ---@type hermes.test.Screen

    before_each(function()
      screen = screens.fresh()
      if style == "line" then
        screen:use_line()
      end
    end)

    --- Puts a question and goes to it where it would not come up otherwise.
    local function ask(...)
      screen:ask(...)
      if style == "line" then
        screen:go_to()
      else
        screen:wait_for_question()
      end
    end

    --- Tests that are about one of the two.
    local function skip() end
    local in_window = style == "window" and it or skip
    local in_line = style == "line" and it or skip

    -- The text that the user must not miss, or must not be able to allow.
    local evil = "; rm -rf EVIL"

    ---@param call table a tool call
    local function permission(call)
      ask("permission", "p", { toolCall = vim.tbl_extend("keep", call, { toolCallId = "t" }) })
    end

    local function host_command(command)
      return {
        title = "Run " .. command,
        kind = "execute",
        rawInput = { command = command, program = "/bin/sh", cwd = "/w", shell = false },
      }
    end

    it("say whether there is the terminal that a call shows", function()
      local known = screen:lua([[
        local output = require("hermes.core.output")
        local id = { agent = "demo", sessionId = "s", terminalId = "known" }
        local command = { command = "make", cwd = "/w" }
        output.update("TerminalStarted", vim.tbl_extend("error", id, command))
        return output.get("s", "known", "demo") ~= nil
      ]])
      eq(known, true)
      local content = vim.tbl_map(function(id)
        return { type = "terminal", terminalId = id }
      end, { "known", "gone" })
      permission({ kind = "execute", title = "Build", content = content })
      screen:wait_for_text("terminal gone (not known here)")
      eq(screen:framed():find("terminal known\n", 1, true) ~= nil, true)
    end)

    local padded = {
      ["1500 blanks"] = host_command("sh -c 'echo ok" .. (" "):rep(1500) .. evil .. "'"),
      ["60 options"] = host_command(
        "tool" .. (" --harmless-option-with-a-long-name"):rep(60) .. evil
      ),
      ["a long title"] = {
        title = ("Looks at the list of files. "):rep(100),
        kind = "execute",
        rawInput = { command = "echo ok" .. evil },
      },
      ["a title without arguments"] = { -- which says alone what runs
        title = "echo ok" .. (" && echo all is well"):rep(60) .. evil,
        kind = "execute",
      },
      ["40 locations"] = {
        title = "Look",
        kind = "execute",
        locations = vim.tbl_map(function(i)
          return { path = "/w/file" .. i }
        end, vim.fn.range(40)),
        rawInput = { command = "echo ok" .. evil },
      },
      ["tabs"] = host_command("echo ok" .. ("\t"):rep(900) .. evil),
      ["line breaks"] = host_command("echo ok" .. ("\n"):rep(900) .. evil),
      ["wide blanks"] = host_command("echo ok" .. ("\227\128\128"):rep(900) .. evil),
      ["letters"] = host_command("echo " .. ("a"):rep(5000) .. evil),
      ["wide letters"] = host_command("echo " .. ("字"):rep(3000) .. evil),
      ["letters around it"] = host_command(
        "echo " .. ("a"):rep(5000) .. evil .. "; echo " .. ("b"):rep(5000)
      ),
      ["more than is ever shown"] = host_command("echo " .. ("a"):rep(200000) .. evil),
      ["60 arguments"] = {
        kind = "execute",
        rawInput = (function()
          local input = { zz = "echo ok" .. evil }
          for i = 1, 60 do
            input["a" .. i] = "harmless"
          end
          return input
        end)(),
      },
      ["the environment"] = {
        kind = "execute",
        rawInput = {
          command = "make",
          cwd = "/w",
          env = { "A=" .. ("a"):rep(3000), "B=" .. evil },
        },
      },
      ["a path"] = {
        kind = "edit",
        rawInput = { file_path = "/w/" .. ("d/"):rep(3000) .. evil, content = "x" },
      },
      ["diffs"] = {
        kind = "edit",
        content = vim.list_extend(
          vim.tbl_map(function(i)
            return { type = "diff", path = "/w/file" .. i, newText = "x\n" }
          end, vim.fn.range(40)),
          { { type = "diff", path = "/w/" .. evil, newText = "x\n" } }
        ),
      },
    }
    for name, call in pairs(padded) do
      it("allows nothing that " .. name .. " keep out of sight", function()
        permission(call)
        local facts = screen:framed()
        local offered = screen:shows("[allow once]")
        if offered then
          eq({ facts:find("rm -rf EVIL", 1, true) ~= nil, facts }, { true, facts })
        else
          eq({ screen:shows("NOT ALL IS SHOWN"), facts }, { true, facts })
          eq({ facts:find("%d more ") ~= nil, facts }, { true, facts })
        end
      end)
    end

    it("says how many blanks there are between what can be read", function()
      permission(padded["1500 blanks"])
      local facts = screen:framed()
      eq(
        facts:find("command: sh -c 'echo ok‹1,500 blanks›; rm -rf EVIL'", 1, true) ~= nil
          and facts:find("cwd: /w", 1, true) ~= nil
          and screen:shows("[allow once]"),
        true
      )
    end)

    it("shows the end of what is too long and how much is missing", function()
      permission(padded["letters"])
      local facts = screen:framed()
      eq(facts:match("… ([%d,]+) more characters …") ~= nil, true)
      eq(facts:find("rm -rf EVIL", 1, true) ~= nil, true)
      eq(screen:shows("NOT ALL IS SHOWN"), true)
      eq(screen:shows("[allow once]"), false)
    end)

    it("shows command, folder and environment before the words of the agent", function()
      permission({
        title = "Harmless",
        kind = "execute",
        locations = { { path = "/w/a" } },
        rawInput = { about = "nothing", env = { "A=b" }, cwd = "/w", command = "make" },
      })
      if style == "window" then
        screen:go_to()
        screen:wait_for_text("title: Harmless")
      end
      local order = {}
      for name in screen:framed():gmatch("(%l+): ") do
        order[#order + 1] = name
      end
      eq(vim.list_slice(order, 1, 3), { "command", "cwd", "env" })
      eq(order[#order], "title")
    end)

    --- Scrolls through all of it, once all of it is there. What came late may have left the
    --- cursor on a choice, below what is to be read.
    local function read_all()
      local function rows(of)
        return screen:lua("return vim.fn.line(...)", of)
      end
      screen:wait_for("all of it", function()
        return not screen:shows("comparing")
      end)
      screen:type("gg")
      screen:wait_for("its first line", function()
        return rows("w0") == 1
      end)
      -- Each page is noted by these events, which come after the scrolling.
      screen:lua([[vim.g.looks = 0
        vim.api.nvim_create_autocmd({ "CursorMoved", "WinScrolled" }, {
          group = vim.api.nvim_create_augroup("looks", {}),
          callback = function() vim.g.looks = vim.g.looks + 1 end,
        })]])
      while rows("w$") < rows("$") do
        local first, looks = rows("w0"), screen:lua("return vim.g.looks")
        screen:type("<C-d>")
        screen:wait_for("the next page", function()
          return rows("w0") > first and screen:lua("return vim.g.looks") > looks
        end)
      end
    end

    in_line("allows what is too long for the window once all of it was on the screen", function()
      local long = "echo " .. ("a"):rep(5000) .. evil .. "; echo " .. ("b"):rep(5000)
      permission({ kind = "execute", rawInput = { command = long } })
      screen:choose("Show everything first")
      screen:wait_for_text("q goes back to the question")
      screen:type("q")
      screen:wait_for_text("NOT ALL IS SHOWN")
      eq(screen:shows("[allow once]"), false)
      screen:choose("Show everything first")
      screen:wait_for_text("q goes back to the question")
      screen:type("G")
      screen:wait_for_text("kind: execute")
      screen:type("q")
      screen:wait_for_text("NOT ALL IS SHOWN") -- the end alone is not all of it
      eq(screen:shows("[allow once]"), false)
      screen:choose("Show everything first")
      screen:wait_for_text("q goes back to the question")
      read_all()
      screen:wait_for_text("kind: execute")
      screen:type("q")
      screen:wait_for_text("[allow once]")
      screen:choose("Yes")
      screen:wait_for_answers(1)
      eq(screen:answers(), { "p=yes" })
    end)

    in_line("never allows what is too long to be shown at all", function()
      permission({ kind = "execute", rawInput = { command = ("a"):rep(200000) } })
      screen:choose("Show everything first")
      screen:wait_for_text("it can only be refused")
      screen:type("G")
      screen:wait_for_text("kind: execute")
      screen:type("q")
      screen:wait_for_text("NOT ALL IS SHOWN")
      eq(screen:shows("[allow once]"), false)
      screen:choose("No")
      screen:wait_for_answers(1)
      eq(screen:answers(), { "p=no" })
    end)

    in_line("never allows what the host had to cut", function()
      ask("permission", "p", { truncated = { bytes = 5000000, entries = 0 } })
      eq(screen:shows("missing: 5000000 bytes"), true)
      eq(screen:shows("[allow once]"), false)
      screen:choose("Show everything first")
      screen:wait_for_text("it can only be refused")
      screen:type("q")
      screen:wait_for_text("NOT ALL IS SHOWN")
      eq(screen:shows("[allow once]"), false)
    end)

    in_line("offers nothing more when the screen becomes too small for it", function()
      permission(host_command("echo " .. ("a"):rep(700)))
      eq(screen:shows("[allow once]"), true)
      local yes = screen:number("Yes")
      screen:lua("vim.o.columns = 40")
      screen:type(yes .. "<CR>")
      screen:wait_for_text("NOT ALL IS SHOWN")
      eq(screen:answers(), {})
    end)

    in_line("offers a way to see more and a way out, however many options there are", function()
      local options = {}
      for i = 1, 60 do
        options[i] = { optionId = "y" .. i, name = "Yes " .. i, kind = "allow_once" }
      end
      options[61] = { optionId = "no", name = "No", kind = "reject_once" }
      ask("permission", "p", {
        options = options,
        toolCall = {
          toolCallId = "t",
          kind = "execute",
          rawInput = { command = "echo ok" .. evil },
        },
      })
      screen:wait_for_text("No  [reject once]")
      eq(screen:framed():find("command: echo ok" .. evil, 1, true) ~= nil, true)
      eq(screen:mode(), "c")
    end)

    for _, columns in ipairs({ 80, 40 }) do
      local where = (", on %d columns"):format(columns)
      local in_both = columns == 80 and it or in_window
      in_both("names every option by its kind, however long its name is" .. where, function()
        screen:lua("vim.o.columns = ...", columns)
        ask("permission", "p", {
          options = {
            { optionId = "a", name = "Reject " .. ("it "):rep(100), kind = "allow_always" },
            { optionId = "b", name = ("\226\128\174"):rep(100), kind = "allow_once" },
            { optionId = "c", name = ("\232\168\177"):rep(100), kind = "reject_always" },
            { optionId = "d", name = "No", kind = "reject_once" },
          },
        })
        local kinds = {}
        for kind in screen:text():gmatch("%[(%l+ %l+)%] *│") do
          kinds[#kinds + 1] = kind
        end
        table.sort(kinds)
        eq(kinds, { "allow always", "allow once", "reject always", "reject once" })
      end)
    end

    in_line("is put by the user's own picker, the facts above it", function()
      screen:lua([[
      vim.ui.select = function(items, opts, on_choice)
        _G.picked = { labels = vim.tbl_map(opts.format_item, items), prompt = opts.prompt }
        _G.choose = function(i) on_choice(items[i], i) end
        local buf = vim.api.nvim_create_buf(false, true)
        local config = { relative = "editor", row = 0, col = 0, zindex = 150 }
        config.width, config.height = 78, 20
        vim.api.nvim_open_win(buf, true, config)
      end]])
      screen:ask("permission", "p", {
        toolCall = { kind = "execute", rawInput = { command = ("a"):rep(5000) .. evil } },
      })
      screen:wait_for_text(":Hermes respond)")
      screen:type(":Hermes respond<CR>")
      screen:wait_for("picker", function()
        return screen:lua("return picked ~= nil")
      end)
      eq(screen:lua("return picked.labels"), { "No  [reject once]", "Show everything first" })
      eq(screen:lua("return picked.prompt:find('NOT ALL IS SHOWN', 1, true)"), 1)
      screen:wait_for_text("EVIL")
      eq(screen:framed():find(evil, 1, true) ~= nil, true)
      screen:later("vim.api.nvim_win_close(0, true); choose(2)")
      screen:wait_for_text("q goes back to the question")
      read_all()
      screen:wait_for_text("kind: execute")
      screen:type("q")
      screen:wait_for("all options", function()
        return #screen:lua("return picked.labels") == 2
          and screen:lua("return picked.labels[2]") == "Yes  [allow once]"
      end)
      screen:later("choose(2)")
      screen:wait_for_answers(1)
      eq(screen:answers(), { "p=yes" })
    end)

    in_line("shows the whole address of a page, or does not open it", function()
      local url = "https://example.com/" .. ("a"):rep(4000) .. "?to=EVIL"
      ask("url", "u", { url = url })
      local facts = screen:framed()
      eq(facts:find("Host: example.com", 1, true), 1)
      eq(facts:find("?to=EVIL", 1, true) ~= nil, true)
      eq(screen:shows("Open it"), false)
      eq(screen:shows("NOT ALL IS SHOWN"), true)
      screen:choose("Show everything first")
      screen:wait_for_text("q goes back to the question")
      read_all()
      screen:wait_for_text("message: ")
      screen:type("q")
      screen:wait_for_text("Open it")
      screen:choose("Open it")
      screen:wait_for_answers(1)
      eq(screen:answers(), { "u=accept" })
      eq(screen:lua("return opened"), { url })
    end)

    -- What the window adds: it scrolls, and what was not on the screen allows nothing.

    --- Scrolls through all of it, and chooses.
    local function read_and_choose(name)
      read_all()
      screen:wait_for_text(name)
      screen:choose(name)
    end

    in_window("allow once all of them were on the screen, not just the end", function()
      local long = "echo " .. ("a"):rep(5000) .. evil .. "; echo " .. ("b"):rep(5000)
      permission({ kind = "execute", rawInput = { command = long } })
      screen:go_to()
      screen:type("G")
      screen:wait_for_text("Yes  [allow once]")
      screen:choose("Yes")
      screen:wait_for_text("NOT ALL IS SHOWN")
      eq(screen:answers(), {})
      screen:type("gg")
      screen:wait_for_text("command: echo")
      read_and_choose("Yes")
      screen:wait_for_answers(1)
      eq(screen:answers(), { "p=yes" })
    end)

    for what, given in pairs({
      ["too long to be shown at all"] = {
        toolCall = {
          toolCallId = "t",
          kind = "execute",
          rawInput = { command = ("a"):rep(200000) },
        },
      },
      ["more than is ever shown together"] = {
        toolCall = {
          toolCallId = "t",
          kind = "execute",
          rawInput = {
            command = ("a"):rep(60000),
            b = ("b"):rep(60000),
            c = ("c"):rep(60000),
            d = ("d"):rep(60000),
          },
        },
      },
      ["cut by the host"] = { truncated = { bytes = 5000000, entries = 0 } },
    }) do
      in_window("never allow what is " .. what, function()
        ask("permission", "p", given)
        screen:go_to()
        screen:wait_for_text("it can only be refused")
        screen:type("G")
        screen:wait_for_text("Cancel")
        eq({ screen:shows("[allow once]"), screen:shows("[reject once]") }, { false, true })
        screen:choose("No")
        screen:wait_for_answers(1)
        eq(screen:answers(), { "p=no" })
      end)
    end

    in_window("show a row of the command however small the screen is", function()
      screen:lua("vim.o.laststatus = 0")
      local room = screen:lua("return vim.o.lines")
      screen:lua("vim.o.cmdheight = ...", room - 9) -- as on a screen of ten lines
      permission(host_command("rm " .. ("a"):rep(300)))
      eq(screen:shows("command: rm aaa"), true)
      screen:wait_for_text("NOT ALL IS SHOWN")
    end)

    in_window("stay on the screen when it becomes smaller", function()
      permission(host_command("echo " .. ("a"):rep(1200)))
      screen:go_to()
      screen:lua("vim.o.columns = 40")
      screen:wait_for("the beginning alone", function()
        return screen:shows("command: echo") and not screen:shows("kind: execute")
      end)
      screen:type("2<CR>")
      screen:wait_for_text("NOT ALL IS SHOWN")
      eq(screen:answers(), {})
    end)

    for when, early in pairs({ compared = false, ["not compared yet"] = true }) do
      in_window(
        "show each change of several files in full, and allow none unread, " .. when,
        function()
          local content = {}
          for file = 1, 3 do
            local new = {}
            for line = 1, file * 30 do
              new[line] = ("line %d of %d"):format(line, file)
            end
            content[file] =
              { type = "diff", path = "/w/" .. file, newText = table.concat(new, "\n") }
          end
          if early then
            screen:lua([[
            local diff = require("hermes.doc.diff")
            local compare_later = diff.compare_later
            diff.compare_later = function(...)
              diff.compare_later = compare_later
              _G.Compare = vim.F.pack_len(...)
            end]])
          end
          permission({ kind = "edit", content = content })
          screen:wait_for_text(early and "comparing" or "more lines")
          eq(screen:shows("NOT ALL IS SHOWN"), true)
          screen:go_to()
          if early then
            screen:lua("require('hermes.doc.diff').compare_later(vim.F.unpack_len(Compare))")
            screen:wait_for_text("line 15 of 1")
          end
          screen:wait_for_text("create /w/1")
          screen:type("G")
          screen:wait_for_text("line 90 of 3")
          screen:choose("Yes")
          screen:wait_for_text("NOT ALL IS SHOWN")
          eq(screen:answers(), {})
          screen:type("gg")
          screen:wait_for_text("create /w/1")
          read_and_choose("Yes")
          screen:wait_for_answers(1)
          eq(screen:answers(), { "p=yes" })
        end
      )
    end

    for what, change in pairs({
      ["are too large to compare"] = { ("a\n"):rep(120000), ("b\n"):rep(120000), "120000 lines" },
      ["have more lines than are shown"] = { "", ("a\n"):rep(1484), "485 lines" },
    }) do
      in_window("say in the choice how much of changes that " .. what .. " stays unread", function()
        local old, new, unread = unpack(change)
        permission({
          kind = "edit",
          content = { { type = "diff", path = "/w/a", oldText = old, newText = new } },
        })
        screen:go_to()
        read_and_choose(("Yes  [allow once], %s unread"):format(unread))
        screen:wait_for_answers(1)
        eq(screen:answers(), { "p=yes" })
      end)
    end

    in_window("have more choices than fit, a way out among them", function()
      local options = {}
      for i = 1, 60 do
        options[i] = { optionId = "y" .. i, name = "Yes " .. i, kind = "allow_once" }
      end
      options[61] = { optionId = "no", name = "No", kind = "reject_once" }
      ask("permission", "p", { options = options })
      eq(screen:shows("more choices"), true)
      screen:go_to()
      screen:type("G<CR>")
      screen:wait_for_answers(1)
      eq(screen:answers(), { "p=" })
    end)

    in_window("show the whole address of a page, or do not open it", function()
      local url = "https://example.com/" .. ("a"):rep(4000) .. "?to=EVIL"
      ask("url", "u", { url = url })
      local facts = screen:framed()
      eq(facts:find("Host: example.com", 1, true), 1)
      eq({ screen:shows("Open it"), screen:shows("NOT ALL IS SHOWN") }, { false, true })
      screen:go_to()
      read_and_choose("Open it")
      screen:wait_for_answers(1)
      eq(screen:answers(), { "u=accept" })
      eq(screen:lua("return opened"), { url })
    end)

    --- The agent says something of the tool call "t".
    local function hear(name, update)
      screen:lua(
        [[
        require("hermes.session.state")
        local events, name, update = require("hermes.core.events"), ...
        events.emit("StateChanged", { agent = "demo", to = "ready" })
        events.emit("SessionCreated", { agent = "demo", sessionId = "s" })
        update = vim.tbl_extend("error", { toolCallId = "t" }, update)
        events.emit(name, { agent = "demo", sessionId = "s", update = update })]],
        name,
        update
      )
    end

    local function list_files()
      local call = { title = "List", kind = "execute", rawInput = { command = "ls" } }
      hear("AgentToolCall", vim.tbl_extend("error", call, { status = "pending" }))
      permission(call)
      screen:go_to()
      screen:wait_for_text("command: ls")
    end

    it("say what the agent has changed since it asked, which has to be read", function()
      list_files()
      hear("AgentToolCallUpdate", { status = "in_progress", title = "List the files" })
      screen:lua("require('hermes.ask.reading').too_soon_ms = 600000")
      hear("AgentToolCallUpdate", { rawInput = { command = "rm -rf EVIL" } })
      screen:wait_for_text("command: rm -rf EVIL")
      local shown = screen:framed()
      local order = { "has changed this since it asked", "rm -rf EVIL", "It was asked", "ls" }
      local at = 0
      for _, what in ipairs(order) do
        local found = shown:find(what, at + 1, true)
        eq({ what, found ~= nil }, { what, true })
        at = found or at
      end
      screen:wait_for("question with the keys", function()
        return screen:has_keys()
      end)
      screen:choose("Yes")
      screen:wait_for_text("Too fast to have read it")
      eq(screen:answers(), {})
      screen:lua("require('hermes.ask.reading').too_soon_ms = 0")
      if style == "line" then
        screen:choose("Yes")
      else
        screen:type("<CR>")
      end
      screen:wait_for_answers(1)
      eq(screen:answers(), { "p=yes" })
    end)

    it("say nothing of what does not decide", function()
      list_files()
      hear("AgentToolCallUpdate", { title = "Other", status = "in_progress", locations = {} })
      hear("AgentToolCallUpdate", { rawInput = { command = "ls" } })
      screen:choose("Yes")
      screen:wait_for_answers(1)
      eq({ screen:answers(), screen:shows("has changed this") }, { { "p=yes" }, false })
    end)

    for status, words in pairs({ completed = "been completed", failed = "failed" }) do
      it("say that the tool call is " .. status, function()
        list_files()
        hear("AgentToolCallUpdate", { status = status })
        screen:wait_for_text("has " .. words .. " before your answer")
        screen:choose("No")
        screen:wait_for_answers(1)
        eq(screen:answers(), { "p=no" })
      end)
    end

    it("have a version, which counts what has changed", function()
      local call = { title = "List", kind = "execute", rawInput = { command = "ls" } }
      hear("AgentToolCall", vim.tbl_extend("error", call, { status = "pending" }))
      screen:lua([[_G.one = { agent = "demo", sessionId = "s", options = {}, toolCall = {
        toolCallId = "t", title = "List", kind = "execute", rawInput = { command = "ls" } } }
        require("hermes").permissions.details(one)]])
      local versions = {}
      for i, update in ipairs({
        { status = "in_progress" },
        { rawInput = { command = "ls -l" } },
        { rawInput = { command = "ls -l" } },
        { status = "completed" },
      }) do
        hear("AgentToolCallUpdate", update)
        versions[i] = screen:lua("return require('hermes').permissions.version(one)")
      end
      eq(versions, { 0, 1, 1, 2 })
      hear("AgentToolCallUpdate", { rawInput = { command = "ls" } }) -- it has been other than shown
      eq(screen:lua("return require('hermes').permissions.version(one)"), 3)
    end)

    it("say what is not named, and which files are elsewhere", function()
      ask("permission", "p", {
        toolCall = { toolCallId = "t", kind = "edit", title = "Tidy" },
        deciding = { words = true, unnamed = true, outside = { "/etc/EVIL" } },
      })
      screen:wait_for_text("OUTSIDE THE SESSION'S FOLDER: /etc/EVIL")
      screen:wait_for_text("does not name the files")
    end)
  end)
end
