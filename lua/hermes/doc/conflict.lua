--- Choices for a buffer whose unsaved edits and whose file changed the same lines.

local M = {}

local versions = require("hermes.doc.versions")
local writing = require("hermes.doc.write")

---@alias hermes.conflict.Choice
---| "mine" # your lines, and what else has changed in the file
---| "theirs" # the lines of the file, and what else you have changed
---| "both" # see both texts side by side

---@type hermes.conflict.Choice[]
M.choices = { "mine", "theirs", "both" }

---@type table<hermes.conflict.Choice, string>
M.labels = {
  mine = "Keep my lines",
  theirs = "Take the lines of the file",
  both = "Show both",
}

---@class hermes.Conflict
---@field bufnr integer
---@field path string name of the buffer

--- The buffers with unsaved edits whose file has changed.
---@return hermes.Conflict[]
function M.list()
  local list = {}
  for _, buf in ipairs(require("hermes.doc.buffer").all()) do
    if versions.state(buf) == "conflict" then
      list[#list + 1] = { bufnr = buf, path = vim.api.nvim_buf_get_name(buf) }
    end
  end
  return list
end

--- Shows the buffer and, to the right of it, its file as a diff in a tab page.
---@param buf integer
---@return string? problem
local function compare(buf)
  local texts = require("hermes.doc.merge").texts(buf)
  local plan = texts and texts.theirs and require("hermes.doc.replace").plan(buf, {}, texts.theirs)
  if not texts then
    return "the texts are too large to be compared; :w! writes yours, :e! loads the file"
  elseif not texts.theirs or not plan then
    return "the file is not a text in the encoding of the buffer; :e! loads it"
  end
  vim.cmd("tab split")
  vim.api.nvim_win_set_buf(0, buf)
  vim.cmd("diffthis | rightbelow vertical new")
  local file = vim.api.nvim_get_current_buf()
  local o = vim.bo[file]
  o.buftype, o.bufhidden, o.swapfile, o.modeline = "nofile", "wipe", false, false
  o.fileformat = vim.bo[buf].fileformat
  vim.api.nvim_buf_set_lines(file, 0, -1, false, plan.hunks[1] and plan.hunks[1].new or {})
  o.syntax = vim.bo[buf].filetype
  o.modifiable, o.modified = false, false
  vim.cmd("diffthis | wincmd p")
end

--- Carries out a choice. It can be undone.
---@param buf integer
---@param choice hermes.conflict.Choice
---@param done fun(problem: string?) may be called later
function M.resolve(buf, choice, done)
  if versions.state(buf) ~= "conflict" then
    return done("the buffer and its file have no conflict")
  elseif choice == "both" then
    return done(compare(buf))
  end
  local merge = require("hermes.doc.merge")
  merge.with_disk(buf, require("hermes.doc.refresh").cause(buf), function(outcome)
    if outcome == "merged" or outcome == "gone" then
      return done()
    elseif outcome ~= "conflict" and outcome ~= "large" then
      return done("the buffer cannot be changed right now; try again")
    elseif choice == "theirs" then
      return done("the texts cannot be merged; :e! loads the file")
    elseif not pcall(writing.accept, buf, false) then
      return done("the texts cannot be merged; :w! writes yours")
    end
    versions.note(buf)
    done()
  end, choice)
end

return M
