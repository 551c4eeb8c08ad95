---The stock Claude Code in a terminal, whose hooks report to Neovim.
---@class hermes.Claude
local M = {}

---@class hermes.ClaudeTerminal
---@field sessionId string
---@field settings string path of the settings file
---@field bufnr? integer of the terminal, unless `start` started it

---@class hermes.ClaudeOpts
---@field agent? string default: "claude-terminal"
---@field cwd? string folder of the session; default: the root of the project
---@field command? string[] program and its arguments; default: { "claude" }
---@field start? fun(command: string[], cwd: string) starts it elsewhere, such as in a pane of tmux;
---the session is then open until you close it
---@field on_done? fun(err: hermes.Error?, terminal: hermes.ClaudeTerminal?)

local keys =
  { agent = "name", cwd = "name", command = "command", start = "callback", on_done = "callback" }

---Starts a command in a window on the right, without going there.
---@param command string[]
---@param cwd string
---@param on_exit fun()
---@return integer buf
local function start(command, cwd, on_exit)
  local buf = vim.api.nvim_create_buf(true, false)
  vim.bo[buf].bufhidden = "hide"
  local win = vim.api.nvim_open_win(buf, false, { split = "right", win = -1 })
  local how = { cwd = cwd, on_exit = on_exit }
  local job, err = require("hermes.job").terminal(buf, win, command, how)
  if not job then
    error({ kind = "terminal", message = ("%s: %s"):format(command[1], err) }, 0)
  end
  return buf
end

---@param opts hermes.ClaudeOpts
---@return hermes.ClaudeTerminal
local function open(opts)
  local hermes = require("hermes")
  local agent, program = opts.agent or "claude-terminal", opts.command or { "claude" }
  if not opts.start and vim.fn.executable(program[1]) ~= 1 then
    error({ kind = "terminal", message = program[1] .. " is not executable" }, 0)
  end
  hermes.await.connect(agent)
  local cwd = require("hermes.params").session({ cwd = opts.cwd }).cwd
  local session = hermes.await.create_session({ agent = agent, cwd = cwd })
  local id, settings = session.sessionId, vim.tbl_get(session, "_meta", "hermes", "settings")
  local function close()
    hermes.close_session(id, { agent = agent, on_done = function() end })
  end
  if type(settings) ~= "string" then
    close()
    error({ kind = "agent", message = agent .. " has no settings for Claude Code" }, 0)
  end
  local command = vim.list_extend(vim.list_slice(program), { "--settings", settings })
  local ok, buf = pcall(opts.start or start, command, cwd, close)
  if not ok then
    close()
    error(buf, 0)
  elseif opts.start then
    buf = nil
  else
    vim.b[buf].hermes_session, vim.b[buf].hermes_agent = id, agent
  end
  return { sessionId = id, settings = settings, bufnr = buf }
end

---Open Claude Code in a terminal, in a session of its own. The session is closed with it.
---@param opts? hermes.ClaudeOpts
function M.open(opts)
  local check = require("hermes.check")
  opts = opts or {}
  check.need(opts, "table", "claude.open", "the options")
  for key, value in pairs(opts) do
    if not keys[key] then
      error("hermes.claude.open: " .. check.unknown("", key, keys), 2)
    end
    check.need(value, keys[key], "claude.open", key)
  end
  require("hermes.async").run(function()
    return open(opts)
  end, function(err, terminal)
    if opts.on_done then
      opts.on_done(err, terminal)
    elseif err then
      require("hermes.log").notify(vim.log.levels.ERROR, "claude.open: " .. err.message)
    end
  end)
end

return M
