---The <Plug> mappings, for mappings of the user. No key is mapped here.
local M = {}

local begin = "<Plug>(hermes-"

local function map(mode, name, command)
  vim.api.nvim_set_keymap(mode, begin .. name .. ")", command, {})
end

---Replaces the mappings of the plugin file.
---@return string keys the keys that were taken, to be mapped again
function M.load()
  for _, mode in ipairs({ "", "!", "t" }) do
    pcall(vim.api.nvim_del_keymap, mode, begin)
  end
  for _, name in ipairs({ "cancel", "chat", "mode", "new", "prompt", "sessions", "status" }) do
    map("n", name, ("<Cmd>Hermes %s<CR>"):format(name))
  end
  for _, name in ipairs({ "next", "previous", "accept", "reject", "undo", "comment" }) do
    map("n", "review-" .. name, ("<Cmd>Hermes review %s<CR>"):format(name))
  end
  for _, name in ipairs({ "accept", "reject" }) do
    map("x", "review-" .. name, (":Hermes review %s<CR>"):format(name))
  end
  map("x", "prompt", "<Esc><Cmd>lua require('hermes.command').prompt_selection()<CR>")
  for _, mode in ipairs({ "n", "x", "i", "t" }) do
    map(mode, "respond", "<Cmd>Hermes respond<CR>")
  end
  -- Keys that began with the mapping itself would not be mapped again.
  return vim.keycode("<Cmd><CR>" .. begin)
end

return M
