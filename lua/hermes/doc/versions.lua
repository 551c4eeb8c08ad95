--- Which version of its file every buffer holds, and whether its name still leads to that file.
---
--- Neovim does not expose the timestamp that it compares, and its events about
--- it can be switched off. So this module records the state of the file on disk
--- whenever a buffer is read or written, and compares it itself.
local M = {}

local buffer_text = require("hermes.doc.buffer_text")
local disk = require("hermes.core.disk")

-- The state of a buffer's file when its text last equalled the buffer's. Nil:
-- unknown. False: the buffer was given the name of a file that it was never
-- read from.
---@type table<integer, string|false|nil>
local known = {}

-- Buffers that may already have been out of date at the start.
---@type table<integer, true>
local unsure = {}

-- Where a buffer's file was when the buffer was read, written or named.
---@type table<integer, string>
local places = {}

-- Buffers that had another text than their files when they were read: perhaps one from elsewhere.
---@type table<integer, true>
local foreign = {}

-- Where the file of a buffer was until it was read just now, if its name leads elsewhere now.
---@type table<integer, string>
local left = {}

--- Where the file of a buffer was when the buffer got its text.
---@param buf integer
---@return string?
function M.home(buf)
  return places[buf] or disk.place(vim.api.nvim_buf_get_name(buf))
end

---@param buf integer
---@param place string?
function M.set_home(buf, place)
  places[buf], foreign[buf] = place, nil
end

--- Whether a buffer may have been read from another file than the one that its name says.
---@param buf integer
---@return boolean
function M.is_foreign(buf)
  return foreign[buf] or false
end

--- Why the text of a loaded buffer may not be sent under its name: it is, or may be, the text of a
--- file outside of the session's folders.
---@param buf integer
---@return string? problem
function M.leads_out(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if M.is_foreign(buf) then
    return ("%s: it has another text than its file; :edit loads it"):format(name)
  end
  return disk.leads_out(name, places[buf])
end

--- Whether the name of a buffer leads to another file than the one that the buffer was read from:
--- it has become a link, or a folder on the way has. Such a file is neither written nor loaded.
---@param buf integer
---@return string? elsewhere where it leads, for messages
function M.strays(buf)
  if not places[buf] then
    return nil
  end
  local place = disk.place(vim.api.nvim_buf_get_name(buf))
  if place == places[buf] then
    return nil
  end
  return place and vim.fn.fnamemodify(place, ":~") or "nowhere"
end

--- Says why the file of a buffer must not be written: its name leads to another one, or it is none
--- any more, such as a named pipe, for whose other end Neovim would wait.
---@param buf integer
---@return string?
function M.refusal(buf)
  local elsewhere = M.strays(buf)
  if elsewhere then
    return ("its name leads to another file now (%s); nothing was written"):format(elsewhere)
  elseif M.is_foreign(buf) then
    return "the buffer has another text than its file; nothing was written"
  end
  local kind = disk.kind(vim.api.nvim_buf_get_name(buf))
  return kind and kind ~= "file" and ("it is a %s now; nothing was written"):format(kind) or nil
end

--- Reads the file of a buffer, if it is where it was when the buffer got its text.
---@param buf integer
---@return string? bytes nil when it can't be read, is elsewhere, or is too large
---@return string? version
---@return integer? size of a file that is too large
function M.read(buf)
  return disk.read(
    vim.api.nvim_buf_get_name(buf),
    nil,
    not M.is_managed(buf) and M.home(buf) or nil
  )
end

--- Raises an error if the file of a buffer must not be written.
---@param buf integer
function M.need_home(buf)
  local problem = M.refusal(buf)
  if problem then
    error(problem, 0)
  end
end

--- Records that a buffer and a version of its file hold the same text.
---@param buf integer
---@param version? string by default the file as it is now
function M.note(buf, version)
  known[buf] = version or disk.version(vim.api.nvim_buf_get_name(buf))
  unsure[buf] = nil
  foreign[buf] = not version and foreign[buf] or nil
end

--- The version of its file whose text a buffer last had.
---@param buf integer
---@return string? version nil when it is not known
function M.noted(buf)
  return known[buf] or nil
end

--- Whether a file pattern of an autocommand matches a path.
---@param pattern string
---@param path string
---@return boolean
function M.matches(pattern, path)
  local subject = pattern:find("/", 1, true) and path or vim.fs.basename(path)
  return vim.regex(vim.fn.glob2regpat(pattern)):match_str(subject) ~= nil
end

--- Whether another plugin's autocommand writes the buffer. Its text may then differ from the
--- file's.
---@param buf integer
---@return boolean
function M.is_managed(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  for _, autocmd in ipairs(vim.api.nvim_get_autocmds({ event = "BufWriteCmd" })) do
    if autocmd.buflocal and autocmd.buffer == buf then
      return true
    elseif not autocmd.buflocal and M.matches(autocmd.pattern, name) then
      return true
    end
  end
  return false
end

---@alias hermes.disk.State
---| "same" # the buffer holds what is on disk, and perhaps unsaved edits of that
---| "changed" # the file changed, and the buffer has no unsaved edits
---| "conflict" # the file changed, and the buffer has unsaved edits
---| "deleted" # the file is gone
---| "strayed" # the name of the file leads to another one

--- How the file of a loaded buffer compares to the buffer.
---@param buf integer
---@return hermes.disk.State
function M.state(buf)
  if M.strays(buf) and not M.is_managed(buf) then
    return "strayed"
  end
  local was, now = known[buf], disk.version(vim.api.nvim_buf_get_name(buf))
  local doubt = unsure[buf] and now ~= "" and not vim.bo[buf].modified
  if now == nil or (was == now and not doubt) or (now == "" and not was) then
    return "same"
  elseif M.is_managed(buf) then
    return "same"
  elseif now == "" then
    return "deleted"
  end
  return (vim.bo[buf].modified or was == false) and "conflict" or "changed"
end

--- Whether the file did not exist when the buffer was created, so that the
--- buffer has never held any of it.
---@param buf integer
---@return boolean
function M.is_new(buf)
  return known[buf] == ""
end

--- The version of a buffer's file if it has the text of the buffer.
---@param buf integer
---@return string?
function M.same_text(buf)
  local bytes, version = M.read(buf)
  local text = bytes and require("hermes.core.encoding").decode(bytes, vim.bo[buf].fileencoding)
  return text and not buffer_text.is_large(buf) and text == buffer_text.text(buf) and version or nil
end

--- Whether the text that Neovim has just read into a buffer, or written, is the one of the file at
--- a place. Neovim goes by names, which an agent may have exchanged meanwhile, perhaps for a moment
--- only: the one that it resolves for the buffer, and the one that it reads. So the texts are
--- compared while there are sessions.
---@param buf integer
---@param place string?
---@return boolean
local function is_of(buf, place)
  local name = vim.api.nvim_buf_get_name(buf)
  if not place or #disk.folders() == 0 or M.is_managed(buf) then
    return true
  end
  local bytes, _, too_large = disk.read(name, 16 * disk.max_bytes, place)
  local text = bytes and require("hermes.core.encoding").decode(bytes, vim.bo[buf].fileencoding)
  return too_large ~= nil or text == buffer_text.text(buf)
end

--- Records a file that was written while events were off.
---@param buf integer
local function settle(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if not known[buf] or vim.bo[buf].modified or known[buf] == disk.version(name) then
    return
  end
  local version = M.same_text(buf)
  if version then
    M.note(buf, version)
  end
end

--- Starts recording the versions of files, also for buffers that exist already. Unsaved edits count
--- as edits of the file as it is now.
local function track()
  local group = vim.api.nvim_create_augroup("hermes.disk", {})
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufWritePost" }, {
    group = group,
    callback = function(args)
      local buf = args.buf
      M.note(buf)
      local forced = vim.v.cmdbang == 1
      if
        vim.bo[buf].buftype ~= ""
        or (args.event == "BufWritePost" and places[buf] and not foreign[buf] and not forced)
      then
        return -- a name that leads elsewhere by now is not the user's
      end
      local was, place = places[buf], disk.place(vim.api.nvim_buf_get_name(buf))
      places[buf] = place
      foreign[buf] = args.event ~= "BufNewFile" and not is_of(buf, place) or nil
      if foreign[buf] then -- perhaps the file has just changed: the next look reads it again
        known[buf] = "another"
      end
      if was and was ~= place then
        left[buf] = was
        vim.schedule(function()
          left[buf] = nil
        end)
      end
    end,
  })
  -- Neovim has loaded by itself what the name leads to now. The user did not ask for another file.
  vim.api.nvim_create_autocmd("FileChangedShellPost", {
    group = group,
    callback = function(args)
      places[args.buf] = left[args.buf] or places[args.buf]
    end,
  })
  vim.api.nvim_create_autocmd({ "BufModifiedSet", "FileChangedShellPost" }, {
    group = group,
    callback = function(args)
      settle(args.buf)
    end,
  })
  vim.api.nvim_create_autocmd("BufFilePost", {
    group = group,
    callback = function(args)
      known[args.buf] = false
      places[args.buf] = disk.place(vim.api.nvim_buf_get_name(args.buf))
    end,
  })
  vim.api.nvim_create_autocmd("BufUnload", {
    group = group,
    callback = function(args)
      known[args.buf], unsure[args.buf] = nil, nil
      places[args.buf], left[args.buf], foreign[args.buf] = nil, nil, nil
    end,
  })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" then
      M.note(buf)
      places[buf] = disk.place(vim.api.nvim_buf_get_name(buf))
      unsure[buf] = not vim.bo[buf].modified or nil
    end
  end
end

track()

return M
