---The subcommands of :Hermes that open windows.
---@type table<string, hermes.Subcommand>
local M = {}

local choose = require("hermes.view.choose")
local line = require("hermes.command.line")
local fail = choose.fail

local function hermes()
  return require("hermes")
end

M.chat = {
  run = function(args)
    local chat = require("hermes.chat")
    if args[2] then
      local id = require("hermes.session.words").find(args[2])
      return chat.open({ agent = args[1], session = id })
    elseif args[1] or chat.agent() or #chat.list() > 0 then
      return chat.open({ agent = args[1] })
    end
    choose.known("Chat with", function(agent)
      chat.open({ agent = agent })
    end)
  end,
  complete = function(_, before)
    if #before > 0 then
      return #before == 1 and line.sessions(before[1]) or {}
    end
    return line.known_agents()
  end,
}

M.review = {
  run = function(words, args)
    require("hermes.view.review.view").run(line.with_ids(words), args)
  end,
  complete = function(lead, before)
    local list = {}
    for _, word in ipairs(require("hermes.view.review.view").complete(lead, before)) do
      vim.list_extend(
        list,
        word == "session=" and line.options("session", line.sessions()) or { word }
      )
    end
    return list
  end,
}

M.shim = {
  run = function(words)
    if not words[1] then
      return fail("which agent? :Hermes shim {name} [{command}]")
    end
    local command = #words > 1 and vim.list_slice(words, 2) or nil
    hermes().shim.open(words[1], { command = command, focus = true })
  end,
  complete = function(lead, before)
    return #before == 0 and require("hermes.program.options").names()
      or vim.fn.getcompletion(lead, #before == 1 and "shellcmd" or "file")
  end,
}

M.status = {
  run = function()
    require("hermes.view.status").open()
  end,
}

M.terminal = {
  run = function(args)
    require("hermes.terminals").pick(line.which(args[1]).id)
  end,
  complete = line.first_session,
}

M.traffic = {
  run = function(args)
    local traffic = require("hermes.traffic")
    local verb = ({ pause = "pause", resume = "resume", close = "close" })[args[1]]
    if verb then
      traffic[verb]()
    elseif args[1] == "save" then
      traffic.save(args[2])
    elseif args[1] == "replay" then
      if not args[2] then
        return fail("give the file of a recording: :Hermes traffic replay {file}")
      end
      traffic.replay(args[2])
    else
      traffic.open(#args > 0 and traffic.parse_filter(line.with_ids(args)) or nil)
    end
  end,
  complete = function(lead, before)
    if before[1] == "save" or before[1] == "replay" then
      return vim.fn.getcompletion(lead, "file")
    end
    local words = { "direction=in", "direction=out", "method=" }
    vim.list_extend(words, line.options("agent", line.agents()))
    vim.list_extend(words, line.options("session", line.sessions()))
    return #before > 0 and words
      or vim.list_extend(words, { "close", "pause", "replay", "resume", "save" })
  end,
}

M.log = {
  run = function(words)
    if words[1] then
      return require("hermes.view.logs").open_of_agent(words[1])
    end
    require("hermes.view.logs").open()
  end,
  complete = function(_, before)
    return #before == 0 and require("hermes.core.agent_log").agents() or {}
  end,
}

M.health = {
  run = function()
    vim.cmd.checkhealth("hermes")
  end,
}

return M
