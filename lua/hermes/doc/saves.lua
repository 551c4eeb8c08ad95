---What the user's saves make of files that are not held here. Another Neovim may hold them and
---have the review. What is saved here is the user's there, also if it finds that before it is told.
local M = {}

local changed = require("hermes.doc.applied")
local disk = require("hermes.core.disk")
local encoding = require("hermes.core.encoding")
local plain = require("hermes.doc.plain_text")

--- What the files were that are being written, false for those that were not there.
local before = {} ---@type table<integer, string|false>

---The text of a file as messages can carry it.
---@param file string
---@return string|false|nil text false when there is no file, nil when it can't be told
local function text_of(file)
  local text = disk.read(file, plain.max_bytes)
  if text then
    return encoding.is_utf8(text) and text or nil
  elseif not disk.exists(file) then
    return false
  end
end

---Notes what a file is before a buffer is written to it.
---@param buf integer
---@param file string|false absolute, false when the buffer is held
function M.begins(buf, file)
  before[buf] = nil
  if file and not changed.applying[buf] and disk.is_in_session(file) then
    before[buf] = text_of(file)
  end
end

---What a buffer has made of the file to which it was written.
---@param buf integer
---@param file string absolute
---@return string? before nil when there was no file
---@return string? text nil when it can't be told, or not from what
function M.took(buf, file)
  local was = before[buf]
  before[buf] = nil
  local text = was ~= nil and text_of(file)
  if text then
    return was or nil, text
  end
end

return M
