--- Plays random keys in lists of the review, in terminals and in a chat whose prompts wait, while
--- what they show changes. It runs in the Neovim that is tried.

local M = {}

local api = vim.api
local hermes = require("hermes")
local dice = dofile(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)) .. "/dice.lua")

---@class hermes.test.Game
---@field acts table<string, fun(): string?> what may happen, by name; returns what is wrong
---@field finish fun()

local roll ---@type fun(n: integer): integer
local did = {} ---@type string[] what the last key has done
local clock = 1e13 -- ns

---@param keys string
local function press(keys)
  did = {}
  api.nvim_feedkeys(vim.keycode(keys), "xt", false)
end

---@param list any[]
---@return any
local function any(list)
  return list[roll(#list)]
end

--- Moves among windows and lines, by whatever moves there.
local moves = {
  line = function()
    api.nvim_win_set_cursor(0, { roll(api.nvim_buf_line_count(0)), 0 })
  end,
  line_of_another_window = function()
    local window = any(api.nvim_tabpage_list_wins(0))
    local count = api.nvim_buf_line_count(api.nvim_win_get_buf(window))
    api.nvim_win_set_cursor(window, { roll(count), 0 })
  end,
  down = function()
    press("j")
  end,
  up = function()
    press("k")
  end,
  window = function()
    press("<C-w>w")
  end,
  split = function()
    if #api.nvim_tabpage_list_wins(0) < 5 then
      press("<C-w>s")
    end
  end,
  file = function()
    press("<Cmd>enew!<CR>")
  end,
}

---------------------------------------------------------------------------
-- Lists of the review.

---@return hermes.test.Game
local function review()
  local lists = require("hermes.view.review.lists")
  local made, late = 0, {} -- made: names; late: answers of the host that are on their way
  local function name(kind)
    made = made + 1
    return kind .. made
  end
  ---@param opts table
  ---@param result table
  local function answer(opts, result)
    late[#late + 1] = function()
      opts.on_done(nil, result)
    end
  end
  local function several(make)
    local list = {}
    for _ = 1, roll(4) do
      list[#list + 1] = make()
    end
    return list
  end
  local function more()
    return roll(3) == 1 and 2 or 0
  end
  local the = hermes.review
  the.files = function(opts)
    local files = several(function()
      return { path = vim.fn.getcwd() .. "/" .. name("f"), hunks = 1, added = 1, removed = 0 }
    end)
    local counts = { total = 9, added = 1, removed = 1, more = more(), unseen = 0 }
    answer(opts, vim.tbl_extend("error", counts, { files = files, elsewhere = {} }))
  end
  the.pending = function(opts)
    local hunks = several(function()
      local path = vim.fn.getcwd() .. "/" .. name("f")
      return {
        path = path,
        first = roll(9),
        count = 1,
        old_count = 0,
        new = { "x" },
        old = {},
        others = {},
      }
    end)
    answer(opts, { hunks = hunks, total = 9, more = more() })
  end
  the.checkpoints = function(opts)
    answer(opts, {
      checkpoints = several(function()
        return { id = name("id"), name = name("c"), at = "2026-01-01T00:00:00Z" }
      end),
    })
  end
  the.restore = function(checkpoint, opts)
    if not opts.preview then
      did[#did + 1] = ("restore %s %s"):format(checkpoint.name, opts.shown)
      return answer(opts, { files = {}, total = 0 })
    end
    did[#did + 1] = "preview " .. checkpoint.name
    local version = name("v")
    answer(opts, {
      files = {
        {
          path = vim.fn.getcwd() .. "/" .. version,
          added = 1,
          removed = 1,
          diff = roll(2) == 1 and "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n" or nil, -- nil: binary
        },
      },
      shown = version,
    })
  end
  the.open = function(path, line)
    did[#did + 1] = ("open %s%s"):format(vim.fs.basename(path), line and ":" .. line or "")
  end

  local acts = {
    open_files = function()
      lists.files()
    end,
    open_hunks = function()
      lists.hunks()
    end,
    open_checkpoints = function()
      lists.checkpoints({})
    end,
    arrive = function()
      if late[1] then
        table.remove(late, roll(#late))()
      end
    end,
    quit = function()
      press("q")
      return did[1] and "q did something: " .. did[1]
    end,
    choose = function()
      local title, line = vim.b.hermes_title or "", api.nvim_get_current_line()
      local version = vim.fn.getline(1):match("^%w+") -- that a preview shows
      if roll(2) == 1 then
        press("<CR>")
      else
        local at = roll(api.nvim_buf_line_count(0))
        line = api.nvim_buf_get_lines(0, at - 1, at, true)[1]
        vim.cmd(("%dnormal \r"):format(at))
      end
      local want ---@type string?
      if title == "" or line:find("^… ") then
        want = nil
      elseif title:find("^Checkpoints") then
        want = "preview " .. line:match("%S+$")
      elseif title:find("^Restore") then
        want = ("restore %s %s"):format(title:match("Restore (%w+)"), version)
      else
        want = "open " .. line:match("^[%w:]+")
      end
      if #did > 1 or did[1] ~= want then
        return ("%q in %q did %s"):format(line, title, vim.inspect(did))
      end
    end,
  }
  return { acts = acts, finish = function() end }
end

---------------------------------------------------------------------------
-- Terminals.

---@return hermes.test.Game
local function terminals()
  hermes.setup({ terminals = { count = 4 } })
  local view, made = require("hermes.terminals"), 0
  hermes.kill_terminal = function(_, id)
    did[#did + 1] = "kill " .. id
  end
  local function emit(event, id, data)
    data = vim.tbl_extend("force", { agent = "demo", sessionId = "s", terminalId = id }, data)
    require("hermes.core.rpc").deliver(vim.json.encode({ event, data }))
  end
  ---@return hermes.Terminal?
  local function one()
    local all = hermes.terminals()
    return all[1] and any(all)
  end
  ---@return string? id, string? state
  local function shown()
    return (vim.b.hermes_terminal or ""):match("· make (T%d+)"), vim.b.hermes_terminal
  end
  local function step(keys, by)
    local all = hermes.terminals()
    local before, want = shown(), nil
    for i, terminal in ipairs(all) do
      if terminal.terminalId == before then
        want = all[(i - 1 + by) % #all + 1].terminalId
      end
    end
    press(keys)
    if before and shown() ~= (want or before) then
      return ("%s went from %s to %s, not %s"):format(keys, before, shown(), want)
    end
  end
  return {
    acts = {
      start = function()
        made = made + 1
        emit("TerminalStarted", "T" .. made, { command = "make T" .. made })
      end,
      print = function()
        local terminal = one()
        if terminal then
          emit("TerminalData", terminal.terminalId, { chunk = "some text\r\n" })
        end
      end,
      exit = function()
        local terminal = one()
        if terminal and terminal.state == "running" then
          emit("TerminalExited", terminal.terminalId, { exitCode = 0 })
        end
      end,
      show = function()
        local terminal, window = one(), roll(2) == 1 and api.nvim_get_current_win() or nil
        if terminal and (window or #api.nvim_tabpage_list_wins(0) < 5) then
          view.show("s", terminal.terminalId, { window = window })
          if shown() ~= terminal.terminalId then
            return ("%s was shown, not %s"):format(shown(), terminal.terminalId)
          end
        end
      end,
      next = function()
        return step("]]", 1)
      end,
      previous = function()
        return step("[[", -1)
      end,
      quit = function()
        press("q")
        return did[1] and "q did something: " .. did[1]
      end,
      kill = function()
        local id, said = shown()
        local state = id
          and vim.iter(hermes.terminals()):find(function(terminal)
            return terminal.terminalId == id
          end)
        local want = state and state.state == "running" and "kill " .. id or nil
        press("<C-c>")
        if id and (#did > 1 or did[1] ~= want) then
          return ("<C-c> on %q did %s, not %s"):format(said, vim.inspect(did), want)
        end
      end,
      draw = function()
        vim.wait(1)
      end,
    },
    finish = function()
      for _, terminal in ipairs(hermes.terminals()) do
        if terminal.state == "running" then
          emit("TerminalExited", terminal.terminalId, { exitCode = 0 })
        end
      end
      for _, buf in ipairs(api.nvim_list_bufs()) do
        if vim.bo[buf].filetype == "hermes-terminal" then
          api.nvim_buf_delete(buf, { force = true })
        end
      end
    end,
  }
end

---------------------------------------------------------------------------
-- The prompts of a chat that wait.

---@return hermes.test.Game
local function queue()
  local options = vim.deepcopy(require("hermes.view.chat.options").get())
  options.keys = require("hermes.view.chat.actions").resolve(options.keys)
  local view = require("hermes.view.chat.view").new(options)
  local chat, seen, made = nil, {}, 0 -- seen: hints with the times when they came up
  local function look()
    local hint = chat and chat:hint(options.keys) or ""
    if not seen[1] or seen[#seen].hint ~= hint then
      seen[#seen + 1] = { hint = hint, at = clock }
    end
  end
  chat = require("hermes.view.chat.session").new({
    agent = "demo",
    transcript = require("hermes.view.chat.transcript").new(view.transcript_buf, 1000),
    prompt = require("hermes.view.chat.prompt").new(view.prompt_buf),
    changed = look,
  })
  view:begin(chat)
  chat.id, chat.state = "s", "running"
  view:show()
  for _, how in ipairs({ "send_now", "remove" }) do
    hermes.queue[how] = function(id)
      did[#did + 1] = how .. " " .. id
    end
  end
  local waiting = {} ---@type string[]
  local function changed()
    chat.on.QueueChanged(chat, { sessionId = "s", items = vim.deepcopy(waiting) })
  end
  local function keys(which)
    api.nvim_set_current_win(view.windows.prompt)
    press(which)
  end
  return {
    acts = {
      add = function()
        made = made + 1
        chat.waits["p" .. made] = "text of p" .. made
        waiting[#waiting + 1] = "p" .. made
        changed()
      end,
      begin = function()
        local id = table.remove(waiting, 1)
        if id then
          changed()
          chat.on.TurnStarted(chat, { sessionId = "s", promptId = id })
        end
      end,
      move = function()
        if waiting[2] then
          table.insert(waiting, roll(#waiting), table.remove(waiting, roll(#waiting)))
          changed()
        end
      end,
      wait = function()
        clock = clock + roll(900) * 1e6
      end,
      take_back = function()
        local last = waiting[#waiting]
        keys("gb")
        local want = last and "remove " .. last
        return (#did > 1 or did[1] ~= want) and ("gb did %s, not %s"):format(vim.inspect(did), want)
          or nil
      end,
      send_now = function()
        -- Whatever was first within the last half second may be what is meant.
        local meant, count = {}, 0
        for i, one in ipairs(seen) do
          local ended = seen[i + 1] and seen[i + 1].at or clock
          local id = one.hint:match("^waits: text of (p%d+)")
          if id and not meant[id] and (i == #seen or clock - ended < 500 * 1e6) then
            meant[id], count = true, count + 1
          end
        end
        local want = count == 1 and waiting[1] and meant[waiting[1]] and "send_now " .. waiting[1]
          or nil
        keys("gs")
        if #did > 1 or did[1] ~= want then
          return ("gs did %s, not %s"):format(vim.inspect(did), want)
        end
      end,
    },
    finish = function()
      view:close()
    end,
  }
end

local games = { review = review, terminals = terminals, queue = queue }

--- Plays sequences of one game, each in a Neovim without windows.
---@param game string
---@param first integer seed of the first one
---@param count integer
---@param steps integer of each
---@return { fault?: string, done: integer } what is wrong, and how much keys have done
function M.run(game, first, count, steps)
  vim.uv.hrtime = function()
    return clock
  end
  local total = 0
  for seed = first, first + count - 1 do
    roll = dice.new(seed)
    local log = {}
    vim.cmd("silent! tabonly! | silent! only!")
    vim.cmd.enew({ bang = true })
    local this = games[game]()
    local acts = vim.tbl_extend("error", this.acts, game == "queue" and {} or moves)
    local names = vim.tbl_keys(acts)
    table.sort(names)
    for _ = 1, steps do
      local act = any(names)
      did = {}
      log[#log + 1] = act
      local _, fault = pcall(acts[act])
      total = total + #did
      if fault then
        local last = table.concat(vim.list_slice(log, math.max(1, #log - 20)), ", ")
        return { fault = ("seed %d: %s\nafter %s"):format(seed, fault, last), done = total }
      end
    end
    this.finish()
  end
  return { done = total }
end

return M
