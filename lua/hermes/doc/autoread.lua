--- Keeps Neovim from loading by itself what an agent has made of an open file. With
--- 'autoread' it reads files of any size, follows a link that an agent has put in the place
--- of a file, and waits for ever for a pipe, as soon as the user comes back to it.

local M = {}

local disk = require("hermes.core.disk")

---@class hermes.autoread.Kept
---@field autocmd integer
---@field autoread? boolean as it was
---@field long? boolean the file has too many lines, which its size does not say

local kept = {} ---@type table<integer, hermes.autoread.Kept>

--- Whether Neovim must not load the file of a buffer by itself. A file that grows
--- by and by, after the user has loaded it at a similar size, is none of these.
---@param buf integer
---@return boolean
local function is_dangerous(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  local size = disk.size(name)
  if not size then
    return disk.exists(name)
  elseif require("hermes.doc.versions").strays(buf) then
    return true
  end
  local bytes = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  return size > math.max(disk.max_bytes, 2 * bytes)
end

---@param buf integer
local function release(buf)
  local k = kept[buf]
  kept[buf] = nil
  pcall(vim.api.nvim_del_autocmd, k.autocmd)
  if k.autoread ~= nil and k.autoread ~= vim.go.autoread then
    vim.bo[buf].autoread = k.autoread
  else
    vim.api.nvim_buf_call(buf, function()
      vim.cmd("setlocal autoread<")
    end)
  end
end

--- Decides anew whether Neovim may load the file of a loaded buffer by itself.
---@param buf integer
---@param long? boolean whether the file has too many lines; nil: as before
function M.look(buf, long)
  if long == nil then
    long = kept[buf] and kept[buf].long
  end
  local dangerous = long or is_dangerous(buf)
  if dangerous and not kept[buf] then
    kept[buf] = {
      autoread = vim.bo[buf].autoread,
      autocmd = vim.api.nvim_create_autocmd("FileChangedShell", {
        buffer = buf,
        callback = function()
          vim.v.fcs_choice = "" -- neither load it nor ask
        end,
      }),
    }
    vim.bo[buf].autoread = false
  elseif not dangerous and kept[buf] then
    return release(buf)
  end
  if dangerous then
    kept[buf].long = long
  end
end

local group = vim.api.nvim_create_augroup("hermes.autoread", {})
vim.api.nvim_create_autocmd({ "FocusGained", "VimResume", "ShellCmdPost" }, {
  group = group,
  callback = function()
    for _, buf in ipairs(require("hermes.doc.buffer").all()) do
      M.look(buf)
    end
  end,
})
vim.api.nvim_create_autocmd("BufReadPost", {
  group = group,
  callback = function(args)
    if kept[args.buf] then
      M.look(args.buf, false)
    end
  end,
})
vim.api.nvim_create_autocmd("BufUnload", {
  group = group,
  callback = function(args)
    if kept[args.buf] then
      release(args.buf)
    end
  end,
})

return M
