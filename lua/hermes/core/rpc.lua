---Operations: calls that end some time later. Nothing here waits: operations go to the host as
---notifications, everything else arrives through deliver(). The host is started after the call
---that needs it has returned, and gets what was called until then in order.
local M = {}

---Version of the messages between this file and the host; see plugin/host/host.go.
M.PROTOCOL = 7

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
---@field after? fun(result: any) called when it has succeeded, before on_done

---The error of operations that end because the user has stopped the host.
---@type hermes.Error
M.stopped = { kind = "disconnected", message = "the host was stopped" }

local last_id = 0
local ops = {} ---@type table<string, hermes.Op>
-- The operations that wait until the host is started: operation, id, JSON.
local waiting ---@type { [1]: string, [2]: string, [3]: string }[]?
local used = {} ---@type string[] agents that connect was called for, the most recent last

---Makes an agent that is being connected the current one: calls go to it by default.
---@param name string
function M.use(name)
  M.unuse(name)
  used[#used + 1] = name
end

---Undoes use() for an agent that could not be connected: calls go to the previous one.
---@param name string
function M.unuse(name)
  used = vim.tbl_filter(function(other)
    return other ~= name
  end, used)
end

---@return string? name the agent that connect was called for last
function M.current()
  return used[#used]
end

local channel ---@type hermes.Channel? once the host may run

---@return hermes.Channel?
local function host()
  return channel
end

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

---@return string[] ids of the operations that have not ended, sorted
function M.pending()
  local ids = vim.tbl_keys(ops)
  table.sort(ids)
  return ids
end

---@return table? hello version and protocol of the running host
function M.info()
  return host() and host().info()
end

---@return boolean whether the host runs or is about to be started
function M.running()
  return waiting ~= nil or host() ~= nil and host().running()
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
      M.unuse(op.agent)
    end
    local log = require("hermes.core.log")
    local line = err.message
    -- The reason why an agent did not start says enough, and the line is short.
    if op.method ~= "connect" and not vim.startswith(line, op.method .. ": ") then
      line = op.method .. ": " .. line
    end
    local level = M.by_user[err.kind] and vim.log.levels.INFO or vim.log.levels.ERROR
    log.write(level, line)
    require("hermes.core.events").emit("RequestFailed", {
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
    require("hermes.core.log").guard("on_done of " .. op.method, op.on_done, err, result)
  end
end

---@param payload table
---@return string text JSON
local function encode(payload)
  return next(payload) == nil and "{}" or vim.json.encode(payload)
end

---Sends one message to the host, if it runs.
---@param op string
---@param id string
---@param payload table
function M.send(op, id, payload)
  if host() then
    host().post(op, id, encode(payload))
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
function M.fail_soon(id, kind, message)
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
  M.fail_soon(id, kind, message)
  return id
end

---Starts the host for the operations that wait.
local function start()
  if not waiting then
    return -- stopped in the meantime
  end
  local called, opened, err = pcall(function()
    channel = require("hermes.wiring").channel()
    return channel.open()
  end)
  local list = waiting
  waiting = nil
  for _, call in ipairs(list) do
    if called and opened then
      host().post(unpack(call))
    else
      M.finish(call[2], { kind = "host", message = called and err or opened })
    end
  end
  if called and opened then
    host().prepare()
  end
end

---@private
function M.begin(op, id, payload)
  local fine, text = pcall(encode, payload)
  if not fine then
    M.fail_soon(id, "invalid", "the arguments cannot be sent: " .. tostring(text))
  elseif waiting then
    waiting[#waiting + 1] = { op, id, text }
  elseif M.running() then
    host().post(op, id, text)
  else
    waiting = { { op, id, text } }
    vim.schedule(start)
  end
end

---Sends the configuration to a running host. A host that is about to start gets it when it starts.
function M.configure()
  if not waiting and M.running() then
    host().configure()
  end
end

---Stops the host, and all agents with it.
function M.stop()
  local list = waiting or {}
  waiting = nil
  for _, call in ipairs(list) do
    M.fail_soon(call[2], M.stopped.kind, M.stopped.message)
  end
  if host() then
    host().stop()
  end
end

---Called by the host with a batch: a JSON list in which kinds and payloads alternate. The kind of
---an event is its name. One bad item does not affect the others. Text that is not JSON raises an
---error before anything is handled; the host then sends the items one by one.
---@param text string
---@return number ms how long it took
function M.deliver(text)
  channel = channel or require("hermes.wiring").channel()
  return channel.deliver(text)
end

return M
