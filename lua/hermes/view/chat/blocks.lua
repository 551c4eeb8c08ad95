--- A list of blocks in a buffer. It knows of each block how many lines it has; so where a block is
--- follows from those below it, whatever happens to marks.

local api = vim.api

local M = {}

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

---@class hermes.chat.Blocks
---@field buf integer
---@field named table<string, hermes.chat.Block|false> false for one that was dropped
---@field all hermes.chat.Block[] in order
---@field last? hermes.chat.Block
---@field dropped integer lines
---@field acts table<integer, { about: table, text: string }> by extmark of the line
---@field last_act integer
---@field on_cut? fun(block: hermes.chat.Block) called when lines of a block were dropped
local Blocks = {}
M.Blocks = Blocks

local ns = api.nvim_create_namespace("hermes_chat")
local ns_line = api.nvim_create_namespace("hermes_chat_lines")
local ns_fold = api.nvim_create_namespace("hermes_chat_folds")
local ns_act = api.nvim_create_namespace("hermes_chat_acts")

---@type table<string, { sign?: string, group?: string, markdown?: boolean }> by kind of block
local looks = {
  user = { sign = "❯", group = "HermesChatUser", markdown = true },
  text = { markdown = true },
  thought = { sign = "…", group = "HermesChatThought", markdown = true },
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

M.looks = looks

---@private
function Blocks:reset()
  for _, block in ipairs(self.all or {}) do
    block.gone = true
  end
  self.named, self.all, self.last, self.dropped = {}, {}, nil, 0
  self.acts, self.last_act = {}, self.last_act or 0
end

---------------------------------------------------------------------------
-- Blocks.

-- Marks begin and end within a line. One at the end of a line's row would be moved by what is
-- written in the next one.

--- Where a block is.
---@param block hermes.chat.Block
---@return integer? first row; nil when it is gone
---@return integer last the row after it
function Blocks:rows(block)
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
function Blocks:line(block, number)
  local first, last = self:rows(block)
  local line = first and first - block.cut + block.gap + number
  return line and line > first and line <= last and line or nil
end

--- The rows of the markdown blocks that lie between two rows, at least in part.
---@param first integer
---@param last integer the row after them
---@return integer[][] texts the first row of each, and the row after its last
function Blocks:texts(first, last)
  local texts = {}
  local after = api.nvim_buf_line_count(self.buf) - 1
  for i = #self.all, 1, -1 do
    local block = self.all[i]
    local top = after - block.height
    local row = top + math.max(0, block.gap - block.cut)
    if looks[block.kind].markdown and row < math.min(after, last) and after > first then
      table.insert(texts, 1, { row, after })
    end
    after = top
    if after <= first then
      break
    end
  end
  return texts
end

--- Highlights lines as the kind of their block is.
---@private
---@param block hermes.chat.Block
---@param first integer row
---@param last integer the row after them
function Blocks:paint(block, first, last)
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
function Blocks:sign(block, sign, group)
  local line = sign and self:line(block, 1)
  if line then
    block.sign = api.nvim_buf_set_extmark(self.buf, ns_line, line - 1, 0, {
      id = block.sign,
      sign_text = sign,
      sign_hl_group = group,
    })
  end
end

--- Makes lines mean nothing any more, because they go or are written anew.
---@private
---@param first integer row
---@param last integer the row after them
function Blocks:wipe(first, last)
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

--- The meaning of a line for a key.
---@param line integer 1-based
---@return table? about as it was given with the line; nil when the line has another text by now
function Blocks:act(line)
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
function Blocks:add(kind, name)
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
function Blocks:write(block, lines)
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
function Blocks:fold(block, from)
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
function Blocks:fold_all(window)
  for _, mark in ipairs(api.nvim_buf_get_extmarks(self.buf, ns_fold, 0, -1, { details = true })) do
    close_fold(window, mark[2], mark[4].end_row + 1)
  end
end

---------------------------------------------------------------------------
-- Fewer of them.

--- Drops lines from the start, and says how many are missing by now.
---@private
---@param count integer
---@param more integer lines that were never shown
function Blocks:drop(count, more)
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

--- Empties the buffer.
function Blocks:empty()
  for _, space in ipairs({ ns, ns_line, ns_fold, ns_act }) do
    api.nvim_buf_clear_namespace(self.buf, space, 0, -1)
  end
  api.nvim_buf_set_lines(self.buf, 0, -1, true, { "" })
  self:reset()
end

--- The line of the prompt after a line, or of the one before it.
---@param line integer
---@param step integer 1 or -1
---@return integer?
function Blocks:prompt(line, step)
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

return M
