---The config options of a session by category: what the protocol says an option is for.
local M = {}

---@class hermes.ConfigValue
---@field value string
---@field name string
---@field description? string
---@field group? string name of the group that the agent put it in

---@class hermes.ThoughtLevels
---@field configId string the option that holds the level
---@field current string the value in use
---@field options hermes.ConfigValue[]

---@param session hermes.SessionState?
---@param category string
---@return hermes.acp.SessionConfigOption[]
function M.all(session, category)
  return vim.tbl_filter(function(option)
    return option.category == category
  end, session and session.configOptions or {})
end

---The first option of a category that is a choice.
---@param session hermes.SessionState?
---@param category string
---@return hermes.acp.SessionConfigOption.select?
function M.choice(session, category)
  return vim.iter(M.all(session, category)):find(function(option)
    return option.type == "select"
  end)
end

---The values of a choice, with the values in its groups.
---@param option hermes.acp.SessionConfigOption.select
---@return hermes.ConfigValue[]
function M.values(option)
  local list = {}
  for _, entry in ipairs(option.options or {}) do
    for _, value in ipairs(entry.options or { entry }) do
      list[#list + 1] = {
        value = value.value,
        name = value.name,
        description = value.description,
        group = entry.options and (entry.name or entry.group) or nil,
      }
    end
  end
  return list
end

---Whether a choice has a value.
---@param option hermes.acp.SessionConfigOption.select
---@param value string?
---@return boolean
function M.has(option, value)
  return vim.iter(M.values(option)):any(function(known)
    return known.value == value
  end)
end

---Whether a value is set through a choice, and not through the list with which agents offered the
---same before there were options. The choice wins, unless only the list has the value.
---@param option hermes.acp.SessionConfigOption.select
---@param list table[]? of the agent
---@param key string that holds the value in the list
---@param value string
---@return boolean
function M.decides(option, list, key, value)
  local listed = vim.iter(list or {}):any(function(known)
    return known[key] == value
  end)
  return M.has(option, value) or not listed
end

---The values of all options that have an event of their own.
---@param session hermes.SessionState
---@return table<string, { name: string, data: table }> events by what they are about
local function told(session)
  local mode, model = M.choice(session, "mode"), M.choice(session, "model")
  local level = M.choice(session, "thought_level")
  local list = {
    mode = mode and { name = "ModeUpdated", data = { modeId = mode.currentValue } },
    model = model and { name = "ModelUpdated", data = { modelId = model.currentValue } },
    level = level and { name = "ThoughtLevelUpdated", data = { level = level.currentValue } },
  }
  for _, option in ipairs(M.all(session, "model_config")) do
    list["config " .. option.id] = {
      name = "ModelConfigurationUpdated",
      data = { configId = option.id, value = option.currentValue },
    }
  end
  return list
end

---Calls a function that changes the options of a session.
---@param session hermes.SessionState
---@param change fun()
---@return hermes.FollowEvent[] events of the values that changed
function M.changed(session, change)
  local before = told(session)
  change()
  local events = {}
  for about, event in vim.spairs(told(session)) do
    if not vim.deep_equal(before[about], event) then
      event.data.agent, event.data.sessionId = session.agent, session.sessionId
      events[#events + 1] = event
    end
  end
  return events
end

---Calls a function that opens a session again, such as after its connection broke. Its mode and
---its model may be other ones now: that is an event like any other change, and a message, because
---nobody has asked for it.
---@param session hermes.SessionState
---@param open fun()
---@return hermes.FollowEvent[]
function M.reopened(session, open)
  local function old_style() -- of agents without config options
    return {
      ModeUpdated = { modeId = (session.modes or {}).currentModeId },
      ModelUpdated = { modelId = (session.models or {}).currentModelId },
    }
  end
  local before = old_style()
  local events = M.changed(session, open)
  local by_name = {} ---@type table<string, true>
  for _, event in ipairs(events) do
    by_name[event.name] = true
  end
  for name, data in vim.spairs(old_style()) do
    local known = next(before[name]) and next(data)
    if known and not by_name[name] and not vim.deep_equal(before[name], data) then
      data.agent, data.sessionId = session.agent, session.sessionId
      events[#events + 1] = { name = name, data = data }
    end
  end
  local words = {}
  for _, event in ipairs(events) do
    local now = event.data.modeId or event.data.modelId
    local what = event.data.modeId and "mode" or "model"
    words[#words + 1] = now and ("the %s is now %s"):format(what, tostring(now)) or nil
  end
  if #words > 0 then
    local line = session.agent
      .. ": since the session was opened again "
      .. table.concat(words, ", ")
    line = require("hermes.core.text").line(line, 200)
    require("hermes.core.log").notify(vim.log.levels.WARN, line)
  end
  return events
end

---@param session_id string
---@param agent? string
---@return hermes.ThoughtLevels? copy
function M.thought_levels(session_id, agent)
  local option =
    M.choice(require("hermes.session.state").session(session_id, agent), "thought_level")
  return option
      and { configId = option.id, current = option.currentValue, options = M.values(option) }
    or nil
end

---Sets an option of a category.
---@param session_id string
---@param category string
---@param id string? of the option; nil: the choice of that category
---@param value string|boolean
---@param opts hermes.Opts
---@return string id of the operation
function M.set(session_id, category, id, value, opts)
  local session = require("hermes.session.state").session(session_id, opts.agent)
  local option
  if id then
    option = vim.iter(M.all(session, category)):find(function(candidate)
      return candidate.id == id
    end)
  else
    option = M.choice(session, category)
  end
  if option then
    return require("hermes.session.requests").request(
      "session/set_config_option",
      M.params(session_id, option.id, value),
      opts
    )
  end
  local what = category:gsub("_", " ") .. (id and (" option %q"):format(id) or "")
  return M.refuse("session/set_config_option", session_id, opts, what)
end

---Refuses to change what a session does not offer.
---@param method string
---@param session_id string
---@param opts hermes.Opts
---@param what string that it does not offer
---@return string id of the operation
function M.refuse(method, session_id, opts, what)
  local rpc = require("hermes.core.rpc")
  local op = {
    method = method,
    agent = require("hermes.session.requests").agent_for(opts, session_id),
    session_id = session_id,
    on_done = opts.on_done,
  }
  if not require("hermes.session.state").session(session_id, opts.agent) then
    return rpc.refuse(op, "unknown_session", ("there is no session %q"):format(session_id))
  end
  return rpc.refuse(op, "unsupported", ("the agent offers no %s in this session"):format(what))
end

---@param session_id string
---@param id string
---@param value string|boolean
---@return table params of session/set_config_option
function M.params(session_id, id, value)
  local kind = type(value) == "boolean" and "boolean" or nil
  return { sessionId = session_id, configId = id, value = value, type = kind }
end

return M
