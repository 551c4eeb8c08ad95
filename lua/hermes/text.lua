--- Makes text of an agent safe to show: nothing in it can hide, reorder or
--- break the line it is on.

local M = {}

--- The longest line that is shown, in bytes. Longer ones slow down every
--- redraw.
M.max_line = 4096

-- Code points that draw nothing or change the order of the drawn text.
local hidden = {
  { 0x80, 0x9F },
  { 0xAD, 0xAD },
  { 0x34F, 0x34F },
  { 0x61C, 0x61C },
  { 0x115F, 0x1160 },
  { 0x17B4, 0x17B5 },
  { 0x180B, 0x180F },
  { 0x200B, 0x200F },
  { 0x2028, 0x202E },
  { 0x2060, 0x206F },
  { 0x3164, 0x3164 },
  { 0xFEFF, 0xFEFF },
  { 0xFFA0, 0xFFA0 },
  { 0xFFF0, 0xFFFB },
  { 0x1BCA0, 0x1BCA3 },
  { 0x1D173, 0x1D17A },
  { 0xE0000, 0xE0FFF },
}

---@param s string bytes
---@return string
local function as_bytes(s)
  return (s:gsub(".", function(byte)
    return ("<%02x>"):format(byte:byte())
  end))
end

--- Decodes the sequence at the start of s.
---@param s string a lead byte with the continuation bytes after it
---@return integer? code_point nil when it is not UTF-8
---@return integer? length
local function decode(s)
  local lead = s:byte()
  local length = lead >= 0xF0 and 4 or lead >= 0xE0 and 3 or 2
  if lead < 0xC2 or lead > 0xF4 or #s < length then
    return nil
  end
  local code = lead % 2 ^ (7 - length)
  for i = 2, length do
    code = code * 64 + s:byte(i) % 64
  end
  local least = ({ nil, 0x80, 0x800, 0x10000 })[length]
  if code < least or code > 0x10FFFF or (code >= 0xD800 and code <= 0xDFFF) then
    return nil
  end
  return code, length
end

---@param s string one control byte, or a high byte with the continuation bytes after it
---@return string? # nil: show it as it is
local function escape(s)
  if s == "\t" then
    return nil
  elseif s:byte() < 0xC2 then
    return as_bytes(s)
  end
  local code, length = decode(s)
  if not code then
    return as_bytes(s)
  end
  local rest = as_bytes(s:sub(length + 1))
  for _, range in ipairs(hidden) do
    if code >= range[1] and code <= range[2] then
      return ("<U+%04X>%s"):format(code, rest)
    end
  end
  return s:sub(1, length) .. rest
end

--- The escapes of sequences; false: show it as it is. Texts repeat their
--- characters, and decoding each one takes long.
---@return table<string, string|false>
local function new_escapes()
  local count = 0
  return setmetatable({}, {
    __index = function(self, s)
      local escaped = escape(s)
      escaped = escaped ~= s and escaped or false
      if #s <= 4 and count < 10000 then
        self[s], count = escaped, count + 1
      end
      return escaped
    end,
  })
end

local escapes = new_escapes()

--- Cuts s at max bytes, not inside a character, and says so with "…".
---@param s string
---@param max integer
---@return string
local function cut(s, max)
  if #s <= max then
    return s
  end
  while max > 0 and s:byte(max + 1) >= 0x80 and s:byte(max + 1) < 0xC0 do
    max = max - 1
  end
  return s:sub(1, max) .. "…"
end

--- Makes one line that is safe to show. Control, bidirectional and invisible
--- characters and broken UTF-8 become escapes such as `<1b>` or `<U+202E>`. A
--- line break becomes `<0a>`. The line is cut at `max` bytes.
---@param s any
---@param max? integer bytes, by default `max_line`
---@return string
function M.line(s, max)
  s = cut(tostring(s), max or M.max_line)
  return (s:gsub("[%z\1-\31\127-\255][\128-\191]*", escapes))
end

--- Splits a text into lines that are safe to show. Lines beyond `max` are
--- replaced with one line that says how many are missing.
---@param s any
---@param max? integer lines
---@return string[]
function M.lines(s, max)
  local raw = vim.split(tostring(s), "\r?\n")
  if #raw > 1 and raw[#raw] == "" then
    raw[#raw] = nil
  end
  local shown = {}
  for i = 1, math.min(#raw, max or #raw) do
    shown[i] = M.line(raw[i])
  end
  if #raw > #shown then
    shown[#shown + 1] = ("… %d more lines"):format(#raw - #shown)
  end
  return shown
end

return M
