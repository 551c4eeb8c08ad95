---The configuration in the form that the host expects.
local M = {}

---@param path string
---@return string path with the home folder in place of a leading ~
function M.expand(path)
  return vim.startswith(path, "~/") and vim.uv.os_homedir() .. path:sub(2) or path
end

---An agent in the form that the host expects: Lua's empty table would arrive as
---a list.
---@param agent hermes.AgentConfig
---@return table
function M.agent(agent)
  local wire = vim.tbl_extend("force", {}, agent)
  wire.sandbox = nil -- connect() sends it
  if wire.shared then
    wire.shared = true -- how its terminal is opened is none of the host's business
  end
  if agent.paths then
    wire.paths = {}
    for here, there in pairs(agent.paths) do
      wire.paths[M.expand(here)] = there
    end
  end
  for _, key in ipairs({ "env", "headers", "quirks", "paths" }) do
    if wire[key] and next(wire[key]) == nil then
      wire[key] = nil
    end
  end
  return wire
end

---A rule in the form that the host expects.
---@param rule hermes.Rule
---@return table
function M.rule(rule)
  local wire = vim.tbl_extend("force", {}, rule)
  for _, key in ipairs({ "path", "cwd" }) do
    wire[key] = wire[key] and M.expand(wire[key])
  end
  return wire
end

---@return string the file that keeps the rules
function M.rules_path()
  return vim.fs.normalize(vim.fn.stdpath("state")) .. "/hermes/permissions.json"
end

---@return string the folder that keeps the reviews
function M.review_dir()
  return vim.fs.normalize(vim.fn.stdpath("state")) .. "/hermes/review"
end

---The part of the configuration that the host needs.
---@return table
function M.all()
  local current = require("hermes.core.config").get()
  local settle = current.review.settle
  return {
    agents = next(current.agents) and vim.tbl_map(M.agent, current.agents) or vim.empty_dict(),
    permissions = {
      fs_read_access = current.permissions.fs_read_access,
      fs_write_access = current.permissions.fs_write_access,
      terminal_access = current.permissions.terminal_access,
      request_permissions = current.permissions.request_permissions,
      elicitation = current.permissions.elicitation,
      hard_links = current.permissions.hard_links,
      rules = #current.permissions.rules > 0 and vim.tbl_map(M.rule, current.permissions.rules)
        or nil,
      remember = current.permissions.remember and M.rules_path() or nil,
    },
    timeouts = {
      initialize = current.timeouts.initialize,
      new_session = current.timeouts.new_session,
      cancel = current.timeouts.cancel,
      silence = current.timeouts.silence,
    },
    reconnect = current.reconnect,
    review = current.review.enabled and {
      enabled = true,
      dir = M.review_dir(),
      settle = type(settle) == "table" and settle or { settle },
    } or nil,
    traffic = require("hermes.core.listeners").wants_traffic(),
    raw_traffic = current.traffic.raw,
  }
end

return M
