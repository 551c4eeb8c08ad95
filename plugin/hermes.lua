-- The only file of Hermes that Neovim sources at startup. It is written for speed;
-- bench/neovim measures it.
if vim.g.loaded_hermes then
  return
end
vim.g.loaded_hermes = true

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

-- Listeners may join the groups before anything is connected; both spellings are
-- in use. The mappings are the beginning of all <Plug> mappings of Hermes. The
-- first use of one loads them. A session file brings windows back without what was in them.
vim.api.nvim_command([[augroup hermes
augroup Hermes
augroup END
map <expr> <Plug>(hermes- v:lua.require'hermes.maps'.load()
map! <expr> <Plug>(hermes- v:lua.require'hermes.maps'.load()
tmap <expr> <Plug>(hermes- v:lua.require'hermes.maps'.load()
au SessionLoadPost * lua require'hermes.view.restored'.close()]])
