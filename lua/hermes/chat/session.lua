--- A chat: its agent, its session and what becomes of them.

local hermes = require("hermes")
local render = require("hermes.chat.render")

---@class hermes.chat.Chat
---@field agent string
---@field id? string session
---@field last_id? string session, also after its end
---@field cwd? string folder of the session
---@field state string "connecting", "loading", "ended", or that of the session
---@field reason? string why it is so
---@field transcript hermes.chat.Transcript
---@field prompt hermes.chat.Prompt
---@field asks hermes.chat.Asks
---@field calls table<string, table> tool calls by terminal
---@field waits table<string, string> texts of the prompts that were not begun, by id
---@field queue string[] ids of those that wait in the host
---@field wants_send? string prompt that is sent once there is a session
---@field ended? string|true session that ended
---@field connected boolean whether this chat has started the agent
---@field changed fun() shows the state
local Chat = {}
Chat.__index = Chat

---@param opts table agent, cwd, transcript, prompt, changed
---@return hermes.chat.Chat
function Chat.new(opts)
  local self = setmetatable(opts, Chat) --[[@as hermes.chat.Chat]]
  self.state, self.waits, self.queue, self.calls = "connecting", {}, {}, {}
  self.asks = require("hermes.chat.asks").new(self)
  local parts = { Chat.on, render.on, self.asks.on }
  self.off = hermes.on(vim.tbl_keys(vim.tbl_extend("force", {}, unpack(parts))), {
    agent = self.agent,
    callback = function(data, name)
      if data.sessionId == nil or data.sessionId == self.id then
        for _, part in ipairs(parts) do
          if part[name] then
            part[name](self, data)
          end
        end
      end
    end,
  })
  return self
end

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
  self.said = err.message or "failed"
  self:note(self.said, "error")
end

---------------------------------------------------------------------------
-- The session.

--- Opens a session or, with an id, the one that the agent has stored; connects the agent if it
--- is not running.
---@param id? string
---@param anew? boolean opens another session if the agent cannot load that one
function Chat:open(id, anew)
  self.ended, self.id = nil, id
  self:enter(id and "loading" or "connecting")
  if not Chat.is_running(self.agent) then
    self.connected = true
    hermes.connect(self.agent, { on_done = function() end }) -- the session fails with it
  end
  local opts = { agent = self.agent, cwd = self.cwd }
  function opts.on_done(err, result)
    local session = result and (result.sessionId or id)
    if self.closed then
      return session and self:close_session(session)
    elseif err and anew and Chat.is_running(self.agent) then
      self:note("a new session: the agent could not load the old one: " .. err.message)
      return self:open()
    elseif err then
      return self:gone(err.message, err.auth)
    end
    self.cwd = hermes.state(session, "cwd", { agent = self.agent }) or self.cwd
    self:use(session)
    self:enter("idle")
    if self.wants_send and vim.startswith(self.prompt:text(), self.wants_send) then
      self:send(self.wants_send)
    end
    self.wants_send = nil
  end
  if id then
    return hermes.load_session(id, opts)
  end
  hermes.create_session(opts)
end

---@param agent string
---@return boolean
function Chat.is_running(agent)
  return vim.iter(hermes.connections()):any(function(connection)
    return connection.name == agent
  end)
end

--- Says in its buffers which session they are about.
---@private
---@param id? string
function Chat:use(id)
  self.id, self.last_id = id, id or self.last_id
  for _, buf in ipairs({ self.prompt.buf, self.transcript.buf }) do
    vim.b[buf].hermes_session, vim.b[buf].hermes_agent = id, self.agent
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
  self.ended, self.wants_send = self.id or true, nil
  self:use(nil)
  self.reason, self.queue = reason, {}
  self.transcript:settle()
  local said = self.said and self.said:find(vim.split(reason, "\n")[1], 1, true)
  local what = self.last_id and "the session has ended" or "there is no session"
  self:note(said and what or what .. ": " .. reason, "error")
  if auth and auth.hint then
    self:note(auth.hint)
  end
  self.asks:drop("the session has ended")
  self:enter("ended")
end

--- Starts a dead agent again and goes on with the session, if the agent can.
function Chat:restart()
  if not self.ended then
    return vim.notify("hermes.chat: the agent is running")
  end
  local id = type(self.ended) == "string" and self.ended --[[@as string]] or nil
  self:open(id, id ~= nil)
end

---@private
---@param id string
function Chat:close_session(id)
  hermes.close_session(id, { agent = self.agent, on_done = function() end })
end

--- What follows, once the chat is gone.
function Chat:close()
  if self.closed then
    return
  end
  self.closed = true
  self.off()
  self.asks:drop("the chat was closed")
  if self.id then
    self:cancel() -- an agent may not know how to close a session
    self:close_session(self.id)
  end
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

---------------------------------------------------------------------------
-- What the chat hears.

---@type table<string, fun(chat: hermes.chat.Chat, data: table)>
Chat.on = {
  StateChanged = function(chat, data)
    if data.sessionId then
      if data.to == "replaying" then
        chat.transcript:clear() -- it is told again
      end
      if chat.state ~= "loading" then
        chat:enter(data.to)
      end
    elseif data.to == "reconnecting" then
      chat:enter("reconnecting")
    elseif data.to == "ready" and chat.state == "reconnecting" then
      chat:enter(chat.id and "idle" or "connecting")
    end
  end,
  ConnectionFailed = function(chat, data)
    chat:gone(data.error)
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
  Authenticated = function(chat)
    if chat.ended then
      chat:open()
    end
  end,
  QueueChanged = function(chat, data)
    chat.queue = data.items
    vim.iter(data.items):each(function(id)
      chat:accepted(id)
    end)
    chat.changed()
  end,
  TurnStarted = function(chat, data)
    chat:accepted(data.promptId)
    chat.waits[data.promptId] = nil
    chat.changed()
  end,
}

for _, name in ipairs({ "SessionUpdate", "UsageUpdate", "AgentCurrentMode", "ModeUpdated" }) do
  Chat.on[name] = function(chat)
    chat.changed()
  end
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
    local key = keys.restart.n or "<Plug>(hermes-chat-restart)"
    return ("ended; %s starts the agent again"):format(key)
  elseif self.prompt.sent or self.wants_send then
    return "on its way"
  end
  return (keys.help.n or "<Plug>(hermes-chat-help)") .. " keys"
end

--- What is known of its session.
---@return table hermes.SessionInfo, or empty
function Chat:info()
  return self.id and hermes.sessions({ agent = self.agent, session_id = self.id })[1] or {}
end

--- One line for people: who, what it does, its mode, what it has used.
---@return string
function Chat:status()
  local state = self.state
  if self.wants_send then
    state = state .. ", the prompt goes out then"
  elseif state == "ended" then
    state = "ended: " .. self.reason:gsub("\n.*", "")
  elseif state == "waiting" then
    state = "waits for your answer"
  end
  local info, parts = self:info(), { self.agent, state }
  if #self.queue > 0 then
    parts[#parts + 1] = ("%d waiting"):format(#self.queue)
  end
  local modes = info.mode and hermes.modes(self.id, { agent = self.agent }) or {}
  for _, mode in ipairs(modes.availableModes or {}) do
    parts[#parts + 1] = mode.id == info.mode and mode.name or nil
  end
  local usage = info.usage or {}
  if info.percent then
    local used, size = count(usage.used), count(usage.size)
    parts[#parts + 1] = ("%s/%s %d%%"):format(used, size, info.percent)
  end
  if type(usage.cost) == "table" and usage.cost.amount then
    parts[#parts + 1] = ("%.2f %s"):format(usage.cost.amount, usage.cost.currency or "")
  end
  parts[#parts + 1] = info.title
  return hermes.text.line(table.concat(parts, " · "), 300)
end

return Chat
