--- Commands of agents in terminal buffers: colors and cursor moves are drawn by
--- Neovim's own terminal. Nothing that a command prints acts (see
--- hermes.core.escapes), and nothing that is typed goes to it.

local api = vim.api
local drawing = require("hermes.view.terminals.drawing")
local escapes = require("hermes.core.escapes")
local hermes = require("hermes")
local text = require("hermes.core.text")

local M = {}

---@class hermes.TerminalView
---@field session string
---@field terminal string
---@field buf integer
---@field channel integer
---@field filter hermes.Escapes
---@field queue string[] not drawn yet
---@field queued integer bytes
---@field drawing? boolean

---@type table<string, hermes.TerminalView>
local views = {}
local off ---@type fun()? stops listening
local numbered = 0

---@param session string
---@param terminal string
---@return string
local function key(session, terminal)
  return session .. "\0" .. terminal
end

---@param session string
---@param terminal string
---@return hermes.Terminal?
local function known(session, terminal)
  for _, one in ipairs(hermes.terminals(session)) do
    if one.terminalId == terminal then
      return one
    end
  end
end

---@param view hermes.TerminalView
---@return boolean
local function is_valid(view)
  return api.nvim_buf_is_valid(view.buf)
end

--- How a command is doing, in a few words.
---@param terminal hermes.Terminal
---@return string
local function status(terminal)
  if terminal.state == "running" then
    return "running"
  elseif terminal.signal then
    return "ended by " .. text.line(terminal.signal, 40)
  elseif terminal.exitCode then
    return ("exit code %s"):format(text.line(terminal.exitCode, 20))
  end
  return terminal.state == "lost" and "lost with its agent" or "ended"
end

--- A command in one line.
---@param terminal hermes.Terminal
---@param max? integer bytes
---@return string
local function name(terminal, max)
  return text.line(terminal.command or terminal.title or terminal.terminalId, max or 200)
end

---@param view hermes.TerminalView
local function show_status(view)
  local terminal = known(view.session, view.terminal)
  if terminal and is_valid(view) then
    vim.b[view.buf].hermes_terminal = ("%s · %s"):format(status(terminal), name(terminal))
    vim.cmd.redrawstatus({ bang = true })
  end
end

---@param view hermes.TerminalView
local function ended(view)
  drawing.enqueue(view, function()
    local terminal = known(view.session, view.terminal)
    if terminal and terminal.state ~= "running" then
      drawing.write(view, "\r\n")
      drawing.remark(view, status(terminal))
    end
    show_status(view)
  end)
end

--- Handlers of the events of a terminal that is shown.
local on = {
  TerminalStarted = show_status,
  TerminalData = function(view, data)
    if data.skipped then
      drawing.enqueue(view, function()
        drawing.remark(view, ("%d bytes were not kept"):format(data.skipped))
      end)
    end
    drawing.enqueue(view, data.chunk)
  end,
  TerminalExited = ended,
}

--- Removes terminals that are neither remembered nor shown.
local function prune()
  for _, view in pairs(vim.tbl_extend("force", {}, views)) do
    if not known(view.session, view.terminal) and #vim.fn.win_findbuf(view.buf) == 0 then
      api.nvim_buf_delete(view.buf, { force = true })
    end
  end
end

local function listen()
  if off then
    return
  end
  local stop = hermes.on(vim.tbl_keys(on), function(data, event)
    local view = views[key(data.sessionId, data.terminalId)]
    if view then
      on[event](view, data)
    elseif event == "TerminalStarted" then
      prune()
    end
  end)
  local stop_too = hermes.on("StateChanged", function(data)
    for _, view in pairs(views) do
      local terminal = known(view.session, view.terminal)
      if terminal and terminal.state == "lost" and terminal.agent == data.agent then
        ended(view)
      end
    end
  end)
  off = function()
    stop()
    stop_too()
  end
end

---@param view hermes.TerminalView
local function forget(view)
  views[key(view.session, view.terminal)] = nil
  if off and next(views) == nil then
    off()
    off = nil
  end
end

--- Makes a terminal of a buffer. Autocommands on TermOpen are for terminals that
--- one types into: many start insert mode.
---@param buf integer
---@return integer channel
local function open_terminal(buf)
  local ignored = vim.o.eventignore
  vim.o.eventignore = ignored == "" and "TermOpen" or ignored .. ",TermOpen"
  -- Without on_input, keys and the terminal's answers to queries are dropped.
  local ok, channel = pcall(api.nvim_open_term, buf, { force_crlf = false })
  vim.o.eventignore = ignored
  if not ok then
    error(channel, 0)
  end
  return channel
end

---@param window integer
local function plain_window(window)
  local wo = vim.wo[window][0] -- other buffers in the window keep the user's options
  wo.number, wo.relativenumber, wo.list, wo.spell = false, false, false, false
  wo.wrap, wo.cursorline, wo.signcolumn, wo.foldcolumn = false, false, "no", "0"
  wo.winfixbuf = false
  wo.winbar = "%{get(b:, 'hermes_terminal', '')}%<"
end

--- Shows a buffer in a window, or in a new one below.
---@param buf integer
---@param window? integer
---@param focus boolean
---@return integer window
local function put(buf, window, focus)
  if window then
    vim.wo[window].winfixbuf = false
    api.nvim_win_set_buf(window, buf)
    if focus then
      api.nvim_set_current_win(window)
    end
  else
    local lines = math.max(5, math.floor(vim.o.lines / 3))
    window = api.nvim_open_win(buf, focus, { split = "below", win = -1, height = lines })
  end
  plain_window(window)
  return window
end

---@param view hermes.TerminalView
---@return integer? window of this tab page
local function window_of(view)
  local window = vim.fn.bufwinid(view.buf)
  return window > 0 and window or nil
end

--- Puts the cursor on the last line: Neovim scrolls a terminal with its output
--- while the cursor is there.
---@param window integer
local function follow(window)
  pcall(
    api.nvim_win_set_cursor,
    window,
    { api.nvim_buf_line_count(api.nvim_win_get_buf(window)), 0 }
  )
end

---@class hermes.TerminalAction
---@field key string
---@field help string
---@field run fun(view: hermes.TerminalView)

local actions = {} ---@type table<string, hermes.TerminalAction>

local function show_help()
  local lines = {}
  for _, action in vim.spairs(actions) do
    lines[#lines + 1] = ("%-6s %s"):format(action.key, action.help)
  end
  table.sort(lines)
  vim.api.nvim_echo({ { table.concat(lines, "\n") } }, false, {})
end

---@param step integer
---@return fun(view: hermes.TerminalView)
local function neighbour(step)
  return function(view)
    local all = hermes.terminals()
    for i, terminal in ipairs(all) do
      if terminal.sessionId == view.session and terminal.terminalId == view.terminal then
        local other = all[(i - 1 + step) % #all + 1]
        M.show(other.sessionId, other.terminalId, { window = api.nvim_get_current_win() })
        return
      end
    end
  end
end

actions = {
  close = {
    key = "q",
    help = "close the window",
    run = function()
      if not pcall(api.nvim_win_close, 0, true) then
        vim.cmd.enew()
      end
    end,
  },
  kill = {
    key = "<C-c>",
    help = "end the command",
    run = function(view)
      M.kill(view.session, view.terminal)
    end,
  },
  follow = {
    key = "F",
    help = "go to the end and scroll with the output",
    run = function()
      follow(api.nvim_get_current_win())
    end,
  },
  next = { key = "]]", help = "the next command", run = neighbour(1) },
  previous = { key = "[[", help = "the command before", run = neighbour(-1) },
  help = { key = "g?", help = "these keys", run = show_help },
}

---@param view hermes.TerminalView
local function map(view)
  local opts = { buffer = view.buf, nowait = true, silent = true }
  for action, its in pairs(actions) do
    local plug = ("<Plug>(hermes-terminal-%s)"):format(action)
    vim.keymap.set("n", plug, function()
      its.run(view)
    end, opts)
    if require("hermes.core.config").get().terminals.keys then
      vim.keymap.set("n", its.key, plug, vim.tbl_extend("force", opts, { remap = true }))
    end
  end
  if require("hermes.core.config").get().terminals.keys then
    for _, insert in ipairs({ "i", "I", "a", "A", "o", "O", "c", "C", "s", "S" }) do
      vim.keymap.set("n", insert, function()
        require("hermes.core.log").show(
          vim.log.levels.INFO,
          "this terminal takes no keys; g? helps"
        )
      end, opts)
    end
  end
end

---@param session string
---@param terminal string
---@param window? integer that shows it from now on
---@param focus boolean
---@return hermes.TerminalView
local function create(session, terminal, window, focus)
  local buf = api.nvim_create_buf(false, true)
  numbered = numbered + 1
  api.nvim_buf_set_name(buf, ("hermes://terminal/%d"):format(numbered))
  vim.bo[buf].bufhidden = "hide"
  -- The window comes first, because the terminal takes its width.
  local ok, put_there = pcall(put, buf, window, focus)
  if not ok then
    api.nvim_buf_delete(buf, { force = true })
    error(put_there, 0)
  end
  window = put_there
  local view = {
    session = session,
    terminal = terminal,
    buf = buf,
    channel = open_terminal(buf),
    filter = escapes.new(),
    queue = {},
    queued = 0,
  }
  views[key(session, terminal)] = view
  vim.bo[buf].scrollback =
    math.min(require("hermes.core.config").get().terminals.scrollback, 100000)
  vim.bo[buf].modifiable, vim.bo[buf].undolevels = false, -1
  vim.bo[buf].filetype = "hermes-terminal"
  map(view)
  api.nvim_create_autocmd({ "BufWipeout", "BufUnload" }, {
    buffer = buf,
    once = true,
    callback = function()
      forget(view)
    end,
  })
  local past, output = hermes.terminal_output(session, terminal)
  if past and output then
    if past.dropped > 0 then
      local dropped = past.dropped + #(output:match("^[^\n]*\n") or "")
      output = output:gsub("^[^\n]*\n", "")
      drawing.remark(view, ("%d bytes before this are not kept"):format(dropped))
    end
    drawing.enqueue(view, output)
    if past.state ~= "running" then
      ended(view)
    end
  end
  listen()
  show_status(view)
  follow(window)
  return view
end

---@class hermes.TerminalShowOpts
---@field focus? boolean go to the window; true
---@field window? integer show it there, instead of in a new window below

--- Shows a command of an agent in a terminal buffer, with what it has printed so
--- far. Without ids it shows the only command, or lets the user choose one.
---@param session_id? string
---@param terminal_id? string
---@param opts? hermes.TerminalShowOpts
---@return integer? buf
function M.show(session_id, terminal_id, opts)
  opts = opts or {}
  if not session_id or not terminal_id then
    return M.pick(session_id, opts)
  end
  if not known(session_id, terminal_id) then
    error(("hermes.terminals: no command is known by %s"):format(vim.inspect(terminal_id)), 2)
  end
  local view = views[key(session_id, terminal_id)]
  local focus = opts.focus ~= false
  if not view then
    view = create(session_id, terminal_id, opts.window, focus)
  elseif opts.window then
    follow(put(view.buf, opts.window, focus))
  elseif window_of(view) then
    if focus then
      api.nvim_set_current_win(window_of(view))
    end
  else
    follow(put(view.buf, nil, focus))
  end
  return view.buf
end

--- Lets the user choose a command, the newest first. One alone is shown at once.
---@param session_id? string
---@param opts? hermes.TerminalShowOpts
---@return integer? buf when there was nothing to choose
function M.pick(session_id, opts)
  local list = hermes.terminals(session_id)
  if #list == 0 then
    require("hermes.core.log").show(vim.log.levels.INFO, "no agent has run a command yet")
    return nil
  elseif #list == 1 then
    return M.show(list[1].sessionId, list[1].terminalId, opts)
  end
  local newest = {}
  for i = #list, 1, -1 do
    newest[#newest + 1] = list[i]
  end
  vim.ui.select(newest, {
    prompt = "Command:",
    kind = "hermes_terminal",
    format_item = function(terminal)
      return ("%s: %s (%s)"):format(
        text.line(terminal.agent, 40),
        name(terminal, 100),
        status(terminal)
      )
    end,
  }, function(terminal)
    if terminal then
      M.show(terminal.sessionId, terminal.terminalId, opts)
    end
  end)
end

--- Ends a command of an agent.
---@param session_id string
---@param terminal_id string
---@return string? id of the operation, nil when the command has already ended
function M.kill(session_id, terminal_id)
  local terminal = known(session_id, terminal_id)
  if not terminal or terminal.state ~= "running" then -- one that is not kept any more has ended
    require("hermes.core.log").show(vim.log.levels.INFO, "the command has already ended")
    return nil
  end
  return hermes.kill_terminal(session_id, terminal_id, { agent = terminal.agent })
end

return M
