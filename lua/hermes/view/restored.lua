---Closes the windows of Hermes that a session file of |:mksession| brings back: empty ones with the
---old names, in which nothing works.
local M = {}

---Closes those windows. SessionLoadPost calls this.
function M.close()
  local chats = 0
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local kind = vim.api.nvim_buf_get_name(buf):match("^hermes://(%a+)")
    if kind and vim.bo[buf].buftype == "" then -- those that Hermes makes are no files
      chats = chats + (kind == "chat" and 1 or 0)
      for _, window in ipairs(vim.fn.win_findbuf(buf)) do
        if not pcall(vim.api.nvim_win_close, window, true) then -- the last one
          vim.api.nvim_win_set_buf(window, vim.api.nvim_create_buf(true, false))
        end
      end
      vim.api.nvim_buf_delete(buf, { force = true })
    end
  end
  if chats > 0 then
    require("hermes.view.choose").say("the chat has ended; :Hermes chat, and there gl, reopens it")
  end
end

return M
