--- The output of a command as plain text, as a terminal would show it.
---
--- The filter of hermes.core.escapes reads the output first, so that text is safe to show and
--- sequences are whole. Here the sequences move the cursor, write and erase on a screen like the
--- one of Neovim's own terminal: it has a number of rows, and above them the lines that have
--- scrolled away. Rows do not end at the edge of the screen, because the lines of a text wrap where
--- they are shown.

local escapes = require("hermes.core.escapes")
local text = require("hermes.core.text")

local M = {}

local width_of = vim.api.nvim_strwidth

--- The screen that programs expect.
local rows, columns = 24, 120
--- The most bytes that are read, from the end of an output. That takes a few milliseconds.
local max_bytes = 32 * 1024
--- The most cells that are moved, erased, or left blank before a text. Anything that takes more is
--- left out.
local max_work = 1e6
--- The most bytes that a row keeps as a text.
local max_text = 4096
--- A string in front of the end that is read, such as a picture, may begin this much earlier.
local max_string = 1024 * 1024

--- A row: its cells, or the text of them all as long as that was only appended to. A blank cell is
--- false. The second cell of a wide character is "".
---@class hermes.Row
---@field [integer] string|false
---@field text? string
---@field width? integer cells of the text

---@class hermes.Screen
---@field history string[] the lines that have scrolled away
---@field lines hermes.Row[]
---@field other? hermes.Row[] the lines of the main screen, while the other one is shown
---@field row integer 1-based
---@field col integer the cells before the cursor
---@field saved { [1]: integer, [2]: integer } row and column
---@field top integer first row of what scrolls
---@field bottom integer last row of what scrolls
---@field work integer what is left of max_work
---@field drawing? boolean letters stand for the pieces of lines
local Screen = {}
Screen.__index = Screen

---@return hermes.Row
local function empty()
  return { text = "", width = 0 }
end

---@return hermes.Row[]
local function blank()
  local lines = {}
  for row = 1, rows do
    lines[row] = empty()
  end
  return lines
end

---@param line hermes.Row
---@return string
local function text_of(line)
  if line.text then
    return line.text
  end
  local last = #line
  while last > 0 and (line[last] or "") == "" do -- blank cells at the end are none
    last = last - 1
  end
  local cells = {}
  for i = 1, last do
    cells[i] = line[i] or " "
  end
  return table.concat(cells)
end

--- The characters of a text, each with its accents.
---@param run string
---@return string[]
local function characters(run)
  return vim.fn.split(run, "\\zs")
end

--- Writes characters into the cells of a row.
---@param line hermes.Row without a text
---@param col integer the cells before them
---@param chars string[]
---@return integer col behind them
local function put(line, col, chars)
  for _, char in ipairs(chars) do
    col = col + 1
    line[col] = char
    if #char > 1 and width_of(char) == 2 then
      col = col + 1
      line[col] = ""
    end
  end
  return col
end

--- A row as cells.
---@param line hermes.Row
---@return hermes.Row
local function cells_of(line)
  if line.text then
    local run = line.text
    line.text, line.width = nil, nil
    put(line, 0, characters(run))
  end
  return line
end

--- Moves what scrolls from some row on: up, or down with a negative count.
---@param top integer
---@param bottom integer
---@param count integer
function Screen:scroll(top, bottom, count)
  local lines, height = self.lines, bottom - top + 1
  local keep = top == 1 and not self.other and count < height
  local times = math.min(math.abs(count), height)
  self.work = self.work - times
  for _ = 1, times do
    local gone = table.remove(lines, count > 0 and top or bottom)
    table.insert(lines, count > 0 and bottom or top, empty())
    if keep and count > 0 then
      self.history[#self.history + 1] = text_of(gone)
    end
  end
end

--- Goes to the next line.
function Screen:feed_line()
  if self.row == self.bottom then
    self:scroll(self.top, self.bottom, 1)
  else
    self.row = math.min(rows, self.row + 1)
  end
end

--- Blanks the cells of a row between two columns, the first of which stays.
---@param row integer
---@param from integer
---@param to integer
function Screen:erase(row, from, to)
  if from == 0 and to == math.huge then
    self.lines[row] = empty()
    return
  end
  local line = self.lines[row]
  if line.text and #line.text == line.width and to >= line.width then
    line.text = line.text:sub(1, from)
    line.width = #line.text
    return
  end
  local length = #cells_of(line)
  self.work = self.work - math.max(0, math.min(length, to) - from)
  for col = from + 1, math.min(to, length) do
    line[col] = false
  end
end

--- Whether the cursor is in the part of the screen that scrolls. Elsewhere nothing is inserted.
---@return boolean
function Screen:scrolls_here()
  return self.row >= self.top and self.row <= self.bottom
end

--- Makes room for cells at the cursor, or takes some away with a negative count.
---@param count integer
function Screen:shift(count)
  if not self:scrolls_here() then
    return
  end
  local line, from = cells_of(self.lines[self.row]), self.col + 1
  local length = #line
  self.work = self.work - math.max(0, length - from)
  if count > 0 and from <= length then
    for col = length, from, -1 do
      line[col + count] = line[col]
    end
    for col = from, math.min(length + count, from + count - 1) do
      line[col] = false
    end
  elseif count < 0 then
    for col = from, length do
      line[col] = line[col - count]
    end
  end
end

-- The letters of the set of characters for drawing lines, from "`" on.
local pieces = characters(
  "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"
)

--- Writes characters into a row that is a text, if that can be done without its cells.
---@param line hermes.Row with a text
---@param col integer the cells before them
---@param run string
---@return integer? col behind them
local function splice(line, col, run)
  local old, width = line.text, line.width
  local bytes = #old == width and not run:find("[\128-\255]") -- each is a cell
  if #old >= max_text then
    return nil
  elseif col == width then
    line.text = old .. run
  elseif bytes and col < width then
    line.text = old:sub(1, col) .. run .. old:sub(col + #run + 1)
  elseif col == 0 and width_of(run) >= width then
    line.text = run
  else
    return nil
  end
  line.width = bytes and #line.text or width_of(line.text)
  return bytes and col + #run or line.width
end

--- Writes characters at the cursor.
---@param run string printable
function Screen:write(run)
  if self.drawing then
    run = run:gsub("[`-~]", function(letter)
      return pieces[letter:byte() - 95]
    end)
  end
  local line, col = self.lines[self.row], self.col
  local behind = line.text and splice(line, col, run)
  if behind then
    self.col = behind
    return
  end
  local length = #cells_of(line)
  self.work = self.work - math.max(0, col - length)
  if self.work < 0 then
    col = math.min(col, length)
  end
  for i = length + 1, col do
    line[i] = false
  end
  local chars, last = characters(run), col
  while line[last] == "" do
    last = last - 1
  end
  local joined = line[last] and characters(line[last] .. chars[1])
  if joined and #joined == 1 then -- an accent
    line[last] = joined[1]
    table.remove(chars, 1)
  end
  self.col = put(line, col, chars)
end

--- Goes to a cell of the screen, or to the nearest one. Beyond the right edge it goes no further
--- than the cursor is.
---@param row integer
---@param col integer
function Screen:go(row, col)
  self.row = math.max(1, math.min(rows, row))
  self.col = math.max(0, math.min(math.max(columns - 1, self.col), col))
end

---@type table<string, fun(screen: hermes.Screen)>
local controls = {
  ["\r"] = function(screen)
    screen.col = 0
  end,
  ["\n"] = Screen.feed_line,
  ["\b"] = function(screen)
    screen.col = math.max(0, screen.col - 1)
  end,
  ["\t"] = function(screen)
    screen.col = screen.col + 8 - screen.col % 8
  end,
}

---@type table<string, fun(screen: hermes.Screen)> by the character behind ESC
local escaped = {
  ["7"] = function(screen)
    screen.saved = { screen.row, screen.col }
  end,
  ["8"] = function(screen)
    screen:go(unpack(screen.saved))
  end,
  D = Screen.feed_line,
  E = function(screen)
    screen:feed_line()
    screen.col = 0
  end,
  M = function(screen)
    if screen.row == screen.top then
      screen:scroll(screen.top, screen.bottom, -1)
    else
      screen.row = math.max(1, screen.row - 1)
    end
  end,
}

--- Scrolls from the row of the cursor on.
---@param screen hermes.Screen
---@param count integer
local function scroll_from_here(screen, count)
  if screen:scrolls_here() then
    screen:scroll(screen.row, screen.bottom, count)
  end
end

---@param screen hermes.Screen
---@param part integer 0: what is behind the cursor, 1: up to the cursor, 2: all
local function erase_line(screen, part)
  local from, to = part == 0 and screen.col or 0, part == 1 and screen.col + 1 or math.huge
  if part <= 2 then
    screen:erase(screen.row, from, to)
  end
end

---@type table<string, fun(screen: hermes.Screen, n: integer, a?: integer, b?: integer)> by the
---final character. They get the first parameter as a count, and both as they are.
local sequences = {
  A = function(screen, n)
    screen:go(screen.row - n, screen.col)
  end,
  B = function(screen, n)
    screen:go(screen.row + n, screen.col)
  end,
  C = function(screen, n)
    screen:go(screen.row, screen.col + n)
  end,
  D = function(screen, n)
    screen:go(screen.row, screen.col - n)
  end,
  E = function(screen, n)
    screen:go(screen.row + n, 0)
  end,
  F = function(screen, n)
    screen:go(screen.row - n, 0)
  end,
  G = function(screen, n)
    screen:go(screen.row, n - 1)
  end,
  H = function(screen, n, _, b)
    screen:go(n, (b or 1) - 1)
  end,
  I = function(screen, n)
    screen:go(screen.row, screen.col - screen.col % 8 + 8 * n)
  end,
  J = function(screen, _, a)
    local part = a or 0
    if part ~= 2 then
      erase_line(screen, part)
    end
    for row = 1, rows do
      if part == 2 or part == 0 and row > screen.row or part == 1 and row < screen.row then
        screen:erase(row, 0, math.huge)
      end
    end
  end,
  K = function(screen, _, a)
    erase_line(screen, a or 0)
  end,
  L = function(screen, n)
    scroll_from_here(screen, -n)
  end,
  M = scroll_from_here,
  P = function(screen, n)
    screen:shift(-n)
  end,
  S = function(screen, n)
    screen:scroll(screen.top, screen.bottom, n)
  end,
  T = function(screen, n)
    screen:scroll(screen.top, screen.bottom, -n)
  end,
  X = function(screen, n)
    screen:erase(screen.row, screen.col, screen.col + n)
  end,
  Z = function(screen, n)
    screen:go(screen.row, screen.col - (screen.col - 1) % 8 - 1 - 8 * (n - 1))
  end,
  ["@"] = function(screen, n)
    screen:shift(math.min(n, columns))
  end,
  d = function(screen, n)
    screen:go(n, screen.col)
  end,
  r = function(screen, n, _, b)
    screen.top, screen.bottom = math.min(n, rows), math.min(b or rows, rows)
    if screen.top > screen.bottom then
      screen.top, screen.bottom = 1, rows
    end
    screen:go(1, 0)
  end,
}
sequences["`"], sequences.a = sequences.G, sequences.C
sequences.e, sequences.f = sequences.B, sequences.H

--- Shows the other screen, or the main one again.
---@param params string
---@param on boolean
function Screen:switch(params, on)
  if params == "?7" or params == "?47" then
    return
  end
  if on then
    self.other, self.lines = self.other or self.lines, blank()
  elseif self.other then
    self.lines, self.other = self.other, nil
  end
  if params == "?1049" then
    escaped[on and "7" or "8"](self)
  end
end

--- Does what a whole sequence says.
---@param sequence string
function Screen:obey(sequence)
  local second, final = sequence:sub(2, 2), sequence:sub(-1)
  if second == "(" then
    self.drawing = final == "0"
  elseif second ~= "[" then
    escaped[second](self)
  elseif final == "h" or final == "l" then
    self:switch(sequence:sub(3, -2), final == "h")
  elseif sequences[final] and self.work > 0 then
    self.work = self.work - 1
    local a, b = sequence:match("^%[(%d*);?(%d*)", 2)
    a, b = tonumber(a), tonumber(b)
    sequences[final](self, math.max(1, a or 1), a, b)
  end
end

--- Reads output of a filter.
---@param s string
function Screen:feed(s)
  local at = 1
  while at <= #s do
    local stop = s:find("[%z\1-\31]", at) or #s + 1
    if stop > at then
      self:write(s:sub(at, stop - 1))
    end
    local char = s:sub(stop, stop)
    if char == "\27" then
      local _, last = s:find("^\27%[[0-?]*.", stop)
      last = last or s:sub(stop + 1, stop + 1) == "(" and stop + 2 or stop + 1
      self:obey(s:sub(stop, last))
      stop = last
    elseif char ~= "" then
      controls[char](self)
    end
    at = stop + 1
  end
end

--- Where the end begins that is read: behind a line break, or else at a character.
---@param output string
---@param from integer
---@return integer
local function beginning(output, from)
  local _, last = output:find("\r*[\r\n]", from)
  return last and last < #output and last + 1 or output:find("[^\128-\191]", from) or #output + 1
end

--- The lines that a terminal would show.
---@param output any
---@param opts? { lines?: integer, cut?: boolean } as of hermes.text.printed
---@return string[] lines safe to show
---@return boolean cut whether they are only the last
function M.lines(output, opts)
  output, opts = tostring(output), opts or {}
  local cut = opts.cut or #output > max_bytes
  local at = cut and beginning(output, math.max(1, #output - max_bytes + 1)) or 1
  local screen = setmetatable({
    history = {},
    lines = blank(),
    row = 1,
    col = 0,
    saved = { 1, 0 },
    top = 1,
    bottom = rows,
    work = max_work,
  }, Screen)
  local before = output:sub(math.max(1, at - max_string), at - 1)
  screen:feed(escapes.after(before):feed(output:sub(at)))
  local all = vim.list_extend(screen.history, vim.tbl_map(text_of, screen.lines))
  while all[#all] == "" do
    all[#all] = nil
  end
  local first = math.max(1, #all - (opts.lines or #all) + 1)
  local lines = {}
  for i = first, #all do
    lines[#lines + 1] = text.line(all[i])
  end
  return lines, cut or first > 1
end

return M
