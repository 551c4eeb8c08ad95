---Programs in terminals beside Neovim: in a pane of tmux or in a terminal buffer. hermes.shim,
---hermes.claude and hermes.shared open theirs here.
---
---Text goes to a program only when the user sends it. Nothing that a program prints is read here.
local M = {}

---@class hermes.Program
---@field name string
---@field agent string the agent in its events and in the review of its changes
---@field sessionId string
---@field state "running"|"exited"
---@field terminal "tmux"|"buffer"
---@field pane? string id of the pane
---@field bufnr? integer
---@field cwd string
---@field root? string of the review, for a program in a shim
---@field watched? boolean what it changes is recorded by a shim
---@field settings? string path of the file with the hooks; hermes.claude only
---@field exitCode? integer

---@class hermes.OpenProgram: hermes.Program
---@field interrupt string the key that stops what it does
---@field pid? integer
---@field born? string the start time of a process that the user has started in a pane; the pane
---is the user's then, and may run something else before and after
---@field job? integer
---@field split? string
---@field size? integer|string
---@field prompted? boolean what is submitted makes a checkpoint
---@field ended? fun(status: integer?) called by the terminal buffer

---@class hermes.ProgramPreset
---@field command? string[] the program and its first arguments; default: the name
---@field title? string of the pane; default: the name
---@field process? string Lua pattern for the name of its program, to find it where it runs already;
---default: the first word of `command`
---@field interrupt? "escape"|"ctrl-c" the key that stops what it does; default "escape"
---@field env? table<string, string> added to the environment

---@class hermes.ProgramOpts
---@field preset? string default: see the function
---@field command? string[] as in a preset
---@field title? string as in a preset
---@field interrupt? "escape"|"ctrl-c" as in a preset
---@field env? table<string, string> as in a preset
---@field terminal? "auto"|"tmux"|"buffer" as in setup{shim}
---@field split? "right"|"left"|"above"|"below"|"background" as in setup{shim}
---@field size? integer|string as in setup{shim}
---@field focus? boolean go there; default false
---@field on_done? fun(err: hermes.Error?, program: hermes.Program?)

---@class hermes.ProgramSession
---@field sessionId string
---@field agent? string
---@field path string of a file in its project

---How a program is started.
---@class hermes.ProgramStart
---@field agent string
---@field sessionId string
---@field key string the mark by which its pane is found
---@field process? string pattern of a program that the user may have started already
---@field names? fun(pid: integer): string, string agent and session of a shim that runs already
---@field argv fun(): string[] the command line, unless it runs
---@field more? table<string, any> fields of hermes.Program
---@field alone? boolean no connected agent reports the state of its session
---@field over? fun() called when it has ended, or could not be started

local programs = {} ---@type table<string, hermes.OpenProgram> by name

-- Programs take a key that comes right after a paste for a part of the paste.
local paste_ms = 100

local interrupts = { escape = "\27", ["ctrl-c"] = "\3" }

---@param program hermes.OpenProgram
local function backend(program)
  return program.terminal == "tmux" and require("hermes.program.tmux")
    or require("hermes.program.buffer")
end

---@param program hermes.OpenProgram
---@return hermes.Program copy
local function info_of(program)
  return {
    name = program.name,
    agent = program.agent,
    sessionId = program.sessionId,
    state = program.state,
    terminal = program.terminal,
    pane = program.pane,
    bufnr = program.bufnr,
    cwd = program.cwd,
    root = program.root,
    watched = program.watched,
    settings = program.settings,
    exitCode = program.exitCode,
  }
end

---@param message string
local function fail(message)
  error({ kind = "terminal", message = message }, 0)
end

---Raises an error unless a command can be started.
---@param command string[]
function M.need(command)
  if vim.fn.executable(command[1]) ~= 1 then
    fail(command[1] .. " is not executable")
  end
end

---@param text string
---@return string digest that stands for it
function M.short(text)
  return vim.fn.sha256(text):sub(1, 16)
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
---@param who string the function of Hermes, such as "shim.open"
---@param fn fun(): any
---@param on_done? fun(err: hermes.Error?, result: any)
local function in_turn(who, fn, on_done)
  waiting[#waiting + 1] = function()
    require("hermes.core.async").run(fn, function(err, result)
      busy = false
      vim.schedule(next_one)
      if on_done then
        on_done(err, result)
      elseif err then
        local message = ("%s: %s"):format(who, err.message)
        require("hermes.core.log").notify(vim.log.levels.ERROR, message)
      end
    end)
  end
  next_one()
end

-- How long to wait for tmux to report the end of a process, and how often to look.
local end_ms, look_ms = 5000, 20

---Returns a program as it is now. If its process has ended, it waits until that is reported.
---@param name string
---@return hermes.OpenProgram?
local function settled(name)
  local program = programs[name]
  local runs, left = require("hermes.program.process").runs, end_ms / look_ms
  while program and program.state == "running" and not runs(program.pid, program.born) do
    if left < 1 then
      fail(("%s has ended, but its terminal does not say so"):format(name))
    end
    left = left - 1
    require("hermes.core.async").await(function(done)
      vim.defer_fn(done, look_ms)
    end)
  end
  return program
end

---------------------------------------------------------------------------
-- Opening.

---Fires the events of a running program, and of its end.
---@param program hermes.OpenProgram
---@param command string[]
---@param start hermes.ProgramStart
local function follow(program, command, start)
  local function emit(name, data)
    local its = { agent = program.agent, sessionId = program.sessionId, shim = true }
    require("hermes.core.events").emit(name, vim.tbl_extend("force", its, data))
  end
  local function becomes(state)
    local from = program.state or "starting"
    program.state = state
    if start.alone then
      emit("StateChanged", { from = from, to = state })
    end
  end
  local id = program.pane or ("buffer %d"):format(program.bufnr)
  local shown = table.concat(command, " ")
  emit("TerminalStarted", { terminalId = id, command = shown, cwd = program.cwd })
  becomes("running")
  backend(program).watch(program, function(status, signal)
    program.exitCode = status
    emit("TerminalExited", { terminalId = id, exitCode = status, signal = signal })
    becomes("exited")
    if start.over then
      start.over()
    end
  end)
end

---@param name string
---@param cwd string
---@param opts hermes.ProgramOpts complete
---@param start hermes.ProgramStart
---@return hermes.OpenProgram
local function begin(name, cwd, opts, start)
  ---@type hermes.OpenProgram
  local program = vim.tbl_extend("error", {
    name = name,
    agent = start.agent,
    sessionId = start.sessionId,
    cwd = cwd,
    interrupt = interrupts[opts.interrupt],
    prompted = start.alone and (start.more or {}).root ~= nil,
    terminal = require("hermes.program.options").backend(opts.terminal),
  }, start.more or {})
  local before = programs[name]
  program.bufnr = before and before.cwd == cwd and before.bufnr or nil
  local found = backend(program).find(program, start)
  -- A program that the user has started without a shim has the session that was prepared here.
  program.watched = program.root ~= nil and not (found and program.sessionId == start.sessionId)
  if not found then
    M.need(opts.command)
    backend(program).start(program, start.key, start.argv(), opts)
  end
  programs[name] = program
  if program.bufnr and not start.alone then
    vim.b[program.bufnr].hermes_session = program.sessionId
    vim.b[program.bufnr].hermes_agent = program.agent
  end
  follow(program, opts.command, start)
  return program
end

---Opens a program, unless it is open.
---@param who string the function of Hermes, such as "shim.open"
---@param opts hermes.ProgramOpts complete
---@param place fun(): string, string the name of the program and its folder
---@param prepare fun(name: string, cwd: string): hermes.ProgramStart called unless it is open
function M.open(who, opts, place, prepare)
  in_turn(who, function()
    local name, cwd = place()
    local program = settled(name)
    if not program or program.state == "exited" then
      local start = prepare(name, cwd)
      local ok, begun = pcall(begin, name, cwd, opts, start)
      if not ok then
        if start.over then
          start.over()
        end
        error(begun, 0)
      end
      program = begun
    elseif program.cwd ~= cwd then
      fail(("%s runs in %s; give this one another name"):format(name, program.cwd))
    end
    if opts.focus then
      backend(program).select(program)
    end
    return info_of(program)
  end, opts.on_done)
end

---------------------------------------------------------------------------
-- Functions for an open program.

---@param who string
---@param name string
---@param fn fun(program: hermes.OpenProgram)
---@param opts { on_done?: fun(err: hermes.Error?, program: hermes.Program?) }
local function with(who, name, fn, opts)
  in_turn("shim." .. who, function()
    local program = settled(name)
    local left = who == "kill" and program and program.pane -- which shows the last output
    if not program or program.state ~= "running" and not left then
      fail(("%s is not open; hermes.shim.open() opens it"):format(name))
    end
    fn(program)
    return info_of(program)
  end, opts.on_done)
end

---Sends a text as a paste, and Enter after it.
---@param name string
---@param text string that presses no key
---@param opts hermes.ShimSendOpts
function M.send(name, text, opts)
  with("send", name, function(program)
    if text ~= "" then
      backend(program).write(program, text, true)
    end
    if opts.submit then
      if program.prompted then
        require("hermes.program.supervised").prompted(program, text)
      end
      require("hermes.core.async").await(function(done)
        vim.defer_fn(done, text ~= "" and paste_ms or 0)
      end)
      backend(program).write(program, "\r", false)
    end
  end, opts)
end

---Pastes a text into the prompt of the program of a session, also of a shim in a pane that the user
---has started. Enter is left to the user.
---@param who string the function of Hermes
---@param session hermes.ProgramSession
---@param text string that presses no key
---@param on_done? fun(err: hermes.Error?)
function M.paste(who, session, text, on_done)
  in_turn(who, function()
    local program = M.of_session(session.sessionId, session.agent)
    if program then
      return backend(program).write(program, text, true)
    end
    local supervised, tmux = require("hermes.program.supervised"), require("hermes.program.tmux")
    local pid = supervised.process_of(session)
    local pane = pid > 0 and tmux.here() and tmux.of_shim(pid)
    if not pane then
      error({
        kind = "no_session",
        message = "the session that wrote the hunk is not open; load it, or name another one in "
          .. "session_id",
      }, 0)
    end
    tmux.write(pane, text, true)
  end, on_done)
end

---@param session_id string
---@param agent? string
---@return hermes.OpenProgram? program that runs in a terminal
function M.of_session(session_id, agent)
  for _, program in pairs(programs) do
    local same = program.sessionId == session_id and (not agent or program.agent == agent)
    if same and program.state == "running" then
      return program
    end
  end
end

---Goes to the pane, or to a window of the buffer.
---@param name string
---@param opts hermes.ShimCallOpts
function M.select(name, opts)
  with("select", name, function(program)
    backend(program).select(program)
  end, opts)
end

---Presses the key that stops what a program does.
---@param name string
---@param opts hermes.ShimCallOpts
function M.interrupt(name, opts)
  with("interrupt", name, function(program)
    backend(program).write(program, program.interrupt, false)
  end, opts)
end

---Ends a program, and closes its pane.
---@param name string
---@param opts hermes.ShimCallOpts
function M.kill(name, opts)
  with("kill", name, function(program)
    backend(program).kill(program)
    if program.state == "exited" then -- otherwise its end is seen
      program.pane = nil
    end
  end, opts)
end

---@return hermes.Program[] copies, sorted by name
function M.list()
  local list = {}
  for _, program in vim.spairs(programs) do
    list[#list + 1] = info_of(program)
  end
  return list
end

return M
