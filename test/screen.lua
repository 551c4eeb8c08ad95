--- A Neovim on a screen of its own in a pseudo terminal, of 80 columns and 24 lines by default,
--- for specs that look at what a user sees and type as a user does.

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local root = vim.fs.dirname(vim.fs.dirname(here))

---@class hermes.test.Screen
---@field buf integer terminal buffer
---@field job integer
---@field channel integer RPC
---@field resets? integer
local Screen = {}
Screen.__index = Screen

local patience_ms = 60000

--- Waits until something is true.
---@param what string
---@param is fun(): any
function Screen:wait_for(what, is)
  local ok = vim.wait(patience_ms, function()
    return is() and true or false
  end, 10)
  if not ok then
    error(("no %s; mode %s, screen:\n%s"):format(what, self:mode(), self:text()), 2)
  end
end

--- The text on the screen.
---@return string
function Screen:text()
  return table.concat(vim.api.nvim_buf_get_lines(self.buf, 0, -1, false), "\n")
end

--- The text in the windows with a border, joined where it was wrapped.
---@return string
function Screen:framed()
  local inside = {}
  for line in self:text():gmatch("[^\n]+") do
    local text = line:match("│(.-) *│")
    if text then
      local before = inside[#inside]
      if before and text:find("^  %S") then
        inside[#inside] = before .. text:sub(3)
      else
        inside[#inside + 1] = text
      end
    end
  end
  return table.concat(inside, "\n")
end

---@param needle string
---@return boolean
function Screen:shows(needle)
  return self:text():find(needle, 1, true) ~= nil
end

---@param needle string
function Screen:wait_for_text(needle)
  self:wait_for(("%q"):format(needle), function()
    return self:shows(needle)
  end)
end

--- The mode, followed by "!" when Neovim waits and does nothing else.
---@return string
function Screen:mode()
  local mode = vim.rpcrequest(self.channel, "nvim_get_mode")
  return mode.mode .. (mode.blocking and "!" or "")
end

---@param mode string
function Screen:wait_for_mode(mode)
  self:wait_for("mode " .. mode, function()
    return self:mode() == mode
  end)
end

--- Types keys in the notation of |<>|.
---@param keys string
function Screen:type(keys)
  vim.fn.chansend(self.job, vim.api.nvim_replace_termcodes(keys, true, true, true))
end

--- Runs Lua, which must not ask anything.
---@param code string
---@param ... any
---@return any
function Screen:lua(code, ...)
  return vim.rpcrequest(self.channel, "nvim_exec_lua", code, { ... })
end

--- Runs Lua when Neovim gets to it.
---@param code string
---@param ... any
function Screen:later(code, ...)
  vim.rpcnotify(self.channel, "nvim_exec_lua", code, { ... })
end

function Screen:stop()
  vim.fn.chanclose(self.channel)
  vim.fn.jobstop(self.job)
  vim.fn.jobwait({ self.job }, patience_ms)
  vim.api.nvim_buf_delete(self.buf, { force = true })
end

-- What the specs about questions do inside.
local prelude = [[
vim.cmd.runtime("plugin/hermes.lua")
vim.g.mapleader = ","
vim.o.timeoutlen = 60000
vim.keymap.set("n", ",,x", "x")
vim.ui.open = function(url) opened[#opened + 1] = url end
local notify = vim.notify
_G.builtin_notify = notify
local function noting(text, level, opts)
  notes[#notes + 1] = text
  return notify(text, level, opts)
end
vim.notify = noting
local kinds = {
  permission = {
    toolCall = {
      toolCallId = "t",
      title = "Clean up",
      kind = "execute",
      rawInput = { command = "rm -rf build" },
    },
    options = {
      { optionId = "yes", name = "Yes", kind = "allow_once" },
      { optionId = "no", name = "No", kind = "reject_once" },
    },
  },
  url = { mode = "url", message = "Sign in", url = "https://example.com/x", host = "example.com" },
  form = { mode = "form", message = "Which?", requestedSchema = {
    properties = { sure = { type = "boolean" } }, required = { "sure" } } },
  text = { mode = "form", message = "Who?", requestedSchema = {
    properties = { name = { type = "string" } }, required = { "name" } } },
}
local open = {}
local function module(kind)
  return require("hermes.ask." .. (kind == "permission" and kind or "elicitation"))
end
-- What the host says of a command that is among the arguments.
local function deciding(call)
  local list = {}
  local roles = { command = "command", args = "words", program = "program", cwd = "folder" }
  for _, name in ipairs({ "command", "args", "program", "cwd", "env" }) do
    if call.rawInput[name] ~= nil then
      list[#list + 1] = { name = name, role = roles[name] or "environment", decides = true }
    end
  end
  return { arguments = list, words = false }
end
function _G.Ask(kind, id, data)
  local mine = { requestId = id, agent = "demo", sessionId = "s" }
  data = vim.tbl_extend("force", kinds[kind], data or {}, mine)
  if vim.tbl_get(data, "toolCall", "rawInput", "command") then
    data.deciding = deciding(data.toolCall)
  end
  open[id] = kind
  vim.schedule(function()
    module(kind).ask(data, function(value)
      values[#values + 1] = value
      answers[#answers + 1] = id .. "=" .. (type(value) == "table" and value.action or value)
    end)
  end)
end
function _G.Withdraw(id)
  module(open[id]).withdraw(id)
end
local select = vim.ui.select
function _G.Reset(count)
  for id in pairs(open) do
    Withdraw(id)
    open[id] = nil
  end
  _G.answers, _G.values, _G.notes, _G.opened, _G.picked, _G.choose = {}, {}, {}, {}, nil, nil
  vim.ui.select, vim.notify = select, noting
  vim.v.errmsg, vim.g.typed = "", nil
  vim.o.columns, vim.o.cmdheight = 80, 1
  vim.cmd("silent! only! | silent! %bwipeout!")
  vim.o.laststatus, vim.o.statusline = 2, "reset " .. count .. "."
  require("hermes").setup({ questions = { style = "window", open = true, digits = "go" } })
  -- What is not about time need not take any.
  require("hermes.ask.reading").too_soon_ms, require("hermes.ask.questions").quiet_ms = 0, 0
end
]]

--- Puts a question, of the kind "permission", "url", "form" or "text".
---@param kind string
---@param id string
---@param data? table
function Screen:ask(kind, id, data)
  self:later("Ask(...)", kind, id, data)
end

---@return string[] the answers so far, such as "p=yes"
function Screen:answers()
  return self:lua("return answers")
end

--- True while a question is on the screen.
---@return boolean
function Screen:is_asking()
  return self:shows(" asks ")
end

--- True while a question has the keys.
---@return boolean
function Screen:has_keys()
  local mode = self:mode()
  if mode:find("^c") then
    return self:shows("umber and <Enter>")
  end
  return not mode:find("!")
    and self:shows(" · q hides ")
    and self:lua("return vim.api.nvim_win_get_config(0).relative ~= ''")
end

function Screen:wait_for_question()
  self:wait_for("question", function()
    return self:is_asking()
  end)
end

--- Goes to the question that waits, once it does.
function Screen:go_to()
  self:wait_for("waiting question", function()
    return self:lua("return #require('hermes.ask.questions').list() > 0")
  end)
  self:type(":Hermes respond<CR>")
  self:wait_for("question with the keys", function()
    return self:has_keys()
  end)
end

--- Lets questions come in a line of text instead of a window.
function Screen:use_line()
  self:lua("require('hermes').setup({ questions = { style = 'select' } })")
end

---@param count integer
function Screen:wait_for_answers(count)
  self:wait_for(count .. " answers", function()
    return not self:mode():find("!") and #self:answers() == count
  end)
end

--- The number before an item.
---@param name string
---@return string
function Screen:number(name)
  local number ---@type string?
  self:wait_for(("choice %q"):format(name), function()
    number = self:text():match("(%d+): " .. vim.pesc(name))
    return number
  end)
  return number
end

--- Chooses an item by its number.
---@param name string
function Screen:choose(name)
  self:type(self:number(name) .. "<CR>")
end

--- Takes all questions away and makes everything as it was at the start.
function Screen:reset()
  if self:mode() ~= "n" then
    self:type("<C-\\><C-n>")
    self:wait_for("normal mode", function() -- "nt" in a terminal
      return self:mode():find("^nt?$")
    end)
  end
  self.resets = (self.resets or 0) + 1
  self:later("Reset(...)", self.resets)
  self:wait_for("empty screen", function()
    return self:mode() == "n" and self:shows(("reset %d."):format(self.resets))
  end)
end

local M = {}

---@param plugin? string folder of the plugin; default: the one of this repository
---@param columns? integer
---@param lines? integer
---@return hermes.test.Screen
function M.start(plugin, columns, lines)
  columns, lines = columns or 80, lines or 24
  vim.o.lines, vim.o.columns = lines + 6, columns + 10
  local self = setmetatable({ buf = vim.api.nvim_create_buf(false, true) }, Screen)
  vim.api.nvim_open_win(self.buf, true, {
    relative = "editor",
    row = 0,
    col = 0,
    width = columns,
    height = lines,
    style = "minimal",
  })
  local dir = vim.fn.tempname()
  vim.fn.mkdir(dir, "p")
  local socket = dir .. "/socket"
  local argv =
    { vim.v.progpath, "--clean", "-n", "--listen", socket, "--cmd", "set shm+=I", "--cmd" }
  argv[#argv + 1] = "set rtp^=" .. vim.fn.fnameescape(plugin or root)
  local opts = { env = { TERM = "xterm-256color", NVIM = "", XDG_STATE_HOME = dir }, cwd = dir }
  if vim.fn.has("nvim-0.11") == 1 then
    opts.term = true
    self.job = vim.fn.jobstart(argv, opts)
  else
    self.job = vim.fn.termopen(argv, opts)
  end
  local connected = vim.wait(patience_ms, function()
    local ok, channel = pcall(vim.fn.sockconnect, "pipe", socket, { rpc = true })
    self.channel = ok and channel or 0
    return self.channel > 0
  end, 10)
  assert(connected, "the Neovim on the screen does not listen")
  self:wait_for("screen", function()
    return #vim.rpcrequest(self.channel, "nvim_list_uis") > 0 and self:shows("[No Name]")
  end)
  self:lua(prelude)
  return self
end

local shared ---@type hermes.test.Screen?

--- A screen that the specs of a file share, without questions.
---@return hermes.test.Screen
function M.fresh()
  if not shared or not pcall(shared.reset, shared) then
    if shared then
      shared:stop()
    end
    shared = M.start()
    shared:reset()
  end
  return shared
end

return M
