---:Hermes sessions, load, resume and delete: the sessions that are open and those that agents have
---stored.
local M = {}

local choose = require("hermes.view.choose")

local function hermes()
  return require("hermes")
end

---@class hermes.StoredSession
---@field agent string
---@field sessionId string
---@field title? string
---@field cwd? string
---@field updatedAt? string

---@type table<string, table<string, hermes.StoredSession>> by agent and id: those listed last
local listed = {}

---@param agent hermes.ConnectionInfo
---@param what "load"|"resume"|"list"|"delete"|"fork"|"close"
---@return boolean
function M.can(agent, what)
  local announced = agent.agentCapabilities or {}
  if what == "load" then
    return announced.loadSession == true
  end
  return (announced.sessionCapabilities or {})[what] ~= nil
end

---The ids of sessions that connected agents have stored, as far as they have been listed.
---@return string[]
function M.stored_ids()
  local ids = {}
  for _, agent in ipairs(hermes().connections()) do
    vim.list_extend(ids, vim.tbl_keys(listed[agent.name] or {}))
  end
  return ids
end

---@param session_id string
---@param agent? string
---@return hermes.StoredSession?
local function find(session_id, agent)
  for name, stored in pairs(listed) do
    if stored[session_id] and (not agent or name == agent) then
      return stored[session_id]
    end
  end
end

---@param agent string
---@param result table of session/list
---@return hermes.StoredSession[]
local function take(agent, result)
  listed[agent] = listed[agent] or {}
  local list = {}
  for _, info in ipairs(type(result.sessions) == "table" and result.sessions or {}) do
    if type(info) == "table" and type(info.sessionId) == "string" then
      local session = {
        agent = agent,
        sessionId = info.sessionId,
        title = info.title,
        cwd = info.cwd,
        updatedAt = info.updatedAt,
      }
      listed[agent][info.sessionId] = session
      list[#list + 1] = session
    end
  end
  return list
end

---@class hermes.Listing
---@field stored hermes.StoredSession[]
---@field more table<string, string> cursors of the next pages by agent

---Adds the first or the next page of each agent, and calls `done` when all have answered.
---@param pages table<string, string|false> cursors by agent; false: the first page
---@param listing hermes.Listing
---@param done fun()
local function fetch(pages, listing, done)
  local left = vim.tbl_count(pages)
  if left == 0 then
    return done()
  end
  for agent, cursor in pairs(pages) do
    if not cursor then
      listed[agent] = nil
    end
    hermes().list_sessions({
      agent = agent,
      cursor = cursor or nil,
      on_done = function(err, result)
        choose.outcome()(err)
        listing.more[agent] = nil
        if result then
          vim.list_extend(listing.stored, take(agent, result))
          local next_page = result.nextCursor
          -- A page that leads to itself would never end.
          if type(next_page) == "string" and next_page ~= "" and next_page ~= cursor then
            listing.more[agent] = next_page
          end
        end
        left = left - 1
        if left == 0 then
          done()
        end
      end,
    })
  end
end

---@param session hermes.StoredSession
---@return string
local function stored_label(session)
  local text = require("hermes.core.text")
  local folder = type(session.cwd) == "string" and vim.fn.fnamemodify(session.cwd, ":~") or ""
  local when = type(session.updatedAt) == "string" and session.updatedAt:sub(1, 10) or "stored"
  return ("%s: %s, %s  %s"):format(
    text.line(session.agent, 40),
    require("hermes.session.overview").name(session),
    text.line(when, 12),
    folder
  )
end

---@param agent string
---@return hermes.ConnectionInfo?
local function connection(agent)
  return vim.iter(hermes().connections()):find(function(info)
    return info.name == agent
  end)
end

---@param folder any
---@return string? absolute path
local function absolute(folder)
  local is = type(folder) == "string" and (folder:sub(1, 1) == "/" or folder:find("^%a:[/\\]"))
  return is and require("hermes.session.params").folder(folder) or nil
end

---Calls `go` with the folder that a stored session is to work in. The agent may read and write
---there, so its own word is not enough for another folder than the one a new session would get.
---@param session hermes.StoredSession
---@param go fun(folder: string)
local function with_folder(session, go)
  local here = require("hermes.session.params").session({}).cwd
  local there = absolute(session.cwd)
  if not there or there == here then
    return go(here)
  end
  choose.pick({ here, there }, {
    prompt = "Folder that the agent may read and write",
    label = function(folder)
      return vim.fn.fnamemodify(folder, ":~")
        .. (folder == there and " (where the session was)" or " (here)")
    end,
  }, go)
end

---Reopens a stored session.
---@param session hermes.StoredSession
---@param way? "load"|"resume" nil: what the agent supports
local function reopen(session, way)
  local agent = connection(session.agent)
  if not agent then
    return choose.fail(("agent %q is not connected"):format(session.agent))
  end
  way = way or (M.can(agent, "load") and "load") or (M.can(agent, "resume") and "resume")
  if not way then
    return choose.fail(("agent %q can neither load nor resume a session"):format(session.agent))
  end
  with_folder(session, function(folder)
    hermes()[way .. "_session"](session.sessionId, {
      agent = session.agent,
      cwd = folder,
      on_done = choose.outcome(function()
        choose.say(("session %s is open"):format(require("hermes.session.overview").name(session)))
      end),
    })
  end)
end

---@param agents string? name that the user gave
---@param fits fun(agent: hermes.ConnectionInfo): boolean
---@return hermes.ConnectionInfo[]
local function agents_that(agents, fits)
  return vim.tbl_filter(function(agent)
    return (not agents or agent.name == agents) and fits(agent)
  end, hermes().connections())
end

---@param session hermes.StoredSession|hermes.SessionInfo
---@return string
local function key(session)
  return ("%s\0%s"):format(session.agent, session.sessionId)
end

---@class hermes.SessionMenu
---@field prompt string
---@field again string the command
---@field open? hermes.SessionInfo[] sessions to show first
---@field agents hermes.ConnectionInfo[] whose stored sessions to show
---@field single? boolean takes the only one without asking
---@field chosen fun(session: hermes.StoredSession)

---@param menu hermes.SessionMenu
---@param listing hermes.Listing
local function show(menu, listing)
  local items, seen = {}, {}
  for _, session in ipairs(menu.open or {}) do
    seen[key(session)] = true
    items[#items + 1] = { open = session }
  end
  for _, session in ipairs(listing.stored) do
    if not seen[key(session)] then
      seen[key(session)] = true
      items[#items + 1] = { stored = session }
    end
  end
  for agent, cursor in vim.spairs(listing.more) do
    items[#items + 1] = { more = agent, cursor = cursor }
  end
  local function take_item(item)
    if item.more then
      return fetch({ [item.more] = item.cursor }, listing, function()
        show(menu, listing)
      end)
    elseif item.open then
      return require("hermes.view.status").open(item.open)
    end
    menu.chosen(item.stored)
  end
  if #items == 0 then
    return choose.say("there is no session; :Hermes new starts one")
  elseif #items == 1 and menu.single and not items[1].more then
    return take_item(items[1])
  end
  choose.pick_later(items, {
    prompt = menu.prompt,
    again = menu.again,
    label = function(item)
      return item.more and ("more of %s …"):format(item.more)
        or item.open and choose.session_label(item.open)
        or stored_label(item.stored)
    end,
  }, take_item)
end

---@param menu hermes.SessionMenu
local function list(menu)
  local pages = {}
  for _, agent in ipairs(menu.agents) do
    pages[agent.name] = false
  end
  local listing = { stored = {}, more = {} }
  fetch(pages, listing, function()
    show(menu, listing)
  end)
end

---Shows the open and the stored sessions of all agents or of one. Choosing an open one shows it in
---the status window; a stored one is loaded or resumed.
---@param agent? string
function M.sessions(agent)
  if #hermes().connections() == 0 then
    return choose.say("no agent is connected; :Hermes connect")
  end
  list({
    prompt = "Session",
    again = ":Hermes sessions",
    open = hermes().sessions({ agent = agent }),
    agents = agents_that(agent, function(a)
      return M.can(a, "list")
    end),
    chosen = reopen,
  })
end

---@param agents hermes.ConnectionInfo[] that may have the session
---@param chosen fun(agent: hermes.ConnectionInfo)
local function pick_agent(agents, chosen)
  choose.pick(agents, {
    prompt = "Agent of the session",
    label = function(agent)
      return agent.name
    end,
  }, chosen)
end

---Reopens a stored session: the only one, or the one that the user chooses.
---@param way "load"|"resume"
---@param agent? string
---@param id? string
function M.reopen(way, agent, id)
  local agents = agents_that(agent, function(a)
    return M.can(a, way)
  end)
  if #agents == 0 then
    return choose.fail(("no connected agent can %s a session"):format(way))
  end
  if id then
    local known = find(id, agent)
    if known or #agents == 1 then
      return reopen(known or { agent = agents[1].name, sessionId = id }, way)
    end
    return pick_agent(agents, function(a)
      reopen({ agent = a.name, sessionId = id }, way)
    end)
  end
  agents = vim.tbl_filter(function(a)
    return M.can(a, "list")
  end, agents)
  if #agents == 0 then
    return choose.fail(("the agent cannot list its sessions; :Hermes %s {session}"):format(way))
  end
  list({
    prompt = way == "load" and "Load session" or "Resume session",
    again = ":Hermes " .. way,
    agents = agents,
    single = true,
    chosen = function(session)
      reopen(session, way)
    end,
  })
end

---@param session hermes.StoredSession
local function delete(session)
  hermes().delete_session(session.sessionId, {
    agent = session.agent,
    on_done = choose.outcome(function()
      if listed[session.agent] then
        listed[session.agent][session.sessionId] = nil
      end
      choose.say(("session %s is deleted"):format(require("hermes.session.overview").name(session)))
    end),
  })
end

---Deletes a stored session. Without an id it always asks, because nothing brings it back.
---@param agent? string
---@param id? string
function M.delete(agent, id)
  local agents = agents_that(agent, function(a)
    return M.can(a, "delete")
  end)
  if #agents == 0 then
    return choose.fail("no connected agent can delete sessions")
  end
  if id then
    local holders = vim.tbl_filter(function(a)
      return find(id, a.name) ~= nil
    end, agents)
    holders = #holders > 0 and holders or agents
    if #holders == 1 then
      return delete({ agent = holders[1].name, sessionId = id })
    end
    return pick_agent(holders, function(a)
      delete({ agent = a.name, sessionId = id })
    end)
  end
  agents = vim.tbl_filter(function(a)
    return M.can(a, "list")
  end, agents)
  if #agents == 0 then
    return choose.fail("the agent cannot list its sessions; :Hermes delete {session}")
  end
  list({
    prompt = "Delete session",
    again = ":Hermes delete",
    agents = agents,
    chosen = delete,
  })
end

return M
