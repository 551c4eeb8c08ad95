--- The files that go out with a prompt: lists them on lines below it before it is sent, and makes
--- their blocks when it is.

local hermes = require("hermes")

local api = vim.api
local ns = api.nvim_create_namespace("hermes_chat_sends")

---@class hermes.chat.Sends
---@field chat hermes.chat.Chat
---@field mentions hermes.Mention[] that the lines below the prompt are about
---@field elsewhere string[] paths of the files whose names do not say where they are
---@field shown table<string, true> files that the user was shown
---@field serial integer of the last look
local Sends = {}
Sends.__index = Sends

--- The most lines below a prompt, without the line that counts the others.
Sends.max_rows = 6
--- The text is looked at once the user has paused for this long.
Sends.pause_ms = 80

---@param chat hermes.chat.Chat
---@return hermes.chat.Sends
function Sends.new(chat)
  local self = { chat = chat, mentions = {}, elsewhere = {}, shown = {}, serial = 0 }
  return setmetatable(self, Sends)
end

---@param n integer bytes
---@return string
local function size(n)
  return n < 1024 and n .. " B"
    or n < 1024 ^ 2 and ("%d KB"):format(n / 1024)
    or ("%.1f MB"):format(n / 1024 ^ 2)
end
Sends.size = size

--- Where a name leads, if it leads to another file than the one that it names.
---@param mention hermes.Mention
---@return string?
local function real_of(mention)
  if mention.short then
    return mention.short ~= mention.name and mention.short or nil
  end
  return mention.path ~= mention.name and mention.path or nil
end

--- Whether the user must see more than the name before the file goes along.
---@param mention hermes.Mention
---@return boolean
local function is_elsewhere(mention)
  return not mention.error and (mention.outside or real_of(mention) ~= nil)
end

--- The name of a file, where it leads and its size, in full.
---@param mention hermes.Mention
---@return string
function Sends.words(mention)
  local name, real = hermes.text.line(mention.name), real_of(mention)
  real = real and " → " .. hermes.text.line((vim.fn.fnamemodify(real, ":~"))) or ""
  local where = real .. (mention.outside and " (outside)" or "")
  if mention.error then
    return ("not @%s%s: %s"):format(name, where, mention.error)
  end
  return ("%s%s, %s"):format(name, where, size(mention.size))
end

---@param mention hermes.Mention
---@return "HermesChatQuestion"|"HermesChatNote"
local function group_of(mention)
  return (mention.error or mention.outside) and "HermesChatQuestion" or "HermesChatNote"
end

--- The rows of a word that may be longer than a line.
---@param word string safe to show
---@param width integer cells of a row
---@return string[]
local function broken(word, width)
  local rows, cells = { "" }, 0
  for char in word:gmatch("[%z\1-\127\194-\255][\128-\191]*") do
    local wide = api.nvim_strwidth(char)
    if cells + wide > width then
      rows[#rows + 1], cells = "", 0
    end
    rows[#rows], cells = rows[#rows] .. char, cells + wide
  end
  return rows
end

---@class hermes.chat.SendsLine
---@field cells integer
---@field chunks table[] for extmarks

--- The lines with some words after them.
---@param lines hermes.chat.SendsLine[]
---@param words string
---@param group string
---@param width integer cells of a line
---@return hermes.chat.SendsLine[]
local function with(lines, words, group, width)
  lines = vim.deepcopy(lines)
  for word in words:gmatch("%s*%S+") do
    local last, cells = lines[#lines], api.nvim_strwidth(word)
    if last and last.cells + cells <= width then
      table.insert(last.chunks, { word, group })
      last.cells = last.cells + cells
    else
      for _, row in ipairs(broken(vim.trim(word), width)) do
        lines[#lines + 1] = { cells = api.nvim_strwidth(row), chunks = { { row, group } } }
      end
    end
  end
  return lines
end

---@param mentions hermes.Mention[]
---@param width integer cells of a line
---@return table[] lines for extmarks
---@return hermes.Mention[] that they name
local function laid_out(mentions, width)
  local ranks = { {}, {}, {} } -- what must be seen comes first
  for _, mention in ipairs(mentions) do
    table.insert(ranks[mention.error and 2 or mention.outside and 1 or 3], mention)
  end
  local list = vim.iter(ranks):flatten(1):totable()
  local lines, there = {}, {} ---@type hermes.chat.SendsLine[], hermes.Mention[]
  for i, mention in ipairs(list) do
    local words = (i == 1 and "sends: " or " ") .. Sends.words(mention) .. (i < #list and ";" or "")
    local more = with(lines, words, group_of(mention), width)
    if #more > Sends.max_rows then
      lines = with(lines, ("… %d more"):format(#list - #there), group_of(mention), width)
      break
    end
    lines, there[i] = more, mention
  end
  return vim.tbl_map(function(line)
    return line.chunks
  end, lines), there
end

---@return integer? window of the prompt
function Sends:window()
  local window = vim.fn.bufwinid(self.chat.prompt.buf)
  return window > 0 and window or nil
end

--- Shows the lines below the prompt.
function Sends:draw()
  local buf = self.chat.prompt.buf
  if not api.nvim_buf_is_valid(buf) then
    return
  end
  local window = self:window()
  local info = window and vim.fn.getwininfo(window)[1]
  local width = info and info.width - info.textoff or 80
  local lines, there = laid_out(self.mentions, math.max(10, width))
  self.elsewhere = {}
  for _, mention in ipairs(there) do
    if is_elsewhere(mention) then
      table.insert(self.elsewhere, mention.path)
    end
  end
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  if #lines > 0 then
    local last = api.nvim_buf_line_count(buf) - 1
    api.nvim_buf_set_extmark(buf, ns, last, 0, { virt_lines = lines })
  end
  self.chat.changed()
end

--- Whether the lines below the prompt are on the screen.
---@private
---@return boolean
function Sends:is_in_sight()
  local window = self:window()
  if not window then
    return false
  end
  local from = vim.fn.line("w0", window) - 1
  local rows = api.nvim_win_text_height(window, { start_row = from }).all
  return rows <= vim.fn.winheight(window)
end

--- Scrolls to the lines below the prompt, unless the cursor is further up in it.
function Sends:show()
  local window = self:window()
  if not window or #self.mentions == 0 or self:is_in_sight() then
    return
  end
  if api.nvim_win_get_cursor(window)[1] == api.nvim_buf_line_count(self.chat.prompt.buf) then
    api.nvim_win_call(window, function()
      local follow = require("hermes.view.chat.follow")
      vim.fn.winrestview({ topline = follow.end_view().topline })
    end)
  end
end

---@private
---@param mentions hermes.Mention[]
function Sends:take(mentions)
  if #mentions > 0 or #self.mentions > 0 then
    self.mentions = mentions
    self:draw()
  end
end

--- The prompt has changed.
function Sends:look()
  self.serial = self.serial + 1
  local serial, chat = self.serial, self.chat
  if not chat.id or not chat.prompt:text():find("@", 1, true) then
    return self:take({})
  end
  vim.defer_fn(function()
    if serial ~= self.serial or chat.closed or not chat.id then
      return
    end
    hermes.mentions(chat.id, chat.prompt:text(), {
      agent = chat.agent,
      on_done = function(err, result)
        if serial == self.serial then
          self:take(not err and result.mentions or {})
        end
      end,
    })
  end, Sends.pause_ms)
end

--- The content of a text for |hermes.prompt()|. A file outside of the session's folders, or one
--- that a link leads to, goes along only after the user was shown where it is.
---@param text string
---@param done fun(problem: string?, blocks: string|table[]?)
function Sends:blocks(text, done)
  local chat = self.chat
  if not text:find("@", 1, true) then
    return done(nil, text)
  end
  for _, path in ipairs(self:is_in_sight() and self.elsewhere or {}) do
    self.shown[path] = true
  end
  hermes.mentions(chat.id, text, {
    agent = chat.agent,
    blocks = true,
    on_done = function(err, result)
      if err then
        return done(err.message)
      end
      local blocks, unseen = { text }, {}
      for _, mention in ipairs(result.mentions) do
        if is_elsewhere(mention) and not self.shown[mention.path] then
          self.shown[mention.path] = true
          unseen[#unseen + 1] = Sends.words(mention)
        end
        blocks[#blocks + 1] = mention.block
      end
      if #unseen > 0 then
        local list = table.concat(unseen, "; ")
        return done("not sent yet: it takes along " .. list .. "; send it again if that is right")
      end
      for _, mention in ipairs(result.mentions) do
        if mention.error then
          chat:note(Sends.words(mention))
        end
      end
      done(nil, #blocks > 1 and blocks or text)
    end,
  })
end

return Sends
