---The default answer to elicitations: asks for the fields of a form one by one,
---or shows the address of a page. A dismissed question counts as cancelled.
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
      agent = question.data.agent or "agent",
      prompt = prompt,
      kind = "hermes_elicitation",
      refuses = refuses,
      chosen = chosen,
      again = function()
        questions.again(question.data.requestId)
      end,
    })
  end
  dialog.choose(question.choice)
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

---The default of a typed property; nil if it is not a valid value of the
---property.
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

---Asks for one value. The prompt shows the default, and an empty answer takes
---it. The default is not put on the line for the user to edit: Neovim would
---process it as typed keys, and so might other implementations of
---|vim.ui.input()|.
---@param question hermes.elicitation.Question
---@param property table
---@param prompt string
---@param required boolean
---@param done fun(ok: boolean, value: any) ok is false when the question was dismissed
local function ask_value(question, property, prompt, required, done)
  local list = choices(property)
  if list then
    choose(
      question,
      {
        facts = about(question, prompt),
        items = list,
        label = function(item)
          return text.line(tostring(item.title), 100)
        end,
      },
      prompt,
      never,
      function(item)
        done(item ~= nil, item and item.value)
      end
    )
    return
  end
  local default = default_of(property)
  local hint = default ~= nil and (" (default: %s)"):format(text.line(default, 100)) or ""
  local function ask_again(with)
    go_on(question, function()
      ask_value(question, property, with, required, done)
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
    elseif typed == "" and not required then
      return done(true, nil)
    end
    local value, err = parse(property, typed)
    if err then
      return ask_again(("%s (%s)"):format(prompt, err))
    end
    done(true, value)
  end)
end

---Asks for any number of the values that a list offers.
---@param question hermes.elicitation.Question
---@param property table
---@param prompt string
---@param done fun(ok: boolean, value: any)
local function ask_list(question, property, prompt, done)
  local left, picked = choices(property.items or {}) or {}, {}
  local finished = { title = "done" }
  local function again()
    local so_far = ("%s (%d chosen)"):format(prompt, #picked)
    choose(
      question,
      {
        facts = about(question, so_far),
        items = vim.list_extend({ finished }, left),
        label = function(item)
          return text.line(tostring(item.title), 100)
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
        picked[#picked + 1] = item.value
        left = vim.tbl_filter(function(other)
          return other ~= item
        end, left)
        go_on(question, again)
      end
    )
  end
  again()
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

---@param question hermes.elicitation.Question
---@return fun() step
local function fill_in(question)
  local data = question.data
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
  if #names == 0 then
    return confirm(question)
  end
  local content = vim.empty_dict()
  local function field(i)
    local name = names[i]
    if not name then
      return settle(question, { action = "accept", content = content })
    end
    local property = schema.properties[name]
    local prompt = ("%s: %s"):format(
      text.line(data.message or "", 80),
      text.line(property.title or property.description or name, 80)
    )
    local function done(ok, value)
      if not ok then
        return settle(question, { action = "cancel" })
      end
      content[name] = value
      if not names[i + 1] then
        return field(i + 1)
      end
      go_on(question, function()
        field(i + 1)
      end)
    end
    if property.type == "array" then
      ask_list(question, property, prompt, done)
    else
      ask_value(question, property, prompt, required[name] or false, done)
    end
  end
  return function()
    field(1)
  end
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
    ask = function()
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
