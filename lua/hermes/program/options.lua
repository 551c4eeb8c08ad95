---Checks what callers of hermes.shim, hermes.claude and hermes.shared give, and completes it.
local M = {}

local choices = require("hermes.core.config").choices

local preset_fields = {
  command = "command",
  env = "strings_by_name",
  interrupt = { escape = true, ["ctrl-c"] = true },
  process = "name",
  title = "name",
}

-- The options of every function that opens a program.
local fields = {
  command = preset_fields.command,
  env = preset_fields.env,
  focus = "boolean",
  interrupt = preset_fields.interrupt,
  on_done = "callback",
  preset = "name",
  size = "size",
  split = choices["shim.split"],
  terminal = choices["shim.terminal"],
  title = preset_fields.title,
}

-- The further options of each.
M.of_claude = { agent = "name", cwd = "name", name = "program", shim = "boolean" }
M.of_shared = { agent = "name" }
M.of_shim = { cwd = "name", gate = "gate", process = "name", sandbox = "sandbox" }

local gate_fields = { allow = "strings", deny = "strings", timeout = "time" }

local problem_with

---@param value any
---@param want string|table<string, true>
---@return string? problem worded to follow the name of the value
local function problem_of(value, want)
  local check = require("hermes.core.arguments")
  if want == "program" then
    local problem = check.problem(value, "name")
    local plain = problem or value:find("^[%w._-]+$")
    return problem or not plain and "may have letters, digits, -, _ and ." or nil
  elseif type(want) == "table" then
    local words = require("hermes.core.config_check").list(want)
    return not want[value] and ("must be one of %s, not %s"):format(words, vim.inspect(value))
      or nil
  elseif want == "sandbox" then
    return require("hermes.session.sandbox").problem(value)
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
      return lead .. require("hermes.core.arguments").unknown("", key, valid)
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

---@param who string the function of Hermes, such as "shim.open"
---@param opts any
---@param ... table<string, any> the kinds of what it takes
---@return table opts a copy
local function checked(who, opts, ...)
  opts = opts == nil and {} or opts
  require("hermes.core.arguments").need(opts, "table", who, "the options", 4)
  local problem = problem_with(opts, vim.tbl_extend("error", {}, ...), "")
  if problem then
    error(("hermes.%s: %s"):format(who, problem), 4)
  end
  return vim.tbl_extend("force", {}, opts)
end

---Raises an error in the caller of hermes.{who} if the name of a program is wrong.
---@param name any
---@param who string
---@param what? string
---@param level? integer
function M.need_name(name, who, what, level)
  local problem = problem_of(name, "program")
  if problem then
    error(("hermes.%s: %s %s"):format(who, what or "the name", problem), level or 3)
  end
end

---Where a program is opened. Called in a function of hermes.async.
---@param terminal "auto"|"tmux"|"buffer"
---@return "tmux"|"buffer"
function M.backend(terminal)
  local tmux = require("hermes.program.tmux")
  if terminal == "buffer" or (terminal == "auto" and not tmux.here()) then
    return "buffer"
  end
  local ok, err = pcall(tmux.check)
  if not ok and terminal == "tmux" then
    error(err, 0)
  elseif not ok then
    require("hermes.core.log").write(vim.log.levels.WARN, "terminal: " .. tostring(err.message))
  end
  return ok and "tmux" or "buffer"
end

---@return string[] names of presets
function M.names()
  local own = require("hermes.core.config").get().shim.presets
  return vim.tbl_keys(vim.tbl_extend("force", require("hermes.program.presets"), own))
end

---Checks and completes the options of a function that opens a program.
---@param who string
---@param opts any
---@param default string the preset and the command, unless the options and the preset name others
---@param more table<string, any> kinds of options that only this function takes
---@return table opts
function M.open(who, opts, default, more)
  opts = checked(who, opts, fields, more)
  local config = require("hermes.core.config").get().shim
  local preset = opts.preset or default
  local known = vim.tbl_extend(
    "force",
    require("hermes.program.presets")[preset] or {},
    config.presets[preset] or {}
  )
  if opts.preset and not next(known) then
    error(("hermes.%s: there is no preset %q"):format(who, preset), 3)
  end
  local base = { terminal = config.terminal, split = config.split, size = config.size }
  base = vim.tbl_extend("force", base, { interrupt = "escape", title = default }, known, opts)
  base.command = base.command or { default }
  return base
end

---@param cwd? string
---@return string folder where a program starts
function M.folder(cwd)
  local params = require("hermes.session.params")
  return cwd and params.folder(cwd) or params.session({}).cwd
end

---Checks what is given to a function for a program that is open.
---@param who string
---@param name any
---@param opts any
---@param more? table<string, any>
---@return table opts
function M.call(who, name, opts, more)
  M.need_name(name, who, nil, 4)
  return checked(who, opts, { on_done = "callback" }, more or {})
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
