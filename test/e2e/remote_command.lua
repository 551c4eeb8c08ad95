-- A command of an agent behind a server, in a Neovim that nobody looks at.
-- Started by remote_test.go; $HERMES_E2E says with whom and where.
local config = vim.json.decode(vim.env.HERMES_E2E)
local hermes = require("hermes")

local said, denials = {}, 0
hermes.on("AgentTextMessage", function(data)
  said[#said + 1] = data.text
end)
hermes.on("PermissionResolved", function(data)
  assert(data.outcome == "cancelled", vim.inspect(data))
  denials = denials + 1
end)

---@param launch table
---@return string said by the agent
local function run(launch)
  said = {}
  local ended, gone
  hermes.connect("far", launch)
  hermes.create_session({
    cwd = config.workspace,
    on_done = function(err, session)
      assert(not err, err and err.message)
      hermes.prompt(session.sessionId, "touch mark", {
        on_done = function(problem)
          assert(not problem, problem and problem.message)
          ended = true
        end,
      })
    end,
  })
  assert(
    vim.wait(config.patience, function()
      return ended
    end, 5),
    "the turn did not end"
  )
  hermes.disconnect("far", {
    on_done = function()
      gone = true
    end,
  })
  assert(
    vim.wait(config.patience, function()
      return gone
    end, 5),
    "the agent did not go"
  )
  return table.concat(said)
end

local function marked()
  return vim.uv.fs_stat(config.workspace .. "/mark") ~= nil
end

hermes.setup({
  host = { cmd = { config.hermes, "host" } },
  timeouts = { initialize = config.patience, new_session = config.patience },
})
for _, access in ipairs({ vim.NIL, true, "ask" }) do
  if access ~= vim.NIL then
    hermes.setup({ permissions = { terminal_access = access } })
  end
  local text = run(config.launch)
  assert(not marked(), "it ran with " .. tostring(access))
  assert(text:find("could not be asked", 1, true), "the agent does not learn why: " .. text)
end
assert(denials == 3, denials .. " questions")
run(vim.tbl_extend("force", config.launch, { terminal_access = true }))
assert(marked(), "it did not run, although the agent's own setting allows it")
io.stdout:write("conversation complete\n")
