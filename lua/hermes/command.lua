---The :Hermes command: finds, runs and completes its subcommands.
local M = {}

local fail = require("hermes.view.choose").fail

---@class hermes.CommandArgs
---@field words string[]
---@field rest string everything after the subcommand, as it was typed
---@field first? integer first line of a range
---@field last? integer
---@field block? table what a prompt is about

---@class hermes.Subcommand
---@field run fun(words: string[], args: hermes.CommandArgs)
---@field complete? fun(lead: string, before: string[]): string[] completions after some words

---The files of the subcommands, which are loaded when one is used.
---@type { names: string, load: fun(): table<string, hermes.Subcommand> }[]
local files = {
  {
    names = "connect disconnect login logout",
    load = function()
      return require("hermes.command.agents")
    end,
  },
  {
    names = "cancel close config delete fork load mode model new prompt resume sessions",
    load = function()
      return require("hermes.command.sessions")
    end,
  },
  {
    names = "conflict pending permissions respond",
    load = function()
      return require("hermes.command.requests")
    end,
  },
  {
    names = "chat health log review shim status terminal traffic",
    load = function()
      return require("hermes.command.views")
    end,
  },
  {
    names = "build clean install update version",
    load = function()
      return require("hermes.command.host")
    end,
  },
}

local loaders = {} ---@type table<string, fun(): table<string, hermes.Subcommand>>
for _, file in ipairs(files) do
  for name in file.names:gmatch("%S+") do
    loaders[name] = file.load
  end
end

---@param name string
---@return hermes.Subcommand?
local function subcommand_of(name)
  return loaders[name] and loaders[name]()[name]
end

---@return string[]
local function names()
  local list = vim.tbl_keys(loaders)
  table.sort(list)
  return list
end

---The reason of an error that a subcommand has raised, without its place in the code.
---@param err any
---@param trace string
---@return string
local function reason_of(err, trace)
  local text = type(err) == "table" and err.message or tostring(err)
  local reason = text:gsub("^[^\n]-%.lua:%d+: ", "")
  local meant, count = reason:gsub("^hermes%.[%w_.]+: ", "")
  if count == 0 and type(err) ~= "table" then -- an unexpected error
    require("hermes.core.log").write(vim.log.levels.ERROR, trace)
  end
  return meant
end

---Runs a subcommand. Errors are shown, not raised.
---@param name string
---@param words string[]
---@param args? hermes.CommandArgs
function M.call(name, words, args)
  local subcommand = subcommand_of(name)
  if not subcommand then
    local meant = require("hermes.core.arguments").similar(name, names())
    return fail(
      ("unknown subcommand %q; %suse one of: %s"):format(
        name,
        meant and ("did you mean %q? "):format(meant) or "",
        table.concat(names(), ", ")
      )
    )
  end
  args = args or { rest = table.concat(words, " ") }
  args.words = words
  local trace
  local ok, err = xpcall(subcommand.run, function(problem)
    trace = debug.traceback(tostring(problem))
    return problem
  end, vim.list_slice(words), args)
  if not ok then
    fail(reason_of(err, trace))
  end
end

require("hermes.wiring").subcommand = M.call

---@param cmd vim.api.keyset.create_user_command.command_args
function M.run(cmd)
  local words = vim.list_slice(cmd.fargs)
  M.call(table.remove(words, 1) or "status", words, {
    rest = cmd.args:match("^%s*%S+%s*(.*)$") or "",
    first = cmd.range and cmd.range > 0 and cmd.line1 or nil,
    last = cmd.range and cmd.range > 0 and cmd.line2 or nil,
  })
end

---Asks for a prompt about what was selected last.
function M.prompt_selection()
  local block, err = require("hermes").context.selection()
  if not block then
    return fail(err)
  end
  M.call("prompt", {}, { rest = "", block = block })
end

---@param lead string
---@param line string the whole command line, possibly with modifiers or other commands first
---@param cursor? integer byte before the rest of the line
---@return string[]
function M.complete(lead, line, cursor)
  local typed = line:sub(1, (cursor or #line) - #lead)
  local words = vim.split(typed:match("%f[%a]Her%a*!?%s+(.*)$") or "", "%s+", { trimempty = true })
  local name = table.remove(words, 1)
  local list = {}
  local subcommand = name and subcommand_of(name)
  if not name then
    list = names()
  elseif subcommand and subcommand.complete then
    list = subcommand.complete(lead, words)
  end
  local fitting, seen = {}, {}
  for _, word in ipairs(list) do
    if vim.startswith(word, lead) and not seen[word] then
      seen[word] = true
      fitting[#fitting + 1] = word
    end
  end
  table.sort(fitting)
  return fitting
end

return M
