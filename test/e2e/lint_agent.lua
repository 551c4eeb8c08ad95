-- Talks to hermes lint agent and says yes to everything. Started by lint_test.go.
local config = vim.json.decode(vim.env.HERMES_E2E)
vim.o.swapfile = false

local seen, problem = {}, nil
vim.api.nvim_create_autocmd("User", {
  pattern = "*",
  callback = function(args)
    seen[args.match] = (seen[args.match] or 0) + 1
    if args.match == "RequestFailed" or args.match == "ConnectionFailed" then
      problem = vim.inspect(args.data)
    end
    if args.match == "SessionCreated" then
      seen.session = args.data.sessionId
    end
  end,
})

local function wait_for(name, count)
  vim.wait(config.patience, function()
    return problem or (seen[name] or 0) >= (count or 1)
  end, 5)
  assert(not problem and seen[name], ("no %s: %s"):format(name, problem or "it did not come"))
end

vim.ui.select = function(items, _, answer)
  vim.schedule(function()
    for i, item in ipairs(items) do
      if type(item) == "table" and item.kind == "allow_once" then
        return answer(item, i)
      end
    end
    answer(items[1], 1)
  end)
end
vim.ui.input = function(_, answer)
  vim.schedule(function()
    answer("Name")
  end)
end

local hermes = require("hermes")
hermes.setup({
  host = { cmd = { config.hermes, "host" } },
  timeouts = { initialize = config.patience, new_session = config.patience },
  agents = {
    lint = {
      command = config.hermes,
      args = { "lint", "agent", "--out", config.report, "--record", config.recording },
    },
  },
  permissions = { terminal_access = true },
  questions = { style = "select" },
})
hermes.connect("lint")
wait_for("ConnectionInitialized")
hermes.create_session({ cwd = config.workspace })
wait_for("SessionCreated")
for turn = 1, 2 do
  hermes.prompt(seen.session, "hello")
  wait_for("Prompted", turn)
end
hermes.disconnect("lint")
wait_for("Disconnected")
io.stdout:write("conversation complete\n")
