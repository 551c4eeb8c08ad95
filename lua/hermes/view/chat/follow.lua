--- Keeps the end of a conversation at the bottom of the windows that follow it. A window follows
--- while its cursor is on the last line, or while others have the keys and it shows that line. The
--- others say how much is new below what was in sight.

local api = vim.api

---@class hermes.chat.Follow
---@field buf integer
---@field redrawn fun() called after a redraw
---@field tried table<integer, string> by window: what it was to show last
---@field stale? boolean
---@field seen? integer extmark at the end of the text that was in sight
local Follow = {}
Follow.__index = Follow

local ns = api.nvim_create_namespace("hermes_chat_follow")
local by_buffer = {} ---@type table<integer, hermes.chat.Follow>

---@param buf integer
---@param redrawn fun()
---@return hermes.chat.Follow
function Follow.new(buf, redrawn)
  local self = setmetatable({ buf = buf, redrawn = redrawn, tried = {} }, Follow)
  if not next(by_buffer) then
    -- No event says that a fold was closed or an option changed. Every redraw does.
    api.nvim_set_decoration_provider(ns, {
      on_win = function(_, _, shown)
        local follow = by_buffer[shown]
        return follow ~= nil and follow:later()
      end,
    })
  end
  by_buffer[buf] = self
  api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      by_buffer[buf] = nil
    end,
  })
  return self
end

---@param window integer
---@return integer
local function line_count(window)
  return api.nvim_buf_line_count(api.nvim_win_get_buf(window))
end

---@param window integer
---@return boolean
local function is_at_end(window)
  return api.nvim_win_get_cursor(window)[1] >= line_count(window)
end

--- Whether a window shows the last line of text. Below it is an empty one for what comes next.
---@param window integer
---@return boolean
local function shows_end(window)
  return vim.fn.line("w$", window) >= line_count(window) - 1
end

--- The windows that follow.
---@return integer[]
function Follow:windows()
  return vim.tbl_filter(function(window)
    local others = window ~= api.nvim_get_current_win()
    return is_at_end(window) or others and shows_end(window)
  end, vim.fn.win_findbuf(self.buf))
end

--- The view of the current window that has the last line at its bottom.
---@return table for winrestview()
function Follow.end_view()
  local line = vim.fn.line("$") --[[@as integer]]
  local view = { lnum = line, col = 0, skipcol = 0, leftcol = 0 }
  local room = vim.fn.winheight(0)
  while line > 0 and room > 0 do
    local fold = vim.fn.foldclosed(line)
    if fold > 0 then
      line, room = fold, room - 1
    else
      local rows = { start_row = line - 1, end_row = line - 1 }
      if line == view.lnum then
        rows.end_row = nil -- with what stands below the last line
      end
      room = room - api.nvim_win_text_height(0, rows).all
    end
    line = line - 1
  end
  view.topline = line + 1
  if room < 0 and vim.wo.smoothscroll then
    local width = api.nvim_win_get_width(0)
      - vim.fn.getwininfo(api.nvim_get_current_win())[1].textoff
    view.skipcol = -room * width
  elseif room < 0 and view.topline < view.lnum then
    view.topline = view.topline + 1
  end
  return view
end

--- Shows the end in some windows. A user who selects or types something there is left alone.
---@param windows integer[]
---@param once? boolean not again where that was done and the user has scrolled since
function Follow:show_end(windows, once)
  for _, window in ipairs(windows) do
    local busy = window == api.nvim_get_current_win()
      and not vim.tbl_contains({ "n", "i" }, api.nvim_get_mode().mode)
    if not busy then
      api.nvim_win_call(window, function()
        local view = Follow.end_view()
        local want = ("%d %d %d"):format(view.lnum, view.topline, view.skipcol)
        local now = vim.fn.winsaveview()
        local there = now.topline == view.topline and now.skipcol == view.skipcol
        if not (is_at_end(window) and there) and not (once and self.tried[window] == want) then
          vim.fn.winrestview(view)
        end
        self.tried[window] = want
      end)
    end
  end
end

--- Shows the end in all windows, because the user has sent a prompt.
function Follow:go()
  self:show_end(vim.fn.win_findbuf(self.buf))
end

--- The lines that have come since the end was in sight.
---@private
---@return integer
function Follow:new_lines()
  local at = self.seen and api.nvim_buf_get_extmark_by_id(self.buf, ns, self.seen, {}) or {}
  local row, col = at[1] or 0, at[2] or 0
  local line = api.nvim_buf_get_lines(self.buf, row, row + 1, false)[1] or ""
  return api.nvim_buf_line_count(self.buf) - 2 - row + (#line > col and 1 or 0)
end

--- Says in the windows how much is new below.
function Follow:count()
  local windows = vim.fn.win_findbuf(self.buf)
  if vim.iter(windows):any(shows_end) then
    local row = math.max(0, api.nvim_buf_line_count(self.buf) - 2)
    local text = api.nvim_buf_get_lines(self.buf, row, row + 1, true)[1]
    self.seen = api.nvim_buf_set_extmark(self.buf, ns, row, #text, {
      id = self.seen,
      right_gravity = false,
    })
  end
  local new, changed = self:new_lines(), false
  for _, window in ipairs(windows) do
    local text = new > 0
        and not shows_end(window)
        and ("↓ %d new line%s · "):format(new, new == 1 and "" or "s")
      or nil
    if vim.w[window].hermes_chat_new ~= text then
      vim.w[window].hermes_chat_new, changed = text, true
    end
  end
  if changed then
    vim.cmd("redrawstatus!")
  end
end

--- Looks at the windows once they were redrawn.
---@private
function Follow:later()
  if not self.stale then
    self.stale = true
    vim.schedule(function()
      self.stale = false
      if api.nvim_buf_is_valid(self.buf) then
        self:show_end(vim.tbl_filter(is_at_end, vim.fn.win_findbuf(self.buf)), true)
        self:count()
        self.redrawn()
      end
    end)
  end
end

return Follow
