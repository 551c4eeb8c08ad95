-- A turn of the published Codex without Node.js. Started by codex_test.go;
-- $HERMES_E2E says where.
local config = vim.json.decode(vim.env.HERMES_E2E)
local user = dofile(vim.fs.dirname(arg[0]) .. "/user.lua")
local ws = config.workspace
vim.o.swapfile = false

local hermes = require("hermes")
hermes.setup({
  host = { cmd = { config.hermes, "host" } },
  timeouts = { initialize = config.patience, new_session = config.patience },
  agents = { codex = config.launch },
})

local events = {}
vim.api.nvim_create_autocmd("User", {
  pattern = "*",
  callback = function(args)
    events[#events + 1] = { name = args.match, data = args.data or {} }
  end,
})
local function seen(name)
  for i = #events, 1, -1 do
    if events[i].name == name then
      return events[i].data
    end
  end
end
local function wait(what, fn)
  if not vim.wait(config.patience, fn, 10) then
    local names = vim.tbl_map(function(e)
      return e.name .. " " .. tostring(e.data.text or e.data.message or e.data.error or "")
    end, events)
    error("timeout: " .. what .. "\n" .. table.concat(names, "\n"), 0)
  end
end

hermes.connect("codex")
hermes.create_session({ cwd = ws })
wait("session", function()
  return seen("SessionCreated")
end)
local session = seen("SessionCreated").sessionId

local function turn(text)
  local ended
  hermes.prompt(session, text, {
    on_done = function(err, result)
      ended = { err = err, result = result }
    end,
  })
  wait("end of the turn", function()
    return ended
  end)
  return ended
end
local function text()
  return table.concat(vim.fn.readfile(ws .. "/hello.txt"), " ")
end

vim.cmd.edit(ws .. "/hello.txt")
user.kind = "reject_once"
turn(config.rejected)
assert(text() == "alpha beta", "a rejected edit: " .. text())
assert(#user.asked == 1, vim.inspect(user.asked))

user.kind = "allow_once"
local done = turn(config.edit)
assert(not done.err and done.result.stopReason == "end_turn", vim.inspect(done))
assert(text() == "ALPHA beta", "an allowed edit: " .. text())
assert(#user.asked == 2, vim.inspect(user.asked))
wait("the edit is known", function()
  return seen("FileEdited")
end)
assert(seen("FileEdited").path == ws .. "/hello.txt")
wait("the buffer is fresh", function()
  return vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == "ALPHA"
end)
local hunk
wait("the edit is in the review", function()
  hunk = hermes.review.hunks(0)[1]
  return hunk
end)
assert(
  hunk.old[1] == "alpha" and hunk.new[1] == "ALPHA" and #hermes.review.hunks(0) == 1,
  vim.inspect(hunk)
)
assert(hunk.sessionId == session, vim.inspect(hunk))
assert(seen("UsageUpdate").used == 120, vim.inspect(seen("UsageUpdate")))

local cancelled
hermes.prompt(session, "SLOW 100", {
  on_done = function(_, result)
    cancelled = result
  end,
})
events = {}
wait("text", function()
  return seen("AgentTextMessage")
end)
hermes.cancel(session)
wait("cancelled", function()
  return cancelled
end)
assert(cancelled.stopReason == "cancelled", vim.inspect(cancelled))
hermes.disconnect("codex")
wait("disconnected", function()
  return seen("Disconnected")
end)
io.write("conversation complete\n")
vim.cmd("qall!")
