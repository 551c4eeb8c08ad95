---The last lines of the standard error of each agent. They stay after the agent's end, because they
---may say why it ended.
local M = {}

-- The most for each agent. The oldest lines are dropped first.
local max_lines, max_bytes = 2000, 256 * 1024

---@type table<string, { lines: string[], first: integer, last: integer, bytes: integer }>
local logs = {}

---@param agent string
---@param line string
function M.add(agent, line)
  local log = logs[agent] or { lines = {}, first = 1, last = 0, bytes = 0 }
  logs[agent] = log
  log.last = log.last + 1
  log.lines[log.last] = line
  log.bytes = log.bytes + #line
  while log.last - log.first >= max_lines or log.bytes > max_bytes do
    log.bytes = log.bytes - #log.lines[log.first]
    log.lines[log.first] = nil
    log.first = log.first + 1
  end
end

---@param agent string
---@return string[] copy
function M.lines(agent)
  local log = logs[agent]
  local list = {}
  for i = log and log.first or 1, log and log.last or 0 do
    list[#list + 1] = log.lines[i]
  end
  return list
end

---@return string[] names of agents that wrote something
function M.agents()
  local names = vim.tbl_keys(logs)
  table.sort(names)
  return names
end

return M
