---Workflows as straight code: a coroutine that waits for the operations of Hermes.
local M = {}

---@class hermes.Task
---@field cancel fun(reason?: string) ends the workflow where it waits; what it waits for goes on
---@field done fun(): boolean

local tasks = {} ---@type table<thread, table> those that have not ended

-- What fails is raised as it is, a table that shows its message.
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
      require("hermes.log").write(vim.log.levels.ERROR, trace)
      err = { kind = "lua", message = tostring(err) }
    end
  end
  if task.on_done then
    require("hermes.events").guard("on_done of async", task.on_done, err, unpack(out, 2, out.n))
  elseif err and not require("hermes.rpc").by_user[err.kind] then
    require("hermes.log").notify(vim.log.levels.ERROR, "async: " .. err.message)
  end
end

---Runs a function in which await() may be called.
---@param fn fun(...): any
---@param on_done? fun(err: hermes.Error?, ...: any) gets what `fn` returned or raised
---@return hermes.Task
function M.run(fn, on_done)
  local check = require("hermes.check")
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

---@param begin fun(done: fun(err: any, ...: any)) starts what is waited for
---@return any ... what `done` got after the error
local function wait(begin)
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

---@class hermes.Await
---@field [string] fun(...: any): any the function of Hermes of that name
---@overload fun(begin: fun(done: fun(err: any, ...: any))): any

-- Where functions take their options.
local place = {
  agents = 1,
  create_session = 1,
  list_sessions = 1,
  authenticate = 2,
  cancel = 2,
  close_session = 2,
  connect = 2,
  delete_session = 2,
  disconnect = 2,
  fork_session = 2,
  load_session = 2,
  logout = 2,
  resume_session = 2,
  configure_model = 3,
  prompt = 3,
  set_config_option = 3,
  set_mode = 3,
  set_model = 3,
  set_session_config_option = 3,
  set_session_model = 3,
  set_thought_level = 3,
  steer = 3,
}

-- ... and those of the parts of Hermes.
local part_places = {
  claude = { open = 1 },
  review = {
    checkpoints = 1,
    files = 1,
    pending = 1,
    quickfix = 1,
    accept = 2,
    base = 2,
    blame = 2,
    change = 2,
    reject = 2,
    restore = 2,
    turn = 2,
    undo = 2,
    comment = 3,
  },
  shared = { open = 2 },
  shim = { interrupt = 2, kill = 2, open = 2, select = 2, send = 3 },
}

---@param name string
---@param at integer where it takes its options
---@param call fun(...: any)
---@return fun(...: any): any
local function waiting(name, at, call)
  return function(...)
    local args = { ... }
    return wait(function(done)
      local given = args[at]
      if name == "connect" and type(given) == "string" then
        given = { protocol = given }
      end
      args[at] = vim.tbl_extend("force", given or {}, { on_done = done })
      call(unpack(args, 1, at))
    end)
  end
end

---@param part string
---@return table<string, fun(...: any): any>
local function waiting_part(part)
  return setmetatable({}, {
    __index = function(_, name)
      local at = part_places[part][name]
      if not at then
        local problem = "hermes.await.%s: there is no function %q to wait for"
        error(problem:format(part, tostring(name)), 2)
      end
      return waiting(name, at, function(...)
        require("hermes")[part][name](...)
      end)
    end,
  })
end

---Waits in a function that async() runs. `await(begin)` calls `begin(done)` and returns what
---`done(nil, ...)` gets. `await.prompt(...)` and the like call the function of Hermes of that name
---and return its result. What fails is raised.
---@type hermes.Await
M.await = setmetatable({
  claude = waiting_part("claude"),
  request = function(agent, method, params)
    return wait(function(done)
      require("hermes").request(agent, method, params, done)
    end)
  end,
  review = waiting_part("review"),
  shared = waiting_part("shared"),
  shim = waiting_part("shim"),
}, {
  __call = function(_, begin)
    require("hermes.check").need(begin, "callback", "await", "the function")
    return wait(begin)
  end,
  __index = function(_, name)
    local at = place[name]
    if not at then
      error(("hermes.await: there is no function %q to wait for"):format(tostring(name)), 2)
    end
    return waiting(name, at, function(...)
      require("hermes")[name](...)
    end)
  end,
})

return M
