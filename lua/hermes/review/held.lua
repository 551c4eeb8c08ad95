---Buffers that hold files under review. The host learns here what the user changes in them, and
---what an agent's write has made of them. The hunks that the host sends are kept here; extmarks
---move them along with the text.
local M = {}

local disk = require("hermes.disk")
local changed = require("hermes.changed")

--- Milliseconds after an edit of the user until the host is told.
M.pause_ms = 20

--- Larger texts are reviewed on the disk only.
M.max_bytes = 8 * 1024 * 1024

-- So many changes of a buffer are remembered, to move the rows of hunks that the host has found
-- before them.
local max_log = 1000

local namespace = vim.api.nvim_create_namespace("hermes.review")

---A run of lines that the user has changed since the host was told.
---@class hermes.review.Region
---@field first integer 0-based row
---@field last integer row after its last line, as the buffer is now
---@field delta integer lines that it has more than before
---@field repeats boolean made by a command that began no undo block of its own, as undo does

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
---@field empty boolean whether the text has had no line since the host was told
---@field final boolean whether the last line has an end
---@field format string 'fileformat'
---@field bomb boolean 'bomb'

local held = {} ---@type table<integer, hermes.review.Held> by buffer
-- The host's names of the files under review, by real path.
local known = {} ---@type table<string, string>
local waiting = {} ---@type table<integer, string> buffers that cannot be held yet
local gone = {} ---@type table<integer, true> held buffers whose text Neovim has thrown away
local listeners = {} ---@type fun(change: hermes.review.Change)[]

---@param payload table
local function tell(payload)
  require("hermes.rpc").send("review", "", payload)
end

---@param path string
---@param buf? integer
local function notify(path, buf)
  for _, fn in ipairs(listeners) do
    require("hermes.events").guard("a listener of review.on_change", fn, {
      path = path,
      bufnr = buf,
    })
  end
end

---Calls a function when hunks come, change or go.
---@param fn fun(change: hermes.review.Change)
---@return fun() off
function M.on_change(fn)
  local function call(...)
    fn(...)
  end
  listeners = vim.list_extend(vim.list_slice(listeners), { call })
  return function()
    listeners = vim.tbl_filter(function(other)
      return other ~= call
    end, listeners)
  end
end

---@param path string
---@return string
local function real(path)
  return vim.uv.fs_realpath(path) or path
end

---------------------------------------------------------------------------
-- What the user changes.

---@param buf integer
---@return boolean
local function has_final_end(buf)
  local o = vim.bo[buf]
  return o.endofline or (o.modified and o.fixendofline and not o.binary)
end

---Whether messages can carry the text of a buffer line by line.
---@param buf integer
---@param text string
---@return boolean
local function is_plain(buf, text)
  local o = vim.bo[buf]
  if o.fileformat == "mac" or not (o.fileencoding == "" or o.fileencoding == "utf-8") then
    return false
  elseif #text > M.max_bytes or text:find("%z") or disk.decode(text, "utf-8") == nil then
    return false
  end
  local _, breaks = text:gsub("\n", "")
  -- Neovim has a line break in the place of a NUL.
  return breaks <= vim.api.nvim_buf_line_count(buf)
end

---Remembers that the host knows all changes of a buffer.
---@param buf integer
---@param h hermes.review.Held
local function told(buf, h)
  h.tick = vim.api.nvim_buf_get_changedtick(buf)
  for i = h.logged + 1, #h.log do
    h.log[i][4] = h.tick
  end
  h.logged = #h.log
  if h.logged > max_log then
    h.log, h.logged, h.floor = {}, 0, h.tick
  end
end

---Remembers what the host knows of a buffer from now on.
---@param buf integer
---@param h hermes.review.Held
---@param text string
local function settle(buf, h, text)
  h.open, h.edits = nil, {}
  h.empty, h.final = text == "", has_final_end(buf)
  h.count = h.empty and 0 or vim.api.nvim_buf_line_count(buf)
  h.format, h.bomb = vim.bo[buf].fileformat, vim.bo[buf].bomb
  h.newest = math.max(h.newest, vim.api.nvim_buf_call(buf, vim.fn.changenr))
  told(buf, h)
end

---@param buf integer
local function release(buf)
  local h = held[buf]
  held[buf], gone[buf], waiting[buf] = nil, nil, nil
  if h then
    tell({ ["do"] = "release", path = h.path })
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
    end
    notify(h.path, buf)
  end
end

---Sends the whole text.
---@param buf integer
---@param h hermes.review.Held
---@param how? { undo?: boolean, reloaded?: boolean }
local function send_text(buf, h, how)
  local text = disk.text(buf)
  if not is_plain(buf, text) then
    return release(buf)
  end
  settle(buf, h, text)
  local message = { ["do"] = "hold", path = h.path, text = text, tick = h.tick }
  tell(vim.tbl_extend("force", message, how or {}))
end

---Takes the lines of the open region, which ends.
---@param buf integer
---@param h hermes.review.Held
---@param shift? integer lines that have been added above it since
local function close(buf, h, shift)
  local open = h.open
  if not open then
    return
  end
  h.open = nil
  shift = shift or 0
  local lines = vim.api.nvim_buf_get_lines(buf, open.first + shift, open.last + shift, false)
  h.edits[#h.edits + 1] = {
    start = open.first,
    ["end"] = open.last - open.delta,
    lines = lines,
    repeats = open.repeats,
  }
end

---Whether the edits can be sent by lines. All is simple as long as every line has an end.
---@param buf integer
---@param h hermes.review.Held
---@return boolean
local function is_simple(buf, h)
  if h.empty or not h.final or not has_final_end(buf) then
    return false
  elseif vim.bo[buf].fileformat ~= h.format or vim.bo[buf].bomb ~= h.bomb then
    return false
  elseif vim.api.nvim_buf_line_count(buf) == 1 and disk.text(buf) == "" then
    return false
  end
  local eol = h.format == "dos" and "\r\n" or "\n"
  for _, edit in ipairs(h.edits) do
    if h.bomb and edit.start == 0 then
      return false
    end
    for i, line in ipairs(edit.lines) do
      if line:find("\n", 1, true) or disk.decode(line, "utf-8") == nil then
        return false
      end
      edit.lines[i] = line .. eol
    end
  end
  return true
end

---Whether a buffer has other bytes than the host knows although no line was changed.
---@param buf integer
---@param h hermes.review.Held
---@return boolean
local function is_other(buf, h)
  return vim.bo[buf].fileformat ~= h.format
    or vim.bo[buf].bomb ~= h.bomb
    or (not h.empty and has_final_end(buf) ~= h.final)
    or (vim.api.nvim_buf_line_count(buf) == 1 and (disk.text(buf) == "") ~= h.empty)
end

---Reports the user's edits of a buffer to the host.
---@param buf integer
function M.flush(buf)
  local h = held[buf]
  if not h or gone[buf] then
    return
  end
  close(buf, h)
  local edits = h.edits
  if #edits == 0 then
    if is_other(buf, h) then
      send_text(buf, h)
    end
    return
  end
  local undo = true
  for _, edit in ipairs(edits) do
    edit.repeats = nil
    undo = undo and edit.undo == true
  end
  if not is_simple(buf, h) then
    return send_text(buf, h, { undo = undo or nil })
  end
  h.edits = {}
  told(buf, h)
  tell({ ["do"] = "edited", path = h.path, edits = edits, tick = h.tick })
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

---Called for each change of a held buffer, so it must be quick.
---@param buf integer
---@param first integer
---@param last integer before
---@param now integer after
---@return boolean? detach
local function on_lines(_, buf, _, first, last, now)
  local h = held[buf]
  if not h then
    return true
  end
  h.log[#h.log + 1] = { first, last, now }
  h.count = h.count + now - last
  if h.count == 0 then -- Neovim counts one line from now on
    h.empty = true
  end
  if changed.applying[buf] then
    return
  end
  local repeats = false
  if buf == vim.api.nvim_get_current_buf() then
    local number = vim.fn.changenr()
    if number > h.newest then
      h.newest = number
    else
      repeats = not vim.api.nvim_get_mode().mode:find("^[iR]")
    end
  end
  local open = h.open
  if open and open.repeats == repeats and first <= open.last and last >= open.first then
    open.first = math.min(open.first, first)
    open.last = math.max(open.last, last) + now - last
    open.delta = open.delta + now - last
  else
    if open and not (first <= open.last and last >= open.first) then
      close(buf, h, last <= open.first and now - last or 0)
    elseif open then
      -- An undo of what has just been typed. The lines between are gone, and so are those that
      -- were typed: together they are one edit of the user.
      open.repeats = false
      open.first = math.min(open.first, first)
      open.last = math.max(open.last, last) + now - last
      open.delta = open.delta + now - last
    end
    h.open = h.open or { first = first, last = now, delta = now - last, repeats = repeats }
  end
  flush_soon()
end

---Neovim reports a change of 'changedtick' alone after it has undone or redone something.
---@param buf integer
local function on_changedtick(_, buf)
  local h = held[buf]
  if not h then
    return true
  elseif changed.applying[buf] then
    return
  end
  close(buf, h)
  for i = #h.edits, 1, -1 do
    if not h.edits[i].repeats then
      break
    end
    h.edits[i].undo = true
  end
end

---------------------------------------------------------------------------
-- Which buffers.

---@param buf integer
---@return integer number of the newest undo block
local function newest_block(buf)
  local ok, tree = pcall(vim.fn.undotree, buf)
  return ok and tree.seq_last or 0
end

---After :edit and the like: the buffer has another text.
---@param buf integer
local function reloaded(buf)
  local h = held[buf]
  if h then
    gone[buf] = nil
    h.open, h.edits, h.newest = nil, {}, newest_block(buf)
    -- What an agent has written in the meantime is on the disk and in the buffer now.
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
    on_lines = on_lines,
    on_changedtick = on_changedtick,
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

---@param buf integer
---@param path string as the host calls the file
---@param cause? hermes.refresh.Cause why the buffer may have to be refreshed first
---@param again? boolean whether that has been asked for
local function hold(buf, path, cause, again)
  if held[buf] then
    return
  end
  local state = disk.state(buf)
  if state == "changed" or state == "conflict" then
    -- The host would take what the disk has and the buffer lacks for the user's deletions.
    waiting[buf] = path
    if not again and require("hermes.config").get().buffer.refresh then
      require("hermes.refresh").check(buf, cause or {})
    end
    return
  end
  waiting[buf] = nil
  local text = disk.text(buf)
  if not is_plain(buf, text) or not attach(buf) then
    return tell({ ["do"] = "release", path = path })
  end
  local h =
    { path = path, edits = {}, log = {}, logged = 0, floor = 0, hunks = {}, marks = {}, newest = 0 }
  h.version = disk.version(vim.api.nvim_buf_get_name(buf))
  h.newest = newest_block(buf)
  held[buf] = h
  send_text(buf, h)
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
  return held[buf] and held[buf].path or (name ~= "" and known[real(name)] or nil)
end

---@return integer[] held buffers
function M.buffers()
  return vim.tbl_keys(held)
end

---------------------------------------------------------------------------
-- What agents change.

---Called before an agent's change of a buffer.
---@param buf integer
local function begin(buf)
  M.flush(buf)
end

local saved = {} ---@type table<integer, string> files that were written during an agent's change

---@param buf integer
---@param file string absolute
local function wrote(buf, file)
  local h = held[buf]
  local name = vim.api.nvim_buf_get_name(buf)
  if real(file) ~= real(name) then
    h = nil -- a copy
  elseif h then
    h.version = disk.version(name)
  end
  tell({ ["do"] = "wrote", path = h and h.path or file })
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

local outcomes = { written = true, refreshed = true, merged = true }

---Called after an agent's change of a buffer.
---@param change table see hermes.changed
---@return boolean taken the host reports it
local function take(change)
  local buf = change.bufnr
  if next(waiting) then
    vim.schedule(hold_waiting)
  end
  if not change.agent then -- the host knows, or finds out
    if held[buf] then
      settle(buf, held[buf], change.text)
      send_text(buf, held[buf], { reloaded = true })
    end
    return true
  elseif change.outcome == "deleted" or (change.outcome == "conflict" and not held[buf]) then
    change = vim.tbl_extend("force", change, { text = "\0" }) -- the disk has something else
  elseif not outcomes[change.outcome] then
    return false
  end
  local h = held[buf]
  local message = {
    ["do"] = "changed",
    path = h and h.path or change.path,
    agent = change.agent,
    sessionId = change.sessionId,
    toolCallId = change.toolCallId,
    source = change.source,
    tick = vim.api.nvim_buf_get_changedtick(buf),
  }
  local text = change.text or disk.text(buf)
  if is_plain(buf, text) then
    message.text = text
    message.before = not h and change.before or nil
    if h then
      settle(buf, h, text)
      h.version = disk.version(vim.api.nvim_buf_get_name(buf))
    end
    tell(message)
  else -- the host looks at the disk
    tell(message)
    release(buf)
  end
  tell_saved(buf)
  return true
end

---------------------------------------------------------------------------
-- Hunks.

---Where a row of an earlier text is now.
---@param row integer
---@param log integer[][]
---@return integer
local function follow(row, log)
  for _, entry in ipairs(log) do
    local first, last, now = entry[1], entry[2], entry[3]
    if row >= last then
      row = row + now - last
    elseif row > first then
      row = math.min(row, now)
    end
  end
  return row
end

---@param item { path: string, tick: integer, hunks: table[] }
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
  local log = vim.tbl_filter(function(entry)
    return not entry[4] or entry[4] > item.tick
  end, h.log)
  h.logged = h.logged - (#h.log - #log)
  h.log, h.hunks, h.marks = log, item.hunks, {}
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local count = vim.api.nvim_buf_line_count(buf)
  for i, hunk in ipairs(item.hunks) do
    local first = math.min(follow(hunk.current.start, log), count)
    local last = math.max(first, math.min(follow(hunk.current["end"], log), count))
    h.marks[i] = vim.api.nvim_buf_set_extmark(buf, namespace, first, 0, {
      end_row = last,
      end_col = 0,
      strict = false,
      end_right_gravity = false,
      undo_restore = false,
    })
  end
  notify(h.path, buf)
end

---The hunks of a held buffer where they are now.
---@param buf integer
---@return table[]? hunks as the host sent them, with the rows `first` and `last` (exclusive); nil
---when the buffer is not held
function M.hunks(buf)
  local h = held[buf]
  if not h then
    return nil
  end
  local list = {}
  for i, hunk in ipairs(h.hunks) do
    local mark = vim.api.nvim_buf_get_extmark_by_id(buf, namespace, h.marks[i], { details = true })
    local first = mark[1] or 0
    local last = math.max(first, mark[3] and mark[3].end_row or first)
    list[i] = { hunk = hunk, first = first, last = last }
  end
  return list
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

---@type table<string, fun(item: table)>
local items = {
  hold = function(item)
    known[real(item.path)] = item.path
    local buf = require("hermes.buffer").find(item.path)
    if buf and held[buf] and item.again then -- an edit did not fit
      M.flush(buf)
      M.resend(buf)
    elseif buf then
      hold(buf, item.path, item)
    end
  end,
  look = function(item)
    local buf = M.find(item.path) or require("hermes.buffer").find(item.path)
    if buf and require("hermes.config").get().buffer.refresh then
      require("hermes.refresh").check(buf, item)
    end
  end,
  hunks = take_hunks,
  barrier = function(item)
    if item.look then
      vim.iter(M.buffers()):each(require("hermes.refresh").now)
    end
    flush_all()
    tell({ ["do"] = "barrier", id = item.id })
  end,
  apply = function(item)
    M.flush(M.find(item.path) or -1)
    require("hermes.review.apply").run(M.find(item.path), item, tell)
  end,
}

---@param kind string
---@param item table
function M.receive(kind, item)
  if changed.take == take then -- else it was turned off meanwhile
    items[kind](item)
  end
end

---Remembers what a decision has made of a buffer.
---@param buf integer
---@param text string
function M.decided(buf, text)
  local h = held[buf]
  if h then
    settle(buf, h, text)
    h.version = disk.version(vim.api.nvim_buf_get_name(buf))
  end
end

---Reports what followed from a decision, after the host has heard of the decision.
---@param buf integer
---@param text? string what it has made of the buffer
function M.after_decision(buf, text)
  tell_saved(buf)
  if disk.text(buf) ~= text then -- autocommands have changed more, or it failed half way
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
  changed.begin, changed.take = begin, take
  group = vim.api.nvim_create_augroup("hermes.review", {})
  vim.api.nvim_create_autocmd("BufReadPost", {
    group = group,
    callback = function(args)
      if held[args.buf] then
        attach(args.buf)
        reloaded(args.buf)
      elseif vim.bo[args.buf].buftype == "" then
        local path = known[real(vim.api.nvim_buf_get_name(args.buf))]
        if path then
          hold(args.buf, path)
        end
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufWritePost", {
    group = group,
    callback = function(args)
      if changed.applying[args.buf] then
        saved[args.buf] = args.match -- told after the change
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
  end
end

return M
