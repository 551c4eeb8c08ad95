-- Runs in Neovim: measures one client of the agent in one case, and reports to
-- the program on the other end of the channel.

local uv = vim.uv
local test = ... ---@type table what bench/neovim/neovim.go calls job

local function ms(from)
  return (uv.hrtime() - from) / 1e6
end

---@class bench.Client
---@field setup? fun() what a configuration calls
---@field connect fun(ready: fun())
---@field again? fun(ready: fun()) connects another agent, and stops it
---@field create fun(done: fun())
---@field prompt fun(text: string, done: fun())
---@field load fun(done: fun())
---@field listen fun(heard: fun(update: table))

---What one writes without a library: split at line breaks, decode, fire autocommands.
---@param draws boolean whether it lets Neovim draw the screen after some milliseconds of work
---@return bench.Client
local function plain(draws)
  local process, waiting, last = nil, {}, 0
  local rest, drawn = "", uv.hrtime()

  local function handle(line)
    local message = vim.json.decode(line, { luanil = { object = true, array = true } })
    if message.method == "session/update" then
      vim.api.nvim_exec_autocmds("User", {
        pattern = "Plain_" .. message.params.update.sessionUpdate,
        modeline = false,
        data = message.params,
      })
    elseif waiting[message.id] then
      waiting[message.id](message.result)
      waiting[message.id] = nil
    end
  end

  local function read(_, data)
    if not data then
      return
    end
    vim.schedule(function()
      local text, from = rest .. data, 1
      while true do
        local at = text:find("\n", from, true)
        if not at then
          break
        end
        handle(text:sub(from, at - 1))
        from = at + 1
        if draws and ms(drawn) >= 5 then
          vim.cmd.redraw()
          drawn = uv.hrtime()
        end
      end
      rest = text:sub(from)
    end)
  end

  local function call(method, params, done)
    last = last + 1
    waiting[last] = done
    local message = { jsonrpc = "2.0", id = last, method = method, params = params }
    process:write(vim.json.encode(message) .. "\n")
  end

  local session
  return {
    connect = function(ready)
      process = vim.system(test.agent, { env = test.env, stdin = true, stdout = read })
      local params = { protocolVersion = 1, clientCapabilities = vim.empty_dict() }
      call("initialize", params, ready)
    end,
    create = function(done)
      call("session/new", { cwd = uv.cwd(), mcpServers = {} }, function(result)
        session = result.sessionId
        done()
      end)
    end,
    prompt = function(text, done)
      local prompt = { { type = "text", text = text } }
      call("session/prompt", { sessionId = session, prompt = prompt }, done)
    end,
    load = function(done)
      call("session/load", { sessionId = test.session, cwd = uv.cwd(), mcpServers = {} }, done)
    end,
    listen = function(heard)
      vim.api.nvim_create_autocmd("User", {
        pattern = "Plain_agent_message_chunk",
        callback = function(args)
          heard(args.data.update)
        end,
      })
    end,
  }
end

---@return bench.Client
local function hermes()
  local session
  local function checked(done)
    return function(err, result)
      assert(not err, vim.inspect(err))
      done(result)
    end
  end
  return {
    setup = function()
      local agent = { command = test.agent[1], env = test.env }
      require("hermes").setup({
        host = { cmd = test.host },
        agents = { bench = agent, other = agent },
      })
    end,
    connect = function(ready)
      require("hermes").connect("bench", { on_done = checked(ready) })
    end,
    again = function(ready)
      require("hermes").connect("other", {
        on_done = checked(function()
          local at = uv.hrtime()
          require("hermes").disconnect("other", {
            on_done = checked(function()
              ready(at)
            end),
          })
        end),
      })
    end,
    create = function(done)
      require("hermes").create_session({
        agent = "bench",
        cwd = uv.cwd(),
        on_done = checked(function(result)
          session = result.sessionId
          done()
        end),
      })
    end,
    prompt = function(text, done)
      require("hermes").prompt(session, text, { on_done = checked(done) })
    end,
    load = function(done)
      require("hermes").load_session(test.session, {
        agent = "bench",
        cwd = uv.cwd(),
        on_done = checked(done),
      })
    end,
    listen = function(heard)
      vim.api.nvim_create_autocmd("User", {
        pattern = "AgentTextMessage",
        callback = function(args)
          heard(args.data.update)
        end,
      })
    end,
  }
end

local function cpu()
  local use = uv.getrusage()
  local function micro(time)
    return time.sec * 1e6 + time.usec
  end
  return (micro(use.utime) + micro(use.stime)) / 1e3
end

---Watches the event loop until stopped.
---@return fun(): number stop returns in ms how late a timer was at worst
local function watch()
  local every = 4
  local longest, last = 0, uv.hrtime()
  local function look()
    local now = uv.hrtime()
    longest, last = math.max(longest, now - last - every * 1e6), now
  end
  local timer = assert(uv.new_timer())
  timer:start(every, every, look)
  return function()
    look()
    timer:close()
    return longest / 1e6
  end
end

local function now_micro()
  local sec, usec = uv.gettimeofday()
  return sec * 1e6 + usec
end

local function report(name, result)
  vim.rpcnotify(test.channel, name, vim.json.encode(result))
end

local result = { seen = 0, latencies = {} }
local lines = 0

---Shows an update the way a chat does: at the end of the buffer, in sight.
local function show(update)
  local text = update.content.text
  result.seen = result.seen + 1
  if test.trickle then
    local sent = tonumber(text:match("^%d+"))
    result.latencies[result.seen] = (now_micro() - sent) / 1e3
  end
  vim.api.nvim_buf_set_lines(0, lines, lines, false, { text })
  lines = lines + 1
  vim.api.nvim_win_set_cursor(0, { lines, 0 })
end

local client = test.client == "hermes" and hermes() or plain(test.client == "drawing")
vim.wo.wrap = false

local function measure()
  collectgarbage()
  local stop, spent, began = watch(), cpu(), uv.hrtime()
  report("began", vim.empty_dict())
  local function done()
    result.took, result.cpu, result.gap = ms(began), cpu() - spent, stop()
    report("done", result)
  end
  if test.script == "load" then
    client.load(done)
  else
    client.prompt(test.script, done)
  end
end

local function begin()
  client.listen(show)
  if test.script == "load" then
    vim.schedule(measure)
  else
    client.create(vim.schedule_wrap(measure))
  end
end

vim.schedule(function()
  local began = uv.hrtime()
  if client.setup then
    client.setup()
  end
  result.setup = ms(began)
  began = uv.hrtime()
  client.connect(function()
    result.ready = ms(began)
    if not client.again then
      return begin()
    end
    vim.schedule(function()
      began = uv.hrtime()
      client.again(function(at)
        result.again = (at - began) / 1e6
        begin()
      end)
    end)
  end)
  result.connected = ms(began)
end)
