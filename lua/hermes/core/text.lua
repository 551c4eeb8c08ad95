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
  { 0xFE00, 0xFE0F },
  { 0xFEFF, 0xFEFF },
  { 0xFFA0, 0xFFA0 },
  { 0xFFF0, 0xFFFB },
  { 0x1BCA0, 0x1BCA3 },
  { 0x1D173, 0x1D17A },
  { 0xE0000, 0xE0FFF },
}

--- Puts the lines of a text on one, without the spaces around their breaks.
---@param text string
---@param with string what is between them
---@return string
function M.joined(text, with)
  -- "%s*\n%s*" would begin anew at each space of a long run.
  return (
    text:gsub("%s+", function(space)
      return space:find("\n", 1, true) and with or nil
    end)
  )
end

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

local selector = "\239\184\143" -- U+FE0F, which makes a picture of the symbol before it

--- Whether a text ends in a symbol that has a picture. Behind anything else a selector hides.
---@param s string
---@return boolean
local function ends_in_symbol(s)
  local last = s:sub(-4):match("[\194\226\227\240][\128-\191]+$")
  if not last or escapes[last] then
    return false
  end
  local code = decode(last) or 0
  return code == 0xA9
    or code == 0xAE
    or (code >= 0x203C and code <= 0x3299)
    or (code >= 0x1F000 and code <= 0x1FAFF)
end

---@param s string
---@return string
local function escaped(s)
  return (s:gsub("[%z\1-\31\127-\255][\128-\191]*", escapes))
end

--- Makes one line that is safe to show. Control, bidirectional and invisible
--- characters and broken UTF-8 become escapes such as `<1b>` or `<U+202E>`. A
--- line break becomes `<0a>`. The line is cut at `max` bytes.
---@param s any
---@param max? integer bytes, by default `max_line`
---@return string
function M.line(s, max)
  s = cut(tostring(s), max or M.max_line)
  if not s:find(selector, 1, true) then
    return escaped(s)
  end
  local parts, from = {}, 1
  while true do
    local first, last = s:find(selector, from, true)
    local before = s:sub(from, (first or 0) - 1)
    parts[#parts + 1] = escaped(before)
    if not first then
      return table.concat(parts)
    end
    parts[#parts + 1] = ends_in_symbol(before) and selector or "<U+FE0F>"
    from = last + 1
  end
end

--- Splits a text into lines that are safe to show. Lines beyond `max` are
--- replaced with one line that says how many are missing.
---@param s any
---@param max? integer lines
---@return string[]
function M.lines(s, max)
  s = tostring(s)
  local shown, at = {}, 1
  while #shown < (max or math.huge) and (at <= #s or at == 1) do
    local stop = s:find("\n", at, true) or #s + 1
    shown[#shown + 1] = M.line((s:sub(at, stop - 1):gsub("\r$", "", stop <= #s and 1 or 0)))
    at = stop + 1
  end
  if at <= #s or (max or 1) < 1 then
    local _, breaks = s:sub(at):gsub("\n", "")
    local missing = breaks + (s:byte(-1) == 10 and 0 or 1)
    shown[#shown + 1] = ("… %d more lines"):format(missing)
  end
  return shown
end

--- The most cells that a line takes. strdisplaywidth() would also count what the options of the
--- current window put into its lines.
---@param line string
---@return integer
local function width(line)
  local _, tabs = line:gsub("\t", "")
  return vim.api.nvim_strwidth(line) + 7 * tabs
end

--- The part of a line that fits into a row. "…" stands for the rest.
---@param line string safe to show
---@param cells integer at least 1
---@return string
function M.row(line, cells)
  if width(line) <= cells then
    return line
  end
  local short = vim.fn.strcharpart(line, 0, cells - 1)
  while width(short) > cells - 1 do
    short = vim.fn.strcharpart(short, 0, vim.fn.strchars(short) - 1)
  end
  return short .. "…"
end

--- A path as the user knows it: below the session's folder without that folder, and in full
--- elsewhere.
---@param path any
---@param cwd? string the session's folder
---@return any
function M.short(path, cwd)
  if type(path) ~= "string" or not cwd or #cwd < 2 or (path .. "/"):find("/%.%.?/") then
    return path
  end
  local below = path:sub(1, #cwd + 1) == cwd .. "/" and path:sub(#cwd + 2) or ""
  return below:find("^[^/]") and below or path
end

return M
