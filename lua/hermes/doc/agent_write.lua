--- An agent's write of a file that is open: the buffer gets the new text as one undo step, and is
--- saved as `:write` does. The user may go on typing meanwhile, so a write goes in steps, and
--- begins again where the buffer has changed.
local M = {}

local buffer = require("hermes.doc.buffer")
local buffer_text = require("hermes.doc.buffer_text")
local versions = require("hermes.doc.versions")
local disk = require("hermes.core.disk")
local replace = require("hermes.doc.replace")
local writing = require("hermes.doc.write")

--- How often, and how many milliseconds apart, a write is retried while the
--- buffer is locked.
M.retries, M.retry_ms = 40, 50

--- How often a write is merged anew because the user changes the same place meanwhile.
M.merges = 100

--- Writes of more than this many bytes are prepared in several slices.
M.at_once = 256 * 1024

--- The most bytes and lines that an agent can write into a buffer. Replacing the text of a buffer
--- cannot be interrupted.
M.max_bytes, M.max_lines = 4 * 1024 * 1024, 250000

-- Added to the reason when a write fails after the buffer was changed.
local unsaved = "; the buffer holds the change, unsaved"

---@param content string
---@return string content without a byte order mark
local function without_mark(content)
  return content:sub(1, #buffer_text.bom) == buffer_text.bom and content:sub(#buffer_text.bom + 1)
    or content
end

--- Says why the buffer may not be written, if so.
---@param buf integer
---@param content string
---@return string?
local function refusal(buf, content)
  local problem = versions.refusal(buf)
  if problem then
    return problem
  end
  local outcome = buffer.update(buf)
  if outcome == "conflict" then
    return "changed on disk while the buffer has unsaved edits"
  elseif outcome == "large" then
    return "changed on disk, and is too large for the editor"
  elseif outcome == "unsettled" then
    writing.accept(buf, false) -- whatever somebody has begun to write, this comes after it
  elseif vim.bo[buf].readonly then
    return "E45: 'readonly' option is set"
  end
  if disk.is_readonly(vim.api.nvim_buf_get_name(buf)) then
    return "E505: the file is read-only"
  end
  return require("hermes.core.encoding").problem(content, vim.bo[buf].fileencoding)
end

-- Temporary errors: textlock, the command-line window, blocked autocommands,
-- and a buffer that is unmodifiable for a moment.
local passing = { "E565:", "E523:", "E788:", "E11:", "E21:", "E218:" }

--- The text that a write has led to. An autocommand may have changed the file
--- once more, as formatters do; then the buffer follows.
---@param buf integer
---@param content string that was to be written
---@param opts hermes.agent_write.Opts
---@return string
local function written(buf, content, opts)
  local saved = opts.save ~= false and not vim.bo[buf].modified and not versions.is_managed(buf)
  if saved and versions.read(buf) == content then
    return content -- reading a large buffer takes time
  end
  local text = buffer_text.text(buf)
  if opts.save == false or vim.bo[buf].modified or versions.is_managed(buf) then
    return text
  end
  local bytes = versions.read(buf)
  if bytes == text or bytes == "" then -- somebody has emptied it to write it
    return text -- most are UTF-8, and decoding takes time
  end
  local now = bytes and require("hermes.core.encoding").decode(bytes, vim.bo[buf].fileencoding)
  if now and now ~= text then
    versions.note(buf, "another") -- than the text of the buffer
    pcall(buffer.update, buf)
    return now
  end
  return text
end

---@class hermes.agent_write.Opts
---@field save? boolean also write the file, default true
---@field noautocmd? boolean without BufWrite autocommands, default false
---@field author? hermes.agent_write.Author the agent that writes

---@class hermes.agent_write.Author an agent whose write must not undo what others have changed
---@field tick? integer 'changedtick' when the buffer had the text that the agent knows
---@field rebase fun(now: string, done: fun(problem: string?, text: string?)) says what the buffer
---is to hold, when it holds `now`
---@field agent string
---@field sessionId string
---@field requestId string

---@class hermes.AgentWrite one write, while it goes on
---@field buf integer
---@field opts hermes.agent_write.Opts
---@field author? hermes.agent_write.Author
---@field content string as it shall be on disk
---@field plain string the content without a byte order mark
---@field target string the new text of the buffer: the content, perhaps merged with changes of
---others
---@field large boolean its plans are made in slices
---@field plan? hermes.replace.Plan
---@field plans integer how many have been made
---@field disk_merges integer how often the disk has been merged into the buffer first
---@field retries integer how often a temporary error has been waited for
---@field replaced boolean the buffer holds the target
---@field merged boolean the text has changes of others, too
---@field refusal? string why the buffer may not be written
---@field done fun(problem: string?, text: string?, merged: boolean?)

---@alias hermes.agent_write.Step
---| "check" # may the buffer be written? Every attempt begins here
---| "choose" # what does the plan need?
---| "plan" # a new plan is made
---| "slice" # a large plan is made a little further
---| "fit" # a plan is fitted to what has been typed since
---| "save" # the buffer gets the text, and the file
---| "wait" # something else comes first; the next attempt follows
---| "over" # it is written or refused

local attempt ---@type fun(w: hermes.AgentWrite)

--- Each function does a step and returns the next one.
---@type table<hermes.agent_write.Step, fun(w: hermes.AgentWrite): hermes.agent_write.Step>
local steps = {}

function steps.check(w)
  local buf = w.buf
  if w.author and not w.replaced and versions.state(buf) == "conflict" and w.disk_merges < 3 then
    w.disk_merges = w.disk_merges + 1
    require("hermes.doc.merge").with_disk(buf, nil, function()
      attempt(w)
    end)
    return "wait"
  end
  w.refusal = refusal(buf, w.plain)
  if w.refusal then
    return "over"
  elseif not vim.bo[buf].modifiable then
    error("E21: 'modifiable' is off", 0)
  end
  return w.replaced and "save" or "choose"
end

function steps.choose(w)
  local plan = w.plan
  local typed = plan and plan.tick ~= vim.b[w.buf].changedtick
  if not plan or plan.format ~= vim.bo[w.buf].fileformat or (typed and not plan.merged) then
    return "plan"
  elseif not plan.hunks then
    return "slice"
  end
  return typed and "fit" or "save"
end

--- Makes the plan for a text, or only begins it: a large one would take a frame at once. While the
--- user changes the buffer it begins anew, but not for ever.
---@param w hermes.AgentWrite
---@param text string
local function make(w, text)
  local plan = w.plan --[[@as hermes.replace.Plan]]
  w.target = text
  local plain = without_mark(text)
  if not w.large or w.plans > 20 then
    return replace.make(w.buf, plain, plan)
  end
  plan.work = coroutine.create(function()
    replace.make(w.buf, plain, plan, coroutine.yield)
  end)
end

---@param w hermes.AgentWrite
---@return "wait"
local function soon(w)
  vim.defer_fn(function()
    attempt(w)
  end, 1)
  return "wait"
end

function steps.plan(w)
  local buf, author = w.buf, w.author
  w.plans = w.plans + 1
  ---@type hermes.replace.Plan
  local plan = { tick = vim.b[buf].changedtick, format = vim.bo[buf].fileformat }
  w.plan = plan
  if not author or author.tick == plan.tick then
    make(w, w.content)
    return plan.hunks and "save" or soon(w)
  elseif w.plans > M.merges then
    error("the user is typing where you write; read the file again and try once more", 0)
  end
  -- The agent knows another text, so its changes are merged into the text of the buffer.
  plan.merged, plan.old = true, buffer_text.lines(buf)
  author.rebase(buffer_text.text(buf), function(problem, text)
    if problem then
      return w.done(problem)
    end
    make(w, text)
    attempt(w)
  end)
  return "wait"
end

function steps.slice(w)
  local ok, problem = coroutine.resume(w.plan.work)
  if not ok then
    error(problem, 0)
  end
  return soon(w)
end

function steps.fit(w)
  local plan, lines = w.plan, buffer_text.lines(w.buf)
  plan.hunks = require("hermes.doc.diff").shift(plan.hunks, plan.old, lines)
  plan.tick, plan.old, plan.shifted = vim.b[w.buf].changedtick, lines, true
  return plan.hunks and "save" or "plan"
end

function steps.save(w)
  local buf, author = w.buf, w.author
  local tick = vim.b[buf].changedtick
  local ok, problem, before = require("hermes.doc.applied").apply(buf, function()
    if w.replaced then
      w.merged = true -- what was typed after an attempt that failed
    else
      if w.plain ~= w.content then
        vim.bo[buf].bomb = true
      end
      replace.carry_out(buf, w.plan)
      w.replaced, w.merged = true, w.plan.shifted or w.target ~= w.content
    end
    if w.opts.save ~= false then
      writing.save(buf, w.opts.noautocmd)
    end
  end)
  if author and vim.api.nvim_buf_is_loaded(buf) and vim.b[buf].changedtick ~= tick then
    require("hermes.doc.applied").report({
      bufnr = buf,
      agent = author.agent,
      sessionId = author.sessionId,
      requestId = author.requestId,
      source = "write",
      outcome = "written",
      before = before,
    })
  end
  if not ok then
    error(problem, 0)
  end
  return "over"
end

--- Takes one step after the other.
---@param w hermes.AgentWrite
---@return "wait"|"over"
local function run(w)
  local step = "check" ---@type hermes.agent_write.Step
  repeat
    step = steps[step](w)
  until step == "wait" or step == "over"
  return step
end

function attempt(w)
  local buf = w.buf
  if not vim.api.nvim_buf_is_loaded(buf) then
    return w.done("the buffer was closed before it could be written")
  end
  local ok, result = pcall(run, w)
  if ok and result == "wait" then
    return
  elseif vim.api.nvim_buf_is_loaded(buf) then
    -- After the write, so that changes by its autocommands join the same undo
    -- step.
    vim.api.nvim_buf_call(buf, replace.end_undo_block)
  end
  local left = w.replaced and unsaved or ""
  if ok and w.refusal then
    return w.done(w.refusal .. left, nil, w.merged)
  elseif ok then
    return w.done(nil, written(buf, w.target, w.opts), w.merged)
  end
  for _, pattern in ipairs(passing) do
    if w.retries < M.retries and tostring(result):find(pattern, 1, true) then
      w.retries = w.retries + 1
      return vim.defer_fn(function()
        attempt(w)
      end, M.retry_ms)
    end
  end
  w.done(writing.reason(tostring(result)) .. left)
end

--- Gives a loaded buffer new content as one undo step and saves it.
---@param path string absolute
---@param content string as it shall be on disk
---@param opts? hermes.agent_write.Opts
---@param done fun(problem: string?, text: string?, merged: boolean?) called once, later; without
---a problem the file is written and holds `text`; `merged` means that it has changes of others, too
---@return boolean taken false when no loaded buffer shows the file; `done` is not called then
function M.write(path, content, opts, done)
  local buf = buffer.find(path)
  if not buf then
    return false
  elseif #content > M.max_bytes or buffer_text.has_lines(content, M.max_lines) then
    local problem = "too large for a file that is open in the editor: at most %d bytes and %d lines"
    vim.schedule(function()
      done(problem:format(M.max_bytes, M.max_lines))
    end)
    return true
  end
  opts = opts or {}
  local plain = without_mark(content)
  ---@type hermes.AgentWrite
  local w = {
    buf = buf,
    opts = opts,
    author = opts.author,
    content = content,
    plain = plain,
    target = content,
    large = #plain > M.at_once or vim.api.nvim_buf_line_count(buf) > M.at_once / 32,
    plans = 0,
    disk_merges = 0,
    retries = 0,
    replaced = false,
    merged = false,
    done = done,
  }
  vim.schedule(function() -- inside an autocommand the write would fire no events
    attempt(w)
  end)
  return true
end

return M
