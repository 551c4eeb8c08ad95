---Rules that answer permission questions before they are asked.
---@class hermes.Permissions
local M = {}

---@param change "add"|"remove"|"list"
---@param rule? hermes.Rule
---@param opts? hermes.Opts
---@return string id
local function rules(change, rule, opts)
  local who = "permissions." .. change
  opts = require("hermes.core.arguments").options(opts, who, 2)
  if change ~= "list" then
    local problem = require("hermes.core.config_check").rule_problem(rule, "the rule")
    if problem then
      error(("hermes.%s: %s"):format(who, problem), 2) -- the tail calls above leave no trace
    end
  end
  return require("hermes.session.rules").change(
    change,
    rule,
    { method = who, on_done = opts.on_done }
  )
end

---Add a rule. Without a `scope` it applies always, or with `session` until that
---session ends. The result has all `rules`.
---@param rule hermes.Rule
---@param opts? hermes.Opts
---@return string id
function M.add(rule, opts)
  return rules("add", rule, opts)
end

---Remove every rule equal to this one.
---@param rule hermes.Rule
---@param opts? hermes.Opts
---@return string id
function M.remove(rule, opts)
  return rules("remove", rule, opts)
end

---Get the rules in force, as `rules` of the result.
---@param opts? hermes.Opts
---@return string id
function M.list(opts)
  return rules("list", nil, opts)
end

---The facts of a permission request, as lines that are safe to show. The facts that decide come
---first.
---@param data table data of PermissionRequest
---@param width? integer cells of a line, by default 100
---@return string[] lines
---@return boolean whole false when they are too long to show all that decides
---@return integer decided how many of the lines decide, from the first one on
---@return integer unread lines of diffs that are missing
function M.details(data, width)
  require("hermes.core.arguments").need(data, "table", "permissions.details", "the data", 3)
  return require("hermes.ask.permission").details(data, width)
end

---A number that grows when the agent changes the facts that decide a permission request, or says
---that its tool call has ended. If it has grown, details() shows something else, and the user has
---to read it again. Compare it at each `ToolCallState`.
---@param data table data of PermissionRequest
---@return integer
function M.version(data)
  require("hermes.core.arguments").need(data, "table", "permissions.version", "the data", 3)
  return require("hermes.ask.permission").version(data)
end

---The choices that a dialog offers for a permission request: the options of the agent, those that
---refuse first, and the rules that would have answered it. Before you answer with a choice that has
---a `rule`, add the rule with permissions.add().
---@param data table data of PermissionRequest
---@return hermes.PermissionChoice[]
function M.choices(data)
  require("hermes.core.arguments").need(data, "table", "permissions.choices", "the data", 3)
  return require("hermes.ask.permission").choices(data)
end

return M
