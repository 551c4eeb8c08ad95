_G.opened, _G.shown = {}, {}
vim.ui.open = function(url)
  opened[#opened + 1] = url
end
vim.ui.select = function(items, _, choose) -- a user who opens what there is to open
  local facts = {}
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      facts = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
    end
  end
  shown[#shown + 1] = facts
  vim.schedule(function()
    choose(items[#items], #items)
  end)
end
