-- Messages on a small screen: a real Neovim in a real tmux. Nobody has to press Enter because of
-- one, however much it says, and all of it is in the history. Needs bin/hermes (make build) and
-- tmux.

local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local tmuxes = dofile(here .. "/tmux.lua")
local eq = MiniTest.expect.equality

local server = tmuxes.new("messages") ---@type hermes.test.Tmux
if not server then
  return it("the messages", tmuxes.skip)
end

local prelude = [[
local root, program = ...
vim.o.swapfile = false
_G.hermes = require("hermes")
hermes.setup({ agents = { scripted = {
  command = program,
  args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
  env = { HERMES_TEST_AGENT = vim.json.encode({ lacks = { "list" } }) },
} } })
_G.ended = 0
hermes.on("TurnEnded", function() ended = ended + 1 end)
require("hermes.chat").open({ agent = "scripted" })
assert(vim.wait(60000, function() return vim.b.hermes_session ~= nil end))
vim.cmd.stopinsert()
_G.session = vim.b.hermes_session
function _G.Turn(steps, held)
  local before = ended
  hermes.prompt(session, vim.json.encode(steps))
  assert(held or vim.wait(60000, function() return ended > before end))
end
]]

describe("on a small screen", function()
  local dir = server.dir .. "/project"

  setup(function()
    vim.fn.mkdir(dir, "p")
    server:neovim("small", dir .. "/file", { columns = 60, lines = 16 })
    server:lua(prelude, vim.fs.dirname(here), vim.v.progpath)
  end)
  teardown(function()
    pcall(vim.rpcnotify, server.channel, "nvim_command", "qall!")
    pcall(server.run, server, "kill-server")
  end)

  ---@param keys string of which each character is a key
  local function type_keys(keys)
    server:run("send-keys", "-t", "small", "-l", keys)
  end

  --- Waits for a text on the screen, and sees that nothing has to be confirmed there.
  ---@param text string
  ---@param whole? boolean it is a message, and nothing of it is cut
  local function shows(text, whole)
    local screen
    tmuxes.wait_for(text, function()
      screen = server:screen("small")
      return screen:find(text, 1, true) or screen:find("Press ENTER", 1, true)
    end, function()
      return screen
    end)
    vim.wait(200) -- a second message may follow
    screen = server:screen("small")
    local waits = screen:find("Press ENTER", 1, true)
    if waits then -- it answers nothing until somebody does
      server:run("send-keys", "-t", "small", "Escape")
    end
    eq({ screen, waits }, { screen, nil })
    eq({ screen, screen:find(text, 1, true) ~= nil }, { screen, true })
    eq({ screen, whole and screen:match("\nhermes:[^\n]*…") }, { screen, whole and nil })
  end

  ---@return string
  local function history()
    return server:lua([[return vim.fn.execute("messages")]])
  end

  it("a message of the review is whole", function()
    server:lua("vim.cmd.tabnew(...)", dir .. "/other")
    type_keys(":Hermes review next\r")
    shows("hermes: no pending hunk here; see :Hermes review", true)
    type_keys(":Hermes review reject\r")
    shows("hermes: there is no hunk here", true)
  end)

  it("what several files failed for is one message", function()
    local steps = {}
    for _, name in ipairs({ "a", "b", "c" }) do
      local path = ("%s/%s.txt"):format(dir, name)
      tmuxes.write(path, "one\n")
      steps[#steps + 1] = { edit = path, content = "two\n" }
    end
    server:lua("Turn(...)", steps)
    tmuxes.wait_for("three hunks", function()
      return server:lua([[
        local found
        hermes.review.files({ on_done = function(_, result) found = result and #result.files end })
        vim.wait(60000, function() return found end, 5)
        return found]]) == 3
    end)
    for _, name in ipairs({ "a", "b", "c" }) do
      local path = ("%s/%s.txt"):format(dir, name)
      server:lua([[vim.cmd.edit(...) vim.bo.modifiable = false]], path)
    end
    type_keys(":Hermes review reject all\r")
    shows("3 files failed: ")
    local said = history()
    for _, name in ipairs({ "a", "b", "c" }) do
      eq({ said, said:find(name .. ".txt: ", 1, true) ~= nil }, { said, true })
    end
  end)

  it("a chat says all of why it cannot resume a session", function()
    server:lua("vim.cmd.tabfirst()")
    server:lua([[require("hermes.chat").resume({ agent = "scripted" })]])
    shows('hermes: agent "scripted" does not support')
    eq(history():find("it has not announced sessionCapabilities.list", 1, true) ~= nil, true)
  end)

  it("a message that comes while a command waits does not scroll the screen", function()
    for _, text in ipairs({ ("word "):rep(30), "short" }) do
      server:lua("_G.text = ...", vim.trim(text))
      type_keys(":lua require('hermes.core.log').show(2, text) vim.wait(100)\r")
      shows("hermes: " .. text:sub(1, 5))
      eq(history():find(vim.trim(text), 1, true) ~= nil, true)
    end
  end)

  it("a question that Hermes answers is no reason to wait", function()
    server:lua([[hermes.on_request("PermissionRequest", function() end)]])
    local call = { toolCallId = "t", title = "Install it", kind = "execute" }
    server:lua("Turn(..., true)", { { ask = { toolCall = call } } })
    shows("scripted asks: Install it")
    server:lua([[vim.cmd.wincmd("k") vim.fn.search("asks:")]])
    for _ = 1, 2 do
      type_keys("\r")
      shows("hermes: nothing to do: Hermes is answering it", true)
    end
  end)
end)
