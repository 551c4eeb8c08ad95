--- Lets through what draws text on a terminal, and nothing that acts.
---
--- The output of a program can ask a terminal for answers, set the clipboard and
--- the title, ring, read the mouse, make links. The output of a filter holds
--- only printable text, a few control characters, and whole sequences from the
--- list below, so the terminal that reads it is never inside a sequence of the
--- program's making.

local text = require("hermes.core.text")

local M = {}

--- Sequences longer than this are dropped, in bytes.
local longest = 256

--- Final characters of control sequences that move the cursor, edit or erase.
local plain = "[@A-MPSTXZ`adefrsu]"

--- Private modes that may be set and reset: wrapping, and the other screen.
local modes = { ["?7"] = true, ["?47"] = true, ["?1047"] = true, ["?1049"] = true }

--- Characters behind ESC that move the cursor, or save and restore it.
local single = { ["7"] = true, ["8"] = true, D = true, E = true, M = true }

--- The ends of the strings that begin with ESC and one of these characters. ESC ends all of them,
--- as the beginning of ST or of something else.
local strings = {
  ["]"] = "[\7\24\26\27]",
  P = "[\24\26\27]",
  X = "[\24\26\27]",
  ["^"] = "[\24\26\27]",
  _ = "[\24\26\27]",
  k = "[\24\26\27]",
}

--- Everything that a reset of the terminal is to do.
local reset = "\27(B\27[0m\27[r\27[H\27[2J"

---@class hermes.Escapes
---@field pending string the beginning of a sequence or character
---@field closing? string pattern of what ends the string that is being dropped
---@field overlong? boolean inside a control sequence that is being dropped
local Escapes = {}
Escapes.__index = Escapes

---@return hermes.Escapes
function M.new()
  return setmetatable({ pending = "" }, Escapes)
end

--- A filter for the bytes that follow some bytes. Only their last sequence matters: whatever began
--- before it has ended there.
---@param bytes string
---@return hermes.Escapes
function M.after(bytes)
  local filter = M.new()
  local back = bytes:reverse():find("\27", 1, true)
  local last = back and bytes:sub(-back) or ""
  local closing = strings[last:sub(2, 2)]
  if closing and not last:find(closing, 3) then
    filter.closing = closing
  elseif last:find("^\27%[?[ -?]*$") then -- it goes on
    filter:feed(last)
  end
  return filter
end

--- A whole control sequence, if it only draws.
---@param params string
---@param final string
---@return string
local function control(params, final)
  local sequence = "\27[" .. params .. final
  if final == "m" then
    return params:find("^[%d;:]*$") and sequence or ""
  elseif final == "h" or final == "l" then
    return modes[params] and sequence or ""
  elseif not final:find(plain) or not params:find("^[%d;]*$") or params:find("%d%d%d%d%d") then
    return ""
  elseif final == "J" and params:find("3") then
    return "" -- the lines that scrolled away stay
  end
  return sequence
end

--- Reads what begins with ESC.
---@param s string
---@param at integer of the ESC
---@return string? shown nil when the end has not come yet
---@return integer next
function Escapes:escape(s, at)
  local second = s:sub(at + 1, at + 1)
  if second == "" then
    return nil, at
  elseif second == "[" then
    local _, last, params, between = s:find("^([0-?]*)([ -/]*)", at + 2)
    local final = s:sub(last + 1, last + 1)
    if last - at >= longest then
      self.overlong = true
      return "", last + 1
    elseif final == "" then
      return nil, at
    elseif not final:find("[@-~]") then
      return "", last + 1
    end
    return between == "" and control(params, final) or "", last + 2
  elseif strings[second] then
    self.closing = strings[second]
    return "", at + 2
  elseif second:find("[ -/]") then
    local _, last = s:find("^[ -/]+", at + 1)
    local final = s:sub(last + 1, last + 1)
    if last - at >= longest then
      self.overlong = true
      return "", last + 1
    elseif final == "" then
      return nil, at
    elseif not final:find("[0-~]") then
      return "", last + 1
    end
    local set = s:sub(at, last + 1)
    return (set == "\27(0" or set == "\27(B") and set or "", last + 2
  elseif second == "c" then
    return reset, at + 2
  elseif second:find("[0-~]") then
    return single[second] and "\27" .. second or "", at + 2
  end
  return "", at + 1
end

local shown = { ["\b"] = "\b", ["\t"] = "\t", ["\r"] = "\r", ["\n"] = "\r\n" }
shown["\v"], shown["\f"] = shown["\n"], shown["\n"]

--- Where a character begins that the end of s cuts off, or one behind s.
---@param s string
---@return integer
local function whole(s)
  local at = s:find("[\194-\244][\128-\191]*$")
  if at then
    local lead = s:byte(at)
    local length = lead >= 0xF0 and 4 or lead >= 0xE0 and 3 or 2
    if #s - at + 1 < length then
      return at
    end
  end
  return #s + 1
end

--- Filters the next bytes. How they are cut into pieces makes no difference.
---@param bytes string
---@return string
function Escapes:feed(bytes)
  local s, out, at = self.pending .. bytes, {}, 1
  self.pending = ""
  while at <= #s do
    if self.overlong then
      at = s:find("[^ -?]", at) or #s + 1
      if at <= #s then
        self.overlong = nil
        at = s:find("^[@-~]", at) and at + 1 or at
      end
    elseif self.closing then
      local last = s:find(self.closing, at)
      local ends = last and s:byte(last)
      if not last then
        break
      elseif ends == 27 and last == #s then
        self.pending = "\27"
        break
      end
      self.closing = nil
      at = ends ~= 27 and last + 1 or s:byte(last + 1) == 92 and last + 2 or last
    else
      local stop = s:find("[%z\1-\31\127]", at) or #s + 1
      local run = s:sub(at, stop - 1)
      local cut = stop > #s and whole(run) or #run + 1
      if cut > 1 then
        out[#out + 1] = text.line(run:sub(1, cut - 1), cut - 1)
      end
      self.pending = run:sub(cut)
      local char = s:sub(stop, stop)
      if char == "\27" then
        local sequence, after = self:escape(s, stop)
        if not sequence then
          self.pending = s:sub(stop)
          break
        end
        out[#out + 1], at = sequence, after
      else
        out[#out + 1], at = shown[char], stop + 1
      end
    end
  end
  return table.concat(out)
end

--- Resets the colors and the sets of characters of a program, before a line of our own is written.
M.normal = "\27(B\27[0m"

return M
