-- A chat with an agent in one buffer, built on Hermes' functions and events.
--
--   :HermesChat [agent]   opens it; <CR> sends, <C-c> cancels, q closes
--
-- Every part of the conversation is a block: an extmark over its lines. What
-- arrives later (text, output, a status) goes where its block is by then.

local hermes, api = require("hermes"), vim.api
local ns = api.nvim_create_namespace("hermes_chat")
local diff = vim.text and vim.text.diff or vim.diff
local icons = { pending = "○", in_progress = "◐", completed = "●", failed = "✗" }
local colors =
  { in_progress = "DiagnosticInfo", completed = "DiagnosticOk", failed = "DiagnosticError" }

---@class Chat
---@field buf integer
---@field blocks table<string, integer> extmarks by what they show
---@field session? string
local Chat = {}
Chat.__index = Chat

--- Adds a block above the prompt line. Text that streams starts anew after it.
function Chat:add(lines, group, key)
  self.blocks.text, self.blocks.thought = nil, nil
  local row = api.nvim_buf_line_count(self.buf) - 1
  api.nvim_buf_set_lines(self.buf, row, row, true, lines)
  self.blocks[key or "last"] = self:mark(row, row + #lines, group)
end

function Chat:mark(first, last, group, id)
  return api.nvim_buf_set_extmark(self.buf, ns, first, 0, {
    id = id,
    end_row = last,
    hl_group = group,
    right_gravity = false,
    strict = false,
  })
end

--- Shows the lines of a block, in place when it is there already.
function Chat:show(key, lines, group)
  local id = self.blocks[key]
  if not id then
    return self:add(lines, group, key)
  end
  local mark = api.nvim_buf_get_extmark_by_id(self.buf, ns, id, { details = true })
  api.nvim_buf_set_lines(self.buf, mark[1], mark[3].end_row, false, lines)
  self:mark(mark[1], mark[1] + #lines, group, id)
end

--- Adds text to the end of a block.
function Chat:stream(key, text, group)
  if not self.blocks[key] then
    self:add({ "", "" }, group, key)
  end
  local id = self.blocks[key]
  local mark = api.nvim_buf_get_extmark_by_id(self.buf, ns, id, { details = true })
  local row = mark[3].end_row - 1
  local lines = vim.split(text, "\r?\n")
  api.nvim_buf_set_text(self.buf, row, -1, row, -1, lines)
  self:mark(mark[1], row + #lines, group, id)
end

function Chat:status(text)
  vim.b[self.buf].hermes_chat = text
  vim.cmd.redrawstatus({ bang = true })
end

function Chat:show_diff(change)
  local lines = { "  " .. vim.fn.fnamemodify(change.path, ":~:.") }
  local hunks = diff(change.oldText or "", change.newText, { ctxlen = 2 })
  vim.list_extend(lines, vim.split(hunks, "\n", { trimempty = true }))
  self:add(vim.list_slice(lines, 1, 40))
  local first = api.nvim_buf_line_count(self.buf) - 1 - math.min(#lines, 40)
  for i, line in ipairs(lines) do
    local group = ({ ["+"] = "Added", ["-"] = "Removed", ["@"] = "Comment" })[line:sub(1, 1)]
    if group and i <= 40 then
      self:mark(first + i - 1, first + i, group)
    end
  end
end

---@type table<string, fun(self: Chat, data: table)> what is shown of each event
local on = {
  AgentTextMessage = function(self, data)
    self:stream("text", data.text)
  end,
  AgentTextThought = function(self, data)
    self:stream("thought", data.text, "Comment")
  end,
  AgentPlan = function(self, data)
    local lines = { "", "Plan" }
    for _, entry in ipairs(data.entries) do
      lines[#lines + 1] = ("  %s %s"):format(icons[entry.status], (entry.content:gsub("%s+", " ")))
    end
    self:show("plan", lines, "Special")
  end,
  ToolCallState = function(self, data)
    local call = data.toolCall
    local status = call.status or "pending"
    local title = (call.title or call.kind or "tool"):gsub("%s+", " ")
    self:show(call.toolCallId, { "", icons[status] .. " " .. title }, colors[status] or "Title")
    for i, content in ipairs(call.content or {}) do
      local key = ("%s/%d"):format(call.toolCallId, i)
      if content.type == "diff" and not self.blocks[key] then
        self:show_diff(content)
        self.blocks[key] = self.blocks.last
      end
    end
  end,
  TerminalData = function(self, data)
    self:stream(data.terminalId, data.chunk, "String")
  end,
  TurnStarted = function(self)
    self.blocks = {}
    self:status("working, <C-c> cancels")
  end,
  TurnEnded = function(self, data)
    local failed = data.error and data.error.message
    if failed or data.stopReason ~= "end_turn" then
      self:add({ "", failed or data.stopReason }, failed and "ErrorMsg" or "WarningMsg")
    end
    self:add({ "" })
    self:status("ready")
  end,
}

--- Connects, opens a session and listens to it.
function Chat:start(agent)
  local function done(then_do)
    return function(err, result)
      if err then
        self:add({ (err.message:gsub("\n", " ")) }, "ErrorMsg")
        return self:status("failed")
      end
      then_do(result)
    end
  end
  local function listen(result)
    self.session = result.sessionId
    self:status("ready")
    for name, show in pairs(on) do
      hermes.create_autocmd(name, {
        group = self.group,
        pattern = self.session,
        callback = function(args)
          show(self, args.data)
        end,
      })
    end
  end
  self:status("connecting")
  hermes.connect(agent, {
    on_done = done(function()
      hermes.create_session({ agent = agent, cwd = vim.fn.getcwd(), on_done = done(listen) })
    end),
  })
end

function Chat.open(agent)
  vim.cmd("botright vnew")
  local buf = api.nvim_get_current_buf()
  local group = api.nvim_create_augroup("HermesChat" .. buf, {})
  local self = setmetatable({ buf = buf, group = group, blocks = {} }, Chat)
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.undolevels = "prompt", "wipe", -1
  vim.wo.wrap, vim.wo.linebreak, vim.wo.number, vim.wo.signcolumn = true, true, false, "no"
  vim.wo.winbar = " " .. agent:gsub("%%", "%%%%") .. ": %{get(b:, 'hermes_chat', '')}"
  local function cancel()
    if self.session then
      hermes.cancel(self.session)
    end
  end
  vim.fn.prompt_setprompt(buf, "❯ ")
  vim.fn.prompt_setinterrupt(buf, cancel)
  vim.fn.prompt_setcallback(buf, function(text)
    if self.session and text ~= "" then
      local row = api.nvim_buf_line_count(buf) - 2
      self:mark(row, row + 1, "Title")
      hermes.prompt(self.session, text)
    end
  end)
  vim.keymap.set("n", "<C-c>", cancel, { buffer = buf })
  vim.keymap.set("n", "q", "<Cmd>bwipeout!<CR>", { buffer = buf })
  api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      cancel()
      api.nvim_del_augroup_by_id(group)
    end,
  })
  self:start(agent)
  vim.cmd.startinsert()
end

api.nvim_create_user_command("HermesChat", function(args)
  Chat.open(args.args ~= "" and args.args or "demo")
end, { nargs = "?", desc = "Chat with an agent" })
