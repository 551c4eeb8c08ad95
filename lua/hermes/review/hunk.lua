---Makes the hunks that the host sends into those that users get.
local M = {}

---A hunk can be thousands of lines, and there can be thousands of hunks, so this is plain.
---@param lines string[] with their ends
---@return string[]
local function without_ends(lines)
  local list = {}
  for i = 1, #lines do
    local line = lines[i]
    local stop = #line
    if line:byte(stop) == 10 then
      stop = stop - (line:byte(stop - 1) == 13 and 2 or 1)
    end
    list[i] = line:sub(1, stop)
  end
  return list
end

---@param list table[]
---@return table[]
local function copies(list)
  local copied = {}
  for i, entry in ipairs(list) do
    copied[i] = {}
    for key, value in pairs(entry) do
      copied[i][key] = value
    end
  end
  return copied
end

local max_lines = 1000 -- of a hunk, as the host sends them

---The lines of a hunk that are gone. The host has the user's lines within the hunk on both sides;
---here they are left out.
---@param old string[]
---@param new string[]
---@param user integer[] places in `new`
---@return string[]
local function gone(old, new, user)
  if #user == 0 then
    return old
  end
  local list, next_user = {}, 1
  for _, line in ipairs(old) do
    if line == new[user[next_user]] then
      next_user = next_user + 1
    else
      list[#list + 1] = line
    end
  end
  return list
end

---The hunk that users get.
---@param hunk table as the host sent it
---@param first integer row
---@param last integer row after it
---@param buf? integer
---@return hermes.review.Hunk
function M.shaped(hunk, first, last, buf)
  local base, old = hunk.base or { start = 0, ["end"] = 0 }, hunk.old or {}
  local shift = first - (hunk.current and hunk.current.start or 0)
  local new, user = hunk.new and without_ends(hunk.new) or {}, {}
  if not hunk.new and buf then
    new = vim.api.nvim_buf_get_lines(buf, first, math.min(last, first + max_lines), false)
  end
  local within = {}
  for i, row in ipairs(hunk.user or {}) do
    user[i] = row + shift + 1
    local place = user[i] - first
    within[#within + 1] = place >= 1 and place <= last - first and place or nil
  end
  return {
    id = hunk.id,
    version = hunk.version,
    path = hunk.path,
    bufnr = buf,
    kind = hunk.kind,
    sessionId = hunk.sessionId,
    agent = hunk.agent,
    first = first + 1,
    count = last - first,
    base_first = base.start + 1,
    base_count = base["end"] - base.start,
    old = gone(without_ends(old), new, within),
    old_count = (hunk.oldLines or #old) - #within,
    new = new,
    user = user,
    authors = copies(hunk.authors or {}),
    was = hunk.was,
    is = hunk.is,
    others = without_ends(hunk.others or {}),
  }
end

return M
