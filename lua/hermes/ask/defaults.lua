---The defaults answer requests of agents that nothing else answers. A default
---calls `answer`, or leaves the request to the host.
---@alias hermes.Default fun(ask: hermes.Ask, answer: hermes.DefaultAnswer, leave: fun())

---@type table<string, hermes.Default>
local M = {}

M["session/request_permission"] = function(ask, answer)
  local permission = require("hermes.ask.permission")
  ask.withdrawn = function()
    permission.withdraw(ask.requestId)
  end
  local in_chat = not require("hermes.ask.questions").unattended()
    and permission.in_sight
    and permission.in_sight(ask.data, answer)
  if not in_chat then
    permission.ask(ask.data, function(option_id, seen)
      answer.respond(option_id, { seen = seen })
    end)
  end
end

M["elicitation/create"] = function(ask, answer)
  local elicitation = require("hermes.ask.elicitation")
  ask.withdrawn = function()
    elicitation.withdraw(ask.requestId)
  end
  elicitation.ask(ask.data, answer.respond)
end

-- If a buffer has more bytes than this, the host does not get the rest of it when an agent reads
-- some lines.
local max_whole = 1024 * 1024

M["fs/read_text_file"] = function(ask, answer, leave)
  local buffer = require("hermes.doc.buffer")
  local data = ask.data
  if ask.refused then
    return leave()
  end
  local text, problem = buffer.read(data.path, data.line, data.limit)
  local buf = text and buffer.find(data.path)
  if problem then
    return answer.reject(problem)
  elseif not buf then
    return leave()
  end
  local part, whole = data.line or data.limit, nil
  if part and vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf)) <= max_whole then
    whole = require("hermes.doc.buffer_text").text(buf)
  end
  if not part then
    require("hermes.doc.merge").saw(buf, ask, true)
  end
  answer.respond(text, { whole = whole })
end

M["fs/write_text_file"] = function(ask, answer, leave)
  local buffer, events, merge =
    require("hermes.doc.buffer"), require("hermes.core.events"), require("hermes.doc.merge")
  local data = ask.data
  if ask.refused then
    return leave()
  end
  local old, reason = buffer.read(data.path)
  local buf = old and buffer.find(data.path)
  if reason then
    return answer.reject(reason)
  elseif buf and require("hermes.doc.buffer_text").is_long(data.content) then
    if vim.bo[buf].modified then
      return answer.reject(data.path .. " has unsaved edits, and the text is too large to merge")
    end
    return leave()
  elseif not buf then
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
  local opts = {
    save = require("hermes.core.config").get().buffer.auto_save,
    author = {
      agent = ask.agent,
      sessionId = data.sessionId,
      requestId = ask.requestId,
      tick = merge.tick(buf, ask),
      rebase = merge.for_write(ask),
    },
  }
  local taken = require("hermes.doc.agent_write").write(
    data.path,
    data.content,
    opts,
    function(problem, text, merged)
      if problem then
        return answer.reject(problem)
      end
      if vim.api.nvim_buf_is_loaded(buf) then
        merge.saw(buf, ask, not merged)
      end
      emit("FileWritten", text)
      answer.respond(nil, { whole = not merged and text ~= data.content and text or nil })
    end
  )
  if not taken then -- a listener of FileWritePre closed the buffer
    leave()
  end
end

return M
