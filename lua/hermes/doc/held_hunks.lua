---Where the hunks of a buffer under review are: extmarks move them along with the text.
---on_change() lets views follow when hunks come, change or go.
local M = {}

local listeners = {} ---@type fun(change: hermes.review.Change)[]
local namespace = vim.api.nvim_create_namespace("hermes.review")

---Calls a function when hunks come, change or go.
---@param fn fun(change: hermes.review.Change)
---@return fun() off
function M.on_change(fn)
  local function call(...)
    fn(...)
  end
  listeners = vim.list_extend(vim.list_slice(listeners), { call })
  return function()
    listeners = vim.tbl_filter(function(other)
      return other ~= call
    end, listeners)
  end
end

---Calls these functions.
---@param path string
---@param buf? integer
function M.notify(path, buf)
  for _, fn in ipairs(listeners) do
    require("hermes.core.log").guard("a listener of review.on_change", fn, {
      path = path,
      bufnr = buf,
    })
  end
end

---Where a row of an earlier text is now.
---@param row integer
---@param log integer[][]
---@return integer
local function follow(row, log)
  for _, entry in ipairs(log) do
    local first, last, now = entry[1], entry[2], entry[3]
    if row >= last then
      row = row + now - last
    elseif row > first then
      row = math.min(row, now)
    end
  end
  return row
end

---Shows where the hunks of a text are in the buffer, as it has changed since.
---@param buf integer
---@param h hermes.review.Held
---@param item { tick: integer, hunks: table[] } tick of the message that reported the text
function M.place(buf, h, item)
  local log = vim.tbl_filter(function(entry)
    return not entry[4] or entry[4] > item.tick
  end, h.log)
  h.logged = h.logged - (#h.log - #log)
  h.log, h.hunks, h.marks = log, item.hunks, {}
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local count = vim.api.nvim_buf_line_count(buf)
  for i, hunk in ipairs(item.hunks) do
    local first = math.min(follow(hunk.current.start, log), count)
    local last = math.max(first, math.min(follow(hunk.current["end"], log), count))
    h.marks[i] = vim.api.nvim_buf_set_extmark(buf, namespace, first, 0, {
      end_row = last,
      end_col = 0,
      strict = false,
      end_right_gravity = false,
      undo_restore = false,
    })
  end
end

---@param buf integer
function M.clear(buf)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
end

---The hunks of a held buffer where they are now.
---@param buf integer
---@param h hermes.review.Held
---@return table[] hunks as the host sent them, with the rows `first` and `last` (exclusive)
function M.list(buf, h)
  local list = {}
  for i, hunk in ipairs(h.hunks) do
    local mark = vim.api.nvim_buf_get_extmark_by_id(buf, namespace, h.marks[i], { details = true })
    local first = mark[1] or 0
    local last = math.max(first, mark[3] and mark[3].end_row or first)
    list[i] = { hunk = hunk, first = first, last = last }
  end
  return list
end

return M
