--- The keys of the chat. All are local to its buffers.

local hermes, api = require("hermes"), vim.api

local M = {}

---@class hermes.chat.Action
---@field name string of its key in the options, and of its <Plug> mapping
---@field where "prompt"|"transcript"|"both"
---@field modes string[]
---@field desc string
---@field run fun(chat: hermes.chat.Chat, view: hermes.chat.View)

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

---@type hermes.chat.Action[]
M.actions = {
  {
    name = "send",
    where = "prompt",
    modes = { "n", "i" },
    desc = "send the prompt",
    run = function(chat)
      chat:send()
    end,
  },
  {
    name = "complete",
    where = "prompt",
    modes = { "i" },
    desc = "complete an @file or a /command",
    run = function()
      require("hermes.complete").tab()
    end,
  },
  {
    name = "cancel",
    where = "both",
    modes = { "n" },
    desc = "stop the turn; prompts that wait come back",
    run = function(chat)
      chat:cancel()
    end,
  },
  {
    name = "take_back",
    where = "prompt",
    modes = { "n" },
    desc = "take the last prompt that waits back",
    run = function(chat)
      local id = chat.queue[#chat.queue]
      if id then
        hermes.queue.remove(id, { agent = chat.agent, on_done = report(chat) })
      end
    end,
  },
  {
    name = "send_now",
    where = "prompt",
    modes = { "n" },
    desc = "stop the turn, and send the prompt that waits",
    run = function(chat)
      if chat.queue[1] then
        hermes.queue.send_now(chat.queue[1], { agent = chat.agent, on_done = report(chat) })
      end
    end,
  },
  {
    name = "choose",
    where = "transcript",
    modes = { "n" },
    desc = "take the choice on this line, or open and close a fold",
    run = function(chat)
      if not chat.asks:choose() and vim.fn.foldlevel(".") > 0 then
        vim.cmd("normal! za")
      end
    end,
  },
  {
    name = "question",
    where = "both",
    modes = { "n" },
    desc = "go to the question that waits for an answer",
    run = function(chat, view)
      if not (view.windows.transcript and chat.asks:jump(view.windows.transcript)) then
        vim.cmd("Hermes respond")
      end
    end,
  },
  {
    name = "mode",
    where = "both",
    modes = { "n" },
    desc = "choose the mode",
    run = function(chat)
      local modes = chat.id and chat.info.modes or {}
      pick(modes.availableModes or {}, "Mode:", function(mode)
        return named(mode, modes.currentModeId, mode.id)
      end, function(mode)
        hermes.set_mode(chat.id, mode.id, { agent = chat.agent, on_done = report(chat) })
      end)
    end,
  },
  {
    name = "model",
    where = "both",
    modes = { "n" },
    desc = "choose the model",
    run = function(chat)
      local models = chat.id and hermes.models(chat.id) or {}
      pick(models.availableModels or {}, "Model:", function(model)
        return named(model, models.currentModelId, model.modelId)
      end, function(model)
        hermes.set_model(chat.id, model.modelId, { agent = chat.agent, on_done = report(chat) })
      end)
    end,
  },
  {
    name = "option",
    where = "both",
    modes = { "n" },
    desc = "change an option of the session",
    run = function(chat)
      pick(chat.id and hermes.config_options(chat.id) or {}, "Option:", function(option)
        return option.name or option.id
      end, function(option)
        set_option(chat, option)
      end)
    end,
  },
  {
    name = "new",
    where = "both",
    modes = { "n" },
    desc = "open another chat with this agent",
    run = function(chat)
      require("hermes.chat").open({ agent = chat.agent, cwd = chat.cwd, new = true })
    end,
  },
  {
    name = "resume",
    where = "both",
    modes = { "n" },
    desc = "open a session that the agent has stored",
    run = function(chat)
      require("hermes.chat").resume({ agent = chat.agent, cwd = chat.cwd })
    end,
  },
  {
    name = "login",
    where = "both",
    modes = { "n" },
    desc = "log in",
    run = function(chat)
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
  },
  {
    name = "restart",
    where = "both",
    modes = { "n" },
    desc = "start the agent again after it has stopped",
    run = function(chat)
      chat:restart()
    end,
  },
  {
    name = "next",
    where = "transcript",
    modes = { "n" },
    desc = "go to the next prompt",
    run = function(_, view)
      view:go(1)
    end,
  },
  {
    name = "previous",
    where = "transcript",
    modes = { "n" },
    desc = "go to the prompt before",
    run = function(_, view)
      view:go(-1)
    end,
  },
  {
    name = "write",
    where = "transcript",
    modes = { "n" },
    desc = "write a prompt",
    run = function(_, view)
      view:show()
    end,
  },
  {
    name = "hide",
    where = "transcript",
    modes = { "n" },
    desc = "hide the chat; the session goes on",
    run = function(_, view)
      view:hide()
    end,
  },
  {
    name = "close",
    where = "both",
    modes = { "n" },
    desc = "close the chat and its session",
    run = function(_, view)
      view:close()
    end,
  },
  {
    name = "help",
    where = "both",
    modes = { "n" },
    desc = "show these keys",
    run = function(_, view)
      M.help(view)
    end,
  },
}

---@type table<string, string|string[]|false> by name, or by name and mode
M.defaults = {
  send = { n = "<CR>", i = "<C-s>" },
  complete = "<Tab>",
  cancel = "<C-c>",
  take_back = "gb",
  send_now = "gs",
  choose = "<CR>",
  question = "ga",
  mode = "gm",
  model = "gM",
  option = "go",
  new = "gn",
  resume = "gl",
  login = "gL",
  restart = "gR",
  next = "]]",
  previous = "[[",
  write = "i",
  hide = "q",
  close = "gX",
  help = "g?",
}

---@param key string|table|false|nil
---@param mode string
---@return string?
local function key_of(key, mode)
  if type(key) == "table" then
    key = key[mode]
  end
  return key or nil
end

--- Makes the mappings of a buffer.
---@param view hermes.chat.View
---@param place "prompt"|"transcript"
---@param keys table
function M.set(view, place, keys)
  local buf = view[place .. "_buf"]
  for _, action in ipairs(M.actions) do
    if action.where == place or action.where == "both" then
      local function run()
        action.run(view.chat, view)
      end
      local opts = { buffer = buf, nowait = true, desc = "chat: " .. action.desc }
      vim.keymap.set(action.modes, ("<Plug>(hermes-chat-%s)"):format(action.name), run, opts)
      for _, mode in ipairs(action.modes) do
        local key = key_of(keys[action.name], mode)
        if key then
          vim.keymap.set(mode, key, run, opts)
        end
      end
    end
  end
end

--- Shows the keys of the buffer.
---@param view hermes.chat.View
function M.help(view)
  local lines = {}
  for _, action in ipairs(M.actions) do
    for _, mode in ipairs(action.modes) do
      local key = key_of(view.options.keys[action.name], mode)
      if key then
        local where = action.where == "both" and "" or action.where
        lines[#lines + 1] = (" %-8s %-6s %-10s %s "):format(
          key,
          mode == "i" and "insert" or "",
          where,
          action.desc
        )
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
