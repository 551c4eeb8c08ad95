--- Merges what agents change with what the user has changed meanwhile. The host
--- compares the texts, so the user may go on typing until the result is there.

local M = {}

local buffer_text = require("hermes.doc.buffer_text")
local versions = require("hermes.doc.versions")
local disk = require("hermes.core.disk")
local writing = require("hermes.doc.write")

--- How often a merge is begun anew because the user or the agent changed one of
--- the texts meanwhile.
M.tries = 40

---------------------------------------------------------------------------
-- Texts that agents know.

local seen = {} ---@type table<integer, table<string, integer>> 'changedtick' by session

---@param ask hermes.Ask
---@return string
local function session(ask)
  return ask.agent .. "\n" .. tostring(ask.data.sessionId)
end

--- Records that an agent knows the text of a buffer as it is now.
---@param buf integer
---@param ask hermes.Ask
---@param known boolean false: the agent knows another text
function M.saw(buf, ask, known)
  seen[buf] = seen[buf] or {}
  seen[buf][session(ask)] = known and vim.b[buf].changedtick or -1
end

--- The 'changedtick' of a buffer when it had the text that an agent knows.
---@param buf integer
---@param ask hermes.Ask
---@return integer? tick nil when the agent has neither read nor written the buffer
function M.tick(buf, ask)
  return (seen[buf] or {})[session(ask)]
end

vim.api.nvim_create_autocmd("BufUnload", {
  group = vim.api.nvim_create_augroup("hermes.merge", {}),
  callback = function(args)
    seen[args.buf] = nil
  end,
})

---------------------------------------------------------------------------
-- Merges.

---@class hermes.merge.Result
---@field text? string
---@field problem? string for the agent
---@field conflicts? hermes.merge.Place[]

---@class hermes.merge.Place where both changed the same lines
---@field first integer 0-based line of the buffer
---@field ours integer lines of the buffer
---@field theirs integer lines of the file

--- Whether the host gets the text as it is.
---@param text string
---@return boolean
local function can_send(text)
  return not buffer_text.is_long(text) and require("hermes.core.encoding").is_utf8(text)
end

---@param payload table
---@param done fun(problem: string?, result: hermes.merge.Result?) called later
local function ask_host(payload, done)
  local rpc = require("hermes.core.rpc")
  if not rpc.running() then
    return done("the host does not run")
  end
  rpc.call("merge", payload, {
    method = "merge",
    on_done = function(err, result)
      if err then
        return done(err.message)
      elseif result.truncated then
        return done("the text is too large to merge")
      end
      done(nil, result)
    end,
  })
end

--- The text of the file that a buffer has unsaved edits of.
---@param buf integer
---@return string?
local function on_disk(buf)
  local common = require("hermes.doc.ancestor")
  common.note(buf)
  local text = common.text(buf)
  return text and can_send(text) and text or nil
end

-- As services.OverlapError says it.
local unmergeable = "nothing was written: the file has changed since you last read or wrote it."
  .. " It cannot be merged. Read the whole file again, then repeat your change on what it says now."

--- Returns a function that merges an agent's write into the text of its buffer.
---@param ask hermes.Ask of the write
---@return fun(now: string, done: fun(problem: string?, text: string?)) rebase
function M.for_write(ask)
  return function(now, done)
    if not can_send(now) then
      local buf = require("hermes.doc.buffer").find(ask.data.path)
      if buf and M.tick(buf, ask) then
        return done(unmergeable)
      end
      return done(nil, ask.data.content)
    end
    local buf = require("hermes.doc.buffer").find(ask.data.path)
    local payload = { requestId = ask.requestId, ours = now }
    if buf and vim.bo[buf].modified then
      -- An agent that has not read the file here may have read it on the disk.
      payload.base = versions.is_new(buf) and "" or on_disk(buf)
    end
    ask_host(payload, function(problem, result)
      problem = problem or result.problem
      done(problem, not problem and result.text or nil)
    end)
  end
end

--- Whether lines of a buffer may change although the user has unsaved edits in
--- it: not while keys count lines or the text is selected.
---@param buf integer
---@return boolean
function M.may_change(buf)
  local mode = vim.api.nvim_get_mode().mode
  return buf ~= vim.api.nvim_get_current_buf() or mode == "i" or mode:find("^n?t?$") ~= nil
end

--- The text of a buffer with the end that it has now, whatever 'fixendofline' will
--- add.
---@param buf integer
---@return string
local function exact(buf)
  local o, text = vim.bo[buf], buffer_text.text(buf)
  if not o.endofline and o.modified and o.fixendofline and not o.binary then
    return text:sub(1, o.fileformat == "dos" and -3 or -2)
  end
  return text
end

---@class hermes.merge.Texts
---@field base? string nil when it is not known
---@field ours string
---@field theirs? string nil when it is no text
---@field bytes? string of the file
---@field version? string of the file

--- The texts of a buffer with unsaved edits whose file has changed.
---@param buf integer
---@return hermes.merge.Texts? texts nil when one of them is too large to be compared
function M.texts(buf)
  local o = vim.bo[buf]
  local bytes, version, large = versions.read(buf)
  if large or buffer_text.is_large(buf) or (bytes and buffer_text.is_long(bytes)) then
    return nil
  end
  local plain = not o.binary and not versions.is_new(buf)
  return {
    base = plain and require("hermes.doc.ancestor").text(buf) or nil,
    ours = exact(buf),
    theirs = bytes and not o.binary and require("hermes.core.encoding").decode(
      bytes,
      o.fileencoding
    ) or nil,
    bytes = bytes,
    version = version,
  }
end

---@alias hermes.merge.Outcome
---| "merged" # the buffer has both changes, and Neovim takes the file for the one it read
---| "conflict" # nothing has changed
---| "large" # nothing has changed, because one of the texts is too large
---| "busy" # the user is in the middle of a command
---| "locked" # Neovim does not let the buffer change right now
---| "gone" # there is nothing to merge any more

--- Merges the file on disk into a buffer with unsaved edits, which stay unsaved.
---@param buf integer
---@param cause? hermes.refresh.Cause
---@param done fun(outcome: hermes.merge.Outcome, places: hermes.merge.Place[]?) called once
---@param favour? "mine"|"theirs" whose lines win where both changed the same ones
function M.with_disk(buf, cause, done, favour)
  local replace, diff = require("hermes.doc.replace"), require("hermes.doc.diff")
  local left, began = M.tries, vim.uv.hrtime()

  local attempt
  local function again()
    if left > 0 then
      return attempt()
    end
    done("locked")
  end

  function attempt()
    local name = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf)
    if not name or versions.state(buf) ~= "conflict" then
      return done("gone")
    end
    local t = M.texts(buf)
    if not t then
      return done("large")
    end
    -- Without a common text everything differs.
    t.base = t.base or (favour == "mine" and t.theirs) or (favour == "theirs" and t.ours) or nil
    if not (t.base and t.theirs and can_send(t.ours) and can_send(t.theirs)) then
      return done("conflict")
    end
    -- A text that was read while its file was being written is nobody's.
    local wait = disk.unsettled(name, t.version)
    if wait > 0 and (vim.uv.hrtime() - began) / 1e6 < disk.settle_limit_ms then
      return vim.defer_fn(attempt, wait)
    elseif t.theirs == "" and t.base ~= "" and not favour then
      -- The lines would be gone from the buffer too, and from what both have in common, so that
      -- no merge could succeed when they come back. The user decides, as about a deleted file.
      return done("conflict")
    end
    local tick, format, lines =
      vim.b[buf].changedtick, vim.bo[buf].fileformat, buffer_text.lines(buf)
    local payload = { base = t.base, ours = t.ours, theirs = t.theirs }
    if favour == "theirs" then
      payload.ours, payload.theirs = t.theirs, t.ours
    end
    ask_host(payload, function(problem, result)
      left = left - 1
      if problem then
        require("hermes.core.log").write(vim.log.levels.WARN, "merge: " .. problem)
        return done("conflict")
      elseif not vim.api.nvim_buf_is_loaded(buf) or versions.state(buf) ~= "conflict" then
        return done("gone")
      elseif disk.version(name) ~= t.version or vim.bo[buf].fileformat ~= format then
        return again()
      elseif not favour and #result.conflicts > 0 then
        return done("conflict", result.conflicts)
      elseif not M.may_change(buf) then
        return done("busy")
      end
      local plan = replace.plan(buf, lines, result.text)
      local hunks = plan.hunks
      if vim.b[buf].changedtick ~= tick then
        hunks = diff.shift(hunks, lines, buffer_text.lines(buf))
        if not hunks then
          return again()
        end
      end
      plan.hunks = hunks
      local ok, accepted = pcall(writing.accept, buf, false)
      if not ok or not accepted then
        return done("locked")
      end
      local o = vim.bo[buf]
      local modifiable, readonly = o.modifiable, o.readonly
      local applied, why, before = require("hermes.doc.applied").apply(buf, function()
        o.modifiable, o.readonly = true, false
        local fine, trouble = pcall(replace.carry_out, buf, plan)
        o.modifiable, o.readonly = modifiable, readonly
        if not fine then
          error(trouble, 0)
        end
      end)
      if not applied then
        require("hermes.core.log").write(vim.log.levels.WARN, "merge: " .. tostring(why))
        return done("locked")
      end
      versions.note(buf, t.version)
      o.modified = true
      if exact(buf) == t.theirs then
        writing.accept(buf, true)
      end
      require("hermes.doc.ancestor").keep(buf, t.version, t.bytes)
      require("hermes.doc.applied").report({
        bufnr = buf,
        agent = cause and cause.agent,
        sessionId = cause and cause.sessionId,
        toolCallId = cause and cause.toolCallId,
        source = cause and cause.toolCallId and "tool" or "disk",
        outcome = "merged",
        before = before,
        base = t.base,
        disk = t.theirs,
      })
      done("merged")
    end)
  end

  attempt()
end

return M
