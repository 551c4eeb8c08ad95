---Makes texts of agents safe to show.
---@class hermes.Text
local M = {}

---One line: control characters, invisible ones and those that reorder the line become visible
---escapes, and so do line breaks.
---@param value any
---@param max? integer bytes, by default 4096
---@return string
function M.line(value, max)
  return require("hermes.core.text").line(value, max)
end

---The lines of a text, each as `text.line` shows it.
---@param value any
---@param max? integer lines; a last line says how many are missing
---@return string[]
function M.lines(value, max)
  return require("hermes.core.text").lines(value, max)
end

---The output of a command as plain text, as a terminal would show it: escape codes move the cursor
---and erase, and are not shown.
---@param output string only the end of a long one is read
---@param opts? { lines?: integer, cut?: boolean } the most lines, of which the last are taken;
---whether the beginning of the output is missing
---@return string[] lines each as `text.line` shows it
---@return boolean cut whether there is more before them
function M.printed(output, opts)
  return require("hermes.core.printed").lines(output, opts)
end

---The difference between two texts as a unified diff, not yet safe to show.
---@param old string
---@param new string
---@param opts? { part?: boolean } whether they may be parts of a file, so that the diff has no
---numbers of lines
---@return string[]? lines nil when comparing the texts would take too long
function M.diff(old, new, opts)
  local diff = require("hermes.doc.diff")
  local lines = diff.quick(old, new)
  return lines and opts and opts.part and diff.unplaced(lines) or lines
end

return M
