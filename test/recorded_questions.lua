-- The questions of real agents, for tests. test/questions has one recorded question of each shape;
-- question_presets_spec.lua names the presets that have none. `command` is what it is about, and
-- every question is put with a command of 1,000 characters in its place.
local M = {}

local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))

---@param path string
---@return string
function M.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

--- A command of 1,000 characters. Its words can be told apart.
---@return string
local function long_command()
  local words, length = { "echo" }, 4
  while length < 993 do
    words[#words + 1] = ("w%04d"):format(#words)
    length = length + 6
  end
  words[#words] = words[#words] .. ("x"):rep(1000 - length)
  return table.concat(words, " ")
end

local command = long_command()

---@return table<string, table> params of requests by name
function M.all()
  local all = {}
  for name in vim.fs.dir(here .. "/questions") do
    local recorded = vim.json.decode(M.read(here .. "/questions/" .. name))
    local text = vim.json.encode(recorded.params)
    local short = vim.json.encode(recorded.command):sub(2, -2)
    local params, count = text:gsub(vim.pesc(short), (command:gsub("%%", "%%%%")))
    assert(count > 0, name)
    all[name:match("^(.*)%.json$")] = vim.json.decode(params)
  end
  return all
end

--- The words of the command that were on the screen, however their rows were wrapped.
---@param seen table<string, true>
---@param text string
function M.note(seen, text)
  for word in text:gmatch("w%d%d%d%dx*") do
    seen[word] = true
  end
end

--- What of the command was not seen.
---@param seen table<string, true>
---@return string[]
function M.missing(seen)
  local list = {}
  for word in command:gmatch("w%d%d%d%dx*") do
    list[#list + 1] = not seen[word] and word or nil
  end
  return list
end

---@param params table
---@return table option that allows it once
function M.once(params)
  return vim.iter(params.options):find(function(option)
    return option.kind == "allow_once"
  end)
end

return M
