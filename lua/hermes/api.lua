---The functions of require("hermes") beside setup() and connect().
---
---No function here blocks. Those that ask an agent return the id of the
---operation at once. Its outcome reaches `on_done`, an event with the same
---`opId`, and the log.
---@class hermes.Api
local M = {}

---@class hermes.Opts
---@field agent? string default: the agent of the session, or the one used last
---@field on_done? fun(err: hermes.Error?, result: table?)
---@field force? boolean send it even if the agent has not announced that it supports it

---@param opts any
---@param who string
---@param more? string[]|false names of further options; false: the caller checks them
---@return table
local function options(opts, who, more)
  return require("hermes.check").options(opts, who, 2, more) -- a tail call has no level
end

---@param value any
---@param who string
---@param what string
---@return string
local function text_of(value, who, what)
  return require("hermes.check").need(value, "name", who, what, 2) -- a tail call has no level
end

---@class hermes.OfAgent
---@field agent? string whose session it is; two agents may use the same id

---Checks the arguments of a function that only looks at a session.
---@param who string
---@param session_id any
---@param opts any
---@param any_session? boolean nil stands for all sessions
---@return string? agent
local function agent_of(who, session_id, opts, any_session)
  if session_id ~= nil or not any_session then
    require("hermes.check").need(session_id, "name", who, "the id of the session", 3)
  end
  return require("hermes.check").options(opts, who, 3).agent
end

---@param method string
---@param params table|fun(): table
---@param opts table
---@param prefix? string
---@return string id
local function request(method, params, opts, prefix)
  return require("hermes.rpc").request(method, params, opts, prefix)
end

---------------------------------------------------------------------------
-- Agents.

---Stop agents: one, several, or all with nil.
---@param names? string|string[]
---@param opts? hermes.Opts
---@return string id
function M.disconnect(names, opts)
  if names ~= nil then
    require("hermes.check").need(names, "names", "disconnect", "the names of agents")
  end
  local list = type(names) == "string" and { names } or names or {}
  opts = options(opts, "disconnect")
  return require("hermes.rpc").call("disconnect", { agents = list }, {
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

---List the agents that connect() knows by name: the presets, those of setup() and, after `update`,
---those of a registry. The result has `agents`.
---@param opts? hermes.AgentsOpts
---@return string id
function M.agents(opts)
  opts = options(opts, "agents", { "update", "url" })
  local payload = { update = opts.update or false, url = opts.url }
  return require("hermes.rpc").call("agents", payload, {
    method = "agents",
    on_done = opts.on_done,
  })
end

---Sign in with one of the methods from ConnectionInitialized. One that is for a terminal opens
---one, see hermes-login.
---@param method_id string
---@param opts? hermes.Opts
---@return string id
function M.authenticate(method_id, opts)
  text_of(method_id, "authenticate", "the id of the method")
  return request("authenticate", { methodId = method_id }, options(opts, "authenticate"))
end

---Sign out of agents: one, several, or the one used last with nil.
---@param names? string|string[]
---@param opts? hermes.Opts
---@return string ... one id for each agent
function M.logout(names, opts)
  if names ~= nil then
    require("hermes.check").need(names, "names", "logout", "the names of agents")
  end
  opts = options(opts, "logout")
  local list = type(names) == "table" and names or { names or opts.agent }
  local ops = {}
  for i = 1, math.max(#list, 1) do
    local own = vim.tbl_extend("force", opts, { agent = list[i] })
    ops[i] = request("logout", vim.empty_dict(), own)
  end
  return unpack(ops)
end

---------------------------------------------------------------------------
-- Sessions.

---@class hermes.SessionOpts: hermes.Opts
---@field cwd? string folder of the session; default: the root of the project
---@field additional_directories? string[]
---@field mcp_servers? table[]
---@field mcpServers? table[]

local session_keys =
  { "cwd", "additional_directories", "additionalDirectories", "mcp_servers", "mcpServers" }

---Start a session; its id is in the result and in SessionCreated.
---@param opts? hermes.SessionOpts
---@return string id
function M.create_session(opts)
  opts = options(opts, "create_session", session_keys)
  return request("session/new", function()
    return require("hermes.params").session(opts)
  end, opts)
end

---Reopen a session of the agent and replay its history.
---@param session_id string
---@param opts? hermes.SessionOpts
---@return string id
function M.load_session(session_id, opts)
  text_of(session_id, "load_session", "the id of the session")
  opts = options(opts, "load_session", session_keys)
  return request("session/load", function()
    return require("hermes.params").session(opts, session_id)
  end, opts)
end

---Reopen a session of the agent without its history.
---@param session_id string
---@param opts? hermes.SessionOpts
---@return string id
function M.resume_session(session_id, opts)
  text_of(session_id, "resume_session", "the id of the session")
  opts = options(opts, "resume_session", session_keys)
  return request("session/resume", function()
    return require("hermes.params").session(opts, session_id)
  end, opts)
end

---Copy a session: the copy knows what the session has said so far, and goes its own way from there.
---Its id is in the result and in SessionForked.
---@param session_id string
---@param opts? hermes.SessionOpts default of `cwd`: the folder of the session
---@return string id
function M.fork_session(session_id, opts)
  text_of(session_id, "fork_session", "the id of the session")
  opts = options(opts, "fork_session", session_keys)
  return request("session/fork", function()
    local origin = require("hermes.state").session(session_id, opts.agent) or {}
    local own = vim.tbl_extend("keep", opts, { cwd = origin.cwd })
    return require("hermes.params").session(own, session_id)
  end, opts)
end

---List the sessions that the agent has stored.
---@param opts? { cwd?: string, cursor?: string, agent?: string, on_done?: function }
---@return string id
function M.list_sessions(opts)
  opts = options(opts, "list_sessions", { "cwd", "cursor" })
  local params = vim.empty_dict()
  params.cwd, params.cursor = opts.cwd, opts.cursor
  return request("session/list", params, opts)
end

---End a session and free what it holds.
---@param session_id string
---@param opts? hermes.Opts
---@return string id
function M.close_session(session_id, opts)
  text_of(session_id, "close_session", "the id of the session")
  return request("session/close", { sessionId = session_id }, options(opts, "close_session"))
end

---Delete sessions that the agent has stored.
---@param ids string|string[]
---@param opts? hermes.Opts
---@return string ... one id for each session
function M.delete_session(ids, opts)
  opts = options(opts, "delete_session")
  local list = type(ids) == "table" and ids or { ids }
  text_of(list[1], "delete_session", "the id of the session")
  require("hermes.check").need(list, "strings", "delete_session", "the ids of sessions")
  local ops = {}
  for _, id in ipairs(list) do
    ops[#ops + 1] = request("session/delete", { sessionId = id }, opts)
  end
  return unpack(ops)
end

---Choose one of `modes()`: with the config option of the category "mode", or with session/set_mode
---if the agent does not offer one.
---@param session_id string
---@param mode string id of one of the session's modes
---@param opts? hermes.Opts
---@return string id
function M.set_mode(session_id, mode, opts)
  text_of(session_id, "set_mode", "the id of the session")
  text_of(mode, "set_mode", "the mode")
  opts = options(opts, "set_mode")
  return require("hermes.modes").set(session_id, mode, opts)
end

---Choose one of `models()`: with session/set_model, which agents with `models` offer, otherwise
---with the config option of the category "model".
---@param session_id string
---@param model string its id
---@param opts? hermes.Opts
---@return string id
function M.set_model(session_id, model, opts)
  text_of(session_id, "set_model", "the id of the session")
  text_of(model, "set_model", "the model")
  opts = options(opts, "set_model")
  return require("hermes.models").set(session_id, model, opts)
end

M.set_session_model = M.set_model

---The choices of `set_model` for the session. A copy; nil when there is nothing to choose.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.Models?
function M.models(session_id, opts)
  return require("hermes.models").get(session_id, agent_of("models", session_id, opts))
end

---The choices of `set_mode` for the session. A copy; nil when there is nothing to choose.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.acp.SessionModeState?
function M.modes(session_id, opts)
  return require("hermes.modes").get(session_id, agent_of("modes", session_id, opts))
end

---The choices of `set_config_option` for the session. A copy; empty when there are none.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.acp.SessionConfigOption[]
function M.config_options(session_id, opts)
  local agent = agent_of("config_options", session_id, opts)
  return require("hermes.state").get(session_id, "configOptions", agent) or {}
end

---@param session_id any
---@param option any
---@param who string
local function check_option(session_id, option, who)
  local need = require("hermes.check").need
  need(session_id, "name", who, "the id of the session", 3)
  need(option, "table", who, "the option", 3)
  need(option.id, "name", who, "the id of the option", 3)
  if type(option.value) ~= "boolean" then
    need(option.value, "string", who, "the value", 3)
  end
end

---@param session_id string
---@param option { id: string, value: string|boolean }
---@param opts? hermes.Opts
---@return string id
function M.set_config_option(session_id, option, opts)
  check_option(session_id, option, "set_config_option")
  local params = require("hermes.config_options").params(session_id, option.id, option.value)
  return request("session/set_config_option", params, options(opts, "set_config_option"))
end

M.set_session_config_option = M.set_config_option

---The options of the model in use: those of the category "model_config". A copy; empty when there
---are none.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.acp.SessionConfigOption[]
function M.model_configurations(session_id, opts)
  local agent = agent_of("model_configurations", session_id, opts)
  local session = require("hermes.state").session(session_id, agent)
  return vim.deepcopy(require("hermes.config_options").all(session, "model_config"))
end

---Change one of `model_configurations()`.
---@param session_id string
---@param option { id: string, value: string|boolean }
---@param opts? hermes.Opts
---@return string id
function M.configure_model(session_id, option, opts)
  check_option(session_id, option, "configure_model")
  opts = options(opts, "configure_model")
  local set = require("hermes.config_options").set
  return set(session_id, "model_config", option.id, option.value, opts)
end

---The choices of `set_thought_level`. A copy; nil when there is nothing to choose.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.ThoughtLevels?
function M.thought_levels(session_id, opts)
  local agent = agent_of("thought_levels", session_id, opts)
  return require("hermes.config_options").thought_levels(session_id, agent)
end

---Choose how much the model thinks: one of `thought_levels()`.
---@param session_id string
---@param level string its value
---@param opts? hermes.Opts
---@return string id
function M.set_thought_level(session_id, level, opts)
  text_of(session_id, "set_thought_level", "the id of the session")
  text_of(level, "set_thought_level", "the level")
  opts = options(opts, "set_thought_level")
  return require("hermes.config_options").set(session_id, "thought_level", nil, level, opts)
end

---------------------------------------------------------------------------
-- Turns.

---@param who string
---@param session_id any
---@param content any
---@param opts any
---@return string prompt_id
local function send_prompt(who, session_id, content, opts)
  local check = require("hermes.check")
  check.need(session_id, "name", who, "the id of the session", 3)
  local blocks, err = require("hermes.params").blocks(content)
  if not blocks then
    error(("hermes.%s: %s"):format(who, err), 3)
  end
  opts = vim.tbl_extend("force", {}, check.options(opts, who, 3))
  opts.now = who == "steer" or nil
  return request("session/prompt", { sessionId = session_id, prompt = blocks }, opts, "prompt")
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

---Send a prompt at once: the running turn is cancelled, and the prompt goes before those that wait.
---@param session_id string
---@param content string|table|table[]
---@param opts? hermes.Opts
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
  text_of(session_id, "cancel", "the id of the session")
  opts = options(opts, "cancel")
  local rpc = require("hermes.rpc")
  local agent = rpc.agent_for(opts, session_id)
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
  text_of(request_id, "respond", "the id of the request")
  return require("hermes.answers").respond(request_id, value)
end

---Answer a request of an agent with an error.
---@param request_id string
---@param message? string
---@param code? integer of JSON-RPC, else -32603
---@return boolean first
function M.reject(request_id, message, code)
  text_of(request_id, "reject", "the id of the request")
  return require("hermes.answers").reject(request_id, message, code)
end

---Let Hermes answer a request of an agent as if nothing else did.
---@param request_id string
---@return boolean first
function M.default(request_id)
  text_of(request_id, "default", "the id of the request")
  return require("hermes.answers").default(request_id)
end

---Answer all requests of one kind: with the return value of `fn`, or with its
---second argument, now or later. nil instead of `fn` restores the default.
---@param key string event or method, extension methods included
---@param fn? fun(data: table, answer: hermes.Answer): any
function M.on_request(key, fn)
  text_of(key, "on_request", "the event or method")
  if fn ~= nil and type(fn) ~= "function" then
    error(("hermes.on_request: expected a function, not a %s"):format(type(fn)), 2)
  end
  local problem = require("hermes.config_check").handler_problem(key)
  if problem then
    error("hermes.on_request: " .. problem, 2)
  end
  require("hermes.answers").on_request(key, fn)
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
  return require("hermes.events").on(names, fn, "on")
end

---Listen to an event once.
---@param names string|string[]
---@param fn fun(data: table, name: string)
---@return fun() off
function M.once(names, fn)
  return require("hermes.events").on(names, fn, "once")
end

---nvim_create_autocmd with the names of events. The arguments are the same, but
---`pattern` selects session ids or agents.
---@param names string|string[]
---@param opts vim.api.keyset.create_autocmd
---@return integer id of the autocommand
function M.create_autocmd(names, opts)
  return require("hermes.events").create_autocmd(names, opts)
end

---------------------------------------------------------------------------
-- Rules.

---Rules that answer permission questions before they are asked.
M.permissions = {}

---@param change "add"|"remove"|"list"
---@param rule? hermes.Rule
---@param opts? hermes.Opts
---@return string id
local function rules(change, rule, opts)
  local who = "permissions." .. change
  opts = options(opts, who)
  local payload = {}
  if change ~= "list" then
    local problem = require("hermes.config_check").rule_problem(rule, "the rule")
    if problem then
      error(("hermes.%s: %s"):format(who, problem), 2) -- the tail calls above leave no trace
    end
    payload[change] = require("hermes.config_wire").rule(rule)
    payload[change].scope = rule.scope or (rule.session and "session" or "always")
  end
  return require("hermes.rpc").call("rules", payload, { method = who, on_done = opts.on_done })
end

---Add a rule. Without a `scope` it applies always, or with `session` until that
---session ends. The result has all `rules`.
---@param rule hermes.Rule
---@param opts? hermes.Opts
---@return string id
function M.permissions.add(rule, opts)
  return rules("add", rule, opts)
end

---Remove every rule equal to this one.
---@param rule hermes.Rule
---@param opts? hermes.Opts
---@return string id
function M.permissions.remove(rule, opts)
  return rules("remove", rule, opts)
end

---Get the rules in force, as `rules` of the result.
---@param opts? hermes.Opts
---@return string id
function M.permissions.list(opts)
  return rules("list", nil, opts)
end

---What a permission request is about, as lines that are safe to show: the facts that decide come
---first.
---@param data table data of PermissionRequest
---@param width? integer cells of a line, by default 100
---@return string[] lines
---@return boolean whole false when they are too long to show all that decides
function M.permissions.details(data, width)
  require("hermes.check").need(data, "table", "permissions.details", "the data", 3)
  return require("hermes.permission").details(data, width)
end

---What a dialog of a permission request offers: the options of the agent, those that refuse first,
---and the rules that would have answered it. A choice with a `rule` is also added with
---permissions.add().
---@param data table data of PermissionRequest
---@return hermes.PermissionChoice[]
function M.permissions.choices(data)
  require("hermes.check").need(data, "table", "permissions.choices", "the data", 3)
  return require("hermes.permission").choices(data)
end

---------------------------------------------------------------------------
-- Texts of agents.

---Makes texts of agents safe to show.
M.text = {}

---One line: control characters, invisible ones and those that reorder the line become visible
---escapes, and so do line breaks.
---@param value any
---@param max? integer bytes, by default 4096
---@return string
function M.text.line(value, max)
  return require("hermes.text").line(value, max)
end

---The lines of a text, each as `text.line` shows it.
---@param value any
---@param max? integer lines; a last line says how many are missing
---@return string[]
function M.text.lines(value, max)
  return require("hermes.text").lines(value, max)
end

---The difference between two texts as a unified diff, not yet safe to show.
---@param old string
---@param new string
---@return string[]? lines nil when comparing the texts would take too long
function M.text.diff(old, new)
  return require("hermes.diff").quick(old, new)
end

---------------------------------------------------------------------------
-- Commands that agents run.

---The commands of agents that are remembered, of one session or of all, the
---oldest first. Copies.
---@param session_id? string
---@param opts? hermes.OfAgent
---@return hermes.Terminal[]
function M.terminals(session_id, opts)
  local agent = agent_of("terminals", session_id, opts, true)
  return require("hermes.output").list(session_id, agent)
end

---What is remembered of one command and of its output.
---@param session_id string
---@param terminal_id string
---@param opts? hermes.OfAgent
---@return hermes.Terminal? terminal nil when it is not known
---@return string? output its end; `dropped` of the terminal says how much is missing before it
function M.terminal_output(session_id, terminal_id, opts)
  local agent = agent_of("terminal_output", session_id, opts)
  text_of(terminal_id, "terminal_output", "the id of the terminal")
  return require("hermes.output").get(session_id, terminal_id, agent)
end

---End a command of an agent and everything in its process group. The agent sees
---that a signal ended it.
---@param session_id string
---@param terminal_id string
---@param opts? hermes.Opts
---@return string id
function M.kill_terminal(session_id, terminal_id, opts)
  text_of(session_id, "kill_terminal", "the id of the session")
  text_of(terminal_id, "kill_terminal", "the id of the terminal")
  opts = options(opts, "kill_terminal")
  local rpc = require("hermes.rpc")
  local agent = rpc.agent_for(opts, session_id) or ""
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
  return require("hermes.async").run(fn, on_done)
end

---What is known about all agents and sessions, or about one session, or one member of that. A copy.
---@param session_id? string
---@param member? string
---@param opts? hermes.OfAgent
---@return any
function M.state(session_id, member, opts)
  local agent = agent_of("state", session_id, opts, true)
  return require("hermes.state").get(session_id, member, agent)
end

---For a statusline: `%{%v:lua.require'hermes'.statusline()%}`.
---@param opts? hermes.StatuslineOpts
---@return string
function M.statusline(opts)
  return require("hermes.attention").statusline(
    options(opts, "statusline", { "session_id", "format" })
  )
end

---The connected agents, sorted by name. A copy, without their sessions.
---@return hermes.ConnectionInfo[]
function M.connections()
  return require("hermes.running").connections()
end

---The open sessions at a glance, the one used last first. A copy, without what they have said and
---done.
---@param opts? hermes.SessionsOpts
---@return hermes.SessionInfo[]
function M.sessions(opts)
  opts = options(opts, "sessions", { "session_id", "waiting_first" })
  return require("hermes.running").sessions(opts)
end

---The requests of agents that wait for an answer, the oldest first.
---@return hermes.PendingRequest[]
function M.pending()
  return require("hermes.answers").pending()
end

---Buffers with unsaved edits whose files changed on disk and cannot be merged, most of them because
---the same lines changed.
---@return hermes.Conflict[]
function M.conflicts()
  return require("hermes.conflict").list()
end

---@class hermes.ResolveOpts
---@field bufnr? integer the current buffer by default
---@field on_done? fun(problem: string?)

---Ends a conflict of a buffer with its file, or shows both texts.
---@param choice hermes.conflict.Choice
---@param opts? hermes.ResolveOpts
function M.resolve_conflict(choice, opts)
  local conflict = require("hermes.conflict")
  opts = options(opts, "resolve_conflict", { "bufnr" })
  if not vim.tbl_contains(conflict.choices, choice) then
    error('hermes.resolve_conflict: the choice must be "mine", "theirs" or "both"', 2)
  end
  local buf = opts.bufnr or vim.api.nvim_get_current_buf()
  if not vim.api.nvim_buf_is_loaded(buf) then
    error(("hermes.resolve_conflict: buffer %d is not loaded"):format(buf), 2)
  end
  conflict.resolve(buf, choice, opts.on_done or function(problem)
    if problem then
      require("hermes.log").notify(vim.log.levels.ERROR, problem)
    end
  end)
end

---What an agent has last written beside the protocol, on its standard error. Also of an agent that
---has ended. Not yet safe to show.
---@param agent string
---@return string[] lines
function M.agent_log(agent)
  return require("hermes.agent_log").lines(text_of(agent, "agent_log", "the name of the agent"))
end

---@param params any
---@param who string
---@return table
local function params_of(params, who)
  if params ~= nil then
    require("hermes.check").need(params, "table", who, "the params", 3)
  end
  return params and next(params) ~= nil and params or vim.empty_dict() -- {} would become a list
end

---Install the host of the release that this version of the plugin pins, without Go. :Hermes update
---and :Hermes build call it, too; nothing is ever downloaded without such a call.
---@param opts? hermes.InstallOpts
---@return string id
function M.install(opts)
  opts = options(opts, "install", { "file", "timeout", "update" })
  return require("hermes.install").start(opts)
end

---Call any method of an agent, including extensions.
---@param agent? string nil: the agent of the session, or the one used last
---@param method string
---@param params? table
---@param on_done? fun(err: hermes.Error?, result: table?)
---@return string id
function M.request(agent, method, params, on_done)
  text_of(method, "request", "the method")
  local opts = options({ agent = agent, on_done = on_done, force = true }, "request")
  return request(method, params_of(params, "request"), opts)
end

---Send any notification to an agent.
---@param agent? string
---@param method string
---@param params? table
---@return string id
function M.notify(agent, method, params)
  text_of(method, "notify", "the method")
  local opts = options({ agent = agent }, "notify")
  return require("hermes.rpc").notify(method, params_of(params, "notify"), opts)
end

return M
