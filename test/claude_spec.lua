-- Claude Code in a terminal, played by a program that takes the same arguments, with the real host
-- and its agent. Needs bin/hermes (make build).

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

-- Says where it runs, and ends with a line of its input.
local program = [[#!/bin/sh
case $1 in
  --version) echo "2.1.400 (Claude Code)" ;;
  --settings) printf "%s\n" "$PWD" "$2" > "${0%/*}/started"; read -r line ;;
esac
]]

-- Reports a turn with a command to its hooks, as Claude Code does.
local worker = [[#!/bin/sh
case $1 in --version) echo "2.1.400 (Claude Code)"; exit ;; esac
settings=$2
post() {
  printf '{"session_id":"x",%s}' "$1" |
    "$NVIM_PROGRAM" --clean --headless -l "${0%/*}/post.lua" "$settings"
}
call='"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"echo"}'
post '"hook_event_name":"UserPromptSubmit","prompt":"go on"'
post "\"hook_event_name\":\"PreToolUse\",$call"
echo two >> f
echo new > made
post "\"hook_event_name\":\"PostToolUse\",$call,\"tool_response\":{}"
post '"hook_event_name":"Stop"'
read -r line
]]

local post = [[
local settings = vim.json.decode(table.concat(vim.fn.readfile(arg[1]), "\n"))
local hook, body = settings.hooks.Stop[1].hooks[1], io.read("*a")
local host, port, path = hook.url:match("^http://([^:/]+):(%d+)(.*)$")
local tcp, got, over = vim.uv.new_tcp(), "", false
tcp:connect(host, tonumber(port), function()
  tcp:write(table.concat({
    ("POST %s HTTP/1.1"):format(path), "Host: " .. host .. ":" .. port, "Connection: close",
    "Content-Type: application/json", "Authorization: " .. hook.headers.Authorization,
    "Content-Length: " .. #body, "", body,
  }, "\r\n"))
  tcp:read_start(function(_, data) got, over = got .. (data or ""), data == nil end)
end)
vim.wait(60000, function() return over end, 5)
]]

describe("Claude Code in a terminal", function()
  local child = MiniTest.new_child_neovim()
  local dir ---@type string

  ---@param code string of an expression
  local function wait_for(code)
    if not child.lua_get(("vim.wait(60000, function() return %s end, 10)"):format(code)) then
      error(
        ("never: %s; %s"):format(code, vim.inspect(child.lua_get("{ result, failure, notes }")))
      )
    end
  end

  ---@param opts string
  local function open(opts)
    child.lua(([[_G.result, _G.failure = nil, nil
      hermes.claude.open(vim.tbl_extend("force", {
        cwd = dir,
        on_done = function(err, terminal) _G.failure, _G.result = err, terminal end,
      }, %s))]]):format(opts))
    wait_for("result or failure")
  end

  before_each(function()
    dir = assert(vim.uv.fs_realpath(vim.fn.tempname():match("(.*)/")))
      .. "/claude-"
      .. vim.uv.hrtime()
    vim.fn.mkdir(dir .. "/bin", "p")
    vim.fn.writefile(vim.split(program, "\n"), dir .. "/bin/claude")
    vim.uv.fs_chmod(dir .. "/bin/claude", 493)
    child.restart({ "-u", "NONE", "--cmd", "set rtp^=" .. root })
    child.lua(
      [[_G.dir = ...
        vim.env.PATH = dir .. "/bin:" .. vim.env.PATH
        vim.env.TMUX = nil
        _G.hermes, _G.notes = require("hermes"), {}
        vim.notify = function(text) table.insert(notes, text) end
        hermes.setup({ review = false })]],
      { dir }
    )
  end)

  after_each(function()
    child.stop()
    vim.fn.delete(dir, "rf")
  end)

  it("gets a settings file, and its session ends with it", function()
    open("{}")
    eq(child.lua_get("failure"), vim.NIL)
    wait_for([[#vim.fn.glob(dir .. "/bin/started") > 0
      and vim.deep_equal(vim.fn.readfile(dir .. "/bin/started"), { dir, result.settings })]])
    eq(child.lua_get("vim.b[result.bufnr].hermes_session == result.sessionId"), true)
    eq(child.lua_get("vim.api.nvim_get_current_buf() == result.bufnr"), false)
    eq(child.lua_get("hermes.sessions()[1].state"), "idle")
    child.lua([[vim.fn.chansend(vim.bo[result.bufnr].channel, "end\n")]])
    wait_for("#hermes.sessions() == 0 and vim.fn.filereadable(result.settings) == 0")
  end)

  it("in a shim has its changes exactly, with their turn and tool call", function()
    vim.fn.writefile(vim.split(worker, "\n"), dir .. "/bin/claude")
    vim.fn.writefile(vim.split(post, "\n"), dir .. "/bin/post.lua")
    vim.fn.mkdir(dir .. "/p/.git", "p")
    vim.fn.writefile({ "one" }, dir .. "/p/f")
    child.lua([[hermes.setup({ review = true })
      vim.env.NVIM_PROGRAM = vim.v.progpath
      _G.authors = {}
      function _G.Ask()
        hermes.review.pending({ on_done = function(_, result)
          authors = {}
          for _, hunk in ipairs(result and result.hunks or {}) do
            local a = hunk.authors[1]
            local how = { a.toolCallId, a.source, a.inferred or false }
            local who = { vim.fs.basename(hunk.path), a.sessionId, a.turn ~= nil }
            authors[#authors + 1] = vim.list_extend(who, how)
          end
        end })
      end]])
    open("{ cwd = dir .. '/p', shim = true }")
    eq(child.lua_get("failure"), vim.NIL)
    local session = child.lua_get("result.sessionId")
    local want = vim.inspect({
      { "f", session, true, "t1", "shim", false },
      { "made", session, true, "t1", "shim", false },
    })
    wait_for(("vim.inspect(authors) == %q or Ask()"):format(want))
    child.lua(
      "hermes.review.checkpoints({ on_done = function(_, r) _G.points = r.checkpoints end })"
    )
    wait_for("points")
    eq(child.lua_get("{ points[1].name, points[1].sessionId }"), { "go on", session })
    eq(child.lua_get("#points"), 1)
  end)

  it("is not left behind half open", function()
    open("{ command = { 'no-such-claude' } }")
    eq(child.lua_get("failure.message"), "no-such-claude is not executable")
    eq(child.lua_get("#hermes.sessions()"), 0)
    open("{ terminal = 'tmux' }")
    eq(child.lua_get("failure.message"), "Neovim does not run in tmux")
    wait_for("#hermes.sessions() == 0")
  end)
end)
