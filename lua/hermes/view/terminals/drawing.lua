---Draws the output of commands in terminal buffers, in slices, so that a flood takes no frame.
local M = {}

local api = vim.api
local escapes = require("hermes.core.escapes")

--- Time for drawing output before Neovim gets to do something else, in
--- milliseconds, and bytes that are drawn at once.
local budget_ms, piece = 4, 1024

---Draws at once.
---@param view hermes.TerminalView
---@param bytes string safe
function M.write(view, bytes)
  if bytes ~= "" and api.nvim_buf_is_valid(view.buf) then
    pcall(api.nvim_chan_send, view.channel, bytes)
  end
end

--- A line of Hermes among the output.
---@param view hermes.TerminalView
---@param line string
function M.remark(view, line)
  view.filter = escapes.new()
  M.write(view, ("%s\27[2m[%s]%s\r\n"):format(escapes.normal, line, escapes.normal))
end

--- Draws what waits, in slices.
---@param view hermes.TerminalView
local function draw(view)
  view.drawing = nil
  if not api.nvim_buf_is_valid(view.buf) then
    return
  end
  local began = vim.uv.hrtime()
  local at = 1
  while view.queue[at] do
    local item = view.queue[at]
    if type(item) == "function" then
      item()
      at = at + 1
    else
      local taken = item:sub(1, piece)
      M.write(view, view.filter:feed(taken))
      view.queued = view.queued - #taken
      if #item > piece then
        view.queue[at] = item:sub(piece + 1)
      else
        at = at + 1
      end
    end
    if (vim.uv.hrtime() - began) / 1e6 > budget_ms then
      break
    end
  end
  view.queue = vim.list_slice(view.queue, at)
  if view.queue[1] then
    view.drawing = true
    vim.defer_fn(function()
      draw(view)
    end, 5) -- a timer, so that keys and the screen come first
  end
end

---Draws output after what waits already. If more than setup{terminals={bytes}} waits, the oldest
---output is skipped.
---@param view hermes.TerminalView
---@param item string|fun() output, or something to do behind it
function M.enqueue(view, item)
  view.queue[#view.queue + 1] = item
  if type(item) == "string" then
    view.queued = view.queued + #item
  end
  local skipped = 0
  local max = require("hermes.core.config").get().terminals.bytes
  while view.queued > max and type(view.queue[1]) == "string" and view.queue[2] do
    skipped = skipped + #view.queue[1]
    view.queued = view.queued - #table.remove(view.queue, 1)
  end
  if skipped > 0 then
    table.insert(view.queue, 1, function()
      M.write(view, "\r\n")
      M.remark(view, ("%d bytes are not shown"):format(skipped))
    end)
  end
  if not view.drawing then
    view.drawing = true
    vim.schedule(function()
      draw(view)
    end)
  end
end

return M
