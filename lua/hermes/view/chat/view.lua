--- The buffers and windows of a chat: the transcript, and below it the prompt.

local api = vim.api

---@class hermes.chat.View
---@field chat hermes.chat.Chat
---@field options hermes.chat.Options
---@field transcript_buf integer
---@field prompt_buf integer
---@field windows { transcript?: integer, prompt?: integer }
---@field cwd string folder of the chat
---@field kept? boolean whether the draft is kept
---@field beside? integer buffer of the window beside the chat that was closed last
local View = {}
View.__index = View

---@return integer
local function buffer()
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden, vim.bo[buf].modeline, vim.bo[buf].swapfile = "hide", false, false
  return buf
end

---@param options hermes.chat.Options
---@return hermes.chat.View
function View.new(options)
  local self = setmetatable({ options = options, windows = {} }, View)
  self.transcript_buf, self.prompt_buf = buffer(), buffer()
  api.nvim_buf_set_name(self.transcript_buf, ("hermes://chat/%d"):format(self.transcript_buf))
  api.nvim_buf_set_name(self.prompt_buf, ("hermes://prompt/%d"):format(self.transcript_buf))
  vim.bo[self.transcript_buf].undolevels = -1
  vim.bo[self.transcript_buf].modifiable = false
  return self
end

--- Makes the buffers ready for the chat, and puts into the prompt what was not sent before.
---@param chat hermes.chat.Chat
function View:begin(chat)
  self.chat = chat
  self.cwd = vim.fs.normalize(chat.cwd or vim.fn.getcwd())
  chat.prompt:put_back(require("hermes.view.chat.draft").take(self.cwd) or "")
  local keys = require("hermes.view.chat.keys")
  keys.set(self, "transcript", self.options.keys)
  keys.set(self, "prompt", self.options.keys)
  vim.bo[self.transcript_buf].filetype = "hermes_chat"
  vim.bo[self.prompt_buf].filetype = "hermes_prompt"
  vim.bo[self.prompt_buf].omnifunc = "v:lua.require'hermes.complete'.omnifunc"
  if self.options.highlight then
    chat.transcript:highlight()
  end
  self.group = api.nvim_create_augroup("hermes_chat_" .. self.transcript_buf, {})
  ---@param events string[]
  ---@param buf integer?
  ---@param callback fun(args: table)
  local function on(events, buf, callback)
    api.nvim_create_autocmd(events, { group = self.group, buffer = buf, callback = callback })
  end
  local close = vim.schedule_wrap(function()
    self:close()
  end)
  on({ "BufUnload", "BufWipeout" }, self.transcript_buf, close)
  on({ "BufUnload", "BufWipeout" }, self.prompt_buf, function()
    self:keep_draft() -- the text is gone when the rest is done
    close()
  end)
  on({ "VimLeavePre" }, nil, function()
    self:keep_draft()
  end)
  on({ "TextChanged", "TextChangedI", "TextChangedP" }, self.prompt_buf, function()
    chat.sends:look()
    self:fit()
  end)
  -- Other windows take lines from the prompt, and leave it theirs when they close.
  local fit = vim.schedule_wrap(function()
    self:fit()
  end)
  on({ "WinNew", "WinClosed" }, nil, fit)
  on({ "WinResized" }, nil, function()
    if vim.tbl_contains(vim.v.event.windows, self.windows.prompt) then
      chat.sends:draw()
      fit()
    end
  end)
  on({ "BufWinEnter" }, self.transcript_buf, function()
    local window = api.nvim_get_current_win()
    vim.schedule(function()
      if api.nvim_win_is_valid(window) and api.nvim_win_get_buf(window) == self.transcript_buf then
        chat.transcript:fold_all(window)
        chat.transcript:parse()
      end
    end)
  end)
  on({ "WinScrolled" }, nil, function()
    for _, window in ipairs(vim.fn.win_findbuf(self.transcript_buf)) do
      if vim.v.event[tostring(window)] then
        return chat.transcript:parse()
      end
    end
  end)
  on({ "WinClosed" }, nil, function(args)
    local window = tonumber(args.match) --[[@as integer]]
    if vim.tbl_contains(vim.tbl_values(self.windows), window) then
      local from_elsewhere = api.nvim_get_current_win() ~= window
      vim.schedule(function()
        if not (from_elsewhere and self:complete()) then
          self:hide()
        end
      end)
    elseif vim.bo[api.nvim_win_get_buf(window)].buflisted then
      self.beside = api.nvim_win_get_buf(window)
    end
  end)
  on(
    { "BufEnter", "BufWinEnter" },
    nil,
    vim.schedule_wrap(function() -- what opens a buffer sets the cursor afterwards
      self:keep()
    end)
  )
end

--- A window of the tab page for files, in which nothing of a chat is.
---@private
---@return integer?
function View:window_for_files()
  local before = vim.fn.win_getid(vim.fn.winnr("#"))
  local windows = api.nvim_tabpage_list_wins(0)
  table.insert(windows, 1, before)
  return vim.iter(windows):find(function(window)
    return api.nvim_win_is_valid(window)
      and api.nvim_win_get_config(window).relative == ""
      and not vim.wo[window].winfixbuf
      and not vim.tbl_contains(vim.tbl_values(self.windows), window)
      and vim.bo[api.nvim_win_get_buf(window)].buftype == ""
  end)
end

--- Moves what was opened in a window of the chat to another window. 'winfixbuf' would refuse it.
---@private
function View:keep()
  for name, window in pairs(self.windows) do
    local own = self[name .. "_buf"] ---@type integer
    local buf = api.nvim_win_is_valid(window) and api.nvim_win_get_buf(window) or own
    if buf ~= own and api.nvim_buf_is_valid(own) then
      local current = api.nvim_get_current_win() == window
      local view = api.nvim_win_call(window, vim.fn.winsaveview)
      api.nvim_win_set_buf(window, own)
      local target = self:window_for_files()
      if buf == self.transcript_buf or buf == self.prompt_buf then
        target = self.windows[buf == self.prompt_buf and "prompt" or "transcript"]
      elseif target then
        api.nvim_win_set_buf(target, buf)
      else
        local across = { right = "left", left = "right", above = "below", below = "above" }
        local config = { split = across[self.options.position], win = -1 }
        target = api.nvim_open_win(buf, false, config)
      end
      api.nvim_win_call(target, function()
        vim.fn.winrestview(view)
      end)
      if current then
        api.nvim_set_current_win(target)
      end
    end
  end
end

--- Keeps what was not sent for the next chat of the folder.
---@private
function View:keep_draft()
  if not self.kept then
    self.kept = true
    require("hermes.view.chat.draft").keep(self.cwd, self.chat:unsent())
  end
end

---@param name "transcript"|"prompt"
---@return boolean whether its window is there and shows it
function View:is_open(name)
  local window = self.windows[name]
  return window ~= nil
    and api.nvim_win_is_valid(window)
    and api.nvim_win_get_buf(window) == self[name .. "_buf"]
end

---@return boolean
function View:in_tab()
  return self:is_open("transcript")
    and self:is_open("prompt")
    and api.nvim_win_get_tabpage(self.windows.transcript) == api.nvim_get_current_tabpage()
end

local window_options = {
  winbar = " %{get(w:,'hermes_chat_new','')}%{get(b:,'hermes_chat','')}%<",
  wrap = true,
  linebreak = true,
  number = false,
  relativenumber = false,
  list = false,
  signcolumn = "yes:1",
  foldcolumn = "0",
  foldmethod = "manual",
}
local transcript_options = {
  breakindent = true,
  smoothscroll = true, -- for paragraphs that are longer than the window
  spell = false,
  conceallevel = 0,
  foldenable = true,
  foldminlines = 1,
  foldtext = "v:lua.require'hermes.chat'.foldtext()",
}

---@private
---@param name "transcript"|"prompt"
---@param config table
---@param options table of the window
function View:open(name, config, options)
  local window = api.nvim_open_win(self[name .. "_buf"], true, config)
  for option, value in pairs(vim.tbl_extend("error", window_options, options)) do
    vim.wo[window][0][option] = value
  end
  self.windows[name] = window
  return window
end

---@private
---@param config table
function View:open_transcript(config)
  transcript_options.winfixwidth = config.width ~= nil
  local window = self:open("transcript", config, transcript_options)
  api.nvim_win_set_cursor(window, { api.nvim_buf_line_count(self.transcript_buf), 0 })
end

---@private
function View:open_prompt()
  local height = self.options.prompt_height[1]
  local config = { split = "below", win = self.windows.transcript, height = height }
  self:open("prompt", config, { winfixheight = true })
  local last = api.nvim_buf_line_count(self.prompt_buf)
  api.nvim_win_set_cursor(self.windows.prompt, { last, 0 })
  self:fit()
end

--- Opens the window that the other one of the chat has lost to |:only|.
---@private
---@return boolean done false if that is not what has happened
function View:complete()
  local here = self:is_open("transcript") and "transcript" or "prompt"
  local window = self.windows[here] --[[@as integer]]
  local others = self:is_open(here) and api.nvim_tabpage_list_wins(api.nvim_win_get_tabpage(window))
  for _, other in ipairs(others or {}) do
    if other ~= window and api.nvim_win_get_config(other).relative == "" then
      return false
    end
  end
  if not others or self:in_tab() or api.nvim_get_current_win() ~= window then
    return false
  elseif here == "prompt" then
    self:open_transcript({ split = "above", win = window })
    self:fit()
  else
    self:open_prompt()
  end
  api.nvim_set_current_win(window)
  return true
end

--- Opens the windows, or goes to them, with the cursor in the prompt.
function View:show()
  if not self:in_tab() then
    self:hide()
    local position, size = self.options.position, self.options.size
    local config = { split = position, win = -1 }
    if position == "left" or position == "right" then
      local least = math.max(20, math.min(40, vim.o.columns - 10))
      config.width = math.max(least, math.floor(vim.o.columns * size))
    else
      config.height = math.max(6, math.floor(vim.o.lines * size))
    end
    self:open_transcript(config)
    self:open_prompt()
  end
  api.nvim_set_current_win(self.windows.prompt)
  if self.options.insert then
    vim.cmd("startinsert!")
  end
end

--- Gives the prompt as many lines as its text takes, with what stands below it.
function View:fit()
  if self:is_open("prompt") then
    local least, most = unpack(self.options.prompt_height)
    local room = api.nvim_win_get_height(self.windows.prompt)
    local bar = room - vim.fn.winheight(self.windows.prompt)
    local lines = api.nvim_buf_line_count(self.prompt_buf)
    local rows = lines >= most and lines -- which may be a great many to measure
      or api.nvim_win_text_height(self.windows.prompt, {}).all
    local height = math.max(least, math.min(most, rows + bar))
    if self:is_open("transcript") then
      room = room + api.nvim_win_get_height(self.windows.transcript) - 3
    end
    height = math.min(height, math.max(1, room))
    if api.nvim_win_get_height(self.windows.prompt) ~= height then
      local cmdheight = vim.o.cmdheight
      api.nvim_win_set_height(self.windows.prompt, height)
      if vim.o.cmdheight ~= cmdheight then -- it got what the only window has lost
        vim.o.cmdheight = cmdheight
      end
    end
    self.chat.sends:show()
  end
end

--- Closes the windows. The chat goes on.
function View:hide()
  for _, name in ipairs({ "prompt", "transcript" }) do
    local window = self:is_open(name) and self.windows[name]
    self.windows[name] = nil
    if window and not pcall(api.nvim_win_close, window, true) then -- the last one
      local beside = self.beside and api.nvim_buf_is_valid(self.beside) and self.beside
      api.nvim_win_set_buf(window, beside or api.nvim_create_buf(true, false))
    end
  end
  if self.chat then
    self.chat.asks:hand_over()
  end
end

--- Ends the chat and its session.
function View:close()
  if self.closed then
    return
  end
  self.closed = true
  self:keep_draft()
  self:hide()
  self.chat:close()
  api.nvim_del_augroup_by_id(self.group)
  for _, buf in ipairs({ self.transcript_buf, self.prompt_buf }) do
    if api.nvim_buf_is_valid(buf) then
      api.nvim_buf_delete(buf, { force = true })
    end
  end
  require("hermes.chat").closed(self)
end

--- Goes to the next prompt in the transcript, or to the one before.
---@param step integer
function View:go(step)
  local line = self.chat.transcript:prompt(vim.fn.line("."), step)
  if line then
    api.nvim_win_set_cursor(0, { line, 0 })
  end
end

--- Shows the state of the chat above its windows, once whatever changes it is over.
function View:refresh()
  if self.stale then
    return
  end
  self.stale = true
  vim.schedule(function()
    self.stale = false
    if not self.chat or self.closed then
      return
    end
    vim.b[self.transcript_buf].hermes_chat = self.chat:status()
    vim.b[self.prompt_buf].hermes_chat = self.chat:hint(self.options.keys)
    self:fit()
    vim.cmd("redrawstatus!")
  end)
end

return View
