-- The tests of question_screens_*_spec.lua: the questions of real agents as a user sees them, on
-- real screens. Each width is a spec file of its own, and they run side by side. Needs bin/hermes
-- (make build).
--
-- test/screens has what is on the screen; with HERMES_UPDATE_SCREENS=1 these files are written
-- instead of compared.

local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local root = vim.fs.dirname(here)
local screens = dofile(here .. "/screen.lua")
local recorded = dofile(here .. "/recorded_questions.lua")
local eq = MiniTest.expect.equality

--- Waits for the screen that is kept, or keeps what is there once nothing changes any more.
---@param name string
---@param screen hermes.test.Screen
local function same_screen(name, screen)
  local path = ("%s/screens/%s.txt"):format(here, name)
  local function text()
    -- Neovim 0.10 has one cell, not two, for an emoji with a variation selector.
    local lines = screen:text():gsub("[^\n]*\u{FE0F}[^\n]*", function(line)
      return (line:gsub(" +│ *$", "│"))
    end)
    return lines:gsub(" +\n", "\n") .. "\n"
  end
  if vim.env.HERMES_UPDATE_SCREENS == "1" then
    local last
    repeat
      last = text()
      vim.wait(500)
    until last == text()
    local file = assert(io.open(path, "wb"))
    file:write(last)
    return file:close()
  end
  local kept = vim.uv.fs_stat(path) and recorded.read(path) or ""
  screen:wait_for(path, function()
    return text() == kept
  end)
end

--- Defines the tests of all questions on a screen of this size.
---@param columns integer
---@param lines integer
return function(columns, lines)
  describe(("a question of a real agent, on %d columns"):format(columns), function()
    local screen ---@type hermes.test.Screen?
    local answered, asking = 0, false

    --- Empties the command line of what an earlier test typed and of what Neovim says when its
    --- terminal is slow.
    local function clear()
      screen:lua("vim.cmd.echo([['']])")
    end

    before_each(function()
      if screen and asking then -- a failed test left its question
        screen:stop()
        screen, answered = nil, 0
      end
      asking = true
      if screen then
        return clear()
      end
      screen = screens.start(nil, columns, lines)
      clear()
      screen:lua(
        [[local root, program, columns = ...
        _G.hermes, _G.notes, _G.by = require("hermes"), {}, {}
        vim.o.ruler, vim.o.showcmd, vim.o.laststatus = false, false, 0
        hermes.setup({ agents = { scripted = {
          command = program,
          args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
          env = { HERMES_TEST_AGENT = "{}" },
        } } })
        require("hermes.ask.reading").too_soon_ms, require("hermes.ask.questions").quiet_ms = 0, 0
        hermes.on("PermissionResolved", function(data)
          by[#by + 1] = data.optionId or data.outcome
        end)
        -- The first and the last line in sight, without those in a closed fold.
        function _G.Ends()
          local first, last = vim.fn.line("w0"), vim.fn.line("w$")
          local folded = { vim.fn.foldclosedend(first), vim.fn.foldclosed(last) }
          first = folded[1] > 0 and folded[1] + 1 or first
          last = folded[2] > 0 and folded[2] - 1 or last
          return { vim.fn.getline(first), vim.fn.getline(last) }
        end
        function _G.Put(params)
          local text = vim.json.encode({ { ask = params, times = 1 } })
          local session = next(hermes.state().sessions)
          if session then
            return hermes.prompt(session, text)
          end
          hermes.connect("scripted")
          -- The folder of the recorded questions.
          hermes.create_session({ cwd = "/workspace", on_done = function(_, result)
            hermes.prompt(result.sessionId, text)
          end })
        end]],
        root,
        vim.v.progpath
      )
    end)

    ---@param count integer
    local function wait_for_answer(count)
      screen:wait_for("answer", function()
        return #screen:lua("return by") == count
      end)
    end

    for name, params in vim.spairs(recorded.all()) do
      it("can be allowed once all of it was on the screen: " .. name, function()
        screen:lua("Put(...)", params)
        screen:wait_for_question()
        screen:wait_for_text(":Hermes respond ")
        same_screen(("%s-%d"):format(name, columns), screen)
        local seen, allow = {}, recorded.once(params)
        screen:type(":Hermes respond<CR>")
        screen:wait_for("question with the keys", function()
          return screen:has_keys()
        end)
        local function rows(of)
          return screen:lua("return vim.fn.line(...)", of)
        end
        local function look()
          screen:wait_for("the page", function()
            local ends = screen:lua("return Ends()")
            return screen:shows("│" .. ends[1]) and screen:shows("│" .. ends[2])
          end)
          recorded.note(seen, screen:framed())
        end
        screen:wait_for("a footer", function()
          return screen:shows(" · q hides ")
        end)
        same_screen(("%s-%d-focus"):format(name, columns), screen)
        look()
        if rows("w$") < rows("$") then
          local last = rows("w$")
          screen:type("G")
          screen:wait_for_text("Cancel")
          look()
          if rows("w0") > last + 1 then -- the beginning and the end are not all of it
            screen:choose(allow.name .. "  [allow once]")
            screen:wait_for_text("NOT ALL IS SHOWN")
            eq(#screen:lua("return by"), answered)
          end
          screen:type("gg")
          screen:wait_for("the beginning", function()
            return rows("w0") == 1
          end)
        end
        while rows("w$") < rows("$") do
          local first = rows("w0")
          screen:type("<C-d>")
          screen:wait_for("the next page", function()
            return rows("w0") > first
          end)
          look()
        end
        eq(recorded.missing(seen), {})
        screen:choose(allow.name .. "  [allow once]")
        answered = answered + 1
        wait_for_answer(answered)
        eq(screen:lua("return by[#by]"), allow.optionId)
        asking = false
      end)
    end

    it("leaves the screen", function()
      screen:stop()
    end)
  end)
end
