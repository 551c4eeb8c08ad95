--- Floating windows for questions.

local M = {}

--- Closes a window, now or as soon as Neovim allows it.
---@param window? integer
function M.close(window)
  if window and vim.api.nvim_win_is_valid(window) then
    pcall(vim.api.nvim_win_close, window, true)
    if vim.api.nvim_win_is_valid(window) then -- the command-line window is open
      vim.defer_fn(function()
        M.close(window)
      end, 100)
    end
  end
end

--- The border of windows, unless 'winborder' says one. Neovim 0.10 does not have it.
---@return string?
local function border()
  local set = vim.fn.exists("+winborder") == 1 and vim.o.winborder ~= ""
  return not set and "rounded" or nil
end

---@param lines string[]
---@param enter boolean
---@param config table for nvim_open_win
---@return integer? window nil where no window can be opened now
function M.open(lines, enter, config)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  local ok, window = pcall(function()
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
    vim.bo[buf].syntax = "diff"
    vim.bo[buf].modifiable = false
    return vim.api.nvim_open_win(
      buf,
      enter,
      vim.tbl_extend("force", {
        relative = "editor",
        style = "minimal",
        border = border(),
        noautocmd = true,
      }, config)
    )
  end)
  if not ok then
    pcall(vim.api.nvim_buf_delete, buf, { force = true })
    return nil
  end
  vim.wo[window].wrap = false -- every line fits
  return window
end

---@param lines string[]
---@param least integer
---@return integer cells
function M.widest(lines, least)
  for _, line in ipairs(lines) do
    least = math.max(least, vim.api.nvim_strwidth(line))
  end
  return least
end

--- The lines and columns available to a window with a border.
---@return integer lines
---@return integer columns
function M.room()
  return math.max(1, vim.o.lines - math.max(1, vim.o.cmdheight) - 2), math.max(1, vim.o.columns - 4)
end

return M
