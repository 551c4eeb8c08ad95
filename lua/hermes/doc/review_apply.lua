---Carries out in a held buffer what a decision about hunks, or a restored checkpoint, makes of it.
local M = {}

local buffer_text = require("hermes.doc.buffer_text")
local versions = require("hermes.doc.versions")
local disk = require("hermes.core.disk")

---Splits a text into lines with their ends, as the host counts them.
---@param text string
---@return string[]
local function split(text)
  local lines, at = {}, 1
  while at <= #text do
    local stop = text:find("\n", at, true) or #text
    lines[#lines + 1] = text:sub(at, stop)
    at = stop + 1
  end
  return lines
end

---@param text string
---@param edits { start: integer, end: integer, lines: string[] }[] of this text, from top to bottom
---@return string
local function edited(text, edits)
  local lines, parts, at = split(text), {}, 0
  for _, edit in ipairs(edits) do
    parts[#parts + 1] = table.concat(lines, "", at + 1, edit.start)
    parts[#parts + 1] = table.concat(edit.lines or {})
    at = edit["end"]
  end
  parts[#parts + 1] = table.concat(lines, "", at + 1)
  return table.concat(parts)
end

---@param buf integer
---@param item table
---@return string text that the decision makes
local function apply(buf, item)
  local name = vim.api.nvim_buf_get_name(buf)
  local modified = vim.bo[buf].modified
  if item.delete and modified then
    error("the buffer has unsaved edits", 0)
  end
  local text = item.delete and "" or item.text or edited(buffer_text.text(buf), item.edits or {})
  local save = not item.delete and not modified and item.save ~= false
  local replaced, problem = require("hermes.doc.buffer").put(buf, text, save)
  if not replaced then
    error(problem, 0)
  elseif problem then -- the text is right, and the user can write it
    require("hermes.core.log").notify(
      vim.log.levels.WARN,
      ("%s is not written: %s"):format(vim.fn.fnamemodify(name, ":~:."), problem)
    )
  end
  if item.delete then
    versions.need_home(buf)
    disk.remove(versions.home(buf) or name)
    vim.bo[buf].modified = false
    versions.note(buf)
  elseif item.mode then
    versions.need_home(buf)
    disk.chmod(versions.home(buf) or name, item.mode)
  end
  return text
end

---@param buf integer? the held buffer
---@param item hermes.item.Apply
---@param tell fun(what: string, payload: table)
function M.run(buf, item, tell)
  local held = require("hermes.doc.held")
  local answer = { id = item.id, path = item.path }
  if not buf then
    tell("release", { path = item.path })
    answer.stale = true -- the host does it on the disk
    return tell("applied", answer)
  end
  local state, text = versions.state(buf), nil
  if state == "changed" and versions.same_text(buf) then -- as after git stash and pop
    pcall(require("hermes.doc.buffer").update, buf)
    state = versions.state(buf)
  end
  local problem = versions.refusal(buf)
  if problem then
    answer.error = problem
  elseif state == "changed" or state == "conflict" then
    answer.error = "the file has changed on disk"
  elseif vim.api.nvim_buf_get_changedtick(buf) ~= item.tick then
    answer.stale = true
  else
    local ok, result = pcall(apply, buf, item)
    answer.ok, answer.error = ok or nil, not ok and result or nil
    text = ok and result or nil
  end
  if text then
    held.decided(buf, text)
  end
  answer.tick = vim.api.nvim_buf_get_changedtick(buf)
  tell("applied", answer)
  if answer.ok or answer.error then
    held.after_decision(buf, text)
  end
end

return M
