--- The agent's permission questions in the transcript. With the option
--- `permissions = "chat"` they are answered there: by a key in normal mode, on
--- the line of a choice. Otherwise the dialog of Hermes asks, and the
--- transcript shows that it does and how it ended.

local hermes, api = require("hermes"), vim.api

local M = {}

--- A key pressed within this many milliseconds after a question has appeared
--- was meant for something else, and allows nothing.
M.too_soon_ms = 500

---@class hermes.chat.Asks
---@field chat hermes.chat.Chat
---@field open table<string, hermes.chat.Ask> by request id
local Asks = {}
Asks.__index = Asks

---@class hermes.chat.Ask
---@field data table of PermissionRequest
---@field answer? hermes.Answer when it is answered here
---@field choices hermes.PermissionChoice[] those that are shown
---@field above? integer lines before them
---@field block? hermes.chat.Block
---@field whole? boolean everything that decides is in the transcript
---@field shown_ms? number

---@param chat hermes.chat.Chat
---@return hermes.chat.Asks
function M.new(chat)
  return setmetatable({ chat = chat, open = {} }, Asks)
end

---@param data table
---@return string
local function title(data)
  return hermes.text.line(data.toolCall.title or data.toolCall.kind or "a tool call", 200)
end

---@private
---@param ask hermes.chat.Ask
---@param done? fun()
function Asks:show(ask, done)
  local transcript = self.chat.transcript
  transcript:show("ask " .. ask.data.requestId, "question", function()
    local list =
      { { ("%s asks: %s"):format(hermes.text.line(ask.data.agent, 40), title(ask.data)) } }
    if ask.answer then
      local window = vim.fn.win_findbuf(transcript.buf)[1]
      local width = window and api.nvim_win_get_width(window) - 4 or 80
      local lines, whole = hermes.permissions.details(ask.data, math.max(20, width))
      ask.whole = whole
      for _, line in ipairs(lines) do
        list[#list + 1] = { "  " .. line }
      end
    end
    ask.above = #list
    for _, choice in ipairs(ask.choices) do
      list[#list + 1] = { "▸ " .. choice.label, "HermesChatDoing" }
    end
    if #ask.choices > 0 then
      list[#list + 1] = { "" } -- for a cursor that follows the end: it must not get onto a choice
    end
    return list
  end, function(block)
    ask.block, ask.shown_ms = block, vim.uv.hrtime() / 1e6
    if done then
      done()
    end
  end)
end

--- Adds a question. With an answer it is answered in the transcript.
---@param data table
---@param answer? hermes.Answer
function Asks:take(data, answer)
  local choices = answer and hermes.permissions.choices(data) or {}
  self.open[data.requestId] = { data = data, answer = answer, choices = choices }
  self:show(self.open[data.requestId])
end

--- Leaves one line of a question that is over.
---@private
---@param id string
---@param outcome string
function Asks:settle(id, outcome)
  local ask = self.open[id]
  if ask then
    self.open[id] = nil
    self.chat.transcript:show("ask " .. id, "question", function()
      return { { hermes.text.line(("%s: %s"):format(title(ask.data), outcome), 300) } }
    end)
  end
end

--- Leaves all questions to the dialog, because the transcript is out of sight.
function Asks:hand_over()
  for _, ask in pairs(self.open) do
    local answer = ask.answer
    if answer then
      ask.answer, ask.choices = nil, {}
      self:show(ask)
      answer.default()
    end
  end
end

--- All questions are over.
---@param reason string
function Asks:drop(reason)
  for id, ask in pairs(vim.tbl_extend("force", {}, self.open)) do
    if ask.answer then
      ask.answer.respond("")
    end
    self:settle(id, "not answered, " .. reason)
  end
end

--- The first line of a question, that of its first choice, and its last.
---@private
---@param ask hermes.chat.Ask
---@return integer? first 1-based; nil when it is not in the transcript
---@return integer? choices
---@return integer? last
function Asks:lines(ask)
  local first, last = self.chat.transcript:rows(ask.block)
  if first and #ask.choices > 0 then
    first = first + ask.block.gap + 1
    return first, first + ask.above, last
  end
end

--- Why a choice that allows something cannot be taken now.
---@private
---@param ask hermes.chat.Ask
---@return string? why
function Asks:refused(ask)
  local first, _, last = self:lines(ask)
  if not ask.whole or ask.data.truncated then
    return "this is too long to show in full, so it can only be refused"
  elseif
    vim.fn.foldclosed(first) ~= -1
    or vim.fn.line("w0") > first
    or vim.fn.line("w$") < last
  then
    return "not all of the question is in sight; make the window larger"
  elseif vim.uv.hrtime() / 1e6 - ask.shown_ms < M.too_soon_ms then
    return "too fast to have read it"
  end
end

--- Chooses what is on the line of the cursor in the current window.
---@return boolean whether there is a choice
function Asks:choose()
  local line = vim.fn.line(".")
  local ask, choice ---@type hermes.chat.Ask, hermes.PermissionChoice?
  for _, open in pairs(self.open) do
    local _, at = self:lines(open)
    if at and open.choices[line - at + 1] then
      ask, choice = open, open.choices[line - at + 1]
    end
  end
  local why = choice and not choice.refuses and self:refused(ask)
  if why then
    vim.notify("hermes.chat: " .. why)
  elseif choice and choice.choices then
    local back = { label = "Back", refuses = true, choices = ask.choices }
    local window = api.nvim_get_current_win()
    ask.choices = choice.refuses and choice.choices or vim.list_extend({ back }, choice.choices)
    self:show(ask, function()
      self:jump(window, ask)
    end)
  elseif choice then
    if choice.rule then
      hermes.permissions.add(choice.rule, { agent = ask.data.agent })
    end
    ask.answer.respond(choice.optionId)
  end
  return choice ~= nil
end

--- Puts the cursor of a window on the first choice of a question, by default the oldest.
---@param window integer
---@param ask? hermes.chat.Ask
---@return boolean
function Asks:jump(window, ask)
  local target ---@type integer?
  for _, open in pairs(ask and { ask } or self.open) do
    local _, at = self:lines(open)
    target = math.min(target or math.huge, at or math.huge)
  end
  if not target or target == math.huge or not api.nvim_win_is_valid(window) then
    return false
  end
  if not ask then
    api.nvim_set_current_win(window)
  end
  api.nvim_win_set_cursor(window, { target, 0 })
  return true
end

local outcomes = {
  allow_once = "allowed once",
  allow_always = "always allowed",
  reject_once = "rejected once",
  reject_always = "always rejected",
}

---@type table<string, fun(chat: hermes.chat.Chat, data: table)>
Asks.on = {
  PermissionRequest = function(chat, data)
    chat.asks:take(data)
  end,
  PermissionResolved = function(chat, data)
    local ask, how = chat.asks.open[data.requestId or ""], "cancelled"
    for _, choice in ipairs(ask and hermes.permissions.choices(ask.data) or {}) do
      if data.outcome == "selected" and choice.optionId == data.optionId then
        how = outcomes[choice.kind] or choice.label
      end
    end
    chat.asks:settle(data.requestId or "", how)
  end,
  RequestCancelled = function(chat, data)
    chat.asks:settle(data.requestId, "withdrawn")
  end,
}

return M
