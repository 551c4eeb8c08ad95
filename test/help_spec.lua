-- doc/hermes.txt: it is complete, and what it shows works. Needs bin/hermes
-- (make build).

local this = assert(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local root = vim.fs.dirname(vim.fs.dirname(this))
local eq = MiniTest.expect.equality

local help = vim.fn.readfile(root .. "/doc/hermes.txt")
local text = table.concat(help, "\n")

---@class Example
---@field line integer
---@field section string
---@field code string

--- The Lua examples of the help.
---@return Example[]
local function examples()
  local list, section = {}, ""
  local lines ---@type string[]?
  for i, line in ipairs(help) do
    section = line:match("^%d+%. .*%*(hermes%-[%w-]+)%*$")
      or line:match("%*(hermes%-recipe%-[%w-]+)%*$")
      or line:match("%*(hermes%-config%-[%w_.-]+)%*$")
      or section
    if lines and line:find("^%S") then
      local code = table.concat(lines, "\n")
      list[#list + 1] = { line = i - #lines, section = section, code = code }
      lines = nil
    end
    if lines then
      lines[#lines + 1] = line:gsub("^    ", "")
    elseif line:find("%f[>]>lua$") then
      lines = {}
    end
  end
  return list
end

---@param section string
---@return string code of the first example there
local function example_of(section)
  for _, example in ipairs(examples()) do
    if example.section == section then
      return example.code
    end
  end
  error("there is no example in " .. section)
end

describe("the help", function()
  it("links to what Neovim has", function()
    local tags, missing = {}, {}
    for _, line in ipairs(vim.fn.readfile(vim.env.VIMRUNTIME .. "/doc/tags")) do
      tags[line:match("^[^\t]+")] = true
    end
    for i, line in ipairs(help) do
      for link in line:gmatch("|([^%s|]+)|") do
        -- Those of Hermes are tested in test/help; vim.pack came with 0.12.
        local own = link:find("^:?[Hh]ermes") or link == "vim.pack"
        if not own and not tags[link] then
          missing[#missing + 1] = ("%d: |%s|"):format(i, link)
        end
      end
    end
    eq(missing, {})
  end)

  it("has every highlight group", function()
    local before = vim.fn.getcompletion("Hermes", "highlight")
    require("hermes.view.chat.transcript")
    require("hermes.view.review.signs").start()
    local missing = vim.tbl_filter(function(name)
      return name ~= "HermesChat" and not text:find(("*hl-%s*"):format(name), 1, true)
    end, vim.fn.getcompletion("Hermes", "highlight"))
    eq({ missing, #before < #vim.fn.getcompletion("Hermes", "highlight") }, { {}, true })
  end)

  it("has every function, every setting and every subcommand", function()
    local missing = {}
    for name, value in pairs(require("hermes")) do
      if type(value) == "function" and not text:find(("*hermes.%s()*"):format(name), 1, true) then
        missing[#missing + 1] = name
      end
    end
    for _, part in ipairs({ "permissions", "queue", "claude", "context", "review", "shim" }) do
      for name in pairs(require("hermes")[part]) do
        if not text:find(("*hermes.%s.%s()*"):format(part, name), 1, true) then
          missing[#missing + 1] = part .. "." .. name
        end
      end
    end
    local from = text:find("*hermes-configuration*\n", 1, true)
    local settings = text:sub(from, (text:find("*hermes-functions*\n", 1, true)))
    for key, value in pairs(require("hermes.core.config").defaults) do
      local members = type(value) == "table" and not vim.islist(value) and value or {}
      if key == "host" then
        members = vim.tbl_extend("keep", { cmd = true }, members) -- its default is nil
      end
      local documented = settings:find("\n" .. key .. "[. ]")
      for member in pairs(members) do
        local own = settings:find("\n" .. key .. "." .. member .. " ", 1, true)
        if not own and not settings:find("    {" .. member .. "} ", 1, true) then
          missing[#missing + 1] = key .. "." .. member
        end
      end
      if not documented then
        missing[#missing + 1] = key
      end
    end
    for _, name in ipairs(require("hermes.command").complete("", "Hermes ")) do
      if not text:find("\n:Hermes " .. name) then
        missing[#missing + 1] = ":Hermes " .. name
      end
    end
    eq(missing, {})
  end)

  it("shows the defaults as they are", function()
    local code = example_of("hermes-configuration")
    local shown ---@type table
    local env = {
      vim = vim,
      require = function()
        return {
          setup = function(opts)
            shown = opts
          end,
        }
      end,
    }
    assert(load(code, "help", "t", env))()
    eq(shown, require("hermes.core.config").defaults)
  end)
end)

describe("the examples of the help", function()
  local child = MiniTest.new_child_neovim()
  local dir

  before_each(function()
    dir = dofile(root .. "/test/place.lua").new() -- questions show all of the path
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua(
      [[vim.cmd.cd(...)
      vim.cmd.runtime("plugin/hermes.lua")
      _G.hermes, _G.said, _G.turns, _G.asked = require("hermes"), "", {}, 0
      vim.ui.select = function(items, opts, on_choice) -- a user who agrees once
        asked = asked + 1
        for i, item in ipairs(items) do
          if item.kind == "allow_once" then
            return on_choice(item, i)
          end
        end
      end
      function _G.say(text, opts)
        hermes.prompt(session, text, vim.tbl_extend("keep", opts or {}, {
          on_done = function(err, turn)
            table.insert(turns, err and err.message or turn.stopReason)
          end,
        }))
      end]],
      { dir }
    )
  end)
  after_each(function()
    child.lua("hermes.disconnect()")
    child.stop()
  end)

  ---@param is string Lua expression
  local function wait_for(is)
    local ok = vim.wait(60000, function()
      return child.lua_get(is) == true
    end, 20)
    eq(ok or ("%s: %s"):format(is, child.cmd_capture("messages")), true)
  end

  local function open()
    child.lua(
      [[hermes.on("AgentTextMessage", function(data) said = said .. data.text end)
    hermes.connect("demo")
    hermes.create_session({ on_done = function(err, result) _G.session = result.sessionId end })]]
    )
    wait_for("session ~= nil")
  end

  --- Opens more sessions; a global table has all ids.
  ---@param count integer
  local function open_more(count)
    child.lua("_G.sessions = { session }")
    for i = 2, count + 1 do
      child.lua([[hermes.create_session({ on_done = function(err, result)
        table.insert(sessions, result.sessionId)
      end })]])
      wait_for(("#sessions == %d"):format(i))
    end
  end

  it("compile, and run when an agent is connected", function()
    open()
    child.lua([[hermes.connect = function() end -- no agent that may be installed here
    if vim.pack then vim.pack.add = function() end end -- and nothing from the network
    package.preload.cmp = function() -- which is not installed here
      return { register_source = function() end, setup = function() end }
    end
    package.preload["mini.diff"] = function()
      local function git() end
      return { setup = function() end, gen_source = { git = git } }
    end]])
    local has_pack = child.lua_get("vim.pack ~= nil")
    child.lua("_G.id, _G.f = session, function() end")
    local run, refused = 0, false
    for _, example in ipairs(examples()) do
      local where = ("doc/hermes.txt:%d"):format(example.line)
      -- An example that is not a statement is an entry for a plugin manager.
      local code = example.code:find("^{") and "return " .. example.code or example.code
      if example.section == "hermes-compat" and not refused then
        refused = true -- the first one there shows what cannot work
        code = "assert(not pcall(function()\n" .. code .. "\nend))"
      end
      local problem = (has_pack or not code:find("[pP]ack"))
          and child.lua(
            [[local code, where = ...
        local chunk, problem = loadstring(code, where)
        if not chunk then return problem end
        local ok, err = pcall(chunk)
        return not ok and err or vim.NIL]],
            { code, where }
          )
        or vim.NIL
      eq({ where, problem }, { where, vim.NIL })
      run = run + 1
    end
    eq(run >= 15, true)
  end)

  it("start quickly", function()
    child.lua(example_of("hermes-quickstart"))
    local shown = [[table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")]]
    wait_for(shown .. [[:find("\n-- end_turn\n", 1, true) ~= nil]])
    local lines = child.lua_get(shown)
    eq({ lines:find("Hello!", 1, true), lines:find("\n* Edit", 1, true) ~= nil }, { 1, true })
    eq(#vim.fn.readfile(dir .. "/hermes-demo.md"), 3)
  end)

  it("open a chat from any folder", function()
    local from = text:match("\n    :(runtime [^\n]+)\n    :HermesChat demo\n")
    child.cmd(from)
    eq(child.fn.exists(":HermesChat"), 2)
    local readme = table.concat(vim.fn.readfile(root .. "/README.md"), "\n")
    eq({ from, readme:find("`:" .. from .. "`", 1, true) ~= nil }, { from, true })
  end)

  it("also work in the README", function()
    local readme = table.concat(vim.fn.readfile(root .. "/README.md"), "\n")
    local use = readme:match("\n## Use\n\n```lua\n(.-)```")
    child.lua([[hermes.on("TurnEnded", function(data) table.insert(turns, data.stopReason) end)]])
    child.lua((use:gsub('connect%("claude"%)', 'connect("demo")')))
    wait_for([[#turns == 1]])
    eq(child.lua_get("turns"), { "end_turn" })
    eq(child.api.nvim_buf_get_lines(0, 0, -1, false)[1]:find("Hello!", 1, true), 1)
    eq(child.lua_get("asked"), 2) -- the demo agent edits and runs
  end)

  it("allow what they say and ask about the rest", function()
    open()
    child.lua(example_of("hermes-recipe-allow-reads"))
    child.lua([[say("/run echo one")]])
    wait_for("#turns == 1")
    eq(child.lua_get("asked"), 1)
    child.lua("_G.recipe = ...", { example_of("hermes-recipe-allow-reads") })
    local function decide(kind)
      return child.lua(
        [[local decide, decided
        hermes.on_request = function(_, fn) decide = fn end
        loadstring(recipe)()
        local options = { { optionId = "yes", kind = "allow_once" } }
        local call = { toolCallId = "new", kind = ... }
        return decide({ sessionId = session, toolCall = call, options = options }, {
          default = function() decided = "default" end,
        }) or decided]],
        { kind }
      )
    end
    eq({ decide("read"), decide("edit"), decide("execute") }, { "yes", "default", "default" })
  end)

  it("format what was written", function()
    vim.fn.writefile({ "a" }, dir .. "/note.txt")
    open()
    child.cmd("edit note.txt")
    child.lua([[vim.lsp.start({ name = "upper", cmd = function()
      local function request(method, _, reply)
        if method == "initialize" then
          reply(nil, { capabilities = { documentFormattingProvider = true } })
        elseif method == "textDocument/formatting" then
          local start = { line = 0, character = 0 }
          reply(nil, { { range = { start = start, ["end"] = start }, newText = "formatted\n" } })
        else
          reply(nil, nil)
        end
        return true, 1
      end
      return { request = request, notify = function() return true end,
        is_closing = function() return false end, terminate = function() end }
    end })]])
    wait_for([[#vim.lsp.get_clients({ bufnr = 0, method = "textDocument/formatting" }) == 1]])
    child.lua(example_of("hermes-recipe-format"))
    child.lua([[say("/edit note.txt")]])
    wait_for("#turns == 1")
    eq(vim.fn.readfile(dir .. "/note.txt"), { "formatted", "a", "- visit 1" })
  end)

  it("show the state in the statusline", function()
    open()
    child.lua(example_of("hermes-recipe-statusline"))
    child.lua([[_G.lines = {}
    hermes.on("StateChanged", function()
      table.insert(lines, vim.api.nvim_eval_statusline(vim.o.statusline, {}).str)
    end)
    say("/say hi")]])
    wait_for("#turns == 1")
    local lines = table.concat(child.lua_get("lines"), "\n")
    eq({ lines:find("running") ~= nil, lines:find("idle") ~= nil }, { true, true })
  end)

  it("show each session in the statusline", function()
    open()
    open_more(1)
    child.lua(example_of("hermes-recipe-statusline"))
    child.lua([[function _G.Line() return vim.api.nvim_eval_statusline(vim.o.statusline, {}).str end
    say("/slow 10000")]])
    wait_for([[Line():find("demo: running, demo: idle", 1, true) ~= nil]])
    child.lua([[_G.session = sessions[2]
    say("/say hi")]])
    wait_for("#turns == 1")
    wait_for([[Line():find("demo: running, demo: idle", 1, true) ~= nil]])
    child.lua("hermes.cancel(sessions[1])")
    wait_for("#turns == 2")
  end)

  it("send prompts to the session that was used last", function()
    open()
    open_more(2)
    child.lua([[_G.went = {}
    hermes.on("ClientTextMessage", function(data) went[data.text] = data.sessionId end)
    vim.ui.input = function(_, on_input) on_input("/say selected") end]])
    local queue = example_of("hermes-recipe-queue")
    queue = queue:gsub('{ "Write .-}', '{ "/say queued" }')
    child.lua(example_of("hermes-recipe-selection"))
    child.lua((example_of("hermes-recipe-quickfix"):gsub('"Fix these', '"/say fix')))
    child.fn.setqflist({ { filename = dir .. "/a.c", lnum = 3, text = "no such type" } })
    for i = 1, 3 do
      child.lua("_G.session, _G.turns, _G.went = sessions[...], {}, {}", { i })
      child.lua([[say("/say hi")]])
      wait_for("#turns == 1")
      child.type_keys("V", "\\a", "<Esc>")
      child.type_keys("\\q")
      child.lua(queue)
      wait_for([[went["/say queued"] ~= nil]])
      eq({ i, child.lua_get("went") }, {
        i,
        vim.tbl_extend("force", child.lua_get("went"), {
          ["/say hi"] = child.lua_get("session"),
          ["/say selected"] = child.lua_get("session"),
          ["/say fix one by one."] = child.lua_get("session"),
          ["/say queued"] = child.lua_get("session"),
        }),
      })
    end
  end)

  it("show commands when they start", function()
    open()
    child.lua(example_of("hermes-recipe-terminal"))
    local window = child.api.nvim_get_current_win()
    child.lua([[say("/run echo seen")]])
    wait_for("#turns == 1")
    local shown = [[table.concat(vim.iter(vim.api.nvim_list_bufs()):map(function(buf)
      local lines = vim.bo[buf].filetype == "hermes-terminal"
        and vim.api.nvim_buf_get_lines(buf, 0, -1, false)
      return table.concat(lines or {}, "\n")
    end):totable())]]
    wait_for(shown .. [[:find("seen\n+%[exit code 0%]") ~= nil]])
    eq({ child.api.nvim_get_current_win(), #child.api.nvim_list_wins() }, { window, 2 })
  end)

  it("send one prompt after the other, until one fails", function()
    open()
    local code, n = example_of("hermes-recipe-queue"):gsub('"Run it."', '"/fail"')
    eq(n, 1)
    child.lua(
      [[_G.ended = {}
    hermes.on("TurnEnded", function(data) table.insert(ended, data.stopReason or "failed") end)]]
    )
    child.lua((code:gsub('"Write a test."', '"/say one"')))
    wait_for([[#ended == 2 and hermes.state(session).state == "idle"]])
    eq(child.lua_get("ended"), { "end_turn", "failed" })
    eq(child.lua_get("said"):find("Hello!", 1, true), nil)
  end)

  it("send the selection", function()
    vim.fn.writefile({ "one", "two", "three" }, dir .. "/note.txt")
    open()
    child.lua([[_G.sent = {}
    hermes.on("ClientTextMessage", function(data) table.insert(sent, data.text) end)]])
    child.lua(example_of("hermes-recipe-selection"))
    child.lua([[vim.ui.input = function(_, on_input) on_input("Why?") end]])
    child.cmd("edit note.txt")
    child.type_keys("j", "Vj", "\\a")
    wait_for("#sent == 2")
    local about = ("file://%s/note.txt#L2-L3\n```\ntwo\nthree\n```"):format(dir)
    eq(child.lua_get("sent"), { "Why?", about })
  end)

  --- Makes a program that the child finds before others.
  ---@param name string
  ---@param script string for sh
  local function program(name, script)
    local bin = dir .. "/bin"
    vim.fn.mkdir(bin, "p")
    vim.fn.writefile(vim.split("#!/bin/sh\n" .. script, "\n"), bin .. "/" .. name)
    vim.uv.fs_chmod(bin .. "/" .. name, tonumber("755", 8))
    child.lua("if not vim.env.PATH:find(...) then vim.env.PATH = ... .. ':' .. vim.env.PATH end", {
      bin,
    })
  end

  ---@param path string
  ---@param count integer of lines to wait for
  local function lines_of(path, count)
    local lines
    vim.wait(60000, function()
      lines = vim.fn.filereadable(path) == 1 and vim.fn.readfile(path) or {}
      return #lines >= count
    end, 20)
    return lines
  end

  it("notify the desktop, with a title that is only text", function()
    local said = dir .. "/notified"
    -- The file is complete at once.
    program(
      "notify-send",
      ('printf "%%s\\n" "$@" >%s.new && mv %s.new %s'):format(said, said, said)
    )
    open()
    child.lua(
      [[require("hermes.core.rpc").deliver(vim.json.encode({ "SessionUpdate", {
        agent = "demo",
        sessionId = session,
        update = { sessionUpdate = "session_info_update", title = ... },
      } }))]],
      { "--icon=x $(touch made) `touch made` <b>\n\27]0;x" }
    )
    child.lua(example_of("hermes-recipe-notify"))
    child.lua([[say("/say hi")]])
    local lines = lines_of(said, 3)
    eq({ lines[1], lines[2], #lines }, { "--app-name=Neovim", "--", 3 })
    local title = "^demo is done: %-%-icon=x %$%(touch made%) `touch made` <b>"
    eq({ lines[3], lines[3]:find(title) ~= nil }, { lines[3], true })
    eq({ lines[3]:find("%c"), (vim.uv.fs_stat(dir .. "/made")) }, {})
  end)

  it("send the quickfix list", function()
    open()
    child.lua([[_G.sent, _G.notes = {}, {}
    hermes.on("ClientTextMessage", function(data) table.insert(sent, data.text) end)
    vim.notify = function(note) table.insert(notes, note) end]])
    child.lua(example_of("hermes-recipe-quickfix"))
    child.type_keys("\\q")
    eq({ #child.lua_get("sent"), #child.lua_get("notes") }, { 0, 1 })
    child.fn.setqflist({ { filename = dir .. "/a.c", lnum = 3, text = "no such type" } })
    child.type_keys("\\q")
    wait_for("#sent == 2")
    local sent = child.lua_get("sent")
    eq(sent[1], "Fix these one by one.")
    eq({ sent[2], sent[2]:find("a%.c:3.*no such type") ~= nil }, { sent[2], true })
    eq(#child.lua_get("notes"), 1)
  end)

  it("log every tool call once, each on a line of its own", function()
    open()
    child.lua(
      [[local stdpath = vim.fn.stdpath
    vim.fn.stdpath = function(what) return what == "log" and vim.fn.getcwd() or stdpath(what) end]]
    )
    child.lua(example_of("hermes-recipe-audit"))
    child.lua([[say('/run printf %s "a\n{}"')]])
    wait_for("#turns == 1")
    child.lua([[say("/run /no/such/program")]])
    wait_for("#turns == 2")
    child.lua([[say("/edit note.txt")]])
    wait_for("#turns == 3")
    local calls = {}
    for _, line in ipairs(vim.fn.readfile(dir .. "/hermes-tools.jsonl")) do
      local call = vim.json.decode(line)
      eq({ call.agent, call.session ~= nil, type(call.time) }, { "demo", true, "string" })
      calls[#calls + 1] = call.kind .. " " .. call.status
      eq(call.kind ~= "execute" or type(call.input.command) == "string", true)
    end
    eq(calls, { "execute completed", "execute failed", "read completed", "edit completed" })
  end)

  it("ask two agents the same, side by side", function()
    local code, n = example_of("hermes-recipe-compare"):gsub('"gemini"', '"mine"')
    eq(n, 1)
    child.lua("hermes.setup({ agents = { claude = ..., mine = ... } })", {
      { command = root .. "/bin/hermes", args = { "demo-agent" } },
    })
    child.lua(code)
    child.cmd("Compare /say the same")
    local shown = [[vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(function(win)
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)
      return table.concat(lines, "/")
    end):totable()]]
    wait_for(("vim.deep_equal(%s, { 'claude//the same', 'mine//the same' })"):format(shown))
    local row, column = unpack(child.lua_get("vim.api.nvim_win_get_position(0)"))
    eq({ row, column > 0 }, { 1, true })
  end)

  it("reach an agent over ssh, whose files are here", function()
    local far = dir .. "/far"
    vim.fn.mkdir(dir .. "/project")
    vim.fn.mkdir(far)
    local code, n = example_of("hermes-recipe-ssh"):gsub("/home/me/project", far)
    eq(n, 1)
    program(
      "ssh",
      ('echo "$1 $2 ${SSH_AUTH_SOCK}" >%s/login; shift 2; exec sh -c "$1"'):format(dir)
    )
    program("my-agent", ('[ "$1" = --acp ] && exec %s/bin/hermes demo-agent'):format(root))
    child.lua(
      [[vim.env.HOME, vim.env.SSH_AUTH_SOCK = ..., "/the/socket"
    vim.cmd.cd("~/project")
    vim.ui.select = function(items, opts, on_choice)
      asked = asked + 1
      for i, item in ipairs(items) do
        if item.kind == (asked == 1 and "allow_always" or "allow_once") then
          return on_choice(item, i)
        end
      end
    end]],
      { dir }
    )
    child.lua(code)
    child.cmd("edit note.txt")
    child.lua([[hermes.on("SessionCreated", function(data) _G.session = data.sessionId end)]])
    child.cmd("Hermes connect far")
    child.lua("hermes.create_session()")
    wait_for("session ~= nil")
    eq(vim.fn.readfile(dir .. "/login"), { "-T dev.example.com /the/socket" })
    child.lua([[say("/edit note.txt")]])
    wait_for("#turns == 1")
    eq(vim.fn.readfile(dir .. "/project/note.txt")[3], "- visit 1")
    eq(child.lua_get("asked"), 1) -- and the agent asks no more
    child.lua([[say("/run touch made")]])
    wait_for("#turns == 2")
    eq({ child.lua_get("asked"), vim.uv.fs_stat(dir .. "/project/made") ~= nil }, { 2, true })
    eq(
      { vim.fn.readdir(far), vim.fn.sort(vim.fn.readdir(dir .. "/project")) },
      { {}, { "made", "note.txt" } }
    )
  end)

  it("ask for permission in a buffer", function()
    open()
    child.lua(example_of("hermes-recipe-permission"))
    local asked_here = [[vim.fn.getline("$") == "[q] cancel"]]
    child.lua([[say("/run echo there")]])
    wait_for(asked_here)
    local shown = table.concat(child.lua_get("vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n")
    eq({ shown, shown:find("echo", 1, true) ~= nil }, { shown, true })
    child.type_keys("1")
    wait_for("#turns == 1")
    eq({ child.lua_get("asked"), child.lua_get(asked_here) }, { 0, false })

    child.lua([[_G.outcomes = {}
    hermes.on("PermissionResolved", function(data) table.insert(outcomes, data.outcome) end)
    say("/run echo never")]])
    wait_for(asked_here)
    child.lua("hermes.cancel(session)")
    wait_for("#turns == 2")
    eq(child.lua_get("turns"), { "end_turn", "cancelled" })
    eq(child.lua_get(asked_here), false)
    eq(child.lua_get("outcomes"), { "cancelled" })
  end)

  it("turn names of events away, unless seed takes them", function()
    local wrong =
      [[return { pcall(vim.api.nvim_create_autocmd, "AgentTextMessage", { callback = print }) }]]
    eq(child.lua(wrong)[1], false)
    child.lua([[hermes.setup({ compat = { seed = true } })]])
    eq(child.lua(wrong)[1], true)
  end)
end)
