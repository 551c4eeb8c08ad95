-- A day with hermes-agent: unsaved text, a denial, a review, a plan, a live terminal, a
-- command in the background, a cancel, a new process and a loaded session. Started by
-- hermes_agent_test.go; $HERMES_E2E says with whom and where.
local config = vim.json.decode(vim.env.HERMES_E2E)
local user = dofile(vim.fs.dirname(arg[0]) .. "/user.lua")
local ws = config.workspace
vim.o.swapfile = false

local hermes = require("hermes")
hermes.setup({
  host = { cmd = { config.hermes, "host" } },
  timeouts = { initialize = config.patience, new_session = config.patience },
  agents = { hermes = config.launch },
  review = true,
})

local seen = {} ---@type table<string, table[]> the data of the events so far, by name
for _, name in ipairs({
  "AgentTextMessage",
  "AgentTextThought",
  "AgentPlan",
  "AgentToolCall",
  "UserTextMessage",
  "Disconnected",
  "SessionCreated",
  "SessionLoaded",
  "TerminalData",
  "TerminalExited",
  "ToolCallState",
}) do
  seen[name] = {}
  hermes.on(name, function(data)
    table.insert(seen[name], data)
  end)
end

---@param what string
---@param fn fun(): any
local function wait(what, fn)
  if not vim.wait(config.patience, fn, 5) then
    error("never: " .. what .. "\n" .. vim.inspect(seen.ToolCallState[#seen.ToolCallState]), 0)
  end
end

---@param name string
---@param key string
---@return string
local function joined(name, key)
  local parts = {}
  for _, data in ipairs(seen[name]) do
    parts[#parts + 1] = data[key]
  end
  return table.concat(parts)
end

local function call(tool, input)
  return ("CALL %s %s"):format(tool, vim.json.encode(input))
end

local function open()
  hermes.connect("hermes")
end

local session
local ended
local function prompt(text)
  for name in pairs(seen) do
    seen[name] = {}
  end
  ended = nil
  hermes.prompt(session, text, {
    on_done = function(err, result)
      ended = { err = err, reason = result and result.stopReason }
    end,
  })
end

---@param text string
---@param reason? string
local function turn(text, reason)
  prompt(text)
  wait("end of the turn: " .. text, function()
    return ended
  end)
  assert(not ended.err, vim.inspect(ended.err))
  assert(ended.reason == (reason or "end_turn"), ended.reason)
end

local function lines()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), " ")
end

open()
hermes.create_session({ cwd = ws })
wait("session", function()
  return seen.SessionCreated[1]
end)
session = seen.SessionCreated[1].sessionId

-- The agent sees what is not saved. An edit that is denied changes nothing.
vim.fn.writefile({ "alpha", "beta", "gamma" }, ws .. "/hello.txt")
vim.cmd.edit(ws .. "/hello.txt")
vim.api.nvim_buf_set_lines(0, 0, 1, false, { "unsaved" })
user.kind = "reject_once"
local function edit(new)
  return call("edit", { path = "hello.txt", old = "unsaved\nbeta", new = "unsaved\n" .. new })
end
turn(edit("DENIED"))
assert(lines() == "unsaved beta gamma", lines())
assert(joined("AgentTextMessage", "text"):find("the user denied it"), "the model was not told")

-- One that is allowed arrives in the buffer, next to what the user typed, as a hunk.
user.kind = "allow_once"
turn(call("todo", {
  items = {
    { content = "edit", status = "in_progress" },
    { content = "check", status = "pending" },
  },
}) .. "\n" .. edit("BETA"))
assert(lines() == "unsaved BETA gamma", lines())
assert(#seen.AgentPlan == 1 and #seen.AgentPlan[1].entries == 2, vim.inspect(seen.AgentPlan))
wait("hunk", function()
  return #hermes.review.hunks(0) == 1
end)
assert(#user.asked == 2, vim.inspect(user.asked))

-- Output is there while the command runs.
prompt(
  call("terminal", { command = "echo first; until [ -e go ]; do sleep 0.05; done; echo second" })
)
wait("output", function()
  return joined("TerminalData", "chunk"):find("first")
end)
assert(#seen.TerminalExited == 0 and not ended, "the command is over")
vim.fn.writefile({}, ws .. "/go")
wait("end of the command", function()
  return ended
end)
assert(joined("AgentTextMessage", "text"):find("first\nsecond"), joined("AgentTextMessage", "text"))

-- A command in the background outlives its turn, in a terminal where the user ends it.
turn(call("process", { action = "start", command = "echo serving; sleep 600" }))
wait("output", function()
  return joined("TerminalData", "chunk"):find("serving")
end)
local terminal = seen.TerminalData[1].terminalId
assert(#seen.TerminalExited == 0, "the command ended with the turn")
turn(call("process", { action = "list" }))
local process = joined("AgentTextMessage", "text"):match("proc_%x+")
assert(joined("AgentTextMessage", "text"):find('"status":"running"', 1, true))
hermes.kill_terminal(session, terminal)
turn(call("process", { action = "wait", id = process }))
assert(joined("AgentTextMessage", "text"):find('"status":"killed"', 1, true))
assert(joined("AgentTextMessage", "text"):find("serving"), "the output is lost")

-- A cancel ends the command and the turn.
prompt(call("terminal", { command = "echo started; sleep 600" }))
wait("output", function()
  return joined("TerminalData", "chunk"):find("started")
end)
hermes.cancel(session)
wait("end of the turn", function()
  return ended
end)
assert(ended.reason == "cancelled", vim.inspect(ended))
wait("end of the command", function()
  return seen.TerminalExited[1]
end)

-- Another process knows it all.
hermes.disconnect("hermes")
wait("end of the agent", function()
  return seen.Disconnected[1]
end)
for name in pairs(seen) do
  seen[name] = {}
end
open()
hermes.load_session(session, { cwd = ws })
wait("history", function()
  return seen.SessionLoaded[1]
end)
for name, least in pairs({
  UserTextMessage = 4,
  AgentTextMessage = 3,
  AgentToolCall = 5,
  AgentPlan = 1,
}) do
  assert(#seen[name] >= least, name .. " " .. #seen[name])
  for _, data in ipairs(seen[name]) do
    assert(data.replay, name .. " is not marked as history")
  end
end
turn("SAY still here")
assert(joined("AgentTextMessage", "text"):find("still here"))
hermes.disconnect("hermes")
wait("end of the agent", function()
  return seen.Disconnected[1]
end)
io.write("conversation complete\n")
vim.cmd("qall!")
