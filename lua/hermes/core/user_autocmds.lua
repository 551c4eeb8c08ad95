---The User autocommands that listen to events: firing them, and finding out whether there are any.
local M = {}

local gen = require("hermes.core.events_gen")
local event_names = require("hermes.core.event_names")
local listeners = require("hermes.core.listeners")

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
function M.silence(fn, ...)
  if silently then
    return fn(...)
  end
  local args = { ... }
  silently = function()
    fn(unpack(args))
  end
  local ok, err =
    pcall(vim.api.nvim_command, "silent! unsilent lua require('hermes.core.user_autocmds')._run()")
  silently = nil
  return not ok and err or nil
end

-- Older Neovims raise the error of a listener only at the next function call.
local raises_late = vim.fn.has("nvim-0.12") == 0

---Fires one User autocommand, and reports an error in a listener as one line.
---@param name string
---@param data table
local function fire_one(name, data)
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
    listeners.failed(name, err)
  end
end

---Fires the autocommands of an event.
---@param name string
---@param data table
---@param others { name: string, pattern: string }[] its other names
function M.fire(name, data, others)
  fire_one(name, data)
  for _, other in ipairs(others) do
    if vim.fn.exists(other.pattern) == 1 then
      fire_one(other.name, vim.tbl_extend("force", data, { alias_of = name }))
    end
  end
end

-- To fire an autocommand, Neovim converts the data of the event. That costs more than all the rest
-- and would be in vain for most updates. Neovim does not report new autocommands, but only code
-- outside of Hermes makes them. So what was seen of them holds until such code may have run: a
-- listener, or whatever comes between two batches.
local seen = {
  names = {}, ---@type table<string, true> patterns, in lower case: 'fileignorecase'
  many = false, -- one is for several names
  count = 0,
  fresh = false,
  since = 0, -- events since they were looked at
}

local function look()
  local list = vim.api.nvim_get_autocmds({ event = "User" })
  seen.names, seen.many, seen.count = {}, false, #list
  seen.fresh, seen.since = true, 0
  for _, autocmd in ipairs(list) do
    seen.names[autocmd.pattern:lower()] = true
    seen.many = seen.many or not autocmd.pattern:find("^[%w_:./#-]+$")
  end
end

---Called where code outside of Hermes may have made autocommands since the last event.
function M.between_batches()
  seen.fresh, seen.many = false, false
end

---Called where a listener may have made autocommands.
function M.forget()
  seen.fresh = false
end

---Counts an event.
function M.count()
  seen.since = seen.since + 1
end

---Whether an autocommand may listen to an event. Looking has its price: where there are many
---autocommands, the answer is yes until enough events have come.
---@param shape hermes.EventShape
---@return boolean
function M.may_hear(shape)
  if seen.many or seen.names[shape.key] then
    return true
  elseif not seen.fresh then
    if seen.since * 4 < seen.count then
      return true
    end
    look()
  end
  if seen.many or seen.names[shape.key] then
    return true
  end
  for _, other in ipairs(shape.others) do
    if seen.names[other.key] then
      return true
    end
  end
  return false
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
  local list = listeners.list_of(names, "create_autocmd")
  for _, name in ipairs(list) do
    event_names.need(name, "create_autocmd")
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
