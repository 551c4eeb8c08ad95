---hermes.await: the functions of Hermes, for workflows that wait for them.

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

-- The same for the functions of the parts of Hermes.
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
    return require("hermes.core.async").await(function(done)
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
---and return its result. An error is raised.
---@type hermes.Await
return setmetatable({
  claude = waiting_part("claude"),
  request = function(agent, method, params)
    return require("hermes.core.async").await(function(done)
      require("hermes").request(agent, method, params, done)
    end)
  end,
  review = waiting_part("review"),
  shared = waiting_part("shared"),
  shim = waiting_part("shim"),
}, {
  __call = function(_, begin)
    require("hermes.core.arguments").need(begin, "callback", "await", "the function")
    return require("hermes.core.async").await(begin)
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
