---The listeners of hermes.on(), and what is reported of listeners that fail.
local M = {}

local event_names = require("hermes.core.event_names")

---@class hermes.Listener
---@field names table<string, true>
---@field fn fun(data: table, name: string)
---@field agent? string
---@field session_id? string
---@field once? boolean

-- This list is replaced and never changed, so that a listener may remove itself while others run.
local listeners = {} ---@type hermes.Listener[]
local listened = {} ---@type table<string, true> names that they listen to

---@param list hermes.Listener[]
local function set_listeners(list)
  listeners, listened = list, {}
  for _, listener in ipairs(list) do
    for name in pairs(listener.names) do
      listened[name] = true
    end
  end
end

-- How often listeners have failed, by listener, or by place of the error where
-- the listener is not known.
local failures = {} ---@type table<string, integer>
local kinds = 0
local max_kinds = 20 -- further listeners are counted together

---Reports that a listener failed. The user sees only the first failure of a listener, because
---events come by the thousand. The log gets a count after 10, 100, 1000 and so on, whatever the
---event.
---@param name string of the event
---@param err string
---@param id? string of the listener, when it is known
function M.failed(name, err, id)
  local key = id or err:match("[^\n]-:%d+:") or name
  if not failures[key] then
    kinds = kinds + 1
    key = kinds > max_kinds and "others" or key
  end
  local count = (failures[key] or 0) + 1
  failures[key] = count
  local log = require("hermes.core.log")
  if count == 1 then
    log.write(vim.log.levels.ERROR, err)
    local first = vim.split(err, "\n")[1]
    log.notify(vim.log.levels.ERROR, ("a listener of %s failed: %s"):format(name, first))
  elseif count >= 10 and ("1" .. ("0"):rep(#tostring(count) - 1)) == tostring(count) then
    local text = ("a listener of %s has failed %d times: %s"):format(name, count, err)
    log.write(vim.log.levels.ERROR, text)
  end
end

---Whether any listener hears an event.
---@param name string
---@return boolean
function M.hear(name)
  return listened[name] or listened["*"] or false
end

---Whether there is any.
---@return boolean
function M.any()
  return next(listeners) ~= nil
end

local function heard(listener, name, data)
  return (listener.names[name] or listener.names["*"])
    and (not listener.agent or listener.agent == data.agent)
    and (not listener.session_id or listener.session_id == data.sessionId)
end

---Calls those who listen to an event.
---@param name string
---@param data table
function M.call(name, data)
  for _, listener in ipairs(listeners) do
    if heard(listener, name, data) then
      local ok, err = pcall(listener.fn, data, name)
      if not ok then
        M.failed(name, tostring(err), tostring(listener.fn))
      end
    end
  end
end

---Returns the event names that a function was given, as a list.
---@param names any
---@param who string
---@return any[]
function M.list_of(names, who)
  local list = type(names) == "table" and names or { names }
  if next(list) == nil or not vim.islist(list) then
    error(("hermes.%s: expected the names of events, not %s"):format(who, vim.inspect(names)), 4)
  end
  return list
end

---Called when somebody has begun or ceased to listen to the traffic.
---@type fun()?
M.on_traffic = nil

local listener_keys = { agent = true, callback = true, once = true, session_id = true }

---@param names string|string[]
---@param opts fun(data: table, name: string)|table
---@param who string
---@return fun() off
function M.on(names, opts, who)
  local set = {}
  for _, name in ipairs(M.list_of(names, who)) do
    set[name == "*" and "*" or event_names.need(name, who)] = true
  end
  if vim.is_callable(opts) then
    opts = { callback = opts }
  end
  if type(opts) ~= "table" or not vim.is_callable(opts.callback) then
    error(("hermes.%s: expected a function or {callback = function}"):format(who), 3)
  end
  for key in pairs(opts) do
    if not listener_keys[key] then
      error(
        ("hermes.%s: %s"):format(
          who,
          require("hermes.core.arguments").unknown("", key, listener_keys)
        ),
        3
      )
    end
  end
  local listener = {
    names = set,
    fn = opts.callback,
    agent = opts.agent,
    session_id = opts.session_id,
  }
  local function off()
    set_listeners(vim.tbl_filter(function(other)
      return other ~= listener
    end, listeners))
  end
  if opts.once or who == "once" then
    listener.fn = function(data, name)
      off()
      opts.callback(data, name)
    end
  end
  set_listeners(vim.list_extend(vim.list_slice(listeners), { listener }))
  if set.TrafficMessage then
    M.watch_traffic()
  end
  return off
end

local traffic = false

---Whether anything listens to TrafficMessage by name; it is sent only then.
---@return boolean
function M.wants_traffic()
  traffic = vim.fn.exists("#User#TrafficMessage") == 1
    or vim.fn.exists("#User#HermesTrafficMessage") == 1
  for _, listener in ipairs(listeners) do
    traffic = traffic or listener.names.TrafficMessage == true
  end
  return traffic
end

---Notifies the host when that has changed. Neovim does not report new
---autocommands, so every batch checks.
function M.watch_traffic()
  local before = traffic
  if M.wants_traffic() ~= before and M.on_traffic then
    M.on_traffic()
  end
end

return M
