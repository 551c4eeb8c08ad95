---Follows the buffers that hold files under review. It reports to the host what the user and
---agents' writes change in them, and gets the hunks that follow.
local M = {}

local versions = require("hermes.doc.versions")
local disk = require("hermes.core.disk")
local changed = require("hermes.doc.applied")
local message_of = require("hermes.doc.change_message").of
local edits = require("hermes.doc.user_edits")
local placed = require("hermes.doc.held_hunks")
local plain = require("hermes.doc.plain_text")
local saves = require("hermes.doc.saves")

--- Milliseconds from an edit of the user to its report to the host.
M.pause_ms = 20

---@class hermes.review.Held
---@field path string the file's name in messages
---@field open? hermes.review.Region
---@field edits table[] for the host, in order
---@field newest integer number of the newest undo block
---@field tick integer 'changedtick' of the last message
---@field log integer[][] { first, last before, last after, tick of the message that reports it }
---@field logged integer how many of them the host knows
---@field floor integer tick before which the log does not reach
---@field version? string of the file, when the buffer last had its text
---@field hunks table[] as the host sent them
---@field marks integer[] extmarks of the hunks
---@field count integer lines, as the changes of the buffer count them
---@field empty boolean whether the text has had no line since the last message
---@field final boolean whether the last line has an end
---@field format string 'fileformat'
---@field bomb boolean 'bomb'

local held = {} ---@type table<integer, hermes.review.Held> by buffer
-- The host's names of the files under review, by real path.
local known = {} ---@type table<string, string>
local waiting = {} ---@type table<integer, string> buffers that cannot be held yet
local gone = {} ---@type table<integer, true> held buffers whose text Neovim has thrown away

---@param what string operation of the review
---@param payload table
local function tell(what, payload)
  require("hermes.core.rpc").send("review." .. what, "", payload)
end

---@param path string
---@return string
local function real(path)
  return disk.place(path) or path
end

---------------------------------------------------------------------------
-- Reports to the host.

---@param buf integer
local function release(buf)
  local h = held[buf]
  held[buf], gone[buf], waiting[buf] = nil, nil, nil
  if h then
    tell("release", { path = h.path })
    if vim.api.nvim_buf_is_valid(buf) then
      placed.clear(buf)
    end
    placed.notify(h.path, buf)
  end
end

---Sends the whole text.
---@param buf integer
---@param h hermes.review.Held
---@param how? { undo?: boolean, reloaded?: boolean }
local function send_text(buf, h, how)
  local text = plain.of(buf)
  if not text then
    return release(buf)
  end
  edits.settle(buf, h, text)
  local message = { path = h.path, text = text, tick = h.tick }
  tell("hold", vim.tbl_extend("force", message, how or {}))
end

---Reports the user's edits of a buffer to the host.
---@param buf integer
function M.flush(buf)
  local h = held[buf]
  if not h or gone[buf] then
    return
  end
  local list, undo = edits.take(buf, h)
  if not list then
    send_text(buf, h, { undo = undo or nil })
  elseif #list > 0 then
    tell("edited", { path = h.path, edits = list, tick = h.tick })
  end
end

local timer = assert(vim.uv.new_timer())
local due = false

local function flush_all()
  due = false
  for buf in pairs(held) do
    M.flush(buf)
  end
end

local function flush_soon()
  if not due then
    due = true
    timer:start(M.pause_ms, 0, vim.schedule_wrap(flush_all))
  end
end

---------------------------------------------------------------------------
-- Which buffers to follow.

---After :edit and the like: the buffer has another text.
---@param buf integer
local function reloaded(buf)
  local h = held[buf]
  if h then
    gone[buf] = nil
    h.open, h.edits, h.newest = nil, {}, edits.newest_block(buf)
    -- Changes that an agent has written in the meantime are on the disk and in the buffer now.
    local version = disk.version(vim.api.nvim_buf_get_name(buf))
    send_text(buf, h, { reloaded = version ~= h.version or nil })
    if held[buf] then
      h.version = version
    end
  end
end

---@param buf integer
local function attach(buf)
  return vim.api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first, last, now)
      local h = held[buf]
      if not h then
        return true -- detaches
      elseif edits.note(buf, h, first, last, now) then
        flush_soon()
      end
    end,
    on_changedtick = function()
      local h = held[buf]
      if not h then
        return true
      end
      edits.note_undo(buf, h)
    end,
    on_reload = function()
      reloaded(buf)
    end,
    on_detach = function()
      if held[buf] then
        gone[buf] = true -- until BufReadPost, or for good
        vim.schedule(function()
          if gone[buf] then
            release(buf)
          end
        end)
      end
    end,
  })
end

---Begins to follow a buffer that has what the disk has, and perhaps more.
---@param buf integer
---@param path string as the host calls the file
---@return hermes.review.Held? h nil when it cannot be followed
local function follow(buf, path)
  waiting[buf] = nil
  if not plain.of(buf) or not attach(buf) then
    return nil
  end
  local h =
    { path = path, edits = {}, log = {}, logged = 0, floor = 0, hunks = {}, marks = {}, newest = 0 }
  h.version = disk.version(vim.api.nvim_buf_get_name(buf))
  h.newest = edits.newest_block(buf)
  held[buf] = h
  return h
end

---@param buf integer
---@param path string as the host calls the file
---@param cause? hermes.refresh.Cause why the buffer may have to be refreshed first
---@param again? boolean whether that has been asked for
local function hold(buf, path, cause, again)
  if held[buf] then
    return
  end
  local state = versions.state(buf)
  if state ~= "same" then
    -- The host would take what the disk has and the buffer lacks for the user's deletions.
    waiting[buf] = path
    if not again and require("hermes.core.config").get().buffer.refresh then
      require("hermes.doc.refresh").check(buf, cause or {})
      require("hermes.doc.refresh").now(buf)
      hold(buf, path, cause, true) -- no report follows if it was up to date
    end
    return
  end
  local h = follow(buf, path)
  if h then
    send_text(buf, h)
  else
    tell("release", { path = path })
  end
end

local function hold_waiting()
  for buf, path in pairs(waiting) do
    if vim.api.nvim_buf_is_loaded(buf) then
      hold(buf, path, nil, true)
    else
      waiting[buf] = nil
    end
  end
end

---The name that the host has for the file of a buffer.
---@param buf integer
---@return string? path nil when it is not under review
function M.path(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return held[buf] and held[buf].path or (name ~= "" and known[versions.home(buf)] or nil)
end

---@return integer[] held buffers
function M.buffers()
  return vim.tbl_keys(held)
end

---------------------------------------------------------------------------
-- Changes by agents.

local saved = {} ---@type table<integer, string> files that were written during an agent's change

---@param buf integer
---@param file string absolute
local function wrote(buf, file)
  local name = vim.api.nvim_buf_get_name(buf)
  local h = real(file) == real(name) and held[buf] -- not for a copy
  local before, text = saves.took(buf, file)
  if h then -- the host has the text of the buffer; a formatter may make another one on the disk
    h.version, before = disk.version(name), nil
    text = text ~= plain.of(buf) and text or nil
  end
  tell("wrote", { path = h and h.path or file, before = before, text = text })
end

---Reports a file that was written during a change, after the change.
---@param buf integer
local function tell_saved(buf)
  local file = saved[buf]
  saved[buf] = nil
  if file then
    wrote(buf, file)
  end
end

---Called after a change of a buffer by an agent, or by what the disk had.
---@param change table see hermes.changed
---@return boolean taken the host reports it
local function take(change)
  local buf = change.bufnr
  local h, name = held[buf], vim.api.nvim_buf_get_name(buf)
  if next(waiting) then
    vim.schedule(hold_waiting)
  end
  local message = message_of(change, h)
  local ours = h ~= nil or disk.is_in_session(name)
  if not message or not (change.agent or ours) then
    return not change.agent
  elseif not message.text then -- the host looks at the disk
    tell("changed", message)
    release(buf)
  else
    if not h and ours then -- so that the user's next edits reach the host
      h = follow(buf, known[versions.home(buf)] or versions.home(buf) or name)
      message.hold = h ~= nil
    end
    if h then
      edits.settle(buf, h, message.text)
      h.version = disk.version(name)
    end
    tell("changed", message)
  end
  tell_saved(buf)
  return true
end

---@param item hermes.item.Hunks
local function take_hunks(item)
  local buf = M.find(item.path)
  local h = buf and held[buf]
  if not buf or not h or gone[buf] then
    return
  end
  if item.tick < h.floor then
    M.flush(buf)
    return held[buf] and send_text(buf, h) -- the host sends the hunks again
  end
  placed.place(buf, h, item)
  placed.notify(h.path, buf)
end

---The hunks of a held buffer where they are now.
---@param buf integer
---@return table[]? hunks as the host sent them, with the rows `first` and `last` (exclusive); nil
---when the buffer is not held
function M.hunks(buf)
  local h = held[buf]
  return h and placed.list(buf, h)
end

---------------------------------------------------------------------------
-- Messages of the host.

---@param path string
---@return integer? buf
function M.find(path)
  for buf, h in pairs(held) do
    if h.path == path then
      return buf
    end
  end
end

---Looks whether a buffer has what the disk has.
---@param buf integer?
---@param cause hermes.refresh.Cause
local function check(buf, cause)
  if buf and require("hermes.core.config").get().buffer.refresh then
    require("hermes.doc.refresh").check(buf, cause)
  end
end

---@type table<string, fun(item: table)> see border_gen.lua
local items = {
  hold = function(item)
    local place = real(item.path)
    known[place] = not disk.leads_out(item.path, place) and item.path or nil
    local buf = require("hermes.doc.buffer").find(item.path)
    if buf and held[buf] and item.again then -- an edit did not fit
      M.flush(buf)
      M.resend(buf)
    elseif buf and held[buf] then
      check(buf, item) -- the host did not know that it is held when it changed the file
    elseif buf then
      hold(buf, item.path, item)
    end
  end,
  look = function(item)
    check(M.find(item.path) or require("hermes.doc.buffer").find(item.path), item)
  end,
  release = function(item)
    release(M.find(item.path) or -1)
  end,
  hunks = take_hunks,
  barrier = function(item)
    if item.look then
      vim.iter(M.buffers()):each(require("hermes.doc.refresh").now)
    end
    saves.settled(function()
      flush_all()
      tell("barrier", { id = item.id })
    end)
  end,
  apply = function(item)
    M.flush(M.find(item.path) or -1)
    require("hermes.doc.review_apply").run(M.find(item.path), item, tell)
  end,
}

---@param kind string
---@param item table
function M.receive(kind, item)
  if changed.take == take then -- else it was turned off meanwhile
    items[kind](item)
  end
end

---Notes the text that a decision has given to a buffer.
---@param buf integer
---@param text string
function M.decided(buf, text)
  local h = held[buf]
  if h then
    edits.settle(buf, h, text)
    h.version = disk.version(vim.api.nvim_buf_get_name(buf))
  end
end

---Called once the host knows a decision. Reports the save that it led to, and the text if it is not
---the one of the decision.
---@param buf integer
---@param text? string the text that the decision made
function M.after_decision(buf, text)
  tell_saved(buf)
  if plain.of(buf) ~= text then -- autocommands have changed more, or it failed half way
    M.resend(buf)
  end
end

---Sends the whole text of a held buffer again.
---@param buf integer
function M.resend(buf)
  if held[buf] then
    send_text(buf, held[buf])
  end
end

---------------------------------------------------------------------------
-- On and off.

local group ---@type integer?

---Starts to follow what agents change in buffers.
function M.start()
  if group then
    return
  end
  changed.begin, changed.take = M.flush, take
  require("hermes.doc.refresh").caught_up = function(buf)
    if waiting[buf] then
      vim.schedule(hold_waiting)
    end
  end
  group = vim.api.nvim_create_augroup("hermes.review", {})
  vim.api.nvim_create_autocmd("BufReadPost", {
    group = group,
    callback = function(args)
      if held[args.buf] then
        attach(args.buf)
        reloaded(args.buf)
      elseif vim.bo[args.buf].buftype == "" then
        local path = known[versions.home(args.buf)]
        if path then
          hold(args.buf, path)
        end
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufWritePre", {
    group = group,
    callback = function(args)
      saves.begins(args.buf, args.match)
    end,
  })
  vim.api.nvim_create_autocmd("BufWritePost", {
    group = group,
    callback = function(args)
      if changed.applying[args.buf] then
        saved[args.buf] = args.match -- reported after the change
      elseif vim.bo[args.buf].buftype == "" then
        M.flush(args.buf)
        wrote(args.buf, args.match)
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufFilePre", {
    group = group,
    callback = function(args)
      if held[args.buf] then
        M.flush(args.buf)
        release(args.buf)
      end
    end,
  })
  vim.api.nvim_create_autocmd({ "ModeChanged", "BufEnter", "BufWritePost", "BufModifiedSet" }, {
    group = group,
    callback = function()
      if next(waiting) then
        vim.schedule(hold_waiting)
      end
    end,
  })
end

---Lets go of all buffers, when the host has ended or the review is turned off.
function M.stop()
  for buf in pairs(held) do
    M.flush(buf)
    release(buf)
  end
  known, waiting = {}, {}
  if group then
    vim.api.nvim_del_augroup_by_id(group)
    group, changed.begin, changed.take = nil, nil, nil
    require("hermes.doc.refresh").caught_up = nil
  end
end

return M
