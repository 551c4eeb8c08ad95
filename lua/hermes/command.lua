---The :Hermes command: its subcommands and their completion.
local M = {}

local choose = require("hermes.choose")
local say, fail, outcome = choose.say, choose.fail, choose.outcome

local function hermes()
  return require("hermes")
end

---@return string[] names of the connected agents
local function agents()
  return vim.tbl_map(function(agent)
    return agent.name
  end, hermes().connections())
end

---Words that agents have chosen, without those that hide something, cannot be typed as one word or
---would mean something else.
---@param words string[]
---@return string[]
local function offered(words)
  local line = require("hermes.text").line
  return vim.tbl_filter(function(word)
    return word ~= "" and not word:find("[%s\\]") and not word:find("^%a+=") and line(word) == word
  end, words)
end

---@return string[]
local function session_ids()
  return offered(vim.tbl_map(function(session)
    return session.sessionId
  end, hermes().sessions()))
end

---@param before string[]
---@return string[]
local function first_session(_, before)
  return #before == 0 and session_ids() or {}
end

---Takes {key}={value} out of the words.
---@param words string[]
---@param key string
---@return string? value
local function take(words, key)
  for i, word in ipairs(words) do
    local value = word:match("^" .. key .. "=(.*)$")
    if value then
      table.remove(words, i)
      return value
    end
  end
end

---@param key string
---@param values string[]
---@return string[]
local function options(key, values)
  return vim.tbl_map(function(value)
    return key .. "=" .. value
  end, values)
end

---@param before string[]
---@param key string
---@return boolean
local function has_option(before, key)
  return vim.iter(before):any(function(word)
    return vim.startswith(word, key .. "=")
  end)
end

---Completes session=… and then the words of a session.
---@param before string[]
---@param complete fun(words: string[], session_id?: string): string[]
---@return string[]
local function with_session(before, complete)
  local words = vim.list_slice(before)
  local id = take(words, "session")
  local list = offered(complete(words, id))
  return #before == 0 and vim.list_extend(list, options("session", session_ids())) or list
end

---The agents that connect() knows. The host's program is asked for the presets.
---@return string[]
local function known_agents()
  return require("hermes.health").agent_names()
end

---@param name string
---@param words? string[] command line of the agent
local function connect(name, words)
  local opts = {}
  if words and words[1] then
    opts.command, opts.args = words[1], vim.list_slice(words, 2)
  end
  opts.on_done = outcome(function()
    say(name .. " is connected")
  end)
  hermes().connect(name, opts)
end

---@param session hermes.SessionInfo
---@param content any
local function send(session, content)
  hermes().prompt(session.sessionId, content, { agent = session.agent })
end

---Sends a prompt; asks for the text if there is none.
---@param which hermes.Which
---@param text string
---@param block? table what the prompt is about
local function prompt(which, text, block)
  choose.session(which, function(session)
    if text ~= "" then
      return send(session, block and { text, block } or text)
    end
    vim.ui.input({ prompt = "Prompt: " }, function(typed)
      if typed and typed ~= "" then
        send(session, block and { typed, block } or typed)
      end
    end)
  end)
end

---Shows the logs of the plugin and of the host, one above the other, with the newest lines.
local function open_logs()
  local log = require("hermes.log")
  local function show(path)
    local buf = vim.fn.bufadd(path)
    vim.bo[buf].buflisted = true
    vim.bo[buf].modeline = false -- the log quotes agents
    vim.bo[buf].autoread = true
    vim.api.nvim_win_set_buf(0, buf)
    vim.cmd("checktime") -- it may have been read before
    vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buf), 0 })
  end
  vim.cmd("tab split")
  show(log.path())
  vim.cmd("belowright split")
  show(log.host_path())
end

---Shows what an agent wrote to its standard error, and follows it.
---@param agent string
local function open_agent_log(agent)
  local pane = require("hermes.pane")
  local topic = "log of " .. agent
  local lines = hermes().agent_log(agent)
  if #lines == 0 and not vim.tbl_contains(agents(), agent) then
    return fail(("agent %q has written nothing; see :Hermes log"):format(agent))
  end
  local new = pane.buffer(topic) == nil
  local function show()
    local buf = pane.buffer(topic)
    local list = hermes().agent_log(agent)
    pane.fill(buf, #list > 0 and list or { "it has written nothing to its standard error" })
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      if win ~= vim.api.nvim_get_current_win() then
        vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
      end
    end
  end
  local buf, win = pane.open(topic, math.max(#lines, 10))
  show()
  vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  if new then
    pane.follow(buf, { "AgentStderr" }, show)
  end
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

---@class hermes.CommandArgs
---@field words string[]
---@field rest string everything after the subcommand, as it was typed
---@field first? integer first line of a range
---@field last? integer

---@class hermes.Subcommand
---@field run fun(words: string[], args: hermes.CommandArgs)
---@field complete? fun(lead: string, before: string[]): string[] completions after some words

---@type table<string, hermes.Subcommand>
local subcommands = {
  connect = {
    run = function(words)
      local name = table.remove(words, 1)
      if name then
        return connect(name, words)
      end
      choose.pick(known_agents(), {
        prompt = "Connect",
        label = function(agent)
          return agent
        end,
      }, connect)
    end,
    complete = function(lead, before)
      return #before == 0 and known_agents()
        or vim.fn.getcompletion(lead, #before == 1 and "shellcmd" or "file")
    end,
  },
  disconnect = {
    run = function(words)
      if #words == 0 and #agents() == 0 then
        return say("no agent is connected")
      end
      hermes().disconnect(#words > 0 and words or nil)
    end,
    complete = agents,
  },
  login = {
    run = function(words)
      choose.agent(words[1], {
        ask = "Log in to",
        unfit = "no connected agent has a way to log in; see :checkhealth hermes",
        fits = function(agent)
          return #(agent.authMethods or {}) > 0
        end,
      }, function(agent)
        require("hermes.sign_in").login(agent, words[2])
      end)
    end,
    complete = function(_, before)
      return #before == 0 and agents()
        or #before == 1 and offered(require("hermes.sign_in").methods(before[1]))
        or {}
    end,
  },
  logout = {
    run = function(words)
      choose.agent(words[1], { ask = "Log out of" }, function(agent)
        require("hermes.sign_in").logout(agent)
      end)
    end,
    complete = function(_, before)
      return #before == 0 and agents() or {}
    end,
  },
  new = {
    run = function(words)
      local agent = take(words, "agent")
      hermes().create_session({
        agent = agent,
        cwd = words[1],
        on_done = outcome(function(result)
          say("session " .. result.sessionId)
        end),
      })
    end,
    complete = function(lead, before)
      local list = vim.fn.getcompletion(lead, "dir")
      return has_option(before, "agent") and list
        or vim.list_extend(options("agent", agents()), list)
    end,
  },
  sessions = {
    run = function(words)
      require("hermes.picker").sessions(words[1])
    end,
    complete = function(_, before)
      return #before == 0 and agents() or {}
    end,
  },
  fork = {
    run = function(words)
      local picker = require("hermes.picker")
      local can = {}
      for _, agent in ipairs(hermes().connections()) do
        can[agent.name] = picker.can(agent, "fork")
      end
      choose.session({
        id = words[1],
        fits = function(session)
          return can[session.agent]
        end,
        unfit = "the agent cannot fork sessions",
      }, function(session)
        hermes().fork_session(session.sessionId, {
          agent = session.agent,
          on_done = outcome(function(result)
            say("session " .. result.sessionId)
          end),
        })
      end)
    end,
    complete = first_session,
  },
  close = {
    run = function(words)
      choose.session({ id = words[1], ask = "Close session" }, function(session)
        hermes().close_session(session.sessionId, {
          agent = session.agent,
          on_done = outcome(function()
            say(("session %s is closed"):format(session.title or session.sessionId))
          end),
        })
      end)
    end,
    complete = first_session,
  },
  delete = {
    run = function(words)
      require("hermes.picker").delete(take(words, "agent"), words[1])
    end,
    complete = function(_, before)
      return #before == 0 and offered(require("hermes.picker").stored_ids()) or {}
    end,
  },
  prompt = {
    run = function(_, args)
      local rest = args.rest
      local id, after = rest:match("^session=(%S+)%s*(.*)$")
      local block, err
      if args.first then
        local range = { first = args.first, last = args.last }
        block, err = hermes().context.buffer(0, range)
        if not block then
          return fail(err)
        end
      end
      prompt({ id = id }, id and after or rest, block)
    end,
    complete = function(_, before)
      return #before == 0 and options("session", session_ids()) or {}
    end,
  },
  cancel = {
    run = function(words)
      choose.session({
        id = words[1],
        fits = function(session)
          return session.state ~= "idle" or session.queued > 0
        end,
        unfit = "no turn is running",
      }, function(session)
        hermes().cancel(session.sessionId, { agent = session.agent })
      end)
    end,
    complete = first_session,
  },
  mode = {
    run = function(words)
      require("hermes.settings").choose("mode", { id = take(words, "session") }, words[1])
    end,
    complete = function(_, before)
      return with_session(before, function(words, id)
        return #words == 0 and require("hermes.settings").ids("mode", id) or {}
      end)
    end,
  },
  model = {
    run = function(words)
      require("hermes.settings").choose("model", { id = take(words, "session") }, words[1])
    end,
    complete = function(_, before)
      return with_session(before, function(words, id)
        return #words == 0 and require("hermes.settings").ids("model", id) or {}
      end)
    end,
  },
  config = {
    run = function(words)
      require("hermes.settings").config({ id = take(words, "session") }, words[1], words[2])
    end,
    complete = function(_, before)
      return with_session(before, function(words, id)
        return #words < 2 and require("hermes.settings").config_ids(words[1], id) or {}
      end)
    end,
  },
  permissions = {
    run = function(words)
      local verb = table.remove(words, 1)
      local rules = require("hermes.rule_words")
      if not verb then
        rules.list()
      elseif verb == "allow" or verb == "deny" then
        rules.add(verb, words)
      elseif verb == "remove" then
        rules.remove(words)
      else
        fail(("%q is none of allow, deny, remove"):format(verb))
      end
    end,
    complete = function(_, before)
      if #before == 0 then
        return { "allow", "deny", "remove" }
      end
      return before[1] ~= "remove"
          and require("hermes.rule_words").complete(vim.list_slice(before, 2))
        or {}
    end,
  },
  pending = {
    run = function()
      require("hermes.waiting").pending()
    end,
  },
  respond = {
    run = function()
      require("hermes.waiting").respond()
    end,
  },
  review = {
    run = function(words, args)
      require("hermes.review.view").run(words, args)
    end,
    complete = function(lead, before)
      return require("hermes.review.view").complete(lead, before)
    end,
  },
  chat = {
    run = function(args)
      require("hermes.chat").open({ agent = args[1] })
    end,
    complete = function(_, before)
      return #before == 0 and known_agents() or {}
    end,
  },
  shim = {
    run = function(words)
      if not words[1] then
        return fail("which agent? :Hermes shim {name} [{command}]")
      end
      local command = #words > 1 and vim.list_slice(words, 2) or nil
      hermes().shim.open(words[1], { command = command, focus = true })
    end,
    complete = function(lead, before)
      return #before == 0 and require("hermes.program.options").names()
        or vim.fn.getcompletion(lead, #before == 1 and "shellcmd" or "file")
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
      elseif args[1] == "replay" then
        if not args[2] then
          return fail("give the file of a recording: :Hermes traffic replay {file}")
        end
        traffic.replay(args[2])
      else
        traffic.open(#args > 0 and traffic.parse_filter(args) or nil)
      end
    end,
    complete = function(lead, before)
      if before[1] == "save" or before[1] == "replay" then
        return vim.fn.getcompletion(lead, "file")
      end
      local words = { "direction=in", "direction=out", "method=" }
      vim.list_extend(words, options("agent", agents()))
      vim.list_extend(words, options("session", session_ids()))
      return #before > 0 and words
        or vim.list_extend(words, { "close", "pause", "replay", "resume", "save" })
    end,
  },
  conflict = {
    run = function(words)
      local conflict, here = require("hermes.conflict"), vim.api.nvim_get_current_buf()
      local function name(item)
        return vim.fn.fnamemodify(item.path, ":~:.")
      end
      local function resolve(item)
        local function with(choice)
          hermes().resolve_conflict(choice, { bufnr = item.bufnr })
        end
        if words[1] then
          return with(words[1])
        end
        choose.pick(conflict.choices, {
          prompt = name(item),
          label = function(choice)
            return conflict.labels[choice]
          end,
        }, with)
      end
      if words[1] and not vim.tbl_contains(conflict.choices, words[1]) then
        return fail("the choice must be mine, theirs or both")
      end
      local list = hermes().conflicts()
      for _, item in ipairs(list) do
        if item.bufnr == here or #list == 1 then
          return resolve(item)
        end
      end
      if #list == 0 then
        return say("no buffer has a conflict with its file")
      end
      choose.pick(list, { prompt = "Conflict", label = name }, resolve)
    end,
    complete = function(_, before)
      return #before == 0 and require("hermes.conflict").choices or {}
    end,
  },
  status = {
    run = function()
      require("hermes.status").open()
    end,
  },
  log = {
    run = function(words)
      if words[1] then
        return open_agent_log(words[1])
      end
      open_logs()
    end,
    complete = function(_, before)
      return #before == 0 and require("hermes.agent_log").agents() or {}
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

for _, way in ipairs({ "load", "resume" }) do
  subcommands[way] = {
    run = function(words)
      require("hermes.picker").reopen(way, take(words, "agent"), words[1])
    end,
    complete = function(_, before)
      return #before == 0 and offered(require("hermes.picker").stored_ids()) or {}
    end,
  }
end

---@return string[]
local function names()
  local list = vim.tbl_keys(subcommands)
  table.sort(list)
  return list
end

---Runs a subcommand. Errors are shown, not raised.
---@param name string
---@param words string[]
---@param args? hermes.CommandArgs
function M.call(name, words, args)
  local subcommand = subcommands[name]
  if not subcommand then
    local meant = require("hermes.check").similar(name, names())
    return fail(
      ("unknown subcommand %q; %suse one of: %s"):format(
        name,
        meant and ("did you mean %q? "):format(meant) or "",
        table.concat(names(), ", ")
      )
    )
  end
  args = args or { rest = table.concat(words, " ") }
  args.words = words
  local ok, err = pcall(subcommand.run, vim.list_slice(words), args)
  if not ok then
    fail(tostring(err))
  end
end

---@param cmd vim.api.keyset.create_user_command.command_args
function M.run(cmd)
  local words = vim.list_slice(cmd.fargs)
  M.call(table.remove(words, 1) or "status", words, {
    rest = cmd.args:match("^%s*%S+%s*(.*)$") or "",
    first = cmd.range and cmd.range > 0 and cmd.line1 or nil,
    last = cmd.range and cmd.range > 0 and cmd.line2 or nil,
  })
end

---Asks for a prompt about what was selected last.
function M.prompt_selection()
  local block, err = hermes().context.selection()
  if not block then
    return fail(err)
  end
  prompt({}, "", block)
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
    list = names()
  elseif subcommands[name] and subcommands[name].complete then
    list = subcommands[name].complete(lead, words)
  end
  local fitting, seen = {}, {}
  for _, word in ipairs(list) do
    if vim.startswith(word, lead) and not seen[word] then
      seen[word] = true
      fitting[#fitting + 1] = word
    end
  end
  table.sort(fitting)
  return fitting
end

return M
