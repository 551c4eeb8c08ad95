--- Line differences between two texts, with a limit on the work.

local M = {}

--- Beyond this many bytes or lines on either side no diff is computed, and
--- beyond this many hunks it is not used, because either would block the
--- editor.
M.max_bytes, M.max_lines, M.max_hunks = 2 * 1024 * 1024, 50000, 2000

local compute = vim.text and vim.text.diff or vim.diff

---@param lines string[]
---@return string
local function join(lines)
  return #lines > 0 and table.concat(lines, "\n") .. "\n" or ""
end

---@class hermes.Hunk
---@field first integer 0-based row of the first old line
---@field old string[]
---@field new string[]

--- Everything between the equal lines at both ends, as one hunk.
---@param old string[]
---@param new string[]
---@return hermes.Hunk[]
local function ends_only(old, new)
  local head, tail = 0, 0
  local shorter = math.min(#old, #new)
  while head < shorter and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  while tail < shorter - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  if head + tail == #old and #old == #new then
    return {}
  end
  return {
    {
      first = head,
      old = vim.list_slice(old, head + 1, #old - tail),
      new = vim.list_slice(new, head + 1, #new - tail),
    },
  }
end

--- The hunks that turn old into new, from top to bottom. Texts beyond the
--- limits give one hunk.
---@param old string[]
---@param new string[]
---@return hermes.Hunk[]
function M.hunks(old, new)
  local before, after = join(old), join(new)
  local bytes, lines = math.max(#before, #after), math.max(#old, #new)
  if bytes > M.max_bytes or lines > M.max_lines then
    return ends_only(old, new)
  end
  local found = compute(before, after, { result_type = "indices" }) --[[@as integer[][] ]]
  if #found > M.max_hunks then
    return ends_only(old, new)
  end
  local hunks = {}
  for i, h in ipairs(found) do
    local from, count, to, added = h[1], h[2], h[3], h[4]
    hunks[i] = {
      first = count == 0 and from or from - 1,
      old = vim.list_slice(old, from, from + count - 1),
      new = vim.list_slice(new, to, to + added - 1),
    }
  end
  return hunks
end

--- Two texts with more lines or bytes than this, taken together, are not worth
--- a wait.
M.quick_lines, M.quick_bytes = 10000, 512 * 1024

--- As unified(), within a frame or two. nil when the texts are too large for
--- that.
---@param old string
---@param new string
---@return string[]?
function M.quick(old, new)
  local _, breaks = (#old + #new <= M.quick_bytes and old .. new or ""):gsub("\n", "")
  if #old + #new > M.quick_bytes or breaks > M.quick_lines then
    return nil
  end
  return M.unified(old, new)
end

--- A unified diff without file headers, or nil when the texts are too large.
---@param old string
---@param new string
---@return string[]?
function M.unified(old, new)
  if #old > M.max_bytes or #new > M.max_bytes then
    return nil
  end
  return vim.split(compute(old, new, { ctxlen = 3 }) --[[@as string]], "\n", { trimempty = true })
end

return M
