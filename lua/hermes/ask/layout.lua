--- Lays out what a question is about for a window. Facts that decide the answer
--- come first and complete. A fact that does not fit shows its beginning, its
--- end and how much is missing between them, so that padding cannot hide
--- anything unnoticed.

local text = require("hermes.core.text")

local M = {}

--- The longest run of white space that is shown as it is, in characters.
M.max_blanks = 15

--- The longest value that is ever shown in full, in bytes. A longer deciding
--- fact can only be refused.
M.max_value = 64 * 1024

--- The most bytes of all facts together that are shown. Laying out more would
--- keep the editor from drawing.
M.max_total = 64 * 1024

-- Bytes of a fact that are always shown, whatever the others take.
local short = 256

-- The bytes that a row costs in addition to its text.
local row_cost = 16

-- Longer values are cut first, because processing all of them takes too long.
local max_searched = 256 * 1024

--- The most bytes and rows that a fact gets in a window where it decides
--- nothing.
M.max_aside, M.max_aside_rows = 2000, 4

---@class hermes.Fact
---@field name? string nil for text that stands alone
---@field value? string
---@field role? string of an argument
---@field words? boolean it is in the agent's own words
---@field list? string[] several values, each on a line of its own
---@field decides? boolean nothing is allowed until all of it has been on the screen
---@field lost? boolean part of it is missing for good
---@field change? boolean a change of a file: lines that are not shown are counted, and allowing
---it allows them unread
---@field more? integer lines of a change that are not in `list`
---@field diff? table the diff of the tool call that `list` shows
---@field place? hermes.DiffPlace of the diff
---@field pending? boolean it is not all there yet, and nothing is allowed before it is
---@field rows? integer rows it may take without focus, or when it does not decide

---@class hermes.Layout
---@field whole boolean false when a deciding fact is too long to be shown in full
---@field decided integer the last row of a deciding fact, 0 for none
---@field unread integer lines of changes that are not among the rows
---@field pending boolean a deciding fact is not all there yet
---@field folds { first: integer, last: integer }[] what decides nothing and takes many rows

---@param n integer
---@return string such as 1,482
local function count(n)
  local digits = tostring(n):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (digits:gsub("^,", ""))
end

---@param s string
---@return integer characters, counted by their first bytes
local function length(s)
  if not s:find("[\128-\191]") then
    return #s -- much faster than the rest
  end
  return #(s:gsub("[\128-\191]+", ""))
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
  local widths = {} ---@type table<string, integer>
  for char in line:gmatch("[%z\1-\127\194-\255][\128-\191]*") do
    local wide = #char == 1 and 1 or widths[char]
    if not wide then
      wide = math.max(1, vim.api.nvim_strwidth(char))
      widths[char] = wide
    end
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
  local gap = tail - head - 1 > 128 * 1024
      and ("… %s more bytes …"):format(count(tail - head - 1))
    or missing(length(s:sub(head + 1, tail - 1)))
  return table.concat({ s:sub(1, head), gap, s:sub(tail) }, "\n"), true
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

--- The first rows of a change, and how many more there are.
---@param rows string[]
---@param height integer
---@return string[]
local function head_of(rows, height)
  if #rows <= height then
    return rows
  end
  local kept = vim.list_slice(rows, 1, height - 1)
  kept[height] = ("  … %s more lines"):format(count(#rows - height + 1))
  return kept
end

--- The rows of a fact, and whether its value was too long to be shown in full.
---@param fact hermes.Fact
---@param width integer
---@param max integer bytes of the value
---@return string[] rows
---@return boolean cut
---@return integer took bytes of the value that are shown
local function render(fact, width, max)
  local rows, cut = {}, false
  local values = fact.list or { fact.value }
  local all = max
  for at, value in ipairs(values) do
    if max <= 0 or (max <= short and #value > short) then
      local bytes = 0
      for i = at, #values do
        bytes = bytes + #values[i]
      end
      local lead = fact.name and fact.name .. ": " or "  "
      rows[#rows + 1] = ("%s… %s more bytes …"):format(lead, count(bytes))
      return rows, true, all
    end
    local kept, shorter
    if #value > max_searched then
      kept, shorter = squeeze(ends(value, max)), true
    else
      kept, shorter = ends(squeeze(value), max)
    end
    local lines = vim.split(kept, "\r?\n")
    if #lines > math.max(max / row_cost, 3) then
      lines, shorter = abbreviate(lines, math.max(math.floor(max / row_cost), 3)), true
    end
    max, cut = max - #kept - row_cost * #lines, cut or shorter
    for i, line in ipairs(lines) do
      line = text.line(line, #line):gsub("\t", "    ")
      local lead = fact.name and (i == 1 and fact.name .. ": " or "  ") or ""
      wrap(rows, lead .. line, width)
    end
  end
  return rows, cut, all - max
end

--- The rows of a change: as many of its lines as there is room for, and a row that
--- says how many more there are.
---@param fact hermes.Fact
---@param width integer
---@param max integer bytes
---@return string[] rows
---@return integer unread lines that are not among the rows
---@return integer took bytes
local function render_change(fact, width, max)
  local rows, unread, left, at = {}, fact.more or 0, max, 0
  for i, line in ipairs(fact.list) do
    left = left - #line - row_cost
    if left < 0 and i > 2 then -- the path and one line are always shown
      break
    end
    local own, cut = render({ value = line }, width, M.max_value)
    vim.list_extend(rows, own)
    unread, at = unread + (cut and 1 or 0), i
  end
  unread = unread + #fact.list - at
  if unread > 0 then
    rows[#rows + 1] = ("  … %s more lines"):format(count(unread))
  end
  return rows, unread, max - left
end

--- All facts, in rows of at most `width` cells.
---@param facts hermes.Fact[] those that decide first
---@param width integer
---@return string[] rows
---@return hermes.Layout
function M.all(facts, width)
  local rows = {}
  local layout = { whole = true, decided = 0, unread = 0, pending = false, folds = {} }
  local left = M.max_total
  for _, fact in ipairs(facts) do
    local before = #rows
    local most = fact.decides and M.max_value or M.max_value / (fact.list and 2 or 4)
    local own, cut, took, unread
    if fact.change then
      own, unread, took = render_change(fact, width, math.min(most, math.max(left, short)))
      layout.unread = layout.unread + unread
    else
      own, cut, took = render(fact, width, math.min(most, math.max(left, short)))
    end
    left = left - took
    vim.list_extend(rows, own)
    layout.whole = layout.whole and not (fact.decides and cut or fact.lost)
    layout.pending = layout.pending or fact.pending == true
    if fact.decides then
      layout.decided = #rows
    elseif #own > (fact.rows or M.max_aside_rows) + 1 then
      local first = before + (fact.rows or M.max_aside_rows) + 1
      table.insert(layout.folds, { first = first, last = #rows })
    end
  end
  return rows, layout
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
  local budget = M.max_total
  for _, fact in ipairs(facts) do
    local most = fact.decides and math.min(M.max_value, math.max(budget, short)) or M.max_aside
    local own, cut, took
    if fact.change then
      own, cut, took = render_change(fact, width, most)
      cut = cut > 0
    else
      own, cut, took = render(fact, width, most)
    end
    if fact.decides then
      budget = budget - took
      local take = math.min(#own, #blocks == 0 and 5 or 3)
      local most_rows = fact.change and fact.rows or #own
      blocks[#blocks + 1] = { rows = own, take = take, most = most_rows, change = fact.change }
      needed = needed + math.min(#own, most_rows)
      hidden = hidden or cut or fact.lost or fact.pending or #own > most_rows
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
    local more = math.max(0, math.min(math.min(#block.rows, block.most) - block.take, left))
    left = left - more
    hidden = hidden or block.take + more < #block.rows
    local shorten = block.change and head_of or abbreviate
    vim.list_extend(rows, shorten(block.rows, block.take + more))
  end
  local deciding = #rows
  vim.list_extend(rows, asides)
  if #rows > height then
    hidden = hidden or deciding > math.max(height - 1, 1)
    local more = #rows - height + 1
    rows = vim.list_slice(rows, 1, math.max(height - 1, 1)) -- one row at least says what it is
    if height > 1 then
      rows[height] = ("… %s more lines"):format(count(more))
    end
  end
  return rows, hidden == true
end

--- Renders a fact as one line, with at most `max` characters of its beginning
--- and end.
---@param fact hermes.Fact
---@param max integer
---@return string
function M.line(fact, max)
  local half = math.floor(max / 2)
  local function cells(value)
    local part = { name = fact.name, value = value }
    return table.concat((render(part, 2 ^ 30, M.max_value)), " ")
  end
  if fact.value and #fact.value > 4096 and max <= 256 then -- laying out all of it takes long
    local head, tail = fact.value:sub(1, 1024), fact.value:sub(-1024)
    local name = fact.name and #fact.name + 2 or 0
    local first, last = cells(head), require("hermes.core.text").line(tail)
    return ("%s %s %s"):format(
      vim.fn.strcharpart(first, 0, half),
      missing(length(fact.value) + name - 2 * half),
      vim.fn.strcharpart(last, vim.fn.strchars(last) - half)
    )
  end
  local line = table.concat((render(fact, 2 ^ 30, M.max_value)), " ")
  local chars = vim.fn.strchars(line)
  if chars <= max then
    return line
  end
  return ("%s %s %s"):format(
    vim.fn.strcharpart(line, 0, half),
    missing(chars - 2 * half),
    vim.fn.strcharpart(line, chars - half)
  )
end

--- Renders a fact as one line of at most `cells` cells. What is too long loses its
--- middle, because the end of a choice says what kind it is.
---@param fact hermes.Fact
---@param cells integer
---@return string
function M.short(fact, cells)
  local roomy = cells >= 60 -- enough to say how much is missing
  for _, max in ipairs({ cells, roomy and cells - 26 or nil }) do
    local line = M.line(fact, max)
    if vim.api.nvim_strwidth(line) <= cells then
      return line
    end
  end
  local line = M.line(fact, 2 * cells)
  local chars = vim.fn.strchars(line)
  local tail = math.max(0, math.min(math.max(math.floor(cells / 2), 18), cells - 7))
  local head = math.max(0, cells - 3 - tail)
  while true do
    local first, last = vim.fn.strcharpart(line, 0, head), vim.fn.strcharpart(line, chars - tail)
    local shorter = first .. " … " .. last
    if tail < 1 or vim.api.nvim_strwidth(shorter) <= cells then
      return shorter
    end
    head, tail = math.max(head - 1, 0), tail - (head > 0 and 0 or 1)
  end
end

return M
