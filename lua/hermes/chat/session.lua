--- A chat: its agent, its session and what becomes of them.

local hermes = require("hermes")
local render = require("hermes.chat.render")

---@class hermes.chat.Chat
---@field agent string
---@field id? string session
---@field cwd? string folder of the session
---@field state string "connecting", "loading", "ended", or that of the session
---@field transcript hermes.chat.Transcript
---@field prompt hermes.chat.Prompt
---@field asks hermes.chat.Asks
---@field outputs table<string|integer, string> what commands printed, by terminal; the oldest first
---@field calls table<string, table> tool calls by terminal
---@field info { title?: string, usage?: table, modes?: table, reason?: string }
---@field waits table<string, string> texts of the prompts that were not begun, by id
---@field queue string[] ids of those that wait in the host
---@field problem_text? string what was said last
---@field try table of one start of the agent
---@field connected boolean whether this chat has started the agent
---@field changed fun() shows the state
local Chat = {}
Chat.__index = Chat

---@param opts table agent, cwd, transcript, prompt, changed
---@return hermes.chat.Chat
function Chat.new(opts)
  local self = setmetatable(opts, Chat) --[[@as hermes.chat.Chat]]
  self.state, self.info, self.waits, self.queue = "connecting", {}, {}, {}
  self.outputs, self.calls = {}, {}
  self.asks = require("hermes.chat.asks").new(self)
  local names = vim.tbl_keys(vim.tbl_extend("force", {}, render.on, Chat.on, self.asks.on))
  self.off = hermes.on(names, {
    agent = self.agent,
    callback = function(data, name)
      if data.sessionId == nil or data.sessionId == self.id then
        for _, part in ipairs({ Chat.on, render.on, self.asks.on }) do
          if part[name] then
            part[name](self, data)
          end
        end
      end
    end,
  })
  return self
end

---------------------------------------------------------------------------
-- Lines of the chat itself.

---@param text string
---@param kind? string
function Chat:note(text, kind)
  self.transcript:show(nil, kind or "note", function()
    return vim.tbl_map(function(line)
      return { line }
    end, hermes.text.lines(text, 20))
  end)
end

---@param err { message: string }
function Chat:problem(err)
  self.problem_text = err.message or "failed"
  self:note(self.problem_text, "error")
end

---------------------------------------------------------------------------
-- The session.

--- Connects, and opens a session or, with an id, the one that the agent has stored.
---@param id? string
function Chat:open(id)
  self:enter(id and "loading" or "connecting")
  self.ended, self.try = nil, {}
  local known = hermes.state().agents[self.agent]
  if not known then
    self.connected = true
    hermes.connect(self.agent, {
      on_done = function(err)
        if err and not self.closed then
          self:gone(err.message)
        end
      end,
    })
  end
  if id then
    self.id = id
    self.transcript:clear()
    return hermes.load_session(
      id,
      { agent = self.agent, cwd = self.cwd, on_done = self:opened(id) }
    )
  end
  self.id = nil
  hermes.create_session({ agent = self.agent, cwd = self.cwd, on_done = self:opened() })
end

---@private
---@param id? string that was asked for
---@return fun(err: hermes.Error?, result: table?)
function Chat:opened(id)
  return function(err, result)
    local session = result and (result.sessionId or id)
    if self.closed then
      if session then
        hermes.close_session(session, { agent = self.agent, on_done = function() end })
      end
      return
    elseif err then
      return self:gone(err.message, err.auth)
    end
    self.id, self.info.modes = session, result.modes
    self.cwd = hermes.state(session, "cwd") or self.cwd
    vim.b[self.prompt.buf].hermes_session = session
    self:enter("idle")
    if self.wants_send and vim.startswith(self.prompt:text(), self.wants_send) then
      self:send(self.wants_send)
    end
    self.wants_send = nil
  end
end

---@private
---@param state string
function Chat:enter(state)
  self.state = state
  self.changed()
end

--- The session cannot be used any more.
---@private
---@param reason string
---@param auth? { hint?: string }
function Chat:gone(reason, auth)
  if self.ended then
    return
  end
  self.ended, self.id, self.wants_send = self.id or true, nil, nil
  vim.b[self.prompt.buf].hermes_session = nil
  self.info.reason = reason
  self.transcript:settle()
  local said = self.problem_text and self.problem_text:find(vim.split(reason, "\n")[1], 1, true)
  self:note(said and "the session has ended" or "the session has ended: " .. reason, "error")
  if auth and auth.hint then
    self:note(auth.hint)
  end
  self.asks:drop("the session has ended")
  self.queue = {}
  self:enter("ended")
end

--- Starts a dead agent again and goes on with the session, if the agent can.
function Chat:restart()
  if not self.ended then
    return vim.notify("hermes.chat: the agent is running")
  end
  local id = type(self.ended) == "string" and self.ended or nil
  self.ended, self.try = nil, {}
  self:enter("connecting")
  self.connected = true
  hermes.connect(self.agent, {
    on_done = function(err, info)
      if self.closed then
        return
      elseif err then
        return self:gone(err.message)
      end
      local can = id and info and (info.agentCapabilities or {}).loadSession
      if not can then
        self:note("a new session: the agent knows nothing of the conversation above")
        return self:open()
      end
      hermes.load_session(id, {
        agent = self.agent,
        cwd = self.cwd,
        on_done = function(failed, result)
          if failed then
            self:note("a new session: the agent could not load the old one: " .. failed.message)
            return self:open()
          end
          self:opened(id)(nil, result)
        end,
      })
    end,
  })
end

---------------------------------------------------------------------------
-- Prompts.

--- Sends what is in the prompt. It stays there until the host has it.
---@param text? string its beginning, when the rest was typed since
function Chat:send(text)
  text = text or self.prompt:text()
  if vim.trim(text) == "" or self.prompt.sent or self.ended then
    return
  elseif not self.id or self.state == "loading" then
    self.wants_send = text
    return self.changed()
  end
  self.wants_send = nil
  self.prompt.sent = text
  local id ---@type string
  id = hermes.prompt(self.id, require("hermes.complete").blocks(text, self.cwd), {
    agent = self.agent,
    on_done = function(err)
      if self.closed then
        return
      elseif self.prompt.sent == text and self.sent_id == id then -- it never got anywhere
        self.prompt.sent = nil
        if err then
          self:problem(err)
        end
      elseif self.waits[id] then -- it was dropped from the queue
        self.prompt:put_back(self.waits[id])
        self.waits[id] = nil
      end
      self.changed()
    end,
  })
  self.sent_id = id
end

--- A prompt has reached the host.
---@private
---@param id string
function Chat:accepted(id)
  if self.prompt.sent and self.sent_id == id then
    self.prompt:take(self.prompt.sent)
    self.waits[id], self.prompt.sent = self.prompt.sent, nil
  end
end

function Chat:cancel()
  if self.id and self.state ~= "idle" then
    hermes.cancel(self.id, { agent = self.agent })
  end
end

--- What follows, once the chat is gone.
function Chat:close()
  if self.closed then
    return
  end
  self.closed = true
  self.off()
  self.asks:drop("the chat was closed")
  self.last_id = self.id
  if self.id then
    self:cancel() -- an agent may not know how to close a session
    hermes.close_session(self.id, { agent = self.agent, on_done = function() end })
  end
end

---------------------------------------------------------------------------
-- What the chat hears.

---@type table<string, fun(chat: hermes.chat.Chat, data: table)>
Chat.on = {
  StateChanged = function(chat, data)
    if data.sessionId then
      if data.to == "replaying" and chat.state ~= "loading" then
        chat.transcript:clear() -- it is told again
      end
      if chat.state ~= "loading" then
        chat:enter(data.to)
      end
    elseif data.to == "disconnected" then
      local try = chat.try
      vim.defer_fn(function() -- Disconnected says why, and comes with it
        if chat.try == try then
          chat:gone("the agent has stopped")
        end
      end, 100)
    elseif data.to == "reconnecting" then
      chat.info.reason = data.reason
      chat:enter("reconnecting")
    elseif data.to == "ready" and chat.state == "reconnecting" then
      chat:enter(chat.id and "idle" or "connecting")
    end
  end,
  ConnectionFailed = function(chat, data)
    chat:gone(data.message or data.reason or "the agent cannot be started")
  end,
  Disconnected = function(chat, data)
    local tail = data.stderr_tail
    chat:gone(data.reason .. (tail and #tail > 0 and "\n" .. table.concat(tail, "\n") or ""))
  end,
  SessionClosed = function(chat, data)
    if data.sessionId == chat.id then
      chat:gone(data.reason or "it was closed")
    end
  end,
  SessionUpdate = function(chat, data)
    chat.info.title = data.update.title or chat.info.title
    chat.changed()
  end,
  UsageUpdate = function(chat, data)
    chat.info.usage = data.update
    chat.changed()
  end,
  AgentCurrentMode = function(chat, data)
    chat:mode(data.update.currentModeId)
  end,
  ModeUpdated = function(chat, data)
    chat:mode(data.modeId)
  end,
  QueueChanged = function(chat, data)
    chat.queue = data.items
    for _, id in ipairs(data.items) do
      chat:accepted(id)
    end
    chat.changed()
  end,
  TurnStarted = function(chat, data)
    chat:accepted(data.promptId)
    chat.waits[data.promptId] = nil
    chat.changed()
  end,
}

---@private
---@param id string
function Chat:mode(id)
  self.info.modes = vim.tbl_extend("force", self.info.modes or {}, { currentModeId = id })
  self.changed()
end

---------------------------------------------------------------------------
-- The lines above the windows.

---@param n integer
---@return string
local function count(n)
  return n >= 1e6 and ("%.1fM"):format(n / 1e6)
    or n >= 1000 and ("%dk"):format(n / 1000)
    or tostring(n)
end

--- One line above the prompt: the prompts that wait, or how to send.
---@param keys table
---@return string
function Chat:hint(keys)
  local waiting = #self.queue
  if waiting > 0 then
    local first = hermes.text.line(self.waits[self.queue[1]] or "a prompt", 60)
    return ("waits: %s%s"):format(first, waiting > 1 and (" (+%d)"):format(waiting - 1) or "")
  elseif self.ended then
    return ("ended; %s starts the agent again"):format(
      keys.restart.n or "<Plug>(hermes-chat-restart)"
    )
  elseif self.prompt.sent or self.wants_send then
    return "on its way"
  end
  return (keys.help.n or "<Plug>(hermes-chat-help)") .. " keys"
end

--- One line for people: who, what it does, its mode, what it has used.
---@return string
function Chat:status()
  local info = self.info
  local state = self.state
  if self.wants_send then
    state = state .. ", the prompt goes out then"
  elseif state == "ended" then
    state = "ended: " .. (info.reason or ""):gsub("\n.*", "")
  elseif state == "waiting" then
    state = "waits for your answer"
  end
  local parts = { self.agent, state }
  if #self.queue > 0 then
    parts[#parts + 1] = ("%d waiting"):format(#self.queue)
  end
  for _, mode in ipairs((info.modes or {}).availableModes or {}) do
    if mode.id == info.modes.currentModeId then
      parts[#parts + 1] = mode.name
    end
  end
  local usage = info.usage
  if usage and usage.used and usage.size and usage.size > 0 then
    parts[#parts + 1] = ("%s/%s %d%%"):format(
      count(usage.used),
      count(usage.size),
      usage.used / usage.size * 100
    )
  end
  local cost = usage and usage.cost
  if type(cost) == "table" and cost.amount then
    parts[#parts + 1] = ("%.2f %s"):format(cost.amount, cost.currency or "")
  end
  parts[#parts + 1] = info.title
  return hermes.text.line(table.concat(parts, " · "), 300)
end

return Chat
