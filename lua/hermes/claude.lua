---The stock Claude Code in a terminal, whose hooks report to Neovim.
---@class hermes.Claude
local M = {}

---@class hermes.ClaudeOpts: hermes.ProgramOpts
---@field name? string default: the agent; another one opens another Claude Code
---@field agent? string default: "claude-terminal"
---@field cwd? string folder of the session; default: the root of the project

-- What is found in panes of tmux. The Claude Code of another Neovim reports to that one.
local this_neovim = ("%d %d"):format(vim.uv.hrtime(), vim.fn.getpid())

---Opens a session whose hooks report to Neovim.
---@param name string
---@param agent string
---@param cwd string
---@param command string[]
---@return hermes.ProgramStart
local function prepare(name, agent, cwd, command)
  local program, await = require("hermes.program"), require("hermes.async").await
  program.need(command)
  await.connect(agent)
  local session = await.create_session({ agent = agent, cwd = cwd })
  local id, settings = session.sessionId, vim.tbl_get(session, "_meta", "hermes", "settings")
  local function close()
    require("hermes").close_session(id, { agent = agent, on_done = function() end })
  end
  if type(settings) ~= "string" then
    close()
    error({ kind = "agent", message = agent .. " has no settings for Claude Code" }, 0)
  end
  return {
    agent = agent,
    sessionId = id,
    key = program.short(name .. "\n" .. this_neovim),
    more = { settings = settings },
    over = close,
    argv = function()
      return vim.list_extend(vim.list_slice(command), { "--settings", settings })
    end,
  }
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
    return prepare(name, agent, folder, opts.command)
  end)
end

return M
