--- Shows files that an agent may have written.
local M = {}

local api = vim.api
local versions = require("hermes.doc.versions")
local disk = require("hermes.core.disk")

--- Larger files are not shown, in bytes. The review holds none of them either.
M.max_bytes = 16 * disk.max_bytes

--- A larger .editorconfig is ignored, in bytes.
local max_config = 64 * 1024

--- Whether Neovim can read what sets the style of a file. It would wait for the other end of a
--- named pipe, and it reads a large file as a whole.
---@param path string
---@return boolean
local function has_plain_style(path)
  for folder in vim.fs.parents(path) do
    local config = vim.fs.joinpath(folder, ".editorconfig")
    if disk.exists(config) and (disk.size(config) or math.huge) > max_config then
      return false
    end
  end
  return true
end

--- Calls a function that loads the file of a buffer, without its modelines.
---@param buf integer
---@param show fun()
---@return boolean ok as pcall does
---@return any problem
local function guarded(buf, show)
  local modeline, style = vim.bo[buf].modeline, vim.b[buf].editorconfig
  vim.bo[buf].modeline = false
  local plain = has_plain_style(api.nvim_buf_get_name(buf))
  if not plain then
    vim.b[buf].editorconfig = false
  end
  local ok, problem = pcall(show)
  if api.nvim_buf_is_valid(buf) then
    vim.bo[buf].modeline = modeline
    if not plain then
      vim.b[buf].editorconfig = style
    end
  end
  return ok, problem
end

--- Gives a buffer the bytes of its file, of which Neovim finds out how to show them. It reads a
--- copy, because it would follow a link that has taken the name of the file since.
---@param buf integer
---@param bytes string
function M.reload(buf, bytes)
  local o, home, copy = vim.bo[buf], versions.home(buf), disk.copy(bytes)
  local modifiable, readonly, views = o.modifiable, o.readonly, {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  o.modifiable, o.readonly = true, false
  local ok, problem = guarded(buf, function()
    api.nvim_buf_call(buf, function()
      api.nvim_buf_set_lines(buf, 0, -1, false, {})
      if bytes ~= "" then
        local quietly = "silent keepalt keepjumps lockmarks noautocmd 0read ++edit "
        vim.cmd(quietly .. vim.fn.fnameescape(copy))
        api.nvim_buf_set_lines(buf, -2, -1, false, {})
      end
      o.modifiable, o.readonly = modifiable, readonly
      vim.cmd("silent doautocmd <nomodeline> BufReadPost")
    end)
  end)
  vim.fn.delete(copy)
  if api.nvim_buf_is_loaded(buf) then
    o.modifiable, o.readonly = modifiable, readonly
    versions.set_home(buf, home)
  end
  for win, view in pairs(views) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf then
      api.nvim_win_call(win, function()
        vim.fn.winrestview(view)
      end)
    end
  end
  if not ok then
    error(problem, 0)
  end
end

--- Shows a file in the current window, or above it if that one is fixed to its buffer.
---@param path string absolute
---@return string? problem nil when it is shown
function M.file(path)
  local kind, size = disk.kind(path), disk.size(path) or 0
  if kind and kind ~= "file" then -- Neovim would wait for the other end of a named pipe
    return ("not a file, but a %s"):format(kind)
  end
  local buf = vim.fn.bufadd(path)
  if size > M.max_bytes and not api.nvim_buf_is_loaded(buf) then
    return ("it is %.0f MB now; :edit loads it"):format(size / 1e6)
  end
  vim.bo[buf].buflisted = true
  local ok, problem = guarded(buf, function()
    if vim.wo.winfixbuf then
      api.nvim_open_win(buf, true, { split = "above", win = 0 })
    else
      api.nvim_win_set_buf(0, buf)
    end
  end)
  if api.nvim_get_current_buf() ~= buf then
    return ok and "another buffer came in its place" or tostring(problem)
  end
  if not ok then -- an autocommand has failed after the file was read
    require("hermes.core.log").write(vim.log.levels.WARN, tostring(problem))
  end
end

return M
