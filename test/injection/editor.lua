-- Runs inside the Neovim under test and watches what a text of an agent must
-- never do: press a key, change the mode, the user's text, options, registers
-- or mappings, open a terminal or the command line.

local chan, settings = ...
local hermes, api = require("hermes"), vim.api
_G.hermes = hermes

-- A user whose settings run what they can be made to run.
vim.o.modeline, vim.o.modelines, vim.o.title = true, 1000, true
vim.cmd("noreabbrev <expr> pwnabbrev execute('let g:marked=1')")
vim.cmd("noremap! PWNMAP <Cmd>let g:marked=1<CR>")
vim.cmd("tnoremap PWNMAP <Cmd>let g:marked=1<CR>")

---@type table<string, integer> how often each key was processed
local keys = {}
-- The user looks at a question, answers it, and looks again once Neovim has done
-- what the keys say. Keys for a question that is gone would be the user's own.
local answering = false
vim.on_key(function(key, typed)
  -- Of the keys that Neovim makes for itself all begin with these two bytes.
  if key ~= "" and key:sub(1, 2) ~= "\128\253" then
    keys[key] = (keys[key] or 0) + 1
  end
  if typed and typed:find("[\r\27\\]$") then -- each answer ends with one of these
    vim.schedule(function()
      answering = false
    end)
  end
end)

local alarms = {} ---@type string[]
api.nvim_create_autocmd({ "CmdlineEnter", "CmdwinEnter", "TermOpen", "QuitPre" }, {
  callback = function(args)
    local typed = args.event == "CmdlineEnter" and args.match ~= ":" -- the prompt of a question
    if not typed and not _G.commanding then
      alarms[#alarms + 1] = ("%s %s"):format(args.event, args.match)
    end
  end,
})

-- The test hears when a question is about to wait for keys, and what its window
-- says.
for _, name in ipairs({ "input", "inputlist", "confirm", "getchar", "getcharstr" }) do
  local original = vim.fn[name]
  vim.fn[name] = function(...)
    local first = ...
    local text = type(first) == "table" and (first.prompt or table.concat(first, "\n", 1, 2)) or ""
    for _, window in ipairs(api.nvim_list_wins()) do
      if api.nvim_win_get_config(window).relative ~= "" then
        local lines = api.nvim_buf_get_lines(api.nvim_win_get_buf(window), 0, -1, true)
        text = text .. "\n" .. table.concat(lines, "\n")
      end
    end
    answering = true
    vim.rpcnotify(chan, "asked", name, text)
    return original(...)
  end
end

-- The test also hears when a question waits, so that its user goes to it, and what
-- the window says that then has the focus.
vim.keymap.set("n", "\\", function()
  require("hermes.ask.questions").open()
end)
local heard = {} ---@type table<string, number> when each was announced, in ms
vim.uv.new_timer():start(
  2,
  2,
  vim.schedule_wrap(function()
    local first = require("hermes.ask.questions").list()[1]
    local config = api.nvim_win_get_config(0)
    if not first or answering or not api.nvim_get_mode().mode:find("^nt?$") then
      return
    end
    local now, focused = vim.uv.hrtime() / 1e6, config.relative ~= ""
    local key = first.id
    if focused then
      key = ("%d %d"):format(api.nvim_get_current_win(), api.nvim_buf_get_changedtick(0))
    end
    -- On a slow machine the next part of a question may not get the focus.
    if heard[key] and (focused or now - heard[key] < 1000) then
      return
    end
    heard[key], answering = now, true
    local text = table.concat(api.nvim_buf_get_lines(0, 0, -1, true), "\n")
    vim.rpcnotify(
      chan,
      "asked",
      focused and "window " .. first.id or "waiting",
      focused and text or ""
    )
  end)
)

local arrived = {} ---@type table<string, true>
local function collect(value)
  if type(value) == "string" then
    arrived[value] = true
  elseif type(value) == "table" then
    for k, v in pairs(value) do
      collect(k)
      collect(v)
    end
  end
end
if settings.role == "names" then
  hermes.on("*", collect)
end

hermes.setup({
  host = { cmd = { settings.hermes, "host" } },
  permissions = { terminal_access = "ask" },
  agents = {
    hostile = {
      command = settings.agent,
      env = { HERMES_TEST_ROLE = settings.role },
    },
  },
})
-- This user reads fast.
require("hermes.ask.questions").quiet_ms, require("hermes.ask.reading").too_soon_ms = 0, 0
vim.cmd.luafile(settings.root .. "/examples/chat.lua")

local editor = {}
local mine ---@type integer buffer of the user

---Opens the window that the user works in.
function editor.open()
  vim.cmd.edit("mine.txt")
  api.nvim_buf_set_lines(0, 0, -1, true, { "one pwnabbrev", "two", "three" })
  vim.cmd("silent write")
  if settings.place == "chat" then
    vim.cmd("HermesChat hostile")
  elseif settings.place == "hermes.chat" then
    -- The test answers dialogs.
    require("hermes.chat").setup({ insert = false, permissions = "dialog" })
    vim.cmd("Hermes chat hostile")
  else
    hermes.connect("hostile")
    hermes.create_session({ agent = "hostile" })
    if settings.place == "terminal" then
      vim.cmd("enew")
      _G.commanding = true
      vim.fn.termopen({ "cat" })
      _G.commanding = nil
    end
  end
  mine = api.nvim_get_current_buf()
end

---@return string? session once it is there
function editor.session()
  local id, session = next(hermes.state().sessions)
  local ready = session and session.state == "idle"
  if settings.place == "hermes.chat" or settings.place == "chat" then
    ready = ready and vim.b.hermes_session ~= nil
  end
  return ready and id or nil
end

function editor.play(scene)
  hermes.prompt(next(hermes.state().sessions), scene, {
    on_done = function()
      vim.rpcnotify(chan, "ended", scene)
    end,
  })
end

local typed = 0
api.nvim_create_autocmd("CmdlineLeave", {
  pattern = ":",
  callback = function()
    typed = typed + 1
  end,
})

---@return integer commands that the user has typed
function editor.typed()
  return typed
end

---From now on the agent says why it opens no session, and the statusline of the
---help shows it.
function editor.refuse()
  hermes.request("hostile", "_refuse", {}, function()
    _G.refuses = true
  end)
  hermes.on("RequestFailed", function(data)
    if data.method == "session/new" then
      _G.why = data.message
    end
  end)
  local help = table.concat(vim.fn.readfile(settings.root .. "/doc/hermes.txt"), "\n")
  vim.o.statusline = assert(help:match('vim%.o%.statusline = "(.-)"\n'))
  function _G.hermes_status()
    return hermes.statusline({
      format = function()
        return vim.g.hermes_status or ""
      end,
    })
  end
end

local drawn = 0

---Opens a chat that shows why there is no session.
function editor.refused()
  vim.cmd("HermesChat hostile")
end

---@param before integer chats
---@return boolean whether the next one was drawn
function editor.drew(before)
  local why = _G.why
  if drawn == before and why and vim.fn.getline(2) ~= "" then
    _G.why = nil
    drawn = drawn + 1
    vim.g.hermes_status = why
    vim.cmd("redrawstatus! | redraw!")
    vim.cmd("bwipeout!")
  end
  return drawn > before
end

---Sessions that are there to be completed.
---@param n integer
function editor.sessions(n)
  for _ = 1, n do
    hermes.create_session({ agent = "hostile" })
  end
end

---Every answer that the agent can give, some times each.
---@param times integer
function editor.requests(times)
  local id = next(hermes.state().sessions)
  local left = 0
  local function one(fn, ...)
    left = left + 1
    local args, n = { ... }, select("#", ...) + 1
    args[n] = {
      agent = "hostile",
      on_done = function(err, result)
        collect(err or {})
        collect(result or {})
        left = left - 1
        if left == 0 then
          vim.rpcnotify(chan, "ended", "requests")
        end
      end,
    }
    fn(unpack(args, 1, n))
  end
  for _ = 1, times do
    one(hermes.authenticate, "x")
    one(hermes.logout, nil)
    one(hermes.list_sessions)
    one(hermes.load_session, "loaded")
    one(hermes.resume_session, "resumed")
    one(hermes.close_session, "loaded")
    one(hermes.delete_session, "resumed")
    one(hermes.set_mode, id, "x") -- sets a config option if there is one for modes
    one(function(opts)
      local params = { sessionId = id, modeId = "x" }
      hermes.request("hostile", "session/set_mode", params, opts.on_done)
    end)
    one(hermes.set_config_option, id, { id = "x", value = "y" })
    one(function(opts)
      hermes.request("hostile", "_fail", {}, opts.on_done)
    end)
  end
end

---Leaves the mode of the user, when a question waits for that.
---@return boolean
function editor.leave()
  local mode = api.nvim_get_mode().mode
  local waits = #hermes.state().pending > 0 and (mode == "i" or mode == "t")
  if waits then
    vim.cmd.stopinsert()
  end
  return waits
end

---@return string text that all data of events held
function editor.arrived()
  return table.concat(vim.tbl_keys(arrived), "\n")
end

---Shows what agents say in the views, below the window of the user. What a
---terminal can do to an editor raises an alarm.
function editor.views()
  local function alarm(what)
    return function(args)
      alarms[#alarms + 1] = what .. vim.inspect(args)
    end
  end
  vim.g.clipboard = {
    name = "test",
    copy = { ["+"] = alarm("copy "), ["*"] = alarm("copy ") },
    paste = { ["+"] = alarm("paste "), ["*"] = alarm("paste ") },
  }
  api.nvim_create_autocmd("TermRequest", { callback = alarm("TermRequest ") })
  -- Only a terminal may ring.
  vim.o.belloff = "backspace,cursor,complete,copy,ctrlg,error,esc,ex,hangul,lang,mess,showmatch,"
    .. "operator,register,shell,spell,wildmode"
  local traffic, terminals = require("hermes.traffic"), require("hermes.terminals")
  local user = api.nvim_get_current_win()
  traffic.open()
  vim.cmd("vertical rightbelow split | set nowinfixbuf | enew")
  local window = api.nvim_get_current_win()
  api.nvim_set_current_win(user)
  hermes.on({ "TerminalStarted", "TerminalExited" }, function(data)
    terminals.show(data.sessionId, data.terminalId, { window = window, focus = false })
  end)
end

---Goes through the captured messages as a user does who reads each.
---@return boolean whether there is another one
function editor.read_traffic()
  local traffic = require("hermes.traffic")
  local window = vim.fn.bufwinid(traffic.open())
  local line = api.nvim_win_get_cursor(window)[1]
  return line < api.nvim_buf_line_count(0)
end

---Makes commands mean the session with this number; 0 stands for none.
---@param i integer
---@return boolean whether there is one
function editor.enter_session(i)
  local session = hermes.sessions()[i]
  vim.b.hermes_session = session and session.sessionId or nil
  return session ~= nil
end

---What the screen shows of the user's window.
---@return string
function editor.screen()
  local window = vim.fn.win_findbuf(mine)[1]
  vim.cmd.redraw()
  local at, lines = vim.fn.win_screenpos(window), {}
  for row = 0, api.nvim_win_get_height(window) - 1 do
    local line = {}
    for col = 0, api.nvim_win_get_width(window) - 1 do
      line[#line + 1] = vim.fn.screenstring(at[1] + row, at[2] + col)
    end
    lines[#lines + 1] = table.concat(line)
  end
  return table.concat(lines, "\n")
end

---@return string[] what must not have happened
function editor.alarms()
  return alarms
end

---What a text left that was run.
---@return string[]
function editor.marked()
  local left = {}
  for what, is in pairs({
    variable = vim.g.marked ~= nil,
    file = vim.uv.fs_stat("MARK") ~= nil,
    modeline = vim.bo.textwidth == 7,
  }) do
    left[#left + 1] = is and what or nil
  end
  return left
end

---Everything that must be as it was.
---@return table
function editor.snapshot()
  local options, registers = {}, {}
  for name in pairs(api.nvim_get_all_options_info()) do
    local ok, value = pcall(api.nvim_get_option_value, name, {})
    options[name] = ok and tostring(value) or nil
  end
  options.modified = nil -- the user's last keys
  for c in ('"0123456789abcdefghijklmnopqrstuvwxyz-./:'):gmatch(".") do
    registers[c] = vim.fn.getreg(c)
  end
  -- The user leaves insert mode for a question and comes back: what was inserted
  -- last are the user's words, or nothing.
  registers["."] = vim.trim(registers["."]:gsub("my words", ""))
  local first = settings.place == "chat" and -2 or 0 -- of the example, the line of the user
  local maps = 0
  for _, mode in ipairs({ "n", "i", "c", "t", "v" }) do
    maps = maps + #api.nvim_get_keymap(mode)
  end
  return {
    text = api.nvim_buf_get_lines(mine, first, -1, true),
    file = vim.fn.readfile("mine.txt"),
    window = api.nvim_get_current_buf() == mine,
    buffers = vim.tbl_map(api.nvim_buf_get_name, api.nvim_list_bufs()),
    windows = #api.nvim_list_wins(),
    options = options,
    registers = registers,
    maps = maps,
    commands = vim.tbl_count(api.nvim_get_commands({})),
    channels = #api.nvim_list_chans(),
    alarms = alarms,
    marked = editor.marked(),
  }
end

---@return table<string, integer>
function editor.keys()
  return keys
end

_G.editor = editor
