---Programs in panes of tmux. Its functions are called in one of hermes.async, and wait for tmux.
---
---Everything goes to tmux as words of its command line or on its standard input, never through a
---shell. tmux itself expands formats, which can run commands, in folders and titles, and takes a
---word that ends with a semicolon for the end of a command.
local M = {}

local await = require("hermes.core.async").await
local process = require("hermes.program.process")

-- The option of a pane that says which session it belongs to.
local mark = "@hermes_shim"

local least = { 3, 1 } -- version: the first that takes sizes in percent

local look_ms = 300 -- between two looks whether a program still runs

local splits = {
  right = { "-h" },
  left = { "-h", "-b" },
  below = { "-v" },
  above = { "-v", "-b" },
}

---@param message string
local function fail(message)
  error({ kind = "tmux", message = message }, 0)
end

---@param argv string[]
---@param stdin? string
---@return hermes.Ran
local function run(argv, stdin)
  return await(function(done)
    require("hermes.core.exec").start(argv, { stdin = stdin }, function(out)
      done(nil, out)
    end)
  end)
end

---Runs commands of tmux one after the other, and nothing in between.
---@param commands string[][]
---@param stdin? string
---@return string output
local function tmux(commands, stdin)
  local argv = { "tmux" }
  for i, command in ipairs(commands) do
    argv[#argv + 1] = i > 1 and ";" or nil
    for _, word in ipairs(command) do
      argv[#argv + 1] = (word:gsub(";$", "\\;"))
    end
  end
  local out = run(argv, stdin)
  if out.code ~= 0 then
    local said = vim.trim(out.stderr)
    said = said ~= "" and said or ("it ended with exit status %d"):format(out.code)
    fail(("tmux %s: %s"):format(commands[#commands][1], said))
  end
  return out.stdout
end

---A text in which tmux finds no format.
---@param text string
---@return string
local function plain(text)
  return (text:gsub("#", "##"))
end

---@return string? pane that Neovim runs in
local function own()
  return vim.env.TMUX and vim.env.TMUX_PANE
end

---Whether Neovim seems to run in tmux. Does not ask tmux.
---@return boolean
function M.here()
  return own() ~= nil and vim.fn.executable("tmux") == 1
end

---Raises an error unless Neovim runs in a tmux that is new enough.
---@return string version
function M.check()
  if not M.here() then
    fail("Neovim does not run in tmux")
  end
  local version = vim.trim(tmux({ { "display-message", "-p", "-t", own(), "#{version}" } }))
  local major, minor = version:match("(%d+)%.(%d+)")
  if major and vim.version.lt({ tonumber(major), tonumber(minor) }, least) then
    fail(("tmux %s is too old; %d.%d is needed"):format(version, least[1], least[2]))
  end
  return version
end

---@class hermes.TmuxPane
---@field id string
---@field pid integer
---@field dead boolean its command has ended
---@field status? integer
---@field signal? string
---@field tty string
---@field mark string
---@field path string

local format = "#{pane_id}|#{pane_pid}|#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|"
  .. ("#{pane_tty}|#{%s}|#{pane_current_path}"):format(mark)

---@param ... string which
---@return hermes.TmuxPane[] panes, but for the one that Neovim runs in
local function panes(...)
  local list = {}
  local out = tmux({ { "list-panes", "-F", format, ... } })
  for line in out:gmatch("[^\n]+") do
    local id, pid, dead, status, signal, tty, marked, path =
      line:match("^(%%%d+)|(%d+)|(%d?)|(%d*)|(%w*)|([^|]*)|([^|]*)|(.*)$")
    if id and id ~= own() then
      list[#list + 1] = {
        id = id,
        pid = tonumber(pid),
        dead = dead == "1",
        status = tonumber(status),
        signal = signal ~= "" and signal or nil,
        tty = tty,
        mark = marked,
        path = path,
      }
    end
  end
  return list
end

---The terminals in whose foreground a program runs.
---@param pattern string for its name
---@return table<string, { pid: integer, shim: boolean }> by name of the device: the process,
---or the shim around it
local function terminals_with(pattern)
  local found = {}
  local out = run({ "ps", "-A", "-o", "tty=,pid=,stat=,args=" })
  for line in out.stdout:gmatch("[^\n]+") do
    local tty, pid, stat, args = line:match("^%s*(%S+)%s+(%d+)%s+(%S+)%s+(.*)$")
    if tty and stat:find("+", 1, true) and process.matches(args, pattern) then
      local device = "/dev/" .. tty
      local shim = process.is_shim(args)
      if shim or not found[device] then
        found[device] = { pid = tonumber(pid), shim = shim }
      end
    end
  end
  return found
end

---@return hermes.TmuxPane[] panes of the session that Neovim runs in
local function neighbours()
  return panes("-s", "-t", own())
end

---The mark of a pane, which says which program it has.
---@class hermes.TmuxMark
---@field key string
---@field session string
---@field agent string
---@field pid integer
---@field born? string as in hermes.OpenProgram

---@param pane hermes.TmuxPane
---@return hermes.TmuxMark?
local function mark_of(pane)
  local key, session, agent, pid, born = pane.mark:match("^(%S+) (%S+) (%S+) (%d+) ?(.*)$")
  return key
      and {
        key = key,
        session = vim.uri_decode(session),
        agent = vim.uri_decode(agent),
        pid = tonumber(pid),
        born = born ~= "" and born or nil,
      }
    or nil
end

---@param program hermes.OpenProgram
---@param key string
---@param pid string
---@return string[] command that marks the pane of a program
local function marks(program, key, pid)
  local words = { key, vim.uri_encode(program.sessionId), vim.uri_encode(program.agent), pid }
  words[5] = program.born
  return { "set-option", "-p", "-F", "-t", program.pane, mark, table.concat(words, " ") }
end

---The pane is only the user's from now on.
---@param pane string
local function unmark(pane)
  tmux({ { "set-option", "-p", "-u", "-t", pane, mark } })
end

---Whether a pane still has the program that it was marked for.
---@param pane hermes.TmuxPane
---@param its hermes.TmuxMark
---@return boolean
local function holds(pane, its)
  if its.born then
    return process.runs(its.pid, its.born)
  end
  return pane.dead or pane.pid == its.pid
end

---@param pane hermes.TmuxPane
---@param root string
---@return boolean
local function is_below(pane, root)
  return pane.path == root or vim.startswith(pane.path, root .. "/")
end

---Finds the pane of a program: the one that was opened for it, or one where the user has started it
---in the project.
---@param program hermes.OpenProgram
---@param start hermes.ProgramStart
---@return boolean found
function M.find(program, start)
  for _, pane in ipairs(neighbours()) do
    local its = mark_of(pane)
    if its and its.key == start.key and holds(pane, its) then
      program.pane = pane.id
      if pane.dead then
        return false -- it is started there again
      end
      program.pid, program.born = its.pid, its.born
      program.sessionId, program.agent = its.session, its.agent
      return true
    elseif its and its.key == start.key then
      unmark(pane.id)
    end
  end
  if not start.process then
    return false
  end
  local running = terminals_with(start.process)
  local root = program.root or program.cwd
  root = require("hermes.core.disk").place(root) or root
  for _, candidate in ipairs(neighbours()) do
    local free = candidate.mark == "" and not candidate.dead
    local there = running[candidate.tty]
    local its = free and there and is_below(candidate, root) and process.look(there.pid)
    if its then
      program.pane, program.pid, program.born = candidate.id, its.pid, its.born
      if there.shim and start.names then
        program.agent, program.sessionId = start.names(its.pid)
      end
      tmux({ marks(program, start.key, tostring(its.pid)) })
      return true
    end
  end
  return false
end

---The pane in which a shim runs that the user has started.
---@param pid integer
---@return { pane: string, pid: integer, born: string }?
function M.of_shim(pid)
  local its = process.look(pid)
  local out = run({ "ps", "-o", "tty=,args=", "-p", tostring(pid) })
  local tty, args = out.stdout:match("^%s*(%S+)%s+([^\n]*)")
  for _, pane in ipairs(its and tty and process.is_shim(args) and neighbours() or {}) do
    if pane.tty == "/dev/" .. tty and not pane.dead then
      return { pane = pane.id, pid = pid, born = its.born }
    end
  end
end

---Starts a command, in the pane that the program had or in a new one.
---@param program hermes.OpenProgram
---@param key string
---@param argv string[] two words or more, because tmux gives a single one to a shell
---@param opts hermes.ProgramOpts
function M.start(program, key, argv, opts)
  if not program.pane then
    -- The command comes later, when its end cannot go unnoticed any more.
    local create = { "new-window", "-a" } -- after the window of $TMUX_PANE
    if opts.split ~= "background" then
      create = vim.list_extend({ "split-window", "-t", own() }, splits[opts.split])
      vim.list_extend(create, { "-l", tostring(opts.size) })
    end
    vim.list_extend(create, { "-d", "-P", "-F", "#{pane_id}", "sleep", "60" })
    program.pane = vim.trim(tmux({ create }))
  end
  local pane, title = program.pane, plain(opts.title)
  local commands = {
    { "set-option", "-p", "-t", pane, "remain-on-exit", "on" },
    { "select-pane", "-t", pane, "-T", title },
  }
  if opts.split == "background" then
    table.insert(commands, { "rename-window", "-t", pane, title })
  end
  local respawn = { "respawn-pane", "-k", "-t", pane, "-c", plain(program.cwd) }
  for name, value in pairs(vim.tbl_extend("keep", opts.env or {}, { PATH = vim.env.PATH })) do
    vim.list_extend(respawn, { "-e", ("%s=%s"):format(name, value) })
  end
  table.insert(commands, vim.list_extend(respawn, argv))
  table.insert(commands, marks(program, key, "#{pane_pid}"))
  table.insert(commands, { "display-message", "-p", "-t", pane, "#{pane_pid}" })
  program.pid = tonumber(vim.trim(tmux(commands)))
end

---@param program hermes.OpenProgram
---@return hermes.TmuxPane? pane of a program, wherever the user has moved it
local function pane_of(program)
  for _, pane in ipairs(panes("-a")) do
    if pane.id == program.pane then
      return pane
    end
  end
end

---Calls `ended` once the command of a pane has ended, or the pane is gone.
---@param program hermes.OpenProgram
---@param ended fun(status: integer?, signal: string?)
function M.watch(program, ended)
  local timer = assert(vim.uv.new_timer())
  local server = tonumber(vim.env.TMUX:match(",(%d+),"))
  local looking = false
  ---@return { status: integer?, signal: string? }? its end
  local function look()
    local pane = pane_of(program)
    local its = pane and mark_of(pane)
    if pane and (program.born or not pane.dead and pane.pid ~= program.pid) then
      if its and not program.born and its.pid == pane.pid then
        program.pid = pane.pid -- another Neovim has started it again
        return nil
      end
      program.pane = nil -- the user's, who has something else in it
      if its then
        unmark(pane.id)
      end
      return {}
    end
    if pane and pane.dead and not (pane.status or pane.signal) then
      tmux({ { "run-shell", "true" } }) -- its end makes tmux look for others that it has missed
      pane = pane_of(program)
    end
    if pane and not pane.dead then
      return nil -- tmux has not noticed yet
    end
    if pane and pane.status == 0 then -- otherwise the pane stays and says why
      tmux({ { "kill-pane", "-t", pane.id } })
      pane.id = nil
    end
    program.pane = pane and pane.id
    return pane or {}
  end
  timer:start(
    look_ms,
    look_ms,
    vim.schedule_wrap(function()
      if looking or timer:is_closing() or process.runs(program.pid, program.born) then
        return
      end
      looking = true
      require("hermes.core.async").run(look, function(err, how)
        looking = false
        if err and not process.runs(server) then
          program.pane, how = nil, {}
        end
        if how then
          timer:stop()
          timer:close()
          ended(how.status, how.signal)
        end
      end)
    end)
  )
end

---@param program { pane: string, pid: integer, born?: string }
---@return string format of tmux: whether a pane has its program
local function has(program)
  local mine = program.born and "1" or ("#{==:#{pane_pid},%d}"):format(program.pid)
  return ("#{&&:#{!=:#{pane_dead},1},%s}"):format(mine)
end

---@param program { pane: string }
local function fail_ended(program)
  fail(("the program in pane %s has ended"):format(program.pane))
end

---The process that the user has started in a pane.
---@param program { pane: string, pid: integer, born: string }
---@return hermes.Process
local function its_process(program)
  local its = process.look(program.pid)
  if not its or its.born ~= program.born then
    fail_ended(program)
  end
  return its --[[@as hermes.Process]]
end

---Types bytes, or pastes them if the program knows pastes.
---@param program hermes.OpenProgram
---@param bytes string
---@param as_paste boolean
function M.write(program, bytes, as_paste)
  local buffer = ("hermes-%d"):format(vim.fn.getpid())
  local paste = ("paste-buffer -d %s -b %s -t %s"):format(
    as_paste and "-p" or "",
    buffer,
    program.pane
  )
  -- tmux before 3.5 ends, with all that runs in it, when something is pasted to a program that has
  -- ended (tmux/tmux#3830). It looks and pastes without a chance for an end in between.
  local ended = ("delete-buffer -b %s ; display-message -p ended"):format(buffer)
  if program.born and not its_process(program).front then
    fail(("the program in pane %s is not in front there"):format(program.pane))
  end
  local out = tmux({
    { "load-buffer", "-b", buffer, "-" },
    { "if-shell", "-F", "-t", program.pane, has(program), paste, ended },
  }, bytes)
  if out ~= "" then
    fail_ended(program)
  end
end

---Goes to the pane.
---@param program hermes.OpenProgram
function M.select(program)
  tmux({ { "select-window", "-t", program.pane }, { "select-pane", "-t", program.pane } })
end

---Ends the program. A pane that was opened for it is closed, also when it has ended before.
---@param program hermes.OpenProgram
function M.kill(program)
  if program.born then
    local group = its_process(program).group
    vim.uv.kill(-group, "sigterm")
    vim.uv.kill(-group, "sigcont") -- one that is stopped takes no signal
    return
  end
  local out = tmux({
    {
      "if-shell",
      "-F",
      "-t",
      program.pane,
      ("#{||:#{pane_dead},#{==:#{pane_pid},%d}}"):format(program.pid),
      "kill-pane -t " .. program.pane,
      "display-message -p other",
    },
  })
  if out ~= "" then
    fail_ended(program)
  end
end

return M
