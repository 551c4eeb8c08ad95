--- Rules in words, and those that a question for permission offers.

local text = require("hermes.core.text")

local M = {}

---@class hermes.RuleOffer
---@field rule hermes.Rule with its scope
---@field words string what it allows and for how long

---@param words string[]
---@return string
local function line_of(words)
  local quoted = vim.tbl_map(function(word)
    return word:find("[%s'\"\\]") and "'" .. word .. "'" or word
  end, words)
  return text.line(table.concat(quoted, " "), 200)
end

---@param rule hermes.Rule
---@param cwd? string the folder of a session, which its paths go without
---@return string
local function what(rule, cwd)
  local kind = rule.kind and rule.kind ~= "execute" and rule.kind .. " "
  if rule.command then
    local line = line_of(rule.command)
    return rule.exact and ("the command %s"):format(line)
      or ("commands that begin with %s"):format(line)
  elseif rule.path then
    local folder = rule.path:match("^(.*)/%*%*$")
    return ("%sof %s"):format(
      kind or "anything ",
      (folder and "files in " or "") .. text.line(text.short(folder or rule.path, cwd), 200)
    )
  elseif rule.kind == "execute" then
    return "every command"
  elseif rule.kind then
    return ("every %s"):format(text.line(rule.kind, 40))
  end
  return "everything"
end

--- A rule as a sentence that is safe to show.
---@param rule hermes.Rule
---@param cwd? string the folder of the session that it is shown for; nil: for any
---@return string
function M.words(rule, cwd)
  local who = rule.agent and ", by " .. text.line(rule.agent, 40) or ""
  local kept = require("hermes.core.config").get().permissions.remember
  local how_long = rule.scope == "session" and "until the session ends"
    or rule.scope == "once" and "once"
    or (kept and "from now on" or "until Neovim ends")
  local verb = rule.action == "deny" and "Deny" or "Allow"
  local where = rule.cwd and ", in " .. text.line(rule.cwd, 200) or ""
  local with = rule.env and ", with " .. text.line(table.concat(rule.env, ", "), 200) or ""
  return ("%s %s%s%s%s, %s"):format(verb, what(rule, cwd), where, with, who, how_long)
end

--- The rules that a question offers, from narrow to wide. The host has made sure
--- that each of them would have answered the question.
---@param data table data of PermissionRequest
---@param cwd? string of the session
---@return hermes.RuleOffer[]
function M.offers(data, cwd)
  local offers = {}
  for _, rule in ipairs(type(data.rules) == "table" and data.rules or {}) do
    -- A rule that names neither a command nor a path is too wide to be kept.
    local narrow = rule.command or rule.path
    for _, scope in ipairs(narrow and { "session", "always" } or { "session" }) do
      local session = scope == "session" and data.sessionId or nil
      local full = vim.tbl_extend("force", rule, { scope = scope, session = session })
      offers[#offers + 1] = { rule = full, words = M.words(full, cwd) }
    end
  end
  return offers
end

---Adds or removes a rule, or lists the rules in force.
---@param change "add"|"remove"|"list"
---@param rule? hermes.Rule that has no problem
---@param opts { method: string, on_done?: fun(err: hermes.Error?, result: table?) }
---@return string id of the operation
function M.change(change, rule, opts)
  local payload = {}
  if rule then
    payload[change] = require("hermes.core.config_wire").rule(rule)
    payload[change].scope = rule.scope or (rule.session and "session" or "always")
  end
  return require("hermes.core.rpc").call("rules", payload, opts)
end

return M
