---The end of what Hermes runs when Neovim quits. Neovim waits for it, so that afterwards nothing of
---Hermes runs or writes. That usually takes some hundredths of a second.
local M = {}

---How long Neovim waits. The host ends even agents that ignore everything within two seconds.
M.limit_ms = 2500

local silent_ms = 500 -- then a message explains the wait

---@class hermes.Running
---@field stop fun() asks it to end
---@field ended fun(): boolean

local running = {} ---@type hermes.Running[]
local quitting = false

---@param each hermes.Running
---@return boolean
local function lives(each)
  return not each.ended()
end

---@param ms integer
---@return boolean ended
---@return integer? why -1: the time is over, -2: the user has pressed CTRL-C
local function wait(ms)
  return vim.wait(ms, function()
    return not vim.iter(running):any(lives)
  end, 5)
end

local function quit()
  quitting = true
  for _, each in ipairs(running) do
    pcall(each.stop)
  end
  local ended, why = wait(silent_ms)
  if not ended and why == -1 then
    vim.api.nvim_echo({ { "Hermes waits for its programs to end; CTRL-C quits now" } }, false, {})
    vim.cmd.redraw()
    wait(M.limit_ms - silent_ms)
  end
end

---Makes Neovim stop something when it quits, and wait for its end.
---@param stop fun() asks it to end
---@param ended fun(): boolean
function M.add(stop, ended)
  if vim.in_fast_event() then
    return vim.schedule(function()
      M.add(stop, ended)
    end)
  end
  if #running == 0 then
    vim.api.nvim_create_autocmd("VimLeave", {
      group = vim.api.nvim_create_augroup("hermes_quit", {}),
      callback = quit,
    })
  end
  running = vim.tbl_filter(lives, running)
  running[#running + 1] = { stop = stop, ended = ended }
  if quitting then
    pcall(stop)
  end
end

---M.add() for a process.
---@param process vim.SystemObj|uv.uv_process_t
function M.add_process(process)
  M.add(function()
    process:kill("sigterm")
  end, function()
    return process:is_closing() == true
  end)
end

---M.add() for a job.
---@param job integer
---@param stop fun(job: integer): any
function M.add_job(job, stop)
  M.add(function()
    stop(job)
  end, function()
    return vim.fn.jobwait({ job }, 0)[1] ~= -1
  end)
end

return M
