---Finds out which agent or session a command is for. It asks only if there are several and a wrong
---one would do harm.
local M = {}

local function hermes()
  return require("hermes")
end

---@param text string
function M.say(text)
  require("hermes.core.log").notify(vim.log.levels.INFO, text)
end

---@param text string
function M.fail(text)
  require("hermes.core.log").notify(vim.log.levels.ERROR, text)
end

---Returns an on_done for an operation that the user asked for.
---@param done? fun(result: table) called when it succeeded
---@return fun(err: hermes.Error?, result: table?)
function M.outcome(done)
  return function(err, result)
    if not err then
      return done and done(result)
    elseif not require("hermes.core.rpc").by_user[err.kind] then -- finish() has logged it
      require("hermes.core.log").show(vim.log.levels.ERROR, err.message)
    end
  end
end

---Lets the user choose. The labels are made safe to show.
---@generic T
---@param items T[]
---@param opts { prompt: string, label: fun(item: T): string }
---@param chosen fun(item: T)
function M.pick(items, opts, chosen)
  local text = require("hermes.core.text")
  vim.ui.select(items, {
    prompt = text.line(opts.prompt, 200),
    kind = "hermes",
    format_item = function(item)
      return text.line(opts.label(item), 200)
    end,
  }, function(item)
    if item ~= nil then
      chosen(item)
    end
  end)
end

---As pick(), after an answer of an agent has come: if the user does something else by now, a menu
---would take the keys.
---@generic T
---@param items T[]
---@param opts { prompt: string, label: fun(item: T): string, again: string }
---@param chosen fun(item: T)
function M.pick_later(items, opts, chosen)
  if vim.api.nvim_get_mode().mode ~= "n" or vim.fn.getcmdwintype() ~= "" then
    return M.say(("you were busy when the list came; once more: %s"):format(opts.again))
  end
  M.pick(items, opts, chosen)
end

---@param name string
---@return string
local function shown(name)
  return require("hermes.core.text").line(name, 40)
end

local states = {
  waiting = "waits for you",
  cancelling = "is being cancelled",
  replaying = "is being restored",
}

---What a session is doing.
---@param session hermes.SessionInfo
---@return string
function M.state_of(session)
  return states[session.state] or session.state
end

---A session on one line, not yet safe to show.
---@param session hermes.SessionInfo
---@return string
function M.session_label(session)
  local folder = session.cwd and vim.fn.fnamemodify(session.cwd, ":~") or ""
  return ("%s: %s, %s  %s"):format(shown(session.agent), session.name, M.state_of(session), folder)
end

---@type table<integer, fun(): { agent: string, sessionId: string }?> by buffer
local lines = {}

---Commands that are typed in a buffer are for the session of the line that the cursor is on.
---@param buf integer
---@param session fun(): { agent: string, sessionId: string }? of the current window's line
function M.of_line(buf, session)
  lines[buf] = session
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    once = true,
    callback = function()
      lines[buf] = nil
    end,
  })
end

---The session of the current buffer or line, if a view shows it there, or else the one used last.
---@param sessions hermes.SessionInfo[] candidates, the one used last first
---@return hermes.SessionInfo? session
---@return boolean? certain whether a view shows it there
function M.current(sessions)
  local line = lines[vim.api.nvim_get_current_buf()]
  local named = line and line() or { sessionId = vim.b.hermes_session, agent = vim.b.hermes_agent }
  for _, session in ipairs(sessions) do
    if session.sessionId == named.sessionId and (named.agent or session.agent) == session.agent then
      return session, true
    end
  end
  return sessions[1], false
end

---Lets the user choose one of the agents that connect() knows. Those that are installed come first,
---and the others in a menu of their own, because small screens have no room for all.
---@param ask string
---@param found fun(agent: string)
function M.known(ask, found)
  local agents, problem = require("hermes.core.known_agents").list()
  local here, others = {}, {}
  for _, agent in ipairs(agents) do
    table.insert(agent.installed and here or others, agent)
  end
  local function label(agent)
    local how = agent.install or ""
    return agent.more
      or agent.installed and agent.name
      or how ~= "" and ("%s: %s"):format(agent.name, how)
      or agent.name
  end
  local function menu(list)
    M.pick(list, { prompt = ask, label = label }, function(agent)
      if agent.more then
        return menu(others)
      end
      found(agent.name)
    end)
  end
  if #here == 0 and #others == 0 then
    return M.fail(problem or "no agent is known; setup{agents} names some")
  end
  if #here > 0 and #others > 0 then
    here[#here + 1] = { more = ("%d others, which are not installed …"):format(#others) }
  end
  menu(#here > 0 and here or others)
end

---@class hermes.Which
---@field id? string of the session, as the user gave it
---@field agent? string as the user gave it
---@field fits? fun(session: hermes.SessionInfo): boolean for which sessions the command makes sense
---@field unfit? string what to say if there is none
---@field ask? string what to ask, if a wrong session would do harm; nil: the current one is meant
---@field start? string what to ask for an agent whose new session is meant, if there is no session

---Opens a session with the agent that was connected last, or with one that the user chooses.
---@param ask string
---@param found fun(session: hermes.SessionInfo)
local function start(ask, found)
  local function with(agent)
    hermes().create_session({
      agent = agent,
      on_done = M.outcome(function(result)
        found(hermes().sessions({ agent = agent, session_id = result.sessionId })[1])
      end),
    })
  end
  for _, connection in ipairs(hermes().connections()) do
    if connection.current then
      return with(connection.name)
    end
  end
  M.known(ask, function(agent)
    hermes().connect(agent, { on_done = function() end }) -- the session fails with it
    with(agent)
  end)
end

---Finds out which session is meant. A message says why there is none.
---@param which hermes.Which
---@param found fun(session: hermes.SessionInfo)
function M.session(which, found)
  local all = hermes().sessions({ agent = which.agent })
  local current, certain = M.current(all)
  local sessions = certain and { current } or all
  if which.id then
    sessions = vim.tbl_filter(function(session)
      return session.sessionId == which.id
    end, all)
    if #sessions == 0 then
      return M.fail(("there is no session %q; :Hermes sessions lists them"):format(which.id))
    end
  elseif #all == 0 and which.start then
    return start(which.start, found)
  elseif #all == 0 then
    return M.say("there is no session; :Hermes new starts one")
  else
    sessions = which.fits and vim.tbl_filter(which.fits, sessions) or sessions
    if #sessions == 0 then
      return M.say(which.unfit)
    end
  end
  if #sessions == 1 or not which.ask then
    return found((M.current(sessions)))
  end
  M.pick(sessions, { prompt = which.ask, label = M.session_label }, found)
end

---Finds out which connected agent is meant.
---@param name? string as the user gave it
---@param opts { fits?: fun(agent: hermes.ConnectionInfo): boolean, unfit?: string, ask: string }
---@param found fun(agent: hermes.ConnectionInfo)
function M.agent(name, opts, found)
  local all = hermes().connections()
  if #all == 0 then
    return M.say("no agent is connected; :Hermes connect")
  end
  local agents = vim.tbl_filter(function(agent)
    return (not name or agent.name == name) and (name or not opts.fits or opts.fits(agent))
  end, all)
  if name and #agents == 0 then
    local names = vim.tbl_map(function(agent)
      return agent.name
    end, all)
    return M.fail(
      ("no agent %q is connected; connected: %s"):format(name, table.concat(names, ", "))
    )
  elseif #agents == 0 then
    return M.say(opts.unfit)
  elseif #agents == 1 then
    return found(agents[1])
  end
  M.pick(agents, {
    prompt = opts.ask,
    label = function(agent)
      return ("%s, %s"):format(agent.name, agent.state)
    end,
  }, found)
end

return M
