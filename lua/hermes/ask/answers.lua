---Requests of agents. A handler of setup or on_request answers them, otherwise
---a listener that answers later, otherwise the default. The first answer wins.
local M = {}

---@class hermes.Answer
---@field respond fun(value?: any): boolean answers; false when it is too late
---@field reject fun(message?: string, code?: integer): boolean answers with an error
---@field default fun(): boolean does what happens without a handler

---Facts that only a default can add to its answer.
---@class hermes.AnswerMore
---@field whole? string the whole text of a file, if the agent was shown a part of it or wrote
---another text
---@field seen? boolean the user has answered with everything in sight that decides

---@class hermes.DefaultAnswer: hermes.Answer
---@field respond fun(value?: any, more?: hermes.AnswerMore): boolean

---@class hermes.Ask
---@field requestId string
---@field name string event
---@field method string
---@field agent string
---@field data table
---@field refused? string why the default must not serve it
---@field withdrawn? fun(reason: string) withdraws the default's question
---@field timer? uv.uv_timer_t
---@field defaulted? boolean the default answers it

local asks = {} ---@type table<string, hermes.Ask> those without an answer yet
local handlers = {} ---@type table<string, function> by event or method

---------------------------------------------------------------------------
-- Answering.

---Takes an ask out of the table; nil when it is already answered.
---@param id string
---@return hermes.Ask?
local function close(id)
  local ask = asks[id]
  asks[id] = nil
  if ask and ask.timer then
    ask.timer:stop()
    ask.timer:close()
    ask.timer = nil
  end
  return ask
end

---@param id string
---@param by string
---@param make fun(ask: hermes.Ask): table?, string?
---@return boolean first
local function answer(id, by, make)
  local ask = asks[id]
  if not ask then
    return false
  end
  local payload, err = make(ask)
  if payload then
    local ok, why = pcall(vim.json.encode, payload)
    payload, err = ok and payload or nil, why
  end
  if not payload then
    require("hermes.core.log").notify(
      vim.log.levels.ERROR,
      ("the answer to %s cannot be sent: %s"):format(ask.name, tostring(err))
    )
    return false
  end
  close(id)
  payload.by = by
  require("hermes.core.rpc").send("respond", id, payload)
  if ask.withdrawn then -- a question of the default that is still on the screen
    require("hermes.core.log").guard("closing " .. ask.name, ask.withdrawn, "it was answered")
  end
  return true
end

---Says what is wrong with the answer to a permission request.
---@param ask hermes.Ask
---@param result any
---@return string? problem
local function unknown_option(ask, result)
  local outcome = ask.name == "PermissionRequest" and type(result) == "table" and result.outcome
  local id = type(outcome) == "table" and outcome.outcome == "selected" and outcome.optionId
  local options = ask.data.options
  if type(id) ~= "string" or type(options) ~= "table" then
    return nil -- the host checks the rest
  end
  for _, option in ipairs(options) do
    if option.optionId == id then
      return nil
    end
  end
  return ("there is no option %q"):format(id)
end

---@param id string
---@param value any
---@param by? string
---@param more? hermes.AnswerMore
---@return boolean first
function M.respond(id, value, by, more)
  return answer(id, by or "respond", function(ask)
    local result, err = require("hermes.api_gen").answer(ask.method, value)
    err = err or unknown_option(ask, result)
    local payload = vim.tbl_extend("error", { result = result }, more or {})
    return not err and payload or nil, err
  end)
end

---@param id string
---@param message? string
---@param code? integer
---@param by? string
---@return boolean first
function M.reject(id, message, code, by)
  local check = require("hermes.core.arguments")
  check.need(message == nil and "" or message, "string", "reject", "the message", 3)
  check.need(code == nil and 0 or code, "integer", "reject", "the code", 3)
  return answer(id, by or "respond", function()
    return { error = { code = code or -32603, message = message or "rejected by the user" } }
  end)
end

---@param ask hermes.Ask
---@param by string
---@return hermes.Answer
local function closures(ask, by)
  local id = ask.requestId
  return {
    respond = function(value, more)
      return M.respond(id, value, by, by == "default" and more or nil)
    end,
    reject = function(message, code)
      return M.reject(id, message, code, by)
    end,
    default = function()
      if not asks[id] then
        return false
      end
      M.run_default(ask)
      return true
    end,
  }
end

---Leaves the answer to the host.
---@param ask hermes.Ask
local function leave(ask)
  answer(ask.requestId, "default", function()
    return { default = true }
  end)
end

---@param ask hermes.Ask
function M.run_default(ask)
  ask.defaulted = true
  local default = require("hermes.ask.defaults")[ask.method]
  if not default then
    return leave(ask)
  end
  local ok, err = pcall(default, ask, closures(ask, "default"), function()
    leave(ask)
  end)
  if not ok then
    require("hermes.core.log").notify(
      vim.log.levels.ERROR,
      ("the default of %s failed: %s"):format(ask.name, tostring(err))
    )
    M.reject(ask.requestId, "the editor failed: " .. tostring(err), nil, "default")
  end
end

---A handler answers with its return value, or with its second argument, now or
---later.
---@return boolean took whether the handler answers from now on
local function run_handler(ask, handler)
  local ok, value = pcall(handler, ask.data, closures(ask, "handler"))
  if not ok then
    require("hermes.core.log").notify(
      vim.log.levels.ERROR,
      ("the handler of %s failed: %s"):format(ask.name, tostring(value))
    )
    return false
  end
  -- A handler whose answer cannot be sent has not answered.
  return value == nil or M.respond(ask.requestId, value, "handler")
end

local function find_handler(ask)
  local configured = require("hermes.core.config").get().handlers
  for _, key in ipairs({ ask.name, ask.method }) do
    if handlers[key] or configured[key] then
      return handlers[key] or configured[key]
    end
  end
  for key, handler in pairs(configured) do
    if require("hermes.core.event_names").canonical(key) == ask.name then
      return handler
    end
  end
end

---Whether setup() leaves the default on.
---@param ask hermes.Ask
---@return boolean
local function has_default(ask)
  for name, on in pairs(require("hermes.core.config").get().defaults) do
    if not on and require("hermes.core.event_names").canonical(name) == ask.name then
      return false
    end
  end
  return true
end

---@param ask hermes.Ask
local function limit(ask)
  local ms = require("hermes.core.config").get().timeouts.answer
  if ms > 0 then
    ask.timer = vim.uv.new_timer()
    ask.timer:start(ms, 0, function()
      vim.schedule(function()
        if not asks[ask.requestId] then
          return
        elseif has_default(ask) then
          M.run_default(ask)
        else
          M.reject(ask.requestId, "nobody has answered in time", nil, "default")
        end
      end)
    end)
  end
end

---A write whose text is too large for Neovim. The host does it unless something
---here wants to see the text.
---@param ask hermes.Ask
---@param wanted boolean whether something here answers such requests
local function pass_large_write(ask, wanted)
  if wanted or require("hermes.doc.buffer").find(ask.data.path) then
    M.reject(ask.requestId, "the text is too large for the editor", nil, "default")
  else
    leave(ask)
  end
end

---Handles a request from the host.
---@param ask hermes.Ask
function M.receive(ask)
  local events = require("hermes.core.events")
  asks[ask.requestId] = ask
  local claimed = require("hermes.core.user_autocmds").has_responder(ask.name)
  local handler = find_handler(ask)
  if ask.data.truncated and ask.method == "fs/write_text_file" then
    return pass_large_write(ask, claimed or handler ~= nil)
  end
  for key, fn in pairs(closures(ask, "listener")) do
    ask.data[key] = fn
  end
  events.emit(ask.name, ask.data)
  if not asks[ask.requestId] then
    return
  end
  if handler and run_handler(ask, handler) then
    return limit(ask)
  end
  if (claimed and not handler) or not has_default(ask) then
    return limit(ask)
  end
  -- Outside any autocommand, so that the default can fire others.
  vim.schedule(function()
    if asks[ask.requestId] then
      M.run_default(ask)
    end
  end)
end

---Drops a request that no longer needs an answer.
---@param id string
---@param reason string
function M.withdraw(id, reason)
  local ask = close(id)
  if ask and ask.withdrawn then
    require("hermes.core.log").guard("withdrawing " .. ask.name, ask.withdrawn, reason)
  end
end

---Drops all requests, because the host is gone.
---@param reason string
function M.drop_all(reason)
  for id in pairs(vim.tbl_extend("force", {}, asks)) do
    M.withdraw(id, reason)
  end
end

---@param key string event or method
---@param fn? fun(data: table, answer: hermes.Answer): any nil removes the handler
function M.on_request(key, fn)
  handlers[require("hermes.core.event_names").canonical(key) or key] = fn
end

---Lets the default answer a request.
---@param id string
---@return boolean first
function M.default(id)
  return asks[id] ~= nil and closures(asks[id], "default").default()
end

---@param ask hermes.Ask
---@return string? what it is about, in the words of the agent
local function title_of(ask)
  local data = ask.data
  local call = type(data.toolCall) == "table" and data.toolCall or {}
  local session = require("hermes.session.state").session(data.sessionId or "", ask.agent)
  local known = session and session.toolCalls[call.toolCallId] or {}
  local title = call.title or known.title or data.message or data.path or data.command
  return type(title) == "string" and title or nil
end

---@class hermes.PendingRequest
---@field requestId string
---@field name string event
---@field method string
---@field agent string
---@field sessionId? string
---@field title? string what it is about, in the words of the agent
---@field by_default boolean whether the default answers it, which may be to ask the user; otherwise
---a handler or a listener does

---@return hermes.PendingRequest[] the oldest first
function M.pending()
  local list = {}
  for _, ask in pairs(asks) do
    list[#list + 1] = {
      requestId = ask.requestId,
      name = ask.name,
      method = ask.method,
      agent = ask.agent,
      sessionId = ask.data.sessionId,
      title = title_of(ask),
      by_default = ask.defaulted or false,
    }
  end
  local function number(request)
    return tonumber(request.requestId:match("%d+$")) or 0
  end
  table.sort(list, function(a, b)
    return number(a) < number(b)
  end)
  return list
end

require("hermes.session.state").pending = M.pending

---@param request_id string of a question for permission that waits
---@return string? option that refuses it this time
function M.refusal(request_id)
  local ask = asks[request_id]
  for _, option in ipairs(ask and ask.data.options or {}) do
    if option.kind == "reject_once" then
      return option.optionId
    end
  end
end

return M
