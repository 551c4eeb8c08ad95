-- Random keys in question windows, pickers and the status, beside questions that come and go, on a
-- real screen: a key does what its line says, for the question or session that its window shows,
-- or nothing. While soaking there are 400 sequences.

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local dice = dofile(vim.fs.dirname(here) .. "/dice.lua")

-- Each question has its name, such as "q7", in its title, and each of its options has it, too.
local inside = [[
local hermes = require("hermes")
local style, digits = ...
_G.sessions = "s1 s2 s3"
_G.clock, _G.saw, _G.since, _G.did, _G.put = 1e13, "", 0, {}, {}
_G.real_hrtime = _G.real_hrtime or vim.uv.hrtime
vim.uv.hrtime = function() return clock end
vim.o.cmdheight = 3 -- room for messages
hermes.setup({ questions = { style = style, open = true, digits = digits } })
require("hermes.ask.reading").too_soon_ms, require("hermes.ask.questions").quiet_ms = 500, 0

-- What a picker of the user's own looks like: a window with the prompt and the labels.
vim.ui.select = style == "select" and function(items, opts, done)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  local lines = { opts.prompt }
  for i, item in ipairs(items) do
    lines[i + 1] = (">%d: %s"):format(i, opts.format_item(item))
  end
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.b[buf].is_picker = true
  local window = vim.api.nvim_open_win(buf, true, { relative = "editor", row = 10, col = 0,
    width = 40, height = #lines, style = "minimal" })
  local function finish(item, index)
    vim.api.nvim_win_close(window, true)
    done(item, index)
  end
  vim.keymap.set("n", "<CR>", function()
    local index = vim.fn.line(".") - 1
    if items[index] then finish(items[index], index) end
  end, { buffer = buf, nowait = true })
  vim.keymap.set("n", "q", function() finish(nil) end, { buffer = buf, nowait = true })
end or function() did[#did + 1] = "menu" end

-- The status shows these instead of what a host knows.
hermes.connections = function() return { { name = "demo", state = "ready" } } end
hermes.sessions = function()
  local list = {}
  for id in vim.gsplit(sessions, " ") do
    local session = { agent = "demo", sessionId = id, name = id, state = "running", queued = 0 }
    list[#list + 1] = session
  end
  return list
end
hermes.pending = function() -- the first one is being answered and needs nothing of the user
  local list = { { requestId = "q0", agent = "demo", sessionId = "s1", name = "PermissionRequest",
    title = "of q0", by_default = true } }
  for name, one in vim.spairs(put) do
    list[#list + 1] = { requestId = name, agent = "demo", sessionId = "s1", name = one.event,
      title = "of " .. name, by_default = true }
  end
  return list
end
hermes.cancel = function(id) did[#did + 1] = "cancel " .. id end
hermes.close_session = function(id) did[#did + 1] = "close " .. id end

-- Where the answer of a question is, and what the window offers. A resize changes neither.
local function offer()
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local names = {}
  for _, line in ipairs(lines) do
    names[#names + 1] = line:match("^>?(%d+: %S*)")
  end
  return vim.api.nvim_get_current_win() .. table.concat(names, "\n"), table.concat(lines, "\n")
end
function _G.Look()
  local seen, text = offer()
  if seen ~= saw then
    _G.saw, _G.since = seen, clock
  end
  return text
end
-- What stands beside pickers, and how many windows ask.
local function others()
  local lines, count = {}, 0
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buf = vim.api.nvim_win_get_buf(window)
    if vim.api.nvim_win_get_config(window).relative ~= "" and not vim.b[buf].is_picker then
      vim.list_extend(lines, vim.api.nvim_buf_get_lines(buf, 0, -1, false))
      count = count + 1
    end
  end
  return table.concat(lines, "\n"), count
end
_G.Others = others
-- Runs right before the keys that are tried.
function _G.Before()
  local text, shown = Look(), {}
  for i = 1, vim.fn.line("$") do
    shown[#shown + 1] = vim.fn.foldclosed(i) < 0 and vim.fn.getline(i) or nil
  end
  _G.before = {
    line = vim.fn.foldclosed(".") < 0 and vim.api.nvim_get_current_line() or "",
    text = text,
    shown = table.concat(shown, "\n"),
    facts = others(),
    ms = (clock - since) / 1e6,
  }
  _G.did = {}
end
function _G.Put(name, kind, options)
  local data
  if kind == "permission" then
    data = { toolCall = { toolCallId = name, title = "of " .. name, kind = "execute",
      rawInput = { command = "make of " .. name } }, options = options }
  elseif kind == "url" then
    data = { mode = "url", message = "of " .. name, url = "https://example.com/" .. name,
      host = "example.com" }
  else
    data = { mode = "form", message = "of " .. name,
      requestedSchema = { properties = vim.empty_dict() } }
  end
  data = vim.tbl_extend("force", data, { requestId = name, agent = "demo", sessionId = "s1" })
  kind = kind == "permission" and kind or "elicitation"
  local module = require("hermes.ask." .. kind)
  put[name] = { event = "PermissionRequest", module = module }
  module.ask(data, function(value)
    did[#did + 1] = ("answer %s %s"):format(name, type(value) == "table" and value.action or value)
    put[name] = nil
  end)
end
function _G.Withdraw(name)
  put[name].module.withdraw(name)
  put[name] = nil
end
]]

local kinds = { "reject_once", "reject_always", "allow_once", "allow_always" }

for _, style in ipairs({ "window", "select" }) do
  describe("what a key does to a question in a " .. style, function()
    local screen ---@type hermes.test.Screen
    local random ---@type fun(n: integer): integer
    local asked, marks = 0, 0
    local done ---@type string[]

    --- Presses keys, and waits until they were.
    ---@param keys string
    local function press(keys)
      marks = marks + 1
      local input = "<Cmd>lua Before()<CR>%s<Cmd>lua vim.g.mark = %d<CR>"
      vim.rpcrequest(screen.channel, "nvim_input", input:format(keys, marks))
      screen:wait_for("end of the keys", function()
        return not screen:mode():find("!") and screen:lua("return vim.g.mark") == marks
      end)
    end

    --- What is wrong with what the last keys did.
    ---@param allowed fun(before: table, what: string): boolean
    ---@return string?
    local function fault(allowed)
      local before, did, asking =
        unpack(screen:lua("Look() return { before, did, select(2, Others()) }"))
      if asking > 1 then
        return asking .. " windows ask"
      end
      for _, what in ipairs(did) do
        done[#done + 1] = ("    %s, on %q after %d ms"):format(what, before.line, before.ms)
        if not allowed(before, what) then
          return ("%s, on %q of\n%s"):format(what, before.line, before.text)
        end
      end
      return #did > 1 and "two things were done: " .. table.concat(did, ", ") or nil
    end

    --- Whether a line says an answer.
    ---@param before table
    ---@param what string
    ---@param line string
    ---@return boolean
    local function says(before, what, line)
      local name, value = what:match("^answer (q%d+) (.*)$")
      local label = line:match("^>?%d+: (.*)$")
      local this = name and name .. "%f[%W]"
      if not name or not label or not before.text:find(this) or not before.facts:find(this) then
        return false
      end
      local refuses = value == ""
        or value == "cancel"
        or value == "decline"
        or label:find("[reject", 1, true)
      local soon = style == "window" and before.ms < 500 and not refuses
      local words = { Cancel = { "", "cancel" }, Decline = { "decline" }, Accept = { "accept" } }
      words["Open it"] = { "accept" }
      local means = words[label] or { label:match("^q%d+o%d+") }
      return not soon and vim.tbl_contains(means, value)
    end

    --- Whether a question has the keys: in its window, or in a picker.
    ---@return boolean
    local function has_keys()
      return screen:lua(
        style == "select" and "return vim.b.is_picker == true"
          or "return vim.api.nvim_win_get_config(0).relative ~= ''"
      )
    end

    --- Goes to a line by no key that a question takes.
    ---@param most integer
    local function go_to_line(most)
      press(("<Cmd>normal! %dG<CR>"):format(random(most)))
    end

    local acts = {}

    function acts.ask()
      if screen:lua("return vim.tbl_count(put)") > 3 then
        return "no question more"
      end
      asked = asked + 1
      local name, options = "q" .. asked, {}
      for i = 1, random(4) do
        local id = ("%so%d"):format(name, i)
        options[i] = { optionId = id, name = id, kind = kinds[random(4)] }
      end
      local kind = ({ "permission", "permission", "form", "url" })[random(4)]
      screen:lua("Put(...)", name, kind, options)
      return ("%s is a %s with %d options"):format(name, kind, #options)
    end

    function acts.withdraw()
      local names = screen:lua("return vim.tbl_keys(put)")
      table.sort(names)
      if #names > 0 then
        local name = names[random(#names)]
        screen:lua("Withdraw(...)", name)
        return name .. " is withdrawn"
      end
    end

    function acts.later()
      local ms = ({ 50, 300, 600 })[random(3)]
      screen:lua("Look() clock = clock + ... * 1e6", ms)
      return ms .. " ms go by"
    end

    function acts.resize()
      local columns = ({ 72, 76, 80 })[random(3)] -- on a smaller one messages ask for <Enter>
      screen:lua("vim.o.columns = ...", columns)
      return ("the screen has %d columns"):format(columns)
    end

    function acts.elsewhere()
      local key = ({ "<C-w>w", "<C-w>W" })[random(2)]
      press(key)
      return key, fault(function()
        return false
      end)
    end

    --- The buffer of the question in one more window.
    function acts.split()
      if style == "window" and has_keys() then
        press("<C-w>s")
        local wrong = fault(function()
          return false
        end)
        press(("<Cmd>silent! normal! %dG<CR>%s"):format(random(12), ({ "<CR>", "2" })[random(2)]))
        wrong = wrong or fault(function()
          return false
        end)
        screen:lua("vim.cmd('silent! wincmd t | silent! only')") -- there is not room for many
        return "<C-w>s", wrong
      end
    end

    function acts.hide()
      if not has_keys() then
        return acts.respond()
      end
      press("q")
      return "q",
        fault(function(before, what)
          return style == "select"
            and what:find("^answer") ~= nil
            and before.text:find(what:match("q%d+")) ~= nil
        end)
    end

    function acts.respond()
      press(":Hermes respond<CR>")
      return ":Hermes respond", fault(function()
        return false
      end)
    end

    function acts.enter()
      if not has_keys() then
        return acts.respond()
      end
      go_to_line(30)
      local twice, wrong = random(3) == 1 ---@type boolean, string?
      repeat
        press("<CR>")
        wrong = fault(function(before, what)
          return says(before, what, before.line)
        end)
        twice = not twice
      until wrong or twice or not has_keys()
      return "<CR>", wrong
    end

    --- Folds that the user makes may hide what a line says.
    function acts.fold()
      go_to_line(12)
      local keys = ({ "zf3j", "zfk", "zfG", "zo", "zR", "zM", "zE" })[random(7)]
      press(keys)
      local wrong = fault(function()
        return false
      end)
      if not wrong and has_keys() then
        press("<CR>")
        wrong = fault(function(before, what)
          return says(before, what, before.line)
        end)
      end
      return keys, wrong
    end

    function acts.digit()
      if not has_keys() then
        return acts.respond()
      end
      local digit = random(5)
      press(tostring(digit))
      local wrong = fault(function(before, what)
        local line = ("\n" .. before.shown):match("\n(" .. digit .. ": [^\n]*)")
        return says(before, what, line or "")
      end)
      if not wrong and random(2) == 1 and has_keys() then
        press("<CR>")
        wrong = fault(function(before, what)
          return says(before, what, before.line)
        end)
      end
      return tostring(digit), wrong
    end

    function acts.status()
      screen:lua("vim.cmd('Hermes status')")
      return "the status"
    end

    --- Goes to a line of the status, and brings up the question that it names.
    function acts.row()
      acts.status()
      go_to_line(12)
      local line = screen:lua("return vim.api.nvim_get_current_line()")
      local name = line:match(" of (q%d+)$")
      if not name then
        return ("%q is no question"):format(line)
      end
      press(({ "a", "<CR>" })[random(2)])
      local wrong = fault(function()
        return false
      end)
      if name == "q0" then
        vim.wait(20)
        local now = screen:lua("return vim.api.nvim_get_current_line()")
        return "to what needs nothing",
          wrong or now ~= line and ("the keys went to %q"):format(now) or nil
      end
      screen:wait_for("way to the question", function()
        return screen:lua("return Look()"):find(name .. "%f[%W]")
      end)
      return "to " .. name, wrong
    end

    function acts.cancel()
      acts.status()
      go_to_line(12)
      local at = random(screen:lua("return vim.api.nvim_buf_line_count(0)"))
      local other = (":%dnormal x<CR>"):format(at)
      local keys = ({ "x", ":Hermes cancel<CR>", ":normal x<CR>", other })[random(4)]
      local there = keys == other and screen:lua("return vim.fn.getline(...)", at)
      press(keys)
      return keys,
        fault(function(before, what)
          local line = there or before.line
          local session = line:match("session (s%d)") or line:find(" of q%d") and "s1"
          return what == "cancel " .. (session or "")
            or keys:find("Hermes") ~= nil and not session and what:find("^cancel") ~= nil
        end)
    end

    --- A picker stays when its question makes room for another one.
    function acts.old_picker()
      local names = screen:lua("return vim.tbl_keys(put)")
      table.sort(names)
      for _, name in ipairs(style == "select" and names or {}) do
        screen:lua("require('hermes.ask.questions').open(...)", name)
        screen:wait_for("the picker", function()
          return has_keys() and screen:lua("return Look()"):find(name .. "%f[%W]")
        end)
      end
      local old = screen:lua([[return vim.iter(vim.api.nvim_list_wins()):rev():find(function(window)
          return vim.b[vim.api.nvim_win_get_buf(window)].is_picker
        end) or 0]])
      if old > 0 then
        screen:lua("vim.api.nvim_set_current_win(...)", old)
        return acts.enter()
      end
    end

    --- A question is withdrawn when the user is on the way to it.
    function acts.too_late()
      local went = screen:lua([[local name = next(put)
        local window, text = vim.api.nvim_get_current_win(), Look()
        if name and not text:find(name .. "%f[%W]") then
          require("hermes.ask.questions").open(name)
          Withdraw(name)
          return { name, window }
        end]])
      if went ~= vim.NIL then
        vim.wait(20)
        local window = screen:lua("return vim.api.nvim_get_current_win()")
        return "too late to " .. went[1],
          window ~= went[2] and "another question has the keys" or nil
      end
    end

    --- A session ends while the cursor is on its line, and no other one gets there.
    function acts.session_ends()
      acts.status()
      go_to_line(12)
      local ended = screen:lua("return vim.api.nvim_get_current_line()"):match("session (s%d):")
      if ended then
        screen:lua("sessions = vim.trim(('s1 s2 s3'):gsub(... .. ' ?', ''))", ended)
        acts.status()
        local line = screen:lua("return vim.api.nvim_get_current_line()")
        screen:lua("sessions = 's1 s2 s3'")
        acts.status()
        return ended .. " ends",
          line:find("session") and ("the cursor got to %q"):format(line) or nil
      end
    end

    function acts.another_file()
      screen:lua([[vim.cmd("Hermes status")
        vim.cmd("5 | silent edit x.txt")
        _G.window = vim.api.nvim_get_current_win()]])
      press(":Hermes close<CR>") -- of none that is in sight, so a menu comes
      local wrong = fault(function(_, what)
        return what == "menu"
      end)
      if style == "select" and has_keys() then
        press("q")
      end
      screen:lua("pcall(vim.api.nvim_win_close, window, true)") -- there is not room for many
      return "another file in the window", wrong
    end

    ---@param seed integer
    local function play(seed)
      screen = screens.fresh()
      random, done = dice.new(seed), {}
      screen:lua(inside, style, random(2) == 1 and "go" or "answer")
      local names = vim.tbl_keys(acts)
      table.sort(names)
      for _ = 1, 50 do
        local name = names[random(#names)]
        local ok, did, wrong = xpcall(acts[name], debug.traceback)
        done[#done + 1] = did
        if not ok or wrong then
          error(("seed %d: %s\n%s"):format(seed, wrong or "", table.concat(done, "\n")))
        end
      end
      screen:lua([[for name in pairs(put) do Withdraw(name) end
        for _, window in ipairs(vim.api.nvim_list_wins()) do
          if vim.api.nvim_win_get_config(window).relative ~= "" then
            vim.api.nvim_win_close(window, true)
          end
        end
        vim.uv.hrtime = real_hrtime]])
    end

    it("is what its line says", function()
      for seed = 1, vim.env.HERMES_SOAK and 400 or 20 do
        play(seed)
      end
    end)
  end)
end
