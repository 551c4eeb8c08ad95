-- An agent for specs: nvim -l test/scripted_agent.lua. The text of a prompt is a
-- JSON list of steps; anything else is repeated. A step is one of
--   { "update": {…}, "times": 1 } sends session/updates, tool calls with the number in their id
--   { "say": "…", "times": 1 }   sends pieces of text
--   { "ask": {…}, "times": 1 }   asks for permission and waits for each answer
--   { "asks": {…}, "times": 1 }  asks for permission at once as often, and waits for the cancel
--   { "hold": true }             waits until the turn is cancelled
--   { "stderr": "…" }, { "exit": 3 }, { "fail": "…" }
-- It stores the sessions in $HERMES_TEST_SESSIONS, a JSON list, each with a
-- "history" of as many bytes.

local stored = vim.json.decode(vim.env.HERMES_TEST_SESSIONS or "[]")
local opened, asked, cancelled = 0, 0, false

local function send(message)
  message.jsonrpc = "2.0"
  io.stdout:write(vim.json.encode(message), "\n")
  io.stdout:flush()
end

local function update(session, what)
  send({ method = "session/update", params = { sessionId = session, update = what } })
end

local function chunk(kind, text)
  return { sessionUpdate = kind, content = { type = "text", text = text } }
end

local handle

local options = {
  { optionId = "yes", name = "Yes", kind = "allow_once" },
  { optionId = "no", name = "No", kind = "reject_once" },
}

--- Asks for permission.
---@return string id
local function ask(session, params)
  asked = asked + 1
  local id = "ask-" .. asked
  params = vim.tbl_extend("force", { options = options }, params, { sessionId = session })
  send({ id = id, method = "session/request_permission", params = params })
  return id
end

--- Reads messages until one says that it is enough.
local function listen(enough)
  for line in io.stdin:lines() do
    local message = vim.json.decode(line)
    if message.method then
      handle(message)
    end
    if enough(message) then
      return message
    end
  end
  os.exit(0)
end

---@type table<string, fun(session: string, step: table): string?>
local steps = {
  update = function(session, step)
    for i = 1, step.times or 1 do
      local id = step.update.toolCallId
      local numbered = step.times and id and { toolCallId = id .. i } or {}
      update(session, vim.tbl_extend("force", step.update, numbered))
    end
  end,
  say = function(session, step)
    for _ = 1, step.times or 1 do
      update(session, chunk("agent_message_chunk", step.say))
    end
  end,
  ask = function(session, step)
    for _ = 1, step.times or 1 do
      local id = ask(session, step.ask)
      local answer = listen(function(message)
        return message.id == id and not message.method
      end)
      local outcome = (answer.result or {}).outcome or {}
      local text = ("answer %d: %s\n"):format(asked, outcome.optionId or outcome.outcome or "error")
      update(session, chunk("agent_message_chunk", text))
    end
  end,
  asks = function(session, step)
    for _ = 1, step.times do
      ask(session, step.asks)
    end
    listen(function(message)
      if message.id and not message.method and message.result then
        local outcome = message.result.outcome
        if outcome.outcome == "selected" then
          update(
            session,
            chunk("agent_message_chunk", ("%s: %s\n"):format(message.id, outcome.optionId))
          )
        end
      end
      return cancelled
    end)
  end,
  hold = function()
    listen(function()
      return cancelled
    end)
  end,
  stderr = function(_, step)
    io.stderr:write(step.stderr, "\n")
  end,
  exit = function(_, step)
    os.exit(step.exit)
  end,
  fail = function(_, step)
    return step.fail
  end,
}

local function prompt(params)
  cancelled = false
  local text = ""
  for _, block in ipairs(params.prompt) do
    text = text .. (block.text or "")
    if block.uri then
      update(params.sessionId, chunk("agent_message_chunk", "got " .. block.uri .. "\n"))
    end
  end
  local ok, script = pcall(vim.json.decode, text)
  if not ok or type(script) ~= "table" then
    update(params.sessionId, chunk("agent_message_chunk", "You said: " .. text))
    return { stopReason = "end_turn" }
  end
  for _, step in ipairs(script) do
    for name, run in pairs(steps) do
      local problem = step[name] ~= nil and run(params.sessionId, step)
      if problem then
        return nil, problem
      end
    end
    if cancelled then
      return { stopReason = "cancelled" }
    end
  end
  return { stopReason = "end_turn" }
end

local modes = {
  currentModeId = "ask",
  availableModes = { { id = "ask", name = "Ask" }, { id = "code", name = "Code" } },
}
local function models(current)
  return {
    {
      id = "model",
      name = "Model",
      category = "model",
      type = "select",
      currentValue = current or "small",
      options = { { value = "small", name = "Small" }, { value = "large", name = "Large" } },
    },
  }
end

---@type table<string, fun(params: table): table?, string?>
local methods = {
  initialize = function()
    return {
      protocolVersion = 1,
      agentCapabilities = {
        loadSession = true,
        sessionCapabilities = { list = vim.empty_dict(), close = vim.empty_dict() },
      },
    }
  end,
  ["session/new"] = function()
    opened = opened + 1
    return { sessionId = "s-" .. opened, modes = modes, configOptions = models() }
  end,
  ["session/list"] = function()
    local list = {}
    for i, session in ipairs(stored) do
      list[i] = { sessionId = session.sessionId, cwd = session.cwd, title = session.title }
    end
    return { sessions = list }
  end,
  ["session/load"] = function(params)
    for _, session in ipairs(stored) do
      if session.sessionId == params.sessionId then
        update(params.sessionId, chunk("user_message_chunk", "the old prompt"))
        local piece = ("An old line of *markdown*, number %06d.\n"):rep(20)
        local sent = 0
        while sent < session.history do
          local text = piece:gsub("%%06d", ("%06d"):format(sent / 10))
          update(params.sessionId, chunk("agent_message_chunk", text))
          sent = sent + #text
        end
        update(params.sessionId, chunk("agent_message_chunk", "The end of the history."))
        return { modes = modes, configOptions = models() }
      end
    end
    return nil, "no such session"
  end,
  ["session/close"] = function(params)
    io.stderr:write("closed ", params.sessionId, "\n")
    return vim.empty_dict()
  end,
  ["session/set_mode"] = function(params)
    update(
      params.sessionId,
      { sessionUpdate = "current_mode_update", currentModeId = params.modeId }
    )
    return vim.empty_dict()
  end,
  ["session/set_config_option"] = function(params)
    return { configOptions = models(params.value) }
  end,
  ["session/prompt"] = prompt,
}

function handle(message)
  if message.method == "session/cancel" then
    cancelled = true
  elseif message.id then
    local method = methods[message.method]
    if not method then
      return send({ id = message.id, error = { code = -32601, message = "no such method" } })
    end
    local result, problem = method(message.params or {})
    send({
      id = message.id,
      result = result,
      error = problem and { code = -32603, message = problem } or nil,
    })
  end
end

listen(function()
  return false
end)
