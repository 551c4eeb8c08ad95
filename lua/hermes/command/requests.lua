---The subcommands of :Hermes for what waits for the user's word: requests of agents, the rules that
---answer them, and conflicts of buffers with their files.
---@type table<string, hermes.Subcommand>
local M = {}

local choose = require("hermes.view.choose")
local say, fail = choose.say, choose.fail

local function hermes()
  return require("hermes")
end

M.permissions = {
  run = function(words)
    local verb = table.remove(words, 1)
    local rules = require("hermes.view.rule_words")
    if not verb then
      rules.list()
    elseif verb == "allow" or verb == "deny" then
      rules.add(verb, words)
    elseif verb == "remove" then
      rules.remove(words)
    else
      fail(("%q is none of allow, deny, remove"):format(verb))
    end
  end,
  complete = function(_, before)
    if #before == 0 then
      return { "allow", "deny", "remove" }
    end
    return before[1] ~= "remove"
        and require("hermes.view.rule_words").complete(vim.list_slice(before, 2))
      or {}
  end,
}

M.pending = {
  run = function()
    require("hermes.view.waiting").pending()
  end,
}

M.respond = {
  run = function()
    require("hermes.view.waiting").respond()
  end,
}

M.conflict = {
  run = function(words)
    local conflict, here = require("hermes.doc.conflict"), vim.api.nvim_get_current_buf()
    local function name(item)
      return vim.fn.fnamemodify(item.path, ":~:.")
    end
    local function resolve(item)
      local function with(choice)
        hermes().resolve_conflict(choice, { bufnr = item.bufnr })
      end
      if words[1] then
        return with(words[1])
      end
      choose.pick(conflict.choices, {
        prompt = name(item),
        label = function(choice)
          return conflict.labels[choice]
        end,
      }, with)
    end
    if words[1] and not vim.tbl_contains(conflict.choices, words[1]) then
      return fail("the choice must be mine, theirs or both")
    end
    local list = hermes().conflicts()
    for _, item in ipairs(list) do
      if item.bufnr == here or #list == 1 then
        return resolve(item)
      end
    end
    if #list == 0 then
      return say("no buffer has a conflict with its file")
    end
    choose.pick(list, { prompt = "Conflict", label = name }, resolve)
  end,
  complete = function(_, before)
    return #before == 0 and require("hermes.doc.conflict").choices or {}
  end,
}

return M
