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
  range = true,
  desc = "Talk to AI coding agents",
  complete = function(...)
    return require("hermes.command").complete(...)
  end,
})

-- The <Plug> mappings wait for the end of startup.
if vim.v.vim_did_enter == 1 then
  require("hermes.maps")
else
  vim.schedule(function()
    require("hermes.maps")
  end)
end
