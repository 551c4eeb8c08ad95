--- The facts that a question shows about a tool call. Those that decide come first.

local text = require("hermes.core.text")

local M = {}

-- The most rows of one diff while the question has no focus.
local max_rows = 20
-- The most arguments that are shown one by one.
local max_arguments = 500
-- The most lines of a diff that are shown. The choices count the others.
local max_lines = 1000

--- A value as JSON, which is the same each time.
---@param value any
---@return string
local function as_json(value)
  if type(value) ~= "table" or next(value) == nil then
    return vim.json.encode(value)
  end
  local parts = {}
  if vim.islist(value) then
    for i, one in ipairs(value) do
      parts[i] = as_json(one)
    end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, one in vim.spairs(value) do
    parts[#parts + 1] = vim.json.encode(name) .. ":" .. as_json(one)
  end
  return "{" .. table.concat(parts, ",") .. "}"
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
    return as_json(value)
  end
  return table.concat(
    vim.tbl_map(function(word)
      return "'" .. word:gsub("'", [['\'']]) .. "'"
    end, value),
    " "
  )
end

--- The arguments of a tool call as facts: those that decide, and the rest. The host says which
--- decide; an argument that the host does not name decides.
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
        value = as_text(argument.role == "path" and text.short(input[name], cwd) or input[name]),
        decides = argument.decides,
        role = argument.role,
      })
    end
  end
  return list, others
end

---@param diff table
---@param cwd? string
---@return hermes.Fact
local function change(diff, cwd)
  local verb = diff.oldText and "change " or "create "
  return {
    list = { verb .. text.line(text.short(diff.path, cwd) or "no path") },
    rows = max_rows + 1,
    decides = true,
    change = true,
    diff = diff,
  }
end

--- The two texts of a diff to compare, with the lines around them in the file, if these are known.
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
local function compared(fact, result)
  local place = fact.place
  if place and place.times == 0 then
    table.insert(fact.list, "  the old text is not in the file on the disk")
  elseif place and place.times > 1 then
    table.insert(fact.list, ("  the old text is in the file %d times"):format(place.times))
  end
  if result.lines then
    local above = place and place.line and place.line - 1 or 0
    local known = (fact.diff.oldText or "") == "" or (place and place.times == 1)
    local lines = known and result.lines or require("hermes.doc.diff").unplaced(result.lines)
    for _, line in ipairs(lines) do
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

--- Compares the texts of a change at once, and puts the lines into its fact.
---@param fact hermes.Fact
---@param budget hermes.CompareBudget is reduced
function M.compare(fact, budget)
  local old, new = texts_of(fact.diff, fact.place)
  compared(fact, require("hermes.doc.diff").compare(old, new, budget, max_lines))
end

--- Compares the texts of changes in a thread, one after the other.
---@param changes hermes.Fact[]
---@param budget hermes.CompareBudget is reduced
---@param done fun() called when the lines are in all of the facts
function M.compare_later(changes, budget, done)
  for _, fact in ipairs(changes) do
    fact.list[2], fact.pending = "  … comparing", true
  end
  local function from(i)
    local fact = changes[i]
    if not fact then
      return done()
    end
    local old, new = texts_of(fact.diff, fact.place)
    require("hermes.doc.diff").compare_later(old, new, budget, max_lines, function(result)
      fact.list[2], fact.pending = nil, nil
      compared(fact, result)
      from(i + 1)
    end)
  end
  from(1)
end

--- A block of a tool call's content in words, unless it is a change of a file: its name, source and
--- MIME type, and its text or else its type. The words say so if a terminal is not known here.
---@param block table
---@param data table of PermissionRequest
---@return string
local function words_of(block, data)
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
  if block.type == "terminal" then
    local output = require("hermes.core.output")
    local known = output.get(data.sessionId, block.terminalId, data.agent)
    parts[#parts + 1] = not known and "(not known here)" or nil
  end
  parts[#parts + 1] = said
  return table.concat(parts, said and "\n" or " ")
end

-- In bytes: a longer title stays whole, and shorter texts of the arguments stay in any title.
local max_title, min_said = 8192, 40

--- A title without the texts that the arguments show in full.
---@param title string
---@param said table<string, true>
---@return string
local function rest_of(title, said)
  local texts = vim.tbl_filter(function(value)
    return #value >= min_said and #value <= #title
  end, #title <= max_title and vim.tbl_keys(said) or {})
  table.sort(texts, function(a, b)
    return #a > #b or #a == #b and a < b
  end)
  for _, value in ipairs(texts) do
    title = title:gsub(vim.pesc(value), "…")
  end
  return title
end

-- The most files outside the session's folders that are named.
local max_outside = 5

--- The facts of a tool call: what would run and where, which files would change, then the agent's
--- own words. The changes are not compared yet.
---@param call table
---@param cwd? string
---@param data table of PermissionRequest
---@return hermes.Fact[]
function M.facts(call, cwd, data)
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
    local value = rest_of(call.title, said)
    title = { name = "title", value = value, decides = deciding.words, words = true }
  end
  for _, content in ipairs(call.content or {}) do
    if content.type == "diff" then
      changed[#changed + 1] = text.short(content.path, cwd) or "a file without a path"
      told[content.path or ""] = true
      changes[#changes + 1] = change(content, cwd)
      changes[#changes].place = places[#changes]
    else
      local value, rows = words_of(content, data), max_rows
      if not said[value] then
        texts[#texts + 1] = { value = value, rows = rows, decides = deciding.words, words = true }
      end
    end
  end
  for _, location in ipairs(call.locations or {}) do
    local at = location.line and (":%d"):format(location.line) or ""
    if not told[location.path] then
      paths[#paths + 1] = (text.short(location.path, cwd) or "a place without a path") .. at
    end
  end
  if data.truncated then
    local bytes = data.truncated.bytes -- 0 when an earlier update of the call was cut
    local lost = bytes == 0 and "part of the tool call, too large for the editor"
      or ("%s bytes, too large for the editor"):format(tostring(bytes))
    list[#list + 1] = { name = "missing", value = lost, decides = true, lost = true }
  end
  local outside = deciding.outside or {}
  if #outside > 0 then
    local more = #outside > max_outside and ("%d more"):format(#outside - max_outside) or nil
    table.insert(list, 1, {
      name = "OUTSIDE THE SESSION'S FOLDER",
      list = vim.list_extend(vim.list_slice(outside, 1, max_outside), { more }),
      decides = true,
    })
  end
  if deciding.unnamed then
    local words = "The agent does not name the files, except perhaps in its own words"
    list[#list + 1] = { value = words, decides = true }
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

return M
