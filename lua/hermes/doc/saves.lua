---Finds out what the user's saves change. The review takes the report of a save when it has time,
---and so does the one of another Neovim: by then an agent may have changed the file, or a look may
---have found the save on the disk.
local M = {}

local changed = require("hermes.doc.applied")
local disk = require("hermes.core.disk")
local encoding = require("hermes.core.encoding")
local plain = require("hermes.doc.plain_text")

M.pause_ms = 5 -- between two looks whether a save is reported

--- The texts of files before they are written, false if there was no file.
local before = {} ---@type table<integer, string|false>

---The text of a file as messages can carry it.
---@param file string
---@return string|false|nil text false when there is no file, nil when it can't be sent
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
---@param file string absolute
function M.begins(buf, file)
  before[buf] = nil
  if not changed.applying[buf] and disk.is_in_session(file) then
    before[buf] = text_of(file)
  end
end

---Calls a function once no save is between its write and its report: autocommands of others that
---come before the report may wait for something, and then messages are taken meanwhile.
---@param f fun()
function M.settled(f)
  if next(before) and vim.fn.state("x") ~= "" then
    vim.defer_fn(function()
      M.settled(f)
    end, M.pause_ms)
  else
    f()
  end
end

---The text of a file before and after a buffer was written to it.
---@param buf integer
---@param file string absolute
---@return string? before nil when there was no file
---@return string? text nil when it or the text before can't be sent
function M.took(buf, file)
  local was = before[buf]
  before[buf] = nil
  local text = was ~= nil and text_of(file)
  if text then
    return was or nil, text
  end
end

return M
