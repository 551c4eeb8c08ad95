---Agents in a terminal: any CLI, unchanged, in a pane of tmux or a terminal buffer, under `hermes
---shim`, so that the review knows what it changes.
---
---Text goes to an agent only when the user sends it. Nothing that an agent prints is read here.
---@class hermes.Shim
local M = {}

---@class hermes.ShimPreset
---@field command? string[] default: the name
---@field title? string of the pane; default: the name
---@field process? string Lua pattern for the name of its program, to find it where it runs already;
---default: the first word of `command`
---@field interrupt? "escape"|"ctrl-c" the key that stops what the agent does; default "escape"
---@field env? table<string, string> added to the environment

---@class hermes.ShimOpts: hermes.ShimPreset
---@field preset? string the preset to use; default: the one of the name
---@field cwd? string folder it starts in; default: the project of the current buffer
---@field terminal? "auto"|"tmux"|"buffer" as in setup{shim}
---@field split? "right"|"left"|"above"|"below"|"background" as in setup{shim}
---@field size? integer|string as in setup{shim}
---@field focus? boolean go there; default false
---@field gate? boolean|hermes.ShimGate ask about each change
---@field sandbox? hermes.SandboxConfig confine it; default: as in setup{sandbox}
---@field on_done? fun(err: hermes.Error?, session: hermes.ShimInfo?)

---@class hermes.ShimGate
---@field allow? string[] files and folders that may change without a question
---@field deny? string[] those that may not change
---@field timeout? integer ms that you have for an answer; default half an hour

---@class hermes.ShimInfo
---@field name string
---@field sessionId string of its events, and of its changes in the review
---@field state "running"|"exited"
---@field terminal "tmux"|"buffer"
---@field pane? string id of the pane
---@field bufnr? integer
---@field cwd string
---@field root string of the review
---@field exitCode? integer

---@class hermes.ShimSession: hermes.ShimInfo
---@field interrupt string
---@field pid? integer
---@field job? integer
---@field split? string
---@field size? integer|string
---@field ended? fun(status: integer?)

local sessions = {} ---@type table<string, hermes.ShimSession> by name

-- Agents take a key that comes right after a paste for a part of it.
local paste_ms = 100

local gate_ms = 30 * 60 * 1000

local interrupts = { escape = "\27", ["ctrl-c"] = "\3" }

---@param session hermes.ShimSession
local function backend(session)
  return session.terminal == "tmux" and require("hermes.shim.tmux")
    or require("hermes.shim.terminal")
end

---@param session hermes.ShimSession
---@return hermes.ShimInfo copy
local function info_of(session)
  return {
    name = session.name,
    sessionId = session.sessionId,
    state = session.state,
    terminal = session.terminal,
    pane = session.pane,
    bufnr = session.bufnr,
    cwd = session.cwd,
    root = session.root,
    exitCode = session.exitCode,
  }
end

---------------------------------------------------------------------------
-- One thing after the other.

local waiting, busy = {}, false ---@type fun()[], boolean

local function next_one()
  local run = not busy and table.remove(waiting, 1)
  if run then
    busy = true
    run()
  end
end

---Runs a workflow of hermes.async after those that were begun before.
---@param who string
---@param fn fun(): any
---@param on_done? fun(err: hermes.Error?, result: any)
local function in_turn(who, fn, on_done)
  waiting[#waiting + 1] = function()
    require("hermes.async").run(fn, function(err, result)
      busy = false
      vim.schedule(next_one)
      if on_done then
        on_done(err, result)
      elseif err then
        local message = ("shim.%s: %s"):format(who, err.message)
        require("hermes.log").notify(vim.log.levels.ERROR, message)
      end
    end)
  end
  next_one()
end

---@param message string
local function fail(message)
  error({ kind = "shim", message = message }, 0)
end

---------------------------------------------------------------------------
-- Opening.

---@param session hermes.ShimSession
---@param name string
---@param data table
local function emit(session, name, data)
  local its = { agent = session.name, sessionId = session.sessionId, shim = true }
  require("hermes.events").emit(name, vim.tbl_extend("force", its, data))
end

---@param session hermes.ShimSession
---@param to "running"|"exited"
local function becomes(session, to)
  local from = session.state
  session.state = to
  emit(session, "StateChanged", { from = from or "starting", to = to })
end

---@param session hermes.ShimSession
---@return string
local function terminal_id(session)
  return session.pane or ("buffer %d"):format(session.bufnr)
end

---Follows an agent that runs until it ends.
---@param session hermes.ShimSession
local function follow(session)
  local id = terminal_id(session)
  backend(session).watch(session, function(status, signal)
    session.exitCode = status
    emit(session, "TerminalExited", { terminalId = id, exitCode = status, signal = signal })
    becomes(session, "exited")
  end)
end

---@param sandbox any
---@return string[] words for hermes shim
local function sandbox_words(sandbox)
  if not sandbox then
    return {}
  end
  return { sandbox == true and "--sandbox" or "--sandbox=" .. vim.json.encode(sandbox) }
end

---@param gate boolean|hermes.ShimGate?
---@return string[] words for hermes shim
local function gate_words(gate)
  if not gate then
    return {}
  end
  gate = gate == true and {} or gate
  local words = { "--gate", "--timeout", ("%dms"):format(gate.timeout or gate_ms) }
  for _, path in ipairs(gate.allow or {}) do
    vim.list_extend(words, { "--allow", path })
  end
  for _, path in ipairs(gate.deny or {}) do
    vim.list_extend(words, { "--deny", path })
  end
  return words
end

---@param session hermes.ShimSession
---@param opts hermes.ShimOpts
---@return string[] argv
local function command_line(session, opts)
  local host, problem = require("hermes.host").command()
  if not host then
    fail(problem)
  elseif table.remove(host) ~= "host" then
    fail("host.cmd of setup() must end with the word host")
  elseif vim.fn.executable(opts.command[1]) ~= 1 then
    fail(("%s is not executable"):format(opts.command[1]))
  end
  local boxed, wrong = require("hermes.sandbox").payload(session.name, opts.sandbox)
  if wrong then
    fail(wrong)
  elseif boxed.sandbox and opts.gate then
    fail("a gate and a sandbox do not go together; with a gate, set sandbox = false")
  end
  local state = vim.fs.dirname(require("hermes.config_wire").review_dir())
  return vim
    .iter({
      host,
      { "shim", "--root", session.root, "--state", state },
      { "--agent", session.name, "--session", session.sessionId },
      gate_words(opts.gate),
      sandbox_words(boxed.sandbox),
      { "--" },
      opts.command,
    })
    :flatten()
    :totable()
end

---Opens the review of a folder, so that it hears of changes and answers questions.
---@param folder string
---@return string root of the review
local function open_review(folder)
  if not require("hermes.config").get().review.enabled then
    return folder
  end
  local result = require("hermes.async").await(function(done)
    require("hermes.rpc").call("review", { ["do"] = "open", root = folder }, {
      method = "shim.open",
      on_done = function(err, result)
        if err then -- another Neovim may have it, and hears of the changes
          require("hermes.log").write(vim.log.levels.WARN, "shim.open: " .. err.message)
        end
        done(nil, result)
      end,
    })
  end)
  return result and result.root or folder
end

---@param text string
---@return string that stands for it
local function short(text)
  return vim.fn.sha256(text):sub(1, 16)
end

---@param name string
---@param opts hermes.ShimOpts
---@return hermes.ShimInfo
local function open(name, opts)
  local session = sessions[name]
  if not session or session.state == "exited" then
    local before = session
    session = { name = name, cwd = opts.cwd, interrupt = interrupts[opts.interrupt] }
    local run = short(("%d %d"):format(vim.uv.hrtime(), vim.fn.getpid()))
    session.sessionId = ("%s-%s"):format(name, run:sub(1, 8)) -- shows in lists
    session.terminal = require("hermes.shim.options").backend(opts.terminal)
    if before and before.terminal == session.terminal and before.cwd == session.cwd then
      session.pane, session.bufnr = before.pane, before.bufnr
    end
    session.root = open_review(session.cwd)
    local key = short(name .. "\n" .. session.cwd)
    if not backend(session).find(session, key, opts.process) then
      backend(session).start(session, key, command_line(session, opts), opts)
    end
    sessions[name] = session
    emit(session, "TerminalStarted", {
      terminalId = terminal_id(session),
      command = table.concat(opts.command, " "),
      cwd = session.cwd,
    })
    becomes(session, "running")
    follow(session)
  elseif session.cwd ~= opts.cwd then
    fail(("%s runs in %s; give this one another name"):format(name, session.cwd))
  end
  if opts.focus then
    backend(session).select(session)
  end
  return info_of(session)
end

---------------------------------------------------------------------------
-- The API.

---Open an agent in a terminal, unless it is open: in a pane of tmux if Neovim runs in one, and
---otherwise in a terminal buffer. A pane that was opened before is found again, also by another
---Neovim, and so is one in which you have started the agent in the project.
---@param name string letters, digits, "-", "_" and "."; the agent in the review and in events
---@param opts? hermes.ShimOpts
function M.open(name, opts)
  opts = require("hermes.shim.options").open(name, opts)
  in_turn("open", function()
    return open(name, opts)
  end, opts.on_done)
end

---@param who string
---@param name string
---@param fn fun(session: hermes.ShimSession)
---@param opts? table
local function with(who, name, fn, opts)
  in_turn(who, function()
    local session = sessions[name]
    local left = who == "kill" and session and session.pane -- with what it said last
    if not session or session.state ~= "running" and not left then
      fail(("%s is not open; hermes.shim.open() opens it"):format(name))
    end
    fn(session)
    return info_of(session)
  end, opts and opts.on_done)
end

---@class hermes.ShimSendOpts
---@field submit? boolean press Enter after it
---@field on_done? fun(err: hermes.Error?, session: hermes.ShimInfo?)

---Send text to an agent, as a paste. Control characters other than tabs and line breaks are left
---out, so nothing in it can press a key or end the paste.
---@param name string
---@param text string
---@param opts? hermes.ShimSendOpts
function M.send(name, text, opts)
  local options = require("hermes.shim.options")
  opts = options.send(name, text, opts)
  with("send", name, function(session)
    local plain = options.pasted(text)
    if plain ~= "" then
      backend(session).write(session, plain, true)
    end
    if opts.submit then
      require("hermes.async").await(function(done)
        vim.defer_fn(done, plain ~= "" and paste_ms or 0)
      end)
      backend(session).write(session, "\r", false)
    end
  end, opts)
end

---Go to an agent: to its pane, or to a window of its buffer.
---@param name string
---@param opts? hermes.ShimCallOpts
function M.select(name, opts)
  opts = require("hermes.shim.options").call("select", name, opts)
  with("select", name, function(session)
    backend(session).select(session)
  end, opts)
end

---Press the key that stops what an agent does: Escape, unless its preset says otherwise.
---@param name string
---@param opts? hermes.ShimCallOpts
function M.interrupt(name, opts)
  opts = require("hermes.shim.options").call("interrupt", name, opts)
  with("interrupt", name, function(session)
    backend(session).write(session, session.interrupt, false)
  end, opts)
end

---End an agent, and close its pane.
---@param name string
---@param opts? hermes.ShimCallOpts
function M.kill(name, opts)
  opts = require("hermes.shim.options").call("kill", name, opts)
  with("kill", name, function(session)
    backend(session).kill(session)
    if session.state == "exited" then -- otherwise its end is seen
      session.pane = nil
    end
  end, opts)
end

---The agents that this Neovim has opened, sorted by name. Copies.
---@return hermes.ShimInfo[]
function M.list()
  local list = {}
  for _, session in vim.spairs(sessions) do
    list[#list + 1] = info_of(session)
  end
  return list
end

return M
