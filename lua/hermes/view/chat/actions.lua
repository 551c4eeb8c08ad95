--- The keys of the chat, and what each does.

local M = {}

---@class hermes.chat.Key
---@field [1] string name
---@field [2] "prompt"|"transcript"|"both" buffer
---@field [3] table<string, string> keys by mode
---@field [4] string what it does

---@type hermes.chat.Key[]
M.all = {
  { "send", "prompt", { n = "<CR>", i = "<C-s>" }, "send the prompt" },
  { "complete", "prompt", { i = "<Tab>" }, "complete an @file or a /command" },
  { "cancel", "both", { n = "<C-c>", i = "<C-c>" }, "stop the turn; prompts that wait come back" },
  { "take_back", "prompt", { n = "gb" }, "take the last prompt that waits back" },
  { "send_now", "prompt", { n = "gs" }, "stop the turn, and send the prompt that waits" },
  { "choose", "transcript", { n = "<CR>" }, "take the choice on this line, or turn a fold" },
  { "question", "both", { n = "ga" }, "go to the question that waits for an answer" },
  { "mode", "both", { n = "gm" }, "choose the mode" },
  { "model", "both", { n = "gM" }, "choose the model" },
  { "option", "both", { n = "go" }, "change an option of the session" },
  { "new", "both", { n = "gn" }, "open another chat with this agent" },
  { "chats", "both", { n = "gC" }, "go to another chat" },
  { "resume", "both", { n = "gl" }, "open a session that the agent has stored" },
  { "login", "both", { n = "gL" }, "log in" },
  { "restart", "both", { n = "gR" }, "start the agent again after it has stopped" },
  { "next", "transcript", { n = "]]" }, "go to the next prompt" },
  { "previous", "transcript", { n = "[[" }, "go to the prompt before" },
  { "write", "transcript", { n = "i" }, "write a prompt" },
  { "hide", "transcript", { n = "q" }, "hide the chat; the session goes on" },
  { "close", "both", { n = "gX" }, "close the chat and its session" },
  { "help", "both", { n = "g?" }, "show these keys" },
}

--- The keys by name and mode.
---@param given table<string, table<string, string|false>|string|false>
---@return table<string, table<string, string|false>>? keys nil when there is no key of a name
---@return string? name
function M.resolve(given)
  local keys = {}
  for _, action in ipairs(M.all) do
    local name, _, modes = unpack(action)
    local own = given[name]
    keys[name] = vim.tbl_extend("force", {}, modes, type(own) == "table" and own or {})
    if type(own) == "string" or own == false then
      for mode in pairs(modes) do
        -- A key that writes text in insert mode is meant for normal mode.
        if own == false or mode == "n" or not modes.n or own:find("^<") then
          keys[name][mode] = own
        end
      end
    end
  end
  for name in pairs(given) do
    if not keys[name] then
      return nil, tostring(name)
    end
  end
  return keys
end

return M
