--- A chat with an agent, in two windows: the transcript, and below it the
--- prompt. It stands on the functions and events that Hermes offers to
--- everybody, and Hermes itself does not need it.

local hermes = require("hermes")

local M = {}

---@class hermes.chat.Options
---@field agent? string the agent of a chat that names none
---@field position "right"|"left"|"above"|"below"
---@field size number part of the screen, between 0 and 1
---@field prompt_height integer[] the least and the most lines
---@field max_lines integer of the transcript; older ones are dropped
---@field highlight boolean markdown, with treesitter
---@field insert boolean whether a chat opens in insert mode
---@field permissions "dialog"|"chat" where questions are answered
---@field on_last "disconnect"|"keep"|"ask" what becomes of an agent whose last chat closes
---@field keys table<string, string|table<string, string>|false>
local defaults = {
  position = "right",
  size = 0.45,
  prompt_height = { 3, 12 },
  max_lines = 5000,
  highlight = true,
  insert = true,
  permissions = "dialog",
  on_last = "disconnect",
  keys = {},
}

local options = vim.tbl_extend("force", {}, defaults) ---@type hermes.chat.Options
local views = {} ---@type hermes.chat.View[] the one used last at the end

---@type table<string, fun(value: any): any> what a value of an option must fulfil
local checks = {
  size = function(value)
    return value > 0 and value < 1
  end,
  prompt_height = function(value)
    local least, most = unpack(value)
    return type(least) == "number" and type(most) == "number" and least >= 1 and most >= least
  end,
  max_lines = function(value)
    return value >= 100
  end,
  keys = function(value)
    local keys, unknown = require("hermes.chat.keys").resolve(value)
    return keys or error(("hermes.chat.setup: there is no key named %q"):format(unknown), 4)
  end,
}
for name, values in pairs({
  position = { "right", "left", "above", "below" },
  permissions = { "dialog", "chat" },
  on_last = { "disconnect", "keep", "ask" },
}) do
  checks[name] = function(value)
    return vim.tbl_contains(values, value)
  end
end

---Configure the chat. Repeated calls merge; chats that are open keep what they have.
---@param opts? hermes.chat.Options
function M.setup(opts)
  for name, value in pairs(opts or {}) do
    local kind = name == "agent" and "string" or type(defaults[name])
    if kind == "nil" then
      local names = vim.list_extend({ "agent" }, vim.tbl_keys(defaults))
      table.sort(names)
      local known = table.concat(names, ", ")
      error(("hermes.chat.setup: there is no option %q, only %s"):format(tostring(name), known), 2)
    elseif type(value) ~= kind or (checks[name] and not checks[name](value)) then
      error(("hermes.chat.setup: %s cannot be %s"):format(name, vim.inspect(value)), 2)
    end
  end
  local before = options
  options = vim.tbl_extend("force", {}, before, opts or {})
  options.keys = vim.tbl_extend("force", {}, before.keys, (opts or {}).keys or {})
end

---------------------------------------------------------------------------
-- Questions that are answered in a chat.

local claimed = false

local function claim()
  if claimed then
    return
  end
  claimed = true
  hermes.on_request("PermissionRequest", function(data, answer)
    for _, view in ipairs(views) do
      local chat = view.chat
      if chat.agent == data.agent and chat.id == data.sessionId and view:is_open("transcript") then
        return chat.asks:take(data, answer)
      end
    end
    answer.default()
  end)
end

---------------------------------------------------------------------------
-- Chats.

--- Shows a chat, in place of the one that is in the tab page.
---@param view hermes.chat.View
local function use(view)
  views = vim.tbl_filter(function(other)
    if other ~= view and other:in_tab() then
      other:hide()
    end
    return other ~= view
  end, views)
  views[#views + 1] = view
  view:show()
end

---@param who string
---@param agent? string
---@return string
local function agent_for(who, agent)
  agent = agent or options.agent
  for _, connection in ipairs(hermes.connections()) do
    agent = agent or (connection.current and connection.name) or nil
  end
  return agent
    or error(("hermes.chat.%s: which agent? Name one, or set the option `agent`"):format(who), 3)
end

---@class hermes.chat.OpenOptions
---@field agent? string
---@field cwd? string folder of the session; default: that of create_session()
---@field session? string one that the agent has stored
---@field connected? boolean whether the agent was started for this chat
---@field new? boolean another chat, even if there is one with this agent

---Open a chat, or go to the one with this agent that was used last.
---@param opts? hermes.chat.OpenOptions
function M.open(opts)
  opts = opts or {}
  local settings = vim.tbl_extend("force", {}, options)
  settings.keys = require("hermes.chat.keys").resolve(options.keys)
  for i = #views, 1, -1 do
    local chat = views[i].chat
    local same = opts.session and chat.id == opts.session and chat.agent == opts.agent
    local fits = not opts.session and not opts.new and (not opts.agent or chat.agent == opts.agent)
    if same or fits then
      return use(views[i])
    end
  end
  local agent = agent_for("open", opts.agent)
  if settings.permissions == "chat" then
    claim()
  end
  local view = require("hermes.chat.view").new(settings)
  local chat = require("hermes.chat.session").new({
    agent = agent,
    cwd = opts.cwd,
    connected = opts.connected,
    transcript = require("hermes.chat.transcript").new(view.transcript_buf, settings.max_lines),
    prompt = require("hermes.chat.prompt").new(view.prompt_buf),
    changed = function()
      view:refresh()
    end,
  })
  view:begin(chat)
  chat:open(opts.session) -- in the folder of the project that the user is in
  use(view)
end

--- Says something in one line: more would make the user press Enter.
---@param text string
local function say(text)
  local start = "hermes.chat: "
  local line = hermes.text.line(text, math.max(20, vim.v.echospace - #start))
  vim.notify(start .. line, vim.log.levels.WARN)
end

---Pick one of the sessions that an agent has stored, and open a chat with it.
---@param opts? { agent?: string, cwd?: string }
function M.resume(opts)
  opts = opts or {}
  local agent, cwd = agent_for("resume", opts.agent), opts.cwd or vim.fn.getcwd()
  local connected = not require("hermes.chat.session").is_running(agent)
  if connected then
    hermes.connect(agent)
  end
  hermes.list_sessions({
    agent = agent,
    cwd = cwd,
    on_done = function(err, result)
      local list = result and result.sessions or {}
      if err or #list == 0 then
        return say(err and err.message or "the agent has stored no session of this folder")
      end
      -- The list may come late. A menu would take the keys of a user who types by now.
      if vim.api.nvim_get_mode().mode ~= "n" or vim.fn.getcmdwintype() ~= "" then
        return say("the sessions of the agent came while you typed; ask for them again")
      end
      vim.ui.select(list, {
        prompt = "Session:",
        format_item = function(session)
          local at = session.updatedAt and session.updatedAt:sub(1, 16):gsub("T", " ") .. "  " or ""
          return hermes.text.line(at .. (session.title or session.sessionId), 200)
        end,
      }, function(session)
        local id = session and session.sessionId
        -- The folder is the user's: the agent may read and write there.
        return id and M.open({ agent = agent, cwd = cwd, session = id, connected = connected })
      end)
    end,
  })
end

---Pick one of the open chats.
function M.pick()
  vim.ui.select(vim.list_slice(views), {
    prompt = "Chat:",
    format_item = function(view)
      return view.chat:status()
    end,
  }, function(view)
    if view and not view.closed then
      use(view)
    end
  end)
end

---The chats that are open, for pickers and status lines.
---@return { agent: string, session?: string, title?: string, state: string, buf: integer }[]
function M.list()
  return vim.tbl_map(function(view)
    local chat = view.chat
    return {
      agent = chat.agent,
      session = chat.id,
      title = chat:info().title,
      state = chat.state,
      buf = view.transcript_buf,
    }
  end, views)
end

---@private
---@param view hermes.chat.View that has been closed
function M.closed(view)
  views = vim.tbl_filter(function(other)
    return other ~= view
  end, views)
  local chat, on_last = view.chat, view.options.on_last
  for _, other in ipairs(views) do
    if other.chat.agent == chat.agent then
      other.chat.connected = other.chat.connected or chat.connected
      return
    end
  end
  local left = vim.tbl_filter(function(session)
    return session.sessionId ~= chat.last_id
  end, hermes.sessions({ agent = chat.agent }))
  if #left > 0 or not chat.connected or on_last == "keep" or not chat.is_running(chat.agent) then
    return -- something else uses the agent
  elseif on_last == "disconnect" then
    return hermes.disconnect(chat.agent)
  end
  vim.ui.select({ "no", "yes" }, { prompt = "Stop the agent of the last chat?" }, function(choice)
    return choice == "yes" and hermes.disconnect(chat.agent)
  end)
end

---@private
---@return string what is shown of a closed fold
function M.foldtext()
  local count = vim.v.foldend - vim.v.foldstart
  return ("%s  (+%d lines)"):format(vim.fn.getline(vim.v.foldstart), count)
end

return M
