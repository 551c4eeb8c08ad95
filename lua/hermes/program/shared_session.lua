---Sessions that the terminal UI of an agent shows, too: connect("codex", { shared = true }).
---
---The UI is the agent's own, in a pane of tmux or a terminal buffer. You prompt and answer there or
---in Neovim. Either may end without the other.
---@class hermes.Shared
local M = {}

---@class hermes.SharedOpts: hermes.ProgramOpts
---@field agent? string default: the agent of the session

local sockets = {} ---@type table<string, string> by session id

---@param message string
local function fail(message)
  error({ kind = "shared", message = message }, 0)
end

---Open the terminal of a session, unless it is open: in a pane of tmux if Neovim runs in one, and
---otherwise in a terminal buffer.
---@param session_id string its name as a program, too
---@param opts? hermes.SharedOpts
function M.open(session_id, opts)
  local options, program = require("hermes.program.options"), require("hermes.program")
  options.need_name(session_id, "shared.open", "the session")
  opts = options.open("shared.open", opts, "codex", options.of_shared)
  opts.env = vim.tbl_extend("keep", opts.env or {}, { CODEX_HOME = vim.env.CODEX_HOME })
  local session ---@type hermes.Session?
  program.open("shared.open", opts, function()
    session = require("hermes.session.state").session(session_id, opts.agent)
    if not session then
      fail("there is no session " .. session_id)
    elseif not sockets[session_id] then
      fail("the session is not shared; connect with shared = true")
    end
    return session_id, session.cwd
  end, function(id)
    return {
      agent = session.agent,
      sessionId = id,
      key = program.short(id),
      argv = function()
        local argv = vim.list_slice(opts.command)
        return vim.list_extend(argv, { "resume", id, "--remote", "unix://" .. sockets[id] })
      end,
    }
  end)
end

local followed = {} ---@type table<string, boolean> by agent: open the terminal of its sessions

---Follows the sessions of an agent that shares them.
---@param agent string
---@param opens boolean whether the terminal is opened for each
function M.follow(agent, opens)
  local known = followed[agent] ~= nil
  followed[agent] = opens
  if known then
    return
  end
  local opened = { "SessionCreated", "SessionForked", "SessionLoaded", "SessionResumed" }
  require("hermes.core.listeners").on(opened, {
    agent = agent,
    callback = function(data)
      local id, socket = data.sessionId, vim.tbl_get(data, "_meta", "hermes", "socket")
      if type(socket) ~= "string" or not socket:find("^/[^%c]+$") or not id:find("^[%w-]+$") then
        return
      end
      sockets[id] = socket
      if followed[agent] then
        M.open(id, { agent = agent })
      end
    end,
  }, "on")
end

return M
