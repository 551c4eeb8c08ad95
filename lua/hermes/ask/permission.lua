--- The default answer to PermissionRequest: asks the user.
---
--- The question shows what the agent wants to do, according to the arguments of
--- the tool call. The title is only the agent's claim and comes after them.
--- Nothing is allowed by default: a question that is dismissed, cannot be shown
--- or is not answered in time is cancelled.

local text = require("hermes.core.text")
local tool_call = require("hermes.ask.tool_call")

local M = {}

--- Asks in a chat that is in sight. Returns false if there is none; then a dialog asks. Nil until
--- there is a chat.
---@type (fun(data: table, answer: hermes.DefaultAnswer): boolean)?
M.in_sight = nil

-- The most lines and bytes that the diffs of one question may compare: in a
-- thread, and while the editor waits.
local in_thread = { lines = 200000, bytes = 8 * 1024 * 1024 }
local at_once = { lines = 4000, bytes = 256 * 1024 }

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

---@class hermes.AskedCall a question as it was asked, and what has become of its tool call
---@field call table the question's members laid over the earlier ones
---@field before table what was known about the call
---@field cwd? string of the session
---@field news? table deciding facts that are new, see news_of()
---@field version integer how often `news` has changed

local asked = setmetatable({}, { __mode = "k" }) ---@type table<table, hermes.AskedCall> by data

---@param data table of PermissionRequest
---@return table known what is known about the tool call now
---@return string? cwd of the session
local function known_call(data)
  local state = package.loaded["hermes.session.state"] -- nothing was known before it was loaded
  local session = state and state.session(data.sessionId, data.agent)
  local id = type(data.toolCall) == "table" and data.toolCall.toolCallId
  return session and session.toolCalls[id] or {}, session and session.cwd
end

--- Later updates of the tool call do not change what was asked; see news_of().
---@param data table of PermissionRequest
---@return hermes.AskedCall
local function asked_of(data)
  if not asked[data] then
    local before, cwd = known_call(data)
    local call = vim.tbl_extend("force", before, data.toolCall or {})
    asked[data] = { call = call, before = before, cwd = cwd, version = 0 }
  end
  return asked[data]
end

--- What the user may choose. Rejections come first, because many pickers start
--- on the first entry. The rules are behind the last choice, from narrow to wide.
---@param data table data of PermissionRequest
---@return hermes.PermissionChoice[]
function M.choices(data)
  asked_of(data)
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
  local offers = require("hermes.session.rules").offers
  local rules = {}
  for _, offer in ipairs(#once == 1 and offers(data, asked_of(data).cwd) or {}) do
    rules[#rules + 1] =
      { label = offer.words, refuses = false, optionId = once[1], rule = offer.rule }
  end
  if #rules > 0 then
    local label = "Allow this and more …  [rule]"
    others[#others + 1] = { label = label, refuses = false, choices = rules }
  end
  return vim.list_extend(refusals, others)
end

local ended = { completed = "completed", failed = "failed" }

--- The deciding facts that are new since the question was asked: what the agent has changed, and
--- that the tool call has ended.
---@param data table of PermissionRequest
---@return hermes.Fact[]
local function news_of(data)
  local one, now = asked_of(data), (known_call(data))
  local call, other = vim.deepcopy(one.call), false
  for _, member in ipairs({ "kind", "title", "rawInput", "content", "locations" }) do
    local value = now[member]
    if value ~= nil and value ~= one.before[member] and not vim.deep_equal(value, call[member]) then
      call[member], other = value, true
    end
  end
  local list = {} ---@type hermes.Fact[]
  if now.status ~= one.before.status and ended[now.status] then
    local words = "The agent says that this has %s before your answer"
    local has = now.status == "completed" and "been completed" or "failed"
    list[1] = { value = words:format(has), decides = true }
  end
  if not other then
    return list
  end
  local before = tool_call.facts(one.call, one.cwd, data)
  local alone = vim.tbl_extend("force", data, { places = {} }) -- the places are of the old diffs
  local new = vim.tbl_filter(function(fact)
    return fact.decides
      and not vim.iter(before):any(function(old)
        return old.name == fact.name
          and old.value == fact.value
          and vim.deep_equal(old.list, fact.list)
          and vim.deep_equal(old.diff, fact.diff)
      end)
  end, tool_call.facts(call, one.cwd, alone))
  if #new > 0 then
    local words = "The agent has changed this since it asked. Now it says:"
    list[#list + 1] = { value = words, decides = true }
    vim.list_extend(list, new)
  end
  return list
end

--- How often the deciding facts of a question have changed since it was asked.
---@param data table of PermissionRequest
---@return integer
function M.version(data)
  local one, news = asked_of(data), news_of(data)
  if not vim.deep_equal(news, one.news or {}) then
    one.news, one.version = vim.deepcopy(news), one.version + 1
  end
  return one.version
end

--- The facts of a question. Those that are new since it was asked come first.
---@param data table of PermissionRequest
---@return hermes.Fact[]
local function facts(data)
  local one, list = asked_of(data), news_of(data)
  if #list > 0 then
    list[#list + 1] = { value = "It was asked:", decides = true }
  end
  return vim.list_extend(list, tool_call.facts(one.call, one.cwd, data))
end

--- The facts of a request, as lines that are safe to show.
---@param data table data of PermissionRequest
---@param width? integer cells of a line, by default 100
---@return string[]
---@return boolean whole false when they are too long to show all that decides
---@return integer decided how many of the lines decide; they come first
---@return integer unread lines of changes that are missing
function M.details(data, width)
  local budget, list = vim.deepcopy(at_once), facts(data)
  for _, fact in ipairs(list) do
    if fact.diff then
      tool_call.compare(fact, budget)
    end
  end
  local rows, layout = require("hermes.ask.layout").all(list, width or 100)
  return rows, layout.whole, layout.decided, layout.unread
end

--- One line for pickers: the first fact if it decides, and the title.
---@param data table
---@param list hermes.Fact[]
---@return string
local function headline(data, list)
  local call = asked_of(data).call
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

--- The facts of a question. Changes are compared in a thread; `done` is called
--- when all of them are in the facts.
---@param data table
---@param done fun()
---@return hermes.Fact[]
local function facts_later(data, done)
  local list = facts(data)
  local changes = vim.tbl_filter(function(fact)
    return fact.diff ~= nil
  end, list)
  if #changes > 0 then
    tool_call.compare_later(changes, vim.deepcopy(in_thread), done)
  end
  return list
end

local open = {} ---@type table<string, { data: table, version: integer, renew: fun() }> by request

---@param question table data of PermissionRequest
---@param data table of ToolCallState
---@return boolean
local function is_about(question, data)
  return question.sessionId == data.sessionId
    and question.agent == data.agent
    and (question.toolCall or {}).toolCallId == data.toolCall.toolCallId
end

--- Shows open questions again if their tool call has changed what decides them.
---@param data table of ToolCallState
local function follow(data)
  for _, one in pairs(open) do
    local version = is_about(one.data, data) and M.version(one.data) or one.version
    if version ~= one.version then
      one.version = version
      one.renew()
    end
  end
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
  require("hermes.core.events").own.ToolCallState = follow
  local id = data.requestId
  local choice ---@type hermes.Choice
  local put ---@type fun()?
  local first = M.choices(data)
  local back = { label = "Back", refuses = true, choices = first }
  local list ---@type hermes.Fact[]
  local function refresh()
    if put and not choice.over then
      put()
    elseif choice and choice.pane then
      require("hermes.ask.question_window").refresh(choice)
    end
  end
  local function look()
    local mine ---@type hermes.Fact[]
    mine = facts_later(data, function()
      if list == mine then
        refresh()
      end
    end)
    list = mine
  end
  look()
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
  open[id] = {
    data = data,
    version = M.version(data),
    renew = function()
      look()
      choice.facts, choice.prompt = list, headline(data, list)
      if choice.pane then
        require("hermes.ask.question_window").refresh(choice)
      elseif not questions.in_window() then -- a picker cannot show what has changed
        dialog.leave(choice)
        questions.again(id)
      end
    end,
  }
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
      put = function() -- a picker cannot show what comes later
        put = nil
        dialog.choose(choice, wanted)
      end
    end,
    close = function()
      open[id] = nil
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
