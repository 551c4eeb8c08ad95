local exe, program = ...
vim.env.SECRET_KEY = "1"
_G.locked = {
  command = program,
  args = { "first" },
  env = {
    HERMES_TEST_SCENARIO = agent(serving .. " locked terminal").env.HERMES_TEST_SCENARIO,
    AGENT = exe,
  },
}
_G.win, _G.asked, _G.choice = vim.api.nvim_get_current_win(), {}, "allow_once"
vim.ui.select = function(items, opts, on_choice)
  asked[#asked + 1] = opts.prompt
  on_choice(vim.iter(items):find(function(item)
    return item.kind == choice
  end))
end
hermes.connect("tui", locked)
hermes.create_session({ on_done = finish("session") })
