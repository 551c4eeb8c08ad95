-- The questions of real agents in a chat, where they stand under their tool calls, on a real
-- screen. Needs bin/hermes (make build).

local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local screens = dofile(here .. "/screen.lua")
local recorded = dofile(here .. "/recorded_questions.lua")
local eq = MiniTest.expect.equality

for _, columns in ipairs({ 40, 80, 120 }) do
  describe(("a question of a real agent in a chat of %d columns"):format(columns), function()
    local screen ---@type hermes.test.Screen?
    local answered, asking = 0, false

    before_each(function()
      if screen and not asking then
        return
      elseif screen then -- a failed test left its question
        screen:stop()
      end
      screen, answered = screens.start(nil, columns, 24), 0
      screen:lua(
        [[local root, program = ...
      _G.hermes, _G.by = require("hermes"), {}
      hermes.setup({ agents = { scripted = {
        command = program,
        args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
        env = { HERMES_TEST_AGENT = "{}" },
      } } })
      require("hermes.ask.reading").too_soon_ms, require("hermes.ask.questions").quiet_ms = 0, 0
      hermes.on("PermissionResolved", function(data)
        by[#by + 1] = data.optionId or data.outcome
      end)
      function _G.Put(params)
        local session = next(hermes.state().sessions)
        hermes.prompt(session, vim.json.encode({ { ask = params, times = 1 } }))
      end
      function _G.Offers()
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          if vim.bo[buf].filetype == "hermes_chat" then
            local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
            return text:find("\n▸", 1, true) ~= nil
          end
        end
      end
      -- The text of the current window as it is drawn, joined where it was wrapped.
      function _G.Shown()
        vim.cmd.redraw()
        local at, rows = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1], {}
        for row = at.winrow, at.winrow + at.height - 1 do
          local cells = {}
          for column = at.wincol, at.wincol + at.width - 1 do
            cells[#cells + 1] = vim.fn.screenstring(row, column)
          end
          rows[#rows + 1] = table.concat(cells):gsub("^%s+", "")
        end
        return table.concat(rows)
      end
      function _G.Choose(label)
        for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
          if vim.startswith(line, "▸") and line:find(label, 1, true) then
            vim.api.nvim_win_set_cursor(0, { number, 0 })
            return number
          end
        end
      end]],
        vim.fs.dirname(here),
        vim.v.progpath
      )
      screen:type(":Hermes chat scripted<CR>")
      screen:wait_for_text("scripted · idle")
    end)

    for name, params in vim.spairs(recorded.all()) do
      it("is allowed only once all of it was on the screen: " .. name, function()
        asking = true
        screen:wait_for("the end of the question before", function()
          return not screen:lua("return Offers()")
        end)
        screen:lua("vim.g.went = 0; Put(...)", params)
        screen:wait_for("the question", function()
          return screen:lua("return Offers()")
        end)
        screen:type("<Esc>:Hermes respond<CR>:let g:went = 1<CR>")
        screen:wait_for("the cursor on a choice", function()
          return screen:lua("return vim.g.went == 1 and vim.startswith(vim.fn.getline('.'), '▸')")
        end)
        local seen, label = {}, recorded.once(params).name .. "  [allow once]"
        local function top()
          return screen:lua("return vim.fn.line('w0')")
        end
        local function look()
          recorded.note(seen, screen:lua("return Shown()"))
        end
        look()
        local function at_the_beginning()
          return screen:lua("return vim.fn.getline('.')"):find(" asks: ", 1, true)
        end
        local last = screen:lua("return Choose(...)", label)
        look()
        screen:type("<CR>")
        screen:wait_for("an answer, or the reason for none", function()
          return screen:lua("return #by") > answered or at_the_beginning()
        end)
        if at_the_beginning() then
          look()
          while screen:lua("return vim.fn.line('w$')") < last do
            local before = top()
            screen:type("<C-d>")
            screen:wait_for("the next page", function()
              return top() > before
            end)
            look()
          end
          screen:lua("Choose(...)", label)
          screen:type("<CR>")
          screen:wait_for("the answer", function()
            return screen:lua("return #by") > answered
          end)
        end
        answered = answered + 1
        eq(screen:lua("return { #by, by[#by] }"), { answered, recorded.once(params).optionId })
        eq(recorded.missing(seen), {})
        asking = false
      end)
    end

    it("leaves the screen", function()
      screen:stop()
    end)
  end)
end
