-- What hermes.shim, hermes.claude and hermes.shared open, in a real tmux with a real Neovim: the
-- same options, handles and functions for all. Needs bin/hermes (make build) and tmux.

local eq = MiniTest.expect.equality
local tmuxes = dofile(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)) .. "/tmux.lua")
local read, write, wait_for = tmuxes.read, tmuxes.write, tmuxes.wait_for

local server = tmuxes.new("programs") ---@type hermes.test.Tmux
if not server then
  return it("a program in a terminal", tmuxes.skip)
end
local project = server.dir .. "/project"

local prelude = [[
vim.cmd.runtime("plugin/hermes.lua")
vim.o.swapfile = false
_G.hermes, _G.heard, _G.notes = require("hermes"), {}, {}
vim.notify = function(text) notes[#notes + 1] = text end
local bin
bin, _G.project = ...
vim.env.PATH = bin .. ":" .. vim.env.PATH
hermes.setup({ review = false, shim = { presets = {
  claude = { env = { HEARD = bin .. "/heard" } },
  codex = { env = { HEARD = bin .. "/heard" }, interrupt = "ctrl-c" },
  fake = { command = { "fake", "word" }, title = "Fake", env = { HEARD = bin .. "/heard" } },
} } })
hermes.on({ "TerminalStarted", "TerminalExited", "StateChanged" }, function(data, name)
  if data.shim then
    heard[#heard + 1] = ("%s %s %s"):format(name, data.agent, data.exitCode or data.to or "")
  end
end)
-- A session that codex shares.
function _G.Share(id)
  local state = require("hermes.session.state")
  state.update("StateChanged", { agent = "codex", from = "starting", to = "ready" })
  require("hermes.program.shared_session").follow("codex", false)
  local data = { agent = "codex", sessionId = id, cwd = project }
  data._meta = { hermes = { socket = "/s" } }
  state.update("SessionCreated", data)
  require("hermes.core.events").emit("SessionCreated", data)
end
Share("s-1")
_G.openers = {
  shim = function(opts) hermes.shim.open("fake", opts) end,
  claude = function(opts) hermes.claude.open(opts) end,
  shared = function(opts) hermes.shared.open("s-1", opts) end,
}
function _G.Wait(call, opts)
  local done
  call(vim.tbl_extend("force", opts or {}, { on_done = function(err, program)
    done = { err and err.message or program }
  end }))
  vim.wait(50000, function() return done end, 10)
  return done[1]
end
function _G.Do(what, name, ...)
  local args = { ... }
  return Wait(function(opts)
    if what == "send" then
      hermes.shim.send(name, args[1], vim.tbl_extend("force", args[2] or {}, opts))
    else
      hermes.shim[what](name, opts)
    end
  end)
end
]]

---@param code string
---@return any
local function lua(code, ...)
  return server:lua(code, ...)
end

local function start_neovim(name)
  server:neovim(name, project .. "/f")
  lua(prelude, server.dir, project)
end

---@param kind string
---@param opts? table
---@return any program or message
local function open(kind, opts)
  local code = "local kind, opts = ...; return Wait(openers[kind], opts)"
  return lua(code, kind, opts or vim.empty_dict())
end

---@param program any
---@return table program that has started
local function started(program)
  eq(type(program) == "table" and program.state or program, "running")
  wait_for("program", function()
    if program.pane then
      return server:screen(program.pane):find("ready")
    end
    local lines = lua("return vim.api.nvim_buf_get_lines(..., 0, -1, false)", program.bufnr)
    return table.concat(lines):find("ready")
  end)
  return program
end

local function bytes()
  return (
    read(server.dir .. "/heard"):gsub("%x%x", function(hex)
      return string.char(tonumber(hex, 16))
    end)
  )
end

---@param name string
---@return table? program
local function listed(name)
  return vim.iter(lua("return hermes.shim.list()")):find(function(program)
    return program.name == name
  end)
end

local function ended(name)
  wait_for("end of " .. name, function()
    return listed(name).state == "exited"
  end)
end

describe("a program in a terminal", function()
  setup(function()
    vim.fn.mkdir(project .. "/.git", "p")
    write(project .. "/f", "one\n")
    for _, name in ipairs({ "fake", "claude", "codex" }) do
      write(server.dir .. "/" .. name, tmuxes.program, 493)
    end
    start_neovim("one")
  end)

  teardown(function()
    server:run("kill-server")
  end)

  before_each(function()
    lua("vim.cmd('silent! only'); heard = {}")
    vim.uv.fs_unlink(server.dir .. "/heard")
  end)

  after_each(function()
    lua([[for _, p in ipairs(hermes.shim.list()) do
      if p.state == "running" or p.pane then Do("kill", p.name) end
    end
    vim.wait(50000, function()
      return not vim.iter(hermes.shim.list()):any(function(p) return p.state == "running" end)
    end, 10)]])
  end)

  local kinds = {
    shim = { name = "fake", agent = "fake", title = "Fake", key = "\27", more = "root" },
    claude = {
      name = "claude-terminal",
      agent = "claude-terminal",
      title = "Claude Code",
      key = "\27",
      more = "settings",
    },
    shared = { name = "s-1", agent = "codex", title = "Codex", key = "\3" },
  }

  for kind, want in pairs(kinds) do
    it(
      "opened by hermes." .. kind .. " is where the options say, and does what is asked",
      function()
        local keys =
          { "agent", "cwd", "name", "pane", "sessionId", "state", "terminal", "watched", want.more }
        local program = started(open(kind, { split = "below", size = 7 }))
        table.sort(keys)
        eq(vim.fn.sort(vim.tbl_keys(program)), keys)
        eq({ program.name, program.agent, program.cwd }, { want.name, want.agent, project })
        local shown = "#{pane_title}|#{pane_height}|#{pane_at_bottom}|#{pane_active}"
        eq(server:of(program.pane, shown), want.title .. "|7|1|0")
        eq(open(kind, { split = "above", focus = true }), program) -- it is open
        eq(server:of(program.pane, "#{pane_active}"), "1")
        server:run("select-pane", "-t", "one.0")
        eq(lua("return Do('send', ..., 'a\tb', { submit = true })", want.name), program)
        lua("Do('interrupt', ...)", want.name)
        wait_for("bytes", function()
          return bytes() == "\27[200~a\tb\27[201~\r" .. want.key
        end, bytes)
        lua("vim.cmd('Hermes status')")
        local status = table.concat(lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n")
        local row = kind == "shim" and "agent fake: running in" or "  session .*: idle, .*in"
        row = ("\n(%s a terminal %%(pane %%%s%%))"):format(row, program.pane)
        eq(("\n" .. status):match(row) ~= nil or status, true)
        eq(select(2, status:gsub(vim.pesc(program.pane) .. "%)", "")), 1)
        lua("vim.cmd('close')")
        lua("Do('kill', ...)", want.name)
        ended(want.name)
        local events =
          { "TerminalStarted " .. want.agent .. " ", "TerminalExited " .. want.agent .. " " }
        if kind == "shim" then -- the others have sessions whose agent tells
          table.insert(events, 2, "StateChanged fake running")
          table.insert(events, 4, "StateChanged fake exited")
        end
        eq(lua("return heard"), events)

        program = started(open(kind, { split = "background", title = "Mine" }))
        eq(server:of(program.pane, "#{window_panes}|#{window_active}|#{window_name}"), "1|0|Mine")
        lua("Do('kill', ...)", want.name)
        ended(want.name)

        program = started(open(kind, { terminal = "buffer", split = "left", size = 30 }))
        local look = [[local win = vim.fn.win_findbuf(...)[1]
        return { vim.api.nvim_win_get_position(win)[2], vim.api.nvim_win_get_width(win) }]]
        eq({ program.terminal, lua(look, program.bufnr) }, { "buffer", { 0, 30 } })
        local its = lua("return vim.b[...].hermes_session or false", program.bufnr)
        eq(its, kind ~= "shim" and program.sessionId)
      end
    )

    it("opened by hermes." .. kind .. " gets no wrong option", function()
      local places = "above, background, below, left, right"
      for given, problem in pairs({
        ['{ splt = "up" }'] = 'unknown key "splt"; did you mean "split"?',
        ['{ split = "up" }'] = "split must be one of " .. places .. ', not "up"',
        ['{ terminal = "screen" }'] = 'terminal must be one of auto, buffer, tmux, not "screen"',
        ["{ size = 0 }"] = 'size must be a number of cells or a part such as "40%", not 0',
        ['{ interrupt = "q" }'] = 'interrupt must be one of ctrl-c, escape, not "q"',
        ['{ preset = "none" }'] = 'there is no preset "none"',
        ["{ command = {} }"] = "command must be a list of strings, the program first, not {}",
        ["{ focus = 1 }"] = "focus must be a boolean, not a number",
        ["1"] = "the options must be a table, not a number",
      }) do
        local ok, message = unpack(lua("return { pcall(openers[...], " .. given .. ") }", kind))
        local whole = ("hermes.%s.open: %s"):format(kind, problem)
        eq({ given, ok, message:find(whole, 1, true) ~= nil or message }, { given, false, true })
      end
      eq(open(kind, { command = { "no-such-program" } }), "no-such-program is not executable")
    end)
  end

  it("of Claude Code has a session that ends with it, and one of each name", function()
    local first = started(open("claude"))
    eq(read(server.dir .. "/heard.args"), ("<--settings><%s>"):format(first.settings))
    local second = started(open("claude", { name = "second", split = "background" }))
    eq({ first.sessionId == second.sessionId, first.pane == second.pane }, { false, false })
    eq(#lua("return hermes.sessions({ agent = 'claude-terminal' })"), 2)
    lua("Do('send', 'second', 'stop;')")
    ended("second")
    wait_for("end of the session", function()
      return #lua("return hermes.sessions({ agent = 'claude-terminal' })") == 1
        and vim.fn.filereadable(second.settings) == 0
    end)
    eq(vim.fn.filereadable(first.settings), 1)
    local again = started(open("claude", { name = "second" })) -- where it has failed
    eq({ again.pane, again.sessionId == second.sessionId }, { second.pane, false })
  end)

  it("of another Neovim is found by the session, and not if its hooks report there", function()
    local shared = started(open("shared", { split = "background" }))
    local claude = started(open("claude", { split = "background" }))
    local first = server.channel
    start_neovim("two")
    eq(open("shared").pane, shared.pane)
    eq(started(open("claude", { split = "background" })).pane == claude.pane, false)
    for _, name in ipairs({ "s-1", "claude-terminal" }) do
      lua("Do('kill', ...)", name)
      ended(name)
    end
    server.channel = first
    ended("s-1")
    eq(listed("claude-terminal").state, "running")
  end)

  it("is not taken over under another name", function()
    local claude = started(open("claude", { split = "background" }))
    local other = lua(
      "return Wait(function(opts) hermes.shim.open('other', opts) end, ...)",
      { preset = "claude", split = "background" }
    )
    eq(started(other).pane == claude.pane, false)
  end)

  it("that has failed gets a new pane when the user has closed that one", function()
    local failed = started(open("shim"))
    lua("Do('send', 'fake', 'stop;')")
    ended("fake")
    eq({ listed("fake").exitCode, listed("fake").pane }, { 7, failed.pane })
    server:run("kill-pane", "-t", failed.pane)
    eq(started(open("shim")).pane == failed.pane, false)
  end)

  it("is waited for in a workflow", function()
    lua([[hermes.async(function()
      local await = hermes.await
      return { await.claude.open().name, await.shared.open("s-1").name }
    end, function(err, names)
      _G.opened = err or names
    end)]])
    wait_for("workflow", function()
      return lua("return opened ~= nil")
    end)
    eq(lua("return opened"), { "claude-terminal", "s-1" })
  end)
end)
