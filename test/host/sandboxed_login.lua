local exe, program = ...
vim.ui.select = function(items, _, on_choice)
  on_choice(vim.iter(items):find(function(item)
    return item.kind == "allow_once"
  end))
end
for name, sandbox in pairs({ free = false, tui = true }) do
  hermes.connect(name, {
    command = program,
    args = { "first" },
    sandbox = sandbox,
    env = {
      HERMES_TEST_SCENARIO = agent(serving .. " locked terminal").env.HERMES_TEST_SCENARIO,
      AGENT = exe,
    },
  })
  hermes.authenticate("tui", { agent = name, on_done = finish(name) })
end
