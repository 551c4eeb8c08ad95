-- Agents in a terminal, in a real tmux with a real Neovim. Needs bin/hermes (make build) and tmux.

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))

local program = vim.env.HERMES_TMUX or ""
program = vim.fn.exepath(program ~= "" and program or "tmux")
if program == "" then
  it("an agent in a terminal", function()
    io.stdout:write("skipped: needs tmux: run 'make test', or set HERMES_TMUX\n")
  end)
  return
end
vim.env.PATH = vim.fs.dirname(program) .. ":" .. vim.env.PATH -- with its ps

local patience_ms = 60000

-- Writes down its arguments and every byte that it gets, and does what some of them say.
local agent = [[#!/bin/sh
printf '<%s>' "$@" > "$HEARD.args"
stty raw -echo
printf '\033[?2004hready'
while :; do
  got=$(dd bs=65536 count=1 2> /dev/null | od -An -v -tx1 | tr -d ' \n')
  printf '%s' "$got" >> "$HEARD"
  case $got in
    *656469743b*) echo two >> "$PWD/f" || printf denied >> "$HEARD" ;;
    *73746f703b*) exit 7 ;;
    *656e643b*) exit 0 ;;
    '') exit 1 ;;
  esac
done
]]

local dir, project, tmux_socket ---@type string, string, string

---@param path string
---@param text string
local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

---@param path string
---@return string
local function read(path)
  local file = io.open(path, "rb")
  local text = file and file:read("*a") or ""
  return file and file:close() and text or text
end

---@param ... string
---@return string
local function tmux(...)
  local argv = { "tmux", "-S", tmux_socket }
  for _, word in ipairs({ ... }) do
    argv[#argv + 1] = (word:gsub(";$", "\\;"))
  end
  local out = vim.system(argv, { text = true, env = { TMUX = "" } }):wait()
  return out.code == 0 and vim.trim(out.stdout) or error(out.stderr, 2)
end

---@param pane string
---@param what string
---@return string
local function of(pane, what)
  return tmux("display-message", "-p", "-t", pane, what)
end

---@param what string
---@param is fun(): any
---@param seen? fun(): any
local function wait_for(what, is, seen)
  if not vim.wait(patience_ms, is, 20) then
    error(("no %s; %s"):format(what, vim.inspect(seen and seen())), 2)
  end
end

local channel ---@type integer

---@param code string
---@return any
local function lua(code, ...)
  return vim.rpcrequest(channel, "nvim_exec_lua", code, { ... })
end

local prelude = [[
vim.cmd.runtime("plugin/hermes.lua")
vim.o.swapfile = false
_G.shim, _G.heard = require("hermes").shim, {}
require("hermes.dialog").too_soon_ms, require("hermes.questions").quiet_ms = 0, 0
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

---Starts a Neovim in a window of tmux, and speaks to it.
---@param name string
local function start_neovim(name)
  local socket = ("%s/%s.sock"):format(dir, name)
  local command = { vim.v.progpath, "--clean", "-n", "--listen", socket }
  vim.list_extend(command, { "--cmd", "set rtp^=" .. vim.fn.fnameescape(root), project .. "/f" })
  local state = "XDG_STATE_HOME=" .. dir .. "/state"
  local how = { "-d", "-e", state, "-c", (project:gsub("#", "##")), "-n", name, "--" }
  if tmux_socket then
    tmux("new-window", unpack(vim.list_extend(how, command)))
  else
    tmux_socket = dir .. "/tmux"
    tmux(
      "-f",
      "/dev/null",
      "new-session",
      "-x",
      "160",
      "-y",
      "40",
      unpack(vim.list_extend(how, command))
    )
  end
  wait_for("Neovim", function()
    local ok, opened = pcall(vim.fn.sockconnect, "pipe", socket, { rpc = true })
    channel = ok and opened or 0
    return channel > 0
  end)
  wait_for("screen", function()
    return lua("return vim.v.vim_did_enter") == 1 and #vim.rpcrequest(channel, "nvim_list_uis") > 0
  end)
  lua(prelude, dir .. "/fake-agent", dir .. "/heard")
end

describe("an agent in a terminal", function()
  setup(function()
    dir = assert(vim.uv.fs_realpath(vim.fn.fnamemodify(vim.fn.tempname(), ":h"))) .. "/shim"
    project = dir .. "/p#(touch PWNED);"
    vim.fn.mkdir(project .. "/.git", "p")
    write(dir .. "/fake-agent", agent)
    vim.uv.fs_chmod(dir .. "/fake-agent", 493)
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

  it("is found again by another Neovim, and where the user has started it", function()
    local info = open({ split = "background" })
    eq(of(info.pane, "#{window_panes}|#{window_active}"), "1|0")
    local first = channel
    start_neovim("two")
    eq(lua([[return Do("open", "fake")]]).pane, info.pane)
    eq(lua([[return shim.list()[1].sessionId]]), info.sessionId)
    lua([[Do("kill", "fake")]])
    local both = { channel, first }
    for _, c in ipairs(both) do
      channel = c
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
      return vim.rpcrequest(channel, "nvim_get_mode").mode == "t"
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

  it("in a sandbox is heard of, too", function()
    write(dir .. "/box", '#!/bin/sh\n: > "$HEARD.boxed"\nexec "$@"\n')
    vim.uv.fs_chmod(dir .. "/box", 493)
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
      lua([[return Do("open", "fake", { gate = true, sandbox = true })]]),
      "a gate and a sandbox do not go together; with a gate, set sandbox = false"
    )
  end)
end)
