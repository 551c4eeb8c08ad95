--- Which part of a question has been on the screen. Every way to ask uses it: nothing is allowed
--- before all deciding rows have been on the screen, nor within too_soon_ms.

local M = {}

--- Keys typed within this many milliseconds after a question came up, or after
--- what it shows has changed, were meant for something else, and allow nothing.
M.too_soon_ms = 500

---@class hermes.Reading
---@field layout hermes.Layout of what is shown now
---@field unseen table<integer, true> rows that decide and were not on the screen
---@field since number ms, when what it shows came up
local Reading = {}
Reading.__index = Reading

---@return number milliseconds
local function now()
  return vim.uv.hrtime() / 1e6
end

---@return hermes.Reading
function M.new()
  local layout = { whole = false, decided = 0, unread = 0, pending = true, folds = {} }
  return setmetatable({ layout = layout, unseen = {}, since = now() }, Reading)
end

--- Begins with a new layout, no row of which has been on the screen.
---@param layout hermes.Layout
function Reading:begin(layout)
  self.layout, self.unseen = layout, {}
  for row = 1, layout.decided do
    self.unseen[row] = true
  end
end

--- Starts the time anew in which keys allow nothing.
function Reading:changed()
  self.since = now()
end

--- Notes which rows are on the screen. Those in a closed fold are not.
---@param window integer
---@param first? integer line of the first row, by default 1
---@return boolean news whether this look has shown the last deciding rows
function Reading:look(window, first)
  if not next(self.unseen) then
    return false
  end
  vim.api.nvim_win_call(window, function()
    local top = vim.fn.line("w0") + (vim.fn.winsaveview().skipcol > 0 and 1 or 0)
    for line = top, vim.fn.line("w$") do
      if vim.fn.foldclosed(line) == -1 then
        self.unseen[line - (first or 1) + 1] = nil
      end
    end
  end)
  return not next(self.unseen)
end

--- Whether all that decides has been on the screen.
---@return boolean
function Reading:seen()
  return not next(self.unseen)
end

--- Whether the user has had everything in sight: nothing was left out, and all that decides has
--- been on the screen.
---@return boolean
function Reading:all_shown()
  local layout = self.layout
  return layout.whole and not layout.pending and layout.unread == 0 and self:seen()
end

--- Why nothing can be allowed now.
---@return string? why nil when it can be
function Reading:refusal()
  if not self.layout.whole then
    return "Too long to show in full, so it can only be refused"
  elseif self.layout.pending then
    return "Not all of it is here yet"
  elseif not self:seen() then
    return "NOT ALL IS SHOWN"
  elseif now() - self.since < M.too_soon_ms then
    return "Too fast to have read it"
  end
end

--- The label of a choice, with the number of lines that it would allow unread.
---@param label string
---@param refuses boolean
---@return string
function Reading:label(label, refuses)
  local unread = self.layout.unread
  return (refuses or unread == 0) and label
    or ("%s, %d line%s unread"):format(label, unread, unread == 1 and "" or "s")
end

return M
