--- The traffic inspector: what Neovim and its agents say to each other, as it is
--- on the wire. It listens to the event TrafficMessage, which the host sends only
--- while somebody does.

local api = vim.api
local hermes = require("hermes")
local filters = require("hermes.view.traffic.filters")
local message = require("hermes.view.traffic.message")
local store = require("hermes.view.traffic.store")

local M = {}

local captured = store.new()
local off ---@type fun()? stops capturing
local kept = false -- the user called start(): closing the window does not end it
local list ---@type hermes.TrafficList?
local filter = {} ---@type hermes.TrafficFilter
local details ---@type { buf: integer, entry: hermes.TrafficEntry }?

---@param buf integer
---@return integer? window of any tab page
local function window_of(buf)
  return api.nvim_buf_is_valid(buf) and vim.fn.win_findbuf(buf)[1] or nil
end

---@param line string
local function say(line)
  require("hermes.core.log").show(vim.log.levels.INFO, line)
end

local function show_status()
  if not list or not api.nvim_buf_is_valid(list.buf) then
    return
  end
  local count = captured.last - captured.first + 1
  local kb = captured.bytes / 1e3
  local size = kb < 1e3 and ("%d KB"):format(math.ceil(kb)) or ("%.1f MB"):format(kb / 1e3)
  local parts = { ("%d messages, %s"):format(count, size) }
  if filters.words(filter) ~= "" then
    parts[#parts + 1] = ("%d of them: %s"):format(list.last - list.first + 1, filters.words(filter))
  end
  parts[#parts + 1] = off and "g? shows the keys" or "paused"
  local status = table.concat(parts, " · ")
  if vim.b[list.buf].hermes_traffic ~= status then
    vim.b[list.buf].hermes_traffic = status
    vim.cmd.redrawstatus({ bang = true })
  end
end

local function capture()
  if off then
    return
  end
  off = hermes.on("TrafficMessage", function(data)
    local entry = captured:add(data)
    if list then
      list:added(entry)
    end
  end)
end

--- Captures messages from now on, until stop(), whether a window shows them or
--- not.
function M.start()
  kept = true
  capture()
  show_status()
end

--- Captures no more messages and forgets those that were captured.
function M.stop()
  kept = false
  M.pause()
  captured = store.new()
  if list then
    list.store = captured
    list:filter(store.matcher(filter))
  end
  require("hermes.core.listeners").watch_traffic()
end

--- Captures no more messages until resume(), and keeps those there are.
function M.pause()
  if off then
    off()
    off = nil
    require("hermes.core.listeners").watch_traffic()
  end
  show_status()
end

--- Captures messages again.
function M.resume()
  capture()
  show_status()
end

--- Whether messages are being captured.
---@return boolean
function M.capturing()
  return off ~= nil
end

---@class hermes.CapturedMessage
---@field agent string
---@field connection integer
---@field seq integer
---@field direction "in"|"out"
---@field kind "request"|"notification"|"response"|"other"
---@field method? string for a response, the method of its request
---@field id? string JSON
---@field session? string
---@field message string JSON
---@field failed? boolean
---@field time string RFC 3339
---@field ms? number from the request to the response, in both of them

--- The captured messages, the oldest first. Copies.
---@param which? hermes.TrafficFilter
---@return hermes.CapturedMessage[]
function M.messages(which)
  local matches = store.matcher(which or {})
  local found = {}
  for n = captured.first, captured.last do
    local entry = captured.entries[n]
    if matches(entry) then
      local copy = vim.tbl_extend("force", {}, entry)
      copy.other, copy.n = nil, nil
      found[#found + 1] = copy
    end
  end
  return found
end

--- Shows only some of the messages. Without a filter, all.
---@param which? hermes.TrafficFilter
function M.filter(which)
  local problem = filters.problem(which or {})
  if problem then
    error("hermes.traffic: " .. problem, 2)
  end
  filter = vim.tbl_extend("force", {}, which or {})
  if list then
    list:filter(store.matcher(filter))
  end
  show_status()
end

--- A filter from words such as method=session/prompt; all others are the text.
---@param words string[]
---@return hermes.TrafficFilter
function M.parse_filter(words)
  return filters.parse(words)
end

---@param changes table<string, string|false>
local function refine(changes)
  local which = vim.tbl_extend("force", {}, filter)
  for name, value in pairs(changes) do
    which[name] = value or nil
  end
  M.filter(which)
end

---------------------------------------------------------------------------
-- One message.

---@return hermes.TrafficEntry? # in the window of the list or of a message
local function current()
  local buf = api.nvim_get_current_buf()
  if details and buf == details.buf then
    return details.entry
  elseif list and buf == list.buf then
    return list:current()
  end
end

local map ---@type fun(buf: integer, in_details: boolean)

--- Shows a message in a window of its own.
---@param entry hermes.TrafficEntry
---@param focus boolean
local function show_details(entry, focus)
  local window = details and window_of(details.buf)
  if not window then
    local buf = api.nvim_create_buf(false, true)
    api.nvim_buf_set_name(buf, "hermes://message")
    vim.bo[buf].bufhidden = "wipe"
    vim.bo[buf].undolevels = -1
    window = api.nvim_open_win(buf, false, { split = "right", win = api.nvim_get_current_win() })
    details = { buf = buf, entry = entry }
    vim.wo[window].winfixbuf = false
    map(buf, true)
  end
  local buf = details.buf
  details.entry = entry
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, {})
  vim.bo[buf].modifiable = false
  vim.bo[buf].shiftwidth = 2
  if #entry.message <= message.max_highlighted then
    vim.bo[buf].filetype = "json"
  else
    vim.bo[buf].filetype = ""
  end
  local wo = vim.wo[window][0]
  wo.foldmethod, wo.foldlevel, wo.wrap, wo.conceallevel = "indent", 6, false, 0
  wo.winbar = "%{get(b:, 'hermes_traffic', '')}%<"
  vim.b[buf].hermes_traffic = message.describe(entry)
  message.fill(buf, entry, function()
    return details ~= nil and details.entry == entry
  end)
  if focus then
    api.nvim_set_current_win(window)
  end
end

--- Goes from a request to its response, or back.
local function jump()
  local entry = current()
  if not entry then
    return
  end
  local other = entry.other
  if not other then
    return say(
      entry.kind == "request" and "there is no response yet"
        or entry.kind == "response" and "the request is not kept"
        or "only requests and responses have another end"
    )
  end
  if details and api.nvim_get_current_buf() == details.buf then
    show_details(other, true)
  end
  local line = list and list:line_of(other)
  local window = list and window_of(list.buf)
  if not line or not window then
    return say("the filter hides the other end")
  end
  api.nvim_win_call(window, function()
    vim.cmd("normal! m'") -- <C-o> comes back
    api.nvim_win_set_cursor(window, { line, 0 })
  end)
end

---------------------------------------------------------------------------
-- Recordings.

---@return string
local function new_path()
  local folder = vim.fs.joinpath(vim.fn.stdpath("state"), "hermes", "recordings")
  vim.fn.mkdir(folder, "p", 448) -- 0700
  return vim.fs.joinpath(folder, os.date("%Y%m%d-%H%M%S") .. ".jsonl")
end

--- Saves the messages of one connection as a recording, which `hermes replay` and `hermes check`
--- read. It is the connection of the message under the cursor, otherwise of the newest message.
---@param path? string default: a new file below stdpath("state")
---@param on_done? fun(err: string?, path: string)
function M.save(path, on_done)
  local chosen = current() or captured.entries[captured.last]
  if not chosen then
    error("hermes.traffic: nothing was captured", 0)
  end
  local entries = {}
  for n = captured.first, captured.last do
    local entry = captured.entries[n]
    if entry.connection == chosen.connection then
      entries[#entries + 1] = entry
    end
  end
  path = path and vim.fn.fnamemodify(path, ":p") or new_path()
  local recording = require("hermes.view.traffic.recording")
  recording.write(path, recording.lines(entries), function(err)
    if on_done then
      return on_done(err, path)
    end
    say(
      err and "the recording was not saved: " .. err
        or ("%d messages saved as %s"):format(#entries, path)
    )
  end)
end

local replays = 0

--- Plays a recording: connects an agent that repeats the recorded agent's messages, and sends it
--- the client's. The events are the same as in the recording.
---@param path string
---@param on_done? fun(err: hermes.Error?, agent: string)
function M.replay(path, on_done)
  path = vim.fn.fnamemodify(path, ":p")
  local recording = require("hermes.view.traffic.recording")
  local messages, problem = recording.read(path)
  if not messages then
    error("hermes.traffic: " .. problem, 0)
  end
  local host, missing = require("hermes.core.host").command()
  if not host then
    error("hermes.traffic: " .. missing, 0)
  end
  replays = replays + 1
  local agent = "replay-" .. replays
  hermes.connect(agent, {
    command = host[1],
    args = { "replay", path },
    on_done = function(err)
      local function finish(failed)
        if on_done then
          on_done(failed, agent)
        else
          say(failed and "the replay failed: " .. failed.message or "the recording was replayed")
        end
      end
      if err then
        return finish(err)
      end
      recording.play(agent, recording.script(messages), finish)
    end,
  })
end

---------------------------------------------------------------------------
-- The window.

---@param field "session"|"method"|"agent"
---@return fun()
local function toggle(field)
  return function()
    local entry = current()
    if filter[field] then
      refine({ [field] = false })
    elseif entry and entry[field] then
      refine({ [field] = entry[field] })
    end
  end
end

local actions ---@type table<string, { key: string, help: string, run: fun(), details?: boolean }>

local function show_help()
  local lines = {}
  for _, action in vim.spairs(actions) do
    lines[#lines + 1] = ("%-6s %s"):format(action.key, action.help)
  end
  table.sort(lines)
  api.nvim_echo({ { table.concat(lines, "\n") } }, false, {})
end

actions = {
  show = {
    key = "<CR>",
    help = "show the message",
    run = function()
      local entry = current()
      if entry then
        show_details(entry, true)
      end
    end,
  },
  preview = {
    key = "o",
    help = "show the message and stay here",
    run = function()
      local entry = current()
      if entry then
        show_details(entry, false)
      end
    end,
  },
  jump = { key = "gd", help = "go to the response, or to the request", run = jump, details = true },
  session = { key = "s", help = "only this session, or all", run = toggle("session") },
  method = { key = "m", help = "only this method, or all", run = toggle("method") },
  agent = { key = "a", help = "only this agent, or all", run = toggle("agent") },
  direction = {
    key = "d",
    help = "only to the agent, only from it, or both",
    run = function()
      local next = { out = "in", ["in"] = false }
      local value = next[filter.direction]
      refine({ direction = value == nil and "out" or value })
    end,
  },
  filter = {
    key = "f",
    help = "filter by text, or by name=value",
    run = function()
      vim.ui.input({ prompt = "Filter: " }, function(line)
        if line then
          M.filter(M.parse_filter(vim.split(line, "%s+", { trimempty = true })))
        end
      end)
    end,
  },
  clear = {
    key = "c",
    help = "show all messages",
    run = function()
      M.filter()
    end,
  },
  pause = {
    key = "p",
    help = "pause, or go on",
    run = function()
      if off then
        M.pause()
      else
        M.resume()
      end
    end,
  },
  save = {
    key = "S",
    help = "save the connection as a recording",
    run = function()
      if captured.last < captured.first then
        return say("nothing was captured")
      end
      M.save()
    end,
    details = true,
  },
  close = {
    key = "q",
    help = "close",
    run = function()
      if not pcall(api.nvim_win_close, 0, true) then -- the last window
        vim.wo.winfixbuf = false
        vim.cmd.enew()
      end
    end,
    details = true,
  },
  help = { key = "g?", help = "these keys", run = show_help, details = true },
}

map = function(buf, in_details)
  local opts = { buffer = buf, nowait = true, silent = true }
  for action, its in pairs(actions) do
    if its.details or not in_details then
      local plug = ("<Plug>(hermes-traffic-%s)"):format(action)
      vim.keymap.set("n", plug, its.run, opts)
      if require("hermes.core.config").get().traffic.keys then
        vim.keymap.set("n", its.key, plug, vim.tbl_extend("force", opts, { remap = true }))
      end
    end
  end
end

--- Shows the messages in a window, and captures them from now on. Closing the
--- window ends it, unless start() was called.
---@param which? hermes.TrafficFilter
---@return integer buf
function M.open(which)
  capture()
  local window = list and window_of(list.buf)
  if window then
    api.nvim_set_current_win(window)
  else
    list = require("hermes.view.traffic.list").new(captured, show_status)
    local buf = list.buf
    window = api.nvim_open_win(buf, true, {
      split = "below",
      win = -1,
      height = math.max(5, math.floor(vim.o.lines / 2)),
    })
    local wo = vim.wo[window][0] -- other buffers in the window keep the user's options
    wo.number, wo.relativenumber, wo.wrap, wo.list = false, false, false, false
    wo.spell, wo.signcolumn, wo.foldcolumn = false, "no", "0"
    wo.cursorline, wo.winfixbuf = true, true
    wo.winbar = "%{get(b:, 'hermes_traffic', '')}%<"
    vim.bo[buf].filetype = "hermes-traffic"
    map(buf, false)
    api.nvim_create_autocmd("BufWipeout", {
      buffer = buf,
      once = true,
      callback = function()
        list = nil
        if not kept then
          M.stop()
        end
      end,
    })
    list:draw_soon(1)
  end
  M.filter(which or filter)
  return list.buf
end

--- Closes the window.
function M.close()
  if list and api.nvim_buf_is_valid(list.buf) then
    api.nvim_buf_delete(list.buf, { force = true })
  end
end

return M
