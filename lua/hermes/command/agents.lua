---The subcommands of :Hermes for agents.
---@type table<string, hermes.Subcommand>
local M = {}

local choose = require("hermes.view.choose")
local line = require("hermes.command.line")
local say, outcome = choose.say, choose.outcome

local function hermes()
  return require("hermes")
end

---@param name string
---@param words? string[] command line of the agent
local function connect(name, words)
  local opts = {}
  if words and words[1] then
    opts.command, opts.args = words[1], vim.list_slice(words, 2)
  end
  opts.on_done = outcome(function()
    say(name .. " is connected")
  end)
  hermes().connect(name, opts)
end

M.connect = {
  run = function(words)
    local name = table.remove(words, 1)
    if name then
      return connect(name, words)
    end
    choose.known("Connect", connect)
  end,
  complete = function(lead, before)
    return #before == 0 and line.known_agents()
      or vim.fn.getcompletion(lead, #before == 1 and "shellcmd" or "file")
  end,
}

M.disconnect = {
  run = function(words)
    if #words == 0 and #line.agents() == 0 then
      return say("no agent is connected")
    end
    hermes().disconnect(#words > 0 and words or nil)
  end,
  complete = line.agents,
}

M.login = {
  run = function(words)
    choose.agent(words[1], {
      ask = "Log in to",
      unfit = "no connected agent has a way to log in; see :checkhealth hermes",
      fits = function(agent)
        return #(agent.authMethods or {}) > 0
      end,
    }, function(agent)
      require("hermes.view.sign_in").login(agent, words[2])
    end)
  end,
  complete = function(_, before)
    return #before == 0 and line.agents()
      or #before == 1 and line.offered(require("hermes.view.sign_in").methods(before[1]))
      or {}
  end,
}

M.logout = {
  run = function(words)
    choose.agent(words[1], { ask = "Log out of" }, function(agent)
      require("hermes.view.sign_in").logout(agent)
    end)
  end,
  complete = function(_, before)
    return #before == 0 and line.agents() or {}
  end,
}

return M
