---Content blocks for prompts: files, buffers and what else Neovim knows. A function raises no error
---for what it cannot read: it returns nil and the reason.
---@class hermes.Context
local M = {}

---@class hermes.ContextOpts
---@field limit? integer bytes of text; default: `context.limit` of setup()

---@param opts hermes.ContextOpts
---@return integer
local function limit_of(opts)
  return opts.limit or require("hermes.core.config").get().context.limit
end

---@param opts any
---@param who string
---@param ... string names of the options besides `limit`
---@return table
local function checked(opts, who, ...)
  local check = require("hermes.core.arguments")
  local valid = { "limit", ... }
  opts = opts or {}
  check.need(opts, "table", "context." .. who, "the options", 3)
  for key, value in pairs(opts) do
    if not vim.tbl_contains(valid, key) then
      error(("hermes.context.%s: %s"):format(who, check.unknown("", key, valid)), 3)
    end
    check.need(value, "integer", "context." .. who, key, 3)
  end
  return opts
end

---@param text string
---@param uri string
---@param opts table
---@param mime? string
---@return table block
local function embedded(text, uri, opts, mime)
  return require("hermes.doc.blocks").embedded(text, uri, limit_of(opts), mime)
end

---@param buf? integer
---@return integer
local function buffer_of(buf)
  return (buf == nil or buf == 0) and vim.api.nvim_get_current_buf() or buf
end

---@param buf integer
---@return string uri
local function uri_of(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if name == "" then
    return ("neovim:buffer/%d"):format(buf)
  end
  return vim.uri_from_bufnr(buf)
end

---@param buf integer
---@return string name as the user knows it
local function name_of(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return name == "" and ("buffer %d"):format(buf) or vim.fn.fnamemodify(name, ":~:.")
end

---A file, embedded as it is on disk, or in its buffer when that has unsaved edits. A file that is
---larger than the limit, or not text, becomes a link.
---@param path string
---@param opts? hermes.ContextOpts
---@return table? block
---@return string? err
function M.file(path, opts)
  opts = checked(opts, "file")
  require("hermes.core.arguments").need(path, "name", "context.file", "the path")
  path = require("hermes.core.disk").absolute(path)
  local blocks, limit = require("hermes.doc.blocks"), limit_of(opts)
  local disk = require("hermes.core.disk")
  local unsaved = not disk.leads_out(path) and require("hermes.doc.buffer").read(path)
  local text, size = disk.read_to_send(path, limit)
  if not unsaved and type(size) == "string" then
    return nil, size
  end
  text = unsaved or text
  return blocks.of_file(path, text, text and #text or size --[[@as integer]], limit)
end

---The lines of the file of a buffer that is not loaded. To load it would follow the name wherever
---it leads by now, wait for the other end of a named pipe, and obey the modelines of the file.
---@param buf integer
---@return string[]? lines
---@return string? err
local function lines_on_disk(buf)
  local encoding = require("hermes.core.encoding")
  local name, most = vim.api.nvim_buf_get_name(buf), require("hermes.doc.show").max_bytes
  local bytes, size = require("hermes.core.disk").read_to_send(name, most)
  if type(size) == "string" then
    return nil, size
  elseif not bytes then
    return nil, ("%s: it is %.0f MB; :edit loads it"):format(name_of(buf), size / 1e6)
  elseif bytes:find("%z") then
    return nil, ("%s: not text"):format(name_of(buf))
  end
  local text = encoding.is_utf8(bytes) and bytes or encoding.decode(bytes, "latin1") or ""
  local bom = require("hermes.doc.buffer_text").bom
  text = vim.startswith(text, bom) and text:sub(#bom + 1) or text
  return vim.split((text:gsub("\r?\n$", "")), "\r?\n")
end

---A buffer, unsaved edits included; `first` and `last` pick lines of it. One that is not loaded
---stays so.
---@param buf? integer 0 or nil: the current one
---@param opts? hermes.ContextOpts|{ first?: integer, last?: integer }
---@return table? block
---@return string? err
function M.buffer(buf, opts)
  opts = checked(opts, "buffer", "first", "last")
  buf = buffer_of(buf)
  if not vim.api.nvim_buf_is_valid(buf) then
    return nil, ("there is no buffer %d"):format(buf)
  end
  local all, err ---@type string[]?, string?
  if not vim.api.nvim_buf_is_loaded(buf) then
    all, err = lines_on_disk(buf)
    if not all then
      return nil, err
    end
  end
  local count = all and #all or vim.api.nvim_buf_line_count(buf)
  local first = math.max(opts.first or 1, 1)
  local last = math.min(opts.last or count, count)
  local lines = all and vim.list_slice(all, first, last)
    or vim.api.nvim_buf_get_lines(buf, first - 1, math.max(last, first - 1), false)
  local uri = uri_of(buf)
  if opts.first or opts.last then
    uri = ("%s#L%d-L%d"):format(uri, first, last)
  end
  return embedded(table.concat(lines, "\n") .. "\n", uri, opts)
end

---The selected text, or the one that was selected last in the current buffer.
---@param opts? hermes.ContextOpts
---@return table? block
---@return string? err
function M.selection(opts)
  opts = checked(opts, "selection")
  local mode = vim.fn.mode()
  local visual = mode == "v" or mode == "V" or mode == "\22"
  local from, to = vim.fn.getpos(visual and "v" or "'<"), vim.fn.getpos(visual and "." or "'>")
  local kind = visual and mode or vim.fn.visualmode()
  if kind == "" or from[2] == 0 then
    return nil, "nothing is selected"
  end
  local lines = vim.fn.getregion(from, to, { type = kind })
  local first, last = math.min(from[2], to[2]), math.max(from[2], to[2])
  local uri = ("%s#L%d-L%d"):format(uri_of(vim.api.nvim_get_current_buf()), first, last)
  return embedded(table.concat(lines, "\n") .. "\n", uri, opts)
end

---@param list string[]
---@param uri string
---@param none string
---@param opts table
---@return table? block
---@return string? err
local function listed(list, uri, none, opts)
  if #list == 0 then
    return nil, none
  end
  return embedded(table.concat(list, "\n") .. "\n", uri, opts)
end

local severities = { "error", "warning", "info", "hint" }

---The diagnostics of a buffer, or of all buffers with nil.
---@param buf? integer 0: the current one
---@param opts? hermes.ContextOpts
---@return table? block
---@return string? err
function M.diagnostics(buf, opts)
  opts = checked(opts, "diagnostics")
  local where = buf and buffer_of(buf)
  local list = {}
  for _, d in ipairs(vim.diagnostic.get(where)) do
    list[#list + 1] = ("%s:%d:%d: %s: %s%s"):format(
      name_of(d.bufnr),
      d.lnum + 1,
      d.col + 1,
      severities[d.severity] or "error",
      require("hermes.core.text").joined(d.message, " "),
      d.code and (" [%s]"):format(d.code) or ""
    )
  end
  local uri = where and "neovim:diagnostics/" .. name_of(where) or "neovim:diagnostics"
  return listed(list, uri, "there are no diagnostics", opts)
end

---The quickfix list.
---@param opts? hermes.ContextOpts
---@return table? block
---@return string? err
function M.quickfix(opts)
  opts = checked(opts, "quickfix")
  local list = {}
  for _, item in ipairs(vim.fn.getqflist()) do
    local text = require("hermes.core.text").joined(item.text, " "):match("^%s*(.*%S)") or ""
    if item.bufnr > 0 then
      text = ("%s:%d:%d: %s"):format(name_of(item.bufnr), item.lnum, item.col, text)
    end
    list[#list + 1] = text
  end
  return listed(list, "neovim:quickfix", "the quickfix list is empty", opts)
end

---The unsaved changes of a buffer, as a unified diff.
---@param buf? integer 0 or nil: the current one
---@param opts? hermes.ContextOpts
---@return table? block
---@return string? err
function M.diff(buf, opts)
  opts = checked(opts, "diff")
  buf = buffer_of(buf)
  if not vim.api.nvim_buf_is_valid(buf) then
    return nil, ("there is no buffer %d"):format(buf)
  elseif not vim.api.nvim_buf_is_loaded(buf) then
    return nil, ("%s: nothing is unsaved"):format(name_of(buf))
  end
  local disk = require("hermes.core.disk")
  local name = vim.api.nvim_buf_get_name(buf)
  local elsewhere = require("hermes.doc.versions").strays(buf)
  if elsewhere then -- otherwise that file would be sent, too
    return nil, ("%s: its name leads to another file now (%s)"):format(name_of(buf), elsewhere)
  end
  local outside = require("hermes.doc.versions").leads_out(buf)
  if outside then
    return nil, outside
  end
  local most = 16 * limit_of(opts)
  local bytes = "" ---@type string?
  if disk.exists(name) then
    local why ---@type integer|string
    bytes, why = disk.read_to_send(name, most)
    if type(why) == "string" then
      return nil, why
    end
  end
  local size = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  if not bytes or size > most then
    return nil, ("%s: too large to compare"):format(name_of(buf))
  end
  local old = require("hermes.core.encoding").decode(bytes, vim.bo[buf].fileencoding)
  if not old then
    return nil, ("%s: not text"):format(name_of(buf))
  end
  local new = require("hermes.doc.buffer_text").text(buf)
  local diff = (vim.text and vim.text.diff or vim.diff)(old, new, { ctxlen = 3 })
  if diff == "" then
    return nil, ("%s: nothing is unsaved"):format(name_of(buf))
  end
  local shown = name_of(buf)
  diff = ("--- a/%s\n+++ b/%s\n%s"):format(shown, shown, diff)
  return embedded(diff, "neovim:diff/" .. shown, opts, "text/x-diff")
end

local images = {
  png = "image/png",
  jpg = "image/jpeg",
  jpeg = "image/jpeg",
  gif = "image/gif",
  webp = "image/webp",
  bmp = "image/bmp",
  svg = "image/svg+xml",
}

---A file with an image. An agent that takes none refuses the prompt, see hermes-capabilities.
---@param path string
---@param opts? { limit?: integer } bytes; default: `context.media_limit` of setup()
---@return table? block
---@return string? err
function M.image(path, opts)
  opts = checked(opts, "image")
  require("hermes.core.arguments").need(path, "name", "context.image", "the path")
  path = require("hermes.core.disk").absolute(path)
  local mime = images[(path:match("%.(%w+)$") or ""):lower()]
  if not mime then
    return nil, ("%s: the name does not say which kind of image it is"):format(path)
  end
  local limit = opts.limit or require("hermes.core.config").get().context.media_limit
  local bytes, size = require("hermes.core.disk").read_to_send(path, limit)
  if type(size) == "string" then
    return nil, size
  elseif not bytes then
    return nil, ("%s: %d bytes, more than the limit of %d"):format(path, size, limit)
  end
  return {
    type = "image",
    data = vim.base64.encode(bytes),
    mimeType = mime,
    uri = vim.uri_from_fname(path),
  }
end

---The end of what a terminal buffer shows.
---@param buf? integer 0 or nil: the current one
---@param opts? hermes.ContextOpts
---@return table? block
---@return string? err
function M.terminal(buf, opts)
  opts = checked(opts, "terminal")
  buf = buffer_of(buf)
  if not vim.api.nvim_buf_is_valid(buf) or vim.bo[buf].buftype ~= "terminal" then
    return nil, ("buffer %d is not a terminal"):format(buf)
  end
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  while lines[#lines] == "" do
    lines[#lines] = nil
  end
  local size, first = 0, #lines + 1
  while first > 1 and size + #lines[first - 1] < limit_of(opts) do
    first = first - 1
    size = size + #lines[first] + 1
  end
  if first > 1 then
    table.insert(lines, first, ("[%d earlier lines are left out]"):format(first - 1))
  end
  local text = table.concat(lines, "\n", first, #lines)
  local room = { limit = limit_of(opts) + 200 } -- for the line about what is left out
  return embedded(text .. "\n", ("neovim:terminal/%d"):format(buf), room)
end

return M
