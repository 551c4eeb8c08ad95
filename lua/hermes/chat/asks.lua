--- The agent's permission questions in the transcript. With the option
--- `permissions = "chat"` they are answered there: by a key in normal mode, on
--- the line of a choice. Otherwise the dialog of Hermes asks, and the
--- transcript shows that it does and how it ended.

local hermes, api = require("hermes"), vim.api
local ns = api.nvim_create_namespace("hermes_chat_choices")

local M = {}

--- A key pressed within this many milliseconds after a question has appeared
--- was meant for something else, and allows nothing.
M.too_soon_ms = 500

---@class hermes.chat.Asks
---@field chat hermes.chat.Chat
---@field open table<string, hermes.chat.Ask> by request id
---@field choices table<integer, { ask: hermes.chat.Ask, option: table }> by extmark
local Asks = {}
Asks.__index = Asks

---@class hermes.chat.Ask
---@field data table of PermissionRequest
---@field answer? hermes.Answer when it is answered here
---@field block? hermes.chat.Block
---@field whole? boolean everything that decides is in the transcript
---@field shown_ms? number

---@param chat hermes.chat.Chat
---@return hermes.chat.Asks
function M.new(chat)
  return setmetatable({ chat = chat, open = {}, choices = {} }, Asks)
end

local kinds = {
  allow_once = "allow once",
  allow_always = "allow always",
  reject_once = "reject once",
  reject_always = "reject always",
}

---@param option table
---@return boolean
local function refuses(option)
  return option.kind == "reject_once" or option.kind == "reject_always"
end

--- Rejections come first.
---@param options table[]
---@return table[]
local function in_order(options)
  local first = vim.tbl_filter(refuses, options)
  return vim.list_extend(
    first,
    vim.tbl_filter(function(option)
      return not refuses(option)
    end, options)
  )
end

---@param option table
---@return string
local function label(option)
  return ("%s  (%s)"):format(
    hermes.text.line(option.name or option.optionId, 100),
    kinds[option.kind] or "unknown kind"
  )
end

---@param data table
---@return string
local function title(data)
  return hermes.text.line(data.toolCall.title or data.toolCall.kind or "a tool call", 200)
end

---@private
---@param ask hermes.chat.Ask
function Asks:show(ask)
  local transcript = self.chat.transcript
  local options = ask.answer and in_order(ask.data.options) or {}
  local heading = ("%s asks: %s"):format(hermes.text.line(ask.data.agent, 40), title(ask.data))
  local first -- of the choices
  transcript:show("ask " .. ask.data.requestId, "question", function()
    local list = { { heading } }
    if ask.answer then
      local window = vim.fn.win_findbuf(transcript.buf)[1]
      local width = window and api.nvim_win_get_width(window) - 4 or 80
      local lines, whole = hermes.permissions.details(ask.data, math.max(20, width))
      ask.whole = whole
      for _, line in ipairs(lines) do
        list[#list + 1] = { "  " .. line }
      end
    end
    first = #list
    for _, option in ipairs(options) do
      list[#list + 1] = { "▸ " .. label(option), "HermesChatDoing" }
    end
    return list
  end, function(block)
    ask.block, ask.shown_ms = block, vim.uv.hrtime() / 1e6
    local row = transcript:rows(block) + block.gap + first
    for i, option in ipairs(options) do
      local mark = api.nvim_buf_set_extmark(transcript.buf, ns, row + i - 1, 0, {})
      self.choices[mark] = { ask = ask, option = option }
    end
  end)
end

--- Leaves one line of a question that is over.
---@private
---@param ask hermes.chat.Ask
---@param outcome string
function Asks:settle(ask, outcome)
  self.open[ask.data.requestId] = nil
  local text = ("%s: %s"):format(outcome, title(ask.data))
  self.chat.transcript:show("ask " .. ask.data.requestId, "question", function()
    for mark, choice in pairs(self.choices) do
      if choice.ask == ask then
        api.nvim_buf_del_extmark(self.chat.transcript.buf, ns, mark)
        self.choices[mark] = nil
      end
    end
    return { { hermes.text.line(text, 300) } }
  end)
end

--- Takes a question that is to be answered in the transcript.
---@param data table
---@param answer hermes.Answer
function Asks:take(data, answer)
  local ask = { data = data, answer = answer }
  self.open[data.requestId] = ask
  self:show(ask)
end

--- Leaves all questions to the dialog, because the transcript is out of sight.
function Asks:hand_over()
  for _, ask in pairs(self.open) do
    if ask.answer then
      local answer = ask.answer
      ask.answer = nil
      self:show(ask)
      answer.default()
    end
  end
end

--- All questions are over.
---@param reason string
function Asks:drop(reason)
  for _, ask in pairs(vim.tbl_extend("force", {}, self.open)) do
    if ask.answer then
      ask.answer.respond("")
    end
    self:settle(ask, "not answered, " .. reason)
  end
end

--- Whether the whole question is on the screen of the window.
---@param ask hermes.chat.Ask
---@return boolean
function Asks:in_sight(ask)
  local first, last = self.chat.transcript:rows(ask.block)
  local folded = vim.fn.foldclosed(first + ask.block.gap + 1) ~= -1
  return not folded and vim.fn.line("w0") <= first + ask.block.gap + 1 and vim.fn.line("w$") >= last
end

--- Chooses what is on the line of the cursor in the current window.
---@return boolean whether there is a choice
function Asks:choose()
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local mark =
    api.nvim_buf_get_extmarks(self.chat.transcript.buf, ns, { row, 0 }, { row, -1 }, {})[1]
  local choice = mark and self.choices[mark[1]]
  if not choice then
    return false
  end
  local ask = choice.ask
  if not refuses(choice.option) then
    if not ask.whole or ask.data.truncated then
      vim.notify("hermes.chat: this is too long to show in full, so it can only be refused")
      return true
    elseif not self:in_sight(ask) then
      vim.notify("hermes.chat: not all of the question is in sight; make the window larger")
      return true
    elseif vim.uv.hrtime() / 1e6 - ask.shown_ms < M.too_soon_ms then
      return true
    end
  end
  ask.answer.respond(choice.option.optionId)
  return true
end

--- Puts the cursor of a window on the first choice of the oldest question.
---@param window integer
---@return boolean
function Asks:jump(window)
  local mark = api.nvim_buf_get_extmarks(self.chat.transcript.buf, ns, 0, -1, {})[1]
  if mark then
    api.nvim_set_current_win(window)
    api.nvim_win_set_cursor(window, { mark[2] + 1, 0 })
  end
  return mark ~= nil
end

---@type table<string, fun(chat: hermes.chat.Chat, data: table)>
Asks.on = {
  PermissionRequest = function(chat, data)
    local ask = { data = data }
    chat.asks.open[data.requestId] = ask
    chat.asks:show(ask)
  end,
  PermissionResolved = function(chat, data)
    local ask = data.requestId and chat.asks.open[data.requestId]
    if ask then
      local how = "cancelled"
      for _, option in ipairs(ask.data.options or {}) do
        if data.outcome == "selected" and option.optionId == data.optionId then
          how = label(option)
        end
      end
      chat.asks:settle(ask, how)
    end
  end,
  RequestCancelled = function(chat, data)
    local ask = chat.asks.open[data.requestId]
    if ask then
      chat.asks:settle(ask, "withdrawn")
    end
  end,
}

return M
