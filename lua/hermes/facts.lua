--- Lays out what a question is about for a window. Facts that decide the answer
--- come first and complete. A fact that does not fit shows its beginning, its
--- end and how much is missing between them, so that padding cannot hide
--- anything unnoticed.

local text = require("hermes.text")

local M = {}

--- The longest run of white space that is shown as it is, in characters.
M.max_blanks = 15

--- The longest value that is ever shown in full, in bytes. A longer deciding
--- fact can only be refused.
M.max_value = 64 * 1024

-- Longer values are cut first, because processing all of them takes too long.
local max_searched = 1024 * 1024

--- The most bytes and rows that a fact gets in a window where it decides
--- nothing.
M.max_aside, M.max_aside_rows = 2000, 4

---@class hermes.Fact
---@field name? string nil for text that stands alone
---@field value? string
---@field list? string[] several values, each on a line of its own
---@field decides? boolean nothing is allowed until all of it has been on the screen
---@field lost? boolean part of it is missing for good
---@field rows? integer rows it may take when it does not decide

---@param n integer
---@return string such as 1,482
local function count(n)
  local digits = tostring(n):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (digits:gsub("^,", ""))
end

---@param s string
---@return integer characters, counted by their first bytes
local function length(s)
  return select(2, s:gsub("[^\128-\191]", ""))
end

---@param n integer characters
---@return string
local function missing(n)
  return ("… %s more characters …"):format(count(n))
end

--- The number of bytes of the white space at a position, nil if there is none.
---@param s string
---@param at integer
---@return integer?
local function blank(s, at)
  local a, b, c = s:byte(at, at + 2)
  if a == 32 or (a and a >= 9 and a <= 13) then
    return 1
  elseif a == 0xC2 and b == 0xA0 then
    return 2
  elseif
    (a == 0xE1 and b == 0x9A and c == 0x80)
    or (a == 0xE2 and b == 0x80 and c and (c <= 0x8A or c == 0xAF))
    or (a == 0xE2 and b == 0x81 and c == 0x9F)
    or (a == 0xE2 and b == 0xA0 and c == 0x80)
    or (a == 0xE3 and b == 0x80 and c == 0x80)
  then
    return 3
  end
end

--- Replaces long runs of white space with a note of their length, because they
--- would push the following text out of sight.
---@param s string
---@return string
local function squeeze(s)
  local parts, from, at = {}, 1, 1
  while true do
    at = s:find("[\t-\r \194\225-\227]", at)
    if not at then
      break
    end
    local last, blanks, step = at, 0, blank(s, at)
    while step do
      last, blanks = last + step, blanks + 1
      step = blank(s, last)
    end
    if blanks > M.max_blanks then
      local breaks = select(2, s:sub(at, last - 1):gsub("\n", ""))
      parts[#parts + 1] = s:sub(from, at - 1)
      parts[#parts + 1] = breaks > 0
          and ("‹%s blanks, %s line breaks›"):format(count(blanks), count(breaks))
        or ("‹%s blanks›"):format(count(blanks))
      from = last
    end
    at = math.max(last, at + 1)
  end
  parts[#parts + 1] = s:sub(from)
  return table.concat(parts)
end

--- Wraps a line into rows of at most `width` cells.
---@param rows string[] the rows are added here
---@param line string safe to show, without tabs
---@param width integer
local function wrap(rows, line, width)
  local indent = width > 20 and "  " or ""
  if not line:find("[\128-\255]") then
    rows[#rows + 1] = line:sub(1, width)
    for from = width + 1, #line, width - #indent do
      rows[#rows + 1] = indent .. line:sub(from, from + width - #indent - 1)
    end
    return
  end
  local row, cells = {}, 0
  for char in line:gmatch("[%z\1-\127\194-\255][\128-\191]*") do
    local wide = #char == 1 and 1 or math.max(1, vim.api.nvim_strwidth(char))
    if cells + wide > width then
      rows[#rows + 1] = table.concat(row)
      row, cells = { indent }, #indent
    end
    row[#row + 1], cells = char, cells + wide
  end
  rows[#rows + 1] = table.concat(row)
end

---@param s string
---@param max integer bytes
---@return string
---@return boolean cut
local function ends(s, max)
  if #s <= max then
    return s, false
  end
  local head, tail = math.floor(max / 2), #s - math.floor(max / 2) + 1
  for _ = 1, 3 do -- not inside a character
    head = head - (s:find("^[\128-\191]", head + 1) and head > 0 and 1 or 0)
    tail = tail + (s:find("^[\128-\191]", tail) and 1 or 0)
  end
  local gap = missing(length(s:sub(head + 1, tail - 1)))
  return table.concat({ s:sub(1, head), gap, s:sub(tail) }, "\n"), true
end

--- The rows of a fact, and whether its value was too long to be shown in full.
---@param fact hermes.Fact
---@param width integer
---@param max integer bytes of the value
---@return string[] rows
---@return boolean cut
local function render(fact, width, max)
  local rows, cut = {}, false
  local values = fact.list or { fact.value }
  for at, value in ipairs(values) do
    if max <= 0 then
      rows[#rows + 1] = "  " .. missing(length(table.concat(values, "", at)))
      return rows, true
    end
    local kept, shorter
    if #value > max_searched then
      kept, shorter = squeeze(ends(value, max)), true
    else
      kept, shorter = ends(squeeze(value), max)
    end
    max, cut = max - #kept - 1, cut or shorter
    for i, line in ipairs(vim.split(kept, "\r?\n")) do
      line = text.line(line, #line):gsub("\t", "    ")
      local lead = fact.name and (i == 1 and fact.name .. ": " or "  ") or ""
      wrap(rows, lead .. line, width)
    end
  end
  return rows, cut
end

--- The first and the last rows, with the count of what is missing in between.
---@param rows string[]
---@param height integer
---@return string[]
local function abbreviate(rows, height)
  if #rows <= height then
    return rows
  end
  local head = math.ceil((height - 1) / 2)
  local tail = height - 1 - head
  local gap = length(table.concat(vim.list_slice(rows, head + 1, #rows - tail)))
  local kept = vim.list_slice(rows, 1, head)
  kept[#kept + 1] = "  " .. missing(gap)
  return vim.list_extend(kept, vim.list_slice(rows, #rows - tail + 1))
end

--- Renders all facts in rows of at most `width` cells.
---@param facts hermes.Fact[]
---@param width integer
---@return string[] rows
---@return boolean whole false when a deciding fact is too long even then
function M.all(facts, width)
  local rows, whole = {}, true
  for _, fact in ipairs(facts) do
    local own, cut = render(fact, width, M.max_value)
    vim.list_extend(rows, own)
    whole = whole and not (fact.decides and cut or fact.lost)
  end
  return rows, whole
end

--- Renders the rows that fit into a window: the deciding facts, then as much of
--- the others as possible.
---@param facts hermes.Fact[]
---@param width integer
---@param height integer at least 1
---@return string[] rows at most `height`
---@return boolean hidden true when part of a deciding fact is not shown
function M.fit(facts, width, height)
  local blocks, asides, needed, hidden = {}, {}, 0, false
  for _, fact in ipairs(facts) do
    local own, cut = render(fact, width, fact.decides and M.max_value or M.max_aside)
    if fact.decides then
      blocks[#blocks + 1], needed = { rows = own, take = math.min(#own, 3) }, needed + #own
      hidden = hidden or cut or fact.lost == true
    else
      vim.list_extend(asides, abbreviate(own, fact.rows or M.max_aside_rows))
    end
  end
  -- One row says how many lines are missing, if any are.
  local left = height - (#asides > 0 and needed + #asides > height and 1 or 0)
  for _, block in ipairs(blocks) do
    left = left - block.take
  end
  local rows = {} ---@type string[]
  for _, block in ipairs(blocks) do
    local more = math.max(0, math.min(#block.rows - block.take, left))
    left = left - more
    hidden = hidden or block.take + more < #block.rows
    vim.list_extend(rows, abbreviate(block.rows, block.take + more))
  end
  local deciding = #rows
  vim.list_extend(rows, asides)
  if #rows > height then
    hidden = hidden or deciding >= height
    local more = #rows - height + 1
    rows = vim.list_slice(rows, 1, height - 1)
    rows[height] = ("… %s more lines"):format(count(more))
  end
  return rows, hidden
end

--- Renders a fact as one line, with at most `max` characters of its beginning
--- and end.
---@param fact hermes.Fact
---@param max integer
---@return string
function M.line(fact, max)
  local line = table.concat(render(fact, 2 ^ 30, M.max_value), " ")
  local chars = vim.fn.strchars(line)
  if chars <= max then
    return line
  end
  local half = math.floor(max / 2)
  return ("%s %s %s"):format(
    vim.fn.strcharpart(line, 0, half),
    missing(chars - 2 * half),
    vim.fn.strcharpart(line, chars - half)
  )
end

return M
