---The prompts that wait for the turn before them. All functions but list() fail with the kind
---"not_queued" when the prompt has been sent meanwhile.
---@class hermes.Queue
local M = {}

---@class hermes.QueuedPrompt
---@field promptId string what prompt() returned
---@field content table[] its blocks

---@param prompt_id any
---@param opts any
---@param who string
---@param payload table
---@param after? fun()
---@return string id
local function change(prompt_id, opts, who, payload, after)
  local check = require("hermes.core.arguments")
  payload.prompt = check.need(prompt_id, "name", "queue." .. who, "the id of the prompt", 3)
  opts = check.options(opts, "queue." .. who, 3)
  payload.force = opts.force
  return require("hermes.core.rpc").call("queue", payload, {
    method = "queue." .. who,
    on_done = opts.on_done,
    after = after,
  })
end

---The waiting prompts of a session, the next one first. Copies.
---@param session_id string
---@param opts? hermes.OfAgent
---@return hermes.QueuedPrompt[]
function M.list(session_id, opts)
  local check = require("hermes.core.arguments")
  check.need(session_id, "name", "queue.list", "the id of the session")
  opts = check.options(opts, "queue.list")
  local session = require("hermes.session.state").session(session_id, opts.agent)
  local list = {}
  for _, id in ipairs(session and session.queue or {}) do
    local op = require("hermes.core.rpc").op(id)
    list[#list + 1] = { promptId = id, content = vim.deepcopy(op and op.prompt or {}) }
  end
  return list
end

---Gives a waiting prompt other content.
---@param prompt_id string
---@param content string|table|table[] as for prompt()
---@param opts? hermes.Opts
---@return string id
function M.edit(prompt_id, content, opts)
  local blocks, err = require("hermes.session.params").blocks(content)
  if not blocks then
    error("hermes.queue.edit: " .. err, 2)
  end
  local op = require("hermes.core.rpc").op(prompt_id)
  local params = { sessionId = op and op.session_id or "", prompt = blocks }
  return change(prompt_id, opts, "edit", { change = "edit", params = params }, function()
    if op then
      op.prompt = blocks
    end
  end)
end

---Takes a prompt out of the queue. It ends with the stopReason "cancelled".
---@param prompt_id string
---@param opts? hermes.Opts
---@return string id
function M.remove(prompt_id, opts)
  return change(prompt_id, opts, "remove", { change = "remove" })
end

---Moves a prompt within the queue.
---@param prompt_id string
---@param place integer 1 is the next one
---@param opts? hermes.Opts
---@return string id
function M.move(prompt_id, place, opts)
  require("hermes.core.arguments").need(place, "integer", "queue.move", "the place")
  return change(prompt_id, opts, "move", { change = "move", place = place })
end

---Cancels the running turn and sends this prompt next. The others keep waiting. The result has
---`cancelled`: whether a turn ran.
---@param prompt_id string
---@param opts? hermes.Opts
---@return string id
function M.send_now(prompt_id, opts)
  return change(prompt_id, opts, "send_now", { change = "send" })
end

return M
