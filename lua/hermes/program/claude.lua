---The stock Claude Code in a terminal, whose hooks report to Neovim.
---@class hermes.Claude
local M = {}

---@class hermes.ClaudeOpts: hermes.ProgramOpts
---@field name? string default: the agent; another one opens another Claude Code
---@field agent? string default: "claude-terminal"
---@field cwd? string folder of the session; default: the root of the project
---@field shim? boolean report every change exactly; default false

-- A part of the marks of panes: a Claude Code belongs to the Neovim that its hooks report to.
local this_neovim = ("%d %d"):format(vim.uv.hrtime(), vim.fn.getpid())

---Opens a session whose hooks report to Neovim.
---@param name string
---@param agent string
---@param cwd string
---@param opts hermes.ClaudeOpts complete
---@return hermes.ProgramStart
local function prepare(name, agent, cwd, opts)
  local command = opts.command --[[@as string[] ]]
  local program, await = require("hermes.program"), require("hermes.core.async").await
  local api = require("hermes.api")
  program.need(command)
  await(function(done)
    require("hermes.connect").start(agent, { on_done = done })
  end)
  local session = await(function(done)
    api.create_session({ agent = agent, cwd = cwd, on_done = done })
  end)
  local id, settings = session.sessionId, vim.tbl_get(session, "_meta", "hermes", "settings")
  local function close()
    api.close_session(id, { agent = agent, on_done = function() end })
  end
  if type(settings) ~= "string" then
    close()
    error({ kind = "agent", message = agent .. " has no settings for Claude Code" }, 0)
  end
  local supervised = opts.shim and require("hermes.program.supervised")
  local root = supervised and supervised.review_of(cwd)
  local start ---@type hermes.ProgramStart
  start = {
    agent = agent,
    sessionId = id,
    key = program.short(name .. "\n" .. this_neovim),
    more = { settings = settings, root = root },
    over = close,
    argv = function()
      local argv = vim.list_extend(vim.list_slice(command), { "--settings", settings })
      if supervised then
        return supervised.argv(start, root, { command = argv, sandbox = false })
      end
      return argv
    end,
  }
  return start
end

---Open Claude Code in a terminal, unless it is open: in a pane of tmux if Neovim runs in one, and
---otherwise in a terminal buffer. Its session is closed when it ends.
---@param opts? hermes.ClaudeOpts
function M.open(opts)
  local options = require("hermes.program.options")
  opts = options.open("claude.open", opts, "claude", options.of_claude)
  local agent = opts.agent or "claude-terminal"
  local name, folder = opts.name or agent, options.folder(opts.cwd)
  require("hermes.program").open("claude.open", opts, function()
    return name, folder
  end, function()
    return prepare(name, agent, folder, opts)
  end)
end

return M
