---The channel to the host. Nothing here waits: operations go out as
---notifications, everything else arrives through deliver().
local M = {}

---Version of the messages between this file and the host; see plugin/host/host.go.
M.PROTOCOL = 3

---@class hermes.Error
---@field kind string what programs compare, such as "exit", "agent", "timeout"
---@field message string
---@field code? integer of the agent's error answer
---@field data? any of the agent's error answer
---@field auth? { hint?: string, methods?: table[] } how to log in, with the kind "auth_required"

---@class hermes.Truncated
---@field bytes integer of the JSON text
---@field entries integer elements of lists and members of objects

---@class hermes.Op
---@field on_done? fun(err: hermes.Error?, result: any)
---@field method string
---@field agent? string
---@field session_id? string
---@field prompt? table[] blocks of a prompt
---@field after? fun(result: any) called before anybody hears that it succeeded

local channel ---@type integer?
local last_id = 0
local ops = {} ---@type table<string, hermes.Op>
local hello ---@type table? what the host says about itself
local stopping = false
local silent ---@type string? what the host that was stopped for its silence is

---Whether the error of an operation will be shown to the user.
---@param id string
---@return boolean
function M.shows_error(id)
  local op = ops[id]
  return op ~= nil and not op.on_done
end

---@param prefix string
---@return string
function M.new_id(prefix)
  last_id = last_id + 1
  return ("%s-%d"):format(prefix, last_id)
end

---An operation that has not ended.
---@param id string
---@return hermes.Op?
function M.op(id)
  return ops[id]
end

---@return table? hello version and protocol of the running host
function M.info()
  return channel and hello
end

---@return boolean
function M.running()
  return channel ~= nil
end

---@type table<string, true> kinds of errors that the user caused; they are not shown
M.by_user = { disconnected = true, cancelled = true }

---Ends an operation: reports its error, if any, and calls on_done.
---@param id string
---@param err hermes.Error?
---@param result table?
function M.finish(id, err, result)
  local op = ops[id]
  ops[id] = nil
  if not op then
    return
  end
  if err then
    if op.method == "connect" and op.agent then
      require("hermes.state").unuse(op.agent)
    end
    local log = require("hermes.log")
    local line = err.message
    -- The reason why an agent did not start says enough, and the line is short.
    if op.method ~= "connect" and not vim.startswith(line, op.method .. ": ") then
      line = op.method .. ": " .. line
    end
    local level = M.by_user[err.kind] and vim.log.levels.INFO or vim.log.levels.ERROR
    log.write(level, line)
    require("hermes.events").emit("RequestFailed", {
      opId = id,
      method = op.method,
      agent = op.agent,
      sessionId = op.session_id,
      kind = err.kind,
      code = err.code,
      message = err.message,
      data = err.data,
      auth = err.auth,
    })
    if not op.on_done and not M.by_user[err.kind] then
      log.show(level, line)
    end
  end
  if not err and op.after then
    op.after(result)
  end
  if op.on_done then
    require("hermes.events").guard("on_done of " .. op.method, op.on_done, err, result)
  end
end

local function on_exit(_, code)
  channel, hello = nil, nil
  if vim.v.exiting ~= vim.NIL then
    return -- nobody would see it
  end
  local message = ("the host ended unexpectedly with exit code %d; see %s"):format(
    code,
    require("hermes.log").host_path()
  )
  local err = { kind = "host", message = message }
  if silent then
    message, silent = silent, nil
    err.message = message
    require("hermes.log").notify(vim.log.levels.ERROR, message)
  elseif stopping then
    stopping = false
    message = "the host was stopped"
    err = { kind = "disconnected", message = message }
  else
    require("hermes.log").notify(vim.log.levels.ERROR, message)
  end
  local ids = vim.tbl_keys(ops)
  table.sort(ids)
  require("hermes.answers").drop_all(message)
  require("hermes.state").host_gone(err.kind, message)
  for _, id in ipairs(ids) do
    M.finish(id, err)
  end
end

local default_patience = 30000 -- ms in which the host says what it is

---Stops a program that is not the host, or hangs, so that calls fail instead of waiting for ever.
---@param cmd string[]
---@param started integer channel
local function expect_hello(cmd, started)
  local ms = require("hermes.config").get().timeouts.host
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

---@return integer? channel
---@return string? err
local function start()
  if channel then
    return channel
  end
  local cmd, err = require("hermes.host").command()
  if not cmd then
    return nil, err
  end
  local log = require("hermes.log")
  vim.fn.mkdir(vim.fs.dirname(log.host_path()), "p")
  local limits = require("hermes.config").get().log
  local ok, ch = pcall(vim.fn.jobstart, cmd, {
    rpc = true,
    -- The host exits by itself after its channel has closed and its agents have ended.
    -- Otherwise Neovim would wait for it.
    detach = true,
    env = {
      HERMES_LOG = log.host_path(),
      HERMES_LOG_MAX_SIZE = tostring(limits.max_size),
      HERMES_LOG_KEEP = tostring(limits.keep),
    },
    on_exit = on_exit,
    on_stderr = function(_, lines)
      for _, line in ipairs(lines) do
        if line ~= "" then
          log.write(vim.log.levels.ERROR, "host: " .. line)
        end
      end
    end,
  })
  if not ok or ch <= 0 then
    return nil, ("the host %q cannot be started: %s"):format(cmd[1], ok and "not executable" or ch)
  end
  channel = ch
  expect_hello(cmd, ch)
  require("hermes.attention").start()
  require("hermes.disk") -- from now on notes which version of its file a buffer holds
  M.send("setup", "", require("hermes.config").for_host())
  return channel
end

---Sends one message to a running host. on_exit handles a dead channel.
---@param op string
---@param id string
---@param payload table
function M.send(op, id, payload)
  local text = next(payload) == nil and "{}" or vim.json.encode(payload)
  if vim.in_fast_event() then
    vim.schedule(function()
      M.send(op, id, vim.json.decode(text))
    end)
    return
  end
  if channel then
    pcall(vim.rpcnotify, channel, "hermes", op, id, text)
  end
end

---Begins an operation. Starts the host if it is not running.
---@param op string name of the operation
---@param payload table|fun(): table? a function is called where Neovim's API is allowed, and
---returns nil if it has already ended the operation
---@param info hermes.Op
---@param id? string
---@return string id
function M.call(op, payload, info, id)
  id = id or M.new_id("op")
  ops[id] = info
  local function begin()
    if type(payload) == "function" then
      payload = payload()
    end
    if ops[id] and payload then
      M.begin(op, id, payload)
    end
  end
  if vim.in_fast_event() then
    vim.schedule(begin)
  else
    begin()
  end
  return id
end

---Fails an operation later, so that the caller has the id before the callback runs.
---@param id string
---@param kind string
---@param message string
local function fail_soon(id, kind, message)
  vim.schedule(function()
    M.finish(id, { kind = kind, message = message })
  end)
end

---Makes an operation that fails without reaching the host.
---@param info hermes.Op
---@param kind string
---@param message string
---@return string id
function M.refuse(info, kind, message)
  local id = M.new_id("op")
  ops[id] = info
  fail_soon(id, kind, message)
  return id
end

---@private
function M.begin(op, id, payload)
  local ok, err = start()
  if ok then
    local fine, why = pcall(M.send, op, id, payload)
    if fine then
      return
    end
    err = "the arguments cannot be sent: " .. tostring(why)
  end
  fail_soon(id, ok and "invalid" or "host", err)
end

---The agent that a call is for.
---@param opts hermes.Opts
---@param session_id? string
---@return string?
function M.agent_for(opts, session_id)
  return opts.agent or require("hermes.state").agent_for(session_id)
end

---@param op "request"|"notify"
---@param method string
---@param params table|fun(): table
---@param opts? hermes.Opts
---@param prefix? string of the id
---@return string id
local function to_agent(op, method, params, opts, prefix)
  opts = opts or {}
  local info = { method = method, on_done = opts.on_done }
  local id = M.new_id(prefix or "op")
  return M.call(op, function()
    local wire = type(params) == "function" and params() or params
    info.session_id, info.prompt = wire.sessionId, wire.prompt
    info.agent = M.agent_for(opts, wire.sessionId)
    if not info.agent then
      fail_soon(
        id,
        "not_connected",
        "no agent is connected; connect one with :Hermes connect or hermes.connect(name)"
      )
      return nil
    end
    local payload = { agent = info.agent, method = method, params = wire }
    payload.force, payload.now = opts.force, opts.now
    return payload
  end, info, id)
end

---Calls a method of an agent.
---@param method string
---@param params table|fun(): table
---@param opts? hermes.Opts
---@param prefix? string of the id
---@return string id
function M.request(method, params, opts, prefix)
  return to_agent("request", method, params, opts, prefix)
end

---Sends a notification to an agent.
---@param method string
---@param params table
---@param opts? hermes.Opts
---@return string id
function M.notify(method, params, opts)
  return to_agent("notify", method, params, opts)
end

---Sends the configuration to a running host.
function M.configure()
  if channel then
    M.send("setup", "", require("hermes.config").for_host())
  end
end

---Stops the host, and all agents with it.
function M.stop()
  if channel then
    stopping = true
    vim.fn.jobstop(channel)
  end
end

local function mismatch()
  require("hermes.log").notify(
    vim.log.levels.ERROR,
    "the host does not match the plugin; run :Hermes build and restart Neovim"
  )
end

local kinds = {
  hello = function(item)
    hello = item
    if item.protocol ~= M.PROTOCOL then
      mismatch()
    end
  end,
  ask = function(item)
    item.data.truncated = item.truncated
    require("hermes.answers").receive(item)
  end,
  withdraw = function(item)
    require("hermes.answers").withdraw(item.requestId, item.reason)
  end,
  done = function(item)
    if item.truncated then
      (item.error or item.result).truncated = item.truncated
    end
    M.finish(item.id, item.error, item.result)
  end,
  login = function(item)
    require("hermes.login").run(item)
  end,
  notice = function(item)
    local level = item.level == "error" and vim.log.levels.ERROR or vim.log.levels.WARN
    require("hermes.log").notify(level, item.message)
  end,
}

local decode_opts = { luanil = { object = true } }

---Called by the host with a batch: a JSON list in which kinds and payloads alternate. The kind of
---an event is its name. One bad item does not affect the others. Text that is not JSON raises an
---error before anything is handled; the host then sends the items one by one.
---@param text string
---@return number ms how long it took
function M.deliver(text)
  if type(text) ~= "string" then -- a host of protocol 1
    mismatch()
    M.stop()
    return 0
  end
  local began = vim.uv.hrtime()
  local items = vim.json.decode(text, decode_opts)
  local events = require("hermes.events")
  local i = 1
  while items[i] do
    local kind = items[i]
    if events.exists(kind) then
      i = events.receive(items, i)
    else
      local ok, err = pcall(kinds[kind], items[i + 1])
      if not ok then
        require("hermes.log").notify(
          vim.log.levels.ERROR,
          ("a message of kind %s was lost: %s"):format(tostring(kind), tostring(err))
        )
      end
      i = i + 2
    end
  end
  pcall(events.watch_traffic)
  return (vim.uv.hrtime() - began) / 1e6
end

return M
