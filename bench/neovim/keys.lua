-- Changes a line again and again, in a buffer under review and in another one. The host is not
-- there: what would go to it is encoded and thrown away.
local path = ...
local held = require("hermes.doc.held")
local lines = {}
for i = 1, 10000 do
  lines[i] = ("line %d of a file with some text in it"):format(i)
end
if #held.buffers() == 0 then
  _G.sent = 0
  require("hermes.core.rpc").send = function(_, _, payload)
    sent = sent + #vim.json.encode(payload)
  end
  held.pause_ms = 60000 -- told after each key, which is the most that it can cost
  held.start()
  vim.fn.writefile(lines, path)
  vim.cmd.edit(path)
  held.receive("hold", { path = path })
end
local under_review = assert(held.buffers()[1], "the file is not held")
local other = vim.api.nvim_create_buf(false, true)
vim.api.nvim_buf_set_lines(other, 0, -1, false, lines)

local count = 2000
local function typed(buf)
  local began = vim.uv.hrtime()
  for i = 1, count do
    vim.api.nvim_buf_set_text(buf, 4000 + i, 0, 4000 + i, 0, { "k" })
    held.flush(buf)
  end
  return (vim.uv.hrtime() - began) / 1e6 / count
end
sent = 0
local result = { typed(under_review), typed(other) }
assert(sent > 50 * count, "the keys are not reported")
vim.api.nvim_buf_delete(other, { force = true })
return result
