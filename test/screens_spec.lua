-- Screens of every usual size, walked through what a user meets in the first hour: real Neovims
-- in a real tmux. After each step of the walk all laws hold: the conversation fills its window and
-- ends at the bottom, no message is cut, nobody has to press Enter, no error of Lua is in sight.
-- Needs bin/hermes (make build) and tmux.

local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local tmuxes = dofile(here .. "/tmux.lua")

local server = tmuxes.new("screens") ---@type hermes.test.Tmux
if not server then
  return it("the screens", tmuxes.skip)
end

local sizes = {
  { columns = 80, lines = 24 },
  { columns = 120, lines = 40 },
  { columns = 60, lines = 16 },
  { columns = 200, lines = 60 },
}

-- What the walk does inside.
local prelude = [[
local root, program = ...
vim.o.swapfile = false
_G.hermes = require("hermes")
hermes.setup({ agents = {
  scripted = {
    command = program,
    args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
  },
  missing = { command = "no-such-agent" },
} })
local first
function _G.Say(steps)
  first = first or next(hermes.state().sessions)
  hermes.prompt(first, vim.json.encode(steps))
end
-- The same in a session without a window.
function _G.Beside(steps)
  hermes.create_session({ agent = "scripted", on_done = function(err, session)
    hermes.prompt(assert(session, err and err.message).sessionId, vim.json.encode(steps))
  end })
end
-- Puts the cursor on a choice that can be seen.
function _G.Choose(label)
  for number = vim.fn.line("w0"), vim.fn.line("w$") do
    local line = vim.fn.getline(number)
    if vim.startswith(line, "▸") and line:find(label, 1, true) then
      vim.api.nvim_win_set_cursor(0, { number, 0 })
      return true
    end
  end
  return false
end
-- Where the current window is on the screen, or that of a buffer of this file type.
function _G.Where(filetype)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local buf = vim.api.nvim_win_get_buf(window)
    if vim.bo[buf].filetype == filetype
      or not filetype and window == vim.api.nvim_get_current_win() then
      local at, bar = vim.fn.win_screenpos(window), vim.fn.getwininfo(window)[1].winbar
      local border = vim.api.nvim_win_get_config(window).relative ~= "" and 1 or 0
      return {
        top = at[1] + bar + border, -- the first row of text
        left = at[2] + border,
        width = vim.api.nvim_win_get_width(window),
        height = vim.api.nvim_win_get_height(window) - bar,
        rows = vim.api.nvim_win_text_height(window, {}).all,
        text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n"),
        alone = vim.api.nvim_win_get_config(0).relative == "", -- no window that was asked for
        at_end = vim.api.nvim_win_get_cursor(window)[1] == vim.api.nvim_buf_line_count(buf),
      }
    end
  end
end
-- A window that nobody asked for, and that is over the conversation.
function _G.Covering()
  local chat = Where("hermes_chat")
  for _, window in ipairs(chat and vim.api.nvim_tabpage_list_wins(0) or {}) do
    local config = vim.api.nvim_win_get_config(window)
    if config.relative ~= "" and window ~= vim.api.nvim_get_current_win() then
      local at = vim.fn.win_screenpos(window)
      local bottom, right = at[1] + config.height + 1, at[2] + config.width + 1
      if bottom >= chat.top and at[1] < chat.top + chat.height
        and right >= chat.left and at[2] < chat.left + chat.width then
        local buf = vim.api.nvim_win_get_buf(window)
        return table.concat(vim.api.nvim_buf_get_lines(buf, 0, 3, false), "\n")
      end
    end
  end
end
]]

---@class hermes.test.Walker
---@field name string
---@field size { columns: integer, lines: integer }
---@field channel integer
local Walker = {}
Walker.__index = Walker

function Walker:lua(code, ...)
  return vim.rpcrequest(self.channel, "nvim_exec_lua", code, { ... })
end

---@return string
function Walker:screen()
  return server:screen(self.name)
end

---@return string[] rows
function Walker:rows()
  return vim.split(self:screen(), "\n")
end

--- Whether it waits for a key, in a menu, and answers nothing else.
---@return boolean
function Walker:is_busy()
  return vim.rpcrequest(self.channel, "nvim_get_mode").blocking
end

---@param filetype? string of a buffer that is in a window; nil: the current window
---@return string[]? rows of text; nil where there is none
---@return table? where
function Walker:window(filetype)
  if self:is_busy() then
    return nil
  end
  local where = self:lua("return Where(...)", filetype)
  if where == vim.NIL or not where then
    return nil
  end
  local rows, screen = {}, self:rows()
  for row = where.top, where.top + where.height - 1 do
    rows[#rows + 1] = vim.fn.strcharpart(screen[row] or "", where.left - 1, where.width)
  end
  return rows, where
end

---@return string[]? rows of the conversation; nil where there is none
---@return table? where
function Walker:conversation()
  return self:window("hermes_chat")
end

---@param keys string for tmux, or text of which each character is a key
function Walker:type(keys)
  server:run("send-keys", "-t", self.name, "-l", keys)
end

---@param ... string names of keys
function Walker:press(...)
  server:run("send-keys", "-t", self.name, ...)
end

---------------------------------------------------------------------------
-- The laws: each returns what is wrong.

---@type table<string, fun(walker: hermes.test.Walker): string?>
local laws = {
  ["no error of Lua is in sight"] = function(walker)
    local screen = walker:screen()
    for _, trace in ipairs({ "stack traceback", "%.lua:%d+:", "%f[%w]E%d+:", "Lua callback" }) do
      if screen:find(trace) then
        return "there is " .. trace
      end
    end
  end,

  ["nobody has to press Enter"] = function(walker)
    local screen = walker:screen()
    return screen:find("Press ENTER", 1, true) and "there is a prompt to press Enter"
      or screen:find("-- More --", 1, true) and "there is a prompt for more"
      or nil
  end,

  ["no message is cut"] = function(walker)
    local rows = walker:rows()
    for row = #rows - 1, #rows do
      if
        (rows[row] or ""):find("^hermes.*…%s*$") or (rows[row] or ""):find("^hermes.*%.%.%.")
      then
        return "cut: " .. rows[row]
      end
    end
  end,

  ["nothing covers the conversation"] = function(walker)
    local over = not walker:is_busy() and walker:lua("return Covering()") or vim.NIL
    return over ~= vim.NIL and over and "it is covered by " .. over or nil
  end,

  ["a diff has the same lines side by side"] = function(walker)
    local beside = 0
    for _, row in ipairs(walker:rows()) do
      local left, right = row:match("same (%d+)%D.-│.-same (%d+)")
      if left ~= right then
        return ("line %s is beside line %s"):format(left, right)
      end
      beside = beside + (left and 1 or 0)
    end
    local is_diff = not walker:is_busy() and walker:lua("return vim.wo.diff")
    return is_diff and beside == 0 and "no line is beside itself" or nil
  end,

  ["the conversation ends at the bottom of a full window"] = function(walker)
    local rows, where = walker:conversation()
    if not (rows and where and where.at_end and where.alone) then
      return
    end
    local last = vim.trim(where.text):match("(%S+)$")
    local at ---@type integer?
    for row, text in ipairs(rows) do
      at = last and text:find(last, 1, true) and row or at
    end
    -- One row is for what comes next, and one keeps the cursor off the choices of a question.
    local below = walker:screen():find("waits for your answer", 1, true) and 2 or 1
    local height = math.min(where.rows, where.height)
    if last and not at then
      return ("the last word %q is not in sight"):format(last)
    elseif at and at ~= height - below then
      return ("it ends in row %d of %d"):format(at, height)
    elseif where.rows < where.height then
      return
    end
    local empty = 0
    for row, text in ipairs(rows) do
      empty = vim.trim(text) == "" and empty + 1 or 0
      if empty > 2 then -- a text may end with an empty line, and another one is before the next
        return ("row %d is as empty as the two before"):format(row)
      end
    end
  end,
}

---------------------------------------------------------------------------
-- The walk. A step says what it does, and when that can be seen; the laws are checked then.

---@class hermes.test.Step
---@field [1] string what it is
---@field act fun(walker: hermes.test.Walker)
---@field shows? string|fun(walker: hermes.test.Walker): string text that is on the screen then
---@field is? fun(walker: hermes.test.Walker): any what else is true then
---@field takes_room? boolean a small screen has none that is free, and it is over the conversation

---@param id string
---@param lines integer
local function call(id, lines)
  local output = {}
  for line = 1, lines do
    output[line] = ("%s: line %d of the output"):format(id, line)
  end
  local what = { type = "content", content = { type = "text", text = table.concat(output, "\n") } }
  return {
    update = {
      sessionUpdate = "tool_call",
      toolCallId = id,
      title = "Run " .. id,
      status = "in_progress",
      content = { what },
    },
  }, {
    update = {
      sessionUpdate = "tool_call_update",
      toolCallId = id,
      status = "completed",
    },
  }
end

---@param words integer
---@param last string
---@return table step
local function paragraph(words, last)
  return { say = ("some words of a paragraph "):rep(words / 5) .. last }
end

---@param steps table[]
local function say(steps)
  return function(walker)
    walker:lua("Say(...)", steps)
  end
end

local function idle(walker)
  return walker:lua("return vim.tbl_values(hermes.state().sessions)[1].state") == "idle"
end

local first, first_over = call("first", 60)
local second, second_over = call("second", 100)

local old = vim.split(("a line of the file\n"):rep(40), "\n")
local new = vim.list_extend({ "a new line" }, old)
local diff = {
  update = {
    sessionUpdate = "tool_call",
    toolCallId = "diff",
    title = "Edit a file",
    status = "completed",
    content = {
      {
        type = "diff",
        path = "/a/file",
        oldText = table.concat(old, "\n"),
        newText = table.concat(new, "\n") .. table.concat(new, "\n"),
      },
    },
  },
}
local question = {
  toolCall = {
    toolCallId = "question",
    title = "Install it",
    kind = "execute",
    rawInput = { command = "make install" },
  },
}

local long = {
  toolCall = {
    toolCallId = "long",
    title = "Install everything",
    kind = "execute",
    rawInput = { command = ("make install-of-a-part && "):rep(150) .. "make TheLast" },
  },
}

-- Six hunks in a file of sixty lines.
---@param changed boolean
---@return string
local function sixty(changed)
  local lines = {}
  for line = 1, 60 do
    lines[line] = (changed and line % 10 == 5 and "other %d" or "same %d"):format(line)
  end
  return table.concat(lines, "\n") .. "\n"
end

local none = "nosuch-" .. ("x"):rep(30)

---@type hermes.test.Step[]
local walk = {
  {
    "the agents that a first chat can be with",
    act = function(walker)
      walker:type(":Hermes chat\r")
    end,
    shows = "which are not installed",
  },
  {
    "the chat",
    act = function(walker)
      walker:type(assert(walker:screen():match("(%d+): scripted")) .. "\r")
    end,
    shows = "scripted · idle",
  },
  {
    "an agent that is not installed",
    act = function(walker)
      walker:press("Escape")
      walker:lua("vim.cmd('Hermes chat missing')")
    end,
    shows = "ended; gR starts the agent again",
    is = function(walker)
      local rows = walker:conversation() or {}
      local said = table.concat(vim.tbl_map(vim.trim, rows), " ")
      return said:find('no-such-agent is not installed (agent "missing")', 1, true)
    end,
  },
  {
    "the first chat again",
    act = function(walker)
      walker:lua("vim.cmd('Hermes chat scripted')")
    end,
    shows = "scripted · idle",
  },
  {
    "a paragraph that is longer than the window, while it streams",
    act = say({ paragraph(1500, "StillGoing"), { hold = true } }),
    shows = "StillGoing",
  },
  {
    "and when it is over",
    act = function(walker)
      walker:press("C-c")
    end,
    shows = "cancelled",
    is = idle,
  },
  {
    "folded output",
    act = say({ first, second, first_over, second_over, { say = "WhatWasFound" } }),
    shows = "WhatWasFound",
    is = idle,
  },
  {
    "folds that the user opens",
    act = function(walker)
      walker:lua("vim.cmd('wincmd k | normal! zR') vim.cmd('wincmd j')")
    end,
    shows = "WhatWasFound",
  },
  {
    "and closes",
    act = function(walker)
      walker:lua("vim.cmd('wincmd k | normal! zM') vim.cmd('wincmd j')")
    end,
    shows = "WhatWasFound",
  },
  {
    "a cursor that is kept in the middle",
    act = function(walker)
      walker:lua("vim.o.scrolloff = 999")
      say({ paragraph(1500, "InBetween"), first, first_over, { say = "\n\nTheMiddle" } })(walker)
    end,
    shows = "TheMiddle",
    is = idle,
  },
  {
    "lines that are not wrapped",
    act = function(walker)
      walker:lua("vim.o.scrolloff = 0 vim.cmd('wincmd k | setlocal nowrap | wincmd j')")
      say({ paragraph(1500, "NotWrapped"), { say = ("\nline"):rep(200) .. "\nUnwrapped" } })(walker)
    end,
    shows = "Unwrapped",
    is = idle,
  },
  {
    "lines that are wrapped again",
    act = function(walker)
      walker:lua("vim.cmd('wincmd k | setlocal wrap | wincmd j')")
      say({ { say = "WhatWasFound" } })(walker)
    end,
    shows = "WhatWasFound",
    is = idle,
  },
  {
    "a diff",
    act = say({ diff, { say = "AfterTheDiff" } }),
    shows = "AfterTheDiff",
    is = idle,
  },
  {
    "an error of the agent",
    act = say({ { fail = "TheAgentFailed" } }),
    shows = "TheAgentFailed",
    is = idle,
  },
  {
    "a question",
    act = function(walker)
      walker:press("Escape") -- nothing opens by itself while the user types
      say({ { ask = question } })(walker)
    end,
    shows = "scripted asks: Install it",
  },
  {
    "and its end",
    act = function(walker)
      walker:press("C-c")
    end,
    is = idle,
  },
  {
    "a question that is longer than the window",
    act = function(walker)
      say({ { ask = long }, { say = "\n\nAllOfItIsAllowed" } })(walker)
      vim.wait(60000, function()
        return walker:screen():find("▸ Yes", 1, true)
      end, 50)
      walker:type(":Hermes respond\r")
    end,
    is = function(walker)
      return walker:lua("return vim.startswith(vim.fn.getline('.'), '▸')")
    end,
  },
  {
    "which leads to its beginning before it can be allowed",
    act = function(walker)
      vim.wait(600) -- a question takes nothing in its first half second
      walker:lua("Choose('Yes')")
      walker:press("Enter")
    end,
    shows = "scripted asks: Install everything",
  },
  {
    "and is allowed once it was read",
    act = function(walker)
      while not walker:lua("return Choose('Yes')") do
        local top = walker:lua("return vim.fn.line('w0')")
        walker:press("C-d")
        vim.wait(60000, function() -- a page that was not drawn was not read
          return walker:lua("return vim.fn.line('w0')") > top
        end, 10)
      end
      vim.wait(600) -- nor in the one after it can be allowed
      walker:press("Enter")
    end,
    shows = "AllOfItIsAllowed",
    is = idle,
  },
  {
    "a question of another session",
    act = function(walker)
      walker:lua("Beside(...)", { { ask = question } })
    end,
    shows = "Install it",
    takes_room = true,
  },
  {
    "which the user goes to",
    act = function(walker)
      walker:type(":Hermes respond\r")
    end,
    shows = "make install",
    is = function(walker)
      return walker:lua("return not Where().alone")
    end,
  },
  {
    "and answers",
    act = function(walker)
      vim.wait(600)
      walker:press("Enter")
    end,
    is = function(walker)
      return walker:lua("return Where().alone and #hermes.pending() == 0")
    end,
  },
  {
    "a prompt that is sent from further up",
    act = function(walker)
      walker:lua("vim.cmd('wincmd k | normal! gg') vim.cmd('wincmd j')")
      walker:press("i")
      walker:type("WhatWasSaid")
      walker:press("C-s")
    end,
    shows = "said: WhatWasSaid",
    is = idle,
  },
  {
    "the files that go along with a prompt",
    act = function(walker)
      local away = server.dir .. "/away.txt"
      if not vim.uv.fs_stat(away) then -- it is one file for all, and some look at it already
        tmuxes.write(away, "away")
      end
      tmuxes.write(("%s/%s/inside.txt"):format(server.dir, walker.name), "inside")
      walker:type(("see @inside.txt and @%s, not @%s.txt"):format(away, none))
    end,
    shows = "sends:",
    is = function(walker)
      local said = table.concat(walker:window("hermes_prompt") or {}):gsub("%s", "")
      return said:find(server.dir .. "/away.txt(outside),4B", 1, true)
        and said:find(("not@%s.txt:thereisnosuchfile"):format(none), 1, true)
        and said:find("inside.txt,6B", 1, true)
    end,
  },
  {
    "the keys of the chat",
    act = function(walker)
      walker:lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, {})")
      walker:press("Escape", "g", "?")
    end,
    shows = "Keys of the chat",
    is = function(walker)
      -- Words are whole, and the window says if it has no room for all keys.
      local rows = vim.tbl_map(vim.trim, walker:window() or {})
      local said, more = table.concat(rows, " "), walker:screen():find("more below", 1, true)
      return said:find("take the last prompt that waits back", 1, true)
        and (said:find("show these keys", 1, true) == nil) == (more ~= nil)
    end,
  },
  {
    "text that comes while the user reads further up",
    act = function(walker)
      walker:press("q") -- its way through the terminal is longer than that of what follows
      vim.wait(60000, function()
        return walker:window("hermes_prompt") ~= nil and walker:lua("return Where().alone")
      end, 50)
      walker:lua("vim.cmd('wincmd k | normal! gg')")
      say({ { say = "line\n", times = 100 }, { say = "\nWhatWasFound" } })(walker)
    end,
    shows = "new lines",
    is = idle,
  },
  {
    "the end again",
    act = function(walker)
      walker:lua("vim.cmd('normal! G') vim.cmd('wincmd j')")
    end,
    shows = "WhatWasFound",
  },
  {
    "another window above the prompt",
    act = function(walker)
      walker:lua("vim.cmd('wincmd k | split | wincmd j')")
    end,
    shows = "WhatWasFound",
  },
  {
    "what the agent has changed, beside what was there",
    act = function(walker)
      local file = ("%s/%s/sixty.txt"):format(server.dir, walker.name)
      tmuxes.write(file, sixty(false))
      walker:lua("vim.cmd.tabnew(...)", file)
      local title = { sessionUpdate = "session_info_update", title = "Sixty lines" }
      say({ { update = title }, { edit = file, content = sixty(true) } })(walker)
      vim.wait(60000, function()
        return idle(walker) and walker:lua("return #hermes.review.hunks(0) == 6")
      end, 50)
      walker:lua("vim.cmd('normal! G') vim.cmd('Hermes review diff')")
    end,
    is = function(walker)
      return walker:lua("return vim.wo.diff")
    end,
  },
  {
    "the chat after that",
    act = function(walker)
      walker:lua("vim.cmd('tabonly') vim.cmd('tabfirst')")
    end,
  },
  {
    "a smaller screen",
    act = function(walker)
      walker:lua("vim.cmd('wincmd k | quit | wincmd j')")
      local size = walker.size
      server:resize(walker.name, { columns = size.columns - 15, lines = size.lines - 4 })
    end,
    is = function(walker)
      return walker:lua("return vim.o.lines") == walker.size.lines - 4
    end,
  },
  {
    "a larger screen",
    act = function(walker)
      server:resize(walker.name, walker.size)
    end,
    is = function(walker)
      return walker:lua("return vim.o.lines") == walker.size.lines
    end,
  },
}

describe("the screens", function()
  local walkers = {} ---@type hermes.test.Walker[]

  setup(function()
    for _, size in ipairs(sizes) do
      local name = ("%dx%d"):format(size.columns, size.lines)
      vim.fn.mkdir(server.dir .. "/" .. name, "p")
      server:neovim(name, ("%s/%s/file"):format(server.dir, name), size)
      local walker = setmetatable({ name = name, size = size, channel = server.channel }, Walker)
      walker:lua(prelude, vim.fs.dirname(here), vim.v.progpath)
      walkers[#walkers + 1] = walker
    end
  end)
  teardown(function()
    for _, walker in ipairs(walkers) do
      pcall(vim.rpcnotify, walker.channel, "nvim_command", "qall!")
    end
    pcall(server.run, server, "kill-server")
  end)

  --- What is wrong on the screen of a walker, once the step can be seen and the screen has settled.
  ---@param walker hermes.test.Walker
  ---@param step hermes.test.Step
  ---@return string?
  local function look(walker, step)
    local problem
    local ok = vim.wait(60000, function()
      local shows = type(step.shows) == "function" and step.shows(walker) or step.shows
      if shows and not walker:screen():find(shows, 1, true) then
        problem = ("%q is not on the screen"):format(shows)
      elseif step.is and not step.is(walker) then
        problem = "it did not come to that"
      else
        problem = nil
        local crowded = step.takes_room and walker.size.columns < 80
        for law, wrong in vim.spairs(laws) do
          local what = not (crowded and law:find("the conversation", 1, true)) and wrong(walker)
          problem = problem or what and ("%s: %s"):format(law, what)
        end
      end
      return not problem
    end, 50)
    return not ok and problem or nil
  end

  it("stay in order on the walk", function()
    for _, step in ipairs(walk) do
      for _, walker in ipairs(walkers) do
        step.act(walker)
      end
      local broken = {}
      for _, walker in ipairs(walkers) do
        local problem = look(walker, step)
        if problem then
          broken[#broken + 1] = ("%s, %s: %s\n%s"):format(
            walker.name,
            step[1],
            problem,
            walker:screen()
          )
        end
      end
      assert(#broken == 0, table.concat(broken, "\n\n"))
    end
  end)
end)
