---The words that name sessions on a command line: what people call a session, as one word. Ids can
---be typed, too.
local M = {}

local max_bytes = 32

---Ids have digits, and a name without them can hardly be the id of a session that has ended.
---@param session hermes.SessionInfo
---@return string
local function word_of(session)
  if session.name == require("hermes.core.text").line(session.sessionId, 60) then
    return session.sessionId
  end
  local name = vim.fn.tolower((session.name:gsub("…", "")))
  local word
  for part in name:gmatch("[%a\128-\255]+") do
    local longer = word and word .. "-" .. part or part
    if #longer > max_bytes then
      break
    end
    word = longer
  end
  return word or session.sessionId
end

---A word of several sessions names none of them, and an agent cannot take the id of another's
---session: such a session is named by its own id.
---@return table<string, hermes.SessionInfo> sessions by the word that names each
function M.all()
  local sessions = require("hermes.session.overview").sessions()
  local times, by_word = {}, {}
  for _, session in ipairs(sessions) do
    local word = word_of(session)
    times[word] = (times[word] or 0) + 1
    times[session.sessionId] = math.huge
  end
  for _, session in ipairs(sessions) do
    local word = word_of(session)
    by_word[times[word] == 1 and word or session.sessionId] = session
  end
  return by_word
end

---The session that a word names. A word that names none is an id.
---@param word? string
---@return string? session_id
---@return string? agent
function M.find(word)
  local session = word and M.all()[word]
  if session and session.sessionId ~= word then
    return session.sessionId, session.agent
  end
  return word
end

return M
