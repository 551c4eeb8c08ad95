---Hunks in buffers: signs, and deleted lines as virtual ones. A view on the public functions.
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
    local shown = require("hermes").text.line(lines[i], 500):gsub("\t", tab)
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

---Whether a window shows a buffer beside another text. Virtual lines would shift it.
---@param buf integer
---@return boolean
local function is_compared(buf)
  return vim.iter(vim.fn.win_findbuf(buf)):any(function(win)
    return vim.wo[win].diff
  end)
end

---Draws the hunks of a buffer, those that are on the screen first.
---@param buf integer
---@param hunks hermes.review.Hunk[]
---@param pause fun() called often
local function draw_all(buf, hunks, pause)
  local compared = is_compared(buf)
  local count = api.nvim_buf_line_count(buf)
  local headed, signed = {}, {}

  ---@param hunk hermes.review.Hunk
  local function head(hunk)
    local below = hunk.first > count -- deleted at the end of the buffer
    headed[hunk] = true
    if hunk.old_count > 0 then
      api.nvim_buf_set_extmark(buf, namespace, below and count - 1 or hunk.first - 1, 0, {
        virt_lines = not compared and deleted(buf, hunk.old, hunk.old_count) or nil,
        virt_lines_above = not compared and not below or nil,
        sign_text = hunk.count == 0 and (below and "▁" or "▔") or nil,
        sign_hl_group = hunk.count == 0 and "HermesReviewDelete" or nil,
      })
    end
  end

  ---@param hunk hermes.review.Hunk
  ---@param first integer
  ---@param last integer
  ---@param at_once? boolean without a pause
  local function signs(hunk, first, last, at_once)
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
      if not at_once and line % 100 == 0 then
        pause()
      end
    end
  end

  local windows = visible(buf)
  for _, range in ipairs(windows) do
    for _, hunk in ipairs(hunks) do
      if hunk.first <= range[2] + 1 and hunk.first + hunk.count >= range[1] then
        if not headed[hunk] then
          head(hunk)
        end
        signs(hunk, range[1], range[2], true)
      end
    end
    for line = range[1], range[2] do
      signed[line] = true
    end
  end
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
    -- The hunks that are not drawn yet have moved. They can wait while the user types.
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

local off ---@type fun()?
local group ---@type integer?
local due = {} ---@type table<integer, true> buffers that will be drawn

---Draws a buffer a moment later: to take the hunks was work enough for one frame.
---@param buf integer
local function draw_soon(buf)
  if due[buf] then
    return
  end
  due[buf] = true
  vim.defer_fn(function()
    due[buf] = nil
    if off and api.nvim_buf_is_loaded(buf) then
      draw(buf)
    end
  end, 1)
end

---Shows hunks in all buffers, now and when they change.
function M.start()
  if off then
    return
  end
  define_highlights()
  off = review().on_change(function(change)
    if change.bufnr and api.nvim_buf_is_loaded(change.bufnr) then
      draw_soon(change.bufnr)
    end
  end)
  group = api.nvim_create_augroup("hermes.review.signs", {})
  api.nvim_create_autocmd("OptionSet", {
    group = group,
    pattern = "diff",
    callback = function()
      draw_soon(api.nvim_get_current_buf())
    end,
  })
  api.nvim_create_autocmd("WinClosed", {
    group = group,
    callback = function(args)
      local win = tonumber(args.match)
      if win and api.nvim_win_is_valid(win) then
        draw_soon(api.nvim_win_get_buf(win)) -- which may have been beside another text
      end
    end,
  })
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
    api.nvim_del_augroup_by_id(group)
    off, jobs = nil, {}
    for _, buf in ipairs(api.nvim_list_bufs()) do
      api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
    end
  end
end

return M
