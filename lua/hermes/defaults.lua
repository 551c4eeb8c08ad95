---The defaults answer requests of agents that nothing else answers. A default
---calls `answer`, or leaves the request to the host.
---@alias hermes.Default fun(ask: hermes.Ask, answer: hermes.Answer, leave: fun())

---@type table<string, hermes.Default>
local M = {}

M["session/request_permission"] = function(ask, answer)
  local permission = require("hermes.permission")
  ask.withdrawn = function()
    permission.withdraw(ask.requestId)
  end
  permission.ask(ask.data, answer.respond)
end

M["elicitation/create"] = function(ask, answer)
  local elicitation = require("hermes.elicitation")
  ask.withdrawn = function()
    elicitation.withdraw(ask.requestId)
  end
  elicitation.ask(ask.data, answer.respond)
end

M["fs/read_text_file"] = function(ask, answer, leave)
  local data = ask.data
  local text = not ask.refused and require("hermes.buffer").read(data.path, data.line, data.limit)
  if text then
    answer.respond(text)
  else
    leave()
  end
end

M["fs/write_text_file"] = function(ask, answer, leave)
  local buffer, events = require("hermes.buffer"), require("hermes.events")
  local data = ask.data
  local old = not ask.refused and buffer.read(data.path)
  if not old then
    return leave()
  end
  local function emit(name, new)
    events.emit(name, {
      agent = ask.agent,
      sessionId = data.sessionId,
      requestId = ask.requestId,
      path = data.path,
      bufnr = buffer.find(data.path),
      old = old,
      new = new,
    })
  end
  emit("FileWritePre", data.content)
  local save = require("hermes.config").get().buffer.auto_save
  local taken = buffer.write(data.path, data.content, { save = save }, function(problem, text)
    if problem then
      return answer.reject(problem)
    end
    emit("FileWritten", text)
    answer.respond(nil)
  end)
  if not taken then -- a listener of FileWritePre closed the buffer
    leave()
  end
end

return M
