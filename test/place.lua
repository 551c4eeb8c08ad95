--- Folders for specs that need a path that is short, such as that of a socket, or that is in no
--- repository, which the temporary folder may be.
local M = {}

--- Makes a folder.
---@return string path
function M.new()
  local dir = vim.uv.fs_realpath(assert(vim.uv.fs_mkdtemp("/tmp/hermes-XXXXXX")))
  vim.api.nvim_create_autocmd("User", {
    pattern = "SpecsEnded", -- of test/run.lua
    callback = function()
      vim.fn.delete(dir, "rf")
    end,
  })
  return dir
end

return M
