---The defaults of every session of a project: `session_defaults` of setup(), and the project's own
---file, once the user trusts it.
local M = {}

---@class hermes.SessionDefaults
---@field additional_directories? string[]
---@field mcp_servers? table[]

M.file = ".hermes.json"

local max_bytes = 1024 * 1024

---@type table<string, string>
local kinds = { additional_directories = "strings", mcp_servers = "table" }

local told = {} ---@type table<string, true> files and hashes that the user knows of

---@param defaults any
---@param what string its source
---@return hermes.SessionDefaults? defaults
---@return string? problem
local function check(defaults, what)
  local checks = require("hermes.core.arguments")
  if type(defaults) ~= "table" then
    return nil, ("%s must be a table, not a %s"):format(what, type(defaults))
  end
  for key, value in pairs(defaults) do
    local problem = not kinds[key] and checks.unknown("", key, kinds)
      or kinds[key] and checks.problem(value, kinds[key])
    if problem then
      local place = kinds[key] and ("%s: %s"):format(what, key) or what .. ":"
      return nil, ("%s %s"):format(place, problem)
    end
  end
  return defaults
end

---Whether the user trusts a file with this content: `:trust` has recorded its hash.
---@param path string real path
---@param hash string
---@return boolean
local function is_trusted(path, hash)
  local file = io.open(vim.fn.stdpath("state") .. "/trust", "r")
  if not file then
    return false
  end
  for line in file:lines() do
    if line == ("%s %s"):format(hash, path) then
      file:close()
      return true
    end
  end
  file:close()
  return false
end

---Says once that a file is new or has changed, so that the user decides about it. A question would
---take keys.
---@param path string
---@param id string
---@param text string
local function tell_once(path, id, text)
  if not told[id] then
    told[id] = true
    local shown = require("hermes.core.text").line(vim.fn.fnamemodify(path, ":~"), 200)
    require("hermes.core.log").notify(vim.log.levels.WARN, text:format(shown))
  end
end

---@param cwd string
---@return hermes.SessionDefaults
local function from_file(cwd)
  local disk = require("hermes.core.disk")
  local path = disk.place(vim.fs.joinpath(cwd, M.file))
  local text = path and disk.read(path, max_bytes) -- a longer file is not the trusted one
  if not text then
    return {}
  end
  local hash = vim.fn.sha256(text)
  if not is_trusted(path, hash) then
    tell_once(path, path .. hash, "%s is not used: open it, read it, then :trust")
    return {}
  end
  local ok, decoded = pcall(vim.json.decode, text, { luanil = { object = true, array = true } })
  local defaults, problem = check(ok and decoded, M.file)
  if not defaults then
    problem = ok and problem or "not JSON"
    tell_once(path, path .. hash, "%s is not used: " .. problem:gsub("%%", "%%%%"))
    return {}
  end
  for i, dir in ipairs(defaults.additional_directories or {}) do
    if not dir:find("^[/~\\]") and not dir:find("^%a:") then
      defaults.additional_directories[i] = vim.fs.joinpath(vim.fs.dirname(path), dir)
    end
  end
  return defaults
end

---@param cwd string absolute
---@return hermes.SessionDefaults
local function from_setup(cwd)
  local defaults = require("hermes.core.config").get().session_defaults
  if type(defaults) ~= "function" then
    return defaults
  end
  local given = require("hermes.core.log").guard("session_defaults", defaults, cwd)
  local checked, problem = check(given or {}, "session_defaults")
  if not checked then
    require("hermes.core.log").notify(vim.log.levels.ERROR, problem)
  end
  return checked or {}
end

---@param defaults any
---@return string? problem
function M.problem(defaults)
  if type(defaults) == "function" then
    return nil
  end
  local _, problem = check(defaults, "session_defaults")
  return problem
end

---@param cwd string absolute
---@return hermes.SessionDefaults
function M.defaults(cwd)
  local own, project = from_setup(cwd), from_file(cwd)
  local merged = {}
  for key in pairs(kinds) do
    merged[key] = vim.list_extend(vim.list_slice(own[key] or {}), project[key] or {})
  end
  return merged
end

return M
