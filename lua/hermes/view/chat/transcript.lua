--- The buffer with the conversation: a list of blocks. What arrives waits in a queue and is written
--- in slices, so that neither a long history nor a flood takes a frame.

local api = vim.api
local blocks = require("hermes.view.chat.blocks")
local pieces = require("hermes.view.chat.pieces")

---@class hermes.chat.Transcript: hermes.chat.Blocks
---@field max_lines integer
---@field queue table<integer, fun(): boolean?>
---@field head integer place of the first in the queue
---@field tail integer place of the last
---@field waiting table<string, integer> places in the queue by name
---@field follow hermes.chat.Follow
---@field parser? vim.treesitter.LanguageTree
local Transcript = setmetatable({}, { __index = blocks.Blocks })
Transcript.__index = Transcript

--- A slice takes this long, and the next one comes this much later.
local slice_ms, pause_ms = 4, 8
--- The most streamed text that is written at a time, in bytes.
local max_chunk = 8 * 1024

---@param buf integer
---@param max_lines integer
---@return hermes.chat.Transcript
function Transcript.new(buf, max_lines)
  local self = setmetatable({ buf = buf, max_lines = max_lines }, Transcript)
  self.queue, self.head, self.tail, self.waiting = {}, 1, 0, {}
  self.follow = require("hermes.view.chat.follow").new(buf, function()
    self:parse() -- what a fold hid may be in sight
  end)
  self:reset()
  return self
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
      require("hermes.core.log").show(vim.log.levels.ERROR, "the chat: " .. tostring(more))
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
  self:parse()
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

--- Parses the texts in sight.
function Transcript:parse()
  if self.parser then
    require("hermes.view.chat.markdown").parse(self.buf, self.parser, function(first, last)
      return self:texts(first, last)
    end)
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
    look = look or blocks.looks[kind]
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

--- Writes a part of the text that waits. It skips text that would soon be dropped, because enough
--- lines wait behind it.
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
    self:sign(block, blocks.looks[kind].sign, blocks.looks[kind].group)
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
-- Its size.

--- Drops the oldest lines once there are too many.
---@private
function Transcript:trim()
  local count = api.nvim_buf_line_count(self.buf)
  if count > self.max_lines * 1.2 then
    self:drop(count - self.max_lines, 0)
  end
end

--- Empties the buffer, because the conversation is replayed.
function Transcript:clear()
  self.waiting = {} -- what is shown from now on is shown after that
  self:later(function()
    self:empty()
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

return Transcript
