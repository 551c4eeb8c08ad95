-- Agents that the user starts with `hermes shim` in a shell, as docs/shim.md begins: in a real
-- tmux, with a real Neovim beside them. Needs bin/hermes (make build) and tmux.

local eq = MiniTest.expect.equality
local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local tmuxes = dofile(here .. "/tmux.lua")
local read, write, wait_for = tmuxes.read, tmuxes.write, tmuxes.wait_for

local server = tmuxes.new("shell") ---@type hermes.test.Tmux
if not server then
  return it("an agent that was started in a shell", tmuxes.skip)
end
local dir = server.dir
local project = dir .. "/p"
local hermes = vim.fs.dirname(here) .. "/bin/hermes"

-- Does what each line says.
local agent_program = [[#!/bin/sh
AGENT=1
while printf 'ready> ' && read -r line; do eval "$line"; done
]]

---@param code string
---@return any
local function lua(code, ...)
  return server:lua(code, ...)
end

---Runs a command of Neovim, and returns what it has said and what the current window shows.
---@param command string
---@param want string
local function says(command, want)
  lua([[vim.cmd("messages clear") vim.cmd("silent! only") vim.cmd(...)]], command)
  local function shown()
    return lua([[return vim.fn.execute("messages") .. "\n"
      .. table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")]])
  end
  wait_for(want, function()
    return shown():find(want)
  end, shown)
  local text = shown()
  eq({ text, text:find("Error", 1, true), text:find("failed", 1, true) }, { text, nil, nil })
  return text:match(want)
end

---Starts an agent in a pane, as the user does.
---@param ... string flags
---@return string pane
local function shim(...)
  local argv = { hermes, "shim", ... }
  vim.list_extend(argv, { "--", dir .. "/agent" })
  local how = { "split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "one", "-c", project }
  vim.list_extend(how, { "-e", "XDG_STATE_HOME=" .. dir .. "/state" })
  local pane = server:run(unpack(vim.list_extend(how, argv)))
  wait_for("agent", function()
    return server:screen(pane):find("ready>", 1, true)
  end)
  return pane
end

---@param pane string
---@param line string
local function types(pane, line)
  server:run("send-keys", "-t", pane, "-l", line)
  server:run("send-keys", "-t", pane, "Enter")
end

---Ends an agent, and waits until its pane is gone.
---@param pane string
local function leave(pane)
  types(pane, "exit")
  wait_for("end", function()
    return not server:output("list-panes", "-a", "-F", "#{pane_id}"):find(pane .. "\n", 1, true)
  end)
end

---@return table[] hunks that are pending, in short
local function pending()
  return lua([[local result
    require("hermes").review.pending({ on_done = function(_, r) result = r or { hunks = {} } end })
    vim.wait(60000, function() return result end, 10)
    return vim.tbl_map(function(h) return { h.new[1], h.agent, h.sessionId } end, result.hunks)]])
end

---@param count integer
---@return table[]
local function pending_are(count)
  wait_for(count .. " hunks", function()
    return #pending() == count
  end, pending)
  return pending()
end

---@param session string
local function reject(session)
  local result = lua(
    [[local result
    require("hermes").review.reject({ session_id = ... }, { on_done = function(err, r)
      result = err or r
    end })
    vim.wait(60000, function() return result end, 10)
    return result]],
    session
  )
  eq(type(result.decision), "number")
end

describe("an agent that was started in a shell", function()
  setup(function()
    vim.fn.mkdir(project .. "/.git", "p")
    write(dir .. "/agent", agent_program, 493)
    write(project .. "/a", "one\n\n\n\nfive\n")
    server:neovim("one", project .. "/a")
    lua([[vim.cmd.runtime("plugin/hermes.lua") vim.o.swapfile = false require("hermes").setup({})
      require("hermes").on("FileEdited", function(data) _G.edited = data end)]])
  end)

  teardown(function()
    server:run("kill-server")
  end)

  before_each(function()
    lua(
      [[require("hermes").review.accept("all")
      vim.cmd("silent! only") vim.cmd.edit({ ..., bang = true })]],
      project .. "/a"
    )
  end)

  it("reports to the review that was opened before it", function()
    says("Hermes review", "no change of an agent is pending")
    local pane = shim()
    types(pane, "echo two >> a")
    wait_for("change", function() -- of which it is told: nobody has asked for the review again
      return lua("return edited ~= nil")
    end)
    local session = lua("return edited.sessionId")
    eq(session:match("^agent%-%x%x%x%x%x%x%x%x$"), session)
    eq(pending(), { { "two", "agent", session } })
    eq(says("Hermes review", "a%s+%+1 %-0%s+1 hunk, (%S+)"), session)
    types(pane, "exit")
    reject(session)
    eq(read(project .. "/a"), "one\n\n\n\nfive\n")
  end)

  it("is told apart from others of its name", function()
    local panes = { shim(), shim() }
    types(panes[1], "sed -i 1s/one/ONE/ a")
    local first = pending_are(1)[1][3]
    types(panes[2], "sed -i 5s/five/FIVE/ a")
    local second = pending_are(2)[2][3]
    eq(first == second, false)
    reject(first)
    eq(read(project .. "/a"), "one\n\n\n\nFIVE\n")
    eq(pending()[1][3], second)
    reject(second)
    for _, pane in ipairs(panes) do
      leave(pane)
    end
  end)

  it("keeps its session when Neovim takes its pane over", function()
    local pane = shim("--agent", "mine")
    types(pane, "echo two >> a")
    local agent, session = unpack(pending_are(1)[1], 2)
    eq(agent, "mine")
    local info = lua([[local done
      require("hermes").shim.open("agent", { on_done = function(err, info) done = err or info end })
      vim.wait(60000, function() return done end, 10)
      return done]])
    eq({ info.pane, info.agent, info.sessionId }, { pane, "mine", session })
    reject(session)
    leave(pane)
  end)

  --- Does something with the program "agent", and says why not.
  ---@param what "open"|"send"|"kill"
  ---@param ... any
  ---@return any program or message
  local function agent(what, ...)
    return lua(
      [[local done, args = nil, { "agent", select(2, ...) }
      args[#args + 1] = { submit = (...) == "send" or nil, on_done = function(err, program)
        done = err and err.message or program
      end }
      require("hermes").shim[...](unpack(args))
      vim.wait(60000, function() return done end, 10)
      return done]],
      what,
      ...
    )
  end

  --- The program that this Neovim knows as "agent".
  local function known()
    return vim.iter(lua("return require('hermes').shim.list()")):find(function(program)
      return program.name == "agent"
    end)
  end

  --- Starts the agent in a pane with a shell, and has Neovim find it there.
  ---@return string pane
  local function in_shell()
    local how = { "split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "one", "-c", project }
    vim.list_extend(how, { "-e", "XDG_STATE_HOME=" .. dir .. "/state", "-e", "PS1=shell> " })
    local pane = server:run(unpack(vim.list_extend(how, { "sh", "-i" })))
    types(pane, ("%s shim -- %s/agent"):format(hermes, dir))
    wait_for("agent", function()
      return server:screen(pane):find("ready>", 1, true)
    end)
    eq(agent("open").pane, pane)
    return pane
  end

  -- What the shell runs, and the agent does not.
  local to_shell = '[ "$AGENT" ] || touch ran'

  --- Waits for the last line of a pane.
  ---@param pane string
  ---@param want string
  local function shows_last(pane, want)
    local function screen()
      return server:screen(pane)
    end
    wait_for("shell", function()
      return screen():find(want .. "%s*$")
    end, screen)
  end

  it("is sent nothing once the shell is back, and leaves its pane to the user", function()
    local pane = in_shell()
    types(pane, "exit")
    shows_last(pane, "shell>")
    eq(agent("send", to_shell), "agent is not open; hermes.shim.open() opens it")
    eq({ known().state, known().pane }, { "exited", nil })
    eq(agent("kill"), "agent is not open; hermes.shim.open() opens it")
    types(pane, "echo still here")
    shows_last(pane, "\nstill here\n.*shell>")
    eq(server:of(pane, "#{@hermes_shim}"), "")
    eq(vim.uv.fs_stat(project .. "/ran"), nil)
    server:run("kill-pane", "-t", pane)
  end)

  it("is sent nothing while it is stopped, and ends alone when it is killed", function()
    local pane = in_shell()
    server:run("send-keys", "-t", pane, "C-z")
    shows_last(pane, "shell>")
    eq(agent("send", to_shell), ("the program in pane %s is not in front there"):format(pane))
    eq(agent("kill").name, "agent")
    wait_for("end", function()
      return known().state == "exited"
    end)
    types(pane, "echo still here")
    shows_last(pane, "\nstill here\n.*shell>")
    eq(vim.uv.fs_stat(project .. "/ran"), nil)
    server:run("kill-pane", "-t", pane)
  end)

  it("that Neovim has opened is not what the user starts in its pane", function()
    local pane = lua(
      [[local done
      require("hermes").shim.open("agent", { command = { ... }, split = "background",
        on_done = function(err, program) done = err and err.message or program end })
      vim.wait(60000, function() return done end, 10)
      return done]],
      dir .. "/agent"
    ).pane
    wait_for("agent", function()
      return server:screen(pane):find("ready>", 1, true)
    end)
    server:run("respawn-pane", "-k", "-t", pane, "-e", "PS1=shell> ", "sh", "-i")
    local ended = ("the program in pane %s has ended"):format(pane) -- until Hermes has noticed it
    for _, said in ipairs({ agent("kill"), agent("send", to_shell) }) do
      eq(said == ended and said or "agent is not open; hermes.shim.open() opens it", said)
    end
    wait_for("the end", function()
      return agent("send", to_shell) == "agent is not open; hermes.shim.open() opens it"
    end)
    eq({ known().pane, server:of(pane, "#{pane_dead}|#{@hermes_shim}") }, { nil, "0|" })
    eq(vim.uv.fs_stat(project .. "/ran"), nil)
    server:run("kill-pane", "-t", pane)
  end)

  it("gets a comment in its pane, and no text of the hunk", function()
    local pane = shim()
    types(pane, "echo 'true $(touch PWNED)' >> a")
    pending_are(1)
    local function comment()
      local done = lua([[local done
        local review = require("hermes").review
        review.pending({ on_done = function(_, result)
          review.comment(result.hunks[1], "why?", { on_done = function(err)
            done = err or true
          end })
        end })
        vim.wait(60000, function() return done end, 10)
        return done]])
      eq(done, true)
    end
    comment()
    local want = "About your change of " .. project .. "/a, line 6: why?"
    wait_for("comment", function()
      return server:screen(pane):gsub("\n", ""):find(want, 1, true)
    end, function()
      return server:screen(pane)
    end)
    eq(vim.uv.fs_stat(project .. "/PWNED"), nil)
    server:run("send-keys", "-t", pane, "C-u")
    leave(pane)
  end)

  it("has a checkpoint for each prompt that Neovim submits", function()
    local session = lua(
      [[local done
      local shim = require("hermes").shim
      shim.open("own", { command = { ... }, split = "background" })
      shim.send("own", "echo two >> a", { submit = true, on_done = function(err, info)
        done = err or info
      end })
      vim.wait(60000, function() return done end, 10)
      return done.sessionId]],
      dir .. "/agent"
    )
    pending_are(1)
    local author, checkpoints = unpack(lua([[local hunks, points
      local review = require("hermes").review
      review.pending({ on_done = function(_, result) hunks = result.hunks end })
      review.checkpoints({ on_done = function(_, result) points = result.checkpoints end })
      vim.wait(60000, function() return hunks and points end, 10)
      return { hunks[1].authors[1], points }]]))
    local point = checkpoints[#checkpoints]
    eq({ point.name, point.agent, point.sessionId }, { "echo two >> a", "own", session })
    eq(
      { author.sessionId, author.turn, author.source, author.inferred },
      { session, point.turn, "shim", nil }
    )
    says("Hermes status", "agent own: running in a terminal %(.-%), record complete")
    lua([[require("hermes").shim.kill("own")]])
  end)

  it("is said to work in a process that is not watched", function()
    local pane = shim("--agent", "open")
    types(pane, hermes .. " review tell write a") -- the editor could change files for it
    local why = "hermes works in process %d+ %(hermes%), which is not watched, by %S+"
    wait_for("the reason", function()
      return lua([[return vim.fn.execute("messages")]]):find(why)
    end)
    says("Hermes status", "changes of open%-%x+: 1 change was not recorded, because " .. why)
    types(pane, "exit")
  end)

  it("without a session is listed by its name", function()
    write(project .. "/b", "new\n")
    local tell = { hermes, "review", "tell", "--agent", "other", "write", "b" }
    local how = { cwd = project, env = { XDG_STATE_HOME = dir .. "/state" } }
    eq(vim.system(tell, how):wait().code, 0)
    pending_are(1)
    says("Hermes review", "b%s+%+1 %-0%s+1 hunk, new, other")
    reject("other")
  end)

  it("is in the review that is opened after it", function()
    local other = dir .. "/other"
    vim.fn.mkdir(other .. "/.git", "p")
    local script = { hermes, "shim", "--agent", "early", "--", "sh", "-c", "echo x > new" }
    local how = { cwd = other, env = { XDG_STATE_HOME = dir .. "/state" } }
    eq(vim.system(script, how):wait().code, 0)
    lua("vim.cmd.edit(...)", other .. "/new")
    says("Hermes review", "new%s+%+1 %-0%s+1 hunk, new, early%-%x+")
  end)
end)
