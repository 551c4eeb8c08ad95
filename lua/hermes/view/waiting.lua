---:Hermes pending and respond: the requests of agents that wait for an answer.
local M = {}

local choose = require("hermes.view.choose")

local function hermes()
  return require("hermes")
end

---The subject of a request, in a few words. If a handler or a listener has to answer it, the words
---begin with its event.
---@param request hermes.PendingRequest
---@return string
function M.what(request)
  local title = request.title and require("hermes.core.text").line(request.title, 80)
  if request.by_default then
    return title or request.name
  end
  return request.name .. (title and ", " .. title or "")
end

---Brings up the question of a request, or lets Hermes answer it if something else should have.
---@param request hermes.PendingRequest
function M.answer(request)
  if request.by_default then
    if not require("hermes.ask.questions").open(request.requestId) then
      choose.say("nothing to do: Hermes is answering it")
    end
    return
  end
  local ways = {
    {
      label = "let Hermes answer it, as if there were no handler",
      run = function()
        return hermes().default(request.requestId)
      end,
    },
    {
      label = "refuse it",
      run = function()
        return hermes().reject(request.requestId)
      end,
    },
  }
  choose.pick(ways, {
    prompt = ("%s of %s waits for a handler or a listener"):format(request.name, request.agent),
    label = function(way)
      return way.label
    end,
  }, function(way)
    if not way.run() then
      choose.say("it is already answered")
    end
  end)
end

---Brings up what waits: a request, the first one of a session, or the first one of all.
---@param request? hermes.PendingRequest
---@param session? hermes.SessionInfo
function M.respond(request, session)
  if not request and session then
    request = vim.iter(hermes().pending()):find(function(one)
      return one.sessionId == session.sessionId and one.agent == session.agent
    end)
  end
  if request then
    return M.answer(request)
  elseif not require("hermes.ask.questions").open() then
    choose.say("no question is waiting for your answer")
  end
end

---Lists the requests; choosing one brings it up.
function M.pending()
  local requests = hermes().pending()
  if #requests == 0 then
    return choose.say("nothing waits for an answer")
  end
  local titles = {}
  for _, session in ipairs(hermes().sessions()) do
    titles[session.agent .. "\0" .. session.sessionId] = session.name
  end
  choose.pick(requests, {
    prompt = "Answer",
    label = function(request)
      local text = require("hermes.core.text")
      local title = titles[request.agent .. "\0" .. (request.sessionId or "")] or request.sessionId
      return ("%s: %s%s%s"):format(
        text.line(request.agent, 40),
        M.what(request),
        title and ("  (%s)"):format(text.line(title, 40)) or "",
        request.by_default and "" or "  [waits for a handler]"
      )
    end,
  }, M.answer)
end

return M
