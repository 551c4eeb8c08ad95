--- Converts the text of files between their encodings and UTF-8.
---
--- vim.iconv() must not see text with errors. Up to Neovim 0.12 it writes beyond
--- its result where an error meets the end of it, and never ends at an error that
--- begins with a NUL byte. Both end Neovim.

local M = {}

local byte = string.byte

--- Whether a text is UTF-8.
---@param text string
---@return boolean
function M.is_utf8(text)
  local at, size = 1, #text
  while at <= size do
    local a = byte(text, at)
    if a < 0x80 then
      at = at + 1
    elseif a < 0xE0 then
      local b = byte(text, at + 1)
      if a < 0xC2 or not b or b < 0x80 or b > 0xBF then
        return false
      end
      at = at + 2
    elseif a < 0xF0 then
      local b, c = byte(text, at + 1, at + 2)
      if not c or b < 0x80 or b > 0xBF or c < 0x80 or c > 0xBF then
        return false
      elseif (a == 0xE0 and b < 0xA0) or (a == 0xED and b > 0x9F) then
        return false -- longer than it need be, or half of a surrogate pair
      end
      at = at + 3
    else
      local b, c, d = byte(text, at + 1, at + 3)
      if a > 0xF4 or not d or b < 0x80 or b > 0xBF or c < 0x80 or c > 0xBF then
        return false
      elseif d < 0x80 or d > 0xBF or (a == 0xF0 and b < 0x90) or (a == 0xF4 and b > 0x8F) then
        return false
      end
      at = at + 4
    end
  end
  return true
end

--- Whether a text is UTF-16 without an error.
---@param bytes string
---@return boolean
local function is_utf16le(bytes)
  local at, size = 2, #bytes
  if size % 2 ~= 0 then
    return false
  end
  while at <= size do
    local high = byte(bytes, at)
    if high >= 0xD8 and high <= 0xDF then
      local low = byte(bytes, at + 2)
      if high >= 0xDC or not low or low < 0xDC or low > 0xDF then
        return false
      end
      at = at + 2
    end
    at = at + 2
  end
  return true
end

--- Calls vim.iconv() for a text that may have errors. The room that it makes for
--- the result follows from the size of the text, so that padding keeps every
--- error away from the end of it.
---@param text string
---@param from string
---@param to string
---@return string? result nil when the text cannot be converted
local function convert(text, from, to)
  if text:find("%z") then
    return nil
  end
  local padding = ("\n"):rep(4 * #text + 64)
  local result = vim.iconv(text .. padding, from, to)
  if not result or result:sub(-#padding) ~= padding then
    return nil
  end
  return result:sub(1, -#padding - 1)
end

--- The encodings that hold every character, and those that hold all of the first
--- 65,536.
local all = { [""] = true, ["utf-8"] = true, ["utf-16"] = true, ["utf-16le"] = true }
all["ucs-4"], all["ucs-4le"] = true, true
local short = { ["ucs-2"] = true, ["ucs-2le"] = true }

---@param text string UTF-8
---@param encoding string 'fileencoding'
---@return boolean
local function survives(text, encoding)
  if short[encoding] then
    return not text:find("[\240-\244]")
  elseif encoding == "latin1" then -- Neovim converts it by itself
    return vim.iconv(vim.iconv(text, "utf-8", "latin1"), "latin1", "utf-8") == text
  end
  text = text:gsub("%z", " ") -- every encoding has a NUL
  local there = convert(text, "utf-8", encoding)
  return there ~= nil and convert(there, encoding, "utf-8") == text
end

--- Says which character of a text an encoding cannot hold, and in which line; it
--- would be lost.
---@param text string
---@param encoding string 'fileencoding'
---@return string? problem nil when all of the text can be written
function M.problem(text, encoding)
  if encoding == "" or encoding == "utf-8" then
    return nil
  elseif not M.is_utf8(text) then
    return "the text is not UTF-8; nothing was written"
  elseif all[encoding] or survives(text, encoding) then
    return nil
  end
  local row = 0
  for line in vim.gsplit(text, "\n", { plain = true }) do
    row = row + 1
    for char in (survives(line, encoding) and "" or line):gmatch("[\194-\244][\128-\191]*") do
      if not survives(char, encoding) then
        return ("the file is %s, which has no %s (U+%04X), in line %d; nothing was written"):format(
          encoding,
          require("hermes.core.text").line(char),
          vim.fn.char2nr(char, 1),
          row
        )
      end
    end
  end
  return ("the text cannot be written in the file's encoding, %s"):format(encoding)
end

--- The text of a file as a buffer with that encoding would hold it.
---@param bytes string
---@param encoding string 'fileencoding'
---@return string? text nil when the bytes are something else
function M.decode(bytes, encoding)
  if encoding == "" or encoding == "utf-8" then
    return M.is_utf8(bytes) and bytes or nil
  elseif encoding == "latin1" then
    return vim.iconv(bytes, "latin1", "utf-8")
  elseif encoding == "utf-16le" or encoding == "ucs-2le" then
    local text = is_utf16le(bytes) and vim.iconv(bytes, "utf-16le", "utf-8") or nil
    return text and (all[encoding] or survives(text, encoding)) and text or nil
  elseif all[encoding] or short[encoding] then
    return nil -- iconv means another order of the bytes by these names
  end
  local text = convert(bytes, encoding, "utf-8")
  return text and convert(text, "utf-8", encoding) == bytes and text or nil
end

return M
