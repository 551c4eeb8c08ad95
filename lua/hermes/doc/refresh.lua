--- Shows changes that agents make on disk by their own means. Buffers are
--- checked when a tool call or a command ends, and at the end of a turn.

local M = {}

--- Milliseconds of work, and milliseconds of pause between two pieces of work,
--- so that many buffers do not delay the user.
M.slice_ms, M.pause_ms = 5, 10

--- How often, and how many milliseconds apart, a buffer is retried while it is
--- locked.
M.retries, M.retry_ms = 40, 50

---@class hermes.refresh.Cause
---@field agent? string nil when nobody knows who changed the file
---@field sessionId? string
---@field call? table the tool call that ended
---@field toolCallId? string of the call, if it names the file

--- Called when a buffer has been found to hold what its file has.
---@type (fun(buf: integer))?
M.caught_up = nil

local queue = {} ---@type integer[] buffers to look at
local causes = {} ---@type table<integer, hermes.refresh.Cause> of the buffers in the queue
local waiting = {} ---@type table<integer, hermes.refresh.Cause> of buffers the user is editing
local tries = {} ---@type table<integer, integer>
-- Since when files have been found being written, in nanoseconds.
local unsettled = {} ---@type table<integer, integer>
-- Why buffers and their files differ, once a message has said so.
local told = {} ---@type table<integer, hermes.refresh.Cause>
local merging = {} ---@type table<integer, true> the host is asked for the result
-- Buffers that are read-only because their names lead to other files, which `:w` would overwrite,
-- or to none, such as a named pipe, for which it would wait.
local locked = {} ---@type table<integer, true>
local scheduled = false

local function schedule(ms)
  if not scheduled then
    scheduled = true
    vim.defer_fn(function()
      scheduled = false
      M.work()
    end, ms)
  end
end

---@param buf integer
---@param cause hermes.refresh.Cause
local function add(buf, cause)
  if not causes[buf] then
    queue[#queue + 1] = buf
  end
  if not (causes[buf] and causes[buf].agent) then
    causes[buf] = cause
  end
end

---@private
function M._announce()
  vim.api.nvim_exec_autocmds("FileChangedShellPost", { buffer = M._buf, modeline = false })
end

local notices = {
  conflict = "%s: the file changed on disk where you have unsaved edits;"
    .. " yours stay until you choose with :Hermes conflict",
  deleted = "%s was deleted on disk; the buffer still has its text",
  strayed = "%s leads to another file on disk now; the buffer keeps its text, read-only",
}

--- The notice that a buffer does not follow its file, because one of them is too large, and what
--- the user can do.
---@param buf integer
---@return string notice
local function large(buf)
  local disk, buffer_text = require("hermes.core.disk"), require("hermes.doc.buffer_text")
  local size = disk.size(vim.api.nvim_buf_get_name(buf)) or 0
  local what = "%s: the file has changed on disk, and the buffer is too large to follow it"
  if size > disk.max_bytes then
    local mb = size / 1e6
    what = ("%%s is %s MB now"):format((mb < 10 and "%.1f" or "%.0f"):format(mb))
  elseif not buffer_text.is_large(buf) then
    local bytes = require("hermes.doc.versions").read(buf)
    what = bytes
        and not buffer_text.is_long(bytes)
        and ("%%s is not text in the encoding %s any more"):format(
          vim.bo[buf].fileencoding == "" and "utf-8" or vim.bo[buf].fileencoding
        )
      or ("%%s has more than %d lines now"):format(buffer_text.max_lines)
  end
  return what
    .. (
      vim.bo[buf].modified
        and " and is not merged with your edits; :e! loads it, :w! writes yours"
      or "; :edit loads it"
    )
end

--- Whether the file of a buffer is among the first that a tool call names.
---@param call table
---@param buf integer
---@return boolean
local function names(call, buf)
  local find = require("hermes.doc.buffer").finder()
  for _, list in ipairs({ call.locations or {}, call.content or {} }) do
    for i = 1, math.min(#list, 20) do
      local path = type(list[i]) == "table" and list[i].path
      if type(path) == "string" and find(path) == buf then
        return true
      end
    end
  end
  return false
end

--- Has `:w` refuse, without "!", to write to what the name of a buffer leads to.
---@param buf integer
local function lock(buf)
  local versions = require("hermes.doc.versions")
  local refused = versions.refusal(buf) ~= nil and not versions.is_managed(buf)
  if refused and not vim.bo[buf].readonly then
    vim.bo[buf].readonly, locked[buf] = true, true
  elseif not refused and locked[buf] then
    vim.bo[buf].readonly, locked[buf] = false, nil
  end
end

--- Says once that a buffer and its file differ, or lets other plugins know that
--- the buffer has changed.
---@param buf integer
---@param outcome hermes.changed.Outcome
---@param cause hermes.refresh.Cause
local function tell(buf, outcome, cause)
  local notice = outcome == "large" and large(buf) or notices[outcome]
  local grown = outcome == "large" and not require("hermes.doc.buffer_text").is_large(buf)
  require("hermes.doc.autoread").look(buf, grown)
  if not notice then
    told[buf] = nil
    M._buf = buf
    -- An error in somebody else's autocommand would ask to press enter.
    pcall(vim.cmd, "silent! unsilent lua require('hermes.doc.refresh')._announce()")
    return
  elseif told[buf] then
    return
  end
  told[buf] = cause
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":~:.")
  require("hermes.core.log").notify(vim.log.levels.WARN, notice:format(name))
  require("hermes.doc.applied").report({
    bufnr = buf,
    agent = cause.agent,
    sessionId = cause.sessionId,
    toolCallId = cause.toolCallId,
    source = cause.toolCallId and "tool" or "disk",
    outcome = outcome == "strayed" and "conflict" or outcome,
  })
end

--- Why a buffer and its file differ, once a message has reported it.
---@param buf integer
---@return hermes.refresh.Cause? cause nil before that message
function M.cause(buf)
  return told[buf]
end

--- Looks at a buffer once more that could not be changed.
---@param buf integer
---@param cause hermes.refresh.Cause
---@param problem string
local function retry(buf, cause, problem)
  tries[buf] = (tries[buf] or 0) + 1
  if tries[buf] <= M.retries then
    vim.defer_fn(function()
      add(buf, cause)
      schedule(0)
    end, M.retry_ms)
    return
  end
  tries[buf] = nil -- the next tool call or turn tries again
  require("hermes.core.log").write(vim.log.levels.WARN, ("refresh: %s"):format(problem))
end

--- Merges the file into a buffer with unsaved edits.
---@param buf integer
---@param cause hermes.refresh.Cause
local function merge(buf, cause)
  if merging[buf] then
    return
  end
  merging[buf] = true
  require("hermes.doc.merge").with_disk(buf, cause, function(outcome)
    merging[buf] = nil
    if outcome == "busy" then
      waiting[buf] = cause
    elseif outcome == "locked" then
      retry(buf, cause, "the buffer cannot be changed")
    elseif outcome ~= "gone" then
      tries[buf] = nil
      tell(buf, outcome, cause)
    end
  end)
end

--- Looks at the buffers again that could not be changed yet.
local function again()
  if next(waiting) then
    for buf, cause in pairs(waiting) do
      add(buf, cause)
    end
    waiting = {}
    schedule(0)
  end
end

--- Looks at a buffer again when its file has been left alone for a while.
---@param buf integer
---@param cause hermes.refresh.Cause
---@param ms integer
local function wait_for(buf, cause, ms)
  unsettled[buf] = unsettled[buf] or vim.uv.hrtime()
  require("hermes.doc.ancestor").note(buf) -- before the user edits it
  waiting[buf] = cause
  vim.defer_fn(again, ms)
end

--- Checks one buffer.
---@param buf integer
local function look(buf)
  local buffer, versions = require("hermes.doc.buffer"), require("hermes.doc.versions")
  local disk = require("hermes.core.disk")
  local cause = causes[buf]
  causes[buf] = nil
  if not cause then -- looked at meanwhile
    return
  elseif not vim.api.nvim_buf_is_loaded(buf) then
    told[buf], locked[buf] = nil, nil
    return
  end
  local state = versions.state(buf)
  lock(buf)
  if state == "same" then
    require("hermes.doc.autoread").look(buf, false) -- a pipe has no state
    told[buf], unsettled[buf] = nil, nil
    return M.caught_up and M.caught_up(buf)
  end
  local wait = disk.unsettled(vim.api.nvim_buf_get_name(buf))
  local now = vim.uv.hrtime()
  if wait > 0 and (now - (unsettled[buf] or now)) / 1e6 < disk.settle_limit_ms then
    return wait_for(buf, cause, wait)
  end
  unsettled[buf] = nil
  if cause.call and names(cause.call, buf) then
    cause = vim.tbl_extend("force", cause, { toolCallId = cause.call.toolCallId })
  end
  if state == "conflict" then
    if require("hermes.doc.merge").may_change(buf) then
      merge(buf, cause)
    else
      waiting[buf] = cause
    end
    return
  elseif state == "changed" and buffer.is_busy(buf) then
    require("hermes.doc.ancestor").note(buf) -- before the user edits it
    waiting[buf] = cause
    return
  end
  local ok, outcome = pcall(buffer.update, buf, cause)
  if not ok then
    retry(buf, cause, outcome)
  elseif outcome == "conflict" then -- edited meanwhile
    tries[buf] = nil
    merge(buf, cause)
  elseif outcome == "unsettled" then -- emptied meanwhile
    wait_for(buf, cause, disk.settle_ms)
  else
    tries[buf] = nil
    if outcome then
      tell(buf, outcome, cause)
    elseif M.caught_up then
      M.caught_up(buf)
    end
  end
end

---@private
function M.work()
  local stop = vim.uv.hrtime() + M.slice_ms * 1e6
  while #queue > 0 and vim.uv.hrtime() < stop do
    look(table.remove(queue, 1))
  end
  if #queue > 0 then
    schedule(M.pause_ms)
  end
end

--- Checks a buffer at once if it is to be checked.
---@param buf integer
function M.now(buf)
  causes[buf], waiting[buf] = causes[buf] or waiting[buf], nil
  look(buf)
end

--- Checks a buffer because its file has changed.
---@param buf integer
---@param cause hermes.refresh.Cause
function M.check(buf, cause)
  add(buf, cause)
  schedule(0)
end

local ended = { completed = true, failed = true }

--- Called after all listeners of an event with which files may have changed, or
--- may change soon. It checks all buffers, whatever a tool call names: that costs one system call
--- each, and agents do not name everything that their commands change.
---@param name string
---@param data table
function M.after(name, data)
  if name == "TurnStarted" then
    return require("hermes.doc.ancestor").note_all()
  end
  local call
  if name == "AgentToolCall" or name == "AgentToolCallUpdate" then
    local update = data.update or {}
    if data.replay then
      return
    elseif not ended[update.status] then
      return require("hermes.doc.ancestor").note_all()
    end
    local session = require("hermes.session.state").session(data.sessionId, data.agent)
    call = session and session.toolCalls[update.toolCallId] or update
  end
  if not require("hermes.core.config").get().buffer.refresh then
    return
  end
  for _, buf in ipairs(require("hermes.doc.buffer").all()) do
    add(buf, { agent = data.agent, sessionId = data.sessionId, call = call })
  end
  schedule(0)
end

--- Milliseconds that a `:w` waits for a merge, which usually takes a few.
M.write_ms = 1000

--- Called when the user writes a buffer that was not looked at yet. Otherwise Neovim would ask
--- whether to overwrite the agent's text.
---@param buf integer
---@param path string that is written
local function before_write(buf, path)
  local disk, versions = require("hermes.core.disk"), require("hermes.doc.versions")
  local name = vim.api.nvim_buf_get_name(buf)
  if vim.fs.normalize(path) ~= vim.fs.normalize(name) then
    return
  end
  local state = versions.state(buf)
  if state ~= "same" then
    vim.wait(M.write_ms, function()
      return disk.unsettled(vim.api.nvim_buf_get_name(buf)) == 0
    end, 5)
    state = versions.state(buf)
  end
  local cause = causes[buf] or waiting[buf]
  if state == "changed" then
    pcall(require("hermes.doc.buffer").update, buf, cause)
  elseif state == "conflict" and not told[buf] then
    local done = false
    require("hermes.doc.merge").with_disk(buf, cause, function()
      done = true
    end)
    vim.wait(M.write_ms, function()
      return done
    end, 2)
  end
end

vim.api.nvim_create_autocmd("BufWritePre", {
  group = vim.api.nvim_create_augroup("hermes.refresh.write", {}),
  nested = true, -- for the autocommand in write.accept()
  callback = function(args)
    if
      require("hermes.core.config").get().buffer.refresh
      and require("hermes.core.rpc").running()
      and not require("hermes.doc.applied").applying[args.buf]
    then
      before_write(args.buf, args.match)
    end
  end,
})

vim.api.nvim_create_autocmd({ "ModeChanged", "BufEnter", "BufModifiedSet" }, {
  group = vim.api.nvim_create_augroup("hermes.refresh", {}),
  callback = again,
})

return M
