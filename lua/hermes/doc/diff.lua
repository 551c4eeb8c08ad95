--- Line differences between two texts, with a limit on the work.

local M = {}

--- Beyond this many bytes or lines on either side, between the equal lines at
--- both ends, no hunks are computed, and beyond this many they are not used,
--- because either would block the editor.
M.max_hunk_bytes, M.max_hunk_lines, M.max_hunks = 1024 * 1024, 20000, 1000

--- Beyond this many bytes on either side no unified diff is computed.
M.max_bytes = 2 * 1024 * 1024

local compute = vim.text and vim.text.diff or vim.diff

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

---@param lines string[]
---@return string? text nil when it is too large
local function join(lines)
  local text = #lines <= M.max_hunk_lines and table.concat(lines, "\n")
  if text and #text <= M.max_hunk_bytes then
    return #lines > 0 and text .. "\n" or ""
  end
end

--- The hunks that turn old into new, from top to bottom. Texts beyond the
--- limits give one hunk.
---@param old string[]
---@param new string[]
---@return hermes.Hunk[]
function M.hunks(old, new)
  local whole = ends_only(old, new)
  local middle = whole[1]
  local before, after = middle and join(middle.old), middle and join(middle.new)
  if not before or not after then
    return whole
  end
  local found = compute(before, after, { result_type = "indices" }) --[[@as integer[][] ]]
  if #found > M.max_hunks then
    return whole
  end
  local hunks = {}
  for i, h in ipairs(found) do
    local from, count, to, added = h[1], h[2], h[3], h[4]
    hunks[i] = {
      first = middle.first + (count == 0 and from or from - 1),
      old = vim.list_slice(middle.old, from, from + count - 1),
      new = vim.list_slice(middle.new, to, to + added - 1),
    }
  end
  return hunks
end

--- Fits hunks of a text to what the text has become by an edit at one place.
---@param hunks hermes.Hunk[]
---@param old string[] what they are hunks of
---@param now string[]
---@return hermes.Hunk[]? fitted nil when the edit touches one of them
function M.shift(hunks, old, now)
  local edit = ends_only(old, now)[1]
  if not edit then
    return hunks
  end
  local first, last = edit.first, edit.first + #edit.old
  local fitted = {}
  for i, hunk in ipairs(hunks) do
    local stop = hunk.first + #hunk.old
    local apart = #hunk.old > 0 or #edit.old > 0 -- of two insertions at one place neither is first
    if stop < first or (stop == first and apart) then
      fitted[i] = hunk
    elseif hunk.first > last or (hunk.first == last and apart) then
      local moved = hunk.first + #edit.new - #edit.old
      fitted[i] = { first = moved, old = hunk.old, new = hunk.new }
    else
      return nil
    end
  end
  return fitted
end

---@class hermes.Comparison
---@field before integer lines
---@field after integer lines
---@field lines? string[] of a unified diff without file headers; nil when the texts are too large
---@field more integer lines of the diff beyond the last

--- The most lines and bytes that may still be compared.
---@class hermes.CompareBudget
---@field lines integer
---@field bytes integer

--- Compares two texts. It also runs in a thread and uses nothing from outside.
---@param old string
---@param new string
---@param lines integer
---@param bytes integer
---@param most integer
---@return integer before
---@return integer after
---@return string? diff
---@return integer? more
local function compare(old, new, lines, bytes, most)
  local function count(s)
    local _, n = s:gsub("\n", "")
    return s ~= "" and s:byte(-1) ~= 10 and n + 1 or n
  end
  local before, after = count(old), count(new)
  if old ~= "" and new ~= "" and old:byte(-1) ~= 10 and new:byte(-1) ~= 10 then
    -- If both lack the last line end, that is no difference: they may be parts of a file.
    old, new = old .. "\n", new .. "\n"
  end
  if before + after > lines or #old + #new > bytes then
    return before, after
  end
  local unified = (vim.text and vim.text.diff or vim.diff)(old, new, { ctxlen = 3 })
  local n, at = 0, 0
  while n < most do
    at = unified:find("\n", at + 1, true)
    if not at then
      return before, after, unified, 0
    end
    n = n + 1
  end
  return before, after, unified:sub(1, at), count(unified:sub(at + 1))
end

--- A diff of texts that may be parts of a file, which does not say where they stand there.
---@param lines string[] of a unified diff
---@return string[]
function M.unplaced(lines)
  local list = {}
  for i, line in ipairs(lines) do
    local header = vim.startswith(line, "@@ ")
    if not header or i > 1 then
      list[#list + 1] = header and "…" or line
    end
  end
  return list
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
  local _, _, diff = compare(old, new, math.huge, math.huge, math.huge)
  return vim.split(assert(diff), "\n", { trimempty = true })
end

---@param budget hermes.CompareBudget
---@return hermes.Comparison
local function comparison(budget, old, new, before, after, diff, more)
  budget.lines, budget.bytes = budget.lines - before - after, budget.bytes - #old - #new
  return {
    before = before,
    after = after,
    lines = diff and vim.split(diff, "\n", { trimempty = true }),
    more = more or 0,
  }
end

--- Compares two texts while the caller waits.
---@param old string
---@param new string
---@param budget hermes.CompareBudget is reduced
---@param most integer lines of the result
---@return hermes.Comparison
function M.compare(old, new, budget, most)
  return comparison(budget, old, new, compare(old, new, budget.lines, budget.bytes, most))
end

--- Compares two texts in a thread, so that the editor goes on drawing.
---@param old string
---@param new string
---@param budget hermes.CompareBudget is reduced
---@param most integer lines of the result
---@param done fun(result: hermes.Comparison) called later
function M.compare_later(old, new, budget, most, done)
  local work = vim.uv.new_work(
    compare,
    vim.schedule_wrap(function(...)
      done(comparison(budget, old, new, ...))
    end)
  )
  work:queue(old, new, budget.lines, budget.bytes, most)
end

return M
