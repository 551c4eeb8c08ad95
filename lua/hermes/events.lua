---Builds the data of events and delivers it to listeners.
local M = {}

local gen = require("hermes.events_gen")

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

---Returns the canonical name of an event, however it is spelt.
---@param name string
---@return string? name nil when Hermes has no such event
function M.canonical(name)
  if gen.events[name] then
    return name
  end
  if gen.alias[name] then
    return gen.alias[name]
  end
  local bare = name:match("^Hermes(.+)$")
  return bare and (gen.events[bare] and bare or gen.alias[bare]) or nil
end

---@param name any
---@return boolean
function M.exists(name)
  return gen.events[name] ~= nil
end

---The events that a pattern stands for, where * matches any letters.
---@param pattern string
---@return string[] names
function M.matching(pattern)
  local as_lua = "^" .. vim.pesc(pattern):gsub("%%%*", ".*") .. "$"
  local exact = M.canonical(pattern)
  return vim.tbl_filter(function(name)
    return name == exact or name:find(as_lua) ~= nil
  end, M.names())
end

---@param name string canonical
---@return boolean whether the agent waits for an answer
function M.is_request(name)
  return gen.events[name].source == "request"
end

---@return string[] names of all events, sorted
function M.names()
  local names = vim.tbl_keys(gen.events)
  table.sort(names)
  return names
end

---Raises an error unless `name` is an event.
---@param name any
---@param who string the function that was called
---@return string canonical
function M.need(name, who)
  local canonical = type(name) == "string" and M.canonical(name)
  if canonical then
    return canonical
  end
  local meant = require("hermes.check").similar(name, M.names())
  error(
    ("hermes.%s: %s is not an event of Hermes%s"):format(
      who,
      vim.inspect(name),
      meant and ("; did you mean %q?"):format(meant) or ""
    ),
    3
  )
end

-- How often listeners have failed, by listener, or by place of the error where
-- the listener is not known.
local failures = {} ---@type table<string, integer>
local kinds = 0
local max_kinds = 20 -- beyond it listeners are not told apart

---Reports that a listener failed. The user sees only the first failure of a listener, because
---events come by the thousand. The log gets a count after 10, 100, 1000 and so on, whatever the
---event.
---@param name string of the event
---@param err string
---@param id? string of the listener, when it is known
local function failed(name, err, id)
  local key = id or err:match("[^\n]-:%d+:") or name
  if not failures[key] then
    kinds = kinds + 1
    key = kinds > max_kinds and "others" or key
  end
  local count = (failures[key] or 0) + 1
  failures[key] = count
  local log = require("hermes.log")
  if count == 1 then
    log.write(vim.log.levels.ERROR, err)
    local first = vim.split(err, "\n")[1]
    log.notify(vim.log.levels.ERROR, ("a listener of %s failed: %s"):format(name, first))
  elseif count >= 10 and ("1" .. ("0"):rep(#tostring(count) - 1)) == tostring(count) then
    local text = ("a listener of %s has failed %d times: %s"):format(name, count, err)
    log.write(vim.log.levels.ERROR, text)
  end
end

---Calls `fn`. An error is shown as one line and goes no further.
---@param what string
---@param fn function
---@return any ... what fn returned
function M.guard(what, fn, ...)
  local out = vim.F.pack_len(pcall(fn, ...))
  if not out[1] then
    require("hermes.log").notify(vim.log.levels.ERROR, ("%s failed: %s"):format(what, out[2]))
    return nil
  end
  return unpack(out, 2, out.n)
end

---------------------------------------------------------------------------
-- The flat view: members of the update in the data itself, also under older names.

local function camel(member)
  return (member:gsub("%u", function(c)
    return "_" .. c:lower()
  end))
end

local function blocks(list)
  local flat = {}
  for i, item in ipairs(list) do
    local from = item
    if item.type == "content" then
      from = item.content or {}
    end
    local both = vim.tbl_extend("force", {}, from)
    if item.type == "diff" then
      both.new_text, both.old_text = item.newText, item.oldText
    elseif item.type == "terminal" then
      both.id = item.terminalId
    end
    flat[i] = both
  end
  return flat
end

---@class hermes.FlatOption: hermes.acp.SessionConfigOption
---@field kind { currentValue: string|boolean, options?: table[] } the value, and the choices, each
---with the type "ungrouped" or "grouped"

---@param list hermes.acp.SessionConfigOption[]
---@return hermes.FlatOption[]
local function config_options(list)
  return vim.tbl_map(function(option)
    local choices = option.options
      and vim.tbl_map(function(choice)
        local kind = choice.options and "grouped" or "ungrouped"
        return vim.tbl_extend("force", choice, { type = kind })
      end, option.options)
    local kind = { currentValue = option.currentValue, options = choices }
    return vim.tbl_extend("force", option, { kind = kind })
  end, list)
end

local convert = {
  json = vim.json.encode,
  options = function(value)
    return type(value) == "table" and config_options(value) or value
  end,
  blocks = function(value)
    return type(value) == "table" and blocks(value) or value
  end,
}

local function annotations(value)
  if type(value) ~= "table" then
    return value
  end
  local both = vim.tbl_extend("force", {}, value)
  for key, member in pairs(value) do
    both[camel(key)] = member
  end
  return both
end

---What is needed each time that an event fires.
---@class hermes.EventShape
---@field place? string[] path in the data to the members that the flat view copies
---@field flat table<string, string[]> the members under older names
---@field key string the name in lower case
---@field others { name: string, key: string, pattern: string }[] other names; `pattern` is for
---exists()
---@field for_listeners boolean only listeners look at the flat view
---@field state boolean the state follows it
---@field refresh boolean files may have changed with it, or change soon

-- The events after which files may have changed, or change soon; lua/hermes/refresh.lua looks at
-- them then.
---@type table<string, true>
local changing = {
  AgentToolCall = true,
  AgentToolCallUpdate = true,
  TurnStarted = true,
  TurnEnded = true,
  TerminalExited = true,
}

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
      state = require("hermes.state").follows(name),
      refresh = changing[name] or false,
    }
    return shapes[name]
  end,
}) ---@type table<string, hermes.EventShape>

---Adds the members of the update to the data, also under older names.
---@param shape hermes.EventShape
---@param data table
local function flatten(shape, data)
  local source = data
  for _, part in ipairs(shape.place) do
    source = type(source) == "table" and source[part] or nil
  end
  if type(source) ~= "table" then
    return
  end
  for key, value in pairs(source) do
    if key == "annotations" then
      data[key] = annotations(value)
    elseif key == "_meta" then
      data.meta = value
    elseif data[key] == nil and key ~= "sessionUpdate" then
      data[key] = value
    end
  end
  for key, from in pairs(shape.flat) do
    local value = source[from[1]]
    if value ~= nil then
      data[key] = from[2] and convert[from[2]](value) or value
    end
  end
end

---------------------------------------------------------------------------
-- Delivery.

local silently ---@type fun()? runs while errors of listeners are silent

---@private
function M._run()
  if silently then
    silently()
  end
end

---Runs `fn` with the errors of autocommands silenced; `unsilent` keeps what listeners print. Such
---an error would print its traceback and ask to press enter, and no event would arrive until then.
---@param fn fun(...)
---@return string? err
local function silence(fn, ...)
  if silently then
    return fn(...)
  end
  local args = { ... }
  silently = function()
    fn(unpack(args))
  end
  local ok, err =
    pcall(vim.api.nvim_command, "silent! unsilent lua require('hermes.events')._run()")
  silently = nil
  return not ok and err or nil
end

-- Older Neovims raise the error of a listener only at the next function call.
local raises_late = vim.fn.has("nvim-0.12") == 0

---Fires one User autocommand, and reports an error in a listener as one line.
---@param name string
---@param data table
local function fire(name, data)
  local errmsg = vim.v.errmsg
  if errmsg ~= "" then
    vim.v.errmsg = ""
  end
  local autocmd = { pattern = name, data = data, modeline = false }
  local ok, err = pcall(vim.api.nvim_exec_autocmds, "User", autocmd)
  if ok and raises_late then
    ok, err = pcall(vim.fn.exists, "")
  end
  err = ok and vim.v.errmsg or err
  if errmsg ~= "" or err ~= "" then
    vim.v.errmsg = errmsg
  end
  if err ~= "" then
    failed(name, err)
  end
end

---@param name string
---@param data table
local function fire_all(name, data)
  fire(name, data)
  for _, other in ipairs(shapes[name].others) do
    if vim.fn.exists(other.pattern) == 1 then
      fire(other.name, vim.tbl_extend("force", data, { alias_of = name }))
    end
  end
end

local function heard(listener, name, data)
  return (listener.names[name] or listener.names["*"])
    and (not listener.agent or listener.agent == data.agent)
    and (not listener.session_id or listener.session_id == data.sessionId)
end

local function call_listeners(name, data)
  for _, listener in ipairs(listeners) do
    if heard(listener, name, data) then
      local ok, err = pcall(listener.fn, data, name)
      if not ok then
        failed(name, tostring(err), tostring(listener.fn))
      end
    end
  end
end

---What Hermes itself does at an event, once the state has changed.
---@type table<string, fun(data: table)>
M.own = {}

local off_for ---@type string[]? the patterns that `off_names` is of
local off_names = {} ---@type table<string, true>

---The events that setup() has turned off.
---@return table<string, true>
local function turned_off()
  local patterns = require("hermes.config").get().events.off
  if patterns ~= off_for then
    off_for, off_names = patterns, {}
    for _, pattern in ipairs(patterns) do
      for _, name in ipairs(M.matching(pattern)) do
        off_names[name] = true
      end
    end
  end
  return off_names
end

---------------------------------------------------------------------------
-- Events that nobody hears.

-- To fire an autocommand, Neovim converts the data of the event. That costs more than all the rest
-- and would be in vain for most updates. Neovim does not report new autocommands, but only code
-- outside of Hermes makes them. So what was seen of them holds until such code may have run: a
-- listener, or whatever comes between two batches.
local autocmds = {
  names = {}, ---@type table<string, true> patterns, in lower case: 'fileignorecase'
  many = false, -- one is for several names
  count = 0,
  fresh = false,
  since = 0, -- events since they were looked at
}

local function look_at_autocmds()
  local list = vim.api.nvim_get_autocmds({ event = "User" })
  autocmds.names, autocmds.many, autocmds.count = {}, false, #list
  autocmds.fresh, autocmds.since = true, 0
  for _, autocmd in ipairs(list) do
    autocmds.names[autocmd.pattern:lower()] = true
    autocmds.many = autocmds.many or not autocmd.pattern:find("^[%w_:./#-]+$")
  end
end

---Called where code outside of Hermes may have made autocommands since the last event.
local function between_batches()
  autocmds.fresh, autocmds.many = false, false
end

---Whether somebody may listen to an event. Looking has its price: where there are many
---autocommands, the answer is yes until enough events have come.
---@param name string canonical
---@param shape hermes.EventShape
---@return boolean
local function may_be_heard(name, shape)
  autocmds.since = autocmds.since + 1
  if turned_off()[name] then
    return false
  elseif listened[name] or listened["*"] or autocmds.many or autocmds.names[shape.key] then
    return true
  elseif not autocmds.fresh then
    if autocmds.since * 4 < autocmds.count then
      return true
    end
    look_at_autocmds()
  end
  if autocmds.many or autocmds.names[shape.key] then
    return true
  end
  for _, other in ipairs(shape.others) do
    if autocmds.names[other.key] then
      return true
    end
  end
  return false
end

---@param name string canonical
---@param data table
local function emit(name, data)
  local shape = shapes[name]
  local wanted = may_be_heard(name, shape)
  if shape.place and (wanted or not shape.for_listeners) then
    if require("hermes.config").get().compat.flat then
      flatten(shape, data)
    end
  end
  local follow
  if shape.state then
    local ok, result = pcall(require("hermes.state").update, name, data)
    if ok then
      follow = result
    else
      require("hermes.log").notify(vim.log.levels.ERROR, "the state failed: " .. result)
    end
  end
  if M.own[name] then
    autocmds.fresh = false
    M.guard(name, M.own[name], data)
  end
  if wanted then
    autocmds.fresh = false
    call_listeners(name, data)
    local err = silence(fire_all, name, data)
    if err then
      failed(name, err)
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
  between_batches()
  emit(name, data)
end

---@param name string
---@param data table
local function receive(name, data)
  if name == "ModelUpdated" then
    local session = require("hermes.state").session(data.sessionId, data.agent)
    if not require("hermes.models").by_method(session) then
      return
    end
  elseif name == "FileEdited" then
    data.bufnr = require("hermes.buffer").find(data.path)
  end
  emit(name, data)
  if shapes[name].refresh then
    require("hermes.refresh").after(name, data)
  end
end

---Handles the events at one place of a batch: all that follow one another, or just one if there are
---listeners of hermes.on, whose own errors must not be silenced.
---@param items any[] names and data alternate
---@param first integer index of the first name
---@return integer next index after the last data handled
function M.receive(items, first)
  between_batches()
  local i = first
  local function take()
    repeat
      local name, data = items[i], items[i + 1]
      i = i + 2
      local ok, err = pcall(receive, name, data)
      if not ok then
        failed(name, err)
      end
    until next(listeners) or not gen.events[items[i]]
  end
  local err
  if next(listeners) then
    take()
  else
    err = silence(take)
  end
  if err then
    failed(items[first], err)
  end
  return math.max(i, first + 2)
end

---------------------------------------------------------------------------
-- Listening.

---Returns the event names that a function was given, as a list.
---@param names any
---@param who string
---@return any[]
local function list_of(names, who)
  local list = type(names) == "table" and names or { names }
  if next(list) == nil or not vim.islist(list) then
    error(("hermes.%s: expected the names of events, not %s"):format(who, vim.inspect(names)), 4)
  end
  return list
end

local listener_keys = { agent = true, callback = true, once = true, session_id = true }

---@param names string|string[]
---@param opts fun(data: table, name: string)|table
---@param who string
---@return fun() off
function M.on(names, opts, who)
  local set = {}
  for _, name in ipairs(list_of(names, who)) do
    set[name == "*" and "*" or M.need(name, who)] = true
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
        ("hermes.%s: %s"):format(who, require("hermes.check").unknown("", key, listener_keys)),
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
  if M.wants_traffic() ~= before then
    require("hermes.rpc").configure()
  end
end

local groups = { hermes = true, Hermes = true }

---Whether an autocommand is meant to answer: one on the exact name, in a group
---of Hermes or in no group. All others only watch.
---@param name string canonical
---@return boolean
function M.has_responder(name)
  local info = gen.events[name] or {}
  local patterns = { [name] = true, ["Hermes" .. name] = true }
  for _, alias in ipairs(info.alias or {}) do
    patterns[alias] = true
  end
  -- 'eventignore' keeps the listener from being called.
  local ignored = vim.opt.eventignore:get()
  if vim.tbl_contains(ignored, "all") or vim.tbl_contains(ignored, "User") then
    return false
  end
  for _, autocmd in ipairs(vim.api.nvim_get_autocmds({ event = "User" })) do
    if patterns[autocmd.pattern] and (not autocmd.group or groups[autocmd.group_name]) then
      return true
    end
  end
  return false
end

---nvim_create_autocmd for Hermes' events: the same arguments, with the names of
---Hermes' events. `pattern` selects agents or sessions; "*" selects all.
---@param names string|string[]
---@param opts vim.api.keyset.create_autocmd
---@param create? function the original nvim_create_autocmd
---@return integer id
function M.create_autocmd(names, opts, create)
  local list = list_of(names, "create_autocmd")
  for _, name in ipairs(list) do
    M.need(name, "create_autocmd")
  end
  if type(opts) ~= "table" then
    error(("hermes.create_autocmd: expected a table of options, not a %s"):format(type(opts)), 3)
  end
  opts = vim.tbl_extend("force", {}, opts)
  local wanted = opts.pattern or "*"
  wanted = type(wanted) == "table" and wanted or { wanted }
  local callback = opts.callback
  if not vim.tbl_contains(wanted, "*") then
    if type(callback) ~= "function" then
      error('hermes.create_autocmd: a pattern other than "*" needs a Lua callback', 2)
    end
    -- With `once`, Neovim would also count an event of another agent.
    local once, spent = opts.once, {}
    opts.once = nil
    opts.callback = function(args)
      local data = args.data or {}
      if vim.tbl_contains(wanted, data.sessionId) or vim.tbl_contains(wanted, data.agent) then
        if once and spent[args.match] then
          return true
        end
        spent[args.match] = true
        local result = callback(args)
        return once or result -- true deletes it
      end
    end
  end
  opts.pattern = list
  return (create or vim.api.nvim_create_autocmd)("User", opts)
end

return M
