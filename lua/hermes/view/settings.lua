---:Hermes mode, model and config: menus of what a session can be set to.
local M = {}

local choose = require("hermes.view.choose")

local function hermes()
  return require("hermes")
end

---@class hermes.Setting one value to choose
---@field id string
---@field name string
---@field description? string
---@field current boolean

---@class hermes.SettingKind
---@field what string
---@field values fun(session: hermes.SessionInfo): hermes.Setting[]
---@field set fun(session: hermes.SessionInfo, id: string, opts: hermes.Opts)

---@param list table[]?
---@param key string the member that holds the id
---@param current string?
---@return hermes.Setting[]
local function settings(list, key, current)
  return vim.tbl_map(function(entry)
    return {
      id = entry[key],
      name = entry.name or entry[key],
      description = entry.description,
      current = entry[key] == current,
    }
  end, list or {})
end

---@type table<string, hermes.SettingKind>
local kinds = {
  mode = {
    what = "mode",
    values = function(session)
      local modes = hermes().modes(session.sessionId, { agent = session.agent }) or {}
      return settings(modes.availableModes, "id", modes.currentModeId)
    end,
    set = function(session, id, opts)
      hermes().set_mode(session.sessionId, id, opts)
    end,
  },
  model = {
    what = "model",
    values = function(session)
      local models = hermes().models(session.sessionId, { agent = session.agent }) or {}
      return settings(models.availableModels, "modelId", models.currentModelId)
    end,
    set = function(session, id, opts)
      hermes().set_model(session.sessionId, id, opts)
    end,
  },
}

---@param setting hermes.Setting
---@return string
local function label(setting)
  local mark = setting.current and "* " or "  "
  local about = setting.description and ": " .. setting.description or ""
  return mark .. setting.name .. about
end

---@param what string
---@param id string
---@param values hermes.Setting[]
local function unknown(what, id, values)
  local ids = vim.tbl_map(function(setting)
    return setting.id
  end, values)
  choose.fail(("there is no %s %q; there are: %s"):format(what, id, table.concat(ids, ", ")))
end

---@param session hermes.SessionInfo
---@return table[]
local function options_of(session)
  return hermes().config_options(session.sessionId, { agent = session.agent })
end

---@param which hermes.Which
---@return hermes.SessionInfo?
local function find(which)
  return (choose.current(hermes().sessions({ session_id = which.id, agent = which.agent })))
end

---The values of modes and models that sessions have, for completion.
---@param kind "mode"|"model"
---@param which hermes.Which
---@return string[]
function M.ids(kind, which)
  local session = find(which)
  return session
      and vim.tbl_map(function(setting)
        return setting.id
      end, kinds[kind].values(session))
    or {}
end

---Sets the mode or the model of a session.
---@param kind "mode"|"model"
---@param which hermes.Which
---@param id? string nil: asks
function M.choose(kind, which, id)
  local setter = kinds[kind]
  which.fits = function(session)
    return #setter.values(session) > 0
  end
  which.unfit = ("the agent offers no choice of %ss"):format(setter.what)
  choose.session(which, function(session)
    local values = setter.values(session)
    local function set(setting)
      setter.set(session, setting.id, {
        agent = session.agent,
        on_done = choose.outcome(function()
          choose.say(("%s: %s"):format(setter.what, setting.name))
        end),
      })
    end
    if not id then
      return choose.pick(
        values,
        { prompt = setter.what:gsub("^%l", string.upper), label = label },
        set
      )
    end
    for _, setting in ipairs(values) do
      if setting.id == id then
        return set(setting)
      end
    end
    unknown(setter.what, id, values)
  end)
end

---@param option table a config option of the protocol
---@return hermes.Setting[]
local function values_of(option)
  return settings(
    require("hermes.session.config_options").values(option),
    "value",
    option.currentValue
  )
end

---@param option table
---@return string
local function value_name(option)
  if option.type == "boolean" then
    return option.currentValue and "on" or "off"
  end
  for _, setting in ipairs(values_of(option)) do
    if setting.current then
      return setting.name
    end
  end
  return tostring(option.currentValue)
end

---@param session hermes.SessionInfo
---@param option table
---@param value string|boolean
---@param name string of the value
local function set_option(session, option, value, name)
  hermes().set_config_option(session.sessionId, { id = option.id, value = value }, {
    agent = session.agent,
    on_done = choose.outcome(function()
      choose.say(("%s: %s"):format(option.name, name))
    end),
  })
end

local switches = { on = true, ["true"] = true, off = false, ["false"] = false }

---@param session hermes.SessionInfo
---@param option table
---@param value? string
local function change_option(session, option, value)
  if option.type == "boolean" then
    local on = not option.currentValue
    if value then
      on = switches[value]
    end
    if on == nil then
      return choose.fail(("%s is on or off, not %q"):format(option.name, value))
    end
    return set_option(session, option, on, on and "on" or "off")
  elseif option.type ~= "select" then
    return choose.fail(
      ("Hermes does not know options of the type %q"):format(tostring(option.type))
    )
  end
  local values = values_of(option)
  if not value then
    return choose.pick(values, { prompt = option.name, label = label }, function(setting)
      set_option(session, option, setting.id, setting.name)
    end)
  end
  for _, setting in ipairs(values) do
    if setting.id == value then
      return set_option(session, option, setting.id, setting.name)
    end
  end
  unknown(("value of %s"):format(option.name), value, values)
end

---The ids of the options, or the values of one, for completion.
---@param option_id? string
---@param which hermes.Which
---@return string[]
function M.config_ids(option_id, which)
  local session = find(which)
  local list = {}
  for _, option in ipairs(session and options_of(session) or {}) do
    if not option_id then
      list[#list + 1] = option.id
    elseif option.id == option_id and option.type == "boolean" then
      list = { "off", "on" }
    elseif option.id == option_id then
      for _, setting in ipairs(values_of(option)) do
        list[#list + 1] = setting.id
      end
    end
  end
  return list
end

---Changes a config option. Switches are turned over.
---@param which hermes.Which
---@param id? string of the option; nil: asks
---@param value? string nil: asks
function M.config(which, id, value)
  which.fits = function(session)
    return #options_of(session) > 0
  end
  which.unfit = "the agent offers no options"
  choose.session(which, function(session)
    local options = options_of(session)
    if id then
      for _, option in ipairs(options) do
        if option.id == id then
          return change_option(session, option, value)
        end
      end
      return unknown("option", id, options)
    end
    choose.pick(options, {
      prompt = "Option",
      label = function(option)
        return ("%s: %s"):format(option.name, value_name(option))
      end,
    }, function(option)
      change_option(session, option)
    end)
  end)
end

return M
