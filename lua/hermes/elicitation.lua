---The default answer to elicitations: asks for the fields of a form one by one,
---or shows the address of a page. Whatever is dismissed counts as cancelled.
local M = {}

local text = require("hermes.text")

local open = {} ---@type table<string, boolean> by request id

---@param id string
---@return boolean
local function wanted(id)
  return open[id] == true
end

---@param id string
---@param answer fun(value: any)
---@param value any
local function settle(id, answer, value)
  if wanted(id) then
    open[id] = nil
    answer(value)
  end
end

---The values a property offers, with their titles.
---@param property table
---@return { value: any, title: string }[]?
local function choices(property)
  if property.type == "boolean" then
    return { { value = true, title = "yes" }, { value = false, title = "no" } }
  end
  local list = property.oneOf or property.anyOf
  if list then
    return vim.tbl_map(function(option)
      return { value = option.const, title = option.title or option.const }
    end, list)
  end
  return property.enum
    and vim.tbl_map(function(value)
      return { value = value, title = value }
    end, property.enum)
end

---@param property table
---@param typed string
---@return any value nil when it does not fit
---@return string? err
local function parse(property, typed)
  if property.type == "number" or property.type == "integer" then
    local n = tonumber(typed)
    if not n or (property.type == "integer" and n % 1 ~= 0) then
      return nil, property.type == "integer" and "a whole number, please" or "a number, please"
    elseif property.minimum and n < property.minimum then
      return nil, ("at least %s, please"):format(property.minimum)
    elseif property.maximum and n > property.maximum then
      return nil, ("at most %s, please"):format(property.maximum)
    end
    return n
  elseif property.minLength and vim.fn.strchars(typed) < property.minLength then
    return nil, ("at least %d characters, please"):format(property.minLength)
  elseif property.maxLength and vim.fn.strchars(typed) > property.maxLength then
    return nil, ("at most %d characters, please"):format(property.maxLength)
  end
  return typed
end

---The default of a property that is typed in, nil when it is not a value that
---the property takes.
---@param property table
---@return string|number|nil
local function default_of(property)
  local number = property.type == "number" or property.type == "integer"
  local default = property.default
  local fits = type(default) == (number and "number" or "string") and default ~= ""
  if fits and parse(property, tostring(default)) ~= nil then
    return default
  end
end

---Ask for one value. The default stands in the prompt and an empty answer takes
---it. It is not put on the line for the user to edit: Neovim would process it
---as typed keys, and so might other implementations of |vim.ui.input()|.
---@param property table
---@param prompt string
---@param required boolean
---@param done fun(ok: boolean, value: any) ok is false when it was dismissed
local function ask_value(property, prompt, required, done)
  local list = choices(property)
  if list then
    vim.ui.select(list, {
      prompt = prompt,
      format_item = function(item)
        return text.line(tostring(item.title), 100)
      end,
    }, function(item)
      done(item ~= nil, item and item.value)
    end)
    return
  end
  local default = default_of(property)
  local hint = default ~= nil and (" (default: %s)"):format(text.line(default, 100)) or ""
  vim.ui.input({ prompt = prompt .. hint .. ": " }, function(typed)
    if not typed then
      return done(false)
    elseif typed == "" and default ~= nil then
      return done(true, default)
    elseif typed == "" and not required then
      return done(true, nil)
    end
    local value, err = parse(property, typed)
    if err then
      return vim.schedule(function()
        ask_value(property, ("%s (%s)"):format(prompt, err), required, done)
      end)
    end
    done(true, value)
  end)
end

---Ask for any number of the values a list offers.
local function ask_list(property, prompt, done)
  local left, picked = choices(property.items or {}) or {}, {}
  local finished = { title = "done" }
  local function again()
    local items = vim.list_extend({ finished }, left)
    vim.ui.select(items, {
      prompt = ("%s (%d chosen)"):format(prompt, #picked),
      format_item = function(item)
        return text.line(tostring(item.title), 100)
      end,
    }, function(item)
      if not item then
        return done(false)
      elseif item == finished then
        return done(true, picked)
      end
      picked[#picked + 1] = item.value
      left = vim.tbl_filter(function(other)
        return other ~= item
      end, left)
      vim.schedule(again)
    end)
  end
  again()
end

local function ask_form(data, answer)
  local schema = data.requestedSchema or {}
  local required = {}
  for _, name in ipairs(schema.required or {}) do
    required[name] = true
  end
  local names = vim.tbl_keys(schema.properties or {})
  table.sort(names, function(a, b)
    if (required[a] or false) ~= (required[b] or false) then
      return required[a] or false
    end
    return a < b
  end)
  local content = vim.empty_dict()
  local function field(i)
    local name = names[i]
    if not wanted(data.requestId) then
      return
    elseif not name then
      return settle(data.requestId, answer, { action = "accept", content = content })
    end
    local property = schema.properties[name]
    local prompt = ("%s: %s"):format(
      text.line(data.message or "", 80),
      text.line(property.title or property.description or name, 80)
    )
    local function done(ok, value)
      if not ok then
        return settle(data.requestId, answer, { action = "cancel" })
      end
      content[name] = value
      vim.schedule(function()
        field(i + 1)
      end)
    end
    if property.type == "array" then
      ask_list(property, prompt, done)
    else
      ask_value(property, prompt, required[name] or false, done)
    end
  end
  field(1)
end

---Only pages of the web are opened, and only after a look at the address.
local function ask_url(data, answer)
  local url = tostring(data.url)
  if not url:find("^https?://[^%s%c]+$") then
    require("hermes.log").notify(
      vim.log.levels.WARN,
      ("%s asked to open %s, which is no web page"):format(data.agent, text.line(url, 200))
    )
    return settle(data.requestId, answer, { action = "decline" })
  end
  vim.ui.select({ "Open it", "Decline" }, {
    prompt = ("%s wants you to visit %s: %s"):format(
      text.line(data.agent, 40),
      text.line(url, 300),
      text.line(data.message or "", 80)
    ),
  }, function(choice)
    if choice == "Open it" then
      vim.ui.open(url)
      settle(data.requestId, answer, { action = "accept" })
    else
      settle(data.requestId, answer, { action = choice and "decline" or "cancel" })
    end
  end)
end

---Ask the user.
---@param data table data of FormElicitation or UrlElicitation
---@param answer fun(value: any) called once at most
function M.ask(data, answer)
  open[data.requestId] = true
  if
    #vim.api.nvim_list_uis() == 0
    and debug.getinfo(vim.ui.select, "S").source:find("vim/ui.lua", 1, true)
  then
    return settle(data.requestId, answer, { action = "cancel" }) -- nobody is there
  elseif data.mode == "form" then
    ask_form(data, answer)
  elseif data.mode == "url" then
    ask_url(data, answer)
  else
    settle(data.requestId, answer, { action = "cancel" })
  end
end

---Take a question back. Its answer function is not called any more.
---@param request_id string
function M.withdraw(request_id)
  open[request_id] = nil
end

return M
