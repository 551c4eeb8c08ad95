--- The default answer to PermissionRequest: asks the user.
---
--- The question shows what the agent wants to do, according to the arguments of
--- the tool call. The title is only the agent's claim and comes after them.
--- Nothing is allowed by default: a question that is dismissed, cannot be shown
--- or is not answered in time counts as cancelled.

local text = require("hermes.text")

local M = {}

--- The most lines of one diff that are shown next to the question.
M.max_diff_lines = 20

-- The most lines and bytes that the diffs of one question may compare: in a
-- thread, and while the editor waits.
local in_thread = { lines = 200000, bytes = 8 * 1024 * 1024 }
local at_once = { lines = 4000, bytes = 256 * 1024 }
-- The most arguments that are shown one by one.
local max_arguments = 500
-- The most lines of a diff that are shown when everything is shown.
local max_lines = 1000

local kinds = {
  allow_once = "allow once",
  allow_always = "allow always",
  reject_once = "reject once",
  reject_always = "reject always",
}

---@class hermes.PermissionChoice
---@field label string what it does, safe to show
---@field refuses boolean it allows nothing
---@field optionId? string the answer to the request; nil when it leads to `choices`
---@field kind? string of the option
---@field rule? hermes.Rule to add as well, so that the same is not asked again
---@field choices? hermes.PermissionChoice[] what it leads to

--- What the user may choose. Rejections come first, because many pickers start
--- on the first entry. The rules are behind the last choice, from narrow to wide.
---@param data table data of PermissionRequest
---@return hermes.PermissionChoice[]
function M.choices(data)
  local refusals, others, once = {}, {}, {}
  for _, option in ipairs(type(data.options) == "table" and data.options or {}) do
    local refuses = option.kind == "reject_once" or option.kind == "reject_always"
    local kind = kinds[option.kind] or "unknown kind: " .. text.line(option.kind or "none", 40)
    table.insert(refuses and refusals or others, {
      label = ("%s  [%s]"):format(text.line(option.name or option.optionId, 100), kind),
      refuses = refuses,
      optionId = option.optionId,
      kind = option.kind,
    })
    once[#once + 1] = option.kind == "allow_once" and option.optionId or nil
  end
  local rules = {}
  for _, offer in ipairs(#once == 1 and require("hermes.rules").offers(data) or {}) do
    rules[#rules + 1] =
      { label = offer.words, refuses = false, optionId = once[1], rule = offer.rule }
  end
  if #rules > 0 then
    local label = "Allow this and more …  [rule]"
    others[#others + 1] = { label = label, refuses = false, choices = rules }
  end
  return vim.list_extend(refusals, others)
end

--- An argument as one text, with words quoted for a shell.
---@param value any
---@return string
local function as_text(value)
  if type(value) ~= "table" then
    return tostring(value)
  end
  local strings = vim.islist(value)
    and vim.iter(value):all(function(v)
      return type(v) == "string"
    end)
  if not strings then
    return vim.json.encode(value)
  end
  return table.concat(
    vim.tbl_map(function(word)
      return "'" .. word:gsub("'", [['\'']]) .. "'"
    end, value),
    " "
  )
end

-- The arguments that say what runs, in the order in which they are shown,
-- without "_", "-" and capitals.
local leading = {
  command = 1,
  cmd = 1,
  commandline = 1,
  script = 1,
  args = 2,
  arguments = 2,
  argv = 2,
  program = 3,
  shell = 4,
  cwd = 5,
  workdir = 5,
  workingdirectory = 5,
  directory = 5,
  env = 6,
  environment = 6,
}

-- Parts of the names of arguments that say where it happens.
local places = { "path", "file", "dir", "folder", "url", "uri", "source", "dest", "target" }

-- Kinds of tool calls that show what happens. In all others any argument may.
local telling = { read = true, edit = true, search = true, fetch = true, think = true }

---@param name any
---@return integer? order of a deciding argument, nil for the rest
local function rank(name, kind)
  local plain = tostring(name):lower():gsub("[_%-]", "")
  if leading[plain] then
    return leading[plain]
  elseif not telling[kind] then
    return 8
  end
  for _, part in ipairs(places) do
    if plain:find(part, 1, true) then
      return 7
    end
  end
end

--- The arguments of a tool call as facts: those that decide, and the rest.
---@param call table
---@return hermes.Fact[] deciding
---@return hermes.Fact[] others
local function arguments(call)
  local input = call.rawInput
  if type(input) ~= "table" or (vim.islist(input) and #input > 0) then
    return input ~= nil and { { name = "input", value = as_text(input), decides = true } } or {}, {}
  end
  local names = vim.tbl_keys(input)
  if #names > max_arguments then
    return { { name = "arguments", value = as_text(input), decides = true } }, {}
  end
  table.sort(names, function(a, b)
    local at, bt = rank(a, call.kind) or 9, rank(b, call.kind) or 9
    return at < bt or (at == bt and tostring(a) < tostring(b))
  end)
  local deciding, others = {}, {}
  for _, name in ipairs(names) do
    local decides = rank(name, call.kind) ~= nil
    table.insert(decides and deciding or others, {
      name = text.line(name, 60),
      value = as_text(input[name]),
      decides = decides,
    })
  end
  return deciding, others
end

--- The tool call in question: the question's members laid over the earlier
--- ones.
---@param data table
---@return table
local function tool_call(data)
  local call = data.toolCall or {}
  local state = package.loaded["hermes.state"] -- nothing was known before it was loaded
  local session = state and state.session(data.sessionId, data.agent)
  local known = session and session.toolCalls[call.toolCallId]
  return known and vim.tbl_extend("force", known, call) or call
end

---@param diff table
---@param body string[]
---@return string[]
local function change(diff, body)
  local verb = diff.oldText and "change " or "create "
  return vim.list_extend({ verb .. text.line(diff.path or "no path") }, body)
end

---@param result hermes.Comparison
---@return string[]
local function compared(result)
  if not result.lines then
    return {
      ("  … too large to compare: %d lines before, %d after"):format(result.before, result.after),
    }
  elseif result.more > 0 then
    result.lines[#result.lines + 1] = ("  … %d more lines"):format(result.more)
  end
  return result.lines
end

--- The facts of a request: what would run and where, which files would change,
--- then the agent's own words.
---@param data table data of PermissionRequest
---@param compare fun(diff: table): string[] the lines of a change
---@return hermes.Fact[]
local function facts(data, compare)
  local call = tool_call(data)
  local deciding, others = arguments(call)
  local paths, changed, contents = {}, {}, {}
  local told = {} ---@type table<string, true> files that are among the changes
  for _, content in ipairs(call.content or {}) do
    if content.type == "diff" then
      changed[#changed + 1] = content.path or "a file without a path"
      told[changed[#changed]] = true
      contents[#contents + 1] = { list = compare(content), rows = M.max_diff_lines + 1 }
    elseif content.type == "content" and content.content and content.content.text then
      contents[#contents + 1] = { value = content.content.text, rows = M.max_diff_lines }
    end
  end
  for _, location in ipairs(call.locations or {}) do
    local at = location.line and (":%d"):format(location.line) or ""
    if not told[location.path] then
      paths[#paths + 1] = (location.path or "a place without a path") .. at
    end
  end
  local list = deciding
  if data.truncated then
    local lost = ("%s bytes, too large for the editor"):format(tostring(data.truncated.bytes))
    list[#list + 1] = { name = "missing", value = lost, decides = true, lost = true }
  end
  if #changed > 0 then
    list[#list + 1] = { name = "changes", list = changed, decides = true }
  end
  if #paths > 0 then
    list[#list + 1] = { name = "path", list = paths, decides = true }
  end
  list[#list + 1] = { name = "kind", value = text.line(call.kind or "unknown", 40) }
  if call.title then
    list[#list + 1] = { name = "title", value = call.title }
  end
  vim.list_extend(list, others)
  return vim.list_extend(list, contents)
end

--- The facts of a request, as lines that are safe to show.
---@param data table data of PermissionRequest
---@param width? integer cells of a line, by default 100
---@return string[]
---@return boolean whole false when they are too long to show all that decides
function M.details(data, width)
  local budget = vim.deepcopy(at_once)
  local list = facts(data, function(diff)
    local result =
      require("hermes.diff").compare(diff.oldText or "", diff.newText or "", budget, max_lines)
    return change(diff, compared(result))
  end)
  local rows, whole = require("hermes.facts").all(list, width or 100)
  return rows, whole
end

--- One line for pickers: the most telling fact, then the title.
---@param data table
---@param list hermes.Fact[]
---@return string
local function headline(data, list)
  local call = tool_call(data)
  local agent = text.line(data.agent or "agent", 40)
  local title = text.line(call.title or call.kind or "tool call", 100)
  local first = list[1]
  if not first.decides then
    return ("%s: %s?"):format(agent, title)
  end
  local second = list[2] and leading[list[2].name] == leading.args and list[2].value
  if leading[first.name] == leading.command and second then
    first = { name = first.name, value = first.value .. " " .. second }
  end
  return ("%s asks: %s (%s)"):format(agent, require("hermes.facts").line(first, 60), title)
end

--- The facts of a request. Changes are compared in a thread; `done` is called
--- when all of them are in the facts.
---@param data table
---@param done fun()
---@return hermes.Fact[]
local function facts_later(data, done)
  local waiting = {} ---@type { diff: table, lines: string[] }[]
  local list = facts(data, function(diff)
    local lines = change(diff, { "  … comparing" })
    waiting[#waiting + 1] = { diff = diff, lines = lines }
    return lines
  end)
  local budget = vim.deepcopy(in_thread)
  local function go_on()
    local job = table.remove(waiting, 1)
    if not job then
      return done()
    end
    local old, new = job.diff.oldText or "", job.diff.newText or ""
    require("hermes.diff").compare_later(old, new, budget, max_lines, function(result)
      table.remove(job.lines)
      vim.list_extend(job.lines, compared(result))
      go_on()
    end)
  end
  if #waiting > 0 then
    go_on()
  end
  return list
end

--- Asks the user. Questions wait for each other in the order they came.
---@param data table data of PermissionRequest
---@param answer fun(option_id: string) called once at most; "" means cancelled
function M.ask(data, answer)
  if type(data.options) ~= "table" or #data.options == 0 then
    return answer("")
  end
  local questions, dialog = require("hermes.questions"), require("hermes.dialog")
  local id = data.requestId
  local choice ---@type hermes.Choice
  local first = M.choices(data)
  local back = { label = "Back", refuses = true, choices = first }
  -- Fixed now: later updates do not change the question.
  local list = facts_later(data, function()
    if choice and choice.pane then
      require("hermes.question_window").refresh(choice)
    end
  end)
  local function ask_for(choices)
    choice = {
      id = id,
      agent = data.agent or "agent",
      facts = list,
      prompt = headline(data, list),
      kind = "hermes_permission",
      items = choices,
      label = function(item)
        return item.label
      end,
      refuses = function(item)
        return item.refuses
      end,
      chosen = function(item)
        local more = item and item.choices or (not item and choices ~= first and first)
        if more then
          ask_for(more == first and first or vim.list_extend({ back }, more))
          return questions.again(id)
        elseif item and item.rule then
          require("hermes").permissions.add(item.rule, { agent = data.agent })
        end
        questions.remove(id)
        answer(item and item.optionId or "")
      end,
    }
  end
  ask_for(first)
  questions.add({
    id = id,
    agent = data.agent or "agent",
    session_id = data.sessionId,
    ask = function(wanted)
      dialog.choose(choice, wanted)
    end,
    close = function()
      dialog.close(choice)
    end,
    expire = function()
      answer("")
    end,
  })
end

--- Withdraws a question, for example because the turn was cancelled. Its answer
--- function is not called any more.
---@param request_id string
function M.withdraw(request_id)
  require("hermes.questions").remove(request_id)
end

return M
