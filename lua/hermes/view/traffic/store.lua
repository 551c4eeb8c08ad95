--- The messages that were captured, within limits, and which of them belong
--- together.

local M = {}

---@class hermes.TrafficEntry
---@field n integer number among all that were captured
---@field agent string
---@field connection integer
---@field seq integer
---@field direction "in"|"out"
---@field kind "request"|"notification"|"response"|"other"
---@field method? string for a response, the method of its request
---@field id? string JSON
---@field session? string
---@field message string JSON
---@field failed? boolean
---@field redacted? boolean
---@field raw? boolean secrets were not looked for
---@field cut? integer bytes that are missing at the end of the message
---@field time string
---@field ms? number from the request to the response, in both of them
---@field other? hermes.TrafficEntry the response to a request, or the request of a response
---@field missed? integer messages of the connection right before that were not captured

---@class hermes.TrafficStore
---@field first integer
---@field last integer
---@field bytes integer
---@field entries table<integer, hermes.TrafficEntry>
---@field open table<string, hermes.TrafficEntry> requests without a response
---@field old integer how many of them were dropped
---@field seqs table<integer, integer> last number of each connection
local Store = {}
Store.__index = Store

---@return hermes.TrafficStore
function M.new()
  return setmetatable({
    first = 1,
    last = 0,
    bytes = 0,
    entries = {},
    open = {},
    old = 0,
    seqs = {},
  }, Store)
end

--- What an entry takes besides its message, in bytes.
local overhead = 500

--- Milliseconds since the beginning of the day.
---@param time string RFC 3339
---@return number?
local function clock(time)
  local hours, minutes, seconds = time:match("T(%d+):(%d+):([%d.]+)")
  return hours and ((hours * 60 + minutes) * 60 + seconds) * 1000
end

---@param from hermes.TrafficEntry
---@param to hermes.TrafficEntry
---@return number?
local function between(from, to)
  local a, b = clock(from.time), clock(to.time)
  return a and b and (b - a) % 86400000
end

--- Identifies a request among all that wait for a response.
---@param entry hermes.TrafficEntry
---@param direction "in"|"out" of the request
---@return string
local function key(entry, direction)
  return ("%d %s %s"):format(entry.connection, direction, entry.id)
end

---@param entry hermes.TrafficEntry
function Store:join(entry)
  if entry.kind == "request" then
    local at = key(entry, entry.direction)
    if self.open[at] and self.open[at].n < self.first then
      self.old = self.old - 1
    end
    self.open[at] = entry
  elseif entry.kind == "response" and entry.id then
    local at = key(entry, entry.direction == "in" and "out" or "in")
    local request = self.open[at]
    if not request then
      return
    end
    self.open[at] = nil
    entry.ms = between(request, entry)
    entry.method, request.ms = request.method, entry.ms
    entry.session = entry.session or request.session
    request.session = request.session or entry.session
    if request.n >= self.first then
      entry.other, request.other = request, entry
    else
      self.old = self.old - 1
    end
  end
end

--- Requests that are remembered for their response after they were dropped.
local max_old = 1000

--- Forgets the oldest entry. If it is a request without a response, its method and its time stay.
function Store:drop()
  local entry = self.entries[self.first]
  self.entries[self.first], self.first = nil, self.first + 1
  self.bytes = self.bytes - #entry.message - overhead
  if entry.other then
    entry.other.other, entry.other = nil, nil
  elseif entry.kind == "request" and self.open[key(entry, entry.direction)] == entry then
    entry.message = ""
    self.old = self.old + 1
    if self.old > max_old then
      self.open[key(entry, entry.direction)] = nil
      self.old = max_old
    end
  end
end

---@param data table of the event TrafficMessage
---@return hermes.TrafficEntry
function Store:add(data)
  local limits = require("hermes.core.config").get().traffic
  local before = self.seqs[data.connection]
  self.last = self.last + 1
  local entry = {
    n = self.last,
    agent = data.agent,
    connection = data.connection,
    seq = data.seq,
    direction = data.direction,
    kind = data.kind,
    method = data.method,
    id = data.id,
    session = data.sessionId,
    message = data.message,
    failed = data.failed,
    redacted = data.redacted,
    cut = data.truncated and data.truncated.bytes or nil,
    raw = limits.raw or nil,
    time = data.time,
    missed = before and data.seq > before + 1 and data.seq - before - 1 or nil,
  }
  self.seqs[data.connection] = data.seq
  self.entries[self.last] = entry
  self.bytes = self.bytes + #entry.message + overhead
  self:join(entry)
  while
    self.first < self.last
    and (self.last - self.first >= limits.count or self.bytes > limits.bytes)
  do
    self:drop()
  end
  return entry
end

---@class hermes.TrafficFilter
---@field agent? string
---@field session? string
---@field method? string of requests, notifications and responses; a final * matches any ending
---@field direction? "in"|"out"
---@field text? string in the message; capitals count only if it has some

--- Whether a method is the one that is wanted.
---@param wanted string
---@param method? string
---@return boolean
local function is_method(wanted, method)
  local prefix = wanted:match("^(.*)%*$")
  return method == wanted or (prefix and method and vim.startswith(method, prefix)) or false
end

---@param filter hermes.TrafficFilter
---@return fun(entry: hermes.TrafficEntry): boolean
function M.matcher(filter)
  local wanted = filter.text ~= "" and filter.text or nil
  local fold = wanted and wanted == wanted:lower()
  return function(entry)
    return (not filter.agent or entry.agent == filter.agent)
      and (not filter.session or entry.session == filter.session)
      and (not filter.direction or entry.direction == filter.direction)
      and (not filter.method or is_method(filter.method, entry.method))
      and (
        not wanted
        or (fold and entry.message:lower() or entry.message):find(wanted, 1, true) ~= nil
      )
  end
end

return M
