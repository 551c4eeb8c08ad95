--- A chat: its agent, its session and what becomes of them.

local hermes = require("hermes")
local render = require("hermes.view.chat.render")

---@class hermes.chat.Chat
---@field agent string
---@field id? string session
---@field last_id? string session, also after its end
---@field cwd? string folder of the session
---@field state string "connecting", "loading", "ended", or the state of the session
---@field transcript hermes.chat.Transcript
---@field prompt hermes.chat.Prompt
---@field asks hermes.chat.Asks
---@field sends hermes.chat.Sends
---@field calls table<string, table> tool calls by terminal
---@field waits table<string, string> texts of the prompts that the agent has not begun, by id
---@field queue string[] ids of those that wait in the host
---@field passed? number ns, when the first prompt of `queue` last changed
---@field wants_send? string prompt that is sent once there is a session
---@field ended? string|true session that ended
---@field connected boolean whether this chat has started the agent
---@field last_words? string the last stderr of a connection that ended while a session was being
---opened
---@field changed fun() shows the state
local Chat = {}
Chat.__index = Chat

---@param opts table agent, cwd, transcript, prompt, changed
---@return hermes.chat.Chat
function Chat.new(opts)
  local self = setmetatable(opts, Chat) --[[@as hermes.chat.Chat]]
  self.state, self.waits, self.queue, self.calls = "connecting", {}, {}, {}
  self.asks = require("hermes.view.chat.asks").new(self)
  self.sends = require("hermes.view.chat.sends").new(self)
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

--- Opens a session or, with an id, one that is open already or that the agent has stored; connects
--- the agent if it is not running.
---@param id? string
---@param anew? boolean opens another session if the agent cannot load that one
function Chat:open(id, anew)
  self.ended, self.id, self.last_words = nil, id, nil
  local live = id and hermes.sessions({ agent = self.agent, session_id = id })[1]
  if live then
    self.cwd = live.cwd or self.cwd
    self:use(id)
    self:note("this session was open already; what was said before is not shown")
    return self:enter(live.state)
  end
  self:enter(id and "loading" or "connecting")
  -- Either failure may come first, and only the agent's says why.
  local started, once_started = true, nil ---@type boolean, fun()?
  local problem ---@type string?
  if not Chat.is_running(self.agent) then
    self.connected, started = true, false
    hermes.connect(self.agent, {
      on_done = function(err)
        started, problem = true, err and err.message
        if once_started then
          once_started()
        end
      end,
    })
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
      local function give_up()
        local why = err.kind == "not_connected" and problem or err.message
        self:gone(why .. (self.last_words or ""), err.auth)
      end
      if started or err.kind ~= "not_connected" then
        return give_up()
      end
      once_started = give_up
      return
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
  self.queue = {}
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
    return require("hermes.core.log").show(vim.log.levels.INFO, "the agent is running")
  end
  local id = type(self.ended) == "string" and self.ended --[[@as string]] or nil
  self:open(id, id ~= nil)
end

---@private
---@param id string
function Chat:close_session(id)
  hermes.close_session(id, { agent = self.agent, on_done = function() end })
end

--- The prompts that the agent has not begun, in their order, and what is being written.
---@return string
function Chat:unsent()
  local texts, rest = {}, vim.tbl_extend("force", {}, self.waits)
  for _, id in ipairs(self.queue) do
    texts[#texts + 1], rest[id] = rest[id], nil
  end
  vim.list_extend(texts, vim.tbl_values(rest))
  local writing = self.prompt:text()
  if writing:find("%S") then
    texts[#texts + 1] = writing
  end
  return table.concat(texts, "\n")
end

--- Cleans up once the chat is gone.
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
  if not text:find("%S") or self.prompt.sent or self.ended then
    return
  elseif not self.id or self.state == "loading" then
    self.wants_send = text
    return self.changed()
  end
  self.wants_send = nil
  self.transcript.follow:go()
  self.prompt.sent = text
  self.sends:blocks(text, function(problem, blocks)
    if self.closed or self.prompt.sent ~= text then
      return
    elseif problem or not self.id then
      self.prompt.sent = nil
      self:note(problem or "not sent", "error")
      return self.changed()
    end
    self:send_blocks(text, blocks)
  end)
end

---@private
---@param text string
---@param blocks string|table[]
function Chat:send_blocks(text, blocks)
  local id ---@type string
  id = hermes.prompt(self.id, blocks, {
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

--- Stops the turn, if one runs.
---@return boolean whether there was something to stop
function Chat:cancel()
  local runs = self.id ~= nil and self.state ~= "idle"
  if runs then
    hermes.cancel(self.id, { agent = self.agent })
  end
  return runs
end

---------------------------------------------------------------------------
-- Events of the chat.

---@type table<string, fun(chat: hermes.chat.Chat, data: table)>
Chat.on = {
  StateChanged = function(chat, data)
    if data.sessionId then
      if data.to == "replaying" then
        chat.transcript:clear() -- the history is replayed
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
    local words = tail and #tail > 0 and "\n" .. table.concat(tail, "\n") or ""
    if chat.state == "connecting" or chat.state == "loading" then
      chat.last_words = words -- of this connection or of the one before; the answer says which
    else
      chat:gone(data.reason .. words)
    end
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
    if chat.queue[1] and chat.queue[1] ~= data.items[1] then
      chat.passed = vim.uv.hrtime()
    end
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

--- The summary of its session.
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
  elseif type(usage.used) == "number" and usage.used > 0 then
    parts[#parts + 1] = count(usage.used) .. " tokens"
  end
  if type(usage.cost) == "table" and usage.cost.amount then
    parts[#parts + 1] = ("%.2f %s"):format(usage.cost.amount, usage.cost.currency or "")
  end
  parts[#parts + 1] = info.title
  return hermes.text.line(table.concat(parts, " · "), 300)
end

return Chat
