--- Completion of `/commands` and `@files` in a buffer where prompts are
--- written. The buffer names its session in `b:hermes_session`.

local hermes = require("hermes")

local M = {}

--- The most items that are offered.
M.max_items = 200

--- How many are looked at for them: names can be such that none is offered.
M.max_looks = 500

---@class hermes.complete.Lead
---@field kind "command"|"file"
---@field text string what was typed of the name
---@field col integer 0-based byte where the item begins, with its "/" or "@"

--- The name that is being typed at the end of a line.
---@param before string the line up to the cursor
---@param row integer 1-based; commands stand only at the very beginning
---@return hermes.complete.Lead?
function M.lead(before, row)
  local command = row == 1 and before:match("^/(%S*)$")
  if command then
    return { kind = "command", text = command, col = 0 }
  end
  for _, pattern in ipairs({ '()@"([^"]*)$', '()@([^%s"]*)$' }) do
    local at, text = before:match(pattern)
    if at and (at == 1 or before:sub(at - 1, at - 1):find("[%s(]")) then
      return { kind = "file", text = text, col = at - 1 }
    end
  end
end

---@class hermes.complete.Item
---@field word string with its "/" or "@"
---@field name string
---@field kind "command"|"file"
---@field about? string safe to show

--- A name is offered only if nothing in it can hide or act.
---@param name any
---@return boolean
local function is_plain(name)
  return type(name) == "string"
    and name ~= ""
    and #name <= 1000
    and hermes.text.line(name, 1000) == name
    and not name:find('[\t"]')
end

--- Nothing in the name of a command may look like a file.
---@param name any
---@return boolean
local function is_command(name)
  return is_plain(name) and not name:find("[%s@()%[%]{}<>]")
end

---@param session? string
---@param lead string
---@return hermes.complete.Item[]
local function commands(session, lead)
  local items = {}
  for _, command in ipairs(session and hermes.state(session, "commands") or {}) do
    local name = command.name
    if is_command(name) and name:lower():find(lead:lower(), 1, true) then
      local about = hermes.text.line(command.description or "", 200)
      items[#items + 1] = { word = "/" .. name, name = name, kind = "command", about = about }
    end
    if #items >= M.max_items then
      break
    end
  end
  return items
end

--- Where the own name of a file begins in its path.
---@param path string
---@return integer
local function name_at(path)
  local at = #path
  while at > 0 and path:byte(at) ~= 47 do -- "/"
    at = at - 1
  end
  return at + 1
end

--- The files that contain the typed text. Those whose own name begins with it come first, then
--- those whose path begins with it.
---@param files string[]
---@param lead string
---@return hermes.complete.Item[]
local function matching(files, lead)
  lead = lead:lower()
  local ranks = { {}, {}, {} }
  for _, file in ipairs(files) do
    local path = file:lower()
    local at = path:find(lead, 1, true)
    if at then
      local name = name_at(path)
      local begins = path:sub(name, name + #lead - 1) == lead
      local rank = ranks[begins and 1 or at == 1 and 2 or 3]
      if #rank < M.max_looks then
        rank[#rank + 1] = file
      end
    end
  end
  local items = {}
  for _, rank in ipairs(ranks) do
    for _, file in ipairs(rank) do
      if #items < M.max_items and is_plain(file) then
        local word = file:find("%s") and ('@"%s"'):format(file) or "@" .. file
        items[#items + 1] = { word = word, name = file, kind = "file" }
      end
    end
  end
  return items
end

---@param session? string
---@return string folder
local function folder(session)
  return session and hermes.state(session, "cwd") or vim.fn.getcwd()
end

--- The items for a lead. The files of a project are listed in the background.
---@param lead hermes.complete.Lead
---@param session? string
---@param done fun(items: hermes.complete.Item[]) called at once if possible
function M.items(lead, session, done)
  if lead.kind == "command" then
    return done(commands(session, lead.text))
  end
  require("hermes.view.complete.files").list(folder(session), function(files)
    done(matching(files, lead.text))
  end)
end

---------------------------------------------------------------------------
-- For 'omnifunc'.

---@param items hermes.complete.Item[]
---@return table[]
function M.words(items)
  return vim.tbl_map(function(item)
    return { word = item.word, abbr = item.word, menu = item.about or "", dup = 0 }
  end, items)
end

---An 'omnifunc': `v:lua.require'hermes.complete'.omnifunc`.
---@param findstart integer
---@param base string
---@return integer|table
function M.omnifunc(findstart, base)
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  if findstart == 1 then
    local lead = M.lead(vim.api.nvim_get_current_line():sub(1, col), row)
    return lead and lead.col or -3
  end
  local lead = M.lead(base, row)
  if not lead then
    return {}
  end
  lead.col = col -- Neovim has taken the base out
  local before = vim.api.nvim_get_current_line():sub(1, col) .. base
  return M.words(M.offer(lead, before) or {})
end

---Items for a lead in the current buffer, or nil; then they are offered as soon as they are
---there, if nothing was typed meanwhile.
---@private
---@param lead hermes.complete.Lead
---@param before string the line up to the cursor
---@return hermes.complete.Item[]?
function M.offer(lead, before)
  local buf = vim.api.nvim_get_current_buf()
  local found, late
  M.items(lead, vim.b.hermes_session, function(items)
    found = items
    if not late or vim.api.nvim_get_current_buf() ~= buf or vim.fn.mode() ~= "i" then
      return
    end
    local col = vim.api.nvim_win_get_cursor(0)[2]
    if #items > 0 and vim.api.nvim_get_current_line():sub(1, col) == before then
      vim.fn.complete(lead.col + 1, M.words(items))
    end
  end)
  late = true
  return found
end

---For a mapping of insert mode: completes what is being typed, goes on in the menu, or is a <Tab>.
function M.tab()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  local before = vim.api.nvim_get_current_line():sub(1, col)
  local lead = M.lead(before, row)
  if vim.fn.pumvisible() == 1 then
    vim.api.nvim_feedkeys("\14", "in", false)
  elseif not lead then
    vim.api.nvim_feedkeys("\t", "in", false)
  else
    local items = M.offer(lead, before)
    if items and #items > 0 then
      vim.fn.complete(lead.col + 1, M.words(items))
    end
  end
end

return M
