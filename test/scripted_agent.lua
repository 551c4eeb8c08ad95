-- An agent for specs: nvim -l test/scripted_agent.lua. $HERMES_TEST_AGENT is a JSON object:
--   ids      ids of new sessions, in order; further ones are s1, s2, …
--   stored   sessions that it lists, as objects of the protocol, each maybe with a "history" of as
--            many bytes; without it every session can be loaded
--   page     how many of them are on a page
--   lacks    names of the capabilities that it does not announce
--   takes    names of what prompts may hold besides text and links
--   title    its own
--   login    authMethods
--   locked   whether new sessions need a login
--   modes, options   of its sessions
--   wire     a file that gets every line that it reads
-- The text of a prompt is a JSON list of steps, one of the short forms below, or else repeated. A
-- step is one of
--   { "update": {…}, "times": 1 } sends session/updates, tool calls with the number in their id
--   { "say": "…", "times": 1 }   sends pieces of text
--   { "ask": {…}, "times": 1 }   asks for permission and waits for each answer
--   { "asks": […], "times": 1 }  asks all of this at once, as often, and waits for the cancel;
--                                with a "mode" it is an elicitation
--   { "hold": true }             waits until the turn is cancelled
--   { "write": path, "content": "…" }  writes a file through the client
--   { "edit": path, "content": "…" }   writes a file on the disk, in a tool call; null removes it
--   { "add": "…", "to": path, "times": 1, "every": ms }  reads a file and writes it with one more
--                                line, numbered, before its last one; again if the client refuses
--   { "sh": "…" }                runs a command of the shell
--   { "stderr": "…" }, { "exit": 3 }, { "fail": "…" }
-- It writes every request that it gets to its standard error.

---@type table<string, fun(rest: string): table> short forms: a word, and what follows it
local short = {
  hold = function()
    return { hold = true }
  end,
  ask = function(rest)
    return { ask = { toolCall = { toolCallId = "t", title = rest, kind = "edit" } } }
  end,
  title = function(rest)
    return { update = { sessionUpdate = "session_info_update", title = rest } }
  end,
  noise = function(rest)
    return { stderr = rest }
  end,
}

local config = vim.json.decode(vim.env.HERMES_TEST_AGENT or "{}")
local opened, asked = 0, 0
local cancelled = {} ---@type table<string, boolean> by session
local waiting = {} ---@type table<thread, fun(message: table): any> turns, each for some message

local function send(message)
  message.jsonrpc = "2.0"
  io.stdout:write(vim.json.encode(message), "\n")
  io.stdout:flush()
end

local function update(session, what)
  send({ method = "session/update", params = { sessionId = session, update = what } })
end

local function say(session, text)
  local content = { type = "text", text = text }
  update(session, { sessionUpdate = "agent_message_chunk", content = content })
end

local options = {
  { optionId = "yes", name = "Yes", kind = "allow_once" },
  { optionId = "no", name = "No", kind = "reject_once" },
}

--- Asks the user.
---@return string id
local function ask(session, params)
  asked = asked + 1
  local id = "ask-" .. asked
  local method = params.mode and "elicitation/create" or "session/request_permission"
  local more = { sessionId = session }
  if not params.mode then
    more.options = params.options or options
  elseif params.mode == "url" then
    more.elicitationId = id
  end
  send({ id = id, method = method, params = vim.tbl_extend("force", params, more) })
  return id
end

--- Waits for a message, while other turns go on.
---@param enough fun(message: table): any
---@return table
local function wait(enough)
  return coroutine.yield(enough)
end

---@param co thread
local function go_on(co, ...)
  local ok, enough = coroutine.resume(co, ...)
  assert(ok, enough)
  waiting[co] = coroutine.status(co) == "suspended" and enough or nil
end

---@param session string
---@param method string
---@param params table
---@return table answer
local function call(session, method, params)
  asked = asked + 1
  local id = "call-" .. asked
  params.sessionId = session
  send({ id = id, method = method, params = params })
  return wait(function(message)
    return message.id == id and not message.method
  end)
end

---@type table<string, fun(session: string, step: table): string?>
local steps = {
  write = function(session, step)
    local params = { path = step.write, content = step.content }
    local answer = call(session, "fs/write_text_file", params)
    say(session, answer.error and "refused: " .. answer.error.message or "written")
  end,
  edit = function(session, step)
    asked = asked + 1
    local call_id = "edit-" .. asked
    update(session, {
      sessionUpdate = "tool_call",
      toolCallId = call_id,
      title = "Edit",
      kind = step.content == vim.NIL and "delete" or "edit",
      status = "in_progress",
      locations = { { path = step.edit } },
    })
    vim.uv.sleep(step.pause or 0)
    if step.content == vim.NIL then
      os.remove(step.edit)
    else
      local file = assert(io.open(step.edit, "wb"))
      file:write(step.content)
      file:close()
    end
    update(session, {
      sessionUpdate = "tool_call_update",
      toolCallId = call_id,
      status = "completed",
    })
  end,
  add = function(session, step)
    local refused = 0
    for i = 1, step.times or 1 do
      repeat
        local read = call(session, "fs/read_text_file", { path = step.to })
        local lines = vim.split(read.result.content, "\n")
        table.insert(lines, #lines - 1, ("%s %d"):format(step.add, i))
        local content = table.concat(lines, "\n")
        local answer = call(session, "fs/write_text_file", { path = step.to, content = content })
        refused = refused + (answer.error and 1 or 0)
      until not answer.error or refused > 1000
      vim.uv.sleep(step.every or 0)
    end
    say(session, ("added, refused %d times"):format(refused))
  end,
  update = function(session, step)
    for i = 1, step.times or 1 do
      local id = step.update.toolCallId
      local numbered = step.times and id and { toolCallId = id .. i } or {}
      update(session, vim.tbl_extend("force", step.update, numbered))
    end
  end,
  say = function(session, step)
    for _ = 1, step.times or 1 do
      say(session, step.say)
    end
  end,
  ask = function(session, step)
    for _ = 1, step.times or 1 do
      local id = ask(session, step.ask)
      local answer = wait(function(message)
        return message.id == id and not message.method
      end)
      local outcome = (answer.result or {}).outcome or {}
      say(
        session,
        ("answer %d: %s\n"):format(asked, outcome.optionId or outcome.outcome or "error")
      )
    end
  end,
  asks = function(session, step)
    local mine = {}
    for _ = 1, step.times or 1 do
      for _, question in ipairs(step.asks) do
        mine[ask(session, question)] = true
      end
    end
    wait(function(message)
      local result = mine[message.id] and not message.method and message.result
      local chosen = result and (result.action or result.outcome.outcome)
      if chosen and chosen ~= "cancel" and chosen ~= "cancelled" then
        say(session, ("%s: %s\n"):format(message.id, vim.json.encode(result)))
      end
      return cancelled[session]
    end)
  end,
  hold = function(session)
    wait(function()
      return cancelled[session]
    end)
  end,
  sh = function(session, step)
    local out = vim.system({ "sh", "-c", step.sh }, { text = true }):wait()
    say(session, ("ended %d: %s%s"):format(out.code, out.stdout, out.stderr))
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

---@param text string of a prompt
---@return table[]? steps
local function script_of(text)
  local ok, script = pcall(vim.json.decode, text)
  if ok and type(script) == "table" then
    return script
  end
  local word, rest = text:match("^(%a+) ?(.*)$")
  return short[word] and { short[word](rest) }
end

---@return table? result
---@return string? problem
local function prompt(params)
  local session, text = params.sessionId, ""
  cancelled[session] = false
  for _, block in ipairs(params.prompt) do
    text = text .. (block.text or "")
    if block.uri then
      say(session, "got " .. block.uri .. "\n")
    end
  end
  local script = script_of(text)
  if not script then
    say(session, "You said: " .. text)
  end
  for _, step in ipairs(script or {}) do
    for name, run in pairs(steps) do
      local problem = step[name] ~= nil and run(session, step)
      if problem then
        return nil, problem
      end
    end
    if cancelled[session] then
      return { stopReason = "cancelled" }
    end
  end
  return { stopReason = "end_turn" }
end

---@param id? string
local function opening(id)
  local result = vim.empty_dict() -- {} would become a list
  result.sessionId, result.modes, result.configOptions = id, config.modes, config.options
  return result
end

---@param name string
---@return boolean
local function has(name)
  return not vim.tbl_contains(config.lacks or {}, name)
end

--- Replays what was said in a stored session.
local function load(params)
  local id = params.sessionId
  for _, session in ipairs(config.stored or { { sessionId = id } }) do
    if session.sessionId == id then
      local sent, history = 0, session.history or 0
      if history > 0 then
        local content = { type = "text", text = "the old prompt" }
        update(id, { sessionUpdate = "user_message_chunk", content = content })
      end
      local piece = ("An old line of *markdown*, number %06d.\n"):rep(20)
      while sent < history do
        local text = piece:gsub("%%06d", ("%06d"):format(sent / 10))
        say(id, text)
        sent = sent + #text
      end
      if history > 0 then
        say(id, "The end of the history.")
      end
      return opening()
    end
  end
  return nil, "no such session"
end

---@type table<string, fun(params: table): table?, string?, integer?>
local methods = {
  initialize = function()
    local session, prompts = vim.empty_dict(), vim.empty_dict()
    for _, name in ipairs(config.takes or {}) do
      prompts[name] = true
    end
    for _, name in ipairs(vim.tbl_filter(has, { "list", "resume", "fork", "close", "delete" })) do
      session[name] = vim.empty_dict()
    end
    return {
      protocolVersion = 1,
      agentInfo = { name = "spec", title = config.title, version = "1.2.3" },
      agentCapabilities = {
        loadSession = has("load"),
        sessionCapabilities = session,
        promptCapabilities = prompts,
        auth = { logout = vim.empty_dict() },
      },
      authMethods = config.login,
    }
  end,
  authenticate = function()
    config.locked = nil
    return vim.empty_dict()
  end,
  ["session/new"] = function()
    if config.locked then
      return nil, "log in first", -32000
    end
    opened = opened + 1
    return opening((config.ids or {})[opened] or ("s" .. opened))
  end,
  ["session/fork"] = function(params)
    return opening(params.sessionId .. "-fork")
  end,
  ["session/list"] = function(params)
    local stored, page = config.stored or {}, config.page or 100
    local first = tonumber(params.cursor) or 1
    local result = { sessions = vim.list_slice(stored, first, first + page - 1) }
    if first + page <= #stored then
      result.nextCursor = tostring(first + page)
    end
    return result
  end,
  ["session/load"] = load,
  ["session/resume"] = load,
  ["session/set_mode"] = function(params)
    local mode = { sessionUpdate = "current_mode_update", currentModeId = params.modeId }
    update(params.sessionId, mode)
    return vim.empty_dict()
  end,
  ["session/set_config_option"] = function(params)
    for _, option in ipairs(config.options) do
      if option.id == params.configId then
        option.currentValue = params.value
      end
    end
    return { configOptions = config.options }
  end,
  ["session/prompt"] = prompt,
}

local function handle(message)
  local method, params = methods[message.method], message.params or {}
  io.stderr:write(message.method, " ", vim.json.encode(params), "\n")
  if message.method == "session/cancel" then
    cancelled[params.sessionId] = true
  elseif message.id then
    go_on(coroutine.create(function()
      local result, problem, code = (method or vim.empty_dict)(params)
      local err = problem and { code = code or -32603, message = problem } or nil
      send({ id = message.id, result = result, error = err })
    end))
  end
end

local wire = config.wire and assert(io.open(config.wire, "ab"))
for line in io.stdin:lines() do
  if wire then
    wire:write(line, "\n")
    wire:flush()
  end
  local message = vim.json.decode(line)
  if message.method then
    handle(message)
  end
  for co, enough in pairs(vim.tbl_extend("force", {}, waiting)) do
    if enough(message) then
      go_on(co, message)
    end
  end
end
