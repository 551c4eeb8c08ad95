--- The buffers and windows of a chat: the transcript, and below it the prompt.

local api = vim.api

---@class hermes.chat.View
---@field chat hermes.chat.Chat
---@field options hermes.chat.Options
---@field transcript_buf integer
---@field prompt_buf integer
---@field windows { transcript?: integer, prompt?: integer }
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

--- Makes the buffers ready for the chat.
---@param chat hermes.chat.Chat
function View:begin(chat)
  self.chat = chat
  self.group = api.nvim_create_augroup("hermes_chat_" .. self.transcript_buf, {})
  local keys = require("hermes.chat.keys")
  keys.set(self, "transcript", self.options.keys)
  keys.set(self, "prompt", self.options.keys)
  vim.bo[self.transcript_buf].filetype = "hermes_chat"
  vim.bo[self.prompt_buf].filetype = "hermes_prompt"
  vim.bo[self.prompt_buf].omnifunc = "v:lua.require'hermes.complete'.omnifunc"
  if self.options.highlight then
    chat.transcript:highlight()
  end
  for _, buf in ipairs({ self.transcript_buf, self.prompt_buf }) do
    api.nvim_create_autocmd({ "BufUnload", "BufWipeout" }, {
      group = self.group,
      buffer = buf,
      callback = function()
        vim.schedule(function()
          self:close()
        end)
      end,
    })
  end
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, {
    group = self.group,
    buffer = self.prompt_buf,
    callback = function()
      self:fit()
    end,
  })
  api.nvim_create_autocmd("BufWinEnter", {
    group = self.group,
    buffer = self.transcript_buf,
    callback = function()
      local window = api.nvim_get_current_win()
      vim.schedule(function()
        if
          api.nvim_win_is_valid(window) and api.nvim_win_get_buf(window) == self.transcript_buf
        then
          chat.transcript:fold_all(window)
        end
      end)
    end,
  })
  api.nvim_create_autocmd("WinClosed", {
    group = self.group,
    callback = function(args)
      local window = tonumber(args.match)
      if window == self.windows.transcript or window == self.windows.prompt then
        vim.schedule(function()
          self:hide()
        end)
      end
    end,
  })
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

--- Opens the windows, or goes to them, with the cursor in the prompt.
function View:show()
  if not self:in_tab() then
    self:hide()
    local position, size = self.options.position, self.options.size
    local beside = position == "left" or position == "right"
    local config = { split = position, win = -1 }
    if beside then
      local least = math.max(20, math.min(40, vim.o.columns - 10))
      config.width = math.max(least, math.floor(vim.o.columns * size))
    else
      config.height = math.max(6, math.floor(vim.o.lines * size))
    end
    local window = api.nvim_open_win(self.transcript_buf, true, config)
    self.windows.transcript = window
    local local_ = vim.wo[window][0]
    local_.winbar = " %{get(b:,'hermes_chat','')}%<"
    local_.wrap, local_.linebreak, local_.breakindent = true, true, true
    local_.number, local_.relativenumber, local_.list, local_.spell = false, false, false, false
    local_.signcolumn, local_.foldcolumn, local_.conceallevel = "yes:1", "0", 0
    local_.foldmethod, local_.foldenable, local_.foldminlines = "manual", true, 1
    local_.foldtext = "v:lua.require'hermes.chat'.foldtext()"
    local_.winfixwidth = beside
    api.nvim_win_set_cursor(window, { api.nvim_buf_line_count(self.transcript_buf), 0 })
    window = api.nvim_open_win(self.prompt_buf, true, {
      split = "below",
      win = window,
      height = self.options.prompt_height[1],
    })
    self.windows.prompt = window
    local_ = vim.wo[window][0]
    local_.winbar = " %{get(b:,'hermes_chat','')}%<"
    local_.wrap, local_.linebreak = true, true
    local_.number, local_.relativenumber, local_.list = false, false, false
    local_.signcolumn, local_.foldcolumn, local_.foldmethod = "yes:1", "0", "manual"
    local_.winfixheight = true
    self:fit()
  end
  api.nvim_set_current_win(self.windows.prompt)
  if self.options.insert then
    vim.cmd("startinsert!")
  end
end

--- Gives the prompt as many lines as its text has.
function View:fit()
  if self:is_open("prompt") then
    local least, most = unpack(self.options.prompt_height)
    local height = math.max(least, math.min(most, api.nvim_buf_line_count(self.prompt_buf)))
    local room = api.nvim_win_get_height(self.windows.prompt)
    if self:is_open("transcript") then
      room = room + api.nvim_win_get_height(self.windows.transcript) - 3
    end
    height = math.min(height, math.max(1, room))
    if api.nvim_win_get_height(self.windows.prompt) ~= height then
      api.nvim_win_set_height(self.windows.prompt, height)
    end
  end
end

--- Closes the windows. The chat goes on.
function View:hide()
  local windows = self.windows
  self.windows = {}
  for _, name in ipairs({ "prompt", "transcript" }) do
    local window = windows[name]
    if
      window
      and api.nvim_win_is_valid(window)
      and api.nvim_win_get_buf(window) == self[name .. "_buf"]
    then
      if not pcall(api.nvim_win_close, window, true) then -- the last one
        api.nvim_win_set_buf(window, api.nvim_create_buf(true, false))
      end
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
  local row = api.nvim_win_get_cursor(0)[1]
  local target ---@type integer?
  for _, candidate in ipairs(self.chat.transcript:prompts()) do
    if step > 0 and candidate > row then
      target = target or candidate
    elseif step < 0 and candidate < row then
      target = candidate
    end
  end
  if target then
    api.nvim_win_set_cursor(0, { target, 0 })
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
    local status, hint = self.chat:status(), self.chat:hint(self.options.keys)
    if
      vim.b[self.transcript_buf].hermes_chat ~= status
      or vim.b[self.prompt_buf].hermes_chat ~= hint
    then
      vim.b[self.transcript_buf].hermes_chat = status
      vim.b[self.prompt_buf].hermes_chat = hint
      vim.cmd("redrawstatus!")
    end
  end)
end

return View
