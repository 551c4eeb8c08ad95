---Programs of this machine that answer at once, such as git, tmux and the host's own.
local M = {}

-- ms for an answer. A machine can stand still for seconds, and nothing is wrong with the program.
M.patience_ms = 30000

---@class hermes.Ran
---@field code integer 0 only for a whole answer
---@field stdout string
---@field stderr string why it failed, if it says so

---@param message any
---@return hermes.Ran
local function not_started(message)
  return { code = 127, stdout = "", stderr = tostring(message) }
end

---@param out vim.SystemCompleted
---@return hermes.Ran
local function ran(out)
  local code, stderr = out.code, out.stderr or ""
  if code == 124 and out.signal == 0 then
    code = 0 -- it ended in time, but Neovim noticed late
  elseif code == 124 or out.signal ~= 0 then
    code = code ~= 0 and code or 128 + out.signal
    stderr = code ~= 124 and ("it was ended by signal %d"):format(out.signal)
      or ("it gave no answer within %g s"):format(M.patience_ms / 1000)
  end
  return { code = code, stdout = out.stdout or "", stderr = stderr }
end

---@param cwd? string
---@param stdin? string
---@return vim.SystemOpts
local function options(cwd, stdin)
  return { cwd = cwd, stdin = stdin, text = true, timeout = M.patience_ms }
end

---@param argv string[]
---@param opts? { cwd?: string, stdin?: string }
---@param on_done fun(ran: hermes.Ran) may be called in a callback of libuv
function M.start(argv, opts, on_done)
  opts = opts or {}
  local ok, problem = pcall(vim.system, argv, options(opts.cwd, opts.stdin), function(out)
    on_done(ran(out))
  end)
  if not ok then
    on_done(not_started(problem))
  end
end

---Blocks Neovim.
---@param argv string[]
---@param opts? { cwd?: string }
---@return hermes.Ran
function M.wait(argv, opts)
  local ok, out = pcall(function()
    return vim.system(argv, options(opts and opts.cwd)):wait()
  end)
  return ok and ran(out) or not_started(out)
end

return M
