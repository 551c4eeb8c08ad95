--- Writes captured messages as `hermes record` does, and plays the client's
--- side of a recording.

local M = {}

local ways = { out = "client->agent", ["in"] = "agent->client" }

---@param entry hermes.TrafficEntry
---@param seq integer
---@return string line
local function record(entry, seq)
  local whole = not entry.cut and entry.kind ~= "other" and not entry.message:find("\n", 1, true)
  return ('{"seq":%d,"time":"%s","direction":"%s"%s%s,%s}\n'):format(
    seq,
    entry.time,
    ways[entry.direction],
    entry.redacted and ',"redacted":true' or "",
    entry.cut and ',"cut":true' or "",
    whole and '"message":' .. entry.message or '"text":' .. vim.json.encode(entry.message)
  )
end

--- The lines of a recording.
---@param entries hermes.TrafficEntry[] of one connection
---@return string[]
function M.lines(entries)
  table.sort(entries, function(a, b)
    return a.seq < b.seq
  end)
  local first, redacted = entries[1], true
  for _, entry in ipairs(entries) do
    redacted = redacted and not entry.raw
  end
  local host = require("hermes").state().host
  local meta = {
    format = 1,
    program = "hermes.nvim",
    version = host and host.version or nil,
    agent = first.agent,
    redacted = redacted,
  }
  local lines = {
    ('{"seq":0,"time":"%s","direction":"meta","meta":%s}\n'):format(
      first.time,
      vim.json.encode(meta)
    ),
  }
  for seq, entry in ipairs(entries) do
    lines[#lines + 1] = record(entry, seq)
  end
  return lines
end

--- How much is written at once, in bytes.
local piece = 1024 * 1024

--- Writes lines to a file that only the user can read. It does not wait for the
--- disk.
---@param path string
---@param lines string[]
---@param on_done fun(err: string?)
function M.write(path, lines, on_done)
  on_done = vim.schedule_wrap(on_done)
  local function write(fd, at)
    local batch, bytes = {}, 0
    while lines[at] and bytes < piece do
      batch[#batch + 1], bytes, at = lines[at], bytes + #lines[at], at + 1
    end
    if #batch == 0 then
      return vim.uv.fs_close(fd, on_done)
    end
    local rest = table.concat(batch)
    local function go_on(err, written)
      if err then
        vim.uv.fs_close(fd, function()
          on_done(err)
        end)
      elseif written < #rest then
        rest = rest:sub(written + 1)
        vim.uv.fs_write(fd, rest, nil, go_on)
      else
        write(fd, at)
      end
    end
    vim.uv.fs_write(fd, rest, nil, go_on)
  end
  vim.uv.fs_open(path, "w", 384, function(err, fd) -- 0600
    if err then
      return on_done(err)
    end
    write(fd, 1)
  end)
end

---@class hermes.Recorded
---@field from_client boolean
---@field message table

--- The messages of a recording, in order.
---@param path string
---@return hermes.Recorded[]? messages
---@return string? err
function M.read(path)
  local ok, lines = pcall(vim.fn.readfile, path)
  if not ok then
    return nil, "the recording cannot be read: " .. path
  end
  local messages = {}
  for i, line in ipairs(lines) do
    local fine, item = pcall(vim.json.decode, line, { luanil = { object = true } })
    if not fine or type(item) ~= "table" then
      if i < #lines then -- the last one may have been cut
        return nil, ("%s:%d: not a record"):format(path, i)
      end
    elseif type(item.message) == "table" and not item.cut then
      messages[#messages + 1] = { from_client = item.direction == ways.out, message = item.message }
    end
  end
  if not messages[1] or messages[1].message.method ~= "initialize" then
    return nil, "the recording does not begin with a connection"
  end
  return messages
end

--- The messages of the client in a recording. `after` is how many of its requests had been answered
--- before.
---@param messages hermes.Recorded[]
---@return { method: string, params: table, request: boolean, after: integer }[]
function M.script(messages)
  local script, open, answered = {}, {}, 0
  for _, item in ipairs(messages) do
    local message = item.message
    if item.from_client and message.method and message.method ~= "initialize" then
      if message.method ~= "$/cancel_request" then
        script[#script + 1] = {
          method = message.method,
          params = message.params or vim.empty_dict(),
          request = message.id ~= nil,
          after = answered,
        }
        if message.id ~= nil then
          open[message.id] = true
        end
      end
    elseif not item.from_client and not message.method and open[message.id] then
      open[message.id] = nil
      answered = answered + 1
    end
  end
  return script
end

--- Sends an agent the client's messages of a recording. Each goes out once as many requests are
--- answered as in the recording.
---@param agent string
---@param script table[] of M.script
---@param on_done fun(err: hermes.Error?)
function M.play(agent, script, on_done)
  local hermes = require("hermes")
  local at, answered, waiting, over = 1, 0, 0, false
  local function go_on(err)
    if over then
      return
    elseif err and require("hermes.core.rpc").by_user[err.kind] then
      over = true
      return on_done(err)
    end
    while script[at] and (answered >= script[at].after or waiting == 0) do
      local step = script[at]
      at = at + 1
      if step.method == "session/cancel" then
        hermes.cancel(step.params.sessionId, { agent = agent, on_done = function() end })
      elseif not step.request then
        hermes.notify(agent, step.method, step.params)
      else
        waiting = waiting + 1
        hermes.request(agent, step.method, step.params, function(failed)
          answered, waiting = answered + 1, waiting - 1
          go_on(failed)
        end)
      end
    end
    if not script[at] and waiting == 0 then
      over = true
      on_done(nil)
    end
  end
  go_on()
end

return M
