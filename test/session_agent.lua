-- An agent for specs about sessions and settings: nvim -l test/session_agent.lua.
-- $HERMES_TEST_AGENT is a JSON object:
--   ids      ids of new sessions, in order; further ones are s1, s2, …
--   stored   sessions that it lists, as objects of the protocol
--   page     how many of them are on a page
--   lacks    names of the capabilities that it does not announce
--   login    authMethods
--   modes, options, models   of its sessions
-- It writes every request that it gets to its standard error. A prompt "hold"
-- ends with its cancellation, "ask …" asks for permission, "title …" names the
-- session, and "noise …" goes to its standard error.

local config = vim.json.decode(vim.env.HERMES_TEST_AGENT or "{}")
local opened = 0
local held ---@type integer? id of the prompt that is held

local function send(message)
  message.jsonrpc = "2.0"
  io.stdout:write(vim.json.encode(message), "\n")
  io.stdout:flush()
end

local function answer(id, result)
  send({ id = id, result = result or vim.empty_dict() })
end

local function update(session, what)
  send({ method = "session/update", params = { sessionId = session, update = what } })
end

local session_capabilities = {}
for _, name in ipairs({ "list", "resume", "fork", "close", "delete" }) do
  if not vim.tbl_contains(config.lacks or {}, name) then
    session_capabilities[name] = vim.empty_dict()
  end
end

local options = config.options
local function opening(id)
  return { sessionId = id, modes = config.modes, configOptions = options }
end

local handlers = {
  initialize = function(id)
    answer(id, {
      protocolVersion = 1,
      agentInfo = { name = "spec", title = config.title, version = "1.2.3" },
      agentCapabilities = {
        loadSession = not vim.tbl_contains(config.lacks or {}, "load"),
        sessionCapabilities = next(session_capabilities) and session_capabilities
          or vim.empty_dict(),
        auth = { logout = vim.empty_dict() },
      },
      authMethods = config.login,
    })
  end,
  ["session/new"] = function(id)
    opened = opened + 1
    answer(id, opening((config.ids or {})[opened] or ("s" .. opened)))
  end,
  ["session/fork"] = function(id, params)
    answer(id, opening(params.sessionId .. "-fork"))
  end,
  ["session/list"] = function(id, params)
    local stored, page = config.stored or {}, config.page or 100
    local first = tonumber(params.cursor) or 1
    local result = { sessions = {} }
    for i = first, math.min(#stored, first + page - 1) do
      result.sessions[#result.sessions + 1] = stored[i]
    end
    if first + page <= #stored then
      result.nextCursor = tostring(first + page)
    end
    answer(id, result)
  end,
  ["session/load"] = function(id, params)
    answer(id, opening(params.sessionId))
  end,
  ["session/resume"] = function(id, params)
    answer(id, opening(params.sessionId))
  end,
  ["session/set_mode"] = function(id, params)
    update(
      params.sessionId,
      { sessionUpdate = "current_mode_update", currentModeId = params.modeId }
    )
    answer(id)
  end,
  ["session/set_config_option"] = function(id, params)
    for _, option in ipairs(options) do
      if option.id == params.configId then
        option.currentValue = params.value
      end
    end
    answer(id, { configOptions = options })
  end,
  ["session/prompt"] = function(id, params)
    local text = params.prompt[1].text
    local verb, rest = text:match("^(%a+) ?(.*)$")
    if verb == "hold" then
      held = id
      return
    elseif verb == "ask" then
      held = id
      return send({
        id = "ask",
        method = "session/request_permission",
        params = {
          sessionId = params.sessionId,
          toolCall = { toolCallId = "t", title = rest, kind = "edit" },
          options = {
            { optionId = "yes", name = "Yes", kind = "allow_once" },
            { optionId = "no", name = "No", kind = "reject_once" },
          },
        },
      })
    elseif verb == "title" then
      update(params.sessionId, { sessionUpdate = "session_info_update", title = rest })
    elseif verb == "noise" then
      io.stderr:write(rest, "\n")
    end
    answer(id, { stopReason = "end_turn" })
  end,
  ["session/cancel"] = function()
    if held then
      answer(held, { stopReason = "cancelled" })
      held = nil
    end
  end,
}

for line in io.stdin:lines() do
  local message = vim.json.decode(line)
  if message.method then
    io.stderr:write(message.method, " ", vim.json.encode(message.params or {}), "\n")
    local handle = handlers[message.method]
    if handle then
      handle(message.id, message.params or {})
    elseif message.id then
      answer(message.id)
    end
  elseif held then -- the answer to its question
    answer(held, { stopReason = "end_turn" })
    held = nil
  end
end
