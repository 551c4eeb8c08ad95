---:Hermes permissions: rules typed as words, "allow kind=read path=~/src/**" or
---"allow agent=claude -- go test". They are shown as in questions.
local M = {}

local choose = require("hermes.view.choose")
local words_of = require("hermes.session.rules").words

local function hermes()
  return require("hermes")
end

---The members of a rule that are written as {key}={value}.
local keys = { "agent", "kind", "path", "env", "cwd", "scope", "session", "exact" }

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
    rule[name] = value
    if name == "env" then
      rule.env = vim.split(value, ",", { trimempty = true })
    elseif name == "exact" then
      rule.exact = value == "true" or nil
    end
  end
  if not (rule.kind or rule.path or rule.command) then
    return nil, "a rule for everything is too much; name a kind=, a path= or -- and a command"
  end
  return rule
end

---@param rule hermes.Rule
---@param scope? "always" in place of its own
---@return hermes.Rule as the host lists it
local function plain(rule, scope)
  rule = require("hermes.core.config_wire").rule(rule)
  return vim.tbl_extend("force", rule, { scope = scope or rule.scope or "always" })
end

---@param rule hermes.Rule
---@return boolean whether it comes from setup(), which alone can remove it
local function configured(rule)
  return vim.iter(require("hermes.core.config").get().permissions.rules):any(function(own)
    return vim.deep_equal(plain(own, "always"), plain(rule, "always"))
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
      return words_of(rule) .. (configured(rule) and "   (setup)" or "")
    end, rules)
    require("hermes.view.pane").show("permissions", lines)
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
      choose.say("from now on: " .. words_of(rule))
    end),
  })
end

---Removes a rule: the one in words, or one that the user chooses.
---@param words string[]
function M.remove(words)
  local function remove(rule)
    hermes().permissions.remove(rule, {
      on_done = choose.outcome(function()
        choose.say("removed: " .. words_of(rule))
      end),
    })
  end
  with_rules(function(rules)
    local own = vim.tbl_filter(function(rule)
      return not configured(rule)
    end, rules)
    if #words > 0 then
      local wanted, err = M.parse(words[1], vim.list_slice(words, 2))
      for _, rule in ipairs(wanted and own or {}) do
        if vim.deep_equal(plain(rule), plain(wanted)) then
          return remove(rule)
        end
      end
      return choose.fail(err or ("there is no rule %q"):format(words_of(wanted)))
    elseif #own == 0 then
      return choose.say("there is no rule to remove; the rules of setup() stay")
    end
    choose.pick_later(own, {
      prompt = "Remove rule",
      label = words_of,
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
  local list = { "--", "path=", "env=", "cwd=", "exact=true" }
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
