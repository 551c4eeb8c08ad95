--- What a piece of work may take of the processor, in milliseconds. A limit alone would judge the
--- machine: the same work takes several times as long beside others that use its caches. So the
--- Neovim also does a fixed piece of work, and gets more time if that takes longer than usual.
local pace = {}

--- What the fixed work takes on an idle machine.
pace.usual_ms = 20

--- Does the fixed work a few times, and returns the milliseconds of the slowest.
pace.code = [[
  local slowest = 0
  for _ = 1, 5 do
    local began, lines = os.clock(), {}
    for i = 1, 20000 do lines[i] = ("a line of the text, %d"):format(i):upper() end
    local buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
    table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n"):gsub("%d+", "")
    vim.api.nvim_buf_delete(buf, { force = true })
    slowest = math.max(slowest, (os.clock() - began) * 1000)
  end
  return slowest]]

---@param ms number on an idle machine
---@param lua fun(code: string): number runs code in the Neovim that did the work
---@return number
function pace.most_ms(ms, lua)
  return ms * math.max(1, lua(pace.code) / pace.usual_ms)
end

--- Runs code in this Neovim, for work that was done here.
---@param code string
---@return number
function pace.here(code)
  return assert(loadstring(code))()
end

return pace
