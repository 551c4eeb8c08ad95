---The commands of the review: going to hunks, deciding about them, and what else is behind
---:Hermes review. It stands on the public functions.
local M = {}

local api = vim.api
local messages = require("hermes.view.review.messages")
local say, fail, outcome, report = messages.say, messages.fail, messages.outcome, messages.report

local function review()
  return require("hermes").review
end

local function lists()
  return require("hermes.view.review.lists")
end

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
    return say("no pending hunk here; see :Hermes review")
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
---@param verb "accept"|"reject"
---@param what hermes.review.What
---@param force boolean
local function decide(verb, what, force)
  review()[verb](what, {
    force = verb == "reject" and force or nil,
    on_done = function(err, result)
      if err and err.kind == "touched" then
        return fail('you have changed this hunk; "reject force" keeps your lines')
      elseif err and err.kind == "changed" then
        return fail("an agent has changed this meanwhile; look again")
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
    local version = 0
    for _, hunk in ipairs(review().hunks(0)) do
      version = math.max(version, hunk.version)
    end
    if version == 0 then
      return say("no pending hunk here; see :Hermes review")
    end
    return decide(verb, { bufnr = api.nvim_get_current_buf(), version = version }, force)
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
      vim.wo[left][0].statusline = "base"
      for _, win in ipairs({ left, right }) do
        api.nvim_win_call(win, function()
          vim.cmd("diffthis")
        end)
      end
      -- Only scrolling brings the other side there in Neovim 0.10.
      local at = vim.fn.winsaveview()
      vim.cmd("normal! \5\25")
      vim.fn.winrestview(at)
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
      api.nvim_create_autocmd("WinClosed", {
        pattern = tostring(right),
        once = true,
        callback = vim.schedule_wrap(function() -- a base alone compares nothing
          if api.nvim_win_is_valid(left) and api.nvim_win_get_buf(left) == scratch then
            pcall(api.nvim_win_close, left, true) -- not where it is the last window
          end
        end),
      })
    end),
  })
end

---------------------------------------------------------------------------
-- :Hermes review

---@type table<string, { run: fun(words: string[], args: hermes.CommandArgs), words?: string[] }>
local actions = {
  files = {
    run = function()
      lists().files()
    end,
  },
  hunks = {
    run = function()
      lists().hunks()
    end,
  },
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
    words = { "all", "file", "session=" },
  },
  reject = {
    run = function(words, args)
      run_decision("reject", words, args)
    end,
    words = { "all", "file", "force", "session=" },
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
      lists().checkpoints({})
    end,
  },
  restore = {
    run = function(words)
      local opts = { everything = take(words, "everything") or nil }
      if words[1] then
        lists().restore(words[1], opts)
      else
        lists().checkpoints(opts)
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
          elseif result.more > 0 then
            say(("the list has %d hunks; %d more are pending"):format(result.count, result.more))
          end
        end),
      })
    end,
  },
  on = {
    run = function()
      require("hermes.view.review.signs").start()
    end,
  },
  off = {
    run = function()
      require("hermes.view.review.signs").stop()
    end,
  },
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
    return fail(("unknown word %q; use one of: %s"):format(name, table.concat(names(), ", ")))
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
