---The files that a prompt names with "@". The host finds them. If a loaded buffer holds the file,
---its text is used.
local M = {}

---@class hermes.Mention
---@field name string as the prompt has it, without the "@"
---@field path? string with links resolved; nil when there is no such file
---@field short? string the path below the session's folder, if it is there
---@field outside? boolean it is in none of the session's folders
---@field size integer bytes
---@field error? string why it does not go along
---@field block? table what a prompt takes, with `blocks`

---@class hermes.MentionsOpts: hermes.Opts
---@field blocks? boolean also make the block of each file

---@param mention table of the host
---@param limit integer bytes
local function add_block(mention, limit)
  local buffer = require("hermes.doc.buffer")
  local buf = buffer.at(mention.real) -- its path may lead elsewhere by now
  local text = buf and buffer.text(buf) or mention.text
  mention.text, mention.real = nil, nil
  mention.size = text and #text or mention.size
  mention.block = require("hermes.doc.blocks").of_file(mention.path, text, mention.size, limit)
end

---@param session_id string
---@param text string
---@param opts hermes.MentionsOpts
---@return string id
function M.find(session_id, text, opts)
  local rpc = require("hermes.core.rpc")
  local limit = opts.blocks and require("hermes.core.config").get().context.limit or 0
  local info = { method = "mentions", session_id = session_id, on_done = opts.on_done }
  info.after = function(result)
    for _, mention in ipairs(opts.blocks and result.mentions or {}) do
      if not mention.error then
        add_block(mention, limit)
      end
    end
  end
  return rpc.call("mentions", function()
    info.agent = require("hermes.session.requests").agent_for(opts, session_id) or ""
    return { agent = info.agent, sessionId = session_id, text = text, limit = limit }
  end, info)
end

return M
