--- Lays JSON out on lines. It reads the text and not its values, so numbers,
--- the order of members and members that occur twice stay as they were sent.

local text = require("hermes.core.text")

local M = {}

--- Where the string ends that begins at a position.
---@param s string
---@param at integer
---@param pause? fun() called now and then
---@return integer
local function string_end(s, at, pause)
  local escapes = 0
  while true do
    local found = s:find('["\\]', at + 1)
    if not found then
      return #s
    elseif s:byte(found) == 34 then
      return found
    end
    at = found + 1
    escapes = escapes + 1
    if pause and escapes % 1000 == 0 then
      pause()
    end
  end
end

--- Passes lines on, each safe to show. May yield, when it runs in a coroutine.
---@param s string JSON, or the beginning of it
---@param emit fun(line: string)
---@param pause? fun() called now and then
function M.layout(s, emit, pause)
  local at, depth, line, tokens = 1, 0, {}, 0
  local function flush()
    emit(text.line(table.concat(line)))
    line = { ("  "):rep(math.min(depth, 60)) }
  end
  while true do
    at = s:find("[^ \t\r\n]", at)
    if not at then
      break
    end
    local char = s:sub(at, at)
    local last = at
    if char == '"' then
      last = string_end(s, at, pause)
      -- A line is cut there anyway.
      line[#line + 1] = s:sub(at, math.min(last, at + text.max_line))
    elseif char == "{" or char == "[" then
      local empty = s:match("^[ \t\r\n]*()[%]}]", at + 1)
      line[#line + 1] = empty and char .. s:sub(empty, empty) or char
      if empty then
        last = empty
      else
        depth = depth + 1
        flush()
      end
    elseif char == "}" or char == "]" then
      depth = math.max(0, depth - 1)
      flush()
      line[#line + 1] = char
    elseif char == "," then
      line[#line + 1] = ","
      flush()
    elseif char == ":" then
      line[#line + 1] = ": "
    else
      last = (s:find('[ \t\r\n,:%[%]{}"]', at) or #s + 1) - 1
      line[#line + 1] = s:sub(at, math.min(last, at + text.max_line))
    end
    at = last + 1
    tokens = tokens + 1
    if pause and tokens % 100 == 0 then
      pause()
    end
  end
  flush()
end

---@param s string
---@return string[]
function M.lines(s)
  local lines = {}
  M.layout(s, function(line)
    lines[#lines + 1] = line
  end)
  return lines
end

return M
