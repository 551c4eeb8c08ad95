--- The default answer to PermissionRequest: asks the user through
--- |vim.ui.select()|, one question at a time.
---
--- A window beside the question shows what the agent wants to do, taken from
--- the arguments of the tool call and not from its title alone. Nothing is
--- allowed by default: a question that is dismissed, that cannot be shown or
--- that nobody answers in time counts as cancelled.

local text = require("hermes.text")

local M = {}

--- After this many milliseconds an unanswered question counts as cancelled.
M.timeout_ms = 30 * 60 * 1000

--- The built-in |vim.ui.select()| reads keys that were typed before it was
--- visible. An approval that comes sooner than this many milliseconds is asked
--- for again.
M.too_soon_ms = 500

--- Most lines of one diff, and most bytes of one argument, that are shown.
M.max_diff_lines, M.max_argument = 20, 2000

---@class hermes.permission.Question
---@field data table
---@field answer fun(option_id: string)
---@field done? boolean
---@field window? integer
---@field timer? uv.uv_timer_t

---@type hermes.permission.Question[] the first one is visible
local queue = {}

local kinds = {
  allow_once = "allow once",
  allow_always = "allow always",
  reject_once = "reject once",
  reject_always = "reject always",
}

---@param option table
---@return string
local function label(option)
  local kind = kinds[option.kind] or "unknown kind: " .. text.line(option.kind or "none", 40)
  return ("%s  [%s]"):format(text.line(option.name or option.optionId, 100), kind)
end

---@param option table
---@return boolean
local function allows(option)
  return option.kind ~= "reject_once" and option.kind ~= "reject_always"
end

--- Rejections first: many pickers start on the first entry.
---@param options table[]
---@return table[]
local function in_order(options)
  local ordered = vim.tbl_filter(function(option)
    return not allows(option)
  end, options)
  return vim.list_extend(ordered, vim.tbl_filter(allows, options))
end

--- A named argument, wrapped, complete up to a limit that is stated.
---@param lines string[]
---@param name string
---@param value any
local function add(lines, name, value)
  if type(value) == "table" then
    local strings = vim.islist(value)
      and vim.iter(value):all(function(v)
        return type(v) == "string"
      end)
    value = strings and table.concat(vim.tbl_map(vim.fn.shellescape, value), " ")
      or vim.json.encode(value)
  end
  value = tostring(value)
  local shown = value:sub(1, M.max_argument)
  for i, line in ipairs(text.lines(shown)) do
    lines[#lines + 1] = (i == 1 and name .. ": " or "  ") .. line
  end
  if #shown < #value then
    lines[#lines + 1] = ("  … %d more bytes"):format(#value - #shown)
  end
end

---@param lines string[]
---@param diff table
local function add_diff(lines, diff)
  lines[#lines + 1] = (diff.oldText and "change " or "create ") .. text.line(diff.path)
  local changes = require("hermes.diff").unified(diff.oldText or "", diff.newText or "")
  if not changes then
    lines[#lines + 1] = ("  … too large to compare (%d bytes)"):format(#diff.newText)
    return
  end
  for i = 1, math.min(#changes, M.max_diff_lines) do
    lines[#lines + 1] = text.line(changes[i])
  end
  if #changes > M.max_diff_lines then
    lines[#lines + 1] = ("  … %d more lines"):format(#changes - M.max_diff_lines)
  end
end

-- Arguments that are shown before the others.
local leading = { command = 1, args = 2, cwd = 3 }

--- The tool call in question: what the question says, over what was said before.
---@param data table
---@return table
local function tool_call(data)
  local call = data.toolCall or {}
  local state = package.loaded["hermes.state"] -- nothing was said before it was loaded
  local session = state and state.session(data.sessionId, data.agent)
  local known = session and session.toolCalls[call.toolCallId]
  return known and vim.tbl_extend("force", known, call) or call
end

--- What the agent asks to do, as lines that are safe to show.
---@param data table data of PermissionRequest
---@return string[]
function M.details(data)
  local call = tool_call(data)
  local lines = { "kind: " .. text.line(call.kind or "unknown", 40) }
  if call.title then
    add(lines, "title", call.title)
  end
  for _, location in ipairs(call.locations or {}) do
    local at = location.line and (":%d"):format(location.line) or ""
    add(lines, "path", location.path .. at)
  end
  local input = call.rawInput
  if type(input) == "table" and not vim.islist(input) then
    local names = vim.tbl_keys(input)
    table.sort(names, function(a, b)
      local at, bt = leading[a] or 9, leading[b] or 9
      return at < bt or (at == bt and a < b)
    end)
    for _, name in ipairs(names) do
      add(lines, text.line(name, 60), input[name])
    end
  elseif input ~= nil then
    add(lines, "input", input)
  end
  for _, content in ipairs(call.content or {}) do
    if content.type == "diff" then
      add_diff(lines, content)
    elseif content.type == "content" and content.content and content.content.text then
      vim.list_extend(lines, text.lines(content.content.text, M.max_diff_lines))
    end
  end
  return lines
end

---@param lines string[]
---@return integer? window nil where no window can be opened now
local function open_details(lines)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  local ok, window = pcall(function()
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
    vim.bo[buf].syntax = "diff"
    local width = 20
    for _, line in ipairs(lines) do
      width = math.max(width, vim.fn.strdisplaywidth(line))
    end
    return vim.api.nvim_open_win(buf, false, {
      relative = "editor",
      row = 0,
      col = vim.o.columns,
      anchor = "NE",
      width = math.min(width, math.max(20, math.floor(vim.o.columns * 0.6))),
      height = math.max(1, math.min(#lines, math.floor(vim.o.lines * 0.5))),
      style = "minimal",
      border = "rounded",
      focusable = true,
      zindex = 40, -- below the floats of pickers
      noautocmd = true,
    })
  end)
  if not ok then
    pcall(vim.api.nvim_buf_delete, buf, { force = true })
    return nil
  end
  vim.wo[window].wrap = true
  vim.cmd.redraw()
  return window
end

local show

--- Takes a question away, answered or not, and goes on to the next one.
---@param question hermes.permission.Question
local function finish(question)
  question.done = true
  if question.timer then
    question.timer:stop()
    question.timer:close()
    question.timer = nil
  end
  if question.window then
    pcall(vim.api.nvim_win_close, question.window, true)
    question.window = nil
  end
  for i, other in ipairs(queue) do
    if other == question then
      table.remove(queue, i)
      if i == 1 and queue[1] then
        vim.schedule(show)
      end
      return
    end
  end
end

---@param question hermes.permission.Question
---@param option_id string "" for cancelled
local function settle(question, option_id)
  if not question.done then
    finish(question)
    question.answer(option_id)
  end
end

--- True where a question would end up in the middle of something else.
---@return boolean
local function busy()
  local mode = vim.api.nvim_get_mode()
  return mode.blocking or mode.mode:find("^[cr!]") ~= nil or vim.fn.getcmdwintype() ~= ""
end

---@return boolean
local function is_builtin_select()
  return debug.getinfo(vim.ui.select, "S").source:find("vim/ui.lua", 1, true) ~= nil
end

--- Shows the first question of the queue; again, when its picker went away
--- without an answer.
function show()
  local question = queue[1]
  if not question or question.done then
    return
  elseif busy() then
    vim.defer_fn(show, 200)
    return
  end
  local builtin = is_builtin_select()
  if builtin and #vim.api.nvim_list_uis() == 0 then
    vim.notify("hermes: permission denied, nobody can be asked", vim.log.levels.WARN)
    return settle(question, "")
  end
  local data = question.data
  local options = in_order(data.options)
  local call = tool_call(data)
  if not question.window then
    question.window = open_details(M.details(data))
  end
  local shown_at = vim.uv.hrtime()
  local function chosen(item, index)
    if question.done then
      return
    end
    local option = nil
    for i, candidate in ipairs(options) do
      if item ~= nil and (item == candidate or (index == i and item == label(candidate))) then
        option = candidate
      end
    end
    local elapsed_ms = (vim.uv.hrtime() - shown_at) / 1e6
    if option and allows(option) and builtin and elapsed_ms < M.too_soon_ms then
      vim.schedule(show)
      return
    end
    settle(question, option and option.optionId or "")
  end
  local ok, problem = pcall(vim.ui.select, options, {
    prompt = ("%s: %s?"):format(
      text.line(data.agent or "agent", 40),
      text.line(call.title or call.kind or "tool call", 100)
    ),
    kind = "hermes_permission",
    format_item = label,
  }, chosen)
  if not ok then
    vim.notify(
      "hermes: permission denied, vim.ui.select: " .. text.line(problem),
      vim.log.levels.WARN
    )
    settle(question, "")
  end
end

--- Asks the user. Questions wait for each other in the order they came.
---@param data table data of PermissionRequest
---@param answer fun(option_id: string) called once at most; "" means cancelled
function M.ask(data, answer)
  if type(data.options) ~= "table" or #data.options == 0 then
    return answer("")
  end
  local question = { data = data, answer = answer }
  question.timer = vim.uv.new_timer()
  question.timer:start(
    M.timeout_ms,
    0,
    vim.schedule_wrap(function()
      settle(question, "")
    end)
  )
  queue[#queue + 1] = question
  if #queue == 1 then
    vim.schedule(show)
  end
end

--- Takes a question back, for instance because the turn was cancelled. Its
--- answer function is not called any more.
---@param request_id string
function M.withdraw(request_id)
  for _, question in ipairs(queue) do
    if question.data.requestId == request_id then
      return finish(question)
    end
  end
end

--- Shows the current question again, for instance after its picker was closed
--- by something that never called back.
---@return integer waiting number of questions without an answer
function M.show()
  vim.schedule(show)
  return #queue
end

return M
