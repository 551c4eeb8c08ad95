-- How questions come up, are answered and go away, on a real screen.

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local eq = MiniTest.expect.equality

for _, style in ipairs({ "window", "line" }) do
  describe("a question in a " .. style, function()
    local screen ---@type hermes.test.Screen

    before_each(function()
      screen = screens.fresh()
      if style == "line" then
        screen:use_line()
      end
    end)

    --- Tests that are about one of the two.
    local function skip() end
    local in_window = style == "window" and it or skip
    local in_line = style == "line" and it or skip

    --- Gives no answer to the question that has the keys.
    local function dismiss()
      if style == "line" then
        screen:type("<Esc>")
      else
        screen:choose("Cancel")
      end
    end

    --- Time in which a question that may come up does.
    local function a_while()
      vim.wait(250)
    end

    in_line("takes nothing for an answer but a number alone", function()
      for id, kind in pairs({ p = "permission", u = "url", f = "form" }) do
        screen:ask(kind, id)
        screen:go_to()
        local prose = "and write 2 more tests for it"
        for _, line in ipairs({ prose, "2 more", "12", " 2", "2.", "" }) do
          screen:type(line .. "<CR>")
          screen:wait_for_text("Not one of the numbers")
          eq(screen:answers(), {})
          screen:type("x<CR>")
        end
        screen:type("<Esc>")
        screen:wait_for_answers(1)
        eq(screen:answers(), { id .. (kind == "permission" and "=" or "=cancel") })
        screen:lua("_G.answers = {}")
      end
      eq(screen:lua("return opened"), {})
    end)

    it("takes no yes from keys that were typed before it could be read", function()
      screen:lua("require('hermes.ask.reading').too_soon_ms = 60000")
      for id, kind in pairs({ p = "permission", u = "url", f = "form" }) do
        screen:ask(kind, id)
        screen:go_to()
        screen:type("2<CR>")
        screen:wait_for_text("Too fast to have read it")
        eq(screen:answers(), {})
        dismiss()
        screen:wait_for_answers(1)
        screen:lua("_G.answers = {}")
      end
      if style == "window" then
        return
      end
      screen:ask("text", "t")
      screen:wait_for_text(":Hermes respond)")
      screen:type(":Hermes respond<CR>")
      screen:wait_for_text("Who?")
      screen:type("me<CR>")
      a_while()
      eq(screen:answers(), {})
      eq(screen:mode(), "c")
      eq(screen:lua("return opened"), {})
    end)

    in_line("leaves no prompt behind when what was typed did not fit on one line", function()
      local long = ("long "):rep(100)
      local properties = { name = { type = "string", title = long, default = long } }
      screen:ask("text", "t", { message = long, requestedSchema = { properties = properties } })
      screen:wait_for_text(":Hermes respond)")
      screen:type(":Hermes respond<CR>")
      screen:wait_for_text("long long")
      screen:wait_for_mode("c")
      screen:type(("me "):rep(100) .. "<CR>")
      screen:wait_for_answers(1)
      screen:ask("permission", "p")
      screen:go_to()
      screen:type(("no number "):rep(50) .. "<CR>")
      screen:wait_for_text("Not one of the numbers")
      screen:type(("no number "):rep(50) .. "<Esc>")
      screen:wait_for_answers(2)
      a_while()
      eq(screen:mode(), "n")
    end)

    it("comes one after the other, whatever kind it is", function()
      screen:ask("url", "a")
      screen:ask("permission", "b")
      screen:ask("form", "c")
      screen:ask("url", "d")
      screen:go_to()
      screen:wait_for_text("Host: example.com")
      eq(screen:shows("rm -rf build"), false)
      screen:type("2<CR>")
      screen:wait_for_answers(1)
      screen:go_to()
      screen:wait_for_text("rm -rf build")
      eq(screen:shows("Host:"), false)
      screen:choose("No")
      screen:wait_for_answers(2)
      screen:go_to()
      screen:wait_for_text("Which?")
      screen:type("1<CR>")
      screen:wait_for_answers(3)
      screen:go_to()
      screen:wait_for_text("Host: example.com")
      screen:type("1<CR>")
      screen:wait_for_answers(4)
      eq(screen:answers(), { "a=accept", "b=no", "c=accept", "d=decline" })
      eq(screen:lua("return opened"), { "https://example.com/x" })
    end)

    for _, kind in ipairs({ "permission", "url", "form", "text" }) do
      in_line("goes away when the agent takes it back: " .. kind, function()
        screen:ask(kind, "a")
        screen:wait_for_text(":Hermes respond)")
        screen:type(":Hermes respond<CR>")
        screen:wait_for(kind, function()
          return screen:mode() == "c" and screen:is_asking() or screen:shows("Who?: name:")
        end)
        screen:type("12")
        screen:wait_for(": 12", function()
          return screen:text():find(": 12", 1, true)
        end)
        screen:lua("Withdraw(...)", "a")
        screen:wait_for_mode("n")
        screen:type("ihello")
        screen:wait_for_text("hello")
        eq(screen:lua("return vim.api.nvim_get_current_line()"), "hello")
        eq(screen:answers(), {})
        eq(#screen:lua("return vim.api.nvim_list_wins()"), 1)
        eq(screen:lua("return vim.v.errmsg"), "")
      end)
    end

    for _, kind in ipairs({ "permission", "url", "form" }) do
      it("waits while a terminal has the keys: " .. kind, function()
        screen:lua("vim.cmd.terminal('cat')")
        screen:type("i")
        screen:wait_for_mode("t")
        screen:ask(kind, "a")
        a_while()
        screen:type("write 2 more<CR>2<CR>")
        screen:wait_for("echo", function()
          return select(2, screen:text():gsub("write 2 more", "")) == 2
        end)
        eq({ screen:answers(), screen:is_asking() }, { {}, false })
        screen:type("<C-\\><C-n>")
        screen:go_to()
        screen:type("1<CR>")
        screen:wait_for_answers(1)
      end)

      it("waits while the command-line window is open: " .. kind, function()
        screen:type("q:")
        screen:wait_for("window", function()
          return screen:lua("return vim.fn.getcmdwintype()") == ":"
        end)
        screen:ask(kind, "a")
        a_while()
        eq(screen:is_asking(), false)
        screen:type("ilet g:typed = 2<CR>")
        screen:go_to()
        eq({ screen:lua("return vim.g.typed"), screen:answers() }, { 2, {} })
      end)
    end

    in_window("waits for a moment of rest", function()
      -- Its Neovim says how long it had no keys, as these may be late on a busy machine.
      screen:lua([[
        require("hermes.ask.questions").quiet_ms = 1500
        local last = vim.uv.hrtime()
        local watch = vim.on_key(function() last = vim.uv.hrtime() end)
        local open = vim.api.nvim_open_win
        function vim.api.nvim_open_win(...)
          vim.api.nvim_open_win, _G.rested_ms = open, (vim.uv.hrtime() - last) / 1e6
          vim.on_key(nil, watch)
          return open(...)
        end]])
      screen:type("i" .. ("abc "):rep(20) .. "<Esc>")
      screen:wait_for_mode("n")
      screen:ask("permission", "a")
      for _ = 1, 10 do
        screen:type("h")
        vim.wait(200)
      end
      screen:wait_for_question()
      local rested_ms = screen:lua("return rested_ms")
      eq(rested_ms > 1490 or rested_ms, true)
    end)

    for _, height in ipairs({ 1, 0 }) do
      it(("is announced once, without a prompt, with cmdheight=%d"):format(height), function()
        screen:lua("vim.o.cmdheight = ...", height)
        screen:type("ihello")
        screen:wait_for_mode("i")
        screen:ask("permission", "a")
        screen:ask("url", "b")
        screen:wait_for("notice", function()
          return #screen:lua("return notes") > 0
        end)
        a_while()
        screen:type(" you")
        screen:wait_for_text("hello you")
        eq(screen:lua("return notes"), { "hermes: demo waits for your answer (:Hermes respond)" })
        eq(screen:mode(), "i")
        eq(screen:lua("return vim.v.errmsg"), "")
      end)
    end

    it("leaves no message behind that it waits", function()
      local waits = "demo waits for your answer"
      local function wait_for_message()
        screen:wait_for("message", function()
          return screen:lua("return vim.fn.execute('messages')"):find(waits, 1, true)
        end)
      end
      screen:lua("vim.notify = builtin_notify")
      screen:type("ihello")
      screen:wait_for_mode("i")
      screen:ask("permission", "a")
      wait_for_message()
      screen:lua("require('hermes.ask.questions').quiet_ms = 3600000")
      screen:type("<Esc>")
      screen:wait_for_text(waits)
      screen:go_to()
      screen:choose("No")
      screen:wait_for_answers(1)
      screen:wait_for("line without a message", function()
        return not screen:shows(waits)
      end)
      wait_for_message() -- in the history
      -- What has come since stays.
      screen:lua("vim.cmd('messages clear')")
      screen:type("ihello")
      screen:wait_for_mode("i")
      screen:ask("permission", "b")
      wait_for_message()
      screen:type("<Esc>")
      screen:wait_for_text(waits)
      screen:lua("vim.cmd.redraw() vim.api.nvim_echo({ { 'something else' } }, true, {})")
      screen:lua("Withdraw('b')")
      a_while()
      eq(screen:shows("something else"), true)
    end)

    -- Where the text is, by its first and last line and column.
    local texts = {
      ["an empty screen"] = { {}, "NE" },
      ["the cursor at the top"] = { { { 1, 1, 1, 1 } }, "SE" },
      ["text at the top right"] = { { { 1, 10, 50, 79 }, { 20, 20, 1, 1 } }, "NW" },
      ["text at the top"] = { { { 1, 8, 1, 79 } }, "SE", 5 },
      ["text everywhere but at the bottom left"] = {
        { { 1, 8, 1, 79 }, { 9, 22, 60, 79 } },
        "SW",
        5,
      },
    }
    for name, case in pairs(texts) do
      in_window("covers the least text: " .. name, function()
        screen:lua(
          [[local areas, line = ...
          local lines = {}
          for row = 1, 22 do
            local cells = vim.split((" "):rep(79), "")
            for _, area in ipairs(areas) do
              for column = area[3], row >= area[1] and row <= area[2] and area[4] or 0 do
                cells[column] = "x"
              end
            end
            lines[row] = table.concat(cells):gsub(" +$", "")
          end
          vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
          vim.api.nvim_win_set_cursor(0, { line, 0 })]],
          case[1],
          case[3] or name:find("cursor") and 1 or 20
        )
        screen:ask("permission", "a")
        screen:wait_for_question()
        local function corner()
          return screen:lua([[
            for _, window in ipairs(vim.api.nvim_list_wins()) do
              local config = vim.api.nvim_win_get_config(window)
              if config.relative ~= "" then
                return config.anchor
              end
            end]])
        end
        eq(corner(), case[2])
        screen:go_to()
        eq(corner(), case[2])
      end)
    end

    in_window("is no wider than what it shows", function()
      screen:ask("permission", "a")
      screen:wait_for_question()
      for line in screen:text():gmatch("[^\n]+") do
        eq(line:find("^x? *╭") == nil or vim.fn.strdisplaywidth(line:match("╭.*")) < 45, true)
      end
    end)

    in_window("shows its keys", function()
      screen:ask("permission", "a")
      screen:go_to()
      screen:type("g?")
      screen:wait_for_text("1-9 go there · zo opens · q hides")
      eq(screen:answers(), {})
    end)

    in_window("is answered by a number for those who want it", function()
      screen:lua("require('hermes').setup({ questions = { digits = 'answer' } })")
      screen:ask("permission", "a")
      screen:wait_for_question()
      screen:type("2j")
      a_while()
      eq(screen:answers(), {})
      screen:go_to()
      screen:type(screen:number("Yes"))
      screen:wait_for_answers(1)
      eq(screen:answers(), { "a=yes" })
    end)

    in_window(
      "shows some of what decides before it has the keys, on the smallest screens",
      function()
        for i, size in ipairs({ { 40, 10 }, { 30, 8 }, { 80, 7 } }) do
          screen:lua("vim.o.columns, vim.o.lines = ...", unpack(size))
          screen:ask("permission", "p" .. i, {
            toolCall = {
              toolCallId = "t",
              title = "Clean up",
              kind = "execute",
              rawInput = { command = "rm -rf build " .. ("and/all/the/rest "):rep(20) },
            },
          })
          screen:wait_for_question()
          screen:wait_for_text("command: rm -rf build")
          screen:wait_for_text("NOT ALL IS SHOWN")
          screen:lua("Withdraw(...) vim.o.lines = 24", "p" .. i)
        end
      end
    )

    it("comes up by :Hermes respond", function()
      screen:lua("require('hermes.ask.questions').quiet_ms = 3600000")
      screen:ask("permission", "a")
      a_while()
      eq(screen:is_asking(), false)
      screen:go_to()
      screen:choose("No")
      screen:wait_for_answers(1)
      screen:type(":Hermes respond<CR>")
      screen:wait_for_text("no question is waiting for your answer")
    end)

    in_window("takes no key until the user goes to it", function()
      for id, kind in pairs({ p = "permission", u = "url", f = "form", t = "text" }) do
        screen:ask(kind, id)
        screen:wait_for_question()
        screen:type("itext 2<CR>1<CR><Esc>gg2jx0<C-w>w<C-w>p")
        screen:wait_for("the text", function()
          return screen:lua("return vim.fn.getline(1)") == "text 2" and screen:mode() == "n"
        end)
        eq({ screen:answers(), screen:lua("return vim.fn.line('$')") }, { {}, 3 })
        screen:wait_for_question() -- is still there
        eq(screen:has_keys(), false)
        screen:lua("Withdraw(...)", id)
        screen:lua("vim.cmd('silent! %delete _')")
      end
    end)

    in_window("takes only <CR> on a choice for an answer", function()
      screen:ask("permission", "p")
      screen:go_to()
      screen:type("gg<CR>2j2k12")
      screen:type("k2")
      a_while()
      eq(screen:answers(), {})
      screen:type("<CR>")
      screen:wait_for_answers(1)
      eq(screen:answers(), { "p=yes" })
      eq(#screen:lua("return vim.api.nvim_list_wins()"), 1)
    end)

    in_window("is read anew when facts arrive, on the choice that the cursor is on", function()
      screen:lua([[
        local diff = require("hermes.doc.diff")
        local compare_later = diff.compare_later
        diff.compare_later = function(_, _, _, _, done)
          diff.compare_later = compare_later
          function _G.Compared()
            local lines = vim.split(("+line\n"):rep(4), "\n", { trimempty = true })
            done({ before = 0, after = 4, lines = lines, more = 0 })
          end
        end
        -- The clock alone lets a minute pass, so that a slow machine is never too late.
        local hrtime, later = vim.uv.hrtime, 0
        vim.uv.hrtime = function() return hrtime() + later end
        function _G.Later() later = later + 60e9 end
        require("hermes.ask.reading").too_soon_ms = 60000]])
      local content = { { type = "diff", path = "/w/a", newText = "x" } }
      screen:ask("permission", "p", {
        toolCall = { toolCallId = "t", title = "T", kind = "edit", content = content },
      })
      screen:go_to()
      screen:wait_for_text("comparing")
      screen:type(screen:number("Yes"))
      screen:wait_for("the cursor on the choice", function()
        return screen:lua("return vim.api.nvim_get_current_line()"):match("Yes")
      end)
      screen:lua("Later() Compared()")
      screen:wait_for_text("+line")
      eq(screen:lua("return vim.api.nvim_get_current_line()"):match("Yes"), "Yes")
      screen:type("<CR>")
      screen:wait_for_text("Too fast to have read it")
      eq(screen:answers(), {})
      screen:lua("Later()")
      screen:lua("vim.o.columns = 100") -- shows the same
      screen:type(screen:number("Yes") .. "<CR>")
      screen:wait_for_answers(1)
      eq(screen:answers(), { "p=yes" })
    end)

    in_window("takes no answer in a closed fold, where nobody sees it", function()
      for _, digits in ipairs({ "go", "answer" }) do
        screen:reset()
        screen:lua("require('hermes').setup({ questions = { digits = ... } })", digits)
        screen:ask("permission", "p")
        screen:go_to()
        local no, yes = screen:number("No"), screen:number("Yes")
        screen:lua("vim.fn.search(': No') vim.cmd('normal! zfG')")
        screen:type(yes)
        a_while()
        eq(screen:answers(), {})
        screen:type("<CR>") -- opens the fold
        screen:wait_for_text(": Yes")
        eq(screen:answers(), {})
        screen:type(no .. (digits == "go" and "<CR>" or ""))
        screen:wait_for_answers(1)
        eq(screen:answers(), { "p=no" })
      end
    end)

    in_window("hides, and comes back when it is asked for", function()
      screen:ask("permission", "p")
      screen:wait_for_question()
      for _, key in ipairs({ "q", "<Esc>", ":q<CR>" }) do
        screen:go_to()
        screen:type(key)
        screen:wait_for("hidden question", function()
          return not screen:is_asking()
        end)
        a_while()
        eq({ screen:is_asking(), screen:answers() }, { false, {} })
      end
      screen:go_to()
      screen:choose("No")
      screen:wait_for_answers(1)
    end)

    in_window("loses the keys when the user leaves it, and keeps its place", function()
      screen:ask("permission", "p")
      screen:go_to()
      screen:type("<C-w>p")
      screen:wait_for("preview", function()
        return screen:is_asking() and not screen:has_keys()
      end)
      screen:type("ihello<Esc>")
      screen:wait_for_text("hello")
      eq(screen:answers(), {})
      screen:go_to()
      screen:choose("Yes")
      screen:wait_for_answers(1)
      eq(screen:answers(), { "p=yes" })
    end)

    for _, focused in ipairs({ false, true }) do
      for _, kind in ipairs({ "permission", "url", "form", "text" }) do
        local how = focused and ", while it has the keys" or ""
        in_window("goes away when the agent takes it back: " .. kind .. how, function()
          screen:ask(kind, "a")
          screen:wait_for_question()
          if focused then
            screen:go_to()
          end
          screen:lua("Withdraw(...)", "a")
          screen:wait_for("no question", function()
            return not screen:is_asking()
          end)
          screen:type("ihello")
          screen:wait_for_text("hello")
          eq(screen:lua("return vim.api.nvim_get_current_line()"), "hello")
          eq(screen:answers(), {})
          eq(#screen:lua("return vim.api.nvim_list_wins()"), 1)
          eq(screen:lua("return vim.v.errmsg"), "")
        end)
      end
    end

    it("is answered from Insert mode, which goes on where it was", function()
      screen:lua("vim.keymap.set('i', '<C-g>', '<Plug>(hermes-respond)')")
      for i, row in ipairs({ { "one two", "" }, { "one two", "<Esc>hhi" } }) do
        screen:type("<C-\\><C-n>:silent %delete _<CR>i" .. row[1] .. row[2])
        screen:wait_for_text("one two")
        screen:ask("permission", "p" .. i)
        screen:wait_for("waiting question", function()
          return screen:lua("return #require('hermes.ask.questions').list() > 0")
        end)
        screen:type("<C-g>")
        screen:wait_for("question with the keys", function()
          return screen:has_keys()
        end)
        screen:choose("No")
        screen:wait_for_answers(i)
        if style == "window" then
          screen:wait_for_mode("i")
          screen:type("X")
          screen:wait_for_text(i == 1 and "one twoX" or "one Xtwo")
        end
      end
    end)

    in_window("only waits where it may not open by itself", function()
      screen:lua("require('hermes').setup({ questions = { open = false } })")
      screen:ask("permission", "p")
      screen:wait_for_text(":Hermes respond)")
      a_while()
      eq(screen:is_asking(), false)
      screen:go_to()
      screen:choose("No")
      screen:wait_for_answers(1)
    end)

    in_window("does not cover the line of the cursor", function()
      screen:type("i" .. ("line<CR>"):rep(20) .. "<Esc>")
      for key, line in pairs({ gg = 1, G = 21 }) do
        screen:type(key .. "0")
        screen:wait_for("the cursor", function()
          return screen:lua("vim.cmd.redraw() return vim.fn.line('.')") == line
        end)
        screen:ask("permission", key)
        screen:wait_for_question()
        local covered = screen:lua([[
        local row = vim.fn.screenpos(0, vim.fn.line("."), 1).row
        for _, window in ipairs(vim.api.nvim_list_wins()) do
          local config = vim.api.nvim_win_get_config(window)
          if config.relative ~= "" then
            local top = vim.fn.win_screenpos(window)[1]
            return row >= top and row < top + config.height + 2 and { row, top, config } or false
          end
        end]])
        eq(covered, false)
        screen:lua("Withdraw(...)", key)
        screen:wait_for("no question", function()
          return not screen:is_asking()
        end)
      end
    end)
  end)
end
