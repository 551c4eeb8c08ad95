--- The keys of the chat. All are local to its buffers.

local hermes, api = require("hermes"), vim.api

local M = {}

--- Lets the user pick one of some things.
---@param items table[]
---@param prompt string
---@param label fun(item: table): string
---@param chosen fun(item: table)
local function pick(items, prompt, label, chosen)
  if #items == 0 then
    return vim.notify("hermes.chat: the agent offers no choice")
  end
  vim.ui.select(items, {
    prompt = prompt,
    format_item = function(item)
      return hermes.text.line(label(item), 200)
    end,
  }, function(item)
    if item then
      chosen(item)
    end
  end)
end

---@param chat hermes.chat.Chat
---@return fun(err: hermes.Error?)
local function report(chat)
  return function(err)
    if err and not chat.closed then
      chat:problem(err)
    end
  end
end

---@param item table
---@param current any
---@param id any
---@return string
local function named(item, current, id)
  local about = item.description and ": " .. item.description or ""
  local sign = current == nil and "" or id == current and "● " or "○ "
  return ("%s%s%s"):format(sign, item.name or id, about)
end

---@param options table[]
---@return table[] values of a config option, without their groups
local function values_of(options)
  local list = {}
  for _, value in ipairs(options or {}) do
    vim.list_extend(list, value.options and values_of(value.options) or { value })
  end
  return list
end

---@param chat hermes.chat.Chat
---@param option table
local function set_option(chat, option)
  local values = values_of(option.options)
  if option.type == "boolean" then
    values = { { value = true, name = "on" }, { value = false, name = "off" } }
  end
  pick(values, option.name .. ":", function(value)
    return named(value, option.currentValue, value.value)
  end, function(value)
    local change = { id = option.id, value = value.value }
    hermes.set_config_option(chat.id, change, { agent = chat.agent, on_done = report(chat) })
  end)
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
    chat:cancel()
  end,
  take_back = function(chat)
    local id = chat.queue[#chat.queue]
    if id then
      hermes.queue.remove(id, { agent = chat.agent, on_done = report(chat) })
    end
  end,
  send_now = function(chat)
    if chat.queue[1] then
      hermes.queue.send_now(chat.queue[1], { agent = chat.agent, on_done = report(chat) })
    end
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
  mode = function(chat)
    local modes = chat.id and chat.info.modes or {}
    pick(modes.availableModes or {}, "Mode:", function(mode)
      return named(mode, modes.currentModeId, mode.id)
    end, function(mode)
      hermes.set_mode(chat.id, mode.id, { agent = chat.agent, on_done = report(chat) })
    end)
  end,
  model = function(chat)
    local models = chat.id and hermes.models(chat.id) or {}
    pick(models.availableModels or {}, "Model:", function(model)
      return named(model, models.currentModelId, model.modelId)
    end, function(model)
      hermes.set_model(chat.id, model.modelId, { agent = chat.agent, on_done = report(chat) })
    end)
  end,
  option = function(chat)
    pick(chat.id and hermes.config_options(chat.id) or {}, "Option:", function(option)
      return option.name or option.id
    end, function(option)
      set_option(chat, option)
    end)
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
    local known = hermes.state().agents[chat.agent] or {}
    pick(known.authMethods or {}, "Log in:", function(method)
      return named(method, nil, method.id)
    end, function(method)
      hermes.authenticate(method.id, {
        agent = chat.agent,
        on_done = function(err)
          if chat.ended and not err and not chat.closed then
            return chat:open()
          end
          report(chat)(err)
        end,
      })
    end)
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

--- Each with its name, its buffer, its keys by mode, and what it does.
---@type { [1]: string, [2]: string, [3]: table<string, string>, [4]: string }[]
local actions = {
  { "send", "prompt", { n = "<CR>", i = "<C-s>" }, "send the prompt" },
  { "complete", "prompt", { i = "<Tab>" }, "complete an @file or a /command" },
  { "cancel", "both", { n = "<C-c>" }, "stop the turn; prompts that wait come back" },
  { "take_back", "prompt", { n = "gb" }, "take the last prompt that waits back" },
  { "send_now", "prompt", { n = "gs" }, "stop the turn, and send the prompt that waits" },
  {
    "choose",
    "transcript",
    { n = "<CR>" },
    "take the choice on this line, or open and close a fold",
  },
  { "question", "both", { n = "ga" }, "go to the question that waits for an answer" },
  { "mode", "both", { n = "gm" }, "choose the mode" },
  { "model", "both", { n = "gM" }, "choose the model" },
  { "option", "both", { n = "go" }, "change an option of the session" },
  { "new", "both", { n = "gn" }, "open another chat with this agent" },
  { "chats", "both", { n = "gC" }, "go to another chat" },
  { "resume", "both", { n = "gl" }, "open a session that the agent has stored" },
  { "login", "both", { n = "gL" }, "log in" },
  { "restart", "both", { n = "gR" }, "start the agent again after it has stopped" },
  { "next", "transcript", { n = "]]" }, "go to the next prompt" },
  { "previous", "transcript", { n = "[[" }, "go to the prompt before" },
  { "write", "transcript", { n = "i" }, "write a prompt" },
  { "hide", "transcript", { n = "q" }, "hide the chat; the session goes on" },
  { "close", "both", { n = "gX" }, "close the chat and its session" },
  { "help", "both", { n = "g?" }, "show these keys" },
}

--- The keys by name and mode.
---@param given table<string, table<string, string|false>|string|false>
---@return table<string, table<string, string|false>>? keys nil when there is no key of a name
---@return string? name
function M.resolve(given)
  local keys = {}
  for _, action in ipairs(actions) do
    local name, modes = action[1], action[3]
    local own = given[name]
    keys[name] = vim.tbl_extend("force", {}, modes, type(own) == "table" and own or {})
    if type(own) == "string" or own == false then
      for mode in pairs(modes) do
        keys[name][mode] = own
      end
    end
  end
  for name in pairs(given) do
    if not keys[name] then
      return nil, tostring(name)
    end
  end
  return keys
end

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
end

--- Shows the keys.
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
        lines[#lines + 1] = (" %-6s %-6s %-10s %s "):format(key, insert, where, about)
      end
    end
  end
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable = "wipe", false
  local width = math.min(vim.o.columns - 4, 80)
  local height = math.max(1, math.min(#lines, vim.o.lines - 4))
  api.nvim_open_win(buf, true, {
    relative = "editor",
    style = "minimal",
    border = "rounded",
    title = " Keys of the chat ",
    width = width,
    height = height,
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2),
  })
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buf, nowait = true })
  vim.keymap.set("n", "<Esc>", "<Cmd>close<CR>", { buffer = buf, nowait = true })
end

return M
