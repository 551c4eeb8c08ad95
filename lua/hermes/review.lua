---The review: what agents changed in files, hunk by hunk, and the user's decisions about it.
---
---A function that asks the host returns the id of the operation at once; its result is for
---`on_done`, or for `hermes.await.review`. A function that only looks at a buffer returns what it
---finds. Lines are counted from 1.
---@class hermes.Review
local M = {}

---@class hermes.review.Author
---@field sessionId? string
---@field agent? string
---@field turn? string the prompt
---@field toolCallId? string
---@field source? string how the change is known: "write", "tool", "disk", "socket", ...
---@field inferred? boolean the author follows from the circumstances, such as a turn that ran
---@field at? string when, as in RFC 3339

---@class hermes.review.Hunk
---@field id integer the same as long as anything of the hunk is pending
---@field path string
---@field bufnr? integer
---@field kind "text"|"created"|"deleted"|"link"|"mode"
---@field sessionId string who changed it
---@field agent? string
---@field first integer first line of it; the line below the deleted ones when `count` is 0
---@field count integer lines that are there instead of the old ones
---@field base_first integer
---@field base_count integer lines of the base that it replaces
---@field old string[] lines that are gone, at most 1000; not yet safe to show
---@field old_count integer all of them
---@field new string[] lines that are there instead, as `old`
---@field user integer[] lines that the user wrote into it
---@field authors hermes.review.Author[] of its changes, oldest first

---@class hermes.review.File
---@field path string
---@field bufnr? integer
---@field base "absent"|"regular"|"link" what was there
---@field current "absent"|"regular"|"link" what is there now
---@field hunks integer
---@field added integer lines
---@field removed integer
---@field sessions string[] whose changes are pending
---@field from? string where an agent moved it from
---@field to? string where an agent moved it to

---@class hermes.review.Change
---@field path string
---@field bufnr? integer

---@class hermes.review.Opts
---@field on_done? fun(err: hermes.Error?, result: table?)
---@field root? string the project; default: the one of the file or the session, or the only one

---What a decision is about: a hunk, the current state of all files with "all", or what matches all
---members of a table.
---@alias hermes.review.What hermes.review.Hunk|"all"|hermes.review.Selection

---@class hermes.review.Selection
---@field hunk? integer its id
---@field path? string
---@field bufnr? integer
---@field session_id? string
---@field turn? string the id of a prompt

---@param opts any
---@param who string
---@param more? table<string, string> further options and their kinds
---@return table
local function options(opts, who, more)
  local check = require("hermes.check")
  opts = opts or {}
  who = "review." .. who
  check.need(opts, "table", who, "the options", 3)
  local valid = vim.tbl_extend("force", { on_done = "callback", root = "name" }, more or {})
  for key, value in pairs(opts) do
    if not valid[key] then
      error(("hermes.%s: %s"):format(who, check.unknown("", key, valid)), 3)
    end
    check.need(value, valid[key], who, key, 3)
  end
  return opts
end

---@param path string
---@return string
local function absolute(path)
  return vim.fs.normalize(vim.fn.fnamemodify(path, ":p"), { expand_env = false })
end

---@return table? held hermes.review.held, when something may be under review
local function held()
  return package.loaded["hermes.review.held"]
end

---@param what string of the host
---@param opts table
---@param payload? table
---@param convert? fun(result: table): table
---@param after? fun(result: table)
---@return string id
local function ask(what, opts, payload, convert, after)
  local on_done = opts.on_done
  local info = { method = "review." .. what, after = after }
  info.on_done = on_done
    and function(err, result)
      on_done(err, not err and (convert and convert(result) or result) or nil)
    end
  local rpc = require("hermes.rpc")
  if not require("hermes.config").get().review.enabled then
    return rpc.refuse(info, "off", "the review is off; see :help hermes-config-review")
  end
  return rpc.call("review", function()
    for _, buf in ipairs(held() and held().buffers() or {}) do
      held().flush(buf)
    end
    payload = vim.tbl_extend("force", { ["do"] = what, root = opts.root }, payload or {})
    payload.cwd = require("hermes.params").session({}).cwd
    return payload
  end, info)
end

---@param buf any
---@param who string
---@return integer
local function buffer_of(buf, who)
  if buf == nil or buf == 0 then
    return vim.api.nvim_get_current_buf()
  end
  require("hermes.check").need(buf, "integer", "review." .. who, "the buffer", 3)
  return buf
end

---@param buf integer
---@return string path
local function path_of(buf)
  return held() and held().path(buf) or absolute(vim.api.nvim_buf_get_name(buf))
end

---------------------------------------------------------------------------
-- What there is.

---A hunk can be thousands of lines, and there can be thousands of hunks, so this is plain.
---@param lines string[] with their ends
---@return string[]
local function without_ends(lines)
  local list = {}
  for i = 1, #lines do
    local line = lines[i]
    local stop = #line
    if line:byte(stop) == 10 then
      stop = stop - (line:byte(stop - 1) == 13 and 2 or 1)
    end
    list[i] = line:sub(1, stop)
  end
  return list
end

---@param list table[]
---@return table[]
local function copies(list)
  local copied = {}
  for i, entry in ipairs(list) do
    copied[i] = {}
    for key, value in pairs(entry) do
      copied[i][key] = value
    end
  end
  return copied
end

local max_lines = 1000 -- of a hunk, as the host sends them

---The lines of a hunk that are gone. The host counts what the user has written between the lines of
---the hunk to both sides.
---@param old string[]
---@param new string[]
---@param user integer[] places in `new`
---@return string[]
local function gone(old, new, user)
  if #user == 0 then
    return old
  end
  local list, next_user = {}, 1
  for _, line in ipairs(old) do
    if line == new[user[next_user]] then
      next_user = next_user + 1
    else
      list[#list + 1] = line
    end
  end
  return list
end

---@param hunk table as the host sent it
---@param first integer row
---@param last integer row after it
---@param buf? integer
---@return hermes.review.Hunk
local function shaped(hunk, first, last, buf)
  local base, old = hunk.base or { start = 0, ["end"] = 0 }, hunk.old or {}
  local shift = first - (hunk.current and hunk.current.start or 0)
  local new, user = hunk.new and without_ends(hunk.new) or {}, {}
  if not hunk.new and buf then
    new = vim.api.nvim_buf_get_lines(buf, first, math.min(last, first + max_lines), false)
  end
  local within = {}
  for i, row in ipairs(hunk.user or {}) do
    user[i] = row + shift + 1
    local place = user[i] - first
    within[#within + 1] = place >= 1 and place <= last - first and place or nil
  end
  return {
    id = hunk.id,
    path = hunk.path,
    bufnr = buf,
    kind = hunk.kind,
    sessionId = hunk.sessionId,
    agent = hunk.agent,
    first = first + 1,
    count = last - first,
    base_first = base.start + 1,
    base_count = base["end"] - base.start,
    old = gone(without_ends(old), new, within),
    old_count = (hunk.oldLines or #old) - #within,
    new = new,
    user = user,
    authors = copies(hunk.authors or {}),
  }
end

---The pending hunks of a buffer, from top to bottom, where they are now.
---@param buf? integer 0 or nil: the current one
---@return hermes.review.Hunk[]
function M.hunks(buf)
  buf = buffer_of(buf, "hunks")
  local list = {}
  for i, place in ipairs(held() and held().hunks(buf) or {}) do
    list[i] = shaped(place.hunk, place.first, place.last, buf)
  end
  return list
end

---The pending hunks of all files, or of one, whether a buffer shows it or not. The result has
---`hunks`.
---@param opts? hermes.review.Opts|{ path?: string }
---@return string id
function M.pending(opts)
  opts = options(opts, "pending", { path = "name" })
  local payload = { path = opts.path and absolute(opts.path) }
  return ask("hunks", opts, payload, function(result)
    local places = {}
    for _, buf in ipairs(held() and held().buffers() or {}) do
      for _, place in ipairs(held().hunks(buf)) do
        places[place.hunk.id] = { place.first, place.last, buf }
      end
    end
    local hunks = vim.tbl_map(function(hunk)
      local now = hunk.current or { start = 0, ["end"] = 0 }
      local place = places[hunk.id] or { now.start, now["end"] }
      return shaped(hunk, unpack(place, 1, 3))
    end, result.hunks or {})
    return { hunks = hunks }
  end)
end

---The files with pending hunks, sorted. The result has `files`.
---@param opts? hermes.review.Opts
---@return string id
function M.files(opts)
  opts = options(opts, "files")
  return ask("files", opts, {}, function(result)
    local files = result.files or {}
    for _, file in ipairs(files) do
      file.bufnr = require("hermes.buffer").find(file.path)
    end
    return { files = files }
  end)
end

---The files that a session has changed since its last prompt. The result has `paths`.
---@param session_id string
---@param opts? hermes.review.Opts
---@return string id
function M.turn(session_id, opts)
  require("hermes.check").need(session_id, "name", "review.turn", "the id of the session")
  return ask("turn", options(opts, "turn"), { sessionId = session_id })
end

---The text that the user has agreed to, which the hunks of a buffer are changes of. The result has
---`text`, and `kind`: "regular", "link" or "absent".
---@param buf? integer 0 or nil: the current one
---@param opts? hermes.review.Opts
---@return string id
function M.base(buf, opts)
  buf = buffer_of(buf, "base")
  return ask("base", options(opts, "base"), { path = path_of(buf) }, function(result)
    local base = result.base or result
    return { text = base.text or "", kind = base.kind }
  end)
end

---@class hermes.review.Blame
---@field first integer
---@field last integer
---@field author hermes.review.Author
---@field pending boolean not yet accepted

---The lines of a buffer that agents wrote, with their authors. The result has `lines`, a list of
---hermes.review.Blame. Lines that are not in it are of the base or of the user.
---@param buf? integer 0 or nil: the current one
---@param opts? hermes.review.Opts
---@return string id
function M.blame(buf, opts)
  buf = buffer_of(buf, "blame")
  return ask("blame", options(opts, "blame"), { path = path_of(buf) }, function(result)
    return {
      lines = vim.tbl_map(function(lines)
        return {
          first = lines.start + 1,
          last = lines["end"],
          author = lines.author,
          pending = lines.pending == true,
        }
      end, result.lines or {}),
    }
  end)
end

---One change of an agent: the `change` of FileEdited. The result has `path`, `author`, and `before`
---and `after` with `kind` and `text`.
---@param id integer
---@param opts? hermes.review.Opts|{ path?: string }
---@return string id of the operation
function M.change(id, opts)
  require("hermes.check").need(id, "integer", "review.change", "the number of the change")
  opts = options(opts, "change", { path = "name" })
  return ask("change", opts, { change = id, path = opts.path and absolute(opts.path) })
end

---Calls a function when hunks of a file come, change or go.
---@param fn fun(change: hermes.review.Change)
---@return fun() off
function M.on_change(fn)
  require("hermes.check").need(fn, "callback", "review.on_change", "the function")
  local off_held = require("hermes.review.held").on_change(fn)
  local off_event = require("hermes").on("ReviewUpdated", function(data)
    if not held().find(data.path) then -- their hunks come on their own
      fn({ path = data.path, bufnr = require("hermes.buffer").find(data.path) })
    end
  end)
  return function()
    off_held()
    off_event()
  end
end

---------------------------------------------------------------------------
-- Decisions.

---@param what any
---@param who string
---@return table payload
local function selection(what, who)
  local check = require("hermes.check")
  if what == "all" then
    return {}
  end
  who = "review." .. who
  if type(what) ~= "table" or next(what) == nil then
    error(('hermes.%s: expected a hunk, "all" or a table of what is meant'):format(who), 4)
  elseif what.id and what.path then
    return { hunk = what.id, path = what.path }
  end
  local valid =
    { hunk = "integer", path = "name", bufnr = "integer", session_id = "name", turn = "name" }
  for key, value in pairs(what) do
    if not valid[key] then
      error(("hermes.%s: %s"):format(who, check.unknown("", key, valid)), 4)
    end
    check.need(value, valid[key], who, key, 4)
  end
  local path = what.bufnr and path_of(buffer_of(what.bufnr, who))
    or what.path and absolute(what.path)
  return { hunk = what.hunk, path = path, sessionId = what.session_id, turn = what.turn }
end

---@class hermes.review.Decision
---@field decision integer for undo()
---@field files { path: string, error?: string }[] what it changed, and what it could not

---Decisions of this Neovim, oldest first, with what they were about.
---@type { decision: integer, about: table }[]
local decisions = {}

---@param who "accept"|"reject"
---@param what hermes.review.What
---@param opts table
---@return string id
local function decide(who, what, opts)
  local about = selection(what, who)
  local payload = vim.tbl_extend("force", { force = opts.force or nil }, about)
  return ask(who, opts, payload, nil, function(result)
    decisions[#decisions + 1] = { decision = result.decision, about = about }
  end)
end

---Make hunks part of the base. The result is a hermes.review.Decision.
---@param what hermes.review.What
---@param opts? hermes.review.Opts
---@return string id
function M.accept(what, opts)
  return decide("accept", what, options(opts, "accept"))
end

---Take hunks back. Buffers change as one undo step, and are written if they had no unsaved edits;
---other files change on the disk. What the user wrote stays. Hunks into which the user has written
---fail with the kind "touched" unless `force` is set. The result is a hermes.review.Decision.
---@param what hermes.review.What
---@param opts? hermes.review.Opts|{ force?: boolean }
---@return string id
function M.reject(what, opts)
  return decide("reject", what, options(opts, "reject", { force = "boolean" }))
end

---@param made table the `about` of a decision
---@param wanted table
---@return boolean
local function is_about(made, wanted)
  for key, value in pairs(wanted) do
    if made[key] ~= value then
      return false
    end
  end
  return true
end

---Make pending again what was accepted or rejected last: by number, about a hunk, a file or a
---session, or at all with nil. "all" undoes every decision of this Neovim. The result is a
---hermes.review.Decision.
---@param what? integer|hermes.review.What
---@param opts? hermes.review.Opts
---@return string id
function M.undo(what, opts)
  opts = options(opts, "undo")
  local numbers = {}
  if type(what) == "number" then
    numbers = { what }
  elseif what ~= nil then
    local wanted = selection(what, "undo")
    for i = #decisions, 1, -1 do
      if is_about(decisions[i].about, wanted) then
        numbers[#numbers + 1] = decisions[i].decision
        if what ~= "all" then
          break
        end
      end
    end
    if #numbers == 0 then
      local info = { method = "review.undo", on_done = opts.on_done }
      return require("hermes.rpc").refuse(info, "nothing", "nothing was decided there")
    end
  end
  local function forget(number)
    decisions = vim.tbl_filter(function(made)
      return made.decision ~= number
    end, decisions)
  end
  local all = { files = {} }
  local id
  local function step(i)
    local own = vim.tbl_extend("force", opts, {
      on_done = function(err, result)
        if err and err.kind == "nothing" and #numbers > 1 then
          forget(numbers[i]) -- it has been taken back in the buffer, or decided again
          err = nil
        elseif result then
          forget(numbers[i] or result.decision)
          all.decision = result.decision
          vim.list_extend(all.files, result.files or {})
        end
        if not err and numbers[i + 1] then
          return step(i + 1)
        elseif opts.on_done then
          opts.on_done(err, not err and all or nil)
        elseif err then
          require("hermes.log").show(vim.log.levels.ERROR, err.message)
        end
      end,
    })
    local this = ask("undo", own, { decision = numbers[i] })
    id = id or this
  end
  step(1)
  return id
end

---------------------------------------------------------------------------
-- Checkpoints.

---@class hermes.review.Checkpoint
---@field id string
---@field name? string the prompt
---@field sessionId? string
---@field turn? string
---@field at string when, as in RFC 3339
---@field root string

---The moments that files can go back to: one for each prompt, and one before each restore. The
---result has `checkpoints`, the oldest first.
---@param opts? hermes.review.Opts
---@return string id
function M.checkpoints(opts)
  return ask("checkpoints", options(opts, "checkpoints"))
end

---@class hermes.review.RestoreOpts: hermes.review.Opts
---@field preview? boolean change nothing, only say what would change
---@field paths? string[] only these files
---@field session_id? string only what this session changed
---@field everything? boolean take back what the user changed, too

---Go back to a checkpoint. What the user changed since stays, unless `everything` is set. A
---checkpoint is made first. The result is a hermes.review.Decision, and has that `checkpoint`. A
---preview has `files`, each with what would change in it.
---@param checkpoint string|hermes.review.Checkpoint
---@param opts? hermes.review.RestoreOpts
---@return string id
function M.restore(checkpoint, opts)
  local id = type(checkpoint) == "table" and checkpoint.id or checkpoint
  require("hermes.check").need(id, "name", "review.restore", "the checkpoint")
  opts = options(opts, "restore", {
    everything = "boolean",
    paths = "strings",
    preview = "boolean",
    session_id = "name",
  })
  return ask(
    "restore",
    opts,
    {
      checkpoint = id,
      root = opts.root or type(checkpoint) == "table" and checkpoint.root or nil,
      preview = opts.preview,
      paths = opts.paths and vim.tbl_map(absolute, opts.paths),
      sessionId = opts.session_id,
      everything = opts.everything,
    },
    nil,
    function(result)
      if result.decision then
        decisions[#decisions + 1] = { decision = result.decision, about = {} }
      end
    end
  )
end

---------------------------------------------------------------------------
-- Comments.

---@param hunk hermes.review.Hunk
---@return string
local function lines_of(hunk)
  if hunk.count == 0 then
    return ("above line %d"):format(hunk.first)
  elseif hunk.count == 1 then
    return ("line %d"):format(hunk.first)
  end
  return ("lines %d to %d"):format(hunk.first, hunk.first + hunk.count - 1)
end

local max_quoted = 50 -- lines of a hunk, on each side

---@param hunk hermes.review.Hunk
---@return string diff
local function quoted(hunk)
  local lines = {}
  local function quote(sign, list, count)
    for i = 1, math.min(#list, max_quoted) do
      lines[#lines + 1] = sign .. list[i]
    end
    if count > max_quoted then
      lines[#lines + 1] = ("%s[%d more lines]"):format(sign, count - max_quoted)
    end
  end
  quote("-", hunk.old, hunk.old_count)
  quote("+", hunk.new, hunk.count)
  return table.concat(lines, "\n")
end

---A fence that nothing in a text ends.
---@param text string
---@return string
local function fence(text)
  local longest = 2
  for run in text:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  return ("`"):rep(longest + 1)
end

---@class hermes.review.CommentOpts: hermes.review.Opts
---@field session_id? string default: the session that wrote the hunk
---@field deny? string the `requestId` of a permission that is denied for this reason

---Send a comment on a hunk: a prompt with the path, the lines and the hunk itself, for the session
---that wrote it. With `deny`, that request is refused, and the prompt says why at once.
---@param hunk hermes.review.Hunk
---@param text string
---@param opts? hermes.review.CommentOpts
---@return string prompt_id
function M.comment(hunk, text, opts)
  local check = require("hermes.check")
  check.need(hunk, "table", "review.comment", "the hunk")
  check.need(hunk.path, "name", "review.comment", "the path of the hunk")
  check.need(text, "name", "review.comment", "the text")
  opts = options(opts, "comment", { session_id = "name", deny = "name" })
  local session_id = opts.session_id or hunk.sessionId
  local agent = not opts.session_id and hunk.agent or nil
  local diff = quoted(hunk)
  local mark = fence(diff)
  local prompt = ("About your change of %s, %s:\n\n%sdiff\n%s\n%s\n\n%s"):format(
    hunk.path,
    lines_of(hunk),
    mark,
    diff,
    mark,
    text
  )
  local hermes = require("hermes")
  local own = { agent = agent, on_done = opts.on_done }
  if not require("hermes.state").session(session_id, agent) then
    local info = { method = "review.comment", on_done = opts.on_done }
    return require("hermes.rpc").refuse(
      info,
      "no_session",
      "the session that wrote the hunk is not open; load it, or name another one in session_id"
    )
  end
  if opts.deny then
    hermes.respond(opts.deny, require("hermes.answers").refusal(opts.deny) or "")
    return hermes.steer(session_id, prompt, own)
  end
  return hermes.prompt(session_id, prompt, own)
end

---------------------------------------------------------------------------
-- Other plugins.

---@class hermes.review.QuickfixOpts: hermes.review.Opts
---@field path? string only this file
---@field session_id? string only what this session changed
---@field open? boolean open the window; default true

---Put the pending hunks into the quickfix list. The `user_data` of each entry is its hunk. The
---result has `count`.
---@param opts? hermes.review.QuickfixOpts
---@return string id
function M.quickfix(opts)
  opts = options(opts, "quickfix", { path = "name", session_id = "name", open = "boolean" })
  local line = require("hermes.text").line
  local on_done = opts.on_done
  local function list(err, result)
    if err then
      return on_done and on_done(err)
    end
    local items = {}
    for _, hunk in ipairs(result.hunks) do
      if not opts.session_id or hunk.sessionId == opts.session_id then
        local shown = hunk.new[1] or hunk.old[1] or hunk.kind
        items[#items + 1] = {
          bufnr = vim.fn.bufadd(hunk.path),
          lnum = hunk.first,
          end_lnum = hunk.first + math.max(hunk.count - 1, 0),
          text = line(("+%d -%d  %s"):format(hunk.count, hunk.old_count, vim.trim(shown)), 200),
          user_data = hunk,
        }
      end
    end
    vim.fn.setqflist({}, " ", { title = "Review", items = items })
    if opts.open ~= false and #items > 0 then
      vim.cmd("botright copen")
    end
    if on_done then
      on_done(nil, { count = #items })
    end
  end
  return M.pending({ root = opts.root, path = opts.path, on_done = list })
end

---A source of reference texts for mini.diff, so that it shows the changes of agents: the `source`
---of its setup(), alone or in a list. Its "apply" accepts hunks.
---@return { name: string, attach: function, detach: function, apply_hunks: function }
function M.mini_diff()
  return require("hermes.review.mini_diff")
end

return M
