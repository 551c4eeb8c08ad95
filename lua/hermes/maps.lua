---The <Plug> mappings, for mappings of the user. No key is mapped here.

local function map(mode, name, command)
  vim.api.nvim_set_keymap(mode, "<Plug>(hermes-" .. name .. ")", command, {})
end

for _, name in ipairs({ "cancel", "chat", "mode", "new", "prompt", "sessions", "status" }) do
  map("n", name, ("<Cmd>Hermes %s<CR>"):format(name))
end
map("x", "prompt", "<Esc><Cmd>lua require('hermes.command').prompt_selection()<CR>")
for _, mode in ipairs({ "n", "x", "i", "t" }) do
  map(mode, "respond", "<Cmd>Hermes respond<CR>")
end

return {}
