---A view of the review: signs and deleted lines in buffers, lists, a diff of a file with its base,
---and what is behind :Hermes review. It stands on the public functions.
local M = {}

local api = vim.api
local namespace = api.nvim_create_namespace("hermes.review.view")

--- Milliseconds of drawing, and milliseconds of pause between two pieces of it.
M.slice_ms, M.pause_ms = 5, 10

--- Deleted lines that are shown of one hunk.
M.max_deleted = 60

local function review()
  return require("hermes").review
end

---Text of an agent, or whatever may hold it, so that it can be shown.
---@param text string
---@param max? integer bytes
---@return string
local function safe(text, max)
  return require("hermes").text.line(text, max)
end

---@param text string
local function say(text)
  vim.notify("hermes: " .. text, vim.log.levels.INFO)
end

---@param text string
local function fail(text)
  vim.notify("hermes: " .. text, vim.log.levels.ERROR)
end

---@param done fun(result: table)
---@return fun(err: hermes.Error?, result: table?)
local function outcome(done)
  return function(err, result)
    if err then
      return fail(safe(err.message, 500))
    end
    done(result --[[@as table]])
  end
end

---------------------------------------------------------------------------
-- Signs and deleted lines.

local links = { Add = "Added", Change = "Changed", Delete = "Removed", Line = "DiffDelete" }

local function define_highlights()
  for name, link in pairs(links) do
    api.nvim_set_hl(0, "HermesReview" .. name, { link = link, default = true })
  end
end

---@param buf integer
---@param lines string[]
---@param count integer all of them
---@return table[] virtual lines
local function deleted(buf, lines, count)
  local tab = (" "):rep(vim.bo[buf].tabstop)
  local list = {}
  for i = 1, math.min(#lines, M.max_deleted) do
    local shown = safe(lines[i], 500):gsub("\t", tab)
    local rest = math.max(vim.o.columns - api.nvim_strwidth(shown), 1)
    list[i] = { { shown .. (" "):rep(rest), "HermesReviewLine" } }
  end
  if count > #list then
    list[#list + 1] =
      { { ("… %d more deleted lines"):format(count - #list), "HermesReviewLine" } }
  end
  return list
end

local jobs = {} ---@type table<integer, { tick: integer, go_on: fun(): boolean }> by buffer

---@param buf integer
---@return integer[][] first and last lines that windows show
local function visible(buf)
  return vim.tbl_map(function(win)
    return { vim.fn.line("w0", win), vim.fn.line("w$", win) }
  end, vim.fn.win_findbuf(buf))
end

---Draws the hunks of a buffer, those that are on the screen first.
---@param buf integer
---@param hunks hermes.review.Hunk[]
---@param pause fun() called often
local function draw_all(buf, hunks, pause)
  local count = api.nvim_buf_line_count(buf)
  local headed, signed = {}, {}

  ---@param hunk hermes.review.Hunk
  local function head(hunk)
    local below = hunk.first > count -- deleted at the end of the buffer
    headed[hunk] = true
    if hunk.old_count > 0 then
      api.nvim_buf_set_extmark(buf, namespace, below and count - 1 or hunk.first - 1, 0, {
        virt_lines = deleted(buf, hunk.old, hunk.old_count),
        virt_lines_above = not below,
        sign_text = hunk.count == 0 and (below and "▁" or "▔") or nil,
        sign_hl_group = hunk.count == 0 and "HermesReviewDelete" or nil,
      })
    end
  end

  ---@param hunk hermes.review.Hunk
  ---@param first integer
  ---@param last integer
  local function signs(hunk, first, last)
    local users = {} -- what the user wrote is not shown as the agent's
    for _, line in ipairs(hunk.user) do
      users[line] = true
    end
    local group = hunk.old_count > 0 and "HermesReviewChange" or "HermesReviewAdd"
    for line = math.max(first, hunk.first), math.min(last, hunk.first + hunk.count - 1) do
      if not users[line] and not signed[line] then
        local sign = { sign_text = "┃", sign_hl_group = group }
        api.nvim_buf_set_extmark(buf, namespace, line - 1, 0, sign)
      end
      if line % 100 == 0 then
        pause()
      end
    end
  end

  local function no_pause() end
  local later = pause
  pause = no_pause
  local windows = visible(buf)
  for _, range in ipairs(windows) do
    for _, hunk in ipairs(hunks) do
      if hunk.first <= range[2] + 1 and hunk.first + hunk.count >= range[1] then
        if not headed[hunk] then
          head(hunk)
        end
        signs(hunk, range[1], range[2])
      end
    end
    for line = range[1], range[2] do
      signed[line] = true
    end
  end
  pause = later
  for _, hunk in ipairs(hunks) do
    pause()
    if not headed[hunk] then
      head(hunk)
    end
    signs(hunk, 1, count)
  end
end

---Lines above the first one of a buffer are hidden until a window makes room for them.
---@param buf integer
---@param first? hermes.review.Hunk
local function show_top(buf, first)
  if not first or first.first ~= 1 or first.old_count == 0 then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      if view.topline == 1 and view.topfill == 0 then
        local room = math.floor(api.nvim_win_get_height(win) / 2)
        local lines = math.min(first.old_count, M.max_deleted + 1, room)
        vim.fn.winrestview({ topfill = lines })
      end
    end)
  end
end

local draw ---@type fun(buf: integer)

---@param buf integer
local function work(buf)
  local job = jobs[buf]
  if not api.nvim_buf_is_loaded(buf) then
    jobs[buf] = nil
  elseif api.nvim_buf_get_changedtick(buf) ~= job.tick then
    -- What is not drawn yet has moved. While the user types, it can wait.
    job.tick = api.nvim_buf_get_changedtick(buf)
    job.go_on = nil
    vim.defer_fn(function()
      if jobs[buf] == job then
        if api.nvim_buf_is_loaded(buf) and api.nvim_buf_get_changedtick(buf) == job.tick then
          draw(buf)
        else
          work(buf)
        end
      end
    end, 10 * M.pause_ms)
  elseif job.go_on() then
    vim.defer_fn(function()
      if jobs[buf] == job then
        work(buf)
      end
    end, M.pause_ms)
  else
    jobs[buf] = nil
  end
end

---@param buf integer
function draw(buf)
  api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local hunks = {}
  for _, hunk in ipairs(review().hunks(buf)) do
    hunks[#hunks + 1] = hunk.kind == "text" and hunk or nil
  end
  if #hunks == 0 then
    jobs[buf] = nil
    return
  end
  local stop = 0
  local co = coroutine.create(function()
    draw_all(buf, hunks, function()
      if vim.uv.hrtime() > stop then
        coroutine.yield()
      end
    end)
  end)
  jobs[buf] = {
    tick = api.nvim_buf_get_changedtick(buf),
    go_on = function()
      stop = vim.uv.hrtime() + M.slice_ms * 1e6
      local ok, problem = coroutine.resume(co)
      if not ok then
        error(problem, 0)
      end
      return coroutine.status(co) ~= "dead"
    end,
  }
  work(buf)
  show_top(buf, hunks[1])
end

---------------------------------------------------------------------------
-- On and off.

local off ---@type fun()?

---Shows hunks in all buffers, now and when they change.
function M.start()
  if off then
    return
  end
  define_highlights()
  off = review().on_change(function(change)
    if change.bufnr and api.nvim_buf_is_loaded(change.bufnr) then
      draw(change.bufnr)
    end
  end)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) then
      draw(buf)
    end
  end
end

---Shows none.
function M.stop()
  if off then
    off()
    off, jobs = nil, {}
    for _, buf in ipairs(api.nvim_list_bufs()) do
      api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
    end
  end
end

---------------------------------------------------------------------------
-- Going to hunks and deciding about them.

---@param hunk hermes.review.Hunk
---@return integer line that the cursor can be on
local function line_of(hunk)
  return math.max(1, math.min(hunk.first, api.nvim_buf_line_count(0)))
end

---The hunks in lines of the current buffer, or the one at the cursor.
---@param first? integer
---@param last? integer
---@return hermes.review.Hunk[]
local function here(first, last)
  local cursor = api.nvim_win_get_cursor(0)[1]
  return vim.tbl_filter(function(hunk)
    local from = line_of(hunk)
    local to = math.max(from, hunk.first + hunk.count - 1)
    return from <= (last or cursor) and to >= (first or cursor)
  end, review().hunks(0))
end

---@param step 1|-1
local function jump(step)
  local hunks = review().hunks(0)
  if #hunks == 0 then
    return say("this buffer has no pending hunk; :Hermes review lists the files")
  end
  local cursor = api.nvim_win_get_cursor(0)[1]
  local target ---@type integer?
  for i = step == 1 and 1 or #hunks, step == 1 and #hunks or 1, step do
    local line = line_of(hunks[i])
    if (line - cursor) * step > 0 then
      target = line
      break
    end
  end
  if not target then
    target = line_of(hunks[step == 1 and 1 or #hunks])
    say(step == 1 and "the first hunk again" or "the last hunk again")
  end
  vim.cmd("normal! m'")
  api.nvim_win_set_cursor(0, { target, 0 })
  if target == api.nvim_buf_line_count(0) then
    vim.cmd("normal! zz") -- deleted lines may follow the last one
  end
end

---@param count integer
---@param what string
---@return string
local function counted(count, what)
  return ("%d %s%s"):format(count, what, count == 1 and "" or "s")
end

---@param result hermes.review.Decision
---@param verb string
local function report(result, verb)
  local failed = vim.tbl_filter(function(file)
    return file.error
  end, result.files or {})
  for _, file in ipairs(failed) do
    local name = vim.fn.fnamemodify(file.path, ":~:.")
    fail(("%s: %s"):format(safe(name, 200), safe(file.error, 300)))
  end
  local done = #(result.files or {}) - #failed
  if done > 1 then
    say(("%s in %s"):format(verb, counted(done, "file")))
  end
end

---@param verb "accept"|"reject"
---@param what hermes.review.What
---@param force boolean
local function decide(verb, what, force)
  review()[verb](what, {
    force = verb == "reject" and force or nil,
    on_done = function(err, result)
      if err and err.kind == "touched" then
        return fail(
          "you have changed this hunk since; :Hermes review reject force keeps your lines"
        )
      end
      outcome(function(decision)
        report(decision, verb .. "ed")
      end)(err, result)
    end,
  })
end

---@param words string[]
---@param word string
---@return boolean found it is taken out
local function take(words, word)
  for i, other in ipairs(words) do
    if other == word then
      table.remove(words, i)
      return true
    end
  end
  return false
end

---@param verb "accept"|"reject"
---@param words string[]
---@param args hermes.CommandArgs
local function run_decision(verb, words, args)
  local force = take(words, "force")
  local word = words[1]
  local session = word and word:match("^session=(.+)$")
  if session then
    return decide(verb, { session_id = session }, force)
  elseif word == "all" then
    return decide(verb, "all", force)
  elseif word == "file" then
    return decide(verb, { bufnr = api.nvim_get_current_buf() }, force)
  elseif word then
    return fail(("%q is none of all, file, session="):format(word))
  end
  local hunks = here(args.first, args.last)
  if #hunks == 0 then
    return say("there is no hunk here")
  end
  for _, hunk in ipairs(hunks) do
    decide(verb, hunk, force)
  end
end

local function comment()
  local hunk = here()[1]
  if not hunk then
    return say("there is no hunk here")
  end
  vim.ui.input({ prompt = "Comment: " }, function(typed)
    if typed and typed ~= "" then
      review().comment(hunk, typed)
    end
  end)
end

---------------------------------------------------------------------------
-- Lists.

---Opens a list below. <CR> on a line calls `act` with what it stands for.
---@param title string
---@param lines string[] safe to show
---@param items any[] of the lines
---@param act fun(item: any)
local function list(title, lines, items, act)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = "hermes"
  local height = math.max(1, math.min(#lines, math.floor(vim.o.lines / 3)))
  local win = api.nvim_open_win(buf, true, { split = "below", win = -1, height = height })
  vim.wo[win][0].number, vim.wo[win][0].relativenumber = false, false
  vim.wo[win][0].wrap, vim.wo[win][0].winfixheight, vim.wo[win][0].cursorline = false, true, true
  vim.w[win].hermes_title = title
  vim.wo[win][0].statusline = "%{w:hermes_title}"
  local function close()
    if not pcall(api.nvim_win_close, win, true) then -- the last window
      vim.cmd.enew()
    end
  end
  vim.keymap.set("n", "q", close, { buffer = buf, nowait = true, desc = "Close" })
  vim.keymap.set("n", "<CR>", function()
    local item = items[api.nvim_win_get_cursor(win)[1]]
    if item ~= nil then
      close()
      act(item)
    end
  end, { buffer = buf, nowait = true, desc = "Choose" })
end

---@param path string
---@return string
local function short(path)
  return safe(vim.fn.fnamemodify(path, ":~:."), 200)
end

---@param path string
---@param line? integer
local function open_file(path, line)
  local buf = vim.fn.bufadd(path)
  vim.bo[buf].buflisted = true
  api.nvim_win_set_buf(0, buf)
  local first = review().hunks(buf)[1]
  line = line or first and first.first
  if line then
    api.nvim_win_set_cursor(0, { math.max(1, math.min(line, api.nvim_buf_line_count(buf))), 0 })
  end
end

---@param file hermes.review.File
---@return string?
local function event_of(file)
  if file.from then
    return "moved from " .. short(file.from)
  end
  return file.base == "absent" and "new" or file.current == "absent" and "deleted" or nil
end

---@param session_id string
---@return string
local function session_name(session_id)
  local title = require("hermes").state(session_id, "title")
  return safe(title and title ~= "" and title or session_id, 40)
end

local function list_files()
  review().files({
    on_done = outcome(function(result)
      if #result.files == 0 then
        return say("no change of an agent is pending")
      end
      local width = 0
      for _, file in ipairs(result.files) do
        width = math.max(width, math.min(api.nvim_strwidth(short(file.path)), 60))
      end
      local added, removed = 0, 0
      local lines = vim.tbl_map(function(file)
        added, removed = added + file.added, removed + file.removed
        local name = short(file.path)
        local notes = { counted(file.hunks, "hunk"), event_of(file) }
        vim.list_extend(notes, vim.tbl_map(session_name, file.sessions or {}))
        return ("%s%s  +%d -%d  %s"):format(
          name,
          (" "):rep(width - api.nvim_strwidth(name)),
          file.added,
          file.removed,
          table.concat(notes, ", ")
        )
      end, result.files)
      local title = ("Review: %s, +%d -%d"):format(counted(#lines, "file"), added, removed)
      list(title, lines, result.files, function(file)
        open_file(file.path)
      end)
    end),
  })
end

---@param hunk hermes.review.Hunk
---@return string
local function hunk_label(hunk)
  local shown = hunk.new[1] or hunk.old[1] or hunk.kind
  return ("%s:%d  +%d -%d  %s"):format(
    short(hunk.path),
    hunk.first,
    hunk.count,
    hunk.old_count,
    safe(vim.trim(shown), 200)
  )
end

local function list_hunks()
  review().pending({
    on_done = outcome(function(result)
      if #result.hunks == 0 then
        return say("no change of an agent is pending")
      end
      local lines = vim.tbl_map(hunk_label, result.hunks)
      list("Review: " .. counted(#lines, "hunk"), lines, result.hunks, function(hunk)
        open_file(hunk.path, hunk.first)
      end)
    end),
  })
end

---Shows a file beside its base in a tab.
local function diff()
  local buf = api.nvim_get_current_buf()
  if vim.bo[buf].buftype ~= "" then
    return fail("this is not a file")
  end
  review().base(buf, {
    on_done = outcome(function(base)
      if not api.nvim_buf_is_loaded(buf) then
        return
      end
      local text = base.text:gsub("^\239\187\191", "")
      if vim.bo[buf].fileformat == "dos" then
        text = text:gsub("\r\n", "\n")
      end
      local lines = vim.split(text, "\n")
      if #lines > 1 and lines[#lines] == "" then
        lines[#lines] = nil
      end
      vim.cmd("tab split")
      api.nvim_win_set_buf(0, buf)
      local right = api.nvim_get_current_win()
      local scratch = api.nvim_create_buf(false, true)
      api.nvim_buf_set_lines(scratch, 0, -1, false, lines)
      vim.bo[scratch].bufhidden = "wipe"
      vim.bo[scratch].modifiable = false
      local left = api.nvim_open_win(scratch, false, { split = "left", win = right })
      vim.w[left].hermes_title = "base"
      vim.wo[left][0].statusline = "%{w:hermes_title}"
      for _, win in ipairs({ left, right }) do
        api.nvim_win_call(win, function()
          vim.cmd("diffthis")
        end)
      end
      api.nvim_create_autocmd("WinClosed", {
        buffer = scratch,
        once = true,
        callback = function()
          if api.nvim_win_is_valid(right) then
            api.nvim_win_call(right, function()
              vim.cmd("diffoff")
            end)
          end
        end,
      })
    end),
  })
end

---------------------------------------------------------------------------
-- Checkpoints.

---@param checkpoint hermes.review.Checkpoint
---@return string
local function checkpoint_label(checkpoint)
  local at = (checkpoint.at or ""):match("^(%d+%-%d+%-%d+T%d+:%d+:%d+)")
  return ("%s  %s"):format(
    at and at:gsub("T", " ") or "",
    safe(checkpoint.name or checkpoint.id, 200)
  )
end

---Shows what going back would change, and goes back when the user says so there.
---@param checkpoint string|hermes.review.Checkpoint
---@param opts hermes.review.RestoreOpts
local function restore(checkpoint, opts)
  review().restore(
    checkpoint,
    vim.tbl_extend("force", opts, {
      preview = true,
      on_done = outcome(function(preview)
        if #preview.files == 0 then
          return say("nothing has changed since")
        end
        local lines = vim.tbl_map(function(file)
          return ("%s  +%d -%d%s"):format(
            short(file.path),
            file.added or 0,
            file.removed or 0,
            file.after == "absent" and "  is deleted"
              or file.before == "absent" and "  comes back"
              or ""
          )
        end, preview.files)
        local name = type(checkpoint) == "table" and checkpoint.name or checkpoint
        local title = ("Restore %s: <CR> goes back, q does not"):format(
          safe(name --[[@as string]], 60)
        )
        list(title, lines, preview.files, function()
          review().restore(
            checkpoint,
            vim.tbl_extend("force", opts, {
              on_done = outcome(function(result)
                report(result, "restored")
                say(":Hermes review undo takes it back")
              end),
            })
          )
        end)
      end),
    })
  )
end

---@param opts hermes.review.RestoreOpts
local function list_checkpoints(opts)
  review().checkpoints({
    on_done = outcome(function(result)
      local newest = {}
      for _, checkpoint in ipairs(result.checkpoints or {}) do
        table.insert(newest, 1, checkpoint)
      end
      if #newest == 0 then
        return say("there is no checkpoint")
      end
      local lines = vim.tbl_map(checkpoint_label, newest)
      list("Checkpoints: <CR> shows what would change", lines, newest, function(checkpoint)
        restore(checkpoint, opts)
      end)
    end),
  })
end

---------------------------------------------------------------------------
-- :Hermes review

local verdicts = { "all", "file", "force" }

---@type table<string, { run: fun(words: string[], args: hermes.CommandArgs), words?: string[] }>
local actions = {
  files = { run = list_files },
  hunks = { run = list_hunks },
  next = {
    run = function()
      jump(1)
    end,
  },
  previous = {
    run = function()
      jump(-1)
    end,
  },
  accept = {
    run = function(words, args)
      run_decision("accept", words, args)
    end,
    words = { "all", "file" },
  },
  reject = {
    run = function(words, args)
      run_decision("reject", words, args)
    end,
    words = verdicts,
  },
  undo = {
    run = function(words)
      local about = words[1] == "file" and { bufnr = api.nvim_get_current_buf() }
        or words[1] == "all" and "all"
        or nil
      review().undo(about, {
        on_done = outcome(function(result)
          report(result, "undone")
        end),
      })
    end,
    words = { "all", "file" },
  },
  comment = { run = comment },
  diff = { run = diff },
  checkpoints = {
    run = function()
      list_checkpoints({})
    end,
  },
  restore = {
    run = function(words)
      local opts = { everything = take(words, "everything") or nil }
      if words[1] then
        restore(words[1], opts)
      else
        list_checkpoints(opts)
      end
    end,
    words = { "everything" },
  },
  quickfix = {
    run = function()
      review().quickfix({
        on_done = outcome(function(result)
          if result.count == 0 then
            say("no change of an agent is pending")
          end
        end),
      })
    end,
  },
  on = { run = M.start },
  off = { run = M.stop },
}

---@return string[]
local function names()
  local list_of_names = vim.tbl_keys(actions)
  table.sort(list_of_names)
  return list_of_names
end

---@param words string[]
---@param args hermes.CommandArgs
function M.run(words, args)
  local name = table.remove(words, 1) or "files"
  if not actions[name] then
    return fail(("%q is none of %s"):format(name, table.concat(names(), ", ")))
  end
  actions[name].run(words, args)
end

---@param before string[]
---@return string[]
function M.complete(_, before)
  local action = actions[before[1] or ""]
  return #before == 0 and names() or action and action.words or {}
end

return M
