--- The default answer to PermissionRequest: asks the user.
---
--- The question shows what the agent wants to do, according to the arguments of
--- the tool call. The title is only the agent's claim and comes after them.
--- Nothing is allowed by default: a question that is dismissed, cannot be shown
--- or is not answered in time counts as cancelled.

local text = require("hermes.core.text")

local M = {}

--- The most lines of one diff that are shown while the question has no focus.
M.max_diff_lines = 20

--- Asks in a chat that is in sight. Returns false where there is none; then a
--- dialog asks. Nil before there was a chat.
---@type (fun(data: table, answer: hermes.DefaultAnswer): boolean)?
M.in_sight = nil

-- The most lines and bytes that the diffs of one question may compare: in a
-- thread, and while the editor waits.
local in_thread = { lines = 200000, bytes = 8 * 1024 * 1024 }
local at_once = { lines = 4000, bytes = 256 * 1024 }
-- The most arguments that are shown one by one.
local max_arguments = 500
-- The most lines of a diff that are shown. The choices count the others.
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
  for _, offer in ipairs(#once == 1 and require("hermes.session.rules").offers(data) or {}) do
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

--- A path as the user knows it: below the session's folder without that folder, and in full
--- elsewhere.
---@param path any
---@param cwd? string the session's folder
---@return any
local function short(path, cwd)
  if type(path) ~= "string" or not cwd or #cwd < 2 or (path .. "/"):find("/%.%.?/") then
    return path
  end
  local below = path:sub(1, #cwd + 1) == cwd .. "/" and path:sub(#cwd + 2) or ""
  return below:find("^[^/]") and below or path
end

--- The arguments of a tool call as facts: those that decide, and the rest. The host says which
--- do, and what it does not name decides.
---@param call table
---@param deciding hermes.Deciding
---@param cwd? string the session's folder
---@return hermes.Fact[] deciding
---@return hermes.Fact[] others
local function arguments(call, deciding, cwd)
  local input = call.rawInput
  if type(input) ~= "table" or (vim.islist(input) and #input > 0) then
    return input ~= nil and { { name = "input", value = as_text(input), decides = true } } or {}, {}
  end
  local names = vim.tbl_keys(input)
  if #names > max_arguments then
    return { { name = "arguments", value = as_text(input), decides = true } }, {}
  end
  local known, place = {}, {} ---@type table<any, hermes.DecidingArgument>, table<any, integer>
  for i, argument in ipairs(deciding.arguments or {}) do
    known[argument.name], place[argument.name] = argument, i
  end
  table.sort(names, function(a, b)
    local at, bt = place[a] or math.huge, place[b] or math.huge
    return at < bt or (at == bt and tostring(a) < tostring(b))
  end)
  local list, others = {}, {}
  for _, name in ipairs(names) do
    local argument = known[name] or { decides = true }
    if not argument.inDiff then
      table.insert(argument.decides and list or others, {
        name = text.line(name, 60),
        value = as_text(argument.role == "path" and short(input[name], cwd) or input[name]),
        decides = argument.decides,
        role = argument.role,
      })
    end
  end
  return list, others
end

--- The tool call in question: the question's members laid over the earlier
--- ones.
---@param data table
---@return table call
---@return string? cwd of the session
local function tool_call(data)
  local call = data.toolCall or {}
  local state = package.loaded["hermes.session.state"] -- nothing was known before it was loaded
  local session = state and state.session(data.sessionId, data.agent)
  local known = session and session.toolCalls[call.toolCallId]
  return known and vim.tbl_extend("force", known, call) or call, session and session.cwd
end

---@param diff table
---@param cwd? string
---@return hermes.Fact
local function change(diff, cwd)
  local verb = diff.oldText and "change " or "create "
  return {
    list = { verb .. text.line(short(diff.path, cwd) or "no path") },
    rows = M.max_diff_lines + 1,
    decides = true,
    change = true,
  }
end

--- The two texts of a diff to compare: with what is around them in the file, if that is known.
---@param diff table
---@param place? hermes.DiffPlace
---@return string old
---@return string new
local function texts_of(diff, place)
  if place and place.line then
    return place.oldText or "", place.newText or ""
  end
  return diff.oldText or "", diff.newText or ""
end

--- Puts the lines of a change into its fact.
---@param fact hermes.Fact
---@param result hermes.Comparison
---@param place? hermes.DiffPlace
local function compared(fact, result, place)
  if place and place.times == 0 then
    table.insert(fact.list, "  the old text is not in the file on the disk")
  elseif place and place.times > 1 then
    table.insert(fact.list, ("  the old text is in the file %d times"):format(place.times))
  end
  if result.lines then
    local above = place and place.line and place.line - 1 or 0
    for _, line in ipairs(result.lines) do
      local from, to, rest = line:match("^@@ %-(%d+)([%d,]* %+)(%d+.*)$")
      if from and above > 0 then
        line = ("@@ -%d%s%s"):format(
          from + above,
          to,
          rest:gsub("^%d+", function(n)
            return tostring(n + above)
          end)
        )
      end
      table.insert(fact.list, line)
    end
    fact.more = result.more
  else
    local line = "  … too large to compare: %d lines before, %d after"
    table.insert(fact.list, line:format(result.before, result.after))
    fact.more = math.max(result.before, result.after)
  end
end

--- What a block of a tool call's content says, apart from changes of files. Of what is not text
--- that is its type and where it comes from.
---@param block table
---@return string
local function words_of(block)
  local content = block.type == "content" and block.content or block
  local resource = content.resource or {}
  local said = content.text or resource.text
  local parts = {}
  for _, part in ipairs({
    said and "" or content.type or "unknown content",
    content.title or content.name or "",
    content.uri or resource.uri or content.terminalId or "",
    content.mimeType or resource.mimeType or "",
  }) do
    parts[#parts + 1] = part ~= "" and part or nil
  end
  parts[#parts + 1] = said
  return table.concat(parts, said and "\n" or " ")
end

--- The facts of a request: what would run and where, which files would change,
--- then the agent's own words.
---@param data table data of PermissionRequest
---@param compare fun(diff: table, fact: hermes.Fact, place?: hermes.DiffPlace) puts the lines of a
---change into its fact
---@return hermes.Fact[]
local function facts(data, compare)
  local call, cwd = tool_call(data)
  local deciding = data.deciding or { words = true }
  local list, others = arguments(call, deciding, cwd)
  local places = {} ---@type table<integer, hermes.DiffPlace>
  for _, place in ipairs(data.places or {}) do
    places[place.diff] = place
  end
  local paths, changed, changes, texts = {}, {}, {}, {}
  local told = {} ---@type table<string, true> files that are among the changes
  local said = {} ---@type table<string, true> texts that the arguments show
  for _, fact in ipairs(list) do
    said[fact.value] = true
  end
  local title ---@type hermes.Fact?
  if call.title and not (said[call.title] or said[call.title:match("^`(.*)`$")]) then
    title = { name = "title", value = call.title, decides = deciding.words, words = true }
  end
  for _, content in ipairs(call.content or {}) do
    if content.type == "diff" then
      changed[#changed + 1] = short(content.path, cwd) or "a file without a path"
      told[content.path or ""] = true
      changes[#changes + 1] = change(content, cwd)
      compare(content, changes[#changes], places[#changes])
    else
      local value, rows = words_of(content), M.max_diff_lines
      if not said[value] then
        texts[#texts + 1] = { value = value, rows = rows, decides = deciding.words, words = true }
      end
    end
  end
  for _, location in ipairs(call.locations or {}) do
    local at = location.line and (":%d"):format(location.line) or ""
    if not told[location.path] then
      paths[#paths + 1] = (short(location.path, cwd) or "a place without a path") .. at
    end
  end
  if data.truncated then
    local bytes = data.truncated.bytes -- 0 when an earlier update of the call was cut
    local lost = bytes == 0 and "part of the tool call, too large for the editor"
      or ("%s bytes, too large for the editor"):format(tostring(bytes))
    list[#list + 1] = { name = "missing", value = lost, decides = true, lost = true }
  end
  if #changed > 1 then
    list[#list + 1] = { name = "changes", list = changed, decides = true }
  end
  if #paths > 0 then
    list[#list + 1] = { name = "path", list = paths, decides = true }
  end
  local kind = { name = "kind", value = text.line(call.kind or "unknown", 40) }
  local rest = not deciding.words and { changes, { kind }, { title }, others, texts }
    or #changed > 1 and { { title }, texts, changes, { kind }, others }
    or { changes, { title }, texts, { kind }, others }
  return vim.iter(rest):fold(list, vim.list_extend)
end

--- The facts of a request, as lines that are safe to show.
---@param data table data of PermissionRequest
---@param width? integer cells of a line, by default 100
---@return string[]
---@return boolean whole false when they are too long to show all that decides
---@return integer decided how many of the lines decide; they come first
---@return integer unread lines of changes that are missing
function M.details(data, width)
  local budget = vim.deepcopy(at_once)
  local list = facts(data, function(diff, fact, place)
    local old, new = texts_of(diff, place)
    compared(fact, require("hermes.doc.diff").compare(old, new, budget, max_lines), place)
  end)
  local rows, layout = require("hermes.ask.layout").all(list, width or 100)
  return rows, layout.whole, layout.decided, layout.unread
end

--- One line for pickers: the most telling fact, then the title.
---@param data table
---@param list hermes.Fact[]
---@return string
local function headline(data, list)
  local call = tool_call(data)
  local agent = text.line(data.agent or "agent", 40)
  local title = text.line(call.title or call.kind or "tool call", 100)
  local first, second = list[1], list[2]
  first = first.change and { value = first.list[1], decides = true } or first
  if first.words or not first.decides then
    return ("%s: %s?"):format(agent, title)
  elseif first.role == "command" and second and second.role == "words" then
    first = { name = first.name, value = first.value .. " " .. second.value }
  end
  return ("%s asks: %s (%s)"):format(agent, require("hermes.ask.layout").line(first, 60), title)
end

--- The facts of a request. Changes are compared in a thread; `done` is called
--- when all of them are in the facts.
---@param data table
---@param done fun()
---@return hermes.Fact[]
local function facts_later(data, done)
  local waiting = {} ---@type { diff: table, fact: hermes.Fact, place?: hermes.DiffPlace }[]
  local list = facts(data, function(diff, fact, place)
    waiting[#waiting + 1] = { diff = diff, fact = fact, place = place }
    fact.list[2], fact.pending = "  … comparing", true
  end)
  local budget = vim.deepcopy(in_thread)
  local function go_on()
    local job = table.remove(waiting, 1)
    if not job then
      return done()
    end
    local old, new = texts_of(job.diff, job.place)
    require("hermes.doc.diff").compare_later(old, new, budget, max_lines, function(result)
      job.fact.list[2], job.fact.pending = nil, nil
      compared(job.fact, result, job.place)
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
---@param answer fun(option_id: string, seen?: boolean) called once at most; "" means cancelled, and
---`seen` that the user had everything in sight
function M.ask(data, answer)
  if type(data.options) ~= "table" or #data.options == 0 then
    return answer("")
  end
  local questions, dialog = require("hermes.ask.questions"), require("hermes.ask.dialog")
  local id = data.requestId
  local choice ---@type hermes.Choice
  local put ---@type fun()?
  local first = M.choices(data)
  local back = { label = "Back", refuses = true, choices = first }
  -- Fixed now: later updates do not change the question.
  local list = facts_later(data, function()
    if put and not choice.over then
      put()
    elseif choice and choice.pane then
      require("hermes.ask.question_window").refresh(choice)
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
          require("hermes.session.rules").change("add", item.rule, { method = "permissions.add" })
        end
        questions.remove(id)
        answer(item and item.optionId or "", choice.all_shown)
      end,
    }
  end
  ask_for(first)
  questions.add({
    id = id,
    agent = data.agent or "agent",
    session_id = data.sessionId,
    ask = function(wanted)
      local pending = vim.iter(list):any(function(fact)
        return fact.pending
      end)
      if not pending or questions.in_window() then
        return dialog.choose(choice, wanted)
      end
      put = function() -- a picker cannot be told what comes later
        put = nil
        dialog.choose(choice, wanted)
      end
    end,
    close = function()
      dialog.close(choice)
    end,
    leave = function()
      dialog.leave(choice)
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
  require("hermes.ask.questions").remove(request_id)
end

return M
