-- A chat with an agent in one buffer, built on Hermes' functions and events.
-- :HermesChat [agent] opens it, <CR> sends, <C-c> cancels, q closes. Each part
-- of the conversation is a block, an extmark over its lines, so that later text
-- finds its place; the prompt is what follows the row of another extmark.
-- A chat for every day is hermes.chat, see :help hermes-chat.

local hermes, api = require("hermes"), vim.api
local ns = api.nvim_create_namespace("hermes_chat")
local icons = { pending = "○", in_progress = "◐", completed = "●", failed = "✗" }
local colors = { completed = "DiagnosticOk", failed = "ErrorMsg" }

local Chat = {} -- its blocks are extmarks by name

--- Puts an extmark on some rows; reuses the one with that id, if given.
function Chat:mark(first, last, group, id)
  local opts = { id = id, end_row = last, hl_group = group, right_gravity = false }
  return api.nvim_buf_set_extmark(self.buf, ns, first, 0, opts)
end

--- The first row of a block and the row after it; of the prompt, only its first.
function Chat:rows(name)
  local mark = api.nvim_buf_get_extmark_by_id(self.buf, ns, self.blocks[name], { details = true })
  return mark[1], mark[3].end_row
end

--- Shows a block, replacing its old content, or above the prompt if it is new.
function Chat:show(name, lines, group)
  local first, last = self:rows(self.blocks[name] and name or "prompt")
  if not self.blocks[name] then
    self.blocks.text, self.blocks.thought = nil, nil -- streamed text starts again below
  end
  api.nvim_buf_set_lines(self.buf, first, last or first, true, lines)
  self.blocks[name] = self:mark(first, first + #lines, group, self.blocks[name])
end

--- Adds text to the end of a block.
function Chat:stream(name, text, group)
  if not self.blocks[name] then
    self:show(name, { "", "" }, group)
  end
  local first, last = self:rows(name)
  local lines = vim.split(text, "\r?\n")
  api.nvim_buf_set_text(self.buf, last - 1, -1, last - 1, -1, lines)
  self:mark(first, last - 1 + #lines, group, self.blocks[name])
end

function Chat:status(text)
  vim.b[self.buf].hermes_chat = text
  vim.cmd.redrawstatus({ bang = true })
end

--- Makes a row the one above the prompt.
function Chat:begin(row)
  local opts = { id = self.blocks.prompt, virt_text = { { "❯", "Title" } } }
  self.blocks.prompt = api.nvim_buf_set_extmark(self.buf, ns, row, 0, opts)
end

--- Sends the prompt, which becomes a part of the conversation, and begins the next one.
function Chat:send()
  local row = self:rows("prompt")
  local lines = api.nvim_buf_get_lines(self.buf, row + 1, -1, true)
  local text = table.concat(lines, "\n")
  if self.session and vim.trim(text) ~= "" then
    lines[1] = "❯ " .. lines[1]
    api.nvim_buf_set_lines(self.buf, row, -1, true, vim.list_extend(lines, { "", "" }))
    self:begin(row + #lines - 2)
    self:mark(row, row + #lines - 2, "Title")
    api.nvim_win_set_cursor(0, { row + #lines, 0 })
    hermes.prompt(self.session, text, {
      on_done = function(err, turn)
        local how = hermes.text.line(err and err.message or turn.stopReason)
        if api.nvim_buf_is_valid(self.buf) then
          self:show("end", how == "end_turn" and { "" } or { "", how, "" }, "ErrorMsg")
          self:status(self.session and "ready" or vim.b[self.buf].hermes_chat)
        end
      end,
    })
  end
end

---@type table<string, fun(chat: Chat, data: table)> what is shown of an event
local on = {
  AgentTextMessage = function(chat, data)
    chat:stream("text", data.text)
  end,
  AgentTextThought = function(chat, data)
    chat:stream("thought", data.text, "Comment")
  end,
  AgentPlan = function(chat, data)
    local lines = { "" }
    for i, entry in ipairs(data.entries) do
      lines[i + 1] = ("%s %s"):format(icons[entry.status] or "○", hermes.text.line(entry.content))
    end
    chat:show("plan", lines, "Special")
  end,
  ToolCallState = function(chat, data)
    local call = data.toolCall
    local title = ("%s %s"):format(icons[call.status] or "○", hermes.text.line(call.title or ""))
    chat:show(call.toolCallId, { "", title }, colors[call.status] or "DiagnosticInfo")
    for i, content in ipairs(call.content or {}) do
      if content.type == "diff" and not chat.blocks[call.toolCallId .. i] then
        local diff = hermes.text.diff(content.oldText or "", content.newText) or { "too large" }
        local lines = hermes.text.lines(table.concat(diff, "\n"), 40)
        chat:show(call.toolCallId .. i, lines, "Comment")
      end
    end
  end,
  TerminalData = function(chat, data)
    chat:stream(data.terminalId, data.chunk, "String")
  end,
  TurnStarted = function(chat)
    chat.blocks = { prompt = chat.blocks.prompt }
    chat:status("working, <C-c> cancels")
  end,
  Disconnected = function(chat, data)
    chat.session = nil -- what is in the prompt stays there
    chat:status("the agent has stopped: " .. data.reason)
  end,
}

local function open(agent)
  vim.cmd("botright vnew")
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.undolevels = "nofile", "wipe", -1
  vim.wo.linebreak, vim.wo.number, vim.wo.winbar = true, false, "%{get(b:, 'hermes_chat', '')}"
  local buf = api.nvim_get_current_buf()
  local chat = setmetatable({ buf = buf, blocks = {} }, { __index = Chat })
  local function hear(data, name)
    return (not data.sessionId or data.sessionId == chat.session) and on[name](chat, data)
  end
  local off = hermes.on(vim.tbl_keys(on), { agent = agent, callback = hear })
  local function cancel()
    return chat.session and hermes.cancel(chat.session)
  end
  local function stop_agent() -- unless it has other sessions
    local known = hermes.state().agents[agent]
    return known and not next(known.sessions) and hermes.disconnect(agent)
  end
  local function close()
    off()
    return chat.session and hermes.close_session(chat.session, { on_done = stop_agent })
  end
  local function opened(err, result)
    chat.session = result and result.sessionId
    if not api.nvim_buf_is_valid(buf) then
      return close()
    end
    vim.b[buf].hermes_session = chat.session -- no notice of what the user sees
    chat:status(err and err.message or "ready")
  end
  api.nvim_buf_set_lines(buf, 0, -1, true, { "", "" })
  api.nvim_win_set_cursor(0, { 2, 0 })
  chat:begin(0)
  -- stylua: ignore
  vim.keymap.set({ "n", "i" }, "<CR>", function() chat:send() end, { buffer = buf })
  vim.keymap.set({ "n", "i" }, "<C-c>", cancel, { buffer = buf })
  vim.keymap.set("n", "q", "<Cmd>bwipeout!<CR>", { buffer = buf })
  api.nvim_create_autocmd("BufWipeout", { buffer = buf, callback = close })
  chat:status("connecting to " .. agent)
  hermes.connect(agent)
  hermes.create_session({ agent = agent, cwd = vim.fn.getcwd(), on_done = opened })
  vim.cmd.startinsert()
end

api.nvim_create_user_command("HermesChat", function(args)
  open(args.args ~= "" and args.args or "demo")
end, { nargs = "?", desc = "Chat with an agent" })
