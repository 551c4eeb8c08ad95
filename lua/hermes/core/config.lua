---The keys of setup(), with their defaults. Configurations load this file at startup, so most
---checks are in lua/hermes/core/config_check.lua.
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
---@field shared? boolean|"manual" share its sessions with its own terminal, which is opened for
---each; "manual": you open it with hermes.shared.open()
---@field shim? boolean report every change exactly, with its turn and its tool call
---@field sandbox? hermes.SandboxConfig confine the agent and its commands; overrides `sandbox`
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
---@field elsewhere? boolean let the agent begin turns, because it is also prompted elsewhere

---@class hermes.Deciding what of a tool call the user has to see before they allow it, besides
---changes of files and locations
---@field arguments? hermes.DecidingArgument[] the members of `rawInput` in the order in which to
---show them; those that are missing here decide
---@field words boolean the title and the texts decide, because no argument says what happens
---@field unnamed? boolean the tool call changes files and does not name them
---@field outside? string[] its files that are in no folder of the session

---@class hermes.DiffPlace where the old text of a diff stands in its file
---@field diff integer which of the tool call's diffs
---@field times integer how often the old text occurs
---@field line? integer the first line of `oldText`; only a part that occurs once has one
---@field oldText? string the old text of the diff, completed to whole lines, with some lines around
---it
---@field newText? string likewise

---@class hermes.DecidingArgument
---@field name string
---@field role? "command"|"words"|"program"|"folder"|"environment"|"path"|"pattern"|"text"
---@field decides boolean
---@field inDiff? boolean a diff of the call shows it

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
  ---Confine the agents that Hermes starts, and their commands, on Linux: true, rules, a command
  ---that confines, or a function of the name of the agent that returns one of these.
  sandbox = false, ---@type hermes.SandboxConfig
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
    digits = "go", -- the number of a choice goes to it; "answer": and takes it
  },
  ---The options of the chat; see hermes.chat.Options.
  chat = {}, ---@type table
  ---How Hermes draws your attention to a session.
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
  ---The defaults of new sessions: a table, or a function of the folder that returns one. A
  ---.hermes.json in the folder, once trusted, adds to it.
  ---@type hermes.SessionDefaults|fun(cwd: string): hermes.SessionDefaults?
  session_defaults = {},
  ---How much is kept of the commands that agents run.
  terminals = {
    count = 50, -- terminals; the oldest that have ended go first
    bytes = 256 * 1024, -- of the output of each
    scrollback = 10000, -- lines of a terminal that is shown
    keys = true, -- map keys in the buffers of hermes.terminals
  },
  ---How much the traffic inspector keeps, and whether it shows secrets.
  traffic = {
    count = 10000, -- messages
    bytes = 16 * 1024 * 1024, -- of all messages
    raw = false, -- secrets are not replaced, in the event TrafficMessage either
    keys = true, -- map keys in the buffers of hermes.traffic
  },
  ---The review of what agents change in files. `review = false` turns it off: nothing is kept,
  ---scanned or loaded then.
  review = {
    enabled = true,
    view = true, -- show the hunks in buffers
    ---What ends a pending change besides a decision. "commit": you commit it. "approval": you
    ---allowed it with its diff in sight. Or a list of both.
    ---@type "decision"|"commit"|"approval"|("commit"|"approval")[]
    settle = "decision",
  },
  ---Programs in terminals; see hermes.shim, hermes.claude and hermes.shared.
  shim = {
    terminal = "auto", -- "tmux", "buffer", or a pane of tmux if Neovim runs in one: "auto"
    split = "right", -- "left", "above", "below", or where it does not show: "background"
    size = "40%", -- of the window, or in cells
    presets = {}, ---@type table<string, hermes.ProgramPreset>
  },
  ---Which broken connections are re-established. `remote`: connections to agents that run
  ---elsewhere. `process`: connections to agents that Hermes has started; it starts them again.
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
local open = {
  agents = true,
  chat = true,
  handlers = true,
  defaults = true,
  ["permissions.rules"] = true,
  ["shim.presets"] = true,
}

---The kind of a key's value, where its default does not show it; see
---hermes.check.
local types = {
  ["attention.notify"] = "callback",
  ["events.off"] = "strings",
  ["shim.size"] = "size",
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
  sandbox = "sandbox",
  session_defaults = "table_or_function",
}

---Values of another type that a key also accepts.
local words = {
  ["permissions.terminal_access"] = { ask = true },
}

---The values of keys that take one of some words.
---@type table<string, table<string, true>>
M.choices = {
  ["attention.when"] = { always = true, away = true },
  ["questions.digits"] = { answer = true, go = true },
  ["questions.style"] = { select = true, window = true },
  ["review.settle"] = { approval = true, commit = true, decision = true },
  ["shim.split"] = { above = true, background = true, below = true, left = true, right = true },
  ["shim.terminal"] = { auto = true, buffer = true, tmux = true },
}

---The keys that also take a list of words.
local lists = { ["review.settle"] = true }

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

---Less than vim.deepcopy(), and much faster the first time.
local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local copied = {}
  for key, member in pairs(value) do
    copied[key] = copy(member)
  end
  return copied
end

local current = copy(M.defaults)

---@return hermes.Config
function M.get()
  return current
end

---@param value any
---@param at string
---@return boolean whether it is a list of words that the key takes
local function chooses(value, at)
  return lists[at] ~= nil
    and type(value) == "table"
    and vim.islist(value)
    and #value > 0
    and vim.iter(value):all(function(word)
      return M.choices[at][word] == true
    end)
end

---@param given table
---@param defaults table
---@param path string
---@param warnings string[]
---@return table checked a copy without keys of other plugins
local function check(given, defaults, path, warnings)
  local checked = {}
  for key, value in pairs(given) do
    local at = path == "" and tostring(key) or path .. "." .. tostring(key)
    local default = defaults[key]
    local want = types[at] or type(default)
    local fits = type(value) == want -- most do; the checks are loaded for the others
    if foreign[at] then
      warnings[#warnings + 1] = ("setup: %s has no effect: %s"):format(at, foreign[at])
    elseif default == nil and not types[at] then
      local prefix = at:sub(1, #at - #tostring(key))
      error("hermes.setup: " .. require("hermes.core.arguments").unknown(prefix, key, defaults), 0)
    elseif M.choices[at] and not M.choices[at][value] and not chooses(value, at) then
      local valid = require("hermes.core.config_check").list(M.choices[at])
      local what = lists[at] and "%s must be one of %s, or a list of them, not %s"
        or "%s must be one of %s, not %s"
      error("hermes.setup: " .. what:format(at, valid, vim.inspect(value)), 0)
    elseif
      not fits
      and not M.choices[at]
      and require("hermes.core.config_check").problem(value, want, words[at])
    then
      local problem = require("hermes.core.config_check").problem(value, want, words[at])
      error(("hermes.setup: %s %s"):format(at, problem), 0)
    else
      if want == "table" and not open[at] then
        value = check(value, default, at, warnings)
      end
      checked[key] = value
    end
  end
  return checked
end

---Lays `opts` over the configuration. Nothing changes if `opts` is wrong.
---@param opts table?
---@return string[] warnings
function M.set(opts)
  opts = opts or {}
  if type(opts) ~= "table" then
    error(("hermes.setup: expected a table, not a %s"):format(type(opts)), 0)
  elseif type(opts.review) == "boolean" then
    opts = vim.tbl_extend("force", opts, { review = { enabled = opts.review } })
  end
  local warnings = {}
  opts = check(opts, M.defaults, "", warnings)
  local rules = opts.permissions and opts.permissions.rules
  local off = opts.events and opts.events.off
  local presets = opts.shim and opts.shim.presets
  local named = opts.agents or opts.handlers or rules or opts.defaults or off or presets
  if named or opts.chat or opts.session_defaults then
    local problem = require("hermes.core.config_check").parts_problem(opts)
    if problem then
      error("hermes.setup: " .. problem, 0)
    end
  end
  current = vim.tbl_deep_extend("force", current, opts)
  if opts.sandbox ~= nil then
    current.sandbox = opts.sandbox -- as a whole
  end
  current.session_defaults = opts.session_defaults or current.session_defaults
  if opts.events and opts.events.off then
    current.events.off = vim.list_slice(opts.events.off) -- an empty list, too
  end
  return warnings
end

---Resets the configuration to the defaults.
function M.reset()
  current = copy(M.defaults)
end

return M
