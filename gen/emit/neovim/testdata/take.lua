-- Run by nvim_test.go in a folder that holds the generated files.
vim.opt.rtp:prepend(vim.uv.cwd())

local function same(what, got, want)
  if not vim.deep_equal(got, want) then
    error(("%s: got %s, want %s"):format(what, vim.inspect(got), vim.inspect(want)), 2)
  end
end

for name, kind in vim.fs.dir("lua/hermes", { depth = 2 }) do
  if kind == "file" then
    assert(loadfile("lua/hermes/" .. name))()
  end
end

-- The help: a tag for each event and method, and links that work.
vim.cmd.helptags("doc")
local events = require("hermes.core.events_gen")
for name in pairs(events.events) do
  vim.cmd.help("hermes-event-" .. name)
end
vim.cmd.help("hermes-method-session/new")
same("the help file", vim.fs.basename(vim.api.nvim_buf_get_name(0)), "hermes-events.txt")
for alias, name in pairs(events.alias) do
  assert(events.events[name], alias)
  assert(not events.events[alias], alias)
end

-- Methods send an object, also where a Lua table is empty.
local sent
package.loaded["hermes.session.requests"] = {
  request = function(method, params, opts)
    sent = { method, vim.json.encode(params), opts }
    return "op-1"
  end,
  notify = function(method, params, opts)
    sent = { method, vim.json.encode(params), opts }
  end,
}
package.loaded["hermes.core.arguments"] = { -- written by hand, and tested where it is
  need = function(value)
    return value
  end,
  options = function(opts)
    return opts
  end,
}
local api = require("hermes.api_gen")
local given = { cwd = "/w", mcpServers = {}, _meta = {} }
same("the id", api.session_new(given, { agent = "a" }), "op-1")
same("the method", { sent[1], sent[3] }, { "session/new", { agent = "a" } })
same(
  "the parameters",
  vim.json.decode(sent[2]),
  vim.json.decode('{"cwd":"/w","mcpServers":[],"_meta":{}}')
)
same("an empty object", sent[2]:match('"_meta":(..)'), "{}")
same("an empty list", sent[2]:match('"mcpServers":(..)'), "[]")
same("what the caller gave", getmetatable(given._meta), nil)
api.logout()
same("no parameters", sent[2], "{}")
api.session_cancel({ sessionId = "s" })
same("a notification", sent[1], "session/cancel")

-- Answers.
local function answers(method, value, want)
  local result, err = api.answer(method, value)
  same(method, err, nil)
  same(method, vim.json.encode(result) == "{}" and "{}" or result, want)
end
local function refuses(method, value, want)
  local result, err = api.answer(method, value)
  same(method, { result, err }, { nil, want })
end
local cancelled = { outcome = { outcome = "cancelled" } }
answers("session/request_permission", nil, cancelled)
answers("session/request_permission", false, cancelled)
answers("session/request_permission", "", cancelled)
answers("session/request_permission", "o1", { outcome = { outcome = "selected", optionId = "o1" } })
answers("session/request_permission", cancelled, cancelled)
refuses(
  "session/request_permission",
  1,
  'session/request_permission: answer with an optionId; nil, false or "" cancels, not with a number'
)
answers("fs/read_text_file", "text", { content = "text" })
refuses("fs/read_text_file", nil, "fs/read_text_file: answer with the text, not with a nil")
refuses(
  "fs/read_text_file",
  { "a", "b" },
  "fs/read_text_file: answer with the text, not with a table"
)
answers("fs/write_text_file", nil, "{}")
answers("fs/write_text_file", true, "{}")
answers("fs/write_text_file", {}, "{}")
answers("terminal/create", "t1", { terminalId = "t1" })
answers("terminal/output", "out", { output = "out", truncated = false })
answers("terminal/output", { output = "o", truncated = true }, { output = "o", truncated = true })
answers("terminal/output", { output = "o" }, { output = "o", truncated = false })
answers("terminal/wait_for_exit", 3, { exitCode = 3 })
answers("terminal/wait_for_exit", "TERM", { signal = "TERM" })
assert(not api.answer("terminal/wait_for_exit", 0.5))
assert(not api.answer("terminal/wait_for_exit", math.huge))
answers("terminal/kill", nil, "{}")
answers("elicitation/create", nil, { action = "cancel" })
answers("elicitation/create", "decline", { action = "decline" })
answers("_vendor/thing", "any", "any")
same("nothing", api.answer("_vendor/thing", nil), vim.NIL)
same("false", api.answer("_vendor/thing", false), false)
local accepted = api.answer("elicitation/create", { action = "accept", content = {} })
same("an empty form", vim.json.encode(accepted):match('"content":(..)'), "{}")

io.stdout:write("taken\n")
