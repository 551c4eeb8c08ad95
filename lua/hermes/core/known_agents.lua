---The agents that connect() knows.
local M = {}

---@class hermes.KnownAgent
---@field name string
---@field command string
---@field install? string how to install it
---@field why? string why its program is this one
---@field protocol? string
---@field configured? boolean whether setup() names it
---@field behind? string the program that it needs, if `command` is a program of Hermes
---@field installed boolean whether its program is there, or needs none here

---The agents that connect() knows.
---@return hermes.KnownAgent[]
---@return string? err why only the agents of setup() are known
function M.list()
  local list = {}
  local out, err = require("hermes.core.host").query("agents")
  for line in vim.gsplit(out or "", "\n", { trimempty = true }) do
    local parts = vim.split(line, "\t", { plain = true })
    list[parts[1]] =
      { name = parts[1], command = parts[2], install = parts[3] or "", why = parts[4] or "" }
  end
  if list["claude-terminal"] then
    list["claude-terminal"].behind = "claude"
  end
  for name, agent in pairs(require("hermes.core.config").get().agents) do
    list[name] = vim.tbl_extend("force", list[name] or { name = name, command = "" }, {
      command = agent.command,
      install = agent.command and "" or nil,
      why = agent.command and "" or nil,
      protocol = agent.protocol,
      configured = true,
    })
    if agent.command or agent.args then -- which may name another one
      list[name].behind = nil
    end
  end
  local sorted = vim.tbl_values(list)
  table.sort(sorted, function(a, b)
    return a.name < b.name
  end)
  for _, agent in ipairs(sorted) do
    local elsewhere = agent.protocol and agent.protocol ~= "stdio"
    agent.installed = elsewhere
      or vim.fn.executable(agent.command) == 1
        and (not agent.behind or vim.fn.executable(agent.behind) == 1)
  end
  return sorted, err
end

---@return string[] names of the agents that connect() knows
function M.names()
  return vim.tbl_map(function(agent)
    return agent.name
  end, (M.list()))
end

return M
