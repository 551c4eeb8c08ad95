---Agents in a terminal: any CLI, unchanged, in a pane of tmux or a terminal buffer, under `hermes
---shim`, so that the review knows what it changes.
---@class hermes.Shim
local M = {}

---@class hermes.ShimOpts: hermes.ProgramOpts
---@field cwd? string folder it starts in; default: the project of the current buffer
---@field process? string as in a preset
---@field gate? boolean|hermes.ShimGate ask about each change
---@field sandbox? hermes.SandboxConfig confine it; default: as in setup{sandbox}

---@class hermes.ShimGate
---@field allow? string[] files and folders that may change without a question
---@field deny? string[] those that may not change
---@field timeout? integer ms that you have for an answer; default half an hour

---Open an agent in a terminal, unless it is open: in a pane of tmux if Neovim runs in one, and
---otherwise in a terminal buffer. A pane that was opened before is found again, also by another
---Neovim, and so is one in which you have started the agent in the project.
---@param name string letters, digits, "-", "_" and "."; the agent in the review and in events
---@param opts? hermes.ShimOpts
function M.open(name, opts)
  local options, program = require("hermes.program.options"), require("hermes.program")
  options.need_name(name, "shim.open")
  opts = options.open("shim.open", opts, name, options.of_shim)
  opts.process = opts.process or vim.pesc(vim.fs.basename(opts.command[1]))
  local folder = options.folder(opts.cwd)
  program.open("shim.open", opts, function()
    return name, folder
  end, function(_, cwd)
    local supervised = require("hermes.program.supervised")
    local root = supervised.review_of(cwd)
    local run = program.short(("%d %d"):format(vim.uv.hrtime(), vim.fn.getpid()))
    local start ---@type hermes.ProgramStart
    start = {
      agent = name,
      sessionId = ("%s-%s"):format(name, run:sub(1, 8)), -- shows in lists
      key = program.short(name .. "\n" .. cwd),
      process = opts.process,
      more = { root = root },
      alone = true,
      argv = function()
        return supervised.argv(start, root, opts)
      end,
    }
    start.names = supervised.names_of(start, root)
    return start
  end)
end

---@class hermes.ShimSendOpts
---@field submit? boolean press Enter after it
---@field on_done? fun(err: hermes.Error?, program: hermes.Program?)

---Send text to an agent, as a paste. Control characters other than tabs and line breaks are left
---out, so nothing in it can press a key or end the paste.
---@param name string
---@param text string
---@param opts? hermes.ShimSendOpts
function M.send(name, text, opts)
  local options = require("hermes.program.options")
  opts = options.call("shim.send", name, opts, { submit = "boolean" })
  require("hermes.core.arguments").need(text, "string", "shim.send", "the text")
  require("hermes.program").send(name, options.pasted(text), opts)
end

---@class hermes.ShimCallOpts
---@field on_done? fun(err: hermes.Error?, program: hermes.Program?)

---Go to an agent: to its pane, or to a window of its buffer.
---@param name string
---@param opts? hermes.ShimCallOpts
function M.select(name, opts)
  opts = require("hermes.program.options").call("shim.select", name, opts)
  require("hermes.program").select(name, opts)
end

---Press the key that stops what an agent does: Escape, unless its preset says otherwise.
---@param name string
---@param opts? hermes.ShimCallOpts
function M.interrupt(name, opts)
  opts = require("hermes.program.options").call("shim.interrupt", name, opts)
  require("hermes.program").interrupt(name, opts)
end

---End an agent, and close its pane, unless you have started it there.
---@param name string
---@param opts? hermes.ShimCallOpts
function M.kill(name, opts)
  opts = require("hermes.program.options").call("shim.kill", name, opts)
  require("hermes.program").kill(name, opts)
end

---The agents that this Neovim has opened, also by hermes.claude and hermes.shared, sorted by name.
---Copies.
---@return hermes.Program[]
function M.list()
  return require("hermes.program").list()
end

return M
