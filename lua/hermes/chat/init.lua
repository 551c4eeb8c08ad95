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
  agent = nil,
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

---@type table<string, fun(value: any): boolean, string?>
local checks = {
  agent = function(value)
    return type(value) == "string"
  end,
  position = function(value)
    return vim.tbl_contains({ "right", "left", "above", "below" }, value)
  end,
  size = function(value)
    return type(value) == "number" and value > 0 and value < 1
  end,
  prompt_height = function(value)
    local least, most = unpack(type(value) == "table" and value or {})
    return type(least) == "number" and type(most) == "number" and least >= 1 and most >= least
  end,
  max_lines = function(value)
    return type(value) == "number" and value >= 100
  end,
  highlight = function(value)
    return type(value) == "boolean"
  end,
  insert = function(value)
    return type(value) == "boolean"
  end,
  permissions = function(value)
    return value == "dialog" or value == "chat"
  end,
  on_last = function(value)
    return vim.tbl_contains({ "disconnect", "keep", "ask" }, value)
  end,
  keys = function(value)
    local keys, unknown = nil, "keys"
    if type(value) == "table" then
      keys, unknown = require("hermes.chat.keys").resolve(value)
    end
    return keys ~= nil, unknown
  end,
}

---Configure the chat. Repeated calls merge; chats that are open keep what they have.
---@param opts? hermes.chat.Options
function M.setup(opts)
  for name, value in pairs(opts or {}) do
    if not checks[name] then
      local names = vim.tbl_keys(checks)
      table.sort(names)
      local known = table.concat(names, ", ")
      error(("hermes.chat.setup: there is no option %q, only %s"):format(tostring(name), known), 2)
    end
    local fine, what = checks[name](value)
    if not fine and what then
      error(("hermes.chat.setup: there is no key named %q"):format(what), 2)
    elseif not fine then
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
  local agent = opts.agent or settings.agent or hermes.state().current
  if not agent then
    error("hermes.chat.open: which agent? Name one, or set the option `agent`", 2)
  end
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

---Pick one of the sessions that an agent has stored, and open a chat with it.
---@param opts? { agent?: string, cwd?: string }
function M.resume(opts)
  opts = opts or {}
  local agent = opts.agent or options.agent or hermes.state().current
  if not agent then
    error("hermes.chat.resume: which agent? Name one, or set the option `agent`", 2)
  end
  local connected = not hermes.state().agents[agent]
  if connected then
    hermes.connect(agent)
  end
  local cwd = opts.cwd or vim.fn.getcwd()
  hermes.list_sessions({
    agent = agent,
    cwd = cwd,
    on_done = function(err, result)
      local list = result and result.sessions or {}
      if err or #list == 0 then
        local text = err and err.message or "the agent has stored no session of this folder"
        return vim.notify("hermes.chat: " .. hermes.text.line(text), vim.log.levels.WARN)
      end
      vim.ui.select(list, {
        prompt = "Session:",
        format_item = function(session)
          local at = session.updatedAt and session.updatedAt:sub(1, 16):gsub("T", " ") .. "  " or ""
          return hermes.text.line(at .. (session.title or session.sessionId), 200)
        end,
      }, function(session)
        if session then
          M.open({
            agent = agent,
            cwd = session.cwd or cwd,
            session = session.sessionId,
            connected = connected,
          })
        end
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
      title = chat.info.title,
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
  local agent, on_last = view.chat.agent, view.options.on_last
  for _, other in ipairs(views) do
    if other.chat.agent == agent then
      other.chat.connected = other.chat.connected or view.chat.connected
      return
    end
  end
  local known = hermes.state().agents[agent]
  if not known or not view.chat.connected or on_last == "keep" then
    return
  end
  known.sessions[view.chat.last_id or ""] = nil
  if next(known.sessions) then
    return -- something else uses the agent
  elseif on_last == "disconnect" then
    return hermes.disconnect(agent)
  end
  vim.ui.select(
    { "no", "yes" },
    { prompt = "That was the last chat. Stop the agent?" },
    function(choice)
      if choice == "yes" then
        hermes.disconnect(agent)
      end
    end
  )
end

---@private
---@return string what is shown of a closed fold
function M.foldtext()
  local count = vim.v.foldend - vim.v.foldstart
  return ("%s  (+%d lines)"):format(vim.fn.getline(vim.v.foldstart), count)
end

return M
