---The subcommands of :Hermes for sessions and what they are set to.
---@type table<string, hermes.Subcommand>
local M = {}

local choose = require("hermes.view.choose")
local line = require("hermes.command.line")
local say, fail, outcome = choose.say, choose.fail, choose.outcome

local function hermes()
  return require("hermes")
end

---@param session hermes.SessionInfo
---@param content any
local function send(session, content)
  hermes().prompt(session.sessionId, content, { agent = session.agent })
end

---Sends a prompt; asks for the text if there is none.
---@param which hermes.Which
---@param text string
---@param block? table what the prompt is about
local function prompt(which, text, block)
  which.start = "Prompt"
  choose.session(which, function(session)
    if text ~= "" then
      return send(session, block and { text, block } or text)
    end
    vim.ui.input({ prompt = "Prompt: " }, function(typed)
      if typed and typed ~= "" then
        send(session, block and { typed, block } or typed)
      end
    end)
  end)
end

M.new = {
  run = function(words)
    local agent = line.take(words, "agent")
    hermes().create_session({
      agent = agent,
      cwd = words[1],
      on_done = outcome(function(result)
        say("session " .. result.sessionId)
      end),
    })
  end,
  complete = function(lead, before)
    local list = vim.fn.getcompletion(lead, "dir")
    return line.has_option(before, "agent") and list
      or vim.list_extend(line.options("agent", line.agents()), list)
  end,
}

M.sessions = {
  run = function(words)
    require("hermes.view.picker").sessions(words[1])
  end,
  complete = function(_, before)
    return #before == 0 and line.agents() or {}
  end,
}

M.fork = {
  run = function(words)
    local picker = require("hermes.view.picker")
    local can = {}
    for _, agent in ipairs(hermes().connections()) do
      can[agent.name] = picker.can(agent, "fork")
    end
    local which = line.which(words[1], {
      fits = function(session)
        return can[session.agent]
      end,
      unfit = "the agent cannot fork sessions",
    })
    choose.session(which, function(session)
      hermes().fork_session(session.sessionId, {
        agent = session.agent,
        on_done = outcome(function(result)
          say("session " .. result.sessionId)
        end),
      })
    end)
  end,
  complete = line.first_session,
}

M.close = {
  run = function(words)
    choose.session(line.which(words[1], { ask = "Close session" }), function(session)
      hermes().close_session(session.sessionId, {
        agent = session.agent,
        on_done = outcome(function()
          say(("session %s is closed"):format(session.name))
        end),
      })
    end)
  end,
  complete = line.first_session,
}

M.delete = {
  run = function(words)
    require("hermes.view.picker").delete(line.take(words, "agent"), words[1])
  end,
  complete = function(_, before)
    return #before == 0 and line.offered(require("hermes.view.picker").stored_ids()) or {}
  end,
}

M.prompt = {
  run = function(_, args)
    local rest = args.rest
    local id, after = rest:match("^session=(%S+)%s*(.*)$")
    local block = args.block
    if args.first then
      local range = { first = args.first, last = args.last }
      local lines, err = hermes().context.buffer(0, range)
      if not lines then
        return fail(err)
      end
      block = lines
    end
    prompt(line.which(id), id and after or rest, block)
  end,
  complete = function(_, before)
    return #before == 0 and line.options("session", line.sessions()) or {}
  end,
}

M.cancel = {
  run = function(words)
    local which = line.which(words[1], {
      fits = function(session)
        return session.state ~= "idle" or session.queued > 0
      end,
      unfit = "no turn is running",
    })
    choose.session(which, function(session)
      hermes().cancel(session.sessionId, { agent = session.agent })
    end)
  end,
  complete = line.first_session,
}

M.mode = {
  run = function(words)
    require("hermes.view.settings").choose(
      "mode",
      line.which(line.take(words, "session")),
      words[1]
    )
  end,
  complete = function(_, before)
    return line.with_session(before, function(words, which)
      return #words == 0 and require("hermes.view.settings").ids("mode", which) or {}
    end)
  end,
}

M.model = {
  run = function(words)
    require("hermes.view.settings").choose(
      "model",
      line.which(line.take(words, "session")),
      words[1]
    )
  end,
  complete = function(_, before)
    return line.with_session(before, function(words, which)
      return #words == 0 and require("hermes.view.settings").ids("model", which) or {}
    end)
  end,
}

M.config = {
  run = function(words)
    require("hermes.view.settings").config(
      line.which(line.take(words, "session")),
      words[1],
      words[2]
    )
  end,
  complete = function(_, before)
    return line.with_session(before, function(words, which)
      return #words < 2 and require("hermes.view.settings").config_ids(words[1], which) or {}
    end)
  end,
}

for _, way in ipairs({ "load", "resume" }) do
  M[way] = {
    run = function(words)
      require("hermes.view.picker").reopen(way, line.take(words, "agent"), words[1])
    end,
    complete = function(_, before)
      return #before == 0 and line.offered(require("hermes.view.picker").stored_ids()) or {}
    end,
  }
end

return M
