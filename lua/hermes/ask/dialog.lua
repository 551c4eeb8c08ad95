--- Lets the user choose an answer next to the facts that decide it. A choice that allows something
--- is accepted only once all of these facts have been on the screen.
---
--- The choice is made in a window (hermes.question_window) or, with
--- `questions.style = "select"`, in a picker. Then the answer is read here unless
--- |vim.ui.select()| was replaced: the built-in one would accept the first digits
--- of whatever is typed.

local facts = require("hermes.ask.layout")
local float = require("hermes.core.float")
local questions = require("hermes.ask.questions")
local text = require("hermes.core.text")

local M = {}

---@class hermes.Choice
---@field id string of the request
---@field agent string
---@field facts hermes.Fact[]
---@field items any[]
---@field label fun(item: any): string
---@field refuses fun(item: any): boolean whether the item allows nothing
---@field prompt string for pickers of the user's own
---@field kind string for pickers of the user's own
---@field chosen fun(item: any?) called once; nil when the question was dismissed
---@field finish? fun(item: any?) takes it off the screen and calls chosen()
---@field pane? hermes.Pane its window
---@field reading? hermes.Reading a picker's, once all of the facts have been shown
---@field window? integer a picker's, with the facts
---@field view? integer a picker's, with all of the facts
---@field all_shown? boolean the user had everything in sight when answering
---@field left? integer how often it made room for another one
---@field over? boolean the question is answered or withdrawn

local show_all = {} -- the item that shows all facts
local reader ---@type { owner: table }? for whom a line is being read

---@param name "select"|"input"
---@return boolean
local function is_builtin(name)
  return debug.getinfo(vim.ui[name], "S").source:find("vim/ui.lua", 1, true) ~= nil
end

--- Shows the facts, with the lines `below` under them, in a window of its own.
---@param choice hermes.Choice
---@param height integer for the facts
---@param below fun(hidden: boolean): string[]
---@return boolean hidden whether part of a deciding fact is not on the screen
local function show_facts(choice, height, below)
  local _, columns = float.room()
  local lines, hidden = facts.fit(choice.facts, columns, height)
  local foot = below(hidden)
  lines = vim.list_extend(lines, foot)
  float.close(choice.window)
  choice.window = float.open(lines, false, {
    row = 0,
    col = vim.o.columns,
    anchor = "NE",
    width = math.min(columns, float.widest(lines, 20)),
    height = math.max(1, #lines),
    focusable = true,
    title = (" %s asks "):format(text.line(choice.agent, 40)),
    zindex = 190, -- above the floats of pickers: the deciding facts must be seen
  })
  vim.cmd.redraw()
  return hidden or not choice.window
end

---@param choice hermes.Choice
---@param hidden boolean
---@return boolean whether the user has had everything in sight
local function all_shown(choice, hidden)
  return not hidden or (choice.reading ~= nil and choice.reading:all_shown())
end

---@param choice hermes.Choice
---@return boolean
local function is_read(choice)
  local reading = choice.reading
  return reading ~= nil and reading.layout.whole and not reading.layout.pending and reading:seen()
end

--- The items that may be chosen while some deciding facts are hidden.
---@param choice hermes.Choice
---@return any[]
local function offered(choice, hidden)
  if not hidden or is_read(choice) then
    return choice.items
  end
  local items = vim.tbl_filter(choice.refuses, choice.items)
  items[#items + 1] = show_all
  return items
end

---@param choice hermes.Choice
---@param item any
---@return string
local function label(choice, item)
  if item == show_all then
    return "Show everything first"
  end
  local name = choice.label(item)
  return choice.reading and choice.reading:label(name, choice.refuses(item)) or name
end

---@param choice hermes.Choice
---@param item any? nil for dismissed
local function finish(choice, item)
  if not choice.over then
    M.close(choice)
    choice.chosen(item)
  end
end

--- Opens all facts in a scrolling window. When it closes, the question is asked
--- again, with all its items if all that decides was on the screen.
---@param choice hermes.Choice
local function show_everything(choice)
  local height, width = float.room()
  local lines, layout = facts.all(choice.facts, width)
  local reading = require("hermes.ask.reading").new()
  choice.reading = reading
  reading:begin(layout)
  if not layout.whole then
    table.insert(lines, 1, reading:refusal() .. ".")
  end
  float.close(choice.window)
  choice.window = nil
  local window = float.open(lines, true, {
    row = 0,
    col = 0,
    width = width,
    height = math.min(height, #lines),
    title = (" %s asks: q goes back to the question "):format(text.line(choice.agent, 40)),
  })
  if not window then
    return finish(choice, nil)
  end
  choice.view = window
  local function look()
    if vim.api.nvim_win_is_valid(window) then
      reading:look(window)
    end
  end
  local buf = vim.api.nvim_win_get_buf(window)
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buf, nowait = true })
  local group = vim.api.nvim_create_augroup("hermes_picker", { clear = true })
  vim.api.nvim_create_autocmd({ "CursorMoved", "WinScrolled" }, { group = group, callback = look })
  vim.api.nvim_create_autocmd("WinClosed", {
    group = group,
    pattern = tostring(window),
    callback = function()
      look()
      vim.api.nvim_del_augroup_by_id(group)
      local closed = choice.view == window -- by the user
      choice.view = nil
      if closed and not choice.over then
        questions.again(choice.id)
      end
    end,
  })
  vim.cmd.redraw()
  look()
end

---@param choice hermes.Choice
---@param item any?
local function take(choice, item)
  if choice.over then
    return
  elseif item == show_all then
    vim.schedule(function()
      if not choice.over then
        show_everything(choice)
      end
    end)
  else
    finish(choice, item)
  end
end

--- Reads one line, and says whether its first key came too soon to be an
--- answer.
---@param owner table
---@param prompt string
---@return string? line nil when it was dismissed
---@return boolean too_soon
local function read_line(owner, prompt)
  local began, first = vim.uv.hrtime(), nil
  local keys = vim.on_key(function()
    first = first or vim.uv.hrtime()
  end)
  local outer = reader
  reader = { owner = owner }
  local ok, line = pcall(vim.fn.input, { prompt = prompt, cancelreturn = vim.NIL })
  reader = outer
  vim.on_key(nil, keys)
  vim.cmd.redraw() -- otherwise a prompt of several lines would ask to press enter
  vim.api.nvim_echo({ { "" } }, false, {})
  local waited_ms = ((first or vim.uv.hrtime()) - began) / 1e6
  return ok and line ~= vim.NIL and line or nil,
    waited_ms < require("hermes.ask.reading").too_soon_ms
end

--- Reads a text, with the user's own |vim.ui.input()| if there is one.
---@param owner table for stop_reading()
---@param prompt string
---@param done fun(typed: string?, too_soon: boolean) nil when it was dismissed
function M.input(owner, prompt, done)
  if not is_builtin("input") then
    return vim.ui.input({ prompt = prompt }, function(typed)
      done(typed, false)
    end)
  elseif questions.unattended() then
    return done(nil, false)
  end
  done(read_line(owner, prompt))
end

--- Asks at the bottom of the screen. Only the number of an item is an answer.
---@param choice hermes.Choice
local function read(choice)
  local note, left = "", choice.left
  repeat
    local height, columns = float.room()
    height = math.max(1, height - math.floor(80 / (columns + 4))) -- a prompt of several lines
    local most = math.max(2, math.floor(height / 2))
    local items ---@type any[]
    local size = { vim.o.lines, vim.o.columns }
    local hidden = show_facts(
      choice,
      math.max(1, height - math.min(#choice.items + 1, most) - 1),
      function(hides)
        items = offered(choice, hides)
        if #items > most then -- rejections come first, and the item that shows more stays
          items = vim.list_extend(vim.list_slice(items, 1, most - 1), { items[#items] })
        end
        local lines = { "" }
        for i, item in ipairs(items) do
          lines[i + 1] = ("%d: %s"):format(
            i,
            facts.short({ value = label(choice, item) }, columns - 4)
          )
        end
        return lines
      end
    )
    if not choice.window then
      return take(choice, nil)
    elseif hidden and not is_read(choice) then
      note = note .. "NOT ALL IS SHOWN. "
    end
    local line, too_soon = read_line(choice, note .. "Number and <Enter>, <Esc> cancels: ")
    if choice.over or choice.left ~= left then
      return -- it is asked again
    elseif not line then
      return take(choice, nil)
    end
    local item = line:find("^%d%d?$") and items[tonumber(line)]
    if item == nil then
      note = "Not one of the numbers. "
    elseif vim.o.lines ~= size[1] or vim.o.columns ~= size[2] then
      note = "The window has changed. "
    elseif too_soon and item ~= show_all and not choice.refuses(item) then
      note = "Too fast to have read it. "
    else
      choice.all_shown = all_shown(choice, hidden)
      return take(choice, item)
    end
  until false
end

--- Asks with the user's own picker.
---@param choice hermes.Choice
local function pick(choice)
  local height = math.max(1, math.floor(vim.o.lines * 0.5))
  local hidden = show_facts(choice, height, function()
    return {}
  end)
  local items, left = offered(choice, hidden), choice.left
  local unseen = hidden and not is_read(choice)
  local ok, problem = pcall(vim.ui.select, items, {
    prompt = (unseen and "NOT ALL IS SHOWN. " or "") .. choice.prompt,
    kind = choice.kind,
    format_item = function(item)
      return label(choice, item)
    end,
  }, function(item, index)
    local picked = nil
    for i, candidate in ipairs(items) do
      -- Some pickers return the label.
      if
        item ~= nil and (item == candidate or (index == i and item == label(choice, candidate)))
      then
        picked = candidate
      end
    end
    if choice.left == left then -- the facts are still beside it
      choice.all_shown = all_shown(choice, hidden)
      take(choice, picked)
    end
  end)
  if not ok then
    local said = "the answer is no, because vim.ui.select failed: "
    require("hermes.core.log").show(vim.log.levels.WARN, said .. tostring(problem))
    take(choice, nil)
  end
end

--- Puts a choice on the screen, even if it is already there.
---@param choice hermes.Choice
---@param wanted boolean the user has asked for it, so that it may take keys
function M.choose(choice, wanted)
  if is_builtin("select") and questions.unattended() then
    local said = "there is nobody to ask, so the answer to %s is no"
    require("hermes.core.log").show(vim.log.levels.WARN, said:format(text.line(choice.agent, 40)))
    return finish(choice, nil)
  elseif questions.in_window() then
    choice.finish = function(item)
      finish(choice, item)
    end
    if not require("hermes.ask.question_window").show(choice, wanted) then
      questions.hide(choice.id)
    end
    return
  end
  if choice.view then
    vim.api.nvim_create_augroup("hermes_picker", { clear = true })
    float.close(choice.view)
    choice.view = nil
  end
  if is_builtin("select") then
    read(choice)
  else
    pick(choice)
  end
end

--- Ends the line that is being read for `owner`, if any. Keys typed from now on
--- go to the editor.
---@param owner table
---@param line? table the line to end, if it is still read
function M.stop_reading(owner, line)
  line = line or reader
  if reader and reader == line and line.owner == owner then
    if vim.api.nvim_get_mode().mode:find("^c") then
      vim.api.nvim_feedkeys("\3", "int", false)
    end
    vim.defer_fn(function() -- a nested command line may have ended in its place
      M.stop_reading(owner, line)
    end, 50)
  end
end

--- Takes a choice off the screen until it is asked again. A picker of the user's own stays, but a
--- choice in it has no effect.
---@param choice hermes.Choice
function M.leave(choice)
  choice.left = (choice.left or 0) + 1
  local window, view = choice.window, choice.view
  choice.window, choice.view = nil, nil
  float.close(window)
  float.close(view)
  if choice.pane then
    require("hermes.ask.question_window").close(choice)
  end
  M.stop_reading(choice)
end

--- As leave(), for good.
---@param choice hermes.Choice
function M.close(choice)
  choice.over = true
  M.leave(choice)
end

return M
