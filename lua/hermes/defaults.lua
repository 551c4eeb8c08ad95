---What happens with a request of an agent when nobody else answers it. A
---default answers by `answer`, or leaves the request to the host.
---@alias hermes.Default fun(data: table, answer: hermes.Answer, leave: fun())

---@type table<string, hermes.Default>
local M = {}

M["session/request_permission"] = function(data, answer)
  require("hermes.permission").ask(data, answer)
end

M["fs/read_text_file"] = function(data, answer, leave)
  local text, err = require("hermes.buffer").read(data.path, data.line, data.limit)
  if text then
    answer.respond(text)
  elseif err then
    answer.reject(err)
  else
    leave()
  end
end

M["fs/write_text_file"] = function(data, answer, leave)
  leave()
end

return M
