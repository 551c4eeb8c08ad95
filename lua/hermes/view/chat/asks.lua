--- The agent's permission questions in the transcript. While the chat is in
--- sight they are answered there: by a key in normal mode, on the line of a
--- choice. Otherwise, or with `permissions = "dialog"`, the dialog of Hermes
--- asks, and the transcript shows that it does and how it ended.

local hermes, api = require("hermes"), vim.api

local M = {}

---@class hermes.chat.Asks
---@field chat hermes.chat.Chat
---@field open table<string, hermes.chat.Ask> by request id
local Asks = {}
Asks.__index = Asks

---@class hermes.chat.Ask
---@field data table of PermissionRequest
---@field answer? hermes.DefaultAnswer when it is answered here
---@field choices hermes.PermissionChoice[] those that are shown
---@field next? hermes.PermissionChoice[] those that are to be shown instead
---@field above? integer lines before them
---@field block? hermes.chat.Block
---@field wanted? boolean the user has asked for it, and it is not there yet
---@field reading? hermes.Reading which part of it was on the screen
---@field version? integer of what it says

---@param chat hermes.chat.Chat
---@return hermes.chat.Asks
function M.new(chat)
  local self = setmetatable({ chat = chat, open = {} }, Asks)
  local buf = chat.transcript.buf
  local group = api.nvim_create_augroup("hermes_chat_asks_" .. buf, {})
  local function look()
    self:look()
  end
  chat.transcript.on_cut = function(block)
    for _, ask in pairs(self.open) do
      if ask.block == block then -- it cannot be read here any more
        self:leave(ask)
      end
    end
  end
  api.nvim_create_autocmd("WinScrolled", { group = group, callback = look })
  api.nvim_create_autocmd("WinEnter", {
    group = group,
    buffer = buf,
    callback = function() -- the keys of another window must not be an answer
      for _, ask in pairs(self.open) do
        if ask.reading then
          ask.reading:changed()
        end
      end
    end,
  })
  api.nvim_create_autocmd("CursorMoved", { group = group, buffer = buf, callback = look })
  api.nvim_create_autocmd("BufWipeout", {
    group = group,
    buffer = buf,
    callback = function()
      api.nvim_del_augroup_by_id(group)
    end,
  })
  return self
end

--- Whether the numbers of choices answer.
---@return boolean
function M.are_numbered()
  return require("hermes.ask.questions").digits_answer()
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
    local who, what = hermes.text.line(ask.data.agent, 40) .. " asks: ", title(ask.data)
    local list = { { who .. what, nil, { ask = ask } } }
    ask.choices, ask.next = ask.next or ask.choices, nil
    if ask.answer then
      local window = vim.fn.win_findbuf(transcript.buf)[1]
      local width = math.max(20, window and api.nvim_win_get_width(window) - 4 or 80)
      local room = math.max(width + 2 - api.nvim_strwidth(who), 10)
      -- One row, because all of the title is among what follows.
      list[1][1] = who .. require("hermes.core.text").row(what, room)
      ask.version = hermes.permissions.version(ask.data)
      local lines, whole, decided, unread = hermes.permissions.details(ask.data, width)
      local lost = ask.data.truncated ~= nil
      local layout = { whole = whole and not lost, decided = decided, unread = unread }
      ask.reading = ask.reading or require("hermes.ask.reading").new()
      ask.reading:begin(layout)
      for _, line in ipairs(lines) do
        list[#list + 1] = { "  " .. line }
      end
    end
    ask.above = #list
    local numbered = M.are_numbered()
    for i, choice in ipairs(ask.choices) do
      local label = ask.reading and ask.reading:label(choice.label, choice.refuses) or choice.label
      local lead = numbered and ("▸ %d: "):format(i) or "▸ "
      list[#list + 1] =
        { lead .. label, "HermesChatDoing", { ask = ask, choice = choice, among = ask.choices } }
    end
    if #ask.choices > 0 then
      list[#list + 1] = { "" } -- for a cursor that follows the end: it must not get onto a choice
    end
    return list
  end, function(block)
    ask.block = block
    if ask.reading then
      ask.reading:changed()
      vim.schedule(function()
        self:look()
      end)
    end
    if done then
      done()
    elseif ask.wanted then
      ask.wanted = nil
      vim.schedule(function() -- once the windows that follow the end are there
        self:go(ask)
      end)
    end
  end)
end

--- Shows a question that has changed. Its old lines answer nothing from now on.
---@private
---@param ask hermes.chat.Ask
function Asks:renew(ask)
  ask.next = ask.next or vim.list_slice(ask.choices) -- other ones, with a line each
  ask.choices = {}
  self:show(ask)
end

--- Adds a question. With an answer it is answered in the transcript.
---@param data table
---@param answer? hermes.DefaultAnswer
function Asks:take(data, answer)
  local choices = answer and hermes.permissions.choices(data) or {}
  local ask = { data = data, answer = answer, choices = choices }
  self.open[data.requestId] = ask
  self:show(ask)
  if answer then
    require("hermes.ask.questions").stand({
      id = data.requestId,
      agent = data.agent,
      session_id = data.sessionId,
      go = function()
        self:go(ask)
      end,
      expire = function()
        answer.respond("")
      end,
    })
  end
end

--- Goes to a question, as soon as it is in the transcript.
---@param ask hermes.chat.Ask
function Asks:go(ask)
  local window = vim.fn.win_findbuf(self.chat.transcript.buf)[1]
  if window and not ask.block then
    ask.wanted = true
  elseif window then
    api.nvim_set_current_win(window)
    self:jump(window, ask)
  end
end

--- Leaves one line of a question that is over.
---@private
---@param id string
---@param outcome string
function Asks:settle(id, outcome)
  local ask = self.open[id]
  if ask then
    self.open[id] = nil
    require("hermes.ask.questions").remove(id)
    self.chat.transcript:show("ask " .. id, "question", function()
      return { { hermes.text.line(("%s: %s"):format(title(ask.data), outcome), 300) } }
    end)
  end
end

--- Leaves a question to the dialog.
---@private
---@param ask hermes.chat.Ask
function Asks:leave(ask)
  local answer = ask.answer
  if answer then
    ask.answer, ask.next, ask.reading = nil, {}, nil
    require("hermes.ask.questions").remove(ask.data.requestId)
    self:show(ask)
    answer.default()
  end
end

--- Leaves all questions to the dialog, because the transcript is out of sight.
function Asks:hand_over()
  for _, ask in pairs(vim.tbl_extend("force", {}, self.open)) do
    self:leave(ask)
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

--- A line of a question in the transcript: its first line, or the line of a choice.
---@private
---@param ask hermes.chat.Ask
---@param choice? integer
---@return integer? line 1-based; nil when it is not there: on its way, or dropped
function Asks:line(ask, choice)
  return ask.block and self.chat.transcript:line(ask.block, choice and ask.above + choice or 1)
end

--- Notes which part of the questions is on the screen.
function Asks:look()
  for _, ask in pairs(self.open) do
    local first = ask.reading and self:line(ask)
    if first then
      for _, window in ipairs(vim.fn.win_findbuf(self.chat.transcript.buf)) do
        ask.reading:look(window, first + 1) -- its first line only says who asks
      end
    end
  end
end

--- Whether a choice of an open question is still on the screen.
---@private
---@param ask hermes.chat.Ask
---@param among hermes.PermissionChoice[] the choices that it was shown with
---@return boolean
function Asks:offers(ask, among)
  return self.open[ask.data.requestId] == ask and ask.answer ~= nil and ask.choices == among
end

--- Chooses what the line of the cursor in the current window says. In a closed fold nobody sees it.
---@return boolean whether it says anything
function Asks:choose()
  local act = self.chat.transcript:act(vim.fn.line(".") --[[@as integer]])
  local hidden = vim.fn.foldclosed(".") > 0
  if hidden or not act or self.open[act.ask.data.requestId] ~= act.ask then
    return false
  elseif not act.choice and act.ask.answer then
    self:go(act.ask)
  elseif not act.choice then
    if not require("hermes.ask.questions").open(act.ask.data.requestId) then
      local said = "nothing to do: Hermes is answering it"
      require("hermes.core.log").show(vim.log.levels.INFO, said)
    end
  elseif self:offers(act.ask, act.among) then
    self:take_choice(act.ask, act.choice)
  end
  return true
end

--- A function that takes a choice of the question that the cursor is in.
---@param number integer
---@return fun()? take nil when there is none
function Asks:numbered(number)
  local line = vim.fn.foldclosed(".") < 0 and vim.fn.line(".") or 0 --[[@as integer]]
  for _, ask in pairs(self.open) do
    local choice, among = ask.choices[number], ask.choices
    local first, last ---@type integer?, integer
    if ask.block and choice then
      first, last = self.chat.transcript:rows(ask.block)
    end
    if first and line > first and line <= last then
      return function()
        if self:offers(ask, among) then
          self:take_choice(ask, choice)
        end
      end
    end
  end
end

--- Answers with a choice, or says why it cannot be the answer yet.
---@private
---@param ask hermes.chat.Ask
---@param choice hermes.PermissionChoice
function Asks:take_choice(ask, choice)
  self:look()
  local why = not choice.refuses and ask.reading:refusal()
  if why and ask.reading.layout.whole and not ask.reading:seen() then
    local first = self:line(ask)
    if first then
      api.nvim_win_set_cursor(0, { first, 0 })
      vim.cmd("normal! zt")
    end
    require("hermes.core.log").show(vim.log.levels.INFO, why .. "; it begins here")
  elseif why then
    require("hermes.core.log").show(vim.log.levels.INFO, why)
  elseif choice.choices then
    local back = { label = "Back", refuses = true, choices = ask.choices }
    local window = api.nvim_get_current_win()
    ask.next = choice.refuses and choice.choices or vim.list_extend({ back }, choice.choices)
    self:show(ask, function()
      self:jump(window, ask)
    end)
  else
    if choice.rule then
      hermes.permissions.add(choice.rule, { agent = ask.data.agent })
    end
    ask.answer.respond(choice.optionId, { seen = ask.reading:all_shown() })
  end
end

--- Puts the cursor of a window on the first choice of a question, by default the oldest.
---@param window integer
---@param ask? hermes.chat.Ask
---@return boolean
function Asks:jump(window, ask)
  local target ---@type integer?
  for _, open in pairs(ask and { ask } or self.open) do
    local at = #open.choices > 0 and self:line(open, 1)
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
  ToolCallState = function(chat, data)
    for _, ask in pairs(chat.asks.open) do
      local is_about = (ask.data.toolCall or {}).toolCallId == data.toolCall.toolCallId
      if ask.answer and is_about and hermes.permissions.version(ask.data) ~= (ask.version or 0) then
        chat.asks:renew(ask)
      end
    end
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
