--- A chat with an agent, in two windows: the transcript, and below it the
--- prompt. It stands on the functions and events that Hermes offers to
--- everybody, and Hermes itself does not need it.

local hermes = require("hermes")

local M = {}

local views = {} ---@type hermes.chat.View[] the one used last at the end

---Configure the chat. Repeated calls merge; chats that are open keep what they have.
---@param opts? hermes.chat.Options
function M.setup(opts)
  local options = require("hermes.view.chat.options")
  local problem = options.problem(opts or {}, "")
  if problem then
    error("hermes.chat.setup: " .. problem, 2)
  end
  options.set(opts or {})
end

---------------------------------------------------------------------------
-- Questions that are answered in a chat.

--- Lets the chats that are in sight ask what the dialog would ask otherwise.
local function claim()
  require("hermes.ask.permission").in_sight = function(data, answer)
    for _, view in ipairs(views) do
      local chat, here = view.chat, view.options.permissions == "chat" and view:in_tab()
      if here and chat.agent == data.agent and chat.id == data.sessionId then
        chat.asks:take(data, answer)
        return true
      end
    end
    return false
  end
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

---The agent of a new chat that names none: the option `agent`, or the one connected last.
---@return string?
function M.agent()
  local agent = require("hermes.view.chat.options").get().agent
  for _, connection in ipairs(hermes.connections()) do
    agent = agent or (connection.current and connection.name) or nil
  end
  return agent
end

---@param who string
---@param agent? string
---@return string
local function agent_for(who, agent)
  return agent
    or M.agent()
    or error(("hermes.chat.%s: which agent? Name one, or set the option `agent`"):format(who), 3)
end

---@class hermes.chat.OpenOptions
---@field agent? string
---@field cwd? string folder of the session; default: as for create_session()
---@field session? string one that is open, or that the agent has stored
---@field connected? boolean whether the agent was started for this chat
---@field new? boolean another chat, even if there is one with this agent

---Open a chat, or go to the one with this agent that was used last.
---@param opts? hermes.chat.OpenOptions
function M.open(opts)
  opts = opts or {}
  local options = require("hermes.view.chat.options").get()
  local settings = vim.tbl_extend("force", {}, options)
  settings.keys = require("hermes.view.chat.actions").resolve(options.keys)
  for i = #views, 1, -1 do
    local chat = views[i].chat
    local same = opts.session and chat.id == opts.session and chat.agent == opts.agent
    local fits = not opts.session and not opts.new and (not opts.agent or chat.agent == opts.agent)
    if same or fits then
      return use(views[i])
    end
  end
  local agent = agent_for("open", opts.agent)
  claim()
  local view = require("hermes.view.chat.view").new(settings)
  local chat = require("hermes.view.chat.session").new({
    agent = agent,
    cwd = opts.cwd,
    connected = opts.connected,
    transcript = require("hermes.view.chat.transcript").new(
      view.transcript_buf,
      settings.max_lines
    ),
    prompt = require("hermes.view.chat.prompt").new(view.prompt_buf),
    changed = function()
      view:refresh()
    end,
  })
  view:begin(chat)
  chat:open(opts.session) -- in the folder of the project that the user is in
  use(view)
end

---@param text string
local function say(text)
  require("hermes.core.log").show(vim.log.levels.WARN, text)
end

---Pick one of the sessions that an agent has stored, and open a chat with it.
---@param opts? { agent?: string, cwd?: string }
function M.resume(opts)
  opts = opts or {}
  local agent, cwd = agent_for("resume", opts.agent), opts.cwd or vim.fn.getcwd()
  local connected = not require("hermes.view.chat.session").is_running(agent)
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
      local name = view.chat:info().name
      return (name and name .. " · " or "") .. view.chat:status()
    end,
  }, function(view)
    if view and not view.closed then
      use(view)
    end
  end)
end

---@class hermes.chat.Info
---@field agent string
---@field session? string
---@field name? string as in |hermes.sessions()|
---@field title? string
---@field state string
---@field buf integer of the transcript

---The chats that are open, for pickers and status lines.
---@return hermes.chat.Info[]
function M.list()
  return vim.tbl_map(function(view)
    local chat = view.chat
    return {
      agent = chat.agent,
      session = chat.id,
      name = chat:info().name,
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
