--- The window of a question. It opens without focus, takes no key and shows as
--- much as half a screen holds. The user goes to it with `:Hermes respond`; then
--- it shows everything, scrolls, and <CR> on a choice is the answer.

local facts = require("hermes.ask.layout")
local float = require("hermes.core.float")
local questions = require("hermes.ask.questions")
local text = require("hermes.core.text")

local M = {}

---@class hermes.Pane what a choice has on the screen
---@field window integer
---@field buf integer
---@field focused boolean
---@field items table<integer, { item: any }> the choices by row
---@field first? integer row of the first choice
---@field put? integer row on which the cursor was put, and is unless the user has moved it
---@field reading hermes.Reading
---@field from? integer window that the user came from
---@field width integer
---@field height integer
---@field corner? string of the screen, as the anchor of a window

local group = vim.api.nvim_create_augroup("hermes_question", { clear = true })
local now_shown ---@type hermes.Choice? the choice that has a window

local cancel = {} -- the item that gives no answer

---@return number milliseconds
local function now()
  return vim.uv.hrtime() / 1e6
end

---@param choice hermes.Choice
---@param item any
---@param columns integer
---@return string
local function label(choice, item, columns)
  if item == cancel then
    return "Cancel"
  end
  local reading = choice.pane and choice.pane.reading
  local name = choice.label(item)
  name = reading and reading:label(name, choice.refuses(item)) or name
  return facts.short({ value = name }, columns - 4)
end

--- The choices as numbered lines. Only what refuses is offered to a user who
--- cannot see everything.
---@param choice hermes.Choice
---@param whole boolean
---@param columns integer
---@return string[] lines
---@return any[] items
local function choices(choice, whole, columns)
  local lines, items = {}, {}
  for _, item in ipairs(choice.items) do
    if whole or choice.refuses(item) then
      items[#items + 1] = item
    end
  end
  items[#items + 1] = cancel
  for i, item in ipairs(items) do
    lines[i] = ("%d: %s"):format(i, label(choice, item, columns))
  end
  return lines, items
end

--- What the window shows without focus. It leaves room for the line of the cursor.
---@param choice hermes.Choice
---@return string[] lines
---@return string footer
local function preview(choice)
  local lines, columns = float.room()
  lines = math.max(3, math.floor(lines * 0.6))
  local most = math.max(1, math.floor(lines / 2))
  local foot = choices(choice, true, columns)
  local shown, hidden =
    facts.fit(choice.facts, columns, math.max(1, lines - math.min(#foot, most) - 1))
  if hidden then
    foot = choices(choice, false, columns)
  end
  if #foot > most then
    local more = #foot - most + 1
    foot = vim.list_slice(foot, 1, most - 1)
    foot[most] = ("… %d more choices"):format(more)
  end
  local footer = hidden and " NOT ALL IS SHOWN · :Hermes respond " or " :Hermes respond "
  shown[#shown + 1] = ""
  return vim.list_extend(shown, foot), footer
end

---@param choice hermes.Choice
---@param note? string
local function configure(choice, note)
  local pane = choice.pane --[[@as hermes.Pane]]
  local lines, columns = float.room()
  local title = (" %s asks "):format(text.line(choice.agent, 40))
  local footer = note
    or pane.reading:seen() and " <CR> answers · q hides · g? "
    or " NOT ALL IS SHOWN · q hides "
  local width = math.min(columns, float.widest({ title, footer }, pane.width))
  local height = math.max(1, math.min(lines, pane.height))
  if not pane.focused then
    pane.corner = require("hermes.ask.corner").best(pane.corner, width, height)
  end
  local config = {
    relative = "editor",
    anchor = pane.corner,
    row = pane.corner:sub(1, 1) == "N" and 0 or vim.o.lines - math.max(1, vim.o.cmdheight) - 1,
    col = pane.corner:sub(2) == "W" and 0 or vim.o.columns,
    width = width,
    height = height,
    focusable = pane.focused,
    title = title,
    footer = footer,
    footer_pos = "right",
    zindex = 190, -- above the floats of others: the deciding facts must be seen
  }
  if vim.fn.has("nvim-0.11") == 1 then
    config.mouse = true
  end
  if pane.window then
    vim.api.nvim_win_set_config(pane.window, config)
  end
  return config
end

--- Notes which rows are on the screen.
---@param choice hermes.Choice
local function look(choice)
  local pane = choice.pane
  if not pane or not pane.focused or not vim.api.nvim_win_is_valid(pane.window) then
    return
  end
  if pane.reading:look(pane.window) then
    configure(choice)
  end
end

--- Puts everything into the window that has the focus.
---@param choice hermes.Choice
---@param stay? boolean the cursor stays on its choice, or else on its line, unless it was put there
local function fill(choice, stay)
  local pane = choice.pane --[[@as hermes.Pane]]
  local row = vim.api.nvim_win_get_cursor(pane.window)[1] ---@type integer?
  row = stay and row ~= pane.put and row or nil
  local on = row and pane.items[row]
  local _, columns = float.room()
  local lines, layout = facts.all(choice.facts, columns)
  pane.reading:begin(layout)
  if not layout.whole then
    table.insert(lines, 1, pane.reading:refusal() .. ".")
    for _, fold in ipairs(layout.folds) do
      fold.first, fold.last = fold.first + 1, fold.last + 1
    end
  end
  local foot, items = choices(choice, layout.whole, columns)
  lines[#lines + 1] = ""
  pane.first, pane.items = #lines + 1, {}
  for i, item in ipairs(items) do
    pane.items[#lines + i] = { item = item }
    if on and on.item == item then
      row = #lines + i
    end
  end
  vim.list_extend(lines, foot)
  pane.width, pane.height = float.widest(lines, 1), #lines
  vim.bo[pane.buf].modifiable = true
  vim.api.nvim_buf_set_lines(pane.buf, 0, -1, false, lines)
  vim.bo[pane.buf].modifiable = false
  local wo = vim.wo[pane.window]
  wo.cursorline, wo.foldenable, wo.foldminlines, wo.fillchars = true, true, 0, "fold: "
  wo.foldmethod, wo.foldlevel = #layout.folds > 0 and "expr" or "manual", 0
  wo.foldexpr = "v:lua.require'hermes.ask.question_window'._fold()"
  wo.foldtext = "v:lua.require'hermes.ask.question_window'._foldtext()"
  configure(choice)
  pane.height = vim.api.nvim_win_text_height(pane.window, {}).all -- closed folds take one row
  configure(choice)
  local room = float.room()
  pane.put = not row and (pane.height <= room and pane.first or 1) or nil
  vim.api.nvim_win_set_cursor(pane.window, { pane.put or math.min(row, #lines), 0 })
  look(choice)
  vim.cmd.redraw()
  look(choice)
end

---@private
---@return string level of a line's fold
function M._fold()
  local pane = now_shown and now_shown.pane
  for _, fold in ipairs(pane and pane.reading.layout.folds or {}) do
    if vim.v.lnum >= fold.first and vim.v.lnum <= fold.last then
      return vim.v.lnum == fold.first and ">1" or "1"
    end
  end
  return "0"
end

---@private
---@return string
function M._foldtext()
  return ("… %d more lines (zo opens)"):format(vim.v.foldend - vim.v.foldstart + 1)
end

---@param choice hermes.Choice
---@param item any
local function take(choice, item)
  local pane = choice.pane --[[@as hermes.Pane]]
  local refuses = item == cancel or choice.refuses(item)
  local why = not refuses and pane.reading:refusal()
  if why then
    return configure(choice, (" %s · q hides "):format(why))
  end
  choice.all_shown = pane.reading:all_shown()
  choice.finish(item ~= cancel and item or nil)
end

--- Whether the current window is the question's own. Other windows may show its buffer, for a
--- moment while they open, or for long after |CTRL-W_s|.
---@param pane hermes.Pane
---@return boolean
local function is_here(pane)
  return vim.api.nvim_get_current_win() == pane.window
end

---@param choice hermes.Choice
local function press(choice)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local chosen = choice.pane.items[row]
  if not is_here(choice.pane) then
    questions.open(choice.id)
  elseif vim.fn.foldclosed(row) > 0 then
    vim.cmd("normal! zo")
  elseif chosen then
    take(choice, chosen.item)
  end
end

--- Gives the focus back to the window that the user came from.
---@param pane hermes.Pane
local function go_back(pane)
  if is_here(pane) and pane.from then
    pcall(vim.api.nvim_set_current_win, pane.from)
  end
end

---@param choice hermes.Choice
local function take_focus(choice)
  local pane = choice.pane --[[@as hermes.Pane]]
  if not pane.focused then
    pane.focused = true
    pane.reading:changed() -- the keys of another window must not be an answer
    fill(choice)
  end
end

---@param choice hermes.Choice
local function lose_focus(choice)
  local pane = choice.pane
  if pane and pane.focused then
    pane.focused = false
    vim.schedule(function()
      if choice.pane == pane and not pane.focused and not choice.over then
        M.show(choice, false)
      end
    end)
  end
end

--- Hides the window. The question stays, and `:Hermes respond` shows it again.
---@param choice hermes.Choice
local function hide(choice)
  M.close(choice)
  questions.hide(choice.id)
end

---@param choice hermes.Choice
local function prepare(choice)
  local pane = choice.pane --[[@as hermes.Pane]]
  local opts = { buffer = pane.buf, nowait = true }
  vim.keymap.set("n", "<CR>", function()
    press(choice)
  end, opts)
  vim.keymap.set("n", "<2-LeftMouse>", function()
    press(choice)
  end, opts)
  vim.keymap.set("n", "q", function()
    hide(choice)
  end, opts)
  vim.keymap.set("n", "<Esc>", function()
    hide(choice)
  end, opts)
  vim.keymap.set("n", "g?", function()
    local digits = questions.digits_answer() and "answer" or "go there"
    configure(choice, (" <CR> answers · 1-9 %s · zo opens · q hides "):format(digits))
  end, opts)
  local number, typed = 0, 0
  for digit = 0, 9 do
    -- By default a digit only goes to its choice, because it may be the start of a command.
    vim.keymap.set("n", tostring(digit), function()
      local longer = now() - typed < 1000 and number * 10 + digit or digit
      number = pane.first and pane.items[pane.first + longer - 1] and longer or digit
      typed = now()
      local row = (pane.first or 1) + number - 1
      local chosen = is_here(pane) and pane.items[row]
      if chosen then
        vim.api.nvim_win_set_cursor(0, { row, 0 })
        local ends = number * 10 > vim.tbl_count(pane.items) -- no other digit follows
        if questions.digits_answer() and ends and vim.fn.foldclosed(row) < 0 then
          take(choice, chosen.item)
        end
      end
    end, opts)
  end
  local function on(callback)
    return { group = group, buffer = pane.buf, callback = callback }
  end
  local function on_here(callback)
    return on(function()
      if is_here(pane) then
        callback()
      end
    end)
  end
  vim.api.nvim_create_autocmd(
    { "CursorMoved", "WinScrolled" },
    on(function()
      look(choice)
    end)
  )
  vim.api.nvim_create_autocmd(
    "WinEnter",
    on_here(function()
      pane.from = pane.from or vim.fn.win_getid(vim.fn.winnr("#"))
      take_focus(choice)
    end)
  )
  vim.api.nvim_create_autocmd(
    "WinLeave",
    on_here(function()
      lose_focus(choice)
    end)
  )
  vim.api.nvim_create_autocmd(
    "BufWipeout",
    on(function()
      if choice.pane ~= pane then
        return
      end
      choice.pane = nil
      vim.schedule(function() -- the user closed it
        if not choice.over and not choice.pane then
          questions.hide(choice.id)
        end
      end)
    end)
  )
end

--- Shows a choice, and with `focus` goes to it.
---@param choice hermes.Choice
---@param focus boolean
---@return boolean shown false where no window can be opened now
function M.show(choice, focus)
  local pane = choice.pane
  if pane and not vim.api.nvim_win_is_valid(pane.window) then
    choice.pane, pane = nil, nil
  end
  local lines, footer = preview(choice)
  if not pane then
    pane = { focused = false, items = {}, reading = require("hermes.ask.reading").new() }
    choice.pane = pane
    pane.width, pane.height = float.widest(lines, 1), #lines
    local window = float.open(lines, false, configure(choice, footer))
    if not window then
      choice.pane = nil
      return false
    end
    pane.window, pane.buf = window, vim.api.nvim_win_get_buf(window)
    now_shown = choice
    prepare(choice)
  elseif not focus and not pane.focused then
    pane.width, pane.height = float.widest(lines, 1), #lines
    vim.wo[pane.window].cursorline, vim.wo[pane.window].foldenable = false, false
    vim.bo[pane.buf].modifiable = true
    vim.api.nvim_buf_set_lines(pane.buf, 0, -1, false, lines)
    vim.bo[pane.buf].modifiable = false
    configure(choice, footer)
    vim.api.nvim_win_set_cursor(pane.window, { 1, 0 })
  end
  if focus then
    if is_here(pane) then
      pane.reading:changed()
      fill(choice)
    else
      pane.from = vim.api.nvim_get_current_win()
      vim.api.nvim_set_current_win(pane.window)
      take_focus(choice) -- also when 'eventignore' kept WinEnter away
    end
  end
  return true
end

--- Shows facts that were not known when the window opened.
---@param choice hermes.Choice
---@param resized? boolean the screen has another size
function M.refresh(choice, resized)
  local pane = choice.pane
  if pane and vim.api.nvim_win_is_valid(pane.window) then
    if not resized then
      pane.reading:changed()
    end
    if pane.focused then
      fill(choice, not resized)
    else
      M.show(choice, false)
    end
  end
end

--- Takes a choice off the screen.
---@param choice hermes.Choice
function M.close(choice)
  local pane = choice.pane
  choice.pane = nil
  if now_shown == choice then
    now_shown = nil
  end
  if pane then
    pane.focused = false
    go_back(pane)
    float.close(pane.window)
  end
end

vim.api.nvim_create_autocmd("VimResized", {
  group = group,
  callback = function()
    if now_shown then
      M.refresh(now_shown, true)
    end
  end,
})

return M
