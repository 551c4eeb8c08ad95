-- Commands of agents in terminal buffers, on the screen of a real Neovim.

local eq = MiniTest.expect.equality
local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local screens = dofile(here .. "/screen.lua")
local pace = dofile(here .. "/pace.lua")

-- What the specs do inside the Neovim on the screen.
local prelude = [[
local rpc = require("hermes.core.rpc")
_G.terminals = require("hermes.terminals")
vim.api.nvim_create_autocmd({ "TermOpen", "TermRequest", "TermEnter", "TermClose" }, {
  callback = function(args)
  fired[#fired + 1] = args.event
end })
vim.api.nvim_create_autocmd("TermOpen", { command = "startinsert" }) -- as many do
function _G.Emit(name, id, data)
  local its = { agent = "demo", sessionId = "s", terminalId = id }
  rpc.deliver(vim.json.encode({ name, vim.tbl_extend("force", its, data or {}) }))
end
function _G.Start(id, command) Emit("TerminalStarted", id, { command = command }) end
function _G.Print(id, chunk, skipped)
  Emit("TerminalData", id, { chunk = chunk, skipped = skipped }) end
function _G.Exit(id, code) Emit("TerminalExited", id, { exitCode = code }) end
function _G.Output(id)
  return select(2, require("hermes").terminal_output("s", id))
end
function _G.Buffers()
  return vim.tbl_filter(function(buf)
    return vim.bo[buf].buftype == "terminal"
  end, vim.api.nvim_list_bufs())
end
function _G.Lines()
  return vim.api.nvim_buf_get_lines(Buffers()[1], 0, -1, false)
end
function _G.Fresh(config)
  _G.fired = {}
  for _, terminal in ipairs(require("hermes").terminals()) do
    Exit(terminal.terminalId, 0)
  end
  package.loaded["hermes.core.output"] = nil
  require("hermes.core.config").reset()
  require("hermes").setup(config or {})
end
]]

---@param config? table
local function fresh(config)
  local screen = screens.fresh()
  screen:lua("if not terminals then " .. prelude .. " end Fresh(...)", config)
  return screen
end

---@param screen hermes.test.Screen
---@return string all lines of the terminal
local function shown(screen)
  return vim.trim(table.concat(screen:lua("return Lines()"), "\n"))
end

---@param screen hermes.test.Screen
---@param needle string
local function wait_for_shown(screen, needle)
  screen:wait_for(("%q in the terminal"):format(needle), function()
    return shown(screen):find(needle, 1, true)
  end)
end

describe("a terminal of an agent", function()
  it("shows output as it comes, in colors, and how the command ended", function()
    local screen = fresh()
    screen:lua([[Start("t", "make 'all of it'") terminals.show("s", "t")
        Print("t", "one\n\27[31mred\27[0m 50%")]])
    screen:wait_for_text("running · make 'all of it'")
    screen:wait_for_text("red 50%")
    screen:lua([[Print("t", "\rred 99%\n\27[2Aup\27[2B\27[2Gdown")]])
    wait_for_shown(screen, " down")
    eq(shown(screen), "upe\nred 99%\n down")
    eq(
      screen:lua("return { #vim.fn.win_findbuf(Buffers()[1]), vim.bo[Buffers()[1]].modifiable }"),
      {
        1,
        false,
      }
    )
    screen:lua([[Exit("t", 3)]])
    screen:wait_for_text("exit code 3 · make 'all of it'")
    screen:wait_for_text("[exit code 3]")
    screen:lua([[Print("t", "from a child of it\n")]])
    screen:wait_for_text("from a child of it")
  end)

  it("that is opened late shows what was printed, within limits", function()
    local screen = fresh({ terminals = { bytes = 3000 } })
    screen:lua(
      [[Start("t", "seq") for i = 1, 500 do Print("t", "line " .. i .. "\n") end Exit("t", 0)
      terminals.show("s", "t")]]
    )
    screen:wait_for_text("line 500")
    screen:wait_for_text("[exit code 0]")
    local text = shown(screen)
    eq(text:find("^%[%d+ bytes before this are not kept%]\nline %d+\n") ~= nil, true)
    eq({ text:find("line 1\n", 1, true), text:find("line 499\n", 1, true) ~= nil }, { nil, true })
    local kept = screen:lua([[local t, output = require("hermes").terminal_output("s", "t")
      return { t.state, t.dropped + t.bytes, #output == t.bytes, t.bytes <= 3000 }]])
    eq(kept, { "exited", 4392, true, true })
  end)

  it("keeps a bounded number of commands and of lines", function()
    local screen = fresh({ terminals = { count = 3, scrollback = 100 } })
    screen:lua(
      [[for i = 1, 5 do Start("t" .. i, "c" .. i) if i ~= 1 then Exit("t" .. i, 0) end end]]
    )
    eq(
      screen:lua(
        [[return vim.tbl_map(function(t) return t.command end, require("hermes").terminals("s"))]]
      ),
      { "c1", "c4", "c5" }
    )
    screen:lua([[terminals.show("s", "t1") for i = 1, 1000 do Print("t1", i .. "\n") end]])
    screen:wait_for_text("1000")
    eq(screen:lua("return vim.api.nvim_buf_line_count(Buffers()[1]) < 200"), true)
    eq(screen:lua("return { pcall(terminals.show, 's', 't2') }")[1], false)
    -- The buffer of a command that is forgotten goes, once no window shows it.
    screen:lua([[Exit("t1", 0) Start("t6", "c6")]])
    eq(screen:lua("return #Buffers()"), 1)
    screen:type("q")
    screen:wait_for("a closed window", function()
      return screen:lua("return #vim.api.nvim_list_wins()") == 1
    end)
    screen:lua([[Start("t7", "c7")]])
    eq(screen:lua("return #Buffers()"), 0)
  end)

  it("takes no key and no attention", function()
    local screen = fresh()
    screen:type("imy words")
    screen:lua([[Start("t", "x") terminals.show("s", "t", { focus = false })
        Print("t", "out\27[6n\27[c\27]11;?\7\27[5n")]])
    screen:wait_for_text("out")
    screen:type(" go on<Esc>")
    screen:wait_for_mode("n")
    eq(screen:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), { "my words go on" })
    screen:lua([[terminals.show("s", "t")]])
    eq(screen:mode(), "nt")
    screen:type("i")
    screen:wait_for_text("this terminal takes no keys")
    screen:type(":startinsert<CR>")
    screen:wait_for_mode("t")
    screen:type("typed:q!<CR>")
    screen:type("<C-\\><C-n>")
    screen:wait_for_mode("nt")
    eq({ shown(screen), screen:lua("return Output('t')"):find("typed") }, { "out" })
    eq(screen:lua("return vim.tbl_filter(function(e) return e ~= 'TermEnter' end, fired)"), {})
  end)

  it("scrolls with its output while the cursor is at the end", function()
    local screen = fresh()
    screen:lua([[Start("t", "x") terminals.show("s", "t")
        for i = 1, 60 do Print("t", "line " .. i .. "\n") end]])
    screen:wait_for_text("line 60")
    screen:type("gg")
    screen:wait_for("the first line", function()
      return screen:lua("return vim.fn.line('w0')") == 1
    end)
    screen:lua([[for i = 61, 90 do Print("t", "line " .. i .. "\n") end]])
    wait_for_shown(screen, "line 90")
    eq(screen:lua("return vim.fn.line('w0')"), 1)
    screen:type("F")
    screen:wait_for_text("line 90")
    screen:lua([[vim.cmd.wincmd("p") for i = 91, 120 do Print("t", "line " .. i .. "\n") end]])
    screen:wait_for_text("line 120")
  end)

  it("is one of several, and stays after its window", function()
    local screen = fresh()
    screen:lua([[Start("t1", "first") Print("t1", "of the first\n") Start("t2", "second")
        Print("t2", "of the second\n")]])
    screen:type(":Hermes terminal<CR>")
    screen:wait_for_text("1: demo: second (running)")
    screen:type("2<CR>")
    screen:wait_for_text("of the first")
    screen:type("]]")
    screen:wait_for_text("of the second")
    screen:type("g?")
    screen:wait_for_text("end the command")
    screen:type("<CR>")
    screen:type("q")
    screen:wait_for("a closed window", function()
      return screen:lua("return #vim.api.nvim_list_wins()") == 1
    end)
    screen:lua([[Print("t2", "unseen\n") Exit("t2", 1)]])
    screen:lua([[terminals.show("s", "t2")]])
    screen:wait_for_text("unseen")
    screen:wait_for_text("[exit code 1]")
    screen:lua(
      "for _, buf in ipairs(Buffers()) do vim.api.nvim_buf_delete(buf, { force = true }) end"
    )
    screen:lua([[terminals.show("s", "t2")]])
    screen:wait_for_text("of the second")
  end)

  it("has keys of the user's own", function()
    local screen = fresh({ terminals = { keys = false } })
    screen:lua([[Start("t", "x") terminals.show("s", "t")
      vim.keymap.set("n", "K", "<Plug>(hermes-terminal-close)", { buffer = true })]])
    eq(screen:lua("return { vim.fn.maparg('q', 'n'), vim.fn.maparg('i', 'n') }"), { "", "" })
    screen:type("K")
    screen:wait_for("a closed window", function()
      return screen:lua("return #vim.api.nvim_list_wins()") == 1
    end)
  end)

  it("leaves the options of other buffers alone", function()
    local screen = fresh()
    screen:lua([[vim.o.number, vim.o.list = true, true
      Start("t", "x") terminals.show("s", "t")
      _G.there = { vim.wo.number, vim.wo.list, vim.wo.winbar ~= "" }
      vim.cmd("enew")
      _G.after = { vim.wo.number, vim.wo.list, vim.wo.winbar ~= "" }
      require("hermes.traffic").open()
      vim.wo.winfixbuf = false
      vim.cmd("enew")
      vim.list_extend(after, { vim.wo.number, vim.wo.cursorline, vim.wo.winbar ~= "" })
      vim.o.number, vim.o.list = false, false]])
    eq(screen:lua("return there"), { false, false, true })
    eq(screen:lua("return after"), { true, true, false, true, false, false })
  end)

  it("says what is missing", function()
    local screen = fresh()
    screen:lua([[Start("t", "x") terminals.show("s", "t") Print("t", "before\27[3")
        Print("t", "after\n", 1234)]])
    screen:wait_for_text("[1234 bytes were not kept]")
    screen:wait_for_text("after")
  end)

  it("draws a flood in slices", function()
    local screen = fresh()
    screen:lua([[Start("t", "x") terminals.show("s", "t")
      _G.longest, _G.last = 0, nil
      local timer = vim.uv.new_timer()
      timer:start(0, 2, function()
        local now = os.clock()
        longest, last = math.max(longest, last and (now - last) * 1000 or 0), now
      end)
      local clear = ("\27[2J\27[Hxyz"):rep(3000) -- slow to draw for its length
      local function flood(n)
        Print("t", clear:sub(1, 20000))
        if n > 1 then vim.defer_fn(function() flood(n - 1) end, 1) else _G.flooded = true end
      end
      flood(30)]])
    screen:wait_for("the end of the flood", function()
      return screen:lua("return flooded == true")
    end)
    screen:lua([[Print("t", "\27[2J\27[Hthe end")]])
    screen:wait_for_text("the end")
    local longest = screen:lua("return longest")
    local most = pace.most_ms(50, function(code)
      return screen:lua(code)
    end)
    eq(longest < most or longest, true)
  end)
end)
