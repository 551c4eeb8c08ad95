---:Hermes login and logout.
local M = {}

local choose = require("hermes.view.choose")

local function hermes()
  return require("hermes")
end

---@param agent hermes.ConnectionInfo
---@return table[] its methods that have an id
local function methods_of(agent)
  return vim.tbl_filter(function(method)
    return type(method) == "table" and type(method.id) == "string"
  end, agent.authMethods or {})
end

---@param name string
---@return string[] ids of the methods of a connected agent
function M.methods(name)
  for _, agent in ipairs(hermes().connections()) do
    if agent.name == name then
      return vim.tbl_map(function(method)
        return method.id
      end, methods_of(agent))
    end
  end
  return {}
end

---Signs in with a method: the only one, or the one that the user names or chooses.
---@param agent hermes.ConnectionInfo
---@param id? string
function M.login(agent, id)
  local function sign_in(method)
    hermes().authenticate(method.id, {
      agent = agent.name,
      on_done = choose.outcome(function()
        choose.say(("you are logged in to %s"):format(agent.name))
      end),
    })
  end
  local methods = methods_of(agent)
  if id then
    for _, method in ipairs(methods) do
      if method.id == id then
        return sign_in(method)
      end
    end
    return choose.fail(
      ("agent %q has no way %q to log in; it has: %s"):format(
        agent.name,
        id,
        table.concat(M.methods(agent.name), ", ")
      )
    )
  elseif #methods == 0 then
    return choose.say(("agent %q has no way to log in"):format(agent.name))
  elseif #methods == 1 then
    return sign_in(methods[1])
  end
  choose.pick(methods, {
    prompt = ("Log in to %s with"):format(agent.name),
    label = function(method)
      local name = type(method.name) == "string" and method.name or method.id
      local about = type(method.description) == "string" and ": " .. method.description or ""
      return name .. about
    end,
  }, sign_in)
end

---@param agent hermes.ConnectionInfo
function M.logout(agent)
  hermes().logout(agent.name, {
    on_done = choose.outcome(function()
      choose.say(("you are logged out of %s"):format(agent.name))
    end),
  })
end

return M
