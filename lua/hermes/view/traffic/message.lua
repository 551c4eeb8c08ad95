--- One message of the traffic, laid out in a buffer.
local M = {}

local api = vim.api
local text = require("hermes.core.text")

--- Describes a message in a line.
---@param entry hermes.TrafficEntry
---@return string
function M.describe(entry)
  local parts = { entry.direction == "in" and "from" or "to" }
  parts[2] = text.line(entry.agent, 40)
  parts[3] = entry.kind == "other" and "not a message" or entry.kind
  parts[4] = entry.method and text.line(entry.method, 80) or nil
  parts[#parts + 1] = entry.ms and ("%.0f ms"):format(entry.ms) or nil
  parts[#parts + 1] = ("%d bytes"):format(#entry.message)
  parts[#parts + 1] = entry.redacted and "secrets are hidden" or nil
  parts[#parts + 1] = entry.cut and ("%d bytes are missing"):format(entry.cut) or nil
  return table.concat(parts, " ")
end

--- Lines at most.
local max_lines = 20000

--- Bytes up to which a message is highlighted.
M.max_highlighted = 256 * 1024

--- Fills a buffer with the message, in slices.
---@param buf integer
---@param entry hermes.TrafficEntry
---@param is_wanted fun(): boolean whether it is still that message
function M.fill(buf, entry, is_wanted)
  local lines, written, began = {}, 0, 0
  local function put()
    if #lines > 0 then
      vim.bo[buf].modifiable = true
      api.nvim_buf_set_lines(buf, written, -1, false, lines)
      vim.bo[buf].modifiable = false
      written, lines = written + #lines, {}
    end
  end
  local worker = coroutine.create(function()
    if entry.kind == "other" then
      for _, line in ipairs(text.lines(entry.message, max_lines)) do
        lines[#lines + 1] = line
      end
      return
    end
    local count = 0
    require("hermes.view.traffic.json").layout(entry.message, function(line)
      count = count + 1
      if count <= max_lines then
        lines[#lines + 1] = line
      elseif count == max_lines + 1 then
        lines[#lines + 1] = "… more lines are not shown"
      end
    end, function()
      if (vim.uv.hrtime() - began) / 1e6 > 4 then
        coroutine.yield()
      end
    end)
  end)
  local function go_on()
    if not api.nvim_buf_is_valid(buf) or not is_wanted() then
      return
    end
    began = vim.uv.hrtime()
    assert(coroutine.resume(worker))
    put()
    if coroutine.status(worker) ~= "dead" then
      vim.defer_fn(go_on, 8)
    end
  end
  go_on()
end

return M
