--- The list of captured messages in a buffer, one a line. Lines are added in
--- slices; colors are put only on the lines that are on the screen.

local api = vim.api
local text = require("hermes.core.text")

local M = {}

--- Time for a slice in milliseconds, lines that are added at once, and the pause
--- before the first slice, in which messages are collected.
local budget_ms, slice, pause_ms = 4, 100, 40

local ns = api.nvim_create_namespace("hermes_traffic")

---@class hermes.TrafficList
---@field buf integer
---@field store hermes.TrafficStore
---@field matches fun(entry: hermes.TrafficEntry): boolean
---@field rows table<integer, hermes.TrafficEntry>
---@field row_of table<hermes.TrafficEntry, integer>
---@field first integer row of the first line
---@field last integer row of the last line
---@field seen integer number of the last entry that was looked at
---@field changed hermes.TrafficEntry[] requests that were answered
---@field waiting? boolean for the next slice
---@field drawn fun() called after every slice
local List = {}
List.__index = List

local arrows = { out = "→", ["in"] = "←" }

---@param ms number?
---@return string
local function duration(ms)
  if not ms then
    return ""
  end
  return ms < 1000 and ("%.0f ms"):format(ms) or ("%.2f s"):format(ms / 1000)
end

---@param s string safe to show
---@param width integer cells
---@return string
local function padded(s, width)
  if s:find("[\128-\255\t]") then
    s = s:gsub("\t", " ")
    while vim.fn.strdisplaywidth(s) > width do
      s = vim.fn.strcharpart(s, 0, vim.fn.strchars(s) - 1)
    end
    return s .. (" "):rep(width - vim.fn.strdisplaywidth(s))
  end
  return #s > width and s:sub(1, width - 1) .. "…" or s .. (" "):rep(width - #s)
end

--- The beginning of what matters in a message.
---@param entry hermes.TrafficEntry
---@return string
local function gist(entry)
  local message = entry.message
  local head = message:sub(1, 600)
  local body = head:match('"params"%s*:%s*(.*)')
    or head:match('"result"%s*:%s*(.*)')
    or head:match('"error"%s*:%s*(.*)')
    or head
  body = body:gsub('^{"sessionId":"[^"]*",?', "{")
  local update = entry.method == "session/update" and head:match('"sessionUpdate"%s*:%s*"([%w_]+)"')
  return text.line((update and update .. " " or "") .. body, 200)
end

--- One line for a message.
---@param entry hermes.TrafficEntry
---@return string
function M.line(entry)
  local method = entry.method and text.line(entry.method, 60) or ""
  if entry.kind == "response" then
    method = (entry.failed and "✗ " or "✓ ") .. method
  elseif entry.kind == "other" then
    method = "(not a message)"
  end
  local missed = entry.missed and ("[%d messages not captured] "):format(entry.missed) or ""
  return table.concat({
    padded(text.line(entry.time:match("T(%d+:%d+:%d+%.?%d?%d?%d?)") or entry.time, 12), 12),
    arrows[entry.direction] or "?",
    padded(method, 28),
    padded(entry.id and "#" .. text.line(entry.id, 10) or "", 6),
    padded(duration(entry.ms), 7),
    missed .. gist(entry),
  }, " ")
end

---@param first integer
---@param last integer
---@param lines string[]
function List:set(first, last, lines)
  vim.bo[self.buf].modifiable = true
  api.nvim_buf_set_lines(self.buf, first, last, false, lines)
  vim.bo[self.buf].modifiable = false
  vim.bo[self.buf].modified = false
end

--- Removes the lines of entries that are no longer kept.
function List:trim()
  local gone = 0
  while self.first + gone <= self.last and self.rows[self.first + gone].n < self.store.first do
    local row = self.first + gone
    self.row_of[self.rows[row]], self.rows[row] = nil, nil
    gone = gone + 1
  end
  if gone > 0 then
    self.first = self.first + gone
    self:set(0, gone, {})
  end
end

--- The windows whose cursor is on the last line.
---@return integer[]
function List:following()
  local count = api.nvim_buf_line_count(self.buf)
  return vim.tbl_filter(function(window)
    return api.nvim_win_get_cursor(window)[1] == count
  end, vim.fn.win_findbuf(self.buf))
end

--- Adds lines for the next entries.
---@param deadline number looking into large messages takes time, too
function List:append(deadline)
  local lines = {}
  while self.seen < self.store.last and #lines < slice and vim.uv.hrtime() < deadline do
    self.seen = math.max(self.seen + 1, self.store.first)
    local entry = self.store.entries[self.seen]
    if self.matches(entry) then
      self.last = self.last + 1
      self.rows[self.last], self.row_of[entry] = entry, self.last
      lines[#lines + 1] = M.line(entry)
    end
  end
  if #lines == 0 then
    return
  end
  local windows = self:following()
  local empty = self.last - #lines < self.first
  self:set(empty and 0 or -1, -1, lines)
  local count = api.nvim_buf_line_count(self.buf)
  for _, window in ipairs(windows) do
    api.nvim_win_set_cursor(window, { count, 0 })
  end
end

--- Writes lines again whose request was answered.
function List:refresh()
  for _ = 1, slice do
    local entry = table.remove(self.changed)
    if not entry then
      return
    end
    local row = self.row_of[entry]
    if row then
      self:set(row - self.first, row - self.first + 1, { M.line(entry) })
    end
  end
end

function List:draw()
  self.waiting = false
  if not api.nvim_buf_is_valid(self.buf) then
    return
  end
  local deadline = vim.uv.hrtime() + budget_ms * 1e6
  local more
  self:trim()
  repeat
    self:append(deadline)
    self:refresh()
    more = self.seen < self.store.last or #self.changed > 0
  until not more or vim.uv.hrtime() >= deadline
  self.drawn()
  if more then
    self:draw_soon(8)
  end
end

---@param ms? integer
function List:draw_soon(ms)
  if not self.waiting then
    self.waiting = true
    vim.defer_fn(function()
      self:draw()
    end, ms or pause_ms)
  end
end

--- Call for every entry that was added.
---@param entry hermes.TrafficEntry
function List:added(entry)
  if entry.kind == "response" and entry.other then
    self.changed[#self.changed + 1] = entry.other
  end
  self:draw_soon()
end

--- Starts again with another filter.
---@param matches fun(entry: hermes.TrafficEntry): boolean
function List:filter(matches)
  self.matches = matches
  self.rows, self.row_of, self.changed = {}, {}, {}
  self.first, self.last = 1, 0
  self.seen = self.store.first - 1
  self:set(0, -1, {})
  self:draw_soon(1)
end

---@param window? integer
---@return hermes.TrafficEntry? # under the cursor
function List:current(window)
  local line = api.nvim_win_get_cursor(window or 0)[1]
  return self.rows[self.first + line - 1]
end

---@param entry hermes.TrafficEntry
---@return integer? line nil when the filter hides it
function List:line_of(entry)
  local row = self.row_of[entry]
  return row and row - self.first + 1
end

local lists = {} ---@type table<integer, hermes.TrafficList> by buffer

---@param store hermes.TrafficStore
---@param drawn fun()
---@return hermes.TrafficList
function M.new(store, drawn)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(buf, "hermes://traffic")
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  local list = setmetatable({
    buf = buf,
    store = store,
    rows = {},
    row_of = {},
    changed = {},
    first = 1,
    last = 0,
    seen = store.first - 1,
    drawn = drawn,
    matches = function()
      return true
    end,
  }, List)
  lists[buf] = list
  api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    once = true,
    callback = function()
      lists[buf] = nil
    end,
  })
  return list
end

--- Columns of a line, in bytes: the arrow takes three.
local time, method, number, duration_at = { 0, 12 }, { 17, 45 }, { 46, 52 }, { 53, 60 }

---@param entry hermes.TrafficEntry
---@return string group
local function method_color(entry)
  if entry.failed or entry.kind == "other" then
    return "DiagnosticError"
  end
  return entry.kind == "notification" and "Identifier" or "Function"
end

api.nvim_set_decoration_provider(ns, {
  on_win = function(_, _, buf)
    return lists[buf] ~= nil
  end,
  on_line = function(_, _, buf, row)
    local list = lists[buf]
    local entry = list and list.rows[list.first + row]
    if not entry then
      return
    end
    local mark = entry.kind == "response" and 2 or 0 -- its further bytes
    local function color(column, group, from, to)
      pcall(api.nvim_buf_set_extmark, buf, ns, row, column[1] + from, {
        end_col = column[2] + to,
        hl_group = group,
        ephemeral = true,
        strict = false,
      })
    end
    color(time, "Comment", 0, 0)
    color(method, method_color(entry), 0, mark)
    color(number, "Number", mark, mark)
    color(duration_at, "Comment", mark, mark)
  end,
})

return M
