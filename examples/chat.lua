-- A chat with an agent in one buffer, built on Hermes' functions and events.
-- :HermesChat [agent] opens it, <CR> sends, <C-c> cancels, q closes. Questions
-- of the agent come up in normal mode. Each part of the conversation is a
-- block, an extmark over its lines, so that later text, output and statuses
-- find their place.

local hermes, api = require("hermes"), vim.api
local ns = api.nvim_create_namespace("hermes_chat")
local diff = vim.text and vim.text.diff or vim.diff
local icons = { pending = "○", in_progress = "◐", completed = "●", failed = "✗" }
local colors =
  { completed = "DiagnosticOk", failed = "ErrorMsg", ["+"] = "Added", ["-"] = "Removed" }

---@class Chat
---@field blocks table<string, integer> extmarks by name
local Chat = {}

--- Puts an extmark on some rows; reuses the one with that id, if given.
function Chat:mark(first, last, group, id)
  local opts = { id = id, end_row = last, hl_group = group, right_gravity = false }
  return api.nvim_buf_set_extmark(self.buf, ns, first, 0, opts)
end

--- The first row of a block and the row after it.
function Chat:rows(name)
  local mark = api.nvim_buf_get_extmark_by_id(self.buf, ns, self.blocks[name], { details = true })
  return mark[1], mark[3].end_row
end

--- Shows a block, replacing its old content, or above the prompt if it is new.
function Chat:show(name, lines, group)
  local first = api.nvim_buf_line_count(self.buf) - 1
  local last = first
  if self.blocks[name] then
    first, last = self:rows(name)
  else
    self.blocks.text, self.blocks.thought = nil, nil -- streamed text starts again below
  end
  api.nvim_buf_set_lines(self.buf, first, last, true, lines)
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

function Chat:diff(name, change)
  local text = diff(change.oldText or "", change.newText, { ctxlen = 2 })
  local lines = vim.split(text, "\n", { trimempty = true })
  lines[41] = lines[41] and "…"
  self:show(name, vim.list_slice(lines, 1, 41), "Comment")
  for i = 1, math.min(#lines, 40) do
    local row = self:rows(name) + i
    self:mark(row - 1, row, colors[lines[i]:sub(1, 1)])
  end
end

function Chat:status(text)
  vim.b[self.buf].hermes_chat = text
  vim.cmd.redrawstatus({ bang = true })
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
      lines[i + 1] = ("%s %s"):format(icons[entry.status] or "○", entry.content:gsub("\n", " "))
    end
    chat:show("plan", lines, "Special")
  end,
  ToolCallState = function(chat, data)
    local call = data.toolCall
    local title = ("%s %s"):format(icons[call.status] or "○", (call.title or ""):gsub("\n", " "))
    chat:show(call.toolCallId, { "", title }, colors[call.status] or "DiagnosticInfo")
    for i, content in ipairs(call.content or {}) do
      if content.type == "diff" and not chat.blocks[call.toolCallId .. i] then
        chat:diff(call.toolCallId .. i, content)
      end
    end
  end,
  TerminalData = function(chat, data)
    chat:stream(data.terminalId, data.chunk, "String")
  end,
  TurnStarted = function(chat)
    chat.blocks, chat.working = {}, true
    chat:status("working, <C-c> cancels")
  end,
  TurnEnded = function(chat, data)
    local how = data.error and data.error.message or data.stopReason or "failed"
    chat:show("end", how == "end_turn" and { "" } or { "", how:gsub("\n", " "), "" }, "ErrorMsg")
    chat.working = false
    chat:status("ready")
  end,
}

local function open(agent)
  vim.cmd("botright vnew")
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.undolevels = "prompt", "wipe", -1
  vim.wo.linebreak, vim.wo.number, vim.wo.winbar = true, false, "%{get(b:, 'hermes_chat', '')}"
  local buf, session = api.nvim_get_current_buf(), nil
  local chat = setmetatable({ buf = buf, blocks = {} }, { __index = Chat })
  local function show(args) -- a callback that returns true is removed
    return not api.nvim_buf_is_valid(buf) or on[args.match](chat, args.data)
  end
  local function cancel()
    return chat.working and hermes.cancel(session)
  end
  local function send(text)
    if session and text ~= "" then
      local row = api.nvim_buf_line_count(buf) - 1
      chat:mark(row - 1, row, "Title")
      hermes.prompt(session, text)
    end
  end
  local function opened(err, result)
    if api.nvim_buf_is_valid(buf) then
      session = result and result.sessionId
      chat:status(err and err.message or "ready")
      hermes.create_autocmd(vim.tbl_keys(on), { pattern = session or "", callback = show })
    end
  end
  vim.fn.prompt_setprompt(buf, "❯ ")
  vim.fn.prompt_setcallback(buf, send)
  vim.fn.prompt_setinterrupt(buf, cancel)
  vim.keymap.set("n", "<C-c>", cancel, { buffer = buf })
  vim.keymap.set("n", "q", "<Cmd>bwipeout!<CR>", { buffer = buf })
  api.nvim_create_autocmd("BufWipeout", { buffer = buf, callback = cancel })
  chat:status("connecting to " .. agent)
  hermes.connect(agent)
  hermes.create_session({ agent = agent, cwd = vim.fn.getcwd(), on_done = opened })
  vim.cmd.startinsert()
end

api.nvim_create_user_command("HermesChat", function(args)
  open(args.args ~= "" and args.args or "demo")
end, { nargs = "?", desc = "Chat with an agent" })
