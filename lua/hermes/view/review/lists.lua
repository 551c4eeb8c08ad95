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

---@param session_id string
---@param asked table<string, string> what sessions were asked first
---@return string
local function session_name(session_id, asked)
  local session = require("hermes").sessions({ session_id = session_id })[1]
  return safe(session and session.name or asked[session_id] or session_id, 40)
end

---What a list says below its page.
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
      local width = 0
      for _, file in ipairs(result.files) do
        width = math.max(width, math.min(api.nvim_strwidth(short(file.path)), 60))
      end
      local lines = vim.tbl_map(function(file)
        local name = short(file.path)
        local notes = { counted(file.hunks, "hunk"), event_of(file) }
        for _, session_id in ipairs(file.sessions or {}) do
          notes[#notes + 1] = session_name(session_id, result.names)
        end
        notes[#notes + 1] = file.partial and "record not complete" or nil
        return ("%s%s  +%d -%d  %s"):format(
          name,
          (" "):rep(width - api.nvim_strwidth(name)),
          file.added,
          file.removed,
          table.concat(notes, ", ")
        )
      end, result.files)
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
    safe(vim.trim(shown), 200)
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

---What going back would do to a file: the line with counts, and the lines of the diff below it.
---@param file table of a preview
---@return string[]
local function change_of(file)
  local event = file.after == "absent" and "  is deleted"
    or file.before == "absent" and "  comes back"
    or ""
  local count = ("%s  +%d -%d%s"):format(
    short(file.path),
    file.added or 0,
    file.removed or 0,
    event
  )
  local lines = { count }
  local at = (file.diff or ""):find("\n@@", 1, true)
  for _, line in ipairs(at and vim.split(file.diff:sub(at + 1, -2), "\n") or {}) do
    lines[#lines + 1] = "  " .. safe(line, 500)
  end
  if file.cut then
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
        local lines, items = {}, {}
        for _, file in ipairs(preview.files) do
          for _, line in ipairs(change_of(file)) do
            lines[#lines + 1], items[#items + 1] = line, file
          end
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
      local newest = {}
      for _, checkpoint in ipairs(result.checkpoints or {}) do
        table.insert(newest, 1, checkpoint)
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
