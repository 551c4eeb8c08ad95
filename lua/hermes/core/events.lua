---Delivers events: to the state, to what Hermes does itself, and to those who listen.
local M = {}

local gen = require("hermes.core.events_gen")
local autocmds = require("hermes.core.user_autocmds")
local event_names = require("hermes.core.event_names")
local listeners = require("hermes.core.listeners")

---The data that delivering an event needs, prepared once for each event.
---@class hermes.EventShape
---@field place? string[] path in the data to the members that the flat view copies
---@field flat table<string, string[]> the members under older names
---@field key string the name in lower case
---@field others { name: string, key: string, pattern: string }[] other names; `pattern` is for
---exists()
---@field for_listeners boolean only listeners look at the flat view
---@field state boolean the state follows it

---@class hermes.Follower the state
---@field follows fun(name: string): boolean
---@field update fun(name: string, data: table): hermes.FollowEvent[]?

local follower ---@type hermes.Follower?

local shapes = setmetatable({}, {
  __index = function(shapes, name)
    local info = gen.events[name] or {}
    local others = {}
    for i, other in ipairs(vim.list_extend({ "Hermes" .. name }, info.alias or {})) do
      others[i] = { name = other, key = other:lower(), pattern = "#User#" .. other }
    end
    shapes[name] = {
      key = name:lower(),
      place = info.lift and vim.split(info.lift, ".", { plain = true }),
      flat = info.flat or {},
      others = others,
      for_listeners = info.source == "update",
      state = follower ~= nil and follower.follows(name),
    }
    return shapes[name]
  end,
}) ---@type table<string, hermes.EventShape>

---Makes the state follow events. It gets them before any listener.
---@param state hermes.Follower
function M.follow(state)
  follower = state
  for name in pairs(shapes) do
    shapes[name] = nil
  end
end

---Hermes' own reactions to events, called once the state has changed.
---@type table<string, fun(data: table)>
M.own = {}

---Called before an event of the host is delivered. If the function returns false, the event does
---not fire.
---@type table<string, fun(data: table): false?>
M.before = {}

---Called after all listeners of an event of the host.
---@type table<string, fun(name: string, data: table)>
M.after = {}

local off_for ---@type string[]? the patterns that `off_names` is of
local off_names = {} ---@type table<string, true>

---The events that setup() has turned off.
---@return table<string, true>
local function turned_off()
  local patterns = require("hermes.core.config").get().events.off
  if patterns ~= off_for then
    off_for, off_names = patterns, {}
    for _, pattern in ipairs(patterns) do
      for _, name in ipairs(event_names.matching(pattern)) do
        off_names[name] = true
      end
    end
  end
  return off_names
end

---Whether somebody may listen to an event.
---@param name string canonical
---@param shape hermes.EventShape
---@return boolean
local function may_be_heard(name, shape)
  autocmds.count()
  if turned_off()[name] then
    return false
  end
  return listeners.hear(name) or autocmds.may_hear(shape)
end

---@param name string canonical
---@param data table
local function emit(name, data)
  local shape = shapes[name]
  local wanted = may_be_heard(name, shape)
  if shape.place and (wanted or not shape.for_listeners) then
    if require("hermes.core.config").get().compat.flat then
      require("hermes.core.flat_events").flatten(shape, data)
    end
  end
  local follow
  if shape.state then
    local ok, result = pcall(follower.update, name, data)
    if ok then
      follow = result
    else
      require("hermes.core.log").notify(vim.log.levels.ERROR, "the state failed: " .. result)
    end
  end
  if M.own[name] then
    autocmds.forget()
    require("hermes.core.log").guard(name, M.own[name], data)
  end
  if wanted then
    autocmds.forget()
    listeners.call(name, data)
    local err = autocmds.silence(autocmds.fire, name, data, shape.others)
    if err then
      listeners.failed(name, err)
    end
  end
  if follow then
    for _, event in ipairs(follow) do
      emit(event.name, event.data)
    end
  end
end

---Delivers an event: to the state first, then to hermes.on, then to autocommands.
---Other spellings fire only for autocommands on exactly that name, so a glob
---never sees an event twice.
---@param name string canonical
---@param data table
function M.emit(name, data)
  autocmds.between_batches()
  emit(name, data)
end

---@param name string
---@param data table
local function receive(name, data)
  local before, after = M.before[name], M.after[name]
  if before and before(data) == false then
    return
  end
  emit(name, data)
  if after then
    after(name, data)
  end
end

---Handles the events at one place of a batch: all that follow one another, or just one if there are
---listeners of hermes.on, whose own errors must not be silenced.
---@param items any[] names and data alternate
---@param first integer index of the first name
---@return integer next index after the last data handled
function M.receive(items, first)
  autocmds.between_batches()
  local i = first
  local function take()
    repeat
      local name, data = items[i], items[i + 1]
      i = i + 2
      local ok, err = pcall(receive, name, data)
      if not ok then
        listeners.failed(name, err)
      end
    until listeners.any() or not gen.events[items[i]]
  end
  local err
  if listeners.any() then
    take()
  else
    err = autocmds.silence(take)
  end
  if err then
    listeners.failed(items[first], err)
  end
  return math.max(i, first + 2)
end

return M
