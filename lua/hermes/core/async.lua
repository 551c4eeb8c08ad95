---Workflows as straight code: a coroutine that waits for the operations of Hermes.
local M = {}

---@class hermes.Task
---@field cancel fun(reason?: string) ends the workflow where it waits; what it waits for goes on
---@field done fun(): boolean

local tasks = {} ---@type table<thread, table> those that have not ended

-- An error is raised as it is: a table, which tostring() turns into its message.
local shown = {
  __tostring = function(err)
    return err.message
  end,
}

---Wakes the coroutine of a task and looks at how far it gets.
---@param task table
local function step(task, ...)
  if task.ended then
    return
  end
  task.waiting = nil
  local out = vim.F.pack_len(coroutine.resume(task.thread, ...))
  if coroutine.status(task.thread) ~= "dead" then
    return
  end
  task.ended, tasks[task.thread] = true, nil
  local ok, err = out[1], nil
  if not ok then
    err = out[2]
    if type(err) ~= "table" or not err.kind then
      local trace = debug.traceback(task.thread, tostring(err))
      require("hermes.core.log").write(vim.log.levels.ERROR, trace)
      err = { kind = "lua", message = tostring(err) }
    end
  end
  if task.on_done then
    require("hermes.core.log").guard("on_done of async", task.on_done, err, unpack(out, 2, out.n))
  elseif err and not require("hermes.core.rpc").by_user[err.kind] then
    require("hermes.core.log").notify(vim.log.levels.ERROR, "async: " .. err.message)
  end
end

---Runs a function in which await() may be called.
---@param fn fun(...): any
---@param on_done? fun(err: hermes.Error?, ...: any) gets what `fn` returned or raised
---@return hermes.Task
function M.run(fn, on_done)
  local check = require("hermes.core.arguments")
  check.need(fn, "callback", "async", "the function")
  if on_done ~= nil then
    check.need(on_done, "callback", "async", "on_done")
  end
  local task = { thread = coroutine.create(fn), on_done = on_done }
  tasks[task.thread] = task
  step(task)
  return {
    cancel = function(reason)
      if not task.ended then
        -- The coroutine gets an error where it waits, so that its pcall can clean up.
        local err = { kind = "cancelled", message = reason or "the workflow was cancelled" }
        task.cancelled = err
        if task.waiting then
          task.waiting(err)
        end
      end
    end,
    done = function()
      return task.ended == true
    end,
  }
end

---Waits in a function that run() runs. An error is raised.
---@param begin fun(done: fun(err: any, ...: any)) starts what is waited for
---@return any ... what `done` got after the error
function M.await(begin)
  local thread = coroutine.running()
  local task = thread and tasks[thread]
  if not task then
    error("hermes.await: call it in a function that hermes.async() runs", 3)
  elseif task.cancelled then
    error(setmetatable(task.cancelled, shown), 0)
  end
  local answer, waits = nil, false
  local function done(...)
    if answer then
      return
    end
    answer = vim.F.pack_len(...)
    if not waits then
      return
    elseif vim.in_fast_event() then
      vim.schedule(function()
        step(task)
      end)
    else
      step(task)
    end
  end
  task.waiting = done
  begin(done)
  if not answer then
    waits = true
    coroutine.yield()
  end
  task.waiting = nil
  local err = answer[1]
  if err then
    err = type(err) == "table" and err or { kind = "lua", message = tostring(err) }
    error(setmetatable(err, shown), 0)
  end
  return unpack(answer, 2, answer.n)
end

return M
