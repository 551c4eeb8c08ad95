--- The corner of the screen for a window that must cover little.
local M = {}

local corners = { "NE", "SE", "NW", "SW" } -- where a window may be, the best first

--- The rows and columns of the screen that a window takes in a corner, with its border.
---@param corner string
---@param width integer
---@param height integer
---@return integer top
---@return integer bottom
---@return integer left
---@return integer right
local function area(corner, width, height)
  local bottom = vim.o.lines - math.max(1, vim.o.cmdheight) - 1
  local top = corner:sub(1, 1) == "N" and 1 or math.max(1, bottom - height - 1)
  local left = corner:sub(2) == "W" and 1 or math.max(1, vim.o.columns - width - 1)
  return top, top + height + 1, left, left + width + 1
end

-- The characters of a screen without text: fillers, and lines between windows.
local blank = { [""] = true, [" "] = true, ["~"] = true, ["│"] = true, ["|"] = true }

--- The rows of text that a window would cover in a corner.
---@param corner string
---@param width integer
---@param height integer
---@return integer
local function covered(corner, width, height)
  local top, bottom, left, right = area(corner, width, height)
  local count = 0
  for row = top, bottom do
    for column = left, math.min(right, vim.o.columns) do
      if not blank[vim.fn.screenstring(row, column)] then
        count = count + 1
        break
      end
    end
  end
  return count
end

--- The corner in which a window without focus covers the least text, and never the line of the
--- cursor. A window stays in its corner if it can.
---@param now? string the corner of the window
---@param width integer
---@param height integer
---@return string
function M.best(now, width, height)
  local cursor = vim.fn.screenpos(0, vim.fn.line("."), 1).row
  local function may(corner)
    local top, bottom = area(corner, width, height)
    return cursor < top or cursor > bottom
  end
  if now and may(now) then
    return now
  end
  local best, least = corners[1], math.huge
  for _, corner in ipairs(corners) do
    local count = may(corner) and covered(corner, width, height) or math.huge
    if count < least then
      best, least = corner, count
    end
    if count == 0 then
      break
    end
  end
  return best
end

return M
