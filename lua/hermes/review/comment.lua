---The texts of comments on hunks, and those that go into a terminal.
local M = {}

---@param hunk hermes.review.Hunk
---@return string
local function lines_of(hunk)
  if hunk.count == 0 then
    return ("above line %d"):format(hunk.first)
  elseif hunk.count == 1 then
    return ("line %d"):format(hunk.first)
  end
  return ("lines %d to %d"):format(hunk.first, hunk.first + hunk.count - 1)
end

local max_quoted = 50 -- lines of a hunk, on each side

---@param hunk hermes.review.Hunk
---@return string diff
local function quoted(hunk)
  local lines = {}
  local function quote(sign, list, count)
    for i = 1, math.min(#list, max_quoted) do
      lines[#lines + 1] = sign .. list[i]
    end
    if count > max_quoted then
      lines[#lines + 1] = ("%s[%d more lines]"):format(sign, count - max_quoted)
    end
  end
  quote("-", hunk.old, hunk.old_count)
  quote("+", hunk.new, hunk.count)
  return table.concat(lines, "\n")
end

---A fence that nothing in a text ends.
---@param text string
---@return string
local function fence(text)
  local longest = 2
  for run in text:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  return ("`"):rep(longest + 1)
end

---The prompt of a comment: the path, the lines, the hunk and the text.
---@param hunk hermes.review.Hunk
---@param text string
---@return string
function M.prompt(hunk, text)
  local diff = quoted(hunk)
  local mark = fence(diff)
  local form = "About your change of %s, %s:\n\n%sdiff\n%s\n%s\n\n%s"
  return form:format(hunk.path, lines_of(hunk), mark, diff, mark, text)
end

---Whether the prompt of a session is in a terminal only, where nothing can be sent to it but keys.
---@param session_id string
---@param agent? string
---@return boolean
function M.is_typed_to(session_id, agent)
  local program = require("hermes.program").of_session(session_id, agent)
  return program ~= nil and program.settings ~= nil
    or not require("hermes.session.state").session(session_id, agent)
end

---Put a comment into the prompt of a program in a terminal. It quotes nothing of the hunk: a
---program that does not know pastes would take each line for a command.
---@param hunk hermes.review.Hunk
---@param text string
---@param session { sessionId: string, agent?: string }
---@param on_done? fun(err: hermes.Error?)
---@return string id
function M.send_in_terminal(hunk, text, session, on_done)
  local path = require("hermes.core.text").line(hunk.path, 500)
  local words = ("About your change of %s, %s: %s"):format(path, lines_of(hunk), text)
  local to = vim.tbl_extend("error", session, { path = hunk.path })
  words = require("hermes.program.options").pasted(words)
  require("hermes.program").paste("review.comment", to, words, on_done)
  return ""
end

return M
