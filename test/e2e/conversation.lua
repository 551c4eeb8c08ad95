-- One conversation with one agent, through the public API only. Started by
-- e2e_test.go; $HERMES_E2E says with whom and where.
local config = vim.json.decode(vim.env.HERMES_E2E)
local user = dofile(vim.fs.dirname(arg[0]) .. "/user.lua")
local ws = config.workspace
vim.o.swapfile = false

---@param name string
local function path(name)
  return ws .. "/" .. name
end

local function write(name, lines)
  vim.fn.writefile(lines, path(name))
end

local function on_disk(name)
  return table.concat(vim.fn.readfile(path(name)), "\n")
end

-- How each agent is told to do a thing.
local function call(tool, input)
  return ("CALL %s %s"):format(tool, vim.json.encode(input))
end

local say_and_think = "SAY hello\nTHINK hmm\nSAY there"
local speech = {
  demo = {
    talk = "/say hello there",
    edit = function()
      return "/edit hello.txt"
    end,
    edited = "alpha\nbeta\ngamma\n- visit 1",
    run = "/run echo from the terminal",
    questions = 1, -- its own, which says what would run
    slow = "/slow 1000",
  },
  sdk = {
    talk = say_and_think,
    thinks = true,
    read = "READ " .. path("hello.txt"),
    edit = function(new)
      return ("WRITE %s alpha\\n%s\\ngamma"):format(path("hello.txt"), new)
    end,
    run = "RUN echo from the terminal",
    questions = 2, -- its own does not say what would run
    plan = "PLAN",
    slow = "SLOW 1000",
  },
  hermes = {
    talk = say_and_think,
    thinks = true,
    read = call("read", { path = "hello.txt" }),
    edit = function(new)
      return call("edit", { path = "hello.txt", old = "beta", new = new })
    end,
    create = call("write", { path = "new.txt", content = "made by the agent\n" }),
    run = call("terminal", { command = "echo from the terminal" }),
    questions = 1, -- its own, which says what would run
    plan = call("todo", { items = { { content = "look", status = "in_progress" } } }),
    slow = "SLOW 1000",
  },
  gemini = {
    talk = say_and_think,
    thinks = true,
    edit = function(new)
      return call("read_file", { file_path = path("hello.txt") })
        .. "\n"
        .. call("replace", {
          file_path = path("hello.txt"),
          old_string = "beta",
          new_string = new,
          instruction = "as asked",
        })
    end,
    create = call("write_file", { file_path = path("new.txt"), content = "made by the agent\n" }),
    slow = "SLOW 1000",
  },
  claude = {
    talk = say_and_think,
    thinks = true,
    read = call("mcp__acp__Read", { file_path = path("hello.txt") }),
    edit = function(new)
      return call("mcp__acp__Read", { file_path = path("hello.txt"), limit = #new })
        .. "\n"
        .. call(
          "mcp__acp__Edit",
          { file_path = path("hello.txt"), old_string = "beta", new_string = new }
        )
    end,
    run = call("mcp__acp__Bash", {
      command = "echo from the terminal",
      description = "say so",
      timeout = 60000,
      run_in_background = false,
    }),
    questions = 1, -- its own, which says what would run
    plan = call("TodoWrite", {
      todos = { { content = "look", status = "in_progress", activeForm = "looking" } },
    }),
    slow = "SLOW 1000",
  },
}
speech.websocket, speech.http = speech.demo, speech.demo -- the same agent, served
local speak = speech[config.agent]

-- Every event, in order.
local events = {}
vim.api.nvim_create_autocmd("User", {
  pattern = "*",
  callback = function(args)
    events[#events + 1] = { name = args.match, data = args.data or {} }
  end,
})

---@return table? data of the last event of that name since the mark
local function last(name, since)
  for i = #events, (since or 0) + 1, -1 do
    if events[i].name == name then
      return events[i].data
    end
  end
end

local function names(since)
  local list = {}
  for i = (since or 0) + 1, #events do
    local data = events[i].data
    local text = tostring(data.message or data.error or data.text or "")
    list[#list + 1] = events[i].name .. " " .. text
  end
  return table.concat(list, "\n  ")
end

local function fail(what, since)
  error(("%s\nevents since:\n  %s"):format(what, names(since)), 0)
end

local function check(ok, what, since)
  if not ok then
    fail(what, since)
  end
end

---@return table data
local function wait_for(name, since, predicate)
  local found
  vim.wait(config.patience, function()
    found = last(name, since)
    local broken = last("RequestFailed", since) or last("ConnectionFailed", since)
    return (found and (not predicate or predicate(found))) or broken ~= nil
  end, 5)
  check(found, "no " .. name, since)
  return found
end

local hermes = require("hermes")
hermes.setup({
  host = { cmd = { config.hermes, "host" } },
  timeouts = { initialize = config.patience, new_session = config.patience },
  agents = { [config.agent] = config.launch },
  permissions = { terminal_access = "ask" },
})
hermes.connect(config.agent)
local connected = wait_for("ConnectionInitialized")
check(
  connected.protocolVersion == 1,
  "the agent speaks version " .. tostring(connected.protocolVersion)
)
hermes.create_session({ cwd = ws })
local session = wait_for("SessionCreated").sessionId
check(type(session) == "string" and session ~= "", "no session id")

---@param text string
---@return integer mark
local function prompt(text)
  local mark = #events
  hermes.prompt(session, text)
  return mark
end

---@return integer mark
local function turn(text, reason)
  local mark = prompt(text)
  local ended = wait_for("Prompted", mark)
  check(
    ended.stopReason == (reason or "end_turn"),
    "stopped with " .. tostring(ended.stopReason),
    mark
  )
  check(ended.sessionId == session, "Prompted names another session", mark)
  wait_for("TurnEnded", mark) -- what comes after the next mark is of the next turn
  return mark
end

---@return string
local function text_of(name, mark)
  local parts = {}
  for i = mark + 1, #events do
    if events[i].name == name then
      parts[#parts + 1] = events[i].data.text
    end
  end
  return table.concat(parts)
end

-- Messages and thoughts, with the wire data beside the flat keys.
local mark = turn(speak.talk)
check(text_of("AgentTextMessage", mark):find("hello.*there"), "the message is missing", mark)
local message = last("AgentTextMessage", mark)
check(message.update.content.text == message.text, "flat and wire text differ", mark)
check(message.agent == config.agent and message.sessionId == session, "whose message?", mark)
if speak.thinks then
  check(text_of("AgentTextThought", mark):find("hmm"), "the thought is missing", mark)
end
check(last("ClientTextMessage", mark).text == speak.talk, "no ClientTextMessage", mark)

-- A file is read from its buffer, unsaved edits included.
write("hello.txt", { "alpha", "beta", "gamma" })
vim.cmd.edit(path("hello.txt"))
if speak.read then
  vim.api.nvim_buf_set_lines(0, 1, 2, false, { "unsaved" })
  mark = turn(speak.read)
  check(text_of("AgentTextMessage", mark):find("unsaved"), "the agent read the disk", mark)
  vim.cmd.edit({ bang = true })
  turn(speak.read) -- what it read is gone, so a write would be refused
end

-- A rejected edit changes nothing.
user.kind = "reject_once"
local before = #user.asked
mark = prompt(speak.edit("REJECTED"))
wait_for("TurnEnded", mark)
check(#user.asked == before + 1, "asked " .. (#user.asked - before) .. " times", mark)
check(on_disk("hello.txt") == "alpha\nbeta\ngamma", "a rejected edit reached the disk", mark)

-- An allowed edit reaches buffer and disk, keeps marks and can be undone.
user.kind = "allow_once"
local namespace = vim.api.nvim_create_namespace("e2e")
local extmark = vim.api.nvim_buf_set_extmark(0, namespace, 2, 0, {})
mark = turn(speak.edit("BETA"))
local resolved = last("PermissionResolved", mark)
check(resolved and resolved.outcome == "selected", "the permission was not resolved", mark)
local edited = speak.edited or "alpha\nBETA\ngamma"
check(on_disk("hello.txt") == edited, "on disk: " .. on_disk("hello.txt"), mark)
local lines = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
check(lines == edited, "in the buffer: " .. lines, mark)
local row = vim.api.nvim_buf_get_extmark_by_id(0, namespace, extmark, {})[1]
check(row == 2, "the extmark moved to row " .. tostring(row), mark)
check(last("FileWritten", mark).path == path("hello.txt"), "no FileWritten", mark)
local call_state = last("ToolCallState", mark)
check(
  call_state and call_state.toolCall.status == "completed",
  "the tool call did not complete",
  mark
)
vim.cmd.undo()
lines = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
check(lines == "alpha\nbeta\ngamma", "undo did not bring the line back", mark)
vim.cmd.redo()

-- A file that was not there.
if speak.create then
  mark = turn(speak.create)
  check(vim.uv.fs_stat(path("new.txt")), "no file was created", mark)
  check(on_disk("new.txt") == "made by the agent", "on disk: " .. on_disk("new.txt"), mark)
  check(last("FileWritten", mark).path == path("new.txt"), "no FileWritten", mark)
  check(last("ToolCallState", mark).toolCall.status == "completed", "the call failed", mark)
end

-- A plan.
if speak.plan then
  mark = turn(speak.plan)
  check(#last("AgentPlan", mark).entries > 0, "no plan", mark)
end

-- A command in a terminal of the client.
if speak.run then
  before = #user.asked
  mark = turn(speak.run)
  local questions = #user.asked - before
  check(questions == speak.questions, ("asked %d times about a command"):format(questions), mark)
  local exited = last("TerminalExited", mark)
  check(exited and exited.exitCode == 0, "the command did not run here", mark)
  check(text_of("TerminalData", mark) ~= "" or last("TerminalData", mark), "no output", mark)
  check(
    text_of("AgentTextMessage", mark):find("from the terminal"),
    "the agent saw no output",
    mark
  )
end

-- Cancel, in the middle of a turn; the session lives on.
mark = prompt(speak.slow)
wait_for("AgentTextMessage", mark)
hermes.cancel(session)
local ended = wait_for("Prompted", mark)
check(
  ended.stopReason == "cancelled",
  "a cancelled turn stopped with " .. tostring(ended.stopReason),
  mark
)
turn(speak.talk)

-- The agent goes when it is told to.
mark = #events
hermes.disconnect(config.agent)
wait_for("Disconnected", mark)
local left = vim.tbl_keys(hermes.state().agents or {})
check(#left == 0, "agents are left: " .. table.concat(left, " "), mark)
io.stdout:write("conversation complete\n")
