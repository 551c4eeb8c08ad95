-- A chat with an agent in one buffer: :HermesChat [agent] opens it, <CR> sends, <C-c> cancels, q
-- closes. Each part of the conversation is a block, an extmark over its lines, so that later text
-- finds its place; the prompt follows another extmark. For every day there is |hermes-chat|.

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

--- Sends the prompt, which becomes a part of the conversation.
function Chat:send()
  local row = self:rows("prompt")
  local lines = api.nvim_buf_get_lines(self.buf, row + 1, -1, true)
  local text = table.concat(lines, "\n")
  if self.session and vim.trim(text) ~= "" then
    api.nvim_buf_set_lines(self.buf, row + 1, -1, true, { "" })
    lines[1] = "❯ " .. lines[1]
    api.nvim_buf_set_lines(self.buf, row, row, true, lines)
    self:mark(row, row + #lines, "Title")
    hermes.prompt(self.session, text)
  end
end

---@type table<string, fun(chat: Chat, data: table)> what is shown of an event
local on = {
  TurnStarted = function(chat)
    chat.blocks = { prompt = chat.blocks.prompt }
  end,
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
    local lines = { "", title }
    for _, content in ipairs(call.content or {}) do
      if content.type == "diff" then
        local diff = hermes.text.diff(content.oldText or "", content.newText) or { "too large" }
        vim.list_extend(lines, hermes.text.lines(table.concat(diff, "\n"), 40))
      end
    end
    chat:show(call.toolCallId, lines, colors[call.status] or "DiagnosticInfo")
  end,
  TerminalData = function(chat, data)
    chat:stream(data.terminalId, data.chunk, "String")
  end,
  TurnEnded = function(chat, data)
    local how = hermes.text.line(data.error and data.error.message or data.stopReason)
    chat:show("end", how == "end_turn" and { "" } or { "", how, "" }, "ErrorMsg")
  end,
  Disconnected = function(chat, data)
    local why = hermes.text.line("the agent has stopped: " .. data.reason)
    chat:show("end", { "", why, "" }, "ErrorMsg")
    chat.session = nil -- what is in the prompt stays there
  end,
}

local function open(agent)
  vim.cmd("botright vnew")
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.undolevels = "nofile", "wipe", -1
  vim.wo.winbar = "%{%v:lua.require'hermes'.statusline({'agent': b:hermes_agent})%}"
  vim.wo.linebreak, vim.wo.number, vim.b.hermes_agent = true, false, agent
  local buf = api.nvim_get_current_buf()
  local chat = setmetatable({ buf = buf, blocks = {} }, { __index = Chat })
  api.nvim_buf_set_lines(buf, 0, 0, true, { "" }) -- the prompt is below
  chat.blocks.prompt = api.nvim_buf_set_extmark(buf, ns, 0, 0, { virt_text = { { "❯" } } })
  local off = hermes.on(vim.tbl_keys(on), {
    agent = agent,
    callback = function(data, name)
      return (not data.sessionId or data.sessionId == chat.session) and on[name](chat, data)
    end,
  })
  local function close() -- the agent, too, unless it has other sessions
    off()
    if chat.session and #hermes.sessions({ agent = agent }) > 1 then
      hermes.close_session(chat.session, { agent = agent })
    elseif chat.session then
      hermes.disconnect(agent)
    end
  end
  local function opened(err, result)
    chat.session = result and result.sessionId
    if not api.nvim_buf_is_valid(buf) then
      return close()
    end
    vim.b[buf].hermes_session = chat.session -- no notice of what the user sees
    if err then
      chat:show("end", { "", hermes.text.line(err.message), "" }, "ErrorMsg")
    end
  end
  vim.keymap.set({ "n", "i" }, "<CR>", function()
    chat:send()
  end, { buffer = buf })
  vim.keymap.set({ "n", "i" }, "<C-c>", function()
    return chat.session and hermes.cancel(chat.session)
  end, { buffer = buf })
  vim.keymap.set("n", "q", "<Cmd>bwipeout!<CR>", { buffer = buf })
  api.nvim_create_autocmd("BufWipeout", { buffer = buf, callback = close })
  hermes.connect(agent)
  hermes.create_session({ agent = agent, cwd = vim.fn.getcwd(), on_done = opened })
  vim.cmd.startinsert()
end

api.nvim_create_user_command("HermesChat", function(args)
  open(args.args ~= "" and args.args or "demo")
end, { nargs = "?", desc = "Chat with an agent" })
