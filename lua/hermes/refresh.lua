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
---@field agent string
---@field sessionId string
---@field call? table the tool call that ended

local queue = {} ---@type integer[] buffers to look at
local causes = {} ---@type table<integer, hermes.refresh.Cause> of the buffers in the queue
local waiting = {} ---@type table<integer, hermes.refresh.Cause> of buffers the user is editing
local tries = {} ---@type table<integer, integer>
local told = {} ---@type table<integer, true> the user knows that the buffer and its file differ
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
    causes[buf] = cause
  end
end

---@private
function M._announce()
  vim.api.nvim_exec_autocmds("FileChangedShellPost", { buffer = M._buf, modeline = false })
end

local notices = {
  conflict = "%s: the file changed on disk and the buffer has unsaved edits;"
    .. " :w! keeps yours, :e! takes the file",
  deleted = "%s was deleted on disk; the buffer still has its text",
}

--- Whether the file of a buffer is among the first that a tool call names.
---@param call table
---@param buf integer
---@return boolean
local function names(call, buf)
  for _, list in ipairs({ call.locations or {}, call.content or {} }) do
    for i = 1, math.min(#list, 20) do
      local path = type(list[i]) == "table" and list[i].path
      if type(path) == "string" and require("hermes.buffer").find(path) == buf then
        return true
      end
    end
  end
  return false
end

---@param buf integer
---@param outcome "refreshed"|"conflict"|"deleted"
---@param cause hermes.refresh.Cause
local function tell(buf, outcome, cause)
  local path = vim.api.nvim_buf_get_name(buf)
  if notices[outcome] then
    if told[buf] then
      return
    end
    told[buf] = true
    local name = vim.fn.fnamemodify(path, ":~:.")
    require("hermes.log").notify(vim.log.levels.WARN, notices[outcome]:format(name))
  else
    M._buf = buf
    -- An error in somebody else's autocommand would ask to press enter.
    pcall(vim.cmd, "silent! unsilent lua require('hermes.refresh')._announce()")
  end
  require("hermes.events").emit("FileEdited", {
    agent = cause.agent,
    sessionId = cause.sessionId,
    toolCallId = cause.call and names(cause.call, buf) and cause.call.toolCallId or nil,
    path = path,
    bufnr = buf,
    outcome = outcome,
  })
end

--- Checks one buffer.
---@param buf integer
local function look(buf)
  local buffer, disk = require("hermes.buffer"), require("hermes.disk")
  local cause = causes[buf]
  causes[buf] = nil
  if not vim.api.nvim_buf_is_loaded(buf) then
    told[buf] = nil
    return
  end
  local state = disk.state(buf)
  if state == "same" then
    told[buf] = nil
    return
  elseif state == "changed" and buffer.is_busy(buf) then
    waiting[buf] = cause
    return
  end
  local ok, outcome = pcall(buffer.update, buf)
  if ok then
    tries[buf] = nil
    if outcome then
      tell(buf, outcome, cause)
    end
    return
  end
  tries[buf] = (tries[buf] or 0) + 1
  if tries[buf] <= M.retries then
    vim.defer_fn(function()
      add(buf, cause)
      schedule(0)
    end, M.retry_ms)
    return
  end
  tries[buf] = nil -- the next tool call or turn tries again
  require("hermes.log").write(vim.log.levels.WARN, ("refresh: %s"):format(outcome))
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

local ended = { completed = true, failed = true }

--- Called after all listeners of an event with which files may have changed. It
--- checks all buffers, whatever a tool call names: that costs one system call
--- each, and agents do not name everything that their commands change.
---@param name string
---@param data table
function M.after(name, data)
  local call
  if name == "AgentToolCall" or name == "AgentToolCallUpdate" then
    local update = data.update or {}
    if data.replay or not ended[update.status] then
      return
    end
    local session = require("hermes.state").session(data.sessionId, data.agent)
    call = session and session.toolCalls[update.toolCallId] or update
  end
  if not require("hermes.config").get().buffer.refresh then
    return
  end
  for _, buf in ipairs(require("hermes.buffer").all()) do
    add(buf, { agent = data.agent, sessionId = data.sessionId, call = call })
  end
  schedule(0)
end

vim.api.nvim_create_autocmd({ "ModeChanged", "BufEnter" }, {
  group = vim.api.nvim_create_augroup("hermes.refresh", {}),
  callback = function()
    if next(waiting) then
      for buf, cause in pairs(waiting) do
        add(buf, cause)
      end
      waiting = {}
      schedule(0)
    end
  end,
})

return M
