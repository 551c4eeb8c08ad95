--- The keys of the chat. All are local to its buffers.

local hermes = require("hermes")
local actions = require("hermes.view.chat.actions").all

local M = {}

--- Changes the queue of a chat.
---@param chat hermes.chat.Chat
---@param how "remove"|"send_now"
---@param id? string
local function change(chat, how, id)
  if id then
    hermes.queue[how](id, {
      on_done = function(err)
        if err and not chat.closed then
          chat:problem(err)
        end
      end,
    })
  end
end

---@type table<string, fun(chat: hermes.chat.Chat, view: hermes.chat.View)> by the name of the key
local run = {
  send = function(chat)
    chat:send()
  end,
  complete = function()
    require("hermes.complete").tab()
  end,
  cancel = function(chat)
    if not chat:cancel() then
      vim.cmd.stopinsert() -- what <C-c> does there
    end
  end,
  take_back = function(chat)
    change(chat, "remove", chat.queue[#chat.queue])
  end,
  send_now = function(chat) -- it could stop the turn of the very prompt that was meant
    local since_ms = chat.passed and (vim.uv.hrtime() - chat.passed) / 1e6 or math.huge
    if chat.queue[1] and since_ms < require("hermes.ask.reading").too_soon_ms then
      return chat:note("The prompt that was next is not any more. The same key sends this one.")
    end
    change(chat, "send_now", chat.queue[1])
  end,
  choose = function(chat)
    if not chat.asks:choose() and vim.fn.foldlevel(".") > 0 then
      vim.cmd("normal! za")
    end
  end,
  question = function(chat, view)
    if not (view.windows.transcript and chat.asks:jump(view.windows.transcript)) then
      vim.cmd("Hermes respond")
    end
  end,
  mode = function(chat) -- the buffer says of which session
    return chat.id and vim.cmd("Hermes mode")
  end,
  model = function(chat)
    return chat.id and vim.cmd("Hermes model")
  end,
  option = function(chat)
    return chat.id and vim.cmd("Hermes config")
  end,
  new = function(chat)
    require("hermes.chat").open({ agent = chat.agent, cwd = chat.cwd, new = true })
  end,
  chats = function()
    require("hermes.chat").pick()
  end,
  resume = function(chat)
    require("hermes.chat").resume({ agent = chat.agent, cwd = chat.cwd })
  end,
  login = function(chat)
    vim.cmd.Hermes({ args = { "login", chat.agent } })
  end,
  restart = function(chat)
    chat:restart()
  end,
  next = function(_, view)
    view:go(1)
  end,
  previous = function(_, view)
    view:go(-1)
  end,
  write = function(_, view)
    view:show()
  end,
  hide = function(_, view)
    view:hide()
  end,
  close = function(_, view)
    view:close()
  end,
  help = function(_, view)
    M.help(view)
  end,
}
--- Makes the mappings of a buffer.
---@param view hermes.chat.View
---@param place "prompt"|"transcript"
---@param keys table
function M.set(view, place, keys)
  for _, action in ipairs(actions) do
    local name, where, modes, about = unpack(action)
    if where == place or where == "both" then
      local function act()
        run[name](view.chat, view)
      end
      local opts = { buffer = view[place .. "_buf"], nowait = true, desc = "chat: " .. about }
      for mode in pairs(modes) do
        vim.keymap.set(mode, ("<Plug>(hermes-chat-%s)"):format(name), act, opts)
        local key = keys[name][mode]
        if key then
          vim.keymap.set(mode, key, act, opts)
        end
      end
    end
  end
  if place == "transcript" and require("hermes.view.chat.asks").are_numbered() then
    for digit = 1, 9 do
      vim.keymap.set("n", tostring(digit), function()
        local take = vim.v.count == 0 and view.chat.asks:numbered(digit)
        if not take then
          return tostring(digit) -- a count
        end
        vim.schedule(take)
        return ""
      end, { buffer = view[place .. "_buf"], expr = true, desc = "chat: take a choice" })
    end
  end
end

--- Shows the keys, in a window that goes away when it is left.
---@param view hermes.chat.View
function M.help(view)
  local lines = {}
  for _, action in ipairs(actions) do
    local name, where, modes, about = unpack(action)
    for mode in vim.spairs(modes) do
      local key = view.options.keys[name][mode]
      if key then
        where = where == "both" and "" or where
        local insert = mode == "i" and "insert" or ""
        lines[#lines + 1] = ("%-6s %-6s %-10s %s"):format(key, insert, where, about)
      end
    end
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  local width = math.max(unpack(vim.tbl_map(vim.api.nvim_strwidth, lines)))
  width = math.max(1, math.min(width, vim.o.columns - 2))
  local height = math.max(1, math.min(#lines, vim.o.lines - vim.o.cmdheight - 4))
  local has_border = vim.fn.exists("+winborder") == 1 and vim.o.winborder ~= ""
  local window = vim.api.nvim_open_win(buf, true, {
    relative = "editor",
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 2),
    col = math.max(0, vim.o.columns - width - 2),
    width = width,
    height = height,
    style = "minimal",
    border = not has_border and "rounded" or nil,
    title = " Keys of the chat ",
  })
  local wo = vim.wo[window]
  wo.linebreak, wo.breakindent, wo.breakindentopt = true, true, "shift:25" -- below what it does
  if vim.api.nvim_win_text_height(window, {}).all > height then
    vim.api.nvim_win_set_config(window, { footer = " there are more below " })
  end
  local function close()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
  end
  for _, key in ipairs({ "q", "<Esc>", "g?" }) do
    vim.keymap.set("n", key, close, { buffer = buf, nowait = true })
  end
  vim.api.nvim_create_autocmd("WinLeave", { buffer = buf, callback = vim.schedule_wrap(close) })
end

return M
