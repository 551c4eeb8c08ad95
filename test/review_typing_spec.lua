-- An agent writes a file while the user types into it. Nothing is lost, and nothing of the user's
-- is shown as the agent's. Needs bin/hermes (make build).

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local root = vim.fs.dirname(vim.fs.dirname(here))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local eq = MiniTest.expect.equality

local times = 40 -- that the agent writes

describe("an agent that writes while the user types", function()
  local screen ---@type hermes.test.Screen

  it("loses no word, and gets none", function()
    local dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir, "p")
    local lines = {}
    for i = 1, 30 do
      lines[i] = ("line %d"):format(i)
    end
    vim.fn.writefile(lines, dir .. "/a.txt")
    screen = screens.start()
    screen:lua(
      [[local root, program, dir = ...
      _G.notes, _G.ended, _G.said = {}, 0, ""
      vim.cmd.cd(dir)
      _G.hermes = require("hermes")
      hermes.setup({
        attention = { done = false },
        agents = { spec = {
          command = program,
          args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
        } },
      })
      hermes.on("TurnEnded", function() ended = ended + 1 end)
      hermes.on("AgentTextMessage", function(data) said = said .. data.text end)
      hermes.connect("spec")
      hermes.create_session({ cwd = dir, on_done = function(err, result)
        _G.session = assert(result, err and err.message).sessionId
      end })
      vim.o.autoindent, vim.o.shortmess = false, vim.o.shortmess .. "F"
      vim.cmd("silent edit a.txt | split | normal! G")
      vim.cmd("wincmd w | normal! 10G")]],
      root,
      vim.v.progpath,
      dir
    )
    screen:wait_for("session", function()
      return screen:lua("return session ~= nil")
    end)
    screen:lua(
      "hermes.prompt(session, vim.json.encode({ { add = 'agent', to = ..., times = "
        .. times
        .. ", every = 50 } }))",
      dir .. "/a.txt"
    )

    local words, at = {}, 0
    --- Keys as fast as a person types them, each by nvim_input().
    local function type_word()
      at = at + 1
      words[at] = ("w%04d"):format(at)
      for key in words[at]:gmatch(".") do
        vim.rpcrequest(screen.channel, "nvim_input", key)
        vim.uv.sleep(2)
      end
      vim.rpcrequest(screen.channel, "nvim_input", " ")
    end
    local between = {
      "<CR>",
      "<Esc>u<C-r>A ",
      "<Esc>:silent write<CR>A ",
      "<Esc>:silent write | silent edit<CR>A ",
      "<Esc><C-w>wo",
      "<Esc>o",
      "<C-o>:silent write<CR>",
    }
    vim.rpcrequest(screen.channel, "nvim_input", "o")
    local function ended()
      return vim.rpcrequest(screen.channel, "nvim_get_mode").blocking == false
        and screen:lua("return ended") > 0
    end
    local started, patience_ns = vim.uv.hrtime(), 180e9 * (tonumber(vim.env.HERMES_PATIENCE) or 1)
    while not ended() do
      type_word()
      type_word()
      vim.rpcrequest(screen.channel, "nvim_input", between[at / 2 % #between + 1])
      assert(vim.uv.hrtime() - started < patience_ns, "the turn does not end: " .. screen:text())
    end
    vim.rpcrequest(screen.channel, "nvim_input", "<Esc>")
    screen:wait_for_mode("n")

    local text =
      screen:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
    local missing = {}
    for _, word in ipairs(words) do
      if not text:find(word, 1, true) then
        missing[#missing + 1] = word
      end
    end
    for i = 1, times do
      if not ("\n" .. text .. "\n"):find(("\nagent %d[ \n]"):format(i)) then
        missing[#missing + 1] = "agent " .. i
      end
    end
    for i = 1, 30 do
      if not ("\n" .. text .. "\n"):find(("\nline %d[ \n]"):format(i)) then
        missing[#missing + 1] = "line " .. i
      end
    end
    eq({ missing, text }, { {}, text })

    -- Whose it is.
    screen:lua([[_G.found = {}
    local function keep(name, member)
      return { on_done = function(err, result)
        found[name] = assert(result, err and err.message)[member]
      end }
    end
    hermes.review.pending(keep("hunks", "hunks"))
    hermes.review.blame(0, keep("lines", "lines"))
    hermes.review.base(0, keep("base", "text"))]])
    screen:wait_for("the review", function()
      return screen:lua("return (found.hunks and found.lines and found.base) ~= nil")
    end)
    local found = screen:lua("return found")
    local shown = {}
    for _, hunk in ipairs(found.hunks) do
      local users = {}
      for _, line in ipairs(hunk.user) do
        users[line - hunk.first + 1] = true
      end
      for i, line in ipairs(hunk.new) do
        shown[#shown + 1] = not users[i] and not line:find("^agent %d+$") and line or nil
      end
      for _, line in ipairs(hunk.old) do
        shown[#shown + 1] = line
      end
    end
    local list = vim.split(text, "\n")
    for _, range in ipairs(found.lines) do
      for i = range.first, range.last do
        shown[#shown + 1] = not list[i]:find("^agent %d+$") and list[i] or nil
      end
    end
    eq({ shown, text }, { {}, text })
    for line in found.base:gmatch("[^\n]+") do -- of an agent, unless the user has typed into it
      eq(line:find("agent") and not line:find("w%d") and line or nil, nil)
    end
    for _, word in ipairs(words) do
      eq({ word, found.base:find(word, 1, true) ~= nil }, { word, true })
    end
    screen:stop()
  end)
end)
