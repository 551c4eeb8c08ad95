-- The only file of Hermes that Neovim sources at startup.
if vim.g.loaded_hermes then
  return
end
vim.g.loaded_hermes = true

-- Both spellings are in use. Listeners may join the groups before anything is
-- connected.
vim.api.nvim_create_augroup("hermes", { clear = false })
vim.api.nvim_create_augroup("Hermes", { clear = false })

vim.api.nvim_create_user_command("Hermes", function(args)
  require("hermes.command").run(args)
end, {
  nargs = "*",
  desc = "Talk to AI coding agents",
  complete = function(...)
    return require("hermes.command").complete(...)
  end,
})

vim.api.nvim_set_keymap("n", "<Plug>(hermes-chat)", "<Cmd>Hermes chat<CR>", {})
-- No keys of its own: map these.
vim.keymap.set({ "n", "x", "i", "t" }, "<Plug>(hermes-respond)", function()
  require("hermes.questions").open()
end, { desc = "Go to the question of an agent" })
