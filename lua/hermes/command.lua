---The :Hermes command.
local M = {}

local function hermes()
  return require("hermes")
end

---@param text string
local function say(text)
  require("hermes.log").notify(vim.log.levels.INFO, text)
end

---Returns an on_done that shows how an operation ended. Errors are already in
---the log.
---@param told fun(result: table): string
---@return fun(err: hermes.Error?, result: table?)
local function outcome(told)
  return function(err, result)
    if not err then
      say(told(result))
    elseif not require("hermes.rpc").by_user[err.kind] then
      require("hermes.log").show(vim.log.levels.ERROR, err.message)
    end
  end
end

local function agents()
  local names = vim.tbl_keys(hermes().state().agents)
  table.sort(names)
  return names
end

---@return string[]
local function sessions()
  local ids = vim.tbl_keys(hermes().state().sessions)
  table.sort(ids)
  return ids
end

---The sessions that can be completed on a command line. Agents choose the ids;
---an id is offered only if it is one word and hides nothing.
---@param before string[]
---@return string[]
local function first_session(_, before)
  return #before > 0 and {}
    or vim.tbl_filter(function(id)
      return not id:find("%s") and require("hermes.text").line(id) == id
    end, sessions())
end

---@return string? the only session, or nil after a message to the user
local function session_of(args)
  local ids = sessions()
  if args[1] and vim.tbl_contains(ids, args[1]) then
    return table.remove(args, 1)
  elseif #ids == 1 then
    return ids[1]
  end
  say(
    #ids == 0 and "there is no session; :Hermes new" or "which session? " .. table.concat(ids, ", ")
  )
end

---The state in a window of its own.
local function status()
  local state = hermes().state()
  local lines = { "host: " .. (state.host and state.host.version or "not running") }
  for _, name in ipairs(agents()) do
    local agent = state.agents[name]
    lines[#lines + 1] = ("agent %s: %s"):format(name, agent.state)
    for id, session in vim.spairs(agent.sessions) do
      lines[#lines + 1] = ("  session %s: %s%s"):format(
        id,
        session.state,
        #session.queue > 0 and (", %d prompts wait"):format(#session.queue) or ""
      )
    end
  end
  for _, ask in ipairs(state.pending) do
    lines[#lines + 1] = ("waits for an answer: %s of %s (%s)"):format(
      ask.name,
      ask.agent,
      ask.requestId
    )
  end
  lines = vim.tbl_map(require("hermes.log").line, lines)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden = "wipe"
  vim.api.nvim_open_win(buf, true, { split = "below", height = math.min(#lines, 15) })
end

---Replaces the host, and stops the running one; the next call starts the new one. Without a user
---who would wait, as in `nvim --headless +"Hermes install" +qa`, it returns at the end.
---@param start fun(on_done: fun(err: any, installed: hermes.Installed?))
local function replace_host(start)
  local done = false
  start(function(err, installed)
    if not err and not (installed and installed.unchanged) then
      require("hermes.rpc").stop()
    end
    vim.schedule(function() -- after the messages
      done = true
    end)
  end)
  if #vim.api.nvim_list_uis() == 0 then
    vim.wait(2 ^ 31 - 1, function()
      return done
    end, 20)
  end
end

---@param opts hermes.InstallOpts
local function install(opts)
  replace_host(function(on_done)
    opts.on_done = function(err, installed)
      if err then
        require("hermes.log").show(vim.log.levels.ERROR, err.message)
      end
      on_done(err, installed)
    end
    hermes().install(opts)
  end)
end

---@class hermes.Subcommand
---@field run fun(args: string[])
---@field complete? fun(lead: string, before: string[]): string[] completions after some words

---@type table<string, hermes.Subcommand>
local subcommands = {
  connect = {
    run = function(args)
      local name = table.remove(args, 1)
      if not name then
        return say("which agent? :Hermes connect {agent}")
      end
      local opts = {}
      if args[1] then
        opts.command, opts.args = table.remove(args, 1), args
      end
      opts.on_done = outcome(function()
        return name .. " is connected"
      end)
      hermes().connect(name, opts)
    end,
    complete = function(lead, before)
      return #before == 0 and require("hermes.health").agent_names()
        or vim.fn.getcompletion(lead, #before == 1 and "shellcmd" or "file")
    end,
  },
  disconnect = {
    run = function(args)
      hermes().disconnect(#args > 0 and args or nil)
    end,
    complete = agents,
  },
  new = {
    run = function(args)
      hermes().create_session({
        cwd = args[1],
        on_done = outcome(function(result)
          return "session " .. result.sessionId
        end),
      })
    end,
    complete = function(lead)
      return vim.fn.getcompletion(lead, "dir")
    end,
  },
  prompt = {
    run = function(args)
      local id = session_of(args)
      if id then
        hermes().prompt(id, table.concat(args, " "))
      end
    end,
    complete = first_session,
  },
  cancel = {
    run = function(args)
      local id = session_of(args)
      if id then
        hermes().cancel(id)
      end
    end,
    complete = first_session,
  },
  respond = {
    run = function()
      if require("hermes.questions").open() == 0 then
        say("no question is waiting for your answer")
      end
    end,
  },
  status = { run = status },
  chat = {
    run = function(args)
      require("hermes.chat").open({ agent = args[1] })
    end,
    complete = function(_, before)
      return #before == 0 and require("hermes.health").agent_names() or {}
    end,
  },
  terminal = {
    run = function(args)
      require("hermes.terminals").pick(args[1])
    end,
    complete = first_session,
  },
  traffic = {
    run = function(args)
      local traffic = require("hermes.traffic")
      local verb = ({ pause = "pause", resume = "resume", close = "close" })[args[1]]
      if verb then
        traffic[verb]()
      elseif args[1] == "save" then
        traffic.save(args[2])
      elseif args[1] == "replay" and args[2] then
        traffic.replay(args[2])
      else
        traffic.open(#args > 0 and traffic.parse_filter(args) or nil)
      end
    end,
    complete = function(lead, before)
      if before[1] == "save" or before[1] == "replay" then
        return vim.fn.getcompletion(lead, "file")
      end
      return #before == 0
          and {
            "agent=",
            "close",
            "direction=in",
            "direction=out",
            "method=",
            "pause",
            "replay",
            "resume",
            "save",
            "session=",
          }
        or {}
    end,
  },
  log = {
    run = function()
      local buf = vim.fn.bufadd(require("hermes.log").host_path())
      vim.bo[buf].buflisted = true
      vim.bo[buf].modeline = false -- the log quotes agents
      vim.cmd("tab split")
      vim.api.nvim_win_set_buf(0, buf)
    end,
  },
  health = {
    run = function()
      vim.cmd.checkhealth("hermes")
    end,
  },
  build = {
    run = function()
      replace_host(require("hermes.host").build)
    end,
  },
  install = {
    run = function(args)
      install({ file = args[1] })
    end,
    complete = function(lead)
      return vim.fn.getcompletion(lead, "file")
    end,
  },
  update = {
    run = function()
      install({ update = true })
    end,
  },
  clean = {
    run = function()
      require("hermes.rpc").stop()
      local err = require("hermes.install").clean()
      say(err or "the host is removed; :Hermes install or :Hermes build brings it back")
    end,
  },
  version = {
    run = function()
      require("hermes.host").describe(say)
    end,
  },
}

---@param args { fargs: string[] }
function M.run(args)
  local words = vim.list_slice(args.fargs)
  local name = table.remove(words, 1) or "status"
  local subcommand = subcommands[name]
  if not subcommand then
    local names = vim.tbl_keys(subcommands)
    table.sort(names)
    require("hermes.log").notify(
      vim.log.levels.ERROR,
      ("unknown subcommand %q; use one of: %s"):format(name, table.concat(names, ", "))
    )
    return
  end
  local ok, err = pcall(subcommand.run, words)
  if not ok then
    require("hermes.log").notify(vim.log.levels.ERROR, tostring(err))
  end
end

---@param lead string
---@param line string the whole command line, possibly with modifiers or other commands first
---@param cursor? integer byte before the rest of the line
---@return string[]
function M.complete(lead, line, cursor)
  local typed = line:sub(1, (cursor or #line) - #lead)
  local words = vim.split(typed:match("%f[%a]Her%a*!?%s+(.*)$") or "", "%s+", { trimempty = true })
  local name = table.remove(words, 1)
  local list = {}
  if not name then
    list = vim.tbl_keys(subcommands)
  elseif subcommands[name] and subcommands[name].complete then
    list = subcommands[name].complete(lead, words)
  end
  table.sort(list)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, list)
end

return M
