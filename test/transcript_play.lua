--- Plays random messages and keys in the transcript of a chat, beside a list of blocks as the
--- model. It runs in the Neovim that is tried.

local M = {}

local api = vim.api
local hermes = require("hermes")
local dice = dofile(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)) .. "/dice.lua")

local max_lines = 40
local lead = "▸ "
local signs = { user = "❯ ", thought = "… ", plan = "≡ ", question = "? ", error = "✗ " }
local groups = {
  user = "HermesChatUser",
  thought = "HermesChatThought",
  plan = "HermesChatPlan",
  question = "HermesChatQuestion",
  note = "HermesChatNote",
}

---@class hermes.test.Block
---@field kind string
---@field gap integer
---@field rows hermes.test.Row[] with the blank one before it
---@field streams? boolean
---@field since? integer when it was written, or its window got the keys
---@field cut? boolean some of its lines were dropped
---@field gone? boolean all of them were

---@class hermes.test.Row
---@field text string
---@field group? string
---@field about? table
---@field sign? string
---@field blank? boolean it only keeps two blocks apart

---@class hermes.test.Play
---@field blocks hermes.test.Block[] those in the buffer, in order
---@field names table<string, hermes.test.Block>
---@field asks table<integer, table> questions that are open, by number
---@field answer? table what the last key has chosen
---@field done string[] what was done, for the message
local Play = {}
Play.__index = Play

---------------------------------------------------------------------------
-- The model. It knows of a message when it arrives, and of its lines when they are made.

---@param kind string
---@param name? string
---@return hermes.test.Block
function Play:add(kind, name)
  local last = self.blocks[#self.blocks]
  local tight = not last and self.dropped == 0 or last and kind == "tool" and last.kind == "tool"
  local block = { kind = kind, gap = tight and 0 or 1, rows = {} }
  self.blocks[#self.blocks + 1] = block
  if name then
    self.names[name] = block
  end
  return block
end

---@param block hermes.test.Block
---@param lines hermes.chat.Line[]
---@param sign? string
local function fill(block, lines, sign)
  block.rows, block.cut = block.gap == 1 and { { text = "", blank = true } } or {}, nil
  for i, line in ipairs(lines) do
    block.rows[#block.rows + 1] =
      { text = line[1], group = line[2], about = line[3], sign = i == 1 and sign or nil }
  end
end

--- Learns what the transcript is told, and how many lines it drops.
---@param transcript hermes.chat.Transcript
function Play:watch(transcript)
  function transcript.show(real, name, kind, make, done)
    local block = name and self.names[name] or self:add(kind, name)
    getmetatable(real).show(real, name, kind, function()
      local lines, look = make()
      block.since = self.time
      fill(block, lines, look and look.sign .. " " or signs[kind])
      return lines, look
    end, done)
  end
  function transcript.drop(real, count, more)
    local left = count - (self.dropped > 0 and 1 or 0)
    self.dropped = self.dropped + left + more
    while left > 0 do
      local block = self.blocks[1]
      if #block.rows > left then
        block.rows, left, block.cut = vim.list_slice(block.rows, left + 1), 0, true
      else
        left, block.gone = left - #block.rows, true
        table.remove(self.blocks, 1)
      end
    end
    getmetatable(real).drop(real, count, more)
  end
end

---@return hermes.test.Row[]
function Play:rows()
  local note = ("… %d earlier lines are not shown"):format(self.dropped)
  local rows = self.dropped > 0 and { { text = note } } or {}
  for _, block in ipairs(self.blocks) do
    for _, row in ipairs(block.rows) do
      row.whole = row.text ~= "" and groups[block.kind] or nil
      rows[#rows + 1] = row
    end
  end
  rows[#rows + 1] = { text = "" } -- for what comes next
  return rows
end

--- What is wrong with the buffer.
---@return string?
function Play:fault()
  local rows, texts = self:rows(), api.nvim_buf_get_lines(self.buf, 0, -1, false)
  local shown = {} ---@type table<integer, { whole?: string, group?: string, sign?: string }>
  local function marks(space)
    local ns = api.nvim_get_namespaces()[space]
    return api.nvim_buf_get_extmarks(self.buf, ns, 0, -1, { details = true })
  end
  for i, text in ipairs(texts) do
    shown[i] = { text = text, about = self.transcript:act(i) }
  end
  for space, member in pairs({ hermes_chat = "whole", hermes_chat_lines = "group" }) do
    for _, mark in ipairs(marks(space)) do
      local at, details = shown[mark[2] + 1], mark[4]
      if not at then
        return ("%s has a mark in line %d of %d"):format(space, mark[2] + 1, #shown)
      elseif details.sign_text then
        at.sign = details.sign_text
      elseif mark[3] ~= 0 or details.end_row ~= mark[2] or details.end_col ~= #at.text then
        return ("%s highlights a part of line %d"):format(details.hl_group, mark[2] + 1)
      else
        at[member] = details.hl_group
      end
    end
  end
  for i = 1, math.max(#rows, #shown) do
    for _, member in ipairs({ "text", "about", "whole", "group", "sign" }) do
      local want, got = (rows[i] or {})[member], (shown[i] or {})[member]
      if want ~= got then
        want = type(want) == "table" and "its own" or vim.inspect(want)
        got = type(got) == "table" and "one" or vim.inspect(got)
        return ("line %d: %s is %s, not %s"):format(i, member, got, want)
      end
    end
  end
  local last, ends, prompts = self.dropped > 0 and 1 or 0, {}, {}
  for _, block in ipairs(self.blocks) do
    for i, row in ipairs(block.rows) do
      ends[last + i] = last + #block.rows
      if block.kind == "user" and not row.blank and (prompts[#prompts] or 0) <= last then
        prompts[#prompts + 1] = last + i
      end
    end
    last = last + #block.rows
  end
  for _, mark in ipairs(marks("hermes_chat_folds")) do
    if ends[mark[2] + 1] ~= mark[4].end_row + 1 then
      return ("a fold from line %d to %d"):format(mark[2] + 1, mark[4].end_row + 1)
    end
  end
  for at, line in ipairs(prompts) do
    if self.transcript:prompt((prompts[at - 1] or 0), 1) ~= line then
      return ("no way to the prompt in line %d"):format(line)
    end
  end
  for number, ask in pairs(self.asks) do
    local block = self.names["ask r" .. number]
    if (block.gone or block.cut) and not ask.dialog then
      return ("question %d is cut, and no dialog asks it"):format(number)
    end
  end
end

---------------------------------------------------------------------------
-- Messages.

---@type table<string, fun(play: hermes.test.Play): string?>
local acts = {}

---@param play hermes.test.Play
---@param n integer
---@param what string
---@return hermes.chat.Line[]
local function lines(play, n, what)
  local list = {}
  for i = 1, n do
    list[i] = { ("%s %d %s"):format(what, i, ("x"):rep(play.random(3))) }
  end
  return list
end

function acts.call(play)
  local name = "call " .. play.random(6)
  local list = lines(play, play.random(5), name)
  for _, line in ipairs(list) do
    line[2] = "HermesChatOutput"
  end
  local look = { sign = "○", group = "HermesChatDoing", fold = #list > 3 and 2 or nil }
  play.transcript:show(name, "tool", function()
    return list, look
  end)
  return ("%s has %d lines"):format(name, #list)
end

function acts.plan(play)
  if play.random(3) == 1 then
    play.transcript:forget("plan")
    play.names.plan = nil
    return "the plan begins anew"
  end
  local list = lines(play, play.random(4), "step")
  play.transcript:show("plan", "plan", function()
    return list
  end)
  return ("the plan has %d lines"):format(#list)
end

function acts.prompt(play)
  local kind, list = play.random(2) == 1 and "user" or "note", lines(play, play.random(3), "prompt")
  play.transcript:show(nil, kind, function()
    return list
  end)
  return kind
end

function acts.text(play)
  local kind = play.random(2) == 1 and "text" or "thought"
  local text = ("word"):rep(play.random(3), " ") .. ("\n"):rep(play.random(4) - 1)
  text = text .. (play.random(2) == 1 and "more" or "")
  local last = play.blocks[#play.blocks]
  if not last or last.kind ~= kind or not last.streams then
    last = play:add(kind)
    last.streams = true
    fill(last, { { "" } }, signs[kind])
  end
  local parts = vim.split(text, "\n")
  last.rows[#last.rows].text = last.rows[#last.rows].text .. table.remove(parts, 1)
  for _, part in ipairs(parts) do
    last.rows[#last.rows + 1] = { text = part }
  end
  play.transcript:stream(kind, text)
  return ("%s %q"):format(kind, text)
end

function acts.settle(play)
  local last = play.blocks[#play.blocks]
  if last then
    last.streams = nil
  end
  play.transcript:settle()
  return "the text ends"
end

function acts.clear(play)
  if play.random(8) > 1 then
    return
  end
  play.blocks, play.names, play.dropped = {}, {}, 0
  play.transcript:clear()
  play.chat.asks:drop("it is told again")
  play.asks = {}
  local did = { "all begins anew" }
  for _, name in ipairs({ "plan", "text", "call" }) do
    did[#did + 1] = acts[name](play)
  end
  play:flush(true) -- or lines would be dropped that the model does not have any more
  return table.concat(did, "\n")
end

function acts.window(play)
  vim.cmd("new | bwipeout")
  for _, block in pairs(play.names) do
    block.since = play.time
  end
  return "another window had the keys"
end

local kinds = { "reject_once", "reject_always", "allow_once", "allow_always" }

function acts.ask(play)
  if #vim.tbl_keys(play.asks) > 2 then
    return
  end
  play.asked = play.asked + 1
  local number, options = play.asked, {}
  for i = 1, play.random(4) + 1 do
    local kind, id = kinds[play.random(4)], ("q%do%d"):format(number, i)
    options[i] = { optionId = id, name = kind .. " " .. id, kind = kind }
  end
  local command = { "make", "test" .. number }
  local data = {
    requestId = "r" .. number,
    agent = "a",
    sessionId = "s",
    toolCall = {
      toolCallId = "t" .. number,
      title = "run it " .. number,
      kind = "execute",
      rawInput = { command = command[1], args = { command[2] } },
    },
    options = options,
    rules = play.random(2) == 1 and { { kind = "execute", command = command } } or nil,
  }
  local ask = { data = data }
  play.asks[number] = ask
  play.chat.asks:take(data, {
    respond = function(id)
      play.answer = { number = number, option = id, rule = play.rule }
    end,
    default = function()
      ask.dialog = true
    end,
  })
  return ("question %d has %d options"):format(number, #options)
end

--- A question that is open, of those that are.
---@param play hermes.test.Play
---@return integer?
local function one(play)
  local numbers = vim.tbl_keys(play.asks)
  table.sort(numbers)
  return numbers[#numbers > 0 and play.random(#numbers) or 1]
end

---@param play hermes.test.Play
---@param number integer
---@param option? string
local function resolve(play, number, option)
  local id = "r" .. number
  play.asks[number] = nil
  if option then
    local data = { requestId = id, outcome = "selected", optionId = option }
    play.chat.asks.on.PermissionResolved(play.chat, data)
  else
    play.chat.asks.on.RequestCancelled(play.chat, { requestId = id })
  end
end

function acts.withdraw(play)
  local number = one(play)
  if number then
    resolve(play, number)
    return ("question %d is withdrawn"):format(number)
  end
end

function acts.hand_over(play)
  if play.random(4) == 1 then
    play.chat.asks:hand_over()
    return "the chat is out of sight"
  end
end

---------------------------------------------------------------------------
-- Keys. What one may do is what the line said when it was pressed.

--- The choice of a label, in any list of a question.
---@param choices hermes.PermissionChoice[]
---@param label string
---@return hermes.PermissionChoice?
local function labelled(choices, label)
  for _, choice in ipairs(choices) do
    local found = choice.label == label and choice or labelled(choice.choices or {}, label)
    if found then
      return found
    end
  end
end

--- What a line says that a key on it answers.
---@param play hermes.test.Play
---@param text string
---@return string? answer number of the question, option and words of the rule
local function says(play, text)
  local label = vim.startswith(text, lead) and text:sub(#lead + 1):gsub("^%d+: ", "")
  for number, ask in pairs(label and play.asks or {}) do
    local choice = labelled(hermes.permissions.choices(ask.data), label)
    local own = choice and (choice.rule or choice.optionId)
    -- A rule names the command of its question, an option has its number in its name.
    local rule = choice and choice.rule
    local names = not rule or rule.command[2] == "test" .. number
    if own and names and not choice.choices then
      return ("%d %s %s"):format(number, choice.optionId, choice.rule and choice.label or "")
    end
  end
end

---@param play hermes.test.Play
---@param text string of the line
---@param act fun()
---@return string? fault
local function press(play, text, act)
  local want = says(play, text)
  play.answer, play.rule, play.time = nil, nil, play.time + play.random(4) * 3e8
  act()
  local answer = play.answer
  local got = answer
    and ("%d %s %s"):format(answer.number, answer.option, answer.rule and answer.rule.words or "")
  if got and got ~= want then
    return ("a key on %q answered %s"):format(text, got)
  elseif answer and not text:find("reject_") then
    local ms = (play.time - play.names["ask r" .. answer.number].since) / 1e6
    if ms < 500 then
      return ("%q was allowed after %d ms"):format(text, ms)
    end
  end
  if answer then
    play.answers = play.answers + 1
    if play.random(3) > 1 then
      resolve(play, answer.number, answer.option)
    end
  end
end

--- Folds of the user's own, which may hide a choice.
---@param play hermes.test.Play
---@return string did
local function fold(play)
  local line = play.random(api.nvim_buf_line_count(play.buf))
  local keys = ({ "zf3j", "zfk", "zfG", "zo", "zR", "zM", "zE" })[play.random(7)]
  api.nvim_win_set_cursor(0, { line, 0 })
  pcall(vim.cmd, "silent! normal! " .. keys)
  return ("%s in line %d"):format(keys, line)
end

---@param play hermes.test.Play
---@return integer line one with a choice, mostly
local function pick(play)
  local texts, found = api.nvim_buf_get_lines(play.buf, 0, -1, false), {}
  for i, text in ipairs(texts) do
    if vim.startswith(text, lead) then
      found[#found + 1] = i
    end
  end
  return #found > 0 and play.random(5) > 1 and found[play.random(#found)] or play.random(#texts)
end

---@param play hermes.test.Play
---@param line integer
---@return string
local function text_of(play, line)
  return api.nvim_buf_get_lines(play.buf, line - 1, line, true)[1]
end

--- Enter, maybe twice.
---@param play hermes.test.Play
---@return string did, string? fault
local function enter(play)
  local line = pick(play)
  local did = ("<CR> in line %d, %q"):format(line, text_of(play, line))
  api.nvim_win_set_cursor(0, { line, 0 })
  for _ = 1, play.random(2) do
    local at = api.nvim_win_get_cursor(0)[1]
    local hidden = vim.fn.foldclosed(at) > 0
    local fault = press(play, hidden and "" or text_of(play, at), function()
      api.nvim_feedkeys("\r", "x", false)
    end)
    if fault then
      return did, fault
    end
  end
  return did
end

--- A number, which does its work a moment later.
---@param play hermes.test.Play
---@return string did, string? fault
local function number(play)
  local line, digit = pick(play), play.random(5)
  api.nvim_win_set_cursor(0, { line, 0 })
  local did = ("%d in line %d, %q"):format(digit, line, text_of(play, line))
  local take = play.chat.asks:numbered(digit)
  if not take then
    return did
  end
  if vim.fn.foldclosed(line) > 0 then
    return did, ("a digit in a closed fold, line %d"):format(line)
  end
  -- The lines of a question stand together, so the number is that of the nearest one.
  local text ---@type string?
  for at, row in ipairs(api.nvim_buf_get_lines(play.buf, 0, -1, false)) do
    local near = math.abs(at - line) <= 12
    if near and vim.startswith(row, ("%s%d: "):format(lead, digit)) then
      local of = play.transcript:act(at)
      local block = of and of.ask.block
      local first, last = play.transcript:rows(block or {})
      text = first and line > first and line <= last and row or text
    end
  end
  if play.random(2) == 1 then
    play:flush(false)
  end
  return did, press(play, text or "", take)
end

---------------------------------------------------------------------------

---@param seed integer
---@return hermes.test.Play
local function begin(seed)
  local self = setmetatable({ random = dice.new(seed), done = {}, blocks = {}, names = {} }, Play)
  self.asks, self.asked, self.dropped, self.answers, self.time = {}, 0, 0, 0, 1e9
  hermes.setup({ questions = { digits = seed % 2 == 0 and "answer" or "go" } })
  self.buf = api.nvim_create_buf(false, true)
  api.nvim_win_set_buf(0, self.buf)
  self.transcript = require("hermes.view.chat.transcript").new(self.buf, max_lines)
  self:watch(self.transcript)
  self.chat = { transcript = self.transcript, agent = "a", id = "s", calls = {} }
  self.chat.asks = require("hermes.view.chat.asks").new(self.chat)
  vim.keymap.set("n", "<CR>", function()
    self.chat.asks:choose()
  end, { buffer = self.buf })
  return self
end

--- Writes all that waits, or one thing of it.
---@param all boolean
function Play:flush(all)
  repeat
    self.each = not all and 1e9 or 0 -- each look at the clock takes a second: a slice is short
    self.transcript:flush()
  until not all or self.transcript.head > self.transcript.tail
  self.each = 0
end

---@param play hermes.test.Play
---@return string? did, string? fault
local function step(play)
  local roll = play.random(13)
  if roll == 1 then
    play:flush(true)
    return "all is written", play:fault()
  elseif roll == 2 then
    play:flush(false)
    return "one thing is written"
  elseif roll <= 4 then
    return enter(play)
  elseif roll == 6 then
    return fold(play)
  elseif roll == 5 and require("hermes.view.chat.asks").are_numbered() then
    return number(play)
  end
  local names = vim.tbl_keys(acts)
  table.sort(names)
  return acts[names[play.random(#names)]](play)
end

--- Plays sequences of random acts.
---@param first integer seed of the first sequence
---@param count integer sequences
---@param acts_each integer
---@return { fault?: string, answers: integer }
function M.run(first, count, acts_each)
  local hrtime, add, play = vim.uv.hrtime, hermes.permissions.add, nil ---@type hermes.test.Play
  vim.uv.hrtime = function()
    play.time = play.time + play.each
    return play.time
  end
  hermes.permissions.add = function(rule)
    local words = require("hermes.session.rules").words(rule)
    play.rule = vim.tbl_extend("force", rule, { words = words })
  end
  local answers, fault = 0, nil ---@type integer, string?
  for seed = first, first + count - 1 do
    play = begin(seed)
    play.each = 0
    for _ = 1, acts_each do
      local ok, did, wrong = xpcall(step, debug.traceback, play)
      play.done[#play.done + 1] = did
      if not ok or wrong then
        fault = ("seed %d: %s\n%s"):format(seed, wrong or "", table.concat(play.done, "\n"))
        break
      end
    end
    answers = answers + play.answers
    for open in pairs(play.asks) do
      resolve(play, open)
    end
    play:flush(true)
    fault = fault or play:fault() and ("seed %d: at the end %s"):format(seed, play:fault())
    api.nvim_buf_delete(play.buf, { force = true })
    if fault then
      break
    end
  end
  vim.uv.hrtime, hermes.permissions.add = hrtime, add
  return { fault = fault, answers = answers }
end

return M
