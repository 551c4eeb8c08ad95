-- Turns of confined agents, through the public API only. Started by
-- sandbox_linux_test.go; $HERMES_E2E says with whom and where.
local config = vim.json.decode(vim.env.HERMES_E2E)
vim.o.swapfile = false
vim.api.nvim_set_current_dir(config.workspace)

local hermes = require("hermes")
local agents = {}
for name, agent in pairs(config.agents) do
  agents[name] = agent.launch
end
hermes.setup({
  host = { cmd = { config.hermes, "host" } },
  timeouts = { initialize = config.patience, new_session = config.patience },
  sandbox = true,
  agents = agents,
  handlers = {
    PermissionRequest = function(data, answer)
      for _, option in ipairs(data.options) do
        if option.kind == "allow_once" then
          return answer.respond(option.optionId)
        end
      end
    end,
  },
})

local said, terminals, ended = {}, {}, {}
hermes.on("AgentTextMessage", function(data)
  said[data.agent] = (said[data.agent] or "") .. data.text
end)
hermes.on("TerminalStarted", function(data)
  terminals[data.agent] = (terminals[data.agent] or 0) + 1
end)
for name, agent in pairs(config.agents) do
  hermes.connect(name)
  hermes.create_session({
    agent = name,
    on_done = function(err, session)
      if err then
        ended[name] = err.message
        return
      end
      hermes.prompt(session.sessionId, agent.prompt, {
        agent = name,
        on_done = function(failed, result)
          ended[name] = failed and failed.message or result.stopReason
        end,
      })
    end,
  })
end
vim.wait(config.patience, function()
  return vim.tbl_count(ended) == vim.tbl_count(config.agents)
end, 10)

local function check(ok, what)
  if not ok then
    error(("%s\nended: %s\nsaid: %s"):format(what, vim.inspect(ended), vim.inspect(said)), 0)
  end
end
for name, agent in pairs(config.agents) do
  check(ended[name] == "end_turn", name .. " did not complete its turn")
  local text = said[name] or ""
  check(text:find("refused", 1, true), name .. " was not told that it may not")
  check(not text:find("SECRET", 1, true), name .. " has read a secret")
  check((terminals[name] or 0) == agent.terminals, name .. " ran its command elsewhere")
  check(vim.uv.fs_stat(config.workspace .. "/" .. name), name .. " changed nothing inside")
  check(not vim.uv.fs_stat(config.outside .. "/" .. name), name .. " changed something outside")
end
hermes.disconnect()
vim.wait(config.patience, function()
  return #hermes.connections() == 0
end, 10)
io.stdout:write("conversation complete\n")
