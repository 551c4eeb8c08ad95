---The output of agents' commands. It is kept, within limits, because agents forget a command as
---soon as it has ended.
local M = {}

---@class hermes.Terminal
---@field agent string
---@field sessionId string
---@field terminalId string
---@field state "running"|"exited"|"lost" lost: the agent ended first, and nobody knows how it went
---@field command? string as for a shell; nil when the agent runs it by itself
---@field title? string of the tool call, when the agent runs it by itself
---@field cwd? string
---@field exitCode? integer
---@field signal? string
---@field dropped integer bytes of output that are no longer kept
---@field bytes integer of output that are kept

---@class hermes.KeptTerminal: hermes.Terminal
---@field chunks string[]
---@field first integer index of the first chunk

local kept = {} ---@type hermes.KeptTerminal[] the oldest first
local by_key = {} ---@type table<string, hermes.KeptTerminal>

---Chunks shorter than this are joined, in bytes.
local short = 4096

---@param data table
---@return string
local function key(data)
  return ("%s\0%s\0%s"):format(data.agent, data.sessionId, data.terminalId)
end

---Forgets the oldest terminals beyond `count`, and running ones only if there is no other.
---@param count integer
local function trim(count)
  while #kept > count do
    local oldest = 1
    for i = 1, #kept - 1 do
      if kept[i].state ~= "running" then
        oldest = i
        break
      end
    end
    by_key[key(table.remove(kept, oldest))] = nil
  end
end

---@param data table
---@return hermes.KeptTerminal
local function open(data)
  local terminal = by_key[key(data)]
  if not terminal then
    terminal = {
      agent = data.agent,
      sessionId = data.sessionId,
      terminalId = data.terminalId,
      state = "running",
      dropped = 0,
      bytes = 0,
      chunks = {},
      first = 1,
    }
    by_key[key(data)] = terminal
    kept[#kept + 1] = terminal
    trim(require("hermes.core.config").get().terminals.count)
  end
  return terminal
end

---The end of a text, from a character on.
---@param s string
---@param max integer bytes
---@return string
local function tail(s, max)
  local from = #s - max + 1
  while from <= #s and s:byte(from) >= 0x80 and s:byte(from) < 0xC0 do
    from = from + 1
  end
  return s:sub(from)
end

---@param terminal hermes.KeptTerminal
---@param chunk string
local function append(terminal, chunk)
  local max = require("hermes.core.config").get().terminals.bytes
  if #chunk > max then
    local rest = tail(chunk, max)
    terminal.dropped, chunk = terminal.dropped + #chunk - #rest, rest
  end
  local chunks = terminal.chunks
  local last = #chunks
  if last >= terminal.first and #chunks[last] + #chunk <= short then
    chunks[last] = chunks[last] .. chunk
  else
    chunks[last + 1] = chunk
  end
  terminal.bytes = terminal.bytes + #chunk
  while terminal.bytes > max do
    local oldest = chunks[terminal.first]
    chunks[terminal.first], terminal.first = "", terminal.first + 1
    terminal.bytes, terminal.dropped = terminal.bytes - #oldest, terminal.dropped + #oldest
  end
  if terminal.first > 1000 then
    terminal.chunks = vim.list_slice(chunks, terminal.first)
    terminal.first = 1
  end
end

local on = {
  TerminalStarted = function(data)
    local terminal = open(data)
    terminal.command = data.command or terminal.command
    terminal.title = data.title or terminal.title
    terminal.cwd = data.cwd or terminal.cwd
  end,
  TerminalData = function(data)
    local terminal = open(data)
    terminal.dropped = terminal.dropped + (data.skipped or 0)
    append(terminal, data.chunk)
  end,
  TerminalExited = function(data)
    local terminal = open(data)
    terminal.state, terminal.exitCode, terminal.signal = "exited", data.exitCode, data.signal
  end,
  StateChanged = function(data)
    if data.sessionId or data.to ~= "disconnected" then
      return
    end
    for _, terminal in ipairs(kept) do
      if terminal.agent == data.agent and terminal.state == "running" then
        terminal.state = "lost"
      end
    end
  end,
}

---Called with an event before any listener.
---@param name string
---@param data table
function M.update(name, data)
  if on[name] and not data.shim then -- an agent in a terminal shows what it prints itself
    on[name](data)
  end
end

---@param terminal hermes.KeptTerminal
---@return hermes.Terminal
local function copy(terminal)
  local copied = vim.tbl_extend("force", {}, terminal)
  copied.chunks, copied.first = nil, nil
  return copied
end

---@param session_id? string
---@param agent? string
---@return hermes.Terminal[] copies, the oldest first
function M.list(session_id, agent)
  local list = {}
  for _, terminal in ipairs(kept) do
    local is = (session_id or terminal.sessionId) == terminal.sessionId
    if is and (agent or terminal.agent) == terminal.agent then
      list[#list + 1] = copy(terminal)
    end
  end
  return list
end

---@param session_id string
---@param terminal_id string
---@param agent? string
---@return hermes.Terminal? copy
---@return string? output
function M.get(session_id, terminal_id, agent)
  for i = #kept, 1, -1 do
    local terminal = kept[i]
    local is = terminal.sessionId == session_id and terminal.terminalId == terminal_id
    if is and (agent or terminal.agent) == terminal.agent then
      return copy(terminal), table.concat(terminal.chunks, "", terminal.first)
    end
  end
end

return M
