---The default answer to elicitations: shows a form, or the address of a page. A dismissed question
---is answered with "cancel".
---
---In its window a form is a list of its fields with their values, and each can be
---changed until the form is sent. With `questions.style = "select"` the fields are
---asked for one by one.
local M = {}

local dialog = require("hermes.ask.dialog")
local form_fields = require("hermes.ask.form_fields")
local questions = require("hermes.ask.questions")
local text = require("hermes.core.text")

---@class hermes.elicitation.Question
---@field data table of FormElicitation or UrlElicitation
---@field answer fun(value: any)
---@field step fun() asks for the next thing
---@field choice? hermes.Choice on the screen
---@field reading? table the text that is being typed
---@field over? boolean the question is answered or withdrawn
---@field wanted? boolean the user has asked for it

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

---@param field hermes.elicitation.Field
---@return hermes.Fact? nil when its title says it all
local function described(field)
  local description = field.property.description
  if type(description) == "string" and field.title ~= text.line(description, 80) then
    return { name = field.title, value = description }
  end
end

---Shows what a form is for, next to one of its fields.
---@param question hermes.elicitation.Question
---@param field hermes.elicitation.Field
---@param prompt string
---@return hermes.Fact[]
local function about(question, field, prompt)
  return {
    { name = "message", value = tostring(question.data.message or ""), rows = 10 },
    { name = "field", value = prompt },
    described(field),
  }
end

local function never()
  return false
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
    local value, err = form_fields.parse(field.property, typed)
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
  local items, default = vim.list_slice(list), form_fields.default_of(field.property)
  if not field.required then
    items[#items + 1] = skip
  end
  choose(
    question,
    {
      facts = about(question, field, prompt),
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
  local list = form_fields.choices(field.property.items or {}) or {}
  picked = vim.list_slice(picked)
  local finished = { title = "done" }
  local function again()
    local so_far = ("%s (%d chosen)"):format(prompt, #picked)
    choose(
      question,
      {
        facts = about(question, field, so_far),
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
  local list = form_fields.choices(field.property)
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

---The form as one list.
---@param question hermes.elicitation.Question
---@param fields hermes.elicitation.Field[]
---@return fun() step
local function whole_form(question, fields)
  local content, note = vim.empty_dict(), nil
  for _, field in ipairs(fields) do
    content[field.name] = form_fields.default_of(field.property)
  end
  -- The fields come first: the cursor begins there, and <CR> on a field does not end the form.
  local items = vim.list_extend(vim.list_slice(fields), { "Send", "Decline" })
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
    for _, field in ipairs(fields) do
      list[#list + 1] = described(field)
    end
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
          return ("%s%s: %s"):format(
            item.title,
            star,
            text.line(form_fields.show(content[item.name]), 100)
          )
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
    ask_field(question, field, form_fields.default_of(field.property), function(ok, value)
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
  local fields = form_fields.of(question.data)
  if #fields == 0 then
    return confirm(question)
  end
  local single = #fields == 1 and form_fields.choices(fields[1].property) ~= nil
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
    require("hermes.ask.layout").line({ value = url }, 200)
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
          require("hermes.core.log").notify(
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
    leave = function()
      question.reading = nil
      if question.choice then
        dialog.leave(question.choice)
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
