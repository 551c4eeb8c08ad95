--- Breaks streamed text into lines that are safe to show and not too long.
local M = {}

local hermes = require("hermes")

--- Longer lines are broken, in bytes. They would slow down every redraw.
M.max_line = 2000

--- Cuts a text at `max` bytes, not inside a character.
---@param text string
---@param max integer
---@return string head
---@return string rest
function M.cut(text, max)
  local at = math.min(#text, max)
  while at > 0 and at < #text and text:byte(at + 1) >= 0x80 and text:byte(at + 1) < 0xC0 do
    at = at - 1
  end
  return text:sub(1, at), text:sub(at + 1)
end

--- The parts of a text, none longer than a line may be, and safe to show.
---@param text string
---@param room integer bytes for the first line
---@return string[]
function M.lines(text, room)
  -- Most text is plain ASCII, and looking at each line of it takes long.
  local plain = not text:find("[%z\1-\8\11-\31\127-\255]")
  local lines = {}
  for _, line in
    ipairs(vim.split(plain and text or text:gsub("\r\n", "\n"), "\n", { plain = true }))
  do
    repeat
      local head
      head, line = M.cut(line, room)
      lines[#lines + 1] = plain and head or hermes.text.line(head, M.max_line)
      room = M.max_line
    until line == ""
  end
  return lines
end

return M
