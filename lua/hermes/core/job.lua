---Programs in terminal buffers.
local M = {}

---Starts a program in a terminal, which an empty buffer becomes. The buffer is deleted if that
---fails. The program ends with Neovim.
---@param buf integer
---@param win integer? one that shows the buffer, for the size of the terminal
---@param command string[]
---@param opts table options of jobstart()
---@return integer? job
---@return string? err
function M.terminal(buf, win, command, opts)
  local function start()
    if vim.fn.has("nvim-0.11") == 1 then
      opts.term = true
      return vim.fn.jobstart(command, opts)
    end
    return vim.fn.termopen(command, opts)
  end
  local ok, job = pcall(function()
    if win then
      return vim.api.nvim_win_call(win, start)
    end
    return vim.api.nvim_buf_call(buf, start)
  end)
  if ok and job > 0 then
    require("hermes.core.quit").add_job(job, vim.fn.jobstop)
    return job
  end
  pcall(vim.api.nvim_buf_delete, buf, { force = true })
  return nil, ok and "it cannot be started" or tostring(job)
end

return M
