---Blocks of prompts that are made of texts and files.
local M = {}

local encoding = require("hermes.core.encoding")

---Cuts a text at the end of a line, or of a character.
---@param text string UTF-8
---@param limit integer bytes
---@return string text with a line that says what is missing
local function cut(text, limit)
  if #text <= limit then
    return text
  end
  local head = text:sub(1, limit)
  local line = head:match("^.*\n")
  head = line or head:sub(1, #head + vim.str_utf_start(text, limit + 1))
  return ("%s\n[%d of %d bytes are left out]\n"):format(head:gsub("\n$", ""), #text - #head, #text)
end

---@param text string
---@param uri string
---@param limit integer bytes
---@param mime? string
---@return table block
function M.embedded(text, uri, limit, mime)
  if not encoding.is_utf8(text) then
    text = encoding.decode(text, "latin1") --[[@as string]] -- JSON cannot hold other bytes
  end
  return {
    type = "resource",
    resource = { uri = uri, text = cut(text, limit), mimeType = mime },
  }
end

---The block of a file: a link if it is not text, or larger than the limit.
---@param path string absolute
---@param text? string nil: it was not read
---@param size integer bytes
---@param limit integer bytes
---@return table block
function M.of_file(path, text, size, limit)
  local uri = vim.uri_from_fname(path)
  if text and #text <= limit and not text:find("%z") and encoding.is_utf8(text) then
    return M.embedded(text, uri, limit)
  end
  return { type = "resource_link", name = vim.fs.basename(path), uri = uri, size = size }
end

return M
