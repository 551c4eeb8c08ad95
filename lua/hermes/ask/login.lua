---Runs programs of agents that sign the user in, each in a terminal of its own.
local M = {}

---Opens a window below without leaving the current one, so that the user keeps typing there.
---@return integer buf, integer win
local function open()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "hide"
  return buf, vim.api.nvim_open_win(buf, false, { split = "below", win = -1 })
end

---@param login hermes.item.Login
---@param on_exit fun(code: integer)
---@return integer? buf
---@return string? err
local function start(login, on_exit)
  local command = vim.list_slice(login.command)
  if vim.startswith(command[1], "~/") then
    command[1] = vim.uv.os_homedir() .. command[1]:sub(2)
  end
  if vim.fn.executable(command[1]) ~= 1 then
    return nil, ("%s is not executable"):format(command[1])
  end
  command = vim.list_extend(vim.list_slice(login.wrapper or {}), command)
  local buf, win = open()
  local opts = {
    clear_env = true,
    env = login.env,
    cwd = login.cwd,
    on_exit = function(_, code)
      on_exit(code)
    end,
  }
  local job, err = require("hermes.core.job").terminal(buf, win, command, opts)
  return job and buf, err
end

---Runs the program and ends the operation: exit status 0 means that the user is signed in.
---@param login hermes.item.Login
local function run(login)
  local rpc, text = require("hermes.core.rpc"), require("hermes.core.text")
  local what = text.line(table.concat(login.command, " "), 200)
  local function fail(reason)
    rpc.finish(login.id, { kind = "login", message = ("%s: %s"):format(what, reason) })
  end
  local buf, err = start(login, function(code)
    if code ~= 0 then
      return fail(("it ended with exit status %d"):format(code))
    end
    require("hermes.core.events").emit("Authenticated", {
      agent = login.agent,
      methodId = login.methodId,
      opId = login.id,
    })
    rpc.finish(login.id, nil, vim.empty_dict())
  end)
  if not buf then
    return fail(err)
  end
  require("hermes.core.log").notify(
    vim.log.levels.INFO,
    ("log in to %s in the terminal below: %s"):format(text.line(login.agent, 30), what)
  )
  require("hermes.core.events").emit("TerminalLogin", {
    agent = login.agent,
    opId = login.id,
    methodId = login.methodId,
    command = login.command,
    bufnr = buf,
  })
end

---Asks for permission to run the program, and runs it. The question shows exactly what would run,
---because the agent chooses the arguments and variables.
---@param login hermes.item.Login
function M.run(login)
  local env = {}
  for name, value in vim.spairs(login.adds) do
    env[#env + 1] = { name = name, value = value }
  end
  local question = {
    requestId = login.id,
    agent = login.agent,
    toolCall = {
      toolCallId = login.id,
      title = "Log in: " .. login.name,
      kind = "execute",
      rawInput = {
        command = login.command[1],
        args = vim.list_slice(login.command, 2),
        env = #env > 0 and env or nil,
        cwd = login.cwd,
      },
    },
    options = {
      { optionId = "allow", name = "Run it in a terminal", kind = "allow_once" },
      { optionId = "reject", name = "Do not log in", kind = "reject_once" },
    },
  }
  require("hermes.ask.permission").ask(question, function(option)
    if option == "allow" then
      return run(login)
    end
    local reason = "the login was not allowed"
    require("hermes.core.rpc").finish(login.id, { kind = "cancelled", message = reason })
  end)
end

return M
