---The review: what agents changed in files, hunk by hunk, and the user's decisions about it.
---
---A function that asks the host returns the id of the operation at once; its result is for
---`on_done`, or for `hermes.await.review`. A function that only looks at a buffer returns what it
---finds. Lines are counted from 1.
---@class hermes.Review
local M = {}

local host = require("hermes.review.host")

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
---@field version integer grows when an agent changes the hunk, and not when you do
---@field path string
---@field bufnr? integer
---@field kind "text"|"created"|"deleted"|"link"|"mode"|"replaced"
---@field was? string of another kind than "text": what the file was, such as "text"
---@field is? string and is, such as "a folder" or "mode 755"
---@field sessionId string who changed it
---@field agent? string
---@field first integer first line of it; the line below the deleted ones when `count` is 0
---@field count integer lines that are there instead of the old ones
---@field base_first integer
---@field base_count integer lines of the base that it replaces
---@field old string[] lines that are gone, at most 1000; not yet safe to show
---@field old_count integer all of them
---@field new string[] lines that are there instead, as `old`
---@field others string[] lines of other agents that are gone, and that the base never had
---@field user integer[] lines that the user wrote into it
---@field authors hermes.review.Author[] of its changes, oldest first

---@class hermes.review.File
---@field path string
---@field bufnr? integer
---@field base "absent"|"regular"|"link"|"other" what was there
---@field current "absent"|"regular"|"link"|"other" what is there now
---@field hunks integer
---@field added integer lines
---@field removed integer
---@field sessions string[] whose changes are pending
---@field from? string where an agent moved it from
---@field to? string where an agent moved it to
---@field partial? boolean in lists: its sessions may have changed more than is recorded

---@class hermes.review.Change
---@field path string
---@field bufnr? integer

---@class hermes.review.Opts
---@field on_done? fun(err: hermes.Error?, result: table?)
---@field root? string the project; default: the one of the file or the session, or the only one

---The subject of a decision: a hunk, the current state of all files with "all", or the hunks that
---match all members of a table.
---@alias hermes.review.What hermes.review.Hunk|"all"|hermes.review.Selection

---@class hermes.review.Selection
---@field hunk? integer its id
---@field path? string
---@field bufnr? integer
---@field session_id? string
---@field turn? string the id of a prompt
---@field version? integer of the hunk, or the highest one of the hunks that are meant: what an
---agent has changed since is not decided

---------------------------------------------------------------------------
-- Queries.

---The pending hunks of a buffer, from top to bottom, where they are now.
---@param buf? integer 0 or nil: the current one
---@return hermes.review.Hunk[]
function M.hunks(buf)
  buf = host.buffer_of(buf, "hunks")
  local list = {}
  for i, place in ipairs(host.held() and host.held().hunks(buf) or {}) do
    list[i] = require("hermes.review.hunk").shaped(place.hunk, place.first, place.last, buf)
  end
  return list
end

---The pending hunks of all files, or of one, whether a buffer shows it or not. The result has
---`hunks`, five hundred at a time: `from` is how many are passed over, and `more` how many follow.
---@param opts? hermes.review.Opts|{ path?: string, from?: integer }
---@return string id
function M.pending(opts)
  opts = host.options(opts, "pending", { path = "name", from = "integer" })
  local payload = { path = opts.path and host.absolute(opts.path), from = opts.from }
  return host.ask("hunks", opts, payload, function(result)
    local places = {}
    for _, buf in ipairs(host.held() and host.held().buffers() or {}) do
      for _, place in ipairs(host.held().hunks(buf)) do
        places[place.hunk.id] = { place.first, place.last, buf }
      end
    end
    local hunks = vim.tbl_map(function(hunk)
      local now = hunk.current or { start = 0, ["end"] = 0 }
      local place = places[hunk.id] or { now.start, now["end"] }
      return require("hermes.review.hunk").shaped(hunk, unpack(place, 1, 3))
    end, result.hunks or {})
    result.hunks = hunks
    return result
  end)
end

---The files with pending hunks, sorted, a thousand at a time: `from` is how many are passed over.
---The result has `files`, and `more`: how many follow. `total`, `hunks`, `added` and `removed`
---count all files. `names` has, by the id of each of their sessions, the first prompt of the
---session. `elsewhere` lists the reviews that another program has. `unseen` is how many changed
---files cannot be reviewed. With `open`, the review of the project begins unless it has begun, and
---programs outside report to it.
---@param opts? hermes.review.Opts|{ from?: integer, open?: boolean }
---@return string id
function M.files(opts)
  opts = host.options(opts, "files", { from = "integer", open = "boolean" })
  return host.ask("files", opts, { from = opts.from, open = opts.open }, function(result)
    local files, find = result.files or {}, require("hermes.doc.buffer").finder()
    for _, file in ipairs(files) do
      file.bufnr = find(file.path)
    end
    result.files, result.elsewhere = files, result.elsewhere or {}
    result.names = result.names or {}
    return result
  end)
end

---The files that a session has changed since its last prompt. The result has `paths`.
---@param session_id string
---@param opts? hermes.review.Opts
---@return string id
function M.turn(session_id, opts)
  require("hermes.core.arguments").need(session_id, "name", "review.turn", "the id of the session")
  return host.ask("turn", host.options(opts, "turn"), { sessionId = session_id })
end

---The text that the user has agreed to, which the hunks of a buffer are changes of. The result has
---`text`, and `kind`: "regular", "link", "other" or "absent".
---@param buf? integer 0 or nil: the current one
---@param opts? hermes.review.Opts
---@return string id
function M.base(buf, opts)
  buf = host.buffer_of(buf, "base")
  return host.ask("base", host.options(opts, "base"), { path = host.path_of(buf) }, function(result)
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
  buf = host.buffer_of(buf, "blame")
  return host.ask(
    "blame",
    host.options(opts, "blame"),
    { path = host.path_of(buf) },
    function(result)
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
    end
  )
end

---One change of an agent: the `change` of FileEdited. The result has `path`, `author`, and `before`
---and `after` with `kind` and `text`.
---@param id integer
---@param opts? hermes.review.Opts|{ path?: string }
---@return string id of the operation
function M.change(id, opts)
  require("hermes.core.arguments").need(id, "integer", "review.change", "the number of the change")
  opts = host.options(opts, "change", { path = "name" })
  return host.ask("change", opts, { change = id, path = opts.path and host.absolute(opts.path) })
end

---Calls a function when hunks of a file come, change or go.
---@param fn fun(change: hermes.review.Change)
---@return fun() off
function M.on_change(fn)
  require("hermes.core.arguments").need(fn, "callback", "review.on_change", "the function")
  local off_held = require("hermes.doc.held_hunks").on_change(fn)
  local off_event = require("hermes.api").on("ReviewUpdated", function(data)
    if not host.held().find(data.path) then -- their hunks come on their own
      fn({ path = data.path, bufnr = require("hermes.doc.buffer").find(data.path) })
    end
  end)
  return function()
    off_held()
    off_event()
  end
end

---------------------------------------------------------------------------
-- Decisions.

---@class hermes.review.Decision
---@field decision integer for undo()
---@field files { path: string, error?: string }[] what it changed, and what it could not

---@param who "accept"|"reject"
---@param what hermes.review.What
---@param opts table
---@return string id
local function decide(who, what, opts)
  local about = host.selection(what, who)
  local payload = vim.tbl_extend("force", { force = opts.force or nil }, about)
  return host.ask(who, opts, payload, nil, function(result)
    require("hermes.review.decisions").add(result.decision, about)
  end)
end

---Make hunks part of the base. A hunk that an agent has changed since it was got fails with the
---kind "changed". The result is a hermes.review.Decision.
---@param what hermes.review.What
---@param opts? hermes.review.Opts
---@return string id
function M.accept(what, opts)
  return decide("accept", what, host.options(opts, "accept"))
end

---Take hunks back. Buffers change as one undo step, and are written if they had no unsaved edits;
---other files change on the disk. What the user wrote stays. Hunks into which the user has written
---fail with the kind "touched" unless `force` is set, and those that an agent has changed since
---they were got with the kind "changed". The result is a hermes.review.Decision.
---@param what hermes.review.What
---@param opts? hermes.review.Opts|{ force?: boolean }
---@return string id
function M.reject(what, opts)
  return decide("reject", what, host.options(opts, "reject", { force = "boolean" }))
end

---Undo a decision, so that its hunks are pending again: the one with a number, the last one about a
---hunk, a file or a session, or the very last one with nil. "all" undoes every decision of this
---Neovim. The result is a hermes.review.Decision.
---@param what? integer|hermes.review.What
---@param opts? hermes.review.Opts
---@return string id
function M.undo(what, opts)
  return require("hermes.review.decisions").undo(what, host.options(opts, "undo"))
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
  return host.ask("checkpoints", host.options(opts, "checkpoints"))
end

---@class hermes.review.RestoreOpts: hermes.review.Opts
---@field preview? boolean change nothing, only say what would change
---@field paths? string[] only these files
---@field session_id? string only what this session changed
---@field everything? boolean take back what the user changed, too
---@field shown? string of a preview: go back only if that would change what the preview says

---Go back to a checkpoint. What the user changed since stays, unless `everything` is set. A
---checkpoint is made first. The result is a hermes.review.Decision, and has that `checkpoint`. A
---preview has `files`, each with what would change in it, and `shown`, which stands for all of it.
---With that in {opts}, going back fails with the kind "changed" if it would change something else.
---@param checkpoint string|hermes.review.Checkpoint
---@param opts? hermes.review.RestoreOpts
---@return string id
function M.restore(checkpoint, opts)
  local id = type(checkpoint) == "table" and checkpoint.id or checkpoint
  require("hermes.core.arguments").need(id, "name", "review.restore", "the checkpoint")
  opts = host.options(opts, "restore", {
    everything = "boolean",
    paths = "strings",
    preview = "boolean",
    session_id = "name",
    shown = "name",
  })
  return host.ask(
    "restore",
    opts,
    {
      checkpoint = id,
      root = opts.root or type(checkpoint) == "table" and checkpoint.root or nil,
      preview = opts.preview,
      paths = opts.paths and vim.tbl_map(host.absolute, opts.paths),
      sessionId = opts.session_id,
      everything = opts.everything,
      shown = opts.shown,
    },
    nil,
    function(result)
      if result.decision then
        require("hermes.review.decisions").add(result.decision, {})
      end
    end
  )
end

---------------------------------------------------------------------------
-- Comments.

---@class hermes.review.CommentOpts: hermes.review.Opts
---@field session_id? string default: the session that wrote the hunk
---@field deny? string the `requestId` of a permission that is denied for this reason

---Send a comment on a hunk: a prompt with the path, the lines and the hunk itself, for the session
---that wrote it. With `deny`, that request is refused, and the prompt says why at once: in the
---turn that asked, or, if the agent takes nothing into its turns, in place of the rest of that
---turn. For a program in a terminal, the comment with the path and the lines goes into its prompt,
---and you press Enter.
---@param hunk hermes.review.Hunk
---@param text string
---@param opts? hermes.review.CommentOpts
---@return string prompt_id "" for a program in a terminal
function M.comment(hunk, text, opts)
  local check = require("hermes.core.arguments")
  check.need(hunk, "table", "review.comment", "the hunk")
  check.need(hunk.path, "name", "review.comment", "the path of the hunk")
  check.need(text, "name", "review.comment", "the text")
  opts = host.options(opts, "comment", { session_id = "name", deny = "name" })
  local session_id = opts.session_id or hunk.sessionId
  local agent = not opts.session_id and hunk.agent or nil
  local comment = require("hermes.review.comment")
  local hermes = require("hermes.api")
  local own = { agent = agent, on_done = opts.on_done }
  if comment.is_typed_to(session_id, agent) then
    local session = { sessionId = session_id, agent = agent }
    return comment.send_in_terminal(hunk, text, session, opts.on_done)
  end
  local prompt = comment.prompt(hunk, text)
  if opts.deny then
    hermes.respond(opts.deny, require("hermes.ask.answers").refusal(opts.deny) or "")
    own.cancel = "fallback" -- the turn goes on for this answer
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

---Show a file in the current window, with the cursor on a line or on its first hunk. Modelines of
---the file are ignored: an agent may have written them.
---@param path string
---@param line? integer 1-based
function M.open(path, line)
  require("hermes.core.arguments").need(path, "name", "review.open", "the path")
  local problem = require("hermes.doc.show").file(host.absolute(path))
  if problem then
    local name = vim.fn.fnamemodify(path, ":~:.")
    local text =
      require("hermes.core.text").line(("%s cannot be shown: %s"):format(name, problem), 300)
    return require("hermes.core.log").notify(vim.log.levels.ERROR, text)
  end
  local first = M.hunks(0)[1]
  line = line or first and first.first
  if line then
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.max(1, math.min(line, last)), 0 })
  end
end

---Put the pending hunks into the quickfix list. The `user_data` of each entry is its hunk. The
---result has `count`, and `more`: how many hunks the list does not have.
---@param opts? hermes.review.QuickfixOpts
---@return string id
function M.quickfix(opts)
  opts = host.options(opts, "quickfix", { path = "name", session_id = "name", open = "boolean" })
  local line = require("hermes.core.text").line
  local on_done = opts.on_done
  local function list(err, result)
    if err then
      return on_done and on_done(err)
    end
    local items = {}
    for _, hunk in ipairs(result.hunks) do
      if not opts.session_id or hunk.sessionId == opts.session_id then
        -- vim.trim() takes minutes for a long line of spaces.
        local shown = (hunk.new[1] or hunk.old[1] or hunk.kind):gsub("^%s+", "")
        items[#items + 1] = {
          bufnr = vim.fn.bufadd(hunk.path),
          lnum = hunk.first,
          end_lnum = hunk.first + math.max(hunk.count - 1, 0),
          text = line(("+%d -%d  %s"):format(hunk.count, hunk.old_count, shown), 200),
          user_data = hunk,
        }
      end
    end
    local title = result.more > 0 and ("Review, without %d more hunks"):format(result.more)
    vim.fn.setqflist({}, " ", { title = title or "Review", items = items })
    if opts.open ~= false and #items > 0 then
      vim.cmd("botright copen")
    end
    if on_done then
      on_done(nil, { count = #items, more = result.more })
    end
  end
  return M.pending({ root = opts.root, path = opts.path, on_done = list })
end

---A source of reference texts for mini.diff, so that it shows the changes of agents: the `source`
---of its setup(), alone or in a list. Its "apply" accepts hunks.
---@return { name: string, attach: function, detach: function, apply_hunks: function }
function M.mini_diff()
  return require("hermes.view.review.mini_diff")
end

return M
