---The words of a command line of :Hermes: what is offered for them, and which are options.
local M = {}

local function hermes()
  return require("hermes")
end

---@return string[] names of the connected agents
function M.agents()
  return vim.tbl_map(function(agent)
    return agent.name
  end, hermes().connections())
end

---Keeps the words of agents that completion may offer: none that hides something, cannot be typed
---as one word or would mean something else.
---@param words string[]
---@return string[]
function M.offered(words)
  local line = require("hermes.core.text").line
  return vim.tbl_filter(function(word)
    return word ~= "" and not word:find("[%s\\]") and not word:find("^%a+=") and line(word) == word
  end, words)
end

---@param agent? string
---@return string[] words that name sessions
function M.sessions(agent)
  local words = {}
  for word, session in pairs(require("hermes.session.words").all()) do
    if not agent or session.agent == agent then
      words[#words + 1] = word
    end
  end
  return M.offered(words)
end

---@param before string[]
---@return string[]
function M.first_session(_, before)
  return #before == 0 and M.sessions() or {}
end

---Adds the session that a word names to what else is known.
---@param word? string nil: it is not named
---@param which? hermes.Which what else is known
---@return hermes.Which
function M.which(word, which)
  which = which or {}
  which.id, which.agent = require("hermes.session.words").find(word)
  return which
end

---The words with the id of the session in session=…
---@param words string[]
---@return string[]
function M.with_ids(words)
  return vim.tbl_map(function(word)
    local session = word:match("^session=(.+)$")
    return session and "session=" .. require("hermes.session.words").find(session) or word
  end, words)
end

---Takes {key}={value} out of the words.
---@param words string[]
---@param key string
---@return string? value
function M.take(words, key)
  for i, word in ipairs(words) do
    local value = word:match("^" .. key .. "=(.*)$")
    if value then
      table.remove(words, i)
      return value
    end
  end
end

---@param key string
---@param values string[]
---@return string[]
function M.options(key, values)
  return vim.tbl_map(function(value)
    return key .. "=" .. value
  end, values)
end

---@param before string[]
---@param key string
---@return boolean
function M.has_option(before, key)
  return vim.iter(before):any(function(word)
    return vim.startswith(word, key .. "=")
  end)
end

---Completes session=… and then the words of a session.
---@param before string[]
---@param complete fun(words: string[], which: hermes.Which): string[]
---@return string[]
function M.with_session(before, complete)
  local words = vim.list_slice(before)
  local which = M.which(M.take(words, "session"))
  local list = M.offered(complete(words, which))
  return #before == 0 and vim.list_extend(list, M.options("session", M.sessions())) or list
end

---The agents that connect() knows. The host's program is asked for the presets.
---@return string[]
function M.known_agents()
  return require("hermes.core.known_agents").names()
end

return M
