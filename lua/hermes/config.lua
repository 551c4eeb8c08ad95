---The keys of setup(), with their defaults.
local M = {}

---@class hermes.AgentConfig
---@field command? string program, looked up as a shell does
---@field args? string[]
---@field env? table<string, string> added to the environment
---@field cwd? string folder the agent starts in
---@field pass_env? string[] more variables to pass on; a final * matches any ending
---@field inherit_env? boolean give the agent the whole environment
---@field reconnect? boolean reconnect when the connection breaks; default as in setup()
---@field terminal_access? boolean|"ask" whether it may run commands; overrides `permissions`
---@field quirks? hermes.Quirks
---@field paths? table<string, string> what folders here are called where the agent runs
---
---An agent that is already running, here or elsewhere, is reached by another protocol: "socket"
---takes `path`; "tcp" takes `host`, `port`, `token`, `tls`; "websocket" and "http" take `url`,
---`token`, `headers`.
---@field protocol? "stdio"|"socket"|"tcp"|"websocket"|"http"
---@field path? string absolute path of a Unix socket
---@field host? string
---@field port? integer
---@field tls? boolean encrypt; without it, only addresses of this machine are allowed
---@field url? string
---@field token? string the token of the server, 32 characters or more
---@field headers? table<string, string> sent with every request

---@class hermes.Quirks what to do differently for an agent
---@field missing_file? "error"|"empty" "empty": a missing file reads as an empty one, for
---agents that create files only then
---@field one_session? boolean start a process for each session, for agents that mix up sessions
---@field ignores_eof? boolean signal at once, for agents that do not end with their input
---@field unannounced? boolean send also what the agent has not announced that it supports

---@class hermes.Rule answers a question for permission before it is asked
---@field action "allow"|"deny"
---@field agent? string
---@field kind? hermes.acp.ToolKind
---@field path? string pattern for every path of the tool call: * and ? within a name, ** for any
---number of names; without a leading slash it matches at any depth; never allows a command
---@field command? string[] the first words of the command
---@field exact? boolean the command is these words and nothing else
---@field env? string[] names of variables that may come with an allowed command
---@field cwd? string pattern, like `path`, for the folder of an allowed command; without it, the
---folders of the session
---@field scope? "once"|"session"|"always" of rules added while Hermes runs
---@field session? string id, for the scope "session"

---@class hermes.Config
M.defaults = {
  ---Agents by name, in addition to the presets.
  ---@type table<string, hermes.AgentConfig>
  agents = {},
  ---Files or folders that mark the root of a project; create_session starts there.
  root_markers = { ".git" },
  ---false removes the capability from agents. terminal_access may be "ask": every command is shown
  ---to you, exactly as it would run, and waits for your answer, unless you have just allowed that
  ---very command. true applies only to agents that run here: commands of other agents are always
  ---shown, unless the agent's own terminal_access, in `agents`, is true.
  permissions = {
    fs_read_access = true,
    fs_write_access = true,
    terminal_access = true, ---@type boolean|"ask"
    request_permissions = true,
    elicitation = true,
    hard_links = false, -- serve files that have other names, too; a write separates the name
    rules = {}, ---@type hermes.Rule[]
    remember = false, -- keep the rules of scope "always" that permissions.add() makes
  },
  ---How agents' questions come up.
  questions = {
    style = "window", -- or "select": a line of text, or your own vim.ui.select()
    open = true, -- the window opens by itself, without focus, while you type nothing
  },
  ---What draws your attention to a session.
  attention = {
    waiting = true, -- a message when a session waits for your answer
    done = true, -- ... when a turn has ended
    failed = true, -- ... when a turn or a connection has failed
    when = "away", -- "always", or only for sessions of buffers that you do not see now: "away"
    notify = nil, ---@type (fun(notice: hermes.Notice): any)? instead of vim.notify()
    bell = false, -- ring the terminal's bell with each message
    title = false, -- show in the title of the terminal how many sessions wait or run
    progress = false, -- progress messages of running turns, in Neovim 0.12
  },
  buffer = {
    auto_save = true, -- write the file after an agent edited its buffer
    refresh = true, -- show changes that agents make on disk by their own means
  },
  ---How much the blocks of hermes.context hold, in bytes.
  context = {
    limit = 256 * 1024, -- text; a file that is larger becomes a link
    media_limit = 5 * 1024 * 1024, -- an image
  },
  ---What sessions start with unless the call says otherwise: a table, or a function of the folder
  ---that returns one. A .hermes.json in the folder, once trusted, adds to it.
  ---@type hermes.SessionDefaults|fun(cwd: string): hermes.SessionDefaults?
  session_defaults = {},
  ---What is kept of the commands that agents run.
  terminals = {
    count = 50, -- terminals; the oldest that have ended go first
    bytes = 256 * 1024, -- of the output of each
    scrollback = 10000, -- lines of a terminal that is shown
    keys = true, -- map keys in the buffers of hermes.terminals
  },
  ---What the traffic inspector keeps, and whether it shows secrets.
  traffic = {
    count = 10000, -- messages
    bytes = 16 * 1024 * 1024, -- of all messages
    raw = false, -- secrets are not replaced, in the event TrafficMessage either
    keys = true, -- map keys in the buffers of hermes.traffic
  },
  ---Which broken connections are re-established: those to agents that run elsewhere, and those to
  ---agents that Hermes starts, which are then restarted.
  reconnect = { remote = true, process = false },
  ---Handlers of agents' requests: function(data, answer) by event or method.
  ---@type table<string, fun(data: table, answer: hermes.Answer): any>
  handlers = {},
  ---Requests of agents that wait for a handler or listener instead of the default, by event:
  ---{ PermissionRequest = false }.
  ---@type table<string, boolean>
  defaults = {},
  events = {
    off = {}, ---@type string[] names of events that do not fire, with * for any letters
  },
  compat = {
    flat = true, -- members of the update are also in the data itself
    seed = false, -- nvim_create_autocmd accepts the names of Hermes' events
  },
  ---Milliseconds; 0 means the host's default, and no limit for `answer`.
  timeouts = {
    initialize = 0,
    new_session = 0,
    cancel = 0,
    silence = 0,
    answer = 0,
    host = 0,
  },
  host = {
    ---Command line of the host, instead of the one that Hermes finds.
    ---@type string[]?
    cmd = nil,
    ---The address that has the folders of the releases, for `:Hermes install`. A mirror need not be
    ---trusted.
    url = "https://github.com/hermes-nvim/hermes/releases/download",
  },
  log = {
    level = vim.log.levels.INFO,
    max_size = 5 * 1024 * 1024, -- bytes at which a log file is set aside; 0: never
    keep = 2, -- files that are set aside and kept, of each log
  },
}

---Keys whose members the user names.
local open = { agents = true, handlers = true, defaults = true, ["permissions.rules"] = true }

---The kind of a key's value, where its default does not show it; see
---hermes.check.
local types = {
  ["attention.notify"] = "callback",
  ["events.off"] = "strings",
  ["host.cmd"] = "command",
  ["host.url"] = "url",
  ["log.keep"] = "amount",
  ["log.level"] = "integer",
  ["log.max_size"] = "amount",
  ["terminals.bytes"] = "count",
  ["terminals.count"] = "count",
  ["terminals.scrollback"] = "count",
  ["timeouts.answer"] = "time",
  ["timeouts.host"] = "time",
  ["timeouts.cancel"] = "time",
  ["timeouts.initialize"] = "time",
  ["traffic.bytes"] = "count",
  ["traffic.count"] = "count",
  root_markers = "strings",
  session_defaults = "table_or_function",
}

---Values of another type that a key also accepts.
local words = {
  ["permissions.terminal_access"] = { ask = true },
  terminal_access = { ask = true }, -- of an agent
}

---The values of keys that take one of some words.
local choices = {
  ["attention.when"] = { always = true, away = true },
  ["questions.style"] = { select = true, window = true },
}

---Keys of the Rust plugin of the same name that have no meaning here. They only
---warn, so that its configuration still works while you migrate.
local foreign = {
  download = "nothing is downloaded by itself; :Hermes install does it",
  distributions = "agents are installed by their own means",
  progress = "listen to the events instead",
  session = "agents keep their sessions",
  terminal = "commands run in the host; see :help hermes-terminals",
  ["permissions.send_notifications"] = "hear PermissionRequest",
  ["log.stdio"] = "the log is a file",
  ["log.notification"] = "the log is a file",
  ["log.message"] = "the log is a file",
  ["log.file"] = "the log is at stdpath('log')",
}

local current = vim.deepcopy(M.defaults)

---@return hermes.Config
function M.get()
  return current
end

local function keys(t)
  local list = vim.tbl_keys(t)
  table.sort(list)
  return table.concat(list, ", ")
end

---Says what is wrong with a value that may also be one of some words.
---@param key string of `words`
---@param value any
---@param want string
---@return string? problem
local function word_problem(key, value, want)
  if type(value) ~= want and not words[key][value] then
    return ("must be a %s or one of %s, not %s"):format(want, keys(words[key]), vim.inspect(value))
  end
end

---@param given table
---@param defaults table
---@param path string
---@return table checked a copy without keys of other plugins
local function check(given, defaults, path)
  local checked = {}
  for key, value in pairs(given) do
    local at = path == "" and tostring(key) or path .. "." .. tostring(key)
    local default = defaults[key]
    local want = types[at] or type(default)
    if foreign[at] then
      require("hermes.log").notify(
        vim.log.levels.WARN,
        ("setup: %s has no effect: %s"):format(at, foreign[at])
      )
    elseif default == nil and not types[at] then
      local prefix = at:sub(1, #at - #tostring(key))
      error("hermes.setup: " .. require("hermes.check").unknown(prefix, key, defaults), 0)
    elseif words[at] and word_problem(at, value, want) then
      error(("hermes.setup: %s %s"):format(at, word_problem(at, value, want)), 0)
    elseif choices[at] and not choices[at][value] then
      local valid = keys(choices[at])
      error(("hermes.setup: %s must be one of %s, not %s"):format(at, valid, vim.inspect(value)), 0)
    elseif not words[at] and require("hermes.check").problem(value, want) then
      error(("hermes.setup: %s %s"):format(at, require("hermes.check").problem(value, want)), 0)
    else
      if want == "table" and not open[at] then
        value = check(value, default, at)
      end
      checked[key] = value
    end
  end
  return checked
end

local agent_fields = {
  command = "string",
  args = "strings",
  env = "strings_by_name",
  cwd = "string",
  pass_env = "strings",
  inherit_env = "boolean",
  quirks = "table",
  paths = "strings_by_name",
  reconnect = "boolean",
  terminal_access = "boolean",
  protocol = "string",
  path = "string",
  host = "string",
  port = "port",
  tls = "boolean",
  url = "string",
  token = "string",
  headers = "strings_by_name",
}

local quirk_fields = {
  missing_file = "string",
  one_session = "boolean",
  ignores_eof = "boolean",
  unannounced = "boolean",
}

local protocols = { stdio = true, socket = true, tcp = true, websocket = true, http = true }

---@param path string
---@return string path with the home folder in place of a leading ~
local function expand(path)
  return vim.startswith(path, "~/") and vim.uv.os_homedir() .. path:sub(2) or path
end

---Says what is wrong with a way to start or reach an agent.
---@param agent table
---@param at string put before the names of its keys
---@return string? problem
function M.agent_problem(agent, at)
  for key, value in pairs(agent) do
    local want = agent_fields[key]
    if not want then
      return require("hermes.check").unknown(at, key, agent_fields)
    end
    local problem
    if words[key] then
      problem = word_problem(key, value, want)
    else
      problem = require("hermes.check").problem(value, want)
    end
    if problem then
      return ("%s%s %s"):format(at, key, problem)
    end
  end
  if agent.protocol and not protocols[agent.protocol] then
    return ("%sprotocol: unknown protocol %q; valid protocols: %s"):format(
      at,
      agent.protocol,
      keys(protocols)
    )
  end
  for here, there in pairs(agent.paths or {}) do
    for _, folder in ipairs({ expand(here), there }) do
      if not folder:find("^/") and not folder:find("^%a:[/\\]") then
        return ("%spaths: %q is not an absolute path"):format(at, folder)
      end
    end
  end
  for key, value in pairs(agent.quirks or {}) do
    local want = quirk_fields[key]
    if not want then
      return require("hermes.check").unknown(at .. "quirks.", key, quirk_fields)
    elseif type(value) ~= want then
      return ("%squirks.%s must be a %s, not a %s"):format(at, key, want, type(value))
    elseif key == "missing_file" and value ~= "error" and value ~= "empty" then
      return ('%squirks.missing_file must be "error" or "empty", not %s'):format(
        at,
        vim.inspect(value)
      )
    end
  end
end

---An agent in the form that the host expects: Lua's empty table would arrive as
---a list.
---@param agent hermes.AgentConfig
---@return table
function M.agent_for_host(agent)
  local wire = vim.tbl_extend("force", {}, agent)
  if agent.paths then
    wire.paths = {}
    for here, there in pairs(agent.paths) do
      wire.paths[expand(here)] = there
    end
  end
  for _, key in ipairs({ "env", "headers", "quirks", "paths" }) do
    if wire[key] and next(wire[key]) == nil then
      wire[key] = nil
    end
  end
  return wire
end

local rule_fields = {
  action = "string",
  agent = "string",
  kind = "string",
  path = "string",
  command = "strings",
  exact = "boolean",
  env = "strings",
  cwd = "string",
  scope = "string",
  session = "string",
}

---Says what is wrong with a rule. A misspelt key would make the rule wider.
---@param rule any
---@param at string its place, for the message
---@return string? problem
function M.rule_problem(rule, at)
  if type(rule) ~= "table" then
    return ("%s must be a table, not a %s"):format(at, type(rule))
  end
  for key, value in pairs(rule) do
    local want = rule_fields[key]
    if not want then
      return require("hermes.check").unknown(at .. ".", key, rule_fields)
    end
    local problem = require("hermes.check").problem(value, want)
    if problem then
      return ("%s.%s %s"):format(at, key, problem)
    end
  end
  if rule.action ~= "allow" and rule.action ~= "deny" then
    return ('%s.action must be "allow" or "deny", not %s'):format(at, vim.inspect(rule.action))
  end
  if rule.command and #rule.command == 0 then
    return ("%s.command must hold the first words of a command"):format(at)
  end
  if rule.action == "allow" and rule.command and rule.path then
    return ("%s: a command may touch any path; a rule that allows has one or the other"):format(at)
  end
  if rule.exact and not (rule.command and rule.action == "allow") then
    return ("%s: exact is for rules that allow a command"):format(at)
  end
  if (rule.env or rule.cwd) and (rule.action ~= "allow" or rule.path) then
    return ("%s: env and cwd are for rules that allow a command"):format(at)
  end
end

---A rule in the form that the host expects.
---@param rule hermes.Rule
---@return table
function M.rule_for_host(rule)
  local wire = vim.tbl_extend("force", {}, rule)
  for _, key in ipairs({ "path", "cwd" }) do
    wire[key] = wire[key] and expand(wire[key])
  end
  return wire
end

local function check_rules(rules)
  if not vim.islist(rules) then
    error("hermes.setup: permissions.rules must be a list", 0)
  end
  for i, rule in ipairs(rules) do
    local at = ("permissions.rules[%d]"):format(i)
    local problem = M.rule_problem(rule, at)
    if not problem and (rule.scope or rule.session) then
      problem = at .. ": rules of setup() hold always and have no scope"
    end
    if problem then
      error("hermes.setup: " .. problem, 0)
    end
  end
end

local function check_agents(agents)
  for name, agent in pairs(agents) do
    local at = ("agents.%s"):format(name)
    local problem = type(name) ~= "string"
        and "agents must have names: { name = { command = ... } }"
      or type(agent) ~= "table" and ("%s must be a table, not a %s"):format(at, type(agent))
      or M.agent_problem(agent, at .. ".")
    if problem then
      error("hermes.setup: " .. problem, 0)
    end
  end
end

---Says what is wrong with the name of a handler. Methods of extensions may have any name, but not
---almost that of an event.
---@param name any
---@return string? problem
function M.handler_problem(name)
  local events = require("hermes.events")
  if type(name) ~= "string" or not name:find("^%u%a+$") or events.canonical(name) then
    return nil
  end
  local meant = require("hermes.check").similar(name, events.names())
  return meant and ("there is no event %q; did you mean %q?"):format(name, meant) or nil
end

local function check_handlers(handlers)
  for name, handler in pairs(handlers) do
    local problem = M.handler_problem(name)
    if problem then
      error("hermes.setup: handlers: " .. problem, 0)
    end
    if type(handler) ~= "function" then
      error(
        ("hermes.setup: handlers.%s must be a function, not a %s"):format(name, type(handler)),
        0
      )
    end
  end
end

---@param defaults table<any, any>
local function check_defaults(defaults)
  local events = require("hermes.events")
  for name, value in pairs(defaults) do
    local canonical = type(name) == "string" and events.canonical(name)
    if not canonical or not events.is_request(canonical) then
      local requests = vim.tbl_filter(events.is_request, events.names())
      local problem = require("hermes.check").unknown("defaults.", name, requests)
      error("hermes.setup: " .. problem, 0)
    elseif type(value) ~= "boolean" then
      local text = "hermes.setup: defaults.%s must be a boolean, not a %s"
      error(text:format(name, type(value)), 0)
    end
  end
end

---@param patterns string[]
local function check_events(patterns)
  local events = require("hermes.events")
  for _, pattern in ipairs(patterns) do
    if #events.matching(pattern) == 0 then
      local meant = require("hermes.check").similar(pattern, events.names())
      local text = "hermes.setup: events.off: %q is not the name of an event%s"
      error(text:format(pattern, meant and ("; did you mean %q?"):format(meant) or ""), 0)
    end
  end
end

---Lays `opts` over the configuration. Nothing changes if `opts` is wrong.
---@param opts table?
function M.set(opts)
  opts = opts or {}
  if type(opts) ~= "table" then
    error(("hermes.setup: expected a table, not a %s"):format(type(opts)), 0)
  end
  opts = check(opts, M.defaults, "")
  check_agents(opts.agents or {})
  check_handlers(opts.handlers or {})
  check_rules(opts.permissions and opts.permissions.rules or {})
  check_defaults(opts.defaults or {})
  local problem = require("hermes.project").problem(opts.session_defaults or {})
  if problem then
    error("hermes.setup: " .. problem, 0)
  end
  check_events(opts.events and opts.events.off or {})
  current = vim.tbl_deep_extend("force", current, opts)
  current.session_defaults = opts.session_defaults or current.session_defaults
  if opts.events and opts.events.off then
    current.events.off = vim.list_slice(opts.events.off) -- an empty list, too
  end
end

---Resets the configuration to the defaults.
function M.reset()
  current = vim.deepcopy(M.defaults)
end

---@return string the file that keeps the rules
function M.rules_path()
  return vim.fs.normalize(vim.fn.stdpath("state")) .. "/hermes/permissions.json"
end

---The part of the configuration that the host needs.
---@return table
function M.for_host()
  return {
    agents = next(current.agents) and vim.tbl_map(M.agent_for_host, current.agents)
      or vim.empty_dict(),
    permissions = {
      fs_read_access = current.permissions.fs_read_access,
      fs_write_access = current.permissions.fs_write_access,
      terminal_access = current.permissions.terminal_access,
      request_permissions = current.permissions.request_permissions,
      elicitation = current.permissions.elicitation,
      hard_links = current.permissions.hard_links,
      rules = #current.permissions.rules > 0
          and vim.tbl_map(M.rule_for_host, current.permissions.rules)
        or nil,
      remember = current.permissions.remember and M.rules_path() or nil,
    },
    timeouts = current.timeouts,
    reconnect = current.reconnect,
    traffic = require("hermes.events").wants_traffic(),
    raw_traffic = current.traffic.raw,
  }
end

return M
