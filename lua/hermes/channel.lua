---The channel to the host: starts the host, and handles what it delivers.
local M = {}

local channel ---@type integer?
local hello ---@type table? what the host says about itself
local stopping = false
local silent ---@type string? what the host that was stopped for its silence is

---@return table? hello version and protocol of the running host
function M.info()
  return channel and hello
end

---@return boolean
function M.running()
  return channel ~= nil
end

local shows = false -- the hunks in buffers

local function stop_review()
  if shows then
    require("hermes.wiring").signs().stop()
    shows = false
  end
  if package.loaded["hermes.doc.held"] then
    require("hermes.doc.held").stop()
  end
end

---Starts or stops what follows the setting `review`.
local function follow_review()
  local review = require("hermes.core.config").get().review
  if not review.enabled then
    return stop_review()
  end
  require("hermes.doc.held").start()
  if review.view then
    require("hermes.wiring").signs().start()
  elseif shows then
    require("hermes.wiring").signs().stop()
  end
  shows = review.view
end

local function on_exit(_, code)
  channel, hello = nil, nil
  if vim.v.exiting ~= vim.NIL then
    return -- nobody would see it
  end
  local message = ("the host ended unexpectedly with exit code %d; see %s"):format(
    code,
    require("hermes.core.log").host_path()
  )
  local err = { kind = "host", message = message }
  if silent then
    message, silent = silent, nil
    err.message = message
    require("hermes.core.log").notify(vim.log.levels.ERROR, message)
  elseif stopping then
    stopping = false
    err = require("hermes.core.rpc").stopped
    message = err.message
  else
    require("hermes.core.log").notify(vim.log.levels.ERROR, message)
  end
  local rpc = require("hermes.core.rpc")
  local ids = rpc.pending()
  require("hermes.ask.answers").drop_all(message)
  require("hermes.session.state").host_gone(err.kind, message)
  stop_review()
  for _, id in ipairs(ids) do
    rpc.finish(id, err)
  end
end

local default_patience = 30000 -- ms in which the host says what it is

---Stops a program that is not the host, or hangs, so that calls fail instead of waiting for ever.
---@param cmd string[]
---@param started integer channel
local function expect_hello(cmd, started)
  local ms = require("hermes.core.config").get().timeouts.host
  ms = ms > 0 and ms or default_patience
  vim.defer_fn(function()
    if channel == started and not hello then
      local shown = vim.inspect(cmd, { newline = " ", indent = "" })
      local text = "the host %s has said nothing for %g seconds; is it the program of this plugin?"
      silent = text:format(shown, ms / 1000)
      vim.fn.jobstop(started)
    end
  end, ms)
end

---Starts the host. It gets the configuration first.
---@return boolean ok
---@return string? err
function M.open()
  local cmd, err = require("hermes.core.host").command()
  if not cmd then
    return false, err
  end
  local path = require("hermes.core.log").host_path()
  vim.fn.mkdir(vim.fn.fnamemodify(path, ":h"), "p")
  local limits = require("hermes.core.config").get().log
  require("hermes.core.environ").begin()
  local ok, ch = pcall(vim.fn.jobstart, cmd, {
    rpc = true,
    -- The host exits by itself after its channel has closed and its agents have ended.
    -- Otherwise Neovim would kill it when it quits.
    detach = true,
    env = {
      HERMES_LOG = path,
      HERMES_LOG_MAX_SIZE = tostring(limits.max_size),
      HERMES_LOG_KEEP = tostring(limits.keep),
    },
    on_exit = on_exit,
    on_stderr = function(_, lines)
      for _, line in ipairs(lines) do
        if line ~= "" then
          require("hermes.core.log").write(vim.log.levels.ERROR, "host: " .. line)
        end
      end
    end,
  })
  if not ok or ch <= 0 then
    return false,
      ("the host %q cannot be started: %s"):format(cmd[1], ok and "not executable" or ch)
  end
  channel = ch
  require("hermes.core.quit").add_job(ch, vim.fn.chanclose)
  M.configure()
  expect_hello(cmd, ch)
  return true
end

-- The events after which files may have changed, or change soon.
local changing =
  { "AgentToolCall", "AgentToolCallUpdate", "TurnStarted", "TurnEnded", "TerminalExited" }

local wired = false

---Loads what follows events, and says what comes before and after them.
local function wire()
  if wired then
    return
  end
  wired = true
  require("hermes.session.state")
  local events = require("hermes.core.events")
  for _, name in ipairs(changing) do
    events.after[name] = function(...)
      require("hermes.doc.refresh").after(...)
    end
  end
  function events.before.FileEdited(data)
    data.bufnr = require("hermes.doc.buffer").find(data.path)
  end
  function events.before.ChangesUnseen(data)
    require("hermes.session.unseen").note(data)
  end
  require("hermes.core.listeners").on_traffic = require("hermes.core.rpc").configure
end

---Loads what the first events need, while the host starts.
function M.prepare()
  require("hermes.session.attention").start()
  require("hermes.doc.versions") -- from now on notes which version of its file a buffer holds
  require("hermes.doc.ancestor") -- and which text both last had in common
  require("hermes.doc.autoread")
  wire()
  follow_review()
end

-- The operations that may start a program.
local starting = { connect = true, request = true, agents = true }

---Sends one message to a running host. on_exit handles a dead channel.
---@param op string
---@param id string
---@param text string JSON
function M.post(op, id, text)
  if vim.in_fast_event() then
    vim.schedule(function()
      M.post(op, id, text)
    end)
  elseif channel then
    local changes = starting[op] and require("hermes.core.environ").changes()
    if changes then
      pcall(vim.rpcnotify, channel, "hermes", "environ", "", vim.json.encode(changes))
    end
    pcall(vim.rpcnotify, channel, "hermes", op, id, text)
  end
end

---Sends the configuration.
function M.configure()
  require("hermes.core.rpc").send("setup", "", require("hermes.core.config_wire").all())
  if hello then -- otherwise prepare() does it
    follow_review()
  end
end

---Stops the host, and all agents with it.
function M.stop()
  if channel then
    stopping = true
    vim.fn.jobstop(channel)
  end
end

local mismatched = "the host does not match the plugin; run :Hermes build and restart Neovim"

local function mismatch()
  require("hermes.core.log").notify(vim.log.levels.ERROR, mismatched)
end

local function unknown()
  error(mismatched, 0)
end

---What the host sends besides events; see border_gen.lua.
---@type table<string, fun(item: table)>
local kinds = {
  ---@param item hermes.item.Hello
  hello = function(item)
    hello = item
    if item.protocol ~= require("hermes.core.rpc").PROTOCOL then
      mismatch()
    end
  end,
  ---@param item hermes.item.Ask
  ask = function(item)
    item.data.truncated = item.truncated
    require("hermes.ask.answers").receive(item)
  end,
  ---@param item hermes.item.Withdraw
  withdraw = function(item)
    require("hermes.ask.answers").withdraw(item.requestId, item.reason)
  end,
  ---@param item hermes.item.Done
  done = function(item)
    if item.truncated then
      (item.error or item.result).truncated = item.truncated
    end
    require("hermes.core.rpc").finish(item.id, item.error, item.result)
  end,
  ---@param item hermes.item.Login
  login = function(item)
    require("hermes.ask.login").run(item)
  end,
  ---@param item hermes.item.Notice
  notice = function(item)
    local level = item.level == "error" and vim.log.levels.ERROR or vim.log.levels.WARN
    require("hermes.core.log").notify(level, item.message)
  end,
}

-- Messages about buffers whose files are under review.
for _, kind in ipairs({ "apply", "barrier", "hold", "hunks", "look", "release" }) do
  kinds[kind] = function(item)
    require("hermes.doc.held").receive(kind, item)
  end
end

local decode_opts = { luanil = { object = true } }

---Handles a batch; see rpc.deliver().
---@param text string
---@return number ms how long it took
function M.deliver(text)
  if type(text) ~= "string" then -- a host of protocol 1
    mismatch()
    M.stop()
    return 0
  end
  wire()
  local began = vim.uv.hrtime()
  local items = vim.json.decode(text, decode_opts)
  local events, names = require("hermes.core.events"), require("hermes.core.event_names")
  local i = 1
  while items[i] do
    local kind = items[i]
    if names.exists(kind) then
      i = events.receive(items, i)
    else
      local ok, err = pcall(kinds[kind] or unknown, items[i + 1])
      if not ok then
        require("hermes.core.log").notify(
          vim.log.levels.ERROR,
          ("a message of kind %s was lost: %s"):format(tostring(kind), tostring(err))
        )
      end
      i = i + 2
    end
  end
  pcall(require("hermes.core.listeners").watch_traffic)
  return (vim.uv.hrtime() - began) / 1e6
end

return M
