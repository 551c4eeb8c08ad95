--- The buffer with the conversation. It is a list of blocks, and knows of each how many lines it
--- has; so where a block is follows from those below it, whatever happens to marks. What arrives
--- waits in a queue and is written in slices, so that neither a long history nor a flood takes a
--- frame.

local hermes, api = require("hermes"), vim.api
local pieces = require("hermes.view.chat.pieces")

---@class hermes.chat.Line
---@field [1] string safe to show
---@field [2]? string highlight group
---@field [3]? table what a key on the line is about

---@class hermes.chat.Block
---@field name? string
---@field kind string
---@field height integer lines in the buffer
---@field gap integer blank ones at its start
---@field cut integer lines that were dropped from its start
---@field gone? boolean it is not in the buffer any more
---@field sign? integer extmark
---@field fold? integer extmark
---@field tail? string the last line, while text streams into it

---@class hermes.chat.Transcript
---@field buf integer
---@field max_lines integer
---@field named table<string, hermes.chat.Block>
---@field all hermes.chat.Block[] in order
---@field last? hermes.chat.Block
---@field queue table<integer, fun(): boolean?>
---@field head integer place of the first in the queue
---@field tail integer place of the last
---@field waiting table<string, integer> places in the queue by name
---@field dropped integer lines
---@field acts table<integer, { about: table, text: string }> by extmark of the line
---@field last_act integer
---@field on_cut? fun(block: hermes.chat.Block) called when lines of a block were dropped
---@field follow hermes.chat.Follow
local Transcript = {}
Transcript.__index = Transcript

local ns = api.nvim_create_namespace("hermes_chat")
local ns_line = api.nvim_create_namespace("hermes_chat_lines")
local ns_fold = api.nvim_create_namespace("hermes_chat_folds")
local ns_act = api.nvim_create_namespace("hermes_chat_acts")

--- A slice takes this long, and the next one comes this much later.
local slice_ms, pause_ms = 4, 8
--- The most streamed text that is written at a time, in bytes.
local max_chunk = 8 * 1024

---@type table<string, { sign?: string, group?: string }> by kind of block
local looks = {
  user = { sign = "❯", group = "HermesChatUser" },
  text = {},
  thought = { sign = "…", group = "HermesChatThought" },
  tool = {},
  plan = { sign = "≡", group = "HermesChatPlan" },
  question = { sign = "?", group = "HermesChatQuestion" },
  note = { group = "HermesChatNote" },
  error = { sign = "✗", group = "HermesChatError" },
}

for name, link in pairs({
  User = "Title",
  Thought = "Comment",
  Plan = "Special",
  Question = "WarningMsg",
  Note = "Comment",
  Error = "ErrorMsg",
  Output = "NonText",
  Done = "DiagnosticOk",
  Doing = "DiagnosticInfo",
  Added = "Added",
  Removed = "Removed",
}) do
  api.nvim_set_hl(0, "HermesChat" .. name, { link = link, default = true })
end

---@param buf integer
---@param max_lines integer
---@return hermes.chat.Transcript
function Transcript.new(buf, max_lines)
  local self = setmetatable({ buf = buf, max_lines = max_lines }, Transcript)
  self.queue, self.head, self.tail, self.waiting = {}, 1, 0, {}
  self.follow = require("hermes.view.chat.follow").new(buf)
  self:reset()
  return self
end

---@private
function Transcript:reset()
  for _, block in ipairs(self.all or {}) do
    block.gone = true
  end
  self.named, self.all, self.last, self.dropped = {}, {}, nil, 0
  self.acts, self.last_act = {}, self.last_act or 0
end

---------------------------------------------------------------------------
-- The queue.

--- Does something with the buffer once everything before it is done. With a
--- name it replaces what waits under that name.
---@param work fun(): boolean? true when there is more to do
---@param name? string
function Transcript:later(work, name)
  local place = name and self.waiting[name]
  if place and place >= self.head then
    self.queue[place] = work
    return
  end
  self.tail = self.tail + 1
  self.queue[self.tail] = work
  if name then
    self.waiting[name] = self.tail
  end
  if not self.scheduled then
    self.scheduled = true
    vim.schedule(function()
      self:flush()
    end)
  end
end

---@private
function Transcript:flush()
  self.scheduled = false
  if not api.nvim_buf_is_valid(self.buf) then
    self.queue, self.head, self.tail = {}, 1, 0
    return
  end
  local following = self.follow:windows()
  local stop = vim.uv.hrtime() + slice_ms * 1e6
  vim.bo[self.buf].modifiable = true
  while self.head <= self.tail do
    local ok, more = pcall(self.queue[self.head])
    if not ok then -- one message that cannot be shown must not hide those after it
      vim.notify("hermes.chat: " .. hermes.text.line(more), vim.log.levels.ERROR)
    end
    if not ok or not more then
      self.queue[self.head], self.head = nil, self.head + 1
    end
    if vim.uv.hrtime() > stop then
      break
    end
  end
  self:trim()
  vim.bo[self.buf].modifiable = false
  self.follow:show_end(following)
  self.follow:count()
  self.parser = self.parser and require("hermes.view.chat.markdown").parse(self.buf, self.parser)
  if self.head <= self.tail then
    self.scheduled = true
    vim.defer_fn(function()
      self:flush()
    end, pause_ms)
  else
    self.waiting, self.parts = {}, nil
  end
end

--- Highlights what is written from now on.
function Transcript:highlight()
  self.scheduled = true -- nothing is written before, or the first parse would be of much text
  require("hermes.view.chat.markdown").start(self.buf, function(parser)
    self.parser = parser
    self:flush()
  end)
end

---------------------------------------------------------------------------
-- Blocks.

-- Marks begin and end within a line. One at the end of a line's row would be moved by what is
-- written in the next one.

--- Where a block is.
---@param block hermes.chat.Block
---@return integer? first row; nil when it is gone
---@return integer last the row after it
function Transcript:rows(block)
  local last = api.nvim_buf_line_count(self.buf) - 1 -- the last one is for what comes next
  for i = block.gone and 0 or #self.all, 1, -1 do -- what changes is near the end
    local one = self.all[i]
    if one == block then
      return last - one.height, last
    end
    last = last - one.height
  end
  return nil, 0
end

--- Where a line of a block is.
---@param block hermes.chat.Block
---@param number integer counted from 1, without the blank one at its start
---@return integer? line 1-based; nil when it is not in the buffer
function Transcript:line(block, number)
  local first, last = self:rows(block)
  local line = first and first - block.cut + block.gap + number
  return line and line > first and line <= last and line or nil
end

--- Highlights lines as the kind of their block is.
---@private
---@param block hermes.chat.Block
---@param first integer row
---@param last integer the row after them
function Transcript:paint(block, first, last)
  local group = looks[block.kind].group
  if not group then
    return
  end
  api.nvim_buf_clear_namespace(self.buf, ns, first, last)
  for i, text in ipairs(api.nvim_buf_get_lines(self.buf, first, last, true)) do
    if text ~= "" then
      local opts = { end_col = #text, hl_group = group }
      api.nvim_buf_set_extmark(self.buf, ns, first + i - 1, 0, opts)
    end
  end
end

--- The sign before the first line of a block, drawn where no text of the agent can be.
---@param block hermes.chat.Block
---@param sign? string
---@param group? string
function Transcript:sign(block, sign, group)
  local line = sign and self:line(block, 1)
  if line then
    block.sign = api.nvim_buf_set_extmark(self.buf, ns_line, line - 1, 0, {
      id = block.sign,
      sign_text = sign,
      sign_hl_group = group,
    })
  end
end

--- Has lines mean nothing any more, because they go or are written anew.
---@private
---@param first integer row
---@param last integer the row after them
function Transcript:wipe(first, last)
  if first == last then
    return
  end
  local to = { last - 1, -1 }
  for _, mark in ipairs(api.nvim_buf_get_extmarks(self.buf, ns_act, { first, 0 }, to, {})) do
    self.acts[mark[1]] = nil
  end
  for _, space in ipairs({ ns, ns_line, ns_act }) do
    api.nvim_buf_clear_namespace(self.buf, space, first, last)
  end
end

--- What a key on a line is about.
---@param line integer 1-based
---@return table? about as it was given with the line; nil when the line says something else by now
function Transcript:act(line)
  local row = line - 1
  local mark = api.nvim_buf_get_extmarks(self.buf, ns_act, { row, 0 }, { row, -1 }, {})[1]
  local act = mark and self.acts[mark[1]]
  local text = api.nvim_buf_get_lines(self.buf, row, line, true)[1]
  return act and act.text == text and act.about or nil
end

---@private
---@param kind string
---@param name? string
---@return hermes.chat.Block
function Transcript:add(kind, name)
  local before = self.last
  if before and before.kind == "thought" then
    self:fold(before)
  end
  local row = api.nvim_buf_line_count(self.buf) - 1
  local gap = (kind == "tool" and before and before.kind == "tool" or row == 0) and 0 or 1
  local block = { kind = kind, name = name, gap = gap, height = 0, cut = 0 }
  self.all[#self.all + 1], self.last = block, block
  if name then
    self.named[name] = block
  end
  return block
end

---@private
---@param block hermes.chat.Block
---@param lines hermes.chat.Line[]
function Transcript:write(block, lines)
  local first, last = self:rows(block)
  self:wipe(first, last)
  if block.fold then
    api.nvim_buf_del_extmark(self.buf, ns_fold, block.fold)
    block.fold = nil
  end
  local texts = block.gap == 1 and { "" } or {}
  for _, line in ipairs(lines) do
    texts[#texts + 1] = line[1]
  end
  if #texts == last - first then -- lines that stay as they are need no redraw
    local old = api.nvim_buf_get_lines(self.buf, first, last, true)
    for i, text in ipairs(texts) do
      if old[i] ~= text then
        api.nvim_buf_set_lines(self.buf, first + i - 1, first + i, true, { text })
      end
    end
  else
    api.nvim_buf_set_lines(self.buf, first, last, true, texts)
  end
  block.height, block.cut, block.sign = #texts, 0, nil
  self:paint(block, first, first + #texts)
  for i, line in ipairs(lines) do
    local row = first + block.gap + i - 1
    if line[2] then
      api.nvim_buf_set_extmark(self.buf, ns_line, row, 0, {
        end_col = #line[1],
        hl_group = line[2],
        priority = 4200,
      })
    end
    if line[3] then
      self.last_act = self.last_act + 1
      self.acts[self.last_act] = { about = line[3], text = line[1] }
      api.nvim_buf_set_extmark(self.buf, ns_act, row, 0, { id = self.last_act })
    end
  end
end

--- Shows a block at the end, or in place of the one with the same name.
---@param name? string
---@param kind string
---@param make fun(): hermes.chat.Line[], { sign: string, group: string, fold?: integer }? called
---when it is its turn; with a sign of its own, and from which line on it is folded
---@param done? fun(block: hermes.chat.Block)
function Transcript:show(name, kind, make, done)
  self:later(function()
    local block = name and self.named[name]
    if block == false then
      return -- it is among the lines that were dropped
    end
    block = block or self:add(kind, name)
    local lines, look = make()
    self:write(block, lines)
    look = look or looks[kind]
    self:sign(block, look.sign, look.group)
    if look.fold then
      self:fold(block, look.fold)
    end
    if done then
      done(block)
    end
  end, name)
end

--- Adds streamed text: to the last block if it is of that kind.
---@param kind string
---@param text string
function Transcript:stream(kind, text)
  local parts = self.parts
  if not parts or parts.kind ~= kind or self.queue[self.tail] ~= parts.work then
    parts = { kind = kind, first = 1, last = 0, lines = 0, count = {} }
    parts.work = function()
      return self:write_parts(parts)
    end
    self.parts = parts
    self:later(parts.work)
  end
  repeat
    local chunk
    chunk, text = pieces.cut(text, max_chunk)
    local last = parts.last
    if last >= parts.first and #parts[last] + #chunk <= max_chunk then
      parts[last] = parts[last] .. chunk
    else
      last = last + 1
      parts[last], parts.last, parts.count[last] = chunk, last, 0
    end
    local lines = select(2, chunk:gsub("\n", "")) + math.floor(#chunk / pieces.max_line)
    parts.count[last], parts.lines = parts.count[last] + lines, parts.lines + lines
  until text == ""
end

--- Writes a part of the text that waits. What would be dropped soon, because enough lines wait
--- behind it, is skipped.
---@private
---@return boolean more
function Transcript:write_parts(parts)
  local function take()
    local at = parts.first
    local chunk, lines = parts[at], parts.count[at]
    parts[at], parts.count[at] = nil, nil
    parts.first, parts.lines = at + 1, parts.lines - lines
    return chunk, lines
  end
  local skipped = 0
  while parts.first < parts.last and parts.lines - parts.count[parts.first] >= self.max_lines do
    skipped = skipped + select(2, take())
  end
  if skipped > 0 then
    self:drop(api.nvim_buf_line_count(self.buf) - 1, skipped)
  end
  self:append(parts.kind, (take()))
  return parts.first <= parts.last
end

---@private
---@param kind string
---@param text string
function Transcript:append(kind, text)
  local block = self.last
  if not block or block.kind ~= kind or not block.tail then
    block = self:add(kind)
    self:write(block, { { "" } })
    block.tail = ""
  end
  if self.carry then -- half of a line break came with the text before
    text, self.carry = self.carry .. text, nil
  end
  if text:sub(-1) == "\r" then
    text, self.carry = text:sub(1, -2), "\r"
  end
  local lines = pieces.lines(text, math.max(0, pieces.max_line - #block.tail))
  local _, last = self:rows(block)
  local begins = self:line(block, 1) == last
  block.tail = #lines > 1 and lines[#lines] or block.tail .. lines[1]
  api.nvim_buf_set_text(self.buf, last - 1, -1, last - 1, -1, lines)
  block.height = block.height + #lines - 1
  if begins then -- text in an empty line moves its marks, so the sign comes after it
    self:sign(block, looks[kind].sign, looks[kind].group)
  end
  self:paint(block, last - 1, last - 1 + #lines)
end

--- Ends the text that streams, because something else follows or the turn is over.
function Transcript:settle()
  self:later(function()
    local block = self.last
    if block and block.tail then
      if block.kind == "thought" then
        self:fold(block)
      end
      block.tail, self.carry = nil, nil
    end
  end)
end

---------------------------------------------------------------------------
-- Folds. They are manual: Neovim does not compute others while one types.

---@param window integer
---@param first integer row
---@param last integer the row after it
local function close_fold(window, first, last)
  if last - first < 2 then
    return
  end
  api.nvim_win_call(window, function()
    local row = api.nvim_win_get_cursor(window)[1] - 1
    local there = vim.fn.foldlevel(first + 1) > 0 and vim.fn.foldlevel(last) > 0
    if there or vim.wo.foldmethod ~= "manual" then
      return -- the user may have opened it
    end
    vim.cmd({ cmd = "fold", range = { first + 1, last } })
    if row >= first and row < last then -- the user reads it
      vim.cmd({ cmd = "foldopen", range = { first + 1, last } })
    end
  end)
end

--- Folds the lines of a block from one of them on, counted from its first.
---@param block hermes.chat.Block
---@param from? integer
function Transcript:fold(block, from)
  local top, last = self:rows(block)
  local line = self:line(block, from or 1)
  local first = line and line - 1 or top
  if not first or last - first < 2 then
    return
  end
  local text = api.nvim_buf_get_lines(self.buf, last - 1, last, true)[1]
  local ends = { id = block.fold, end_row = last - 1, end_col = #text }
  block.fold = api.nvim_buf_set_extmark(self.buf, ns_fold, first, 0, ends)
  for _, window in ipairs(vim.fn.win_findbuf(self.buf)) do
    close_fold(window, first, last)
  end
end

--- Folds everything that is to be folded in a window that has just got the buffer.
---@param window integer
function Transcript:fold_all(window)
  for _, mark in ipairs(api.nvim_buf_get_extmarks(self.buf, ns_fold, 0, -1, { details = true })) do
    close_fold(window, mark[2], mark[4].end_row + 1)
  end
end

---------------------------------------------------------------------------
-- Its size.

--- Drops the oldest lines once there are too many.
---@private
function Transcript:trim()
  local count = api.nvim_buf_line_count(self.buf)
  if count > self.max_lines * 1.2 then
    self:drop(count - self.max_lines, 0)
  end
end

--- Drops lines from the start, and says how many are missing by now.
---@private
---@param count integer
---@param more integer lines that were never shown
function Transcript:drop(count, more)
  self:wipe(0, count)
  api.nvim_buf_clear_namespace(self.buf, ns_fold, 0, count)
  local left = count - (self.dropped > 0 and 1 or 0)
  self.dropped = self.dropped + count + more - (self.dropped > 0 and 1 or 0)
  local note = ("… %d earlier lines are not shown"):format(self.dropped)
  api.nvim_buf_set_lines(self.buf, 0, count, true, { note })
  local kept, cut = {}, {}
  for _, block in ipairs(self.all) do
    local lost = math.min(left, block.height)
    left, block.height, block.cut = left - lost, block.height - lost, block.cut + lost
    cut[#cut + 1] = lost > 0 and block or nil
    if block.height > 0 then
      kept[#kept + 1] = block
    else
      block.gone = true
      if block.name and self.named[block.name] == block then
        self.named[block.name] = false
      end
    end
  end
  self.all, self.last = kept, kept[#kept]
  vim.iter(self.on_cut and cut or {}):each(self.on_cut)
end

--- Empties the buffer, because the conversation is replayed.
function Transcript:clear()
  self.waiting = {} -- what is shown from now on is shown after that
  self:later(function()
    for _, space in ipairs({ ns, ns_line, ns_fold, ns_act }) do
      api.nvim_buf_clear_namespace(self.buf, space, 0, -1)
    end
    api.nvim_buf_set_lines(self.buf, 0, -1, true, { "" })
    self:reset()
  end)
end

--- A block of that name begins anew from now on.
---@param name string
function Transcript:forget(name)
  self.waiting[name] = nil
  self:later(function()
    self.named[name] = nil
  end)
end

--- The line of the prompt after a line, or of the one before it.
---@param line integer
---@param step integer 1 or -1
---@return integer?
function Transcript:prompt(line, step)
  local found ---@type integer?
  local row = self.dropped > 0 and 1 or 0
  for _, block in ipairs(self.all) do
    local at = block.kind == "user" and row + math.max(0, block.gap - block.cut) + 1
    row = row + block.height
    if at and step > 0 and at > line then
      return at
    elseif at and step < 0 and at < line then
      found = at
    end
  end
  return found
end

return Transcript
