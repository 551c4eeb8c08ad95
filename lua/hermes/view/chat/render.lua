--- What the transcript shows of each event.

local hermes = require("hermes")

local M = {}

--- The most lines of one text, output or diff.
M.max_lines = 200
--- The lines of a diff, and of an output, that are not folded.
M.open_diff, M.open_output = 20, 3

local signs = {
  pending = { "○", "HermesChatDoing" },
  in_progress = { "◐", "HermesChatDoing" },
  completed = { "●", "HermesChatDone" },
  failed = { "✗", "HermesChatError" },
}
local steps = { pending = "○", in_progress = "◐", completed = "●" }
local edges = { ["+"] = "HermesChatAdded", ["-"] = "HermesChatRemoved" }

---@param list hermes.chat.Line[]
---@param text any
---@param group? string
---@param max? integer lines
local function add(list, text, group, max)
  for _, line in ipairs(hermes.text.lines(text, max or M.max_lines)) do
    list[#list + 1] = { line, group }
  end
end

local size = require("hermes.view.chat.sends").size

---@param uri any
---@return boolean
local function is_file(uri)
  return type(uri) == "string" and vim.startswith(uri, "file:///")
end

--- A file as the user knows it: its name below the folder of the chat, or from the home folder, and
--- the lines of it.
---@param uri any
---@param cwd? string
---@return string
local function place(uri, cwd)
  if not is_file(uri) then
    return type(uri) == "string" and uri or "text"
  end
  local path, first, last = vim.uri_to_fname(uri), uri:match("#L(%d+)%-L(%d+)$")
  local below = cwd and vim.startswith(path, cwd .. "/")
  local name = below and path:sub(#cwd + 2) or vim.fn.fnamemodify(path, ":~")
  return hermes.text.line(first and ("%s:%s-%s"):format(name, first, last) or name, 300)
end

---@param content table
---@param cwd? string
---@return string
local function label_of(content, cwd)
  if content.type == "resource_link" and is_file(content.uri) then
    local bytes = tonumber(content.size)
    return ("[%s%s]"):format(place(content.uri, cwd), bytes and ", " .. size(bytes) or "")
  elseif content.type == "resource_link" then
    return ("[%s](%s)"):format(content.title or content.name or "link", content.uri or "")
  elseif content.type == "resource" then
    local resource = content.resource or {}
    return ("[%s, %s]"):format(
      place(resource.uri, cwd),
      size(#(resource.text or resource.blob or ""))
    )
  elseif content.type == "image" or content.type == "audio" then
    return ("[%s %s, %s]"):format(
      content.type,
      content.mimeType or "",
      size(#(content.data or "") * 0.75)
    )
  end
  return ("[content of the type %s]"):format(tostring(content.type))
end

--- A block of content that is not text, in one line.
---@param content table
---@param cwd? string the folder of the chat
---@return string
function M.label(content, cwd)
  return hermes.text.line(label_of(content, cwd), 400)
end

--- What a command printed, as a terminal would show it.
---@param list hermes.chat.Line[]
---@param output string
---@param max integer
---@param cut? boolean whether its beginning is missing
local function add_output(list, output, max, cut)
  local lines, less = hermes.text.printed(output, { lines = max, cut = cut })
  if less then
    list[#list + 1] = { "… the beginning is not shown", "HermesChatNote" }
  end
  for _, line in ipairs(lines) do
    list[#list + 1] = { line, "HermesChatOutput" }
  end
end

-- A call is shown again each time something of it changes, mostly not the diff.
local diffs = setmetatable({}, { __mode = "k" }) ---@type table<table, string[]>

--- The lines of a diff. Some agents send parts of a file, which do not know where they stand
--- there, and only a new file is certainly whole.
---@param old string
---@param new string
---@return string[]
local function diff_lines(old, new)
  local lines = hermes.text.diff(old, new, { part = old ~= "" })
  return lines or { "… too large to compare" }
end

---@param list hermes.chat.Line[]
---@param change table content of the type "diff"
---@param cwd? string
local function add_diff(list, change, cwd)
  local path = change.path or "a file without a path"
  if cwd and vim.startswith(path, cwd .. "/") then
    path = path:sub(#cwd + 2)
  end
  list[#list + 1] = { hermes.text.line(path), "HermesChatNote" }
  diffs[change] = diffs[change] or diff_lines(change.oldText or "", change.newText or "")
  local diff = diffs[change]
  for i = 1, math.min(#diff, M.max_lines) do
    list[#list + 1] = { hermes.text.line(diff[i]), edges[diff[i]:sub(1, 1)] or "HermesChatOutput" }
  end
  if #diff > M.max_lines then
    list[#list + 1] = { ("… %d more lines"):format(#diff - M.max_lines), "HermesChatNote" }
  end
end

---@param call table
---@return string?
local function command_of(call)
  local input = call.rawInput
  local command = type(input) == "table" and input.command
  if type(command) == "string" then
    local args = type(input.args) == "table" and vim.islist(input.args) and input.args or {}
    return table.concat(vim.list_extend({ command }, vim.tbl_map(tostring, args)), " ")
  end
end

--- The lines of a tool call, and which of them belong into a fold.
---@param call table
---@param chat hermes.chat.Chat
---@return hermes.chat.Line[]
---@return integer? from the first line of the fold
local function tool_lines(call, chat)
  local title = hermes.text.line(call.title or call.name or call.kind or "tool call", 300)
  local list = { { title, (signs[call.status] or signs.pending)[2] } }
  local over = call.status == "completed" or call.status == "failed"
  local from = 1
  for _, content in ipairs(call.content or {}) do
    if content.type == "diff" then
      local first = #list
      add_diff(list, content, chat.cwd)
      if first == 1 then
        from = math.min(#list, first + 1 + M.open_diff) + 1
      end
    end
  end
  local command = command_of(call)
  if command and command ~= call.title then
    add(list, "$ " .. command, "HermesChatOutput", 5)
  end
  for _, content in ipairs(call.content or {}) do
    local inner = content.type == "content" and content.content
    if inner and inner.type == "text" and (command or call.kind == "execute") then
      add_output(list, inner.text, over and M.max_lines or 10)
    elseif inner and inner.type == "text" then
      add(list, inner.text, "HermesChatOutput", over and M.max_lines or 10)
    elseif inner then
      add(list, M.label(inner, chat.cwd), "HermesChatOutput")
    elseif content.type == "terminal" then
      local id, opts = content.terminalId, { agent = chat.agent }
      local terminal, output = hermes.terminal_output(chat.last_id, id, opts)
      if not output and over then
        local unknown = "the output is not known: there is no terminal " .. hermes.text.line(id, 60)
        list[#list + 1] = { unknown, "HermesChatNote" }
      end
      local cut = terminal ~= nil and terminal.dropped > 0
      add_output(list, output or "", over and M.max_lines or 10, cut)
    end
  end
  local output = call.rawOutput
  local exit = command and type(output) == "table" and tonumber(output.exitCode)
  if call.content then
    output = nil -- the same, for programs
  elseif exit then
    output = exit ~= 0 and ("exit status %d"):format(exit) or nil
  end
  if output ~= nil then
    add_output(list, type(output) == "string" and output or vim.json.encode(output), M.max_lines)
  end
  return list, over and #list - from > M.open_output and from or nil
end

---@param chat hermes.chat.Chat
---@param call table
local function show_call(chat, call)
  local sign = signs[call.status] or signs.pending
  chat.transcript:show("call " .. call.toolCallId, "tool", function()
    local lines, fold = tool_lines(call, chat)
    return lines, { sign = sign[1], group = sign[2], fold = fold }
  end)
end

--- Streams what the agent says.
---@param kind string
---@return fun(chat: hermes.chat.Chat, data: table)
local function stream(kind)
  return function(chat, data)
    local content = data.update.content
    local text = content.type == "text" and content.text
      or "\n" .. M.label(content, chat.cwd) .. "\n"
    chat.transcript:stream(kind, text)
  end
end

--- A prompt arrives block by block.
---@param chat hermes.chat.Chat
---@param content table
local function prompt(chat, content)
  if content.type == "text" then
    chat.transcript:show(nil, "user", function()
      local list = {}
      add(list, content.text, nil, chat.transcript.max_lines)
      return list
    end)
  else
    chat:note(M.label(content, chat.cwd))
  end
end

local function client(chat, data)
  prompt(chat, data.content)
end

--- Agents may repeat what was just sent; only history is shown.
local function user(chat, data)
  if not data.replay then
    return
  elseif data.update.content.type == "text" then
    chat.transcript:stream("user", data.update.content.text)
  else
    prompt(chat, data.update.content)
  end
end

local stops = {
  cancelled = "cancelled",
  max_tokens = "the agent has reached its limit of tokens",
  max_turn_requests = "the agent has made too many requests in this turn",
  refusal = "the agent refuses to go on",
}

---@type table<string, fun(chat: hermes.chat.Chat, data: table)>
M.on = {
  AgentPlan = function(chat, data)
    chat.transcript:show("plan", "plan", function()
      local list = {}
      for _, entry in ipairs(data.update.entries or {}) do
        list[#list + 1] =
          { ("%s %s"):format(steps[entry.status] or "○", hermes.text.line(entry.content, 300)) }
        if #list >= M.max_lines then
          break
        end
      end
      return list
    end)
  end,
  ToolCallState = function(chat, data)
    for _, content in ipairs(data.toolCall.content or {}) do
      if content.type == "terminal" then
        chat.calls[content.terminalId] = data.toolCall
      end
    end
    show_call(chat, data.toolCall)
  end,
  TerminalData = function(chat, data)
    local call = chat.calls[data.terminalId]
    if call then
      show_call(chat, call)
    end
  end,
  AgentNotice = function(chat, data)
    chat:note(("%s: %s"):format(data.update.severity or "notice", data.update.title or ""))
    if data.update.description then
      chat:note(data.update.description)
    end
  end,
  CompactionUpdate = function(chat, data)
    local problem = data.update.error and ": " .. data.update.error or ""
    chat:note(("shortening the history: %s%s"):format(data.update.status or "", problem))
  end,
  TurnStarted = function(chat)
    chat.transcript:forget("plan")
  end,
  TurnEnded = function(chat, data)
    chat.transcript:settle()
    if data.error then
      chat:problem(data.error)
    elseif data.stopReason ~= "end_turn" then
      chat:note(stops[data.stopReason] or tostring(data.stopReason))
    end
  end,
}

for _, kind in ipairs({ "Text", "Image", "Audio", "ResourceLink", "Resource", "Unknown" }) do
  M.on["Agent" .. kind .. "Message"] = stream("text")
  M.on["Agent" .. kind .. "Thought"] = stream("thought")
  M.on["Client" .. kind .. "Message"] = client
  M.on["User" .. kind .. "Message"] = user
end

return M
