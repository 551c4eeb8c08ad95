---:Hermes permissions: rules written as words, "allow kind=read path=~/src/**" or
---"allow agent=claude -- go test".
local M = {}

local choose = require("hermes.choose")

local function hermes()
  return require("hermes")
end

---The members of a rule that are written as {key}={value}, in this order.
local keys = { "agent", "kind", "path", "env", "cwd", "scope", "session" }

---@param words string[] without the action
---@param action "allow"|"deny"
---@return hermes.Rule? rule
---@return string? err
function M.parse(action, words)
  local rule = { action = action }
  for i, word in ipairs(words) do
    if word == "--" then
      rule.command = vim.list_slice(words, i + 1)
      break
    end
    local name, value = word:match("^(%a+)=(.*)$")
    if not name or not vim.tbl_contains(keys, name) then
      return nil,
        ("%q is none of %s=; a command comes after --"):format(word, table.concat(keys, "=, "))
    end
    rule[name] = name == "env" and vim.split(value, ",", { trimempty = true }) or value
  end
  if not (rule.kind or rule.path or rule.command) then
    return nil, "a rule for everything is too much; name a kind=, a path= or -- and a command"
  end
  return rule
end

---@param value string
---@return string
local function quoted(value)
  return (value:gsub("[\\ ]", "\\%0"))
end

---A rule as one would type it; not yet safe to show.
---@param rule hermes.Rule
---@return string
function M.format(rule)
  local words = { rule.action }
  for _, name in ipairs(keys) do
    local value = rule[name]
    if value and not (name == "scope" and value == "always") then
      value = type(value) == "table" and table.concat(value, ",") or tostring(value)
      words[#words + 1] = ("%s=%s"):format(name, quoted(value))
    end
  end
  if rule.command then
    words[#words + 1] = "--"
    vim.list_extend(words, vim.tbl_map(quoted, rule.command))
  end
  return table.concat(words, " ")
end

---@param rule hermes.Rule
---@return boolean whether it comes from setup(), which alone can remove it
local function configured(rule)
  local plain = vim.tbl_extend("force", {}, rule, { scope = "always" })
  return vim.iter(require("hermes.config").get().permissions.rules):any(function(own)
    own = require("hermes.config_wire").rule(own)
    return vim.deep_equal(vim.tbl_extend("force", own, { scope = "always" }), plain)
  end)
end

---@param found fun(rules: hermes.Rule[])
local function with_rules(found)
  hermes().permissions.list({
    on_done = choose.outcome(function(result)
      found(result.rules)
    end),
  })
end

---Shows the rules in force.
function M.list()
  with_rules(function(rules)
    if #rules == 0 then
      return choose.say("there are no rules: every question is asked")
    end
    local lines = vim.tbl_map(function(rule)
      return M.format(rule) .. (configured(rule) and "   (setup)" or "")
    end, rules)
    require("hermes.pane").show("permissions", lines)
  end)
end

---@param action "allow"|"deny"
---@param words string[]
function M.add(action, words)
  local rule, err = M.parse(action, words)
  if not rule then
    return choose.fail(err)
  end
  hermes().permissions.add(rule, {
    on_done = choose.outcome(function()
      choose.say("from now on: " .. M.format(rule))
    end),
  })
end

---Removes a rule: the one in words, or one that the user chooses.
---@param words string[]
function M.remove(words)
  local function remove(rule)
    hermes().permissions.remove(rule, {
      on_done = choose.outcome(function()
        choose.say("removed: " .. M.format(rule))
      end),
    })
  end
  with_rules(function(rules)
    local own = vim.tbl_filter(function(rule)
      return not configured(rule)
    end, rules)
    if #words > 0 then
      local wanted = table.concat(vim.tbl_map(quoted, words), " ")
      for _, rule in ipairs(own) do
        if M.format(rule) == wanted then
          return remove(rule)
        end
      end
      return choose.fail(("there is no rule %q"):format(wanted))
    elseif #own == 0 then
      return choose.say("there is no rule to remove; those of setup() stay")
    end
    choose.pick_later(own, {
      prompt = "Remove rule",
      label = M.format,
      again = ":Hermes permissions remove",
    }, remove)
  end)
end

local kinds = { "read", "edit", "delete", "move", "search", "execute", "think", "fetch" }
local scopes = { "once", "session", "always" }

---@param before string[] words after "allow" or "deny"
---@return string[]
function M.complete(before)
  if vim.tbl_contains(before, "--") then
    return {}
  end
  local list = { "--", "path=", "env=", "cwd=" }
  for _, kind in ipairs(kinds) do
    list[#list + 1] = "kind=" .. kind
  end
  for _, scope in ipairs(scopes) do
    list[#list + 1] = "scope=" .. scope
  end
  for _, agent in ipairs(hermes().connections()) do
    list[#list + 1] = "agent=" .. agent.name
  end
  return list
end

return M
