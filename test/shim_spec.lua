-- Agents in a terminal, in a real tmux with a real Neovim. Needs bin/hermes (make build) and tmux.

local eq = MiniTest.expect.equality
local tmuxes = dofile(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)) .. "/tmux.lua")
local read, write, wait_for = tmuxes.read, tmuxes.write, tmuxes.wait_for

local server = tmuxes.new("shim") ---@type hermes.test.Tmux
if not server then
  return it("an agent in a terminal", tmuxes.skip)
end
local dir = server.dir
local project = dir .. "/p#(touch PWNED);"

---@param ... string
---@return string
local function tmux(...)
  return server:run(...)
end

---@param pane string
---@param what string
---@return string
local function of(pane, what)
  return server:of(pane, what)
end

---@param code string
---@return any
local function lua(code, ...)
  return server:lua(code, ...)
end

local prelude = [[
vim.cmd.runtime("plugin/hermes.lua")
vim.o.swapfile = false
_G.shim, _G.heard = require("hermes").shim, {}
require("hermes.ask.reading").too_soon_ms, require("hermes.ask.questions").quiet_ms = 0, 0
local agent, out = ...
require("hermes").setup({ shim = { presets = { fake = {
  command = { agent, "a b", "c;", "#{pane_id}", "$(id)" },
  title = "Fake; #(touch " .. out .. ".title)",
  env = { HEARD = out },
} } } })
require("hermes").on({ "TerminalStarted", "TerminalExited", "StateChanged", "FileEdited" },
  function(data, name)
    heard[#heard + 1] = { name, data.agent, data.sessionId, data.to or data.exitCode or data.path }
  end)
function _G.Do(what, ...)
  local done
  local args = { ... }
  local at = what == "send" and 3 or 2
  args[at] = vim.tbl_extend("force", args[at] or {}, { on_done = function(err, info)
    done = { err and err.message or false, info or false }
  end })
  shim[what](unpack(args, 1, at))
  vim.wait(50000, function() return done end, 10)
  return done[1] or done[2]
end
function _G.Heard(name)
  local found = vim.tbl_filter(function(event) return event[1] == name end, heard)
  return found[#found] or {}
end
]]

---@param name string
local function start_neovim(name)
  server:neovim(name, project .. "/f")
  lua(prelude, dir .. "/fake-agent", dir .. "/heard")
end

describe("an agent in a terminal", function()
  setup(function()
    vim.fn.mkdir(project .. "/.git", "p")
    write(dir .. "/fake-agent", tmuxes.program, 493)
    start_neovim("one")
  end)

  teardown(function()
    tmux("kill-server")
  end)

  before_each(function()
    write(project .. "/f", "one\n")
    lua(
      [[vim.cmd("silent! only")
      vim.cmd.edit({ args = { ... }, bang = true, magic = { file = false } })
      heard = {}]],
      project .. "/f"
    )
    vim.uv.fs_unlink(dir .. "/heard")
  end)

  after_each(function()
    lua([[for _, s in ipairs(shim.list()) do
      if s.state == "running" or s.pane then Do("kill", s.name) end
    end
    vim.wait(50000, function()
      return not vim.iter(shim.list()):any(function(s) return s.state == "running" end)
    end, 10)]])
  end)

  local function bytes()
    return (
      read(dir .. "/heard"):gsub("%x%x", function(hex)
        return string.char(tonumber(hex, 16))
      end)
    )
  end

  ---@param opts? table
  ---@return table info
  local function open(opts)
    local info = lua([[return Do("open", "fake", ...)]], opts or vim.empty_dict())
    eq(type(info), "table")
    wait_for("agent", function()
      if info.pane then
        return tmux("capture-pane", "-p", "-t", info.pane):find("ready")
      end
      local shown = lua("return vim.api.nvim_buf_get_lines(..., 0, -1, false)", info.bufnr)
      return table.concat(shown):find("ready")
    end)
    return info
  end

  local hostile = "one;\n\ttwo '$(touch PWNED)' \27[201~\3#{pane_id}\194\155201~\127\r\nthree;"
  local pasted = "one;%s\ttwo '$(touch PWNED)' [201~#{pane_id}201~%sthree;"

  it("gets its pane, its words and its text as they are", function()
    local info = open({ size = 50 })
    eq(read(dir .. "/heard.args"), "<a b><c;><#{pane_id}><$(id)>")
    eq({ info.terminal, info.state, info.cwd }, { "tmux", "running", project })
    eq(
      of(
        info.pane,
        "#{pane_title}|#{pane_width}|#{pane_at_right}|#{pane_active}|#{pane_current_path}"
      ),
      ("Fake; #(touch %s.title)|50|1|0|%s"):format(dir .. "/heard", project)
    )
    eq(lua([[return Do("send", "fake", ..., { submit = true })]], hostile).state, "running")
    lua([[Do("interrupt", "fake")]])
    local want = "\27[200~" .. pasted:format("\r", "\r") .. "\27[201~\r\27"
    wait_for("text", function()
      return bytes() == want
    end, bytes)
    eq(vim.fn.glob(dir .. "/**/PWNED") .. vim.fn.glob(dir .. "/*.title"), "")
    eq(tmux("list-buffers"), "")
    for _, go in ipairs({ [[Do("select", "fake")]], [[vim.cmd("Hermes shim fake")]] }) do
      tmux("select-pane", "-t", "one.0")
      lua(go)
      wait_for("pane", function()
        return of(info.pane, "#{pane_active}") == "1"
      end)
    end
    eq(lua([[return require("hermes.command").complete("cl", "Hermes shim cl")]]), { "claude" })
  end)

  it("is heard of like other agents", function()
    local info = open()
    eq(info.sessionId:match("^fake%-%x%x%x%x%x%x%x%x$"), info.sessionId)
    lua("vim.cmd('Hermes status')")
    local status = table.concat(lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n")
    lua("vim.cmd('close')")
    local row = ("agent fake: running in a terminal (pane %s)"):format(info.pane)
    eq(status:find(row, 1, true) ~= nil or status, true)
    eq(lua("return Heard('TerminalStarted')"), { "TerminalStarted", "fake", info.sessionId })
    eq(lua("return Heard('StateChanged')"), { "StateChanged", "fake", info.sessionId, "running" })
    lua([[Do("send", "fake", "edit;")]])
    local edited = { "FileEdited", "fake", info.sessionId, project .. "/f" }
    wait_for("change", function()
      return vim.deep_equal(lua("return Heard('FileEdited')"), edited)
    end, function()
      return lua("return heard")
    end)
    lua([[Do("send", "fake", "stop;")]])
    wait_for("end", function()
      return lua("return Heard('StateChanged')[4]") == "exited"
    end)
    eq(lua("return Heard('TerminalExited')"), { "TerminalExited", "fake", info.sessionId, 7 })
    eq(lua([[return Do("send", "fake", "x")]]), "fake is not open; hermes.shim.open() opens it")
    -- What it said last stays, until it is started again there.
    eq(of(info.pane, "#{pane_dead}"), "1")
    local again = open()
    eq({ again.pane, again.sessionId == info.sessionId }, { info.pane, false })
    lua([[Do("send", "fake", "end;")]])
    wait_for("end", function()
      return lua("return Heard('TerminalExited')[4]") == 0
    end)
    eq(tmux("list-panes", "-a", "-F", "#{pane_id}"):find(info.pane, 1, true), nil)
  end)

  it("is not written to once it has ended, because that ends an older tmux", function()
    local info = open()
    -- Neovim does not look at it in the meantime.
    local said = lua(
      [[local pane, pid = ...
      local program, said = { pane = pane, pid = pid }, nil
      require("hermes.core.async").run(function()
        local write = require("hermes.program.tmux").write
        write(program, "stop;", false)
        while not said do
          write(program, "more", true)
        end
      end, function(err) said = err.message end)
      vim.wait(50000, function() return said end, 10)
      return said]],
      info.pane,
      tonumber(of(info.pane, "#{pane_pid}"))
    )
    eq(said, ("the program in pane %s has ended"):format(info.pane))
    eq({ of(info.pane, "#{pane_dead}"), tmux("list-buffers") }, { "1", "" })
  end)

  it("is found again by another Neovim, and where the user has started it", function()
    local info = open({ split = "background" })
    eq(of(info.pane, "#{window_panes}|#{window_active}"), "1|0")
    local first = server.channel
    start_neovim("two")
    eq(lua([[return Do("open", "fake")]]).pane, info.pane)
    eq(lua([[return shim.list()[1].sessionId]]), info.sessionId)
    lua([[Do("kill", "fake")]])
    for _, channel in ipairs({ server.channel, first }) do
      server.channel = channel
      wait_for("end", function()
        return lua("return shim.list()[1].state") == "exited"
      end)
    end
    local own = tmux(
      "split-window",
      "-d",
      "-P",
      "-F",
      "#{pane_id}",
      "-t",
      "one",
      "-c",
      (project:gsub("#", "##")),
      "-e",
      "HEARD=" .. dir .. "/heard",
      dir .. "/fake-agent",
      "mine"
    )
    wait_for("agent", function()
      return read(dir .. "/heard.args") == "<mine>"
    end)
    eq(lua([[return Do("open", "fake")]]).pane, own)
  end)

  it("in a terminal buffer gets the same", function()
    local info = open({ terminal = "buffer" })
    eq(lua("return { #vim.api.nvim_list_wins(), vim.api.nvim_get_mode().mode }"), { 2, "n" })
    lua([[Do("send", "fake", ..., { submit = true })]], hostile)
    local want = "\27[200~" .. pasted:format("\n", "\n") .. "\27[201~\r"
    wait_for("text", function()
      return bytes() == want
    end, bytes)
    lua([[Do("send", "fake", "stop;")]])
    wait_for("end", function()
      return lua("return Heard('TerminalExited')[4]") == 7
    end)
    eq(lua("return Heard('TerminalStarted')[3]"), info.sessionId)
    lua("vim.cmd('only')")
    open({ terminal = "buffer", split = "background" })
    eq(lua("return #vim.api.nvim_list_wins()"), 1)
    lua([[Do("select", "fake")]])
    wait_for("terminal", function()
      return vim.rpcrequest(server.channel, "nvim_get_mode").mode == "t"
    end)
    lua("vim.cmd.stopinsert()")
  end)

  it("at a gate changes a file when the user allows it, and only then", function()
    open({ gate = true, split = "background" })
    for _, answer in ipairs({ "Do not allow it", "Allow this change" }) do
      lua([[Do("send", "fake", "edit;")]])
      wait_for("question", function()
        return tmux("capture-pane", "-p", "-t", "one.0"):find("fake asks")
      end, function()
        return tmux("capture-pane", "-p", "-t", "one.0")
      end)
      eq({ lua("return vim.fn.expand('%:t')"), read(project .. "/f") }, { "f", "one\n" })
      tmux("send-keys", "-t", "one.0", ":Hermes respond", "Enter")
      wait_for("keys", function()
        return tmux("capture-pane", "-p", "-t", "one.0"):find("q hides")
      end)
      local number = tmux("capture-pane", "-p", "-t", "one.0"):match("(%d): " .. answer)
      tmux("send-keys", "-t", "one.0", number, "Enter")
      local allowed = answer == "Allow this change"
      wait_for("outcome", function()
        return allowed and read(project .. "/f") ~= "one\n"
          or not allowed and read(dir .. "/heard"):find("denied", 1, true)
      end)
      eq(read(project .. "/f"), allowed and "one\ntwo\n" or "one\n")
    end
  end)

  it("at a gate and in a sandbox is asked about once for a save, with its text", function()
    if
      lua(
        [[return vim.fn.system({ require("hermes.core.host").command()[1], "confine", "--check" })]]
      ) ~= ""
    then
      return
    end
    open({ gate = true, sandbox = true, split = "background" })
    lua([[Do("send", "fake", "save;")]])
    local function shown()
      return tmux("capture-pane", "-p", "-t", "one.0")
    end
    wait_for("question", function()
      return shown():find("fake asks")
        and shown():find("-one", 1, true)
        and shown():find("+three", 1, true)
    end, shown)
    eq({ read(project .. "/f"), vim.fn.glob(project .. "/sed*") }, { "one\n", "" })
    tmux("send-keys", "-t", "one.0", ":Hermes respond", "Enter")
    wait_for("keys", function()
      return shown():find("q hides")
    end)
    tmux("send-keys", "-t", "one.0", shown():match("(%d): Allow this change"), "Enter")
    wait_for("outcome", function()
      return read(project .. "/f") == "three\n"
    end, shown)
    eq(vim.fn.filereadable(dir .. "/heard"), 0) -- it is outside
  end)

  it("in a sandbox is heard of, too", function()
    write(dir .. "/box", '#!/bin/sh\n: > "$HEARD.boxed"\nexec "$@"\n', 493)
    for _, sandbox in ipairs({ { dir .. "/box" }, { best_effort = true } }) do
      local info = open({ sandbox = sandbox, split = "background" })
      lua([[Do("send", "fake", "edit;")]])
      local edited = { "FileEdited", "fake", info.sessionId, project .. "/f" }
      wait_for("change", function()
        return vim.deep_equal(lua("return Heard('FileEdited')"), edited)
      end)
      lua([[Do("kill", "fake")]])
      wait_for("end", function()
        return lua("return shim.list()[1].state") == "exited"
      end)
    end
    eq(vim.fn.filereadable(dir .. "/heard.boxed"), 1)
  end)

  it("is waited for in a workflow, and runs in one project", function()
    lua(
      [[local elsewhere = ...
      require("hermes").async(function()
      local shim = require("hermes").await.shim
      _G.result = { shim.open("fake").state, shim.send("fake", "").name }
      result[3] = select(2, pcall(shim.open, "fake", { cwd = elsewhere })).message
      result[4] = select(2, pcall(function() return shim.list end)):match("hermes.await.*")
      result[5] = shim.kill("fake").name
    end)]],
      dir
    )
    wait_for("workflow", function()
      return lua("return result and #result") == 5
    end)
    eq(lua("return result"), {
      "running",
      "fake",
      ("fake runs in %s; give this one another name"):format(project),
      'hermes.await.shim: there is no function "list" to wait for',
      "fake",
    })
    lua("vim.cmd('checkhealth hermes')")
    local health = table.concat(lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n")
    eq(health:match("tmux %d[^\n]*"):gsub("%d[^:]*", "3"), "tmux 3: agents open in panes")
    lua("vim.cmd('bwipeout!')")
  end)

  it("is not opened by a wrong call", function()
    -- luacheck: no max line length
    for code, want in pairs({
      [ [[shim.open("a b")]] ] = "shim.open: the name may have letters, digits, -, _ and .",
      [ [[shim.open("x", { splt = "right" })]] ] = 'shim.open: unknown key "splt"; did you mean "split"',
      [ [[shim.open("x", { split = "up" })]] ] = "shim.open: split must be one of above, background",
      [ [[shim.open("x", { size = "400%" })]] ] = "shim.open: size must be a number of cells",
      [ [[shim.open("x", { gate = { allw = {} } })]] ] = 'did you mean "allow"',
      [ [[shim.open("x", { preset = "none" })]] ] = 'there is no preset "none"',
      [ [[shim.send("x", 1)]] ] = "shim.send: the text must be a string",
      [ [[require("hermes").setup({ shim = { split = "up" } })]] ] = "setup: shim.split must be one of",
      [ [[require("hermes").setup({ shim = { presets = { x = { comand = {} } } } })]] ] = "shim.presets.x.unknown key",
    }) do
      local ok, err = pcall(lua, code)
      eq({ code, ok, err:find(want, 1, true) ~= nil or err }, { code, false, true })
    end
    eq(
      lua([[return Do("open", "x", { command = { "no-such-program" } })]]),
      "no-such-program is not executable"
    )
    eq(
      lua([[return Do("open", "fake", { gate = true, sandbox = { "env" } })]]),
      "a gate goes with a sandbox of rules, not with one that is a command"
    )
  end)
end)
