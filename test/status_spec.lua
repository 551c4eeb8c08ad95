-- The status window on a real screen, with a real agent, while the user types
-- elsewhere. Needs bin/hermes (make build).

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local eq = MiniTest.expect.equality

describe("the status window on the screen", function()
  local screen ---@type hermes.test.Screen

  before_each(function()
    screen = screens.fresh()
    screen:lua(
      [[local agent, config = ...
      require("hermes").setup({ agents = { spec = {
        command = vim.v.progpath,
        args = { "--clean", "-l", agent },
        env = { HERMES_TEST_AGENT = config },
      } } })]],
      vim.fs.dirname(here) .. "/scripted_agent.lua",
      vim.json.encode({ ids = { "first", "second" }, title = "Spec\27[2J" })
    )
  end)

  it("shows agents and sessions, and acts by keys", function()
    screen:type(":Hermes status<CR>")
    screen:wait_for_text("agent spec: not connected")
    screen:type("jc")
    screen:wait_for_text("agent spec: ready  (Spec<1b>[2J 1.2.3)")
    screen:type("n")
    screen:wait_for_text("  session first: idle")
    screen:type("jp")
    screen:wait_for_text("Prompt:")
    screen:type("hold<CR>")
    screen:wait_for_text("  session hold (first): running")
    screen:type("x")
    screen:wait_for_text("  session hold (first): idle")
    screen:type("q")
    screen:wait_for("one window", function()
      return not screen:shows("session hold")
    end)
    eq(screen:lua("return #vim.api.nvim_list_wins()"), 1)
  end)

  it("gives none of its lines to the command line when it is the only window", function()
    screen:type(":Hermes status<CR>:only<CR>")
    screen:wait_for_text("g? shows the keys")
    screen:type("g?")
    screen:wait_for_text("close this window")
    screen:type("g?")
    screen:wait_for("end of the keys", function()
      return not screen:shows("close this window")
    end)
    eq(screen:lua("return { #vim.api.nvim_list_wins(), vim.o.cmdheight }"), { 1, 1 })
  end)

  it("follows what happens without a key or a character of the user", function()
    screen:lua([[require("hermes").connect("spec")]])
    screen:type(":Hermes status<CR>")
    screen:wait_for_text("agent spec: ready")
    screen:lua("vim.cmd.wincmd('p')")
    screen:type("i")
    screen:wait_for_mode("i")
    screen:lua([[require("hermes").create_session()]])
    local typed = {}
    for i = 1, 20 do
      typed[i] = ("word %d "):format(i)
      screen:type(typed[i])
      if i == 10 then
        screen:wait_for("session", function()
          return screen:lua([[return #require("hermes").sessions()]]) > 0
        end)
        screen:lua(
          [[local session = require("hermes").sessions()[1]
          require("hermes").prompt(session.sessionId, "title " .. ...)]],
          "\27]0;a | b\7 % <CR>"
        )
      end
    end
    screen:wait_for_text([[<1b>]0;a | b<07> % <CR> (]])
    screen:wait_for("text", function()
      return screen:lua("return vim.api.nvim_get_current_line()") == table.concat(typed)
    end)
    eq(screen:mode(), "i")
    screen:type("<Esc>")
  end)
end)
