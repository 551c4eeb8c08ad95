---Sessions that the terminal UI of an agent shows, too: connect("codex", { shared = true }).
---
---The UI is the agent's own, in a pane of tmux or a terminal buffer. You prompt and answer there or
---in Neovim. Either may end without the other.
---@class hermes.Shared
local M = {}

---@class hermes.SharedOpts
---@field agent? string default: the agent of the session
---@field command? string[] the program and its first arguments; default: { "codex" }
---@field terminal? "auto"|"tmux"|"buffer" default: as in setup{shim}
---@field split? "right"|"left"|"above"|"below"|"background" default: as in setup{shim}
---@field size? integer|string default: as in setup{shim}
---@field focus? boolean go there; default false
---@field on_done? fun(err: hermes.Error?, terminal: hermes.SharedTerminal?)

---@class hermes.SharedTerminal
---@field sessionId string
---@field terminal "tmux"|"buffer"
---@field pane? string id of the pane
---@field bufnr? integer

local sockets = {} ---@type table<string, string> by session id
local terminals = {} ---@type table<string, hermes.ShimSession> by session id

---@param message string
local function fail(message)
  error({ kind = "shared", message = message }, 0)
end

---@param terminal hermes.ShimSession
local function backend(terminal)
  return terminal.terminal == "tmux" and require("hermes.shim.tmux")
    or require("hermes.shim.terminal")
end

---@param terminal hermes.ShimSession
---@param opts hermes.SharedOpts
local function start(terminal, opts)
  local id, config = terminal.sessionId, require("hermes.config").get().shim
  local key = vim.fn.sha256(id):sub(1, 16)
  if backend(terminal).find(terminal, key, "%z") then -- the name of no program: only what is marked
    return
  end
  local argv = vim.list_extend({}, opts.command or { "codex" })
  if vim.fn.executable(argv[1]) ~= 1 then
    fail(argv[1] .. " is not executable")
  end
  vim.list_extend(argv, { "resume", id, "--remote", "unix://" .. sockets[id] })
  backend(terminal).start(terminal, key, argv, {
    title = "Codex",
    split = opts.split or config.split,
    size = opts.size or config.size,
    env = { CODEX_HOME = vim.env.CODEX_HOME },
  })
end

---@param id string
---@param cwd string
---@param opts hermes.SharedOpts
---@return hermes.SharedTerminal
local function open(id, cwd, opts)
  local terminal = terminals[id]
  if not terminal or terminal.state ~= "running" then
    if not sockets[id] then
      fail("the session is not shared; connect with shared = true")
    end
    local wanted = opts.terminal or require("hermes.config").get().shim.terminal
    local where = require("hermes.shim.options").backend(wanted)
    terminal = { name = "codex", sessionId = id, cwd = cwd, root = cwd, terminal = where }
    start(terminal, opts)
    terminal.state, terminals[id] = "running", terminal
    backend(terminal).watch(terminal, function()
      terminal.state = "exited"
    end)
  end
  if opts.focus then
    backend(terminal).select(terminal)
  end
  return {
    sessionId = id,
    terminal = terminal.terminal,
    pane = terminal.pane,
    bufnr = terminal.bufnr,
  }
end

local keys = {
  agent = "name",
  command = "command",
  focus = "boolean",
  on_done = "callback",
  size = "size",
  split = "name",
  terminal = "name",
}

---Open the terminal of a session, unless it is open.
---@param session_id string
---@param opts? hermes.SharedOpts
function M.open(session_id, opts)
  local check = require("hermes.check")
  opts = opts or {}
  check.need(session_id, "name", "shared.open", "the session")
  check.need(opts, "table", "shared.open", "the options")
  for key, value in pairs(opts) do
    if not keys[key] then
      error("hermes.shared.open: " .. check.unknown("", key, keys), 2)
    end
    check.need(value, keys[key], "shared.open", key)
  end
  require("hermes.async").run(function()
    local session = require("hermes.state").session(session_id, opts.agent)
    if not session then
      fail("there is no session " .. session_id)
    end
    return open(session_id, session.cwd, opts)
  end, function(err, terminal)
    if opts.on_done then
      opts.on_done(err, terminal)
    elseif err then
      require("hermes.log").notify(vim.log.levels.ERROR, "shared.open: " .. err.message)
    end
  end)
end

local followed = {} ---@type table<string, boolean> by agent: open the terminal of its sessions

---Follows the sessions of an agent that shares them.
---@param agent string
---@param opens boolean whether the terminal is opened for each
function M.follow(agent, opens)
  local known = followed[agent] ~= nil
  followed[agent] = opens
  if known then
    return
  end
  require("hermes").on({ "SessionCreated", "SessionForked", "SessionLoaded", "SessionResumed" }, {
    agent = agent,
    callback = function(data)
      local id, socket = data.sessionId, vim.tbl_get(data, "_meta", "hermes", "socket")
      if type(socket) ~= "string" or not socket:find("^/[^%c]+$") or not id:find("^[%w-]+$") then
        return
      end
      sockets[id] = socket
      if followed[agent] then
        M.open(id, { agent = agent })
      end
    end,
  })
end

return M
