---The functions of require("hermes") beside setup() and connect().
---
---No function here blocks. Those that ask an agent return the id of the
---operation at once. Its outcome reaches `on_done`, an event with the same
---`opId`, and the log.
---@class hermes.Api
---@field permissions hermes.Permissions rules that answer permission questions
---@field text hermes.Text makes texts of agents safe to show
local M = {}

---@class hermes.Opts
---@field agent? string default: the agent of the session, or the one used last
---@field on_done? fun(err: hermes.Error?, result: table?)
---@field force? boolean send it even if the agent has not announced that it supports it

local check = require("hermes.core.arguments")

---@param method string
---@param params table|fun(): table
---@param opts table
---@param prefix? string
---@return string id
local function request(method, params, opts, prefix)
  return require("hermes.session.requests").request(method, params, opts, prefix)
end

for name, fn in pairs(require("hermes.api.sessions")) do
  M[name] = fn
end

---------------------------------------------------------------------------
-- Agents.

---Stop agents: one, several, or all with nil.
---@param names? string|string[]
---@param opts? hermes.Opts
---@return string id
function M.disconnect(names, opts)
  if names ~= nil then
    check.need(names, "names", "disconnect", "the names of agents")
  end
  local list = type(names) == "string" and { names } or names or {}
  opts = check.options(opts, "disconnect", 2)
  return require("hermes.core.rpc").call("disconnect", { agents = list }, {
    method = "disconnect",
    agent = #list == 1 and list[1] or nil,
    on_done = opts.on_done,
  })
end

---@class hermes.KnownAgent
---@field name string for connect()
---@field source "preset"|"setup"|"registry" where it is known from
---@field title? string
---@field website? string
---@field command? string[] the program and its arguments
---@field installed? boolean whether that program is found
---@field protocol? string how it is reached, when it is already running
---@field install? string what to do when the program is missing
---@field login? string how one logs in

---@class hermes.AgentsOpts
---@field update? boolean read the registry of the protocol first
---@field url? string another registry: an https URL or a file
---@field on_done? fun(err: hermes.Error?, result: { agents: hermes.KnownAgent[] }?)

---List the agents that connect() knows by name: the presets, the agents of setup() and, after
---`update`, the agents of a registry. The result has `agents`.
---@param opts? hermes.AgentsOpts
---@return string id
function M.agents(opts)
  opts = check.options(opts, "agents", 2, { "update", "url" })
  local payload = { update = opts.update or false, url = opts.url }
  return require("hermes.core.rpc").call("agents", payload, {
    method = "agents",
    on_done = opts.on_done,
  })
end

---Sign in with one of the methods from ConnectionInitialized. A method for a terminal opens one,
---see hermes-login.
---@param method_id string
---@param opts? hermes.Opts
---@return string id
function M.authenticate(method_id, opts)
  check.need(method_id, "name", "authenticate", "the id of the method", 2)
  return request("authenticate", { methodId = method_id }, check.options(opts, "authenticate", 2))
end

---Sign out of agents: one, several, or the one used last with nil.
---@param names? string|string[]
---@param opts? hermes.Opts
---@return string ... one id for each agent
function M.logout(names, opts)
  if names ~= nil then
    check.need(names, "names", "logout", "the names of agents")
  end
  opts = check.options(opts, "logout", 2)
  local list = type(names) == "table" and names or { names or opts.agent }
  local ops = {}
  for i = 1, math.max(#list, 1) do
    local own = vim.tbl_extend("force", opts, { agent = list[i] })
    ops[i] = request("logout", vim.empty_dict(), own)
  end
  return unpack(ops)
end

---------------------------------------------------------------------------
-- Turns.

---@param who string
---@param session_id any
---@param content any
---@param opts any
---@return string prompt_id
local function send_prompt(who, session_id, content, opts)
  check.need(session_id, "name", who, "the id of the session", 3)
  local blocks, err = require("hermes.session.params").blocks(content)
  if not blocks then
    error(("hermes.%s: %s"):format(who, err), 3)
  end
  local steers = who == "steer"
  opts = vim.tbl_extend("force", {}, check.options(opts, who, 3, steers and { "cancel" } or nil))
  if steers then
    opts.steer = not opts.cancel and "queue"
      or opts.cancel == "fallback" and "cancel_fallback"
      or "cancel"
  end
  return request("session/prompt", { sessionId = session_id, prompt = blocks }, opts, "prompt")
end

---Find the files that a text names with "@". A chat sends them along with it. A file is not read if
---a link leads to it out of the session's folders, if the agent's sandbox hides it, or if a rule or
---`fs_read_access` keeps it from the agent.
---@param session_id string
---@param text string
---@param opts? hermes.MentionsOpts its result has `mentions`, a list of hermes.Mention
---@return string id
function M.mentions(session_id, text, opts)
  check.need(session_id, "name", "mentions", "the id of the session", 2)
  check.need(text, "string", "mentions", "the text")
  opts = check.options(opts, "mentions", 2, { "blocks" })
  return require("hermes.doc.mentions").find(session_id, text, opts)
end

---Send a prompt: a text, a block or a list of texts and blocks. While a turn
---runs, prompts wait for it, in order.
---@param session_id string
---@param content string|table|table[]
---@param opts? hermes.Opts
---@return string prompt_id in the `promptId` of every event of the turn
function M.prompt(session_id, content, opts)
  local id = send_prompt("prompt", session_id, content, opts)
  return id -- a tail call would take the caller out of errors
end

---@class hermes.SteerOpts: hermes.Opts
---@field cancel? boolean|"fallback" cancel the running turn and send the prompt next; "fallback":
---only if it cannot go into the turn

---Add to the running turn. Nothing is cancelled, unless `cancel` says so. If the agent takes
---nothing into its turns, the prompt is the next. The result has `outcome`: "injected", "queued",
---"restarted" or "started".
---@param session_id string
---@param content string|table|table[]
---@param opts? hermes.SteerOpts
---@return string prompt_id
function M.steer(session_id, content, opts)
  local id = send_prompt("steer", session_id, content, opts)
  return id -- a tail call would take the caller out of errors
end

---Stop the running turn and drop the waiting prompts. The turn ends with
---stopReason "cancelled".
---@param session_id string
---@param opts? hermes.Opts
---@return string id
function M.cancel(session_id, opts)
  check.need(session_id, "name", "cancel", "the id of the session", 2)
  opts = check.options(opts, "cancel", 2)
  local rpc = require("hermes.core.rpc")
  local agent = require("hermes.session.requests").agent_for(opts, session_id)
  return rpc.call("cancel", { agent = agent or "", sessionId = session_id }, {
    method = "session/cancel",
    agent = agent,
    session_id = session_id,
    on_done = opts.on_done,
  })
end

---------------------------------------------------------------------------
-- Requests of agents.

---Answer a request of an agent. :help hermes-events lists the answers that each
---event accepts.
---@param request_id string
---@param value? any
---@return boolean first false when it has already been answered or withdrawn
function M.respond(request_id, value)
  check.need(request_id, "name", "respond", "the id of the request", 2)
  return require("hermes.ask.answers").respond(request_id, value)
end

---Answer a request of an agent with an error.
---@param request_id string
---@param message? string
---@param code? integer of JSON-RPC, else -32603
---@return boolean first
function M.reject(request_id, message, code)
  check.need(request_id, "name", "reject", "the id of the request", 2)
  return require("hermes.ask.answers").reject(request_id, message, code)
end

---Let Hermes answer a request of an agent as if nothing else did.
---@param request_id string
---@return boolean first
function M.default(request_id)
  check.need(request_id, "name", "default", "the id of the request", 2)
  return require("hermes.ask.answers").default(request_id)
end

---Answer all requests of one kind: with the return value of `fn`, or with its
---second argument, now or later. nil instead of `fn` restores the default.
---@param key string event or method, extension methods included
---@param ... (fun(data: table, answer: hermes.Answer): any)|nil
function M.on_request(key, ...)
  check.need(key, "name", "on_request", "the event or method", 2)
  local fn = ...
  if select("#", ...) == 0 or (fn ~= nil and type(fn) ~= "function") then
    local given = select("#", ...) == 0 and "nothing" or "a " .. type(fn)
    error(("hermes.on_request: expected a function, or nil to remove it, not %s"):format(given), 2)
  end
  local problem = require("hermes.core.config_check").handler_problem(key)
  if problem then
    error("hermes.on_request: " .. problem, 2)
  end
  require("hermes.ask.answers").on_request(key, fn)
end

---------------------------------------------------------------------------
-- Events.

---@class hermes.OnOpts
---@field callback fun(data: table, name: string)
---@field agent? string only events of this agent
---@field session_id? string only events of this session
---@field once? boolean

---Listen to events; "*" is all of them. Needs no autocommand.
---@param names string|string[]
---@param fn fun(data: table, name: string)|hermes.OnOpts
---@return fun() off stops it
function M.on(names, fn)
  return require("hermes.core.listeners").on(names, fn, "on")
end

---Listen to an event once.
---@param names string|string[]
---@param fn fun(data: table, name: string)
---@return fun() off
function M.once(names, fn)
  return require("hermes.core.listeners").on(names, fn, "once")
end

---nvim_create_autocmd with the names of events. The arguments are the same, but
---`pattern` selects session ids or agents.
---@param names string|string[]
---@param opts vim.api.keyset.create_autocmd
---@return integer id of the autocommand
function M.create_autocmd(names, opts)
  return require("hermes.core.user_autocmds").create_autocmd(names, opts)
end

---------------------------------------------------------------------------
-- Commands that agents run.

---The remembered commands of agents, of one session or of all, the oldest first. Copies.
---@param session_id? string
---@param opts? hermes.OfAgent
---@return hermes.Terminal[]
function M.terminals(session_id, opts)
  local agent = check.agent_of("terminals", session_id, opts, true)
  return require("hermes.core.output").list(session_id, agent)
end

---One remembered command and the end of its output.
---@param session_id string
---@param terminal_id string
---@param opts? hermes.OfAgent
---@return hermes.Terminal? terminal nil when it is not known
---@return string? output its end; `dropped` of the terminal says how much is missing before it
function M.terminal_output(session_id, terminal_id, opts)
  local agent = check.agent_of("terminal_output", session_id, opts)
  check.need(terminal_id, "name", "terminal_output", "the id of the terminal", 2)
  return require("hermes.core.output").get(session_id, terminal_id, agent)
end

---End a command of an agent and everything in its process group. The agent sees
---that a signal ended it.
---@param session_id string
---@param terminal_id string
---@param opts? hermes.Opts
---@return string id
function M.kill_terminal(session_id, terminal_id, opts)
  check.need(session_id, "name", "kill_terminal", "the id of the session", 2)
  check.need(terminal_id, "name", "kill_terminal", "the id of the terminal", 2)
  opts = check.options(opts, "kill_terminal", 2)
  local rpc = require("hermes.core.rpc")
  local agent = require("hermes.session.requests").agent_for(opts, session_id) or ""
  local payload = { agent = agent, sessionId = session_id, terminalId = terminal_id }
  return rpc.call("kill", payload, {
    method = "terminal/kill",
    agent = agent,
    session_id = session_id,
    on_done = opts.on_done,
  })
end

---------------------------------------------------------------------------
-- The rest.

---Run a workflow as straight code: a function in which `hermes.await` waits for what it starts.
---@param fn fun(): any
---@param on_done? fun(err: hermes.Error?, ...: any) gets what `fn` returned or raised
---@return hermes.Task
function M.async(fn, on_done)
  return require("hermes.core.async").run(fn, on_done)
end

---The state of all agents and sessions, or of one session, or one member of it. A copy.
---@param session_id? string
---@param member? string
---@param opts? hermes.OfAgent
---@return any
function M.state(session_id, member, opts)
  local agent = check.agent_of("state", session_id, opts, true)
  return require("hermes.session.state").get(session_id, member, agent)
end

---List the files below a folder that git does not ignore, the highest folders first when there are
---too many. No program runs in the folder.
---@param folder string
---@param opts? hermes.Opts its result has `files`, a list of names, and `complete`, a boolean
---@return string id
function M.list_files(folder, opts)
  check.need(folder, "name", "list_files", "the folder", 2)
  opts = check.options(opts, "list_files", 2)
  return require("hermes.core.rpc").call("list", function()
    return { root = require("hermes.session.params").folder(folder) }
  end, {
    method = "list_files",
    on_done = opts.on_done and function(err, result)
      if result then
        result.files = vim.split(result.files, "\n", { plain = true, trimempty = true })
      end
      opts.on_done(err, result)
    end,
  })
end

---For a statusline: `%{%v:lua.require'hermes'.statusline()%}`.
---@param opts? hermes.StatuslineOpts
---@return string
function M.statusline(opts)
  return require("hermes.session.attention").statusline(
    check.options(opts, "statusline", 2, { "session_id", "format" })
  )
end

---The connected agents, sorted by name. A copy, without their sessions.
---@return hermes.ConnectionInfo[]
function M.connections()
  return require("hermes.session.overview").connections()
end

---The open sessions at a glance, the one used last first. Copies, without messages and tool calls.
---@param opts? hermes.SessionsOpts
---@return hermes.SessionInfo[]
function M.sessions(opts)
  opts = check.options(opts, "sessions", 2, { "session_id", "waiting_first" })
  return require("hermes.session.overview").sessions(opts)
end

---The requests of agents that wait for an answer, the oldest first.
---@return hermes.PendingRequest[]
function M.pending()
  return require("hermes.ask.answers").pending()
end

---Buffers with unsaved edits whose files changed on disk and cannot be merged, most of them because
---the same lines changed.
---@return hermes.Conflict[]
function M.conflicts()
  return require("hermes.doc.conflict").list()
end

---@class hermes.ResolveOpts
---@field bufnr? integer the current buffer by default
---@field on_done? fun(problem: string?)

---Ends a conflict of a buffer with its file, or shows both texts.
---@param choice hermes.conflict.Choice
---@param opts? hermes.ResolveOpts
function M.resolve_conflict(choice, opts)
  local conflict = require("hermes.doc.conflict")
  opts = check.options(opts, "resolve_conflict", 2, { "bufnr" })
  if not vim.tbl_contains(conflict.choices, choice) then
    error('hermes.resolve_conflict: the choice must be "mine", "theirs" or "both"', 2)
  end
  local buf = opts.bufnr or vim.api.nvim_get_current_buf()
  if not vim.api.nvim_buf_is_loaded(buf) then
    error(("hermes.resolve_conflict: buffer %d is not loaded"):format(buf), 2)
  end
  conflict.resolve(buf, choice, opts.on_done or function(problem)
    if problem then
      require("hermes.core.log").notify(vim.log.levels.ERROR, problem)
    end
  end)
end

---The last lines of an agent's standard error, also after the agent has ended. They are not yet
---safe to show.
---@param agent string
---@return string[] lines
function M.agent_log(agent)
  return require("hermes.core.agent_log").lines(
    check.need(agent, "name", "agent_log", "the name of the agent", 2)
  )
end

---@param params any
---@param who string
---@return table
local function params_of(params, who)
  if params ~= nil then
    check.need(params, "table", who, "the params", 3)
  end
  return params and next(params) ~= nil and params or vim.empty_dict() -- {} would become a list
end

---Install the host of the release that this version of the plugin pins, without Go. :Hermes update
---and :Hermes build call it, too; nothing is ever downloaded without such a call.
---@param opts? hermes.InstallOpts
---@return string id
function M.install(opts)
  opts = check.options(opts, "install", 2, { "file", "timeout", "update" })
  return require("hermes.core.install").start(opts)
end

---Call any method of an agent, including extensions.
---@param agent? string nil: the agent of the session, or the one used last
---@param method string
---@param params? table
---@param on_done? fun(err: hermes.Error?, result: table?)
---@return string id
function M.request(agent, method, params, on_done)
  check.need(method, "name", "request", "the method", 2)
  local opts = check.options({ agent = agent, on_done = on_done, force = true }, "request", 2)
  return request(method, params_of(params, "request"), opts)
end

---Send any notification to an agent.
---@param agent? string
---@param method string
---@param params? table
---@return string id
function M.notify(agent, method, params)
  check.need(method, "name", "notify", "the method", 2)
  local opts = check.options({ agent = agent }, "notify", 2)
  return require("hermes.session.requests").notify(method, params_of(params, "notify"), opts)
end

-- Loaded when they are first used.
local parts = {
  permissions = function()
    return require("hermes.api.permissions")
  end,
  text = function()
    return require("hermes.api.text")
  end,
}

return setmetatable(M, {
  __index = function(_, name)
    return parts[name] and parts[name]()
  end,
})
