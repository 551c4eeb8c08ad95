---Lists of the review below the other windows: files, hunks, checkpoints, and what a restore would
---change.
local M = {}

local api = vim.api
local messages = require("hermes.view.review.messages")
local safe, short, counted = messages.safe, messages.short, messages.counted
local say, outcome = messages.say, messages.outcome

local nothing = "no change of an agent is pending"

---@param count integer
---@return string
local function not_seen(count)
  return counted(count, "changed file") .. (count == 1 and " is" or " are") .. " not under review"
end

local function review()
  return require("hermes").review
end

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
  vim.b[buf].hermes_title = title
  vim.wo[win][0].statusline = "%{b:hermes_title}"
  local function close() -- the current window, which may be another one by now
    if not pcall(api.nvim_win_close, 0, true) then -- the last window
      vim.cmd.enew()
    end
  end
  vim.keymap.set("n", "q", close, { buffer = buf, nowait = true, desc = "Close" })
  vim.keymap.set("n", "<CR>", function()
    local item = items[api.nvim_win_get_cursor(0)[1]]
    if item ~= nil then
      close()
      act(item)
    end
  end, { buffer = buf, nowait = true, desc = "Choose" })
end

---@param file hermes.review.File
---@return string?
local function event_of(file)
  if file.from then
    return "moved from " .. short(file.from)
  elseif file.to and file.current ~= "regular" then
    return "moved to " .. short(file.to)
  end
  return file.base == "absent" and "new" or file.current == "absent" and "deleted" or nil
end

local max_named = 10 -- sessions of a file

---How the sessions of a file are named. Open sessions are looked at once for all files.
---@param asked table<string, string> what sessions were asked first
---@return fun(session_ids: string[]): string[]
local function session_names(asked)
  local names = {} ---@type table<string, string>
  for _, session in ipairs(require("hermes").sessions()) do -- the one used last first
    names[session.sessionId] = names[session.sessionId] or session.name
  end
  return function(session_ids)
    local shown = {}
    for i = 1, math.min(#session_ids, max_named) do
      local id = session_ids[i]
      shown[i] = safe(names[id] or asked[id] or id, 40)
    end
    if #session_ids > max_named then
      shown[#shown + 1] = counted(#session_ids - max_named, "more session")
    end
    return shown
  end
end

---Adds a line for the next page to a list.
---@param lines string[]
---@param items any[]
---@param result { more: integer }
---@param next function shows the next page
local function add_more(lines, items, result, next)
  if result.more > 0 then
    lines[#lines + 1], items[#items + 1] = ("… %d more"):format(result.more), next
  end
end

---The changed files, with counts.
---@param from? integer files that were shown already
function M.files(from)
  review().files({
    from = from,
    open = true,
    on_done = outcome(function(result)
      if #result.files == 0 then
        local unseen = result.unseen > 0 and nothing .. "; " .. not_seen(result.unseen)
        return say(result.elsewhere[1] and safe(result.elsewhere[1], 300) or unseen or nothing)
      end
      local names_of, width, names, lines = session_names(result.names or {}), 0, {}, {}
      for i, file in ipairs(result.files) do
        names[i] = short(file.path)
        width = math.max(width, math.min(api.nvim_strwidth(names[i]), 60))
      end
      for i, file in ipairs(result.files) do
        local notes = { counted(file.hunks, "hunk"), event_of(file) }
        vim.list_extend(notes, names_of(file.sessions or {}))
        notes[#notes + 1] = file.partial and "record not complete" or nil
        lines[i] = ("%s%s  +%d -%d  %s"):format(
          names[i],
          (" "):rep(width - api.nvim_strwidth(names[i])),
          file.added,
          file.removed,
          table.concat(notes, ", ")
        )
      end
      local files = counted(result.total, "file")
      local title = ("Review: %s, +%d -%d"):format(files, result.added, result.removed)
      if result.unseen > 0 then
        title = title .. "; " .. not_seen(result.unseen)
      end
      add_more(lines, result.files, result, function()
        M.files((from or 0) + #result.files - 1)
      end)
      list(title, lines, result.files, function(file)
        if type(file) == "function" then
          return file()
        end
        review().open(file.path)
      end)
    end),
  })
end

---@param hunk hermes.review.Hunk
---@return string
local function hunk_label(hunk)
  local shown = hunk.new[1] or hunk.old[1] or hunk.others[1] or hunk.kind
  if hunk.is then
    shown = ("was %s, is now %s"):format(hunk.was, hunk.is)
  end
  return ("%s:%d  +%d -%d  %s"):format(
    short(hunk.path),
    hunk.first,
    hunk.count,
    hunk.old_count,
    safe(shown:gsub("^%s+", ""), 200) -- vim.trim() takes minutes for a long line of spaces
  )
end

---All hunks.
---@param from? integer hunks that were shown already
function M.hunks(from)
  review().pending({
    from = from,
    on_done = outcome(function(result)
      if #result.hunks == 0 then
        return say(nothing)
      end
      local lines = vim.tbl_map(hunk_label, result.hunks)
      add_more(lines, result.hunks, result, function()
        M.hunks((from or 0) + #result.hunks - 1)
      end)
      list("Review: " .. counted(result.total, "hunk"), lines, result.hunks, function(hunk)
        if type(hunk) == "function" then
          return hunk()
        end
        review().open(hunk.path, hunk.first)
      end)
    end),
  })
end

---@param checkpoint hermes.review.Checkpoint
---@return string
local function checkpoint_label(checkpoint)
  local at = (checkpoint.at or ""):match("^(%d+%-%d+%-%d+T%d+:%d+:%d+)")
  return ("%s  %s"):format(
    at and at:gsub("T", " ") or "",
    safe(checkpoint.name or checkpoint.id, 200)
  )
end

local max_lines = 20000 -- of all diffs of a preview: Neovim takes too long for all that may be sent

---The lines about a file that going back would change: one with counts, and the diff below it.
---@param file table of a preview
---@param room integer lines of the diff, at most
---@return string[]
local function change_of(file, room)
  local event = file.after == "absent" and "  is deleted"
    or file.before == "absent" and "  comes back"
    or ""
  local count = ("%s  +%d -%d%s"):format(
    short(file.path),
    file.added or 0,
    file.removed or 0,
    event
  )
  local lines, diff = { count }, file.diff or ""
  local at = diff:find("\n@@", 1, true) or #diff
  while at < #diff and #lines <= room do
    local stop = diff:find("\n", at + 1, true) or #diff + 1
    lines[#lines + 1] = "  " .. safe(diff:sub(at + 1, stop - 1), 500)
    at = stop
  end
  if file.cut or at < #diff then
    lines[#lines + 1] = "  …"
  end
  return lines
end

---Shows what going back would change, and goes back when the user says so there.
---@param checkpoint string|hermes.review.Checkpoint
---@param opts hermes.review.RestoreOpts
function M.restore(checkpoint, opts)
  local function again()
    messages.fail("files have changed meanwhile; look again")
    M.restore(checkpoint, opts)
  end
  review().restore(
    checkpoint,
    vim.tbl_extend("force", opts, {
      preview = true,
      on_done = outcome(function(preview)
        if #preview.files == 0 then
          return say("nothing has changed since")
        end
        local lines, items, room = {}, {}, max_lines
        for _, file in ipairs(preview.files) do
          local change = change_of(file, room)
          for _, line in ipairs(change) do
            lines[#lines + 1], items[#items + 1] = line, file
          end
          room = math.max(0, room - (#change - 1))
        end
        local name = type(checkpoint) == "table" and checkpoint.name or checkpoint
        local title = ("Restore %s: <CR> goes back, q does not"):format(
          safe(name --[[@as string]], 60)
        )
        list(title, lines, items, function()
          review().restore(
            checkpoint,
            vim.tbl_extend("force", opts, {
              shown = preview.shown,
              on_done = function(err, result)
                if err and err.kind == "changed" then
                  return again()
                end
                outcome(function(decision)
                  messages.report(decision, "restored", ":Hermes review undo takes it back")
                end)(err, result)
              end,
            })
          )
        end)
      end),
    })
  )
end

---The checkpoints, the newest first. <CR> goes on with M.restore().
---@param opts hermes.review.RestoreOpts
function M.checkpoints(opts)
  review().checkpoints({
    on_done = outcome(function(result)
      local newest, oldest = {}, result.checkpoints or {}
      for i = #oldest, 1, -1 do
        newest[#newest + 1] = oldest[i]
      end
      if #newest == 0 then
        return say("there is no checkpoint")
      end
      local lines = vim.tbl_map(checkpoint_label, newest)
      list("Checkpoints: <CR> shows what would change", lines, newest, function(checkpoint)
        M.restore(checkpoint, opts)
      end)
    end),
  })
end

return M
