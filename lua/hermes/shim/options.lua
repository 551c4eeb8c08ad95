---Checks what callers of hermes.shim give, and completes it.
local M = {}

local terminals = { auto = true, tmux = true, buffer = true }
local splits = { right = true, left = true, above = true, below = true, background = true }
local interrupts = { escape = true, ["ctrl-c"] = true }

local preset_fields = {
  command = "command",
  env = "strings_by_name",
  interrupt = interrupts,
  process = "name",
  title = "name",
}

local fields = vim.tbl_extend("error", {
  cwd = "name",
  focus = "boolean",
  gate = "gate",
  on_done = "callback",
  preset = "name",
  sandbox = "sandbox",
  size = "size",
  split = splits,
  terminal = terminals,
}, preset_fields)

local gate_fields = { allow = "strings", deny = "strings", timeout = "time" }

local problem_with

---@param value any
---@param want string|table<string, true>
---@return string? problem worded to follow the name of the value
local function problem_of(value, want)
  local check = require("hermes.check")
  if type(want) == "table" then
    local words = require("hermes.config_check").list(want)
    return not want[value] and ("must be one of %s, not %s"):format(words, vim.inspect(value))
      or nil
  elseif want == "sandbox" then
    return require("hermes.sandbox").problem(value)
  elseif want == "gate" and type(value) == "table" then
    return problem_with(value, gate_fields, ": ")
  elseif want == "gate" then
    return check.problem(value, "boolean")
  end
  return check.problem(value, want)
end

---@param opts table
---@param valid table<string, any>
---@param lead string
---@return string? problem
function problem_with(opts, valid, lead)
  for key, value in pairs(opts) do
    if not valid[key] then
      return lead .. require("hermes.check").unknown("", key, valid)
    end
    local problem = problem_of(value, valid[key])
    if problem then
      return ("%s%s %s"):format(lead, key, problem)
    end
  end
end

---Says what is wrong with the presets of setup{shim}.
---@param presets table
---@return string? problem
function M.presets_problem(presets)
  for name, preset in pairs(presets) do
    local at = ("shim.presets.%s"):format(tostring(name))
    local problem = type(preset) ~= "table" and " must be a table"
      or problem_with(preset, preset_fields, ".")
    if problem then
      return at .. problem
    end
  end
end

---@param who string
---@param name any
---@param opts any
---@param valid table<string, any>
---@return table opts
local function checked(who, name, opts, valid)
  local check = require("hermes.check")
  check.need(name, "name", "shim." .. who, "the name", 4)
  if not name:find("^[%w._-]+$") then
    error(("hermes.shim.%s: the name may have letters, digits, -, _ and ."):format(who), 4)
  end
  opts = opts == nil and {} or opts
  check.need(opts, "table", "shim." .. who, "the options", 4)
  local problem = problem_with(opts, valid, "")
  if problem then
    error(("hermes.shim.%s: %s"):format(who, problem), 4)
  end
  return opts
end

---Where an agent is opened. Called in a function of hermes.async.
---@param terminal "auto"|"tmux"|"buffer"
---@return "tmux"|"buffer"
function M.backend(terminal)
  local tmux = require("hermes.shim.tmux")
  if terminal == "buffer" or (terminal == "auto" and not tmux.here()) then
    return "buffer"
  end
  local ok, err = pcall(tmux.check)
  if not ok and terminal == "tmux" then
    error(err, 0)
  elseif not ok then
    require("hermes.log").write(vim.log.levels.WARN, "shim.open: " .. tostring(err.message))
  end
  return ok and "tmux" or "buffer"
end

---@return string[] names of presets
function M.names()
  local own = require("hermes.config").get().shim.presets
  return vim.tbl_keys(vim.tbl_extend("force", require("hermes.shim.presets"), own))
end

---@param name any
---@param opts any
---@return hermes.ShimOpts complete
function M.open(name, opts)
  opts = checked("open", name, opts, fields)
  local config = require("hermes.config").get().shim
  local preset = opts.preset or name
  local known = vim.tbl_extend(
    "force",
    require("hermes.shim.presets")[preset] or {},
    config.presets[preset] or {}
  )
  if opts.preset and not next(known) then
    error(("hermes.shim.open: there is no preset %q"):format(preset), 3)
  end
  local base = { terminal = config.terminal, split = config.split, size = config.size }
  local full = vim.tbl_extend("force", base, { interrupt = "escape" }, known, opts)
  full.command = full.command or { name }
  full.title = full.title or name
  full.process = full.process or vim.pesc(vim.fs.basename(full.command[1]))
  local params = require("hermes.params")
  full.cwd = full.cwd and params.folder(full.cwd) or params.session({}).cwd
  return full
end

---@param name any
---@param text any
---@param opts any
---@return hermes.ShimSendOpts
function M.send(name, text, opts)
  opts = checked("send", name, opts, { submit = "boolean", on_done = "callback" })
  require("hermes.check").need(text, "string", "shim.send", "the text", 3)
  return opts
end

---@class hermes.ShimCallOpts
---@field on_done? fun(err: hermes.Error?, session: hermes.ShimInfo?)

---@param who string
---@param name any
---@param opts any
---@return hermes.ShimCallOpts
function M.call(who, name, opts)
  return checked(who, name, opts, { on_done = "callback" })
end

---A text that presses no key and cannot end the paste it is in.
---@param text string
---@return string
function M.pasted(text)
  text = text:gsub("\r\n?", "\n")
  text = text:gsub("\194[\128-\159]", "") -- as one character, what ESC begins
  return (text:gsub("[%z\1-\8\11-\31\127]", ""))
end

return M
