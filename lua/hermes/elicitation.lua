---The default answer to elicitations: shows a form, or the address of a page. A
---dismissed question counts as cancelled.
---
---In its window a form is a list of its fields with their values, and each can be
---changed until the form is sent. With `questions.style = "select"` the fields are
---asked for one by one.
local M = {}

local dialog = require("hermes.dialog")
local questions = require("hermes.questions")
local text = require("hermes.text")

---@class hermes.elicitation.Question
---@field data table of FormElicitation or UrlElicitation
---@field answer fun(value: any)
---@field step fun() asks for the next thing
---@field choice? hermes.Choice on the screen
---@field reading? table the text that is being typed
---@field over? boolean the question is answered or withdrawn
---@field wanted? boolean the user has asked for it

---@class hermes.elicitation.Field
---@field name string
---@field property table
---@field required boolean
---@field title string

---@param question hermes.elicitation.Question
---@param value table
local function settle(question, value)
  if not question.over then
    questions.remove(question.data.requestId)
    question.answer(value)
  end
end

---Continues with another step, which waits for free hands like a question of
---its own.
---@param question hermes.elicitation.Question
---@param step fun()
local function go_on(question, step)
  question.step = step
  questions.again(question.data.requestId)
end

---@param question hermes.elicitation.Question
---@param choice { facts: hermes.Fact[], items: any[], label: fun(item: any): string }
---@param prompt string
---@param refuses fun(item: any): boolean
---@param chosen fun(item: any?)
local function choose(question, choice, prompt, refuses, chosen)
  local same = question.choice
  if not same or same.over then
    question.choice = vim.tbl_extend("force", choice, {
      id = question.data.requestId,
      agent = question.data.agent or "agent",
      prompt = prompt,
      kind = "hermes_elicitation",
      refuses = refuses,
      chosen = chosen,
    })
  end
  dialog.choose(question.choice, question.wanted == true)
end

---Shows what a form is for, next to one of its fields.
---@param question hermes.elicitation.Question
---@param prompt string
---@return hermes.Fact[]
local function about(question, prompt)
  return {
    { name = "message", value = tostring(question.data.message or ""), rows = 10 },
    { name = "field", value = prompt },
  }
end

local function never()
  return false
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
---@return any value nil when it is invalid
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

---@param list { value: any }[]
---@param value any
---@return boolean
local function offers(list, value)
  return vim.iter(list):any(function(item)
    return item.value == value
  end)
end

---The default of a property; nil if it is not a valid value of the property.
---@param property table
---@return any
local function default_of(property)
  local default, list = property.default, choices(property)
  if property.type == "array" then
    local allowed = choices(property.items or {}) or {}
    local fits = type(default) == "table"
      and vim.islist(default)
      and vim.iter(default):all(function(value)
        return offers(allowed, value)
      end)
    return fits and vim.list_slice(default) or nil
  elseif list then
    return default ~= nil and offers(list, default) and default or nil
  end
  local number = property.type == "number" or property.type == "integer"
  local fits = type(default) == (number and "number" or "string") and default ~= ""
  if fits and parse(property, tostring(default)) ~= nil then
    return default
  end
end

---Reads a value that is typed. The prompt shows the default, and an empty answer
---takes it. The default is not put on the line for the user to edit: Neovim would
---process it as typed keys, and so might other implementations of
---|vim.ui.input()|.
---@param question hermes.elicitation.Question
---@param field hermes.elicitation.Field
---@param default any
---@param prompt string
---@param done fun(ok: boolean, value: any) ok is false when the question was dismissed
local function read_value(question, field, default, prompt, done)
  local hint = default ~= nil and (" (default: %s)"):format(text.line(default, 100)) or ""
  local function ask_again(with)
    go_on(question, function()
      read_value(question, field, default, with, done)
    end)
  end
  local this = {}
  question.reading = this
  dialog.input(question, prompt .. hint .. ": ", function(typed, too_soon)
    if question.over or question.reading ~= this then
      return
    end
    question.reading = nil
    if not typed then
      return done(false)
    elseif too_soon then
      return ask_again(prompt)
    elseif typed == "" and default ~= nil then
      return done(true, default)
    elseif typed == "" and not field.required then
      return done(true, nil)
    end
    local value, err = parse(field.property, typed)
    if err then
      return ask_again(("%s (%s)"):format(prompt, err))
    end
    done(true, value)
  end)
end

local skip = { title = "Skip" } -- the item that leaves a field empty

---Asks for one of the values that a property offers.
---@param question hermes.elicitation.Question
---@param field hermes.elicitation.Field
---@param list { value: any, title: string }[]
---@param prompt string
---@param done fun(ok: boolean, value: any)
local function choose_value(question, field, list, prompt, done)
  local items, default = vim.list_slice(list), default_of(field.property)
  if not field.required then
    items[#items + 1] = skip
  end
  choose(
    question,
    {
      facts = about(question, prompt),
      items = items,
      label = function(item)
        local mark = default ~= nil and item.value == default and "  (default)" or ""
        return text.line(tostring(item.title), 100) .. mark
      end,
    },
    prompt,
    never,
    function(item)
      done(item ~= nil, item and item.value)
    end
  )
end

---Asks for any number of the values that a list offers.
---@param question hermes.elicitation.Question
---@param field hermes.elicitation.Field
---@param picked any[] values to begin with
---@param prompt string
---@param done fun(ok: boolean, value: any)
local function choose_values(question, field, picked, prompt, done)
  local list = choices(field.property.items or {}) or {}
  picked = vim.list_slice(picked)
  local finished = { title = "done" }
  local function again()
    local so_far = ("%s (%d chosen)"):format(prompt, #picked)
    choose(
      question,
      {
        facts = about(question, so_far),
        items = vim.list_extend({ finished }, list),
        label = function(item)
          local mark = item == finished and ""
            or (vim.tbl_contains(picked, item.value) and "[x] " or "[ ] ")
          return mark .. text.line(tostring(item.title), 100)
        end,
      },
      so_far,
      never,
      function(item)
        if not item then
          return done(false)
        elseif item == finished then
          return done(true, picked)
        end
        local without = vim.tbl_filter(function(value)
          return value ~= item.value
        end, picked)
        if #without == #picked then
          without[#without + 1] = item.value
        end
        picked = without
        go_on(question, again)
      end
    )
  end
  again()
end

---Asks for the value of a field.
---@param question hermes.elicitation.Question
---@param field hermes.elicitation.Field
---@param value any that it has so far
---@param done fun(ok: boolean, value: any)
local function ask_field(question, field, value, done)
  local prompt = ("%s: %s"):format(text.line(question.data.message or "", 80), field.title)
  local list = choices(field.property)
  if field.property.type == "array" then
    choose_values(question, field, value or {}, prompt, done)
  elseif list then
    choose_value(question, field, list, prompt, done)
  else
    read_value(question, field, value, prompt, done)
  end
end

---A form without fields asks for a plain yes.
---@param question hermes.elicitation.Question
---@return fun() step
local function confirm(question)
  return function()
    local prompt = text.line(question.data.message or "", 80)
    choose(
      question,
      {
        facts = { { name = "message", value = tostring(question.data.message or ""), rows = 10 } },
        items = { "Decline", "Accept" },
        label = tostring,
      },
      prompt,
      function(item)
        return item == "Decline"
      end,
      function(item)
        local action = item and item:lower() or "cancel"
        local content = action == "accept" and vim.empty_dict() or nil
        settle(question, { action = action, content = content })
      end
    )
  end
end

---The fields of a form, in the order of its schema.
---@param data table
---@return hermes.elicitation.Field[]
local function fields_of(data)
  local schema = data.requestedSchema or {}
  local properties = schema.properties or {}
  local names = {}
  for _, name in ipairs(data.fields or {}) do -- the host knows the order
    names[#names + 1] = properties[name] and name or nil
  end
  if #names ~= vim.tbl_count(properties) then
    names = vim.tbl_keys(properties)
    table.sort(names)
  end
  return vim.tbl_map(function(name)
    local property = properties[name]
    return {
      name = name,
      property = property,
      required = vim.tbl_contains(schema.required or {}, name),
      title = text.line(property.title or property.description or name, 80),
    }
  end, names)
end

---@param value any
---@return string
local function show(value)
  return value == nil and ""
    or type(value) == "table" and table.concat(vim.tbl_map(tostring, value), ", ")
    or tostring(value)
end

---The form as one list.
---@param question hermes.elicitation.Question
---@param fields hermes.elicitation.Field[]
---@return fun() step
local function whole_form(question, fields)
  local content, note = vim.empty_dict(), nil
  for _, field in ipairs(fields) do
    content[field.name] = default_of(field.property)
  end
  local items = vim.list_extend({ "Decline" }, fields)
  items[#items + 1] = "Send"
  local form ---@type fun()
  local function edit(field)
    go_on(question, function()
      ask_field(question, field, content[field.name], function(ok, value)
        if ok then
          content[field.name] = value
        end
        go_on(question, form)
      end)
    end)
  end
  function form()
    local prompt = text.line(question.data.message or "", 80)
    local list = { { name = "message", value = tostring(question.data.message or ""), rows = 10 } }
    list[2] = note and { value = note } or nil
    note = nil
    choose(
      question,
      {
        facts = list,
        items = items,
        label = function(item)
          if type(item) == "string" then
            return item
          end
          local star = item.required and "*" or ""
          return ("%s%s: %s"):format(item.title, star, text.line(show(content[item.name]), 100))
        end,
      },
      prompt,
      function(item)
        return item == "Decline"
      end,
      function(item)
        if item == nil then
          return settle(question, { action = "cancel" })
        elseif item == "Decline" then
          return settle(question, { action = "decline" })
        elseif item ~= "Send" then
          return edit(item)
        end
        for _, field in ipairs(fields) do
          if field.required and content[field.name] == nil then
            note = field.title .. " is required."
            return go_on(question, form)
          end
        end
        settle(question, { action = "accept", content = content })
      end
    )
  end
  return form
end

---The fields of a form one after the other. An optional one that is dismissed is
---skipped.
---@param question hermes.elicitation.Question
---@param fields hermes.elicitation.Field[]
---@return fun() step
local function one_by_one(question, fields)
  local content, answered = vim.empty_dict(), false
  local function step(i)
    local field = fields[i]
    if not field then
      local action = answered and "accept" or "cancel"
      return settle(question, { action = action, content = answered and content or nil })
    end
    ask_field(question, field, default_of(field.property), function(ok, value)
      if not ok and field.required then
        return settle(question, { action = "cancel" })
      elseif ok then
        content[field.name], answered = value, true
      end
      if not fields[i + 1] then
        return step(i + 1)
      end
      go_on(question, function()
        step(i + 1)
      end)
    end)
  end
  return function()
    step(1)
  end
end

---@param question hermes.elicitation.Question
---@return fun() step
local function fill_in(question)
  local fields = fields_of(question.data)
  if #fields == 0 then
    return confirm(question)
  end
  local single = #fields == 1 and choices(fields[1].property) ~= nil
  if single or not questions.in_window() then
    return one_by_one(question, fields)
  end
  return whole_form(question, fields)
end

---Opens a page after the user has seen its address, which the host has checked.
---@param question hermes.elicitation.Question
---@return fun() step
local function visit(question)
  local data = question.data
  local url, host = tostring(data.url), data.host
  local facts = { { name = "URL", value = url, decides = true } }
  if host ~= "" then -- mail has none
    table.insert(facts, 1, { name = "Host", value = host, decides = true })
  end
  facts[#facts + 1] = { name = "message", value = tostring(data.message or "") }
  local prompt = ("%s wants you to visit %s: %s"):format(
    text.line(data.agent, 40),
    host ~= "" and text.line(host, 300) or "an address",
    require("hermes.facts").line({ value = url }, 200)
  )
  return function()
    choose(
      question,
      { facts = facts, items = { "Decline", "Open it" }, label = tostring },
      prompt,
      function(item)
        return item == "Decline"
      end,
      function(item)
        if item ~= "Open it" then
          return settle(question, { action = item and "decline" or "cancel" })
        end
        local ok, _, problem = pcall(vim.ui.open, url)
        problem = not ok and "it raised an error" or problem
        if problem then
          require("hermes.log").notify(
            vim.log.levels.ERROR,
            ("the page cannot be opened: %s"):format(text.line(problem, 200))
          )
        end
        settle(question, { action = problem and "cancel" or "accept" })
      end
    )
  end
end

---Ask the user.
---@param data table data of FormElicitation or UrlElicitation
---@param answer fun(value: any) called once at most
function M.ask(data, answer)
  local steps = { form = fill_in, url = visit }
  if not steps[data.mode] then
    return answer({ action = "cancel" })
  elseif data.mode == "url" and not data.host then
    return answer({ action = "decline" }) -- the host has not checked the page
  end
  local question = { data = data, answer = answer } ---@type hermes.elicitation.Question
  question.step = steps[data.mode](question)
  questions.add({
    id = data.requestId,
    agent = data.agent or "agent",
    session_id = data.sessionId,
    ask = function(wanted)
      question.wanted = wanted
      question.step()
    end,
    close = function()
      question.over = true
      if question.choice then
        dialog.close(question.choice)
      end
      dialog.stop_reading(question)
    end,
    expire = function()
      answer({ action = "cancel" })
    end,
  })
end

---Withdraws a question. Its answer function is not called any more.
---@param request_id string
function M.withdraw(request_id)
  questions.remove(request_id)
end

return M
