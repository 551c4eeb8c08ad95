-- Every subcommand of :Hermes, its completion and the status window, with the
-- real host and a real agent, test/scripted_agent.lua. Needs bin/hermes (make
-- build). All specs share one Neovim.

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

local child = MiniTest.new_child_neovim()
local dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname()))

local modes = {
  currentModeId = "ask",
  availableModes = { { id = "ask", name = "Ask first" }, { id = "code", name = "Write code" } },
}
local options = {
  {
    id = "model",
    name = "Model",
    category = "model",
    type = "select",
    currentValue = "small",
    options = { { value = "small", name = "Small" }, { value = "big", name = "Big" } },
  },
  { id = "web", name = "Search the web", type = "boolean", currentValue = false },
}

--- What agents may call things, and must not get away with.
local hostile = {
  "a b",
  "a|let g:pwned=1",
  "%:p",
  "a\nb",
  "a\tb",
  "\27[2J",
  "a\\ b",
  "session=s1",
  "agent=other",
  "<CR>",
  "\226\128\174abc",
  "'\"`",
  "$(touch pwned)",
}

local prelude = [[
  vim.o.swapfile = false
  vim.cmd.runtime("plugin/hermes.lua")
  vim.notify = function(text, level) notes[#notes + 1] = { text, level } end
  -- A user who chooses what the spec says: the first label that has that text.
  vim.ui.select = function(items, opts, chosen)
    local labels = vim.tbl_map(opts.format_item, items)
    menus[#menus + 1] = { opts.prompt, labels }
    local pick = table.remove(picks, 1)
    for i, label in ipairs(labels) do
      if pick and label:find(pick, 1, true) then
        return chosen(items[i], i)
      end
    end
    chosen(nil, nil)
  end
  vim.ui.input = function(opts, typed)
    inputs[#inputs + 1] = opts.prompt
    typed(table.remove(lines, 1))
  end
  function _G.Noted(part, level)
    return vim.iter(notes):any(function(note)
      return note[1]:find(part, 1, true) and (not level or note[2] == level)
    end)
  end
  function _G.Fired(name, member, value)
    return vim.iter(events):any(function(event)
      return event[1] == name and (not member or event[2][member] == value)
    end)
  end
  vim.api.nvim_create_user_command("Echo", function(args)
    _G.fargs = args.fargs
  end, { nargs = "*" })
  _G.events = {}
  require("hermes").on("*", function(data, name) events[#events + 1] = { name, data } end)
]]

---@param what string
---@param is fun(): any
local function wait_for(what, is)
  local ok = vim.wait(60000, function()
    return is() and true or false
  end, 10)
  if not ok then
    local log = child.lua_get([[require("hermes").agent_log("a")]])
    local seen = { notes = child.lua_get("notes"), menus = child.lua_get("menus"), log = log }
    error(("no %s; %s"):format(what, vim.inspect(seen)), 2)
  end
end

---@param code string of an expression
local function get(code, ...)
  return child.lua("return " .. code, { ... })
end

local function fresh()
  if not child.is_running() then
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua("_G.notes, _G.menus, _G.picks, _G.inputs, _G.lines = {}, {}, {}, {}, {}")
    child.lua(prelude)
  end
  child.lua([[
    require("hermes").disconnect()
    vim.wait(60000, function() return #require("hermes").connections() == 0 end, 5)
    vim.cmd("silent! tabonly! | silent! only! | silent! %bwipeout!")
    vim.b.hermes_session = nil]])
  child.fn.chdir(dir)
  child.lua("_G.notes, _G.menus, _G.picks, _G.inputs, _G.lines, _G.events = {}, {}, {}, {}, {}, {}")
end

local agents = 0

--- Connects an agent of its own for a spec; returns its name.
---@param config? table of test/scripted_agent.lua
---@return string
local function connect(config)
  agents = agents + 1
  local name = "a" .. agents
  child.lua(
    [[local name, agent, config, nvim = ...
    require("hermes").setup({ agents = { [name] = {
      command = nvim,
      args = { "--clean", "-l", agent },
      env = { HERMES_TEST_AGENT = config },
    } } })]],
    {
      name,
      root .. "/test/scripted_agent.lua",
      vim.json.encode(config or vim.empty_dict()),
      vim.v.progpath,
    }
  )
  child.cmd("Hermes connect " .. name)
  wait_for(name .. " is connected", function()
    return get("Noted(...)", name .. " is connected")
  end)
  return name
end

--- Waits for a message.
---@param part string
---@param level? integer
local function noted(part, level)
  wait_for(part, function()
    return get("Noted(...)", part, level)
  end)
end

---@param count integer
local function sessions(count)
  wait_for(count .. " sessions", function()
    return get([[#require("hermes").sessions()]]) == count
  end)
end

--- Opens sessions, one after the other.
---@param count integer
local function open(count)
  local before = get([[#require("hermes").sessions()]])
  for i = 1, count do
    child.cmd("Hermes new")
    sessions(before + i)
  end
end

---@param name string of the agent
---@param text string
local function asked_agent(name, text)
  wait_for(text, function()
    local log = table.concat(get([[require("hermes").agent_log(...)]], name), "\n")
    return log:find(text, 1, true)
  end)
end

local function screen()
  return table.concat(child.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

---@param text string
local function shows(text)
  wait_for(text, function()
    return screen():find(text, 1, true)
  end)
end

---@param line string
local function complete(line)
  return child.fn.getcompletion(line, "cmdline")
end

local function has(list, word)
  return vim.tbl_contains(list, word)
end

--- Puts the cursor of the status window on the first line with a text.
---@param text string
local function go_to(text)
  shows(text)
  for i, line in ipairs(child.api.nvim_buf_get_lines(0, 0, -1, false)) do
    if line:find(text, 1, true) then
      child.api.nvim_win_set_cursor(0, { i, 0 })
      child.cmd("doautocmd CursorMoved")
      return
    end
  end
end

describe("the files of lua/hermes/command", function()
  it("have the subcommands that are offered, each once", function()
    local found = {}
    for file in vim.fs.dir(root .. "/lua/hermes/command") do
      if file ~= "line.lua" then
        local part = require("hermes.command." .. file:gsub("%.lua$", ""))
        for name, subcommand in pairs(part) do
          eq({ name, type(subcommand.run) }, { name, "function" })
          found[#found + 1] = name
        end
      end
    end
    table.sort(found)
    eq(found, require("hermes.command").complete("", "Hermes "))
  end)
end)

describe(":Hermes", function()
  before_each(fresh)

  it("reports what is wrong as an error, with what there is", function()
    local errors = vim.log.levels.ERROR
    child.cmd("Hermes nonsense")
    noted('unknown subcommand "nonsense"; use one of: build, cancel, ', errors)
    child.cmd("Hermes staus")
    noted('unknown subcommand "staus"; did you mean "status"? use one of: build, ', errors)
    child.cmd("Hermes disconnect")
    noted("no agent is connected")
    child.cmd("Hermes connect nosuch")
    noted("nosuch", errors)
    child.cmd("Hermes disconnect nosuch")
    noted('agent "nosuch" is not connected', errors)
    child.cmd("Hermes cancel")
    noted("there is no session")
    local name = connect({ modes = modes, options = options })
    for _, row in ipairs({
      { "Hermes cancel nosuch", 'there is no session "nosuch"' },
      { "Hermes login nosuch", 'no agent "nosuch" is connected; connected: ' .. name },
      { "Hermes log nosuch", 'agent "nosuch" has written nothing' },
      { "Hermes permissions foo", '"foo" is none of allow, deny, remove' },
      { "Hermes permissions allow foo", '"foo" is none of agent=, kind=' },
      { "Hermes permissions allow", "a rule for everything is too much" },
      { "Hermes permissions deny agent=x", "a rule for everything is too much" },
      { "Hermes traffic replay", "give the file of a recording" },
    }) do
      child.lua("_G.notes = {}")
      child.cmd(row[1])
      noted(row[2], errors)
    end
    open(1)
    for _, row in ipairs({
      { "Hermes mode nosuch", 'there is no mode "nosuch"; there are: ask, code' },
      { "Hermes model nosuch", 'there is no model "nosuch"; there are: small, big' },
      { "Hermes config nosuch", 'there is no option "nosuch"; there are: model, web' },
      { "Hermes config model nosuch", 'there is no value of Model "nosuch"' },
      { "Hermes config web maybe", 'Search the web is on or off, not "maybe"' },
    }) do
      child.cmd(row[1])
      noted(row[2], errors)
    end
  end)

  it("sends a prompt as it was typed", function()
    local name = connect()
    open(1)
    for _, text in ipairs({
      "a   b",
      [[say "x" | y % \ z\ \\]],
      "s1 is no session here",
      "tab\there ",
    }) do
      child.lua("_G.events = {}")
      child.lua("vim.cmd(...)", { "Hermes prompt " .. text })
      wait_for("prompt", function()
        return get("Fired('ClientTextMessage', 'text', ...)", text)
      end)
    end
    -- Lines of the buffer go with it.
    child.api.nvim_buf_set_lines(0, 0, -1, false, { "one", "two", "three" })
    child.cmd("2,3Hermes prompt Explain")
    asked_agent(name, [[two\nthree]])
    -- Without a text it asks.
    child.lua("_G.lines = { 'typed   later' }")
    child.cmd("Hermes prompt")
    asked_agent(name, "typed   later")
    eq(get("inputs"), { "Prompt: " })
  end)

  it("needs no session when there is one, else takes the current one if harmless", function()
    local name = connect({ modes = modes, options = options })
    open(1)
    child.cmd("Hermes mode code")
    noted("mode: Write code")
    child.cmd("Hermes close")
    sessions(0)
    eq(get("menus"), {})
    open(2)
    child.cmd("Hermes prompt hold")
    asked_agent(name, [["sessionId":"s3"]]) -- the one used last
    child.cmd("Hermes prompt session=s2 second")
    asked_agent(name, "second")
    wait_for("only s3 runs", function()
      local running = vim.tbl_filter(function(session)
        return session.state ~= "idle"
      end, get([[require("hermes").sessions()]]))
      return #running == 1 and running[1].sessionId == "s3"
    end)
    child.cmd("Hermes cancel") -- the one that runs
    asked_agent(name, [[session/cancel {"sessionId":"s3"}]])
    child.lua("_G.picks = { 'second' }")
    child.cmd("Hermes close") -- asks
    sessions(1)
    eq(get("#menus"), 1)
    eq(get("menus[1][1]"), "Close session")
    open(1)
    child.lua("vim.b.hermes_session = 's3'")
    child.cmd("Hermes close") -- that of the buffer
    sessions(1)
    eq(get([[require("hermes").sessions()[1].sessionId]]), "s4")
    eq(get("#menus"), 1)
    child.cmd("Hermes fork")
    sessions(2)
    noted("session s4-fork")
  end)

  it("changes modes, models and options by menu and by name", function()
    connect({ modes = modes, options = options })
    open(1)
    child.lua("_G.picks = { 'Write code', 'Big', 'Search the web', 'Model', 'Small' }")
    child.cmd("Hermes mode")
    noted("mode: Write code")
    child.cmd("Hermes model")
    noted("model: Big")
    child.cmd("Hermes config") -- a switch is turned over
    noted("Search the web: on")
    child.cmd("Hermes config web")
    noted("Search the web: off")
    child.cmd("Hermes config")
    noted("Model: Small")
    child.cmd("Hermes config model big")
    wait_for("big", function()
      return get([[require("hermes").sessions()[1].model]]) == "big"
    end)
    child.cmd("Hermes config web on")
    wait_for("on", function()
      return get([[require("hermes").config_options("s1")[2].currentValue]]) == true
    end)
    eq(get("menus[1]"), { "Mode", { "* Ask first", "  Write code" } })
    eq(get("menus[2]"), { "Model", { "* Small", "  Big" } })
    eq(get("menus[3]"), { "Option", { "Model: Big", "Search the web: off" } })
    eq(get("menus[5]"), { "Model", { "  Small", "* Big" } })
  end)

  it("says so when an agent offers no choice", function()
    connect()
    open(1)
    for _, row in ipairs({
      { "mode", "the agent offers no choice of modes" },
      { "model", "the agent offers no choice of models" },
      { "config", "the agent offers no options" },
      { "login", "no connected agent has a way to log in" },
    }) do
      child.cmd("Hermes " .. row[1])
      noted(row[2])
    end
  end)

  it("lists open and stored sessions, page by page, and opens the chosen one", function()
    local stored = {}
    for i = 1, 5 do
      stored[i] = {
        sessionId = "old" .. i,
        cwd = dir,
        title = "Title " .. i,
        updatedAt = "2026-01-0" .. i .. "T00:00:00Z",
      }
    end
    stored[5].cwd = "/"
    local name = connect({ stored = stored, page = 2 })
    open(1)
    child.cmd("Hermes prompt title The first")
    wait_for("title", function()
      return get([[require("hermes").sessions()[1].title]]) == "The first"
    end)
    child.lua("_G.picks = { 'more of', 'more of', 'Title 4' }")
    child.cmd("Hermes sessions")
    sessions(2)
    local labels = get("menus[3][2]")
    eq(#labels, 6)
    eq(labels[1]:match("^(.-)  "), name .. ": The first, idle")
    eq(labels[2]:match("^(.-)  "), name .. ": Title 1, 2026-01-01")
    asked_agent(name, "session/load")
    eq(get([[require("hermes").sessions()[1].cwd]]), dir)
    -- The agent cannot choose the folder that it may write to.
    child.lua("_G.picks, _G.menus = { 'more of', 'more of', 'Title 5', '(here)' }, {}")
    child.cmd("Hermes sessions " .. name)
    sessions(3)
    eq(get("menus[4][1]"), "Folder that the agent may read and write")
    eq(get([[require("hermes").sessions()[1].cwd]]), dir)
    -- An open one is shown in the status window.
    child.lua("_G.picks = { 'The first' }")
    child.cmd("Hermes sessions")
    wait_for("status", function()
      return child.api.nvim_get_current_line():find("The first", 1, true)
    end)
  end)

  it("loads, resumes and deletes stored sessions, with or without an id", function()
    local name = connect({ stored = { { sessionId = "old", cwd = dir, title = "Old" } } })
    child.cmd("Hermes load") -- the only one
    sessions(1)
    asked_agent(name, "session/load")
    child.cmd("Hermes close")
    sessions(0)
    child.cmd("Hermes resume old")
    sessions(1)
    asked_agent(name, "session/resume")
    eq(get("menus"), {})
    child.cmd("Hermes delete") -- always asks
    wait_for("menu", function()
      return get("#menus") == 1
    end)
    eq(get("Fired('SessionDeleted')"), false)
    child.lua("_G.picks = { 'Old' }")
    child.cmd("Hermes delete")
    noted("session Old is deleted")
    child.cmd("Hermes delete old")
    noted("session old is deleted")
  end)

  it("leaves out what agents cannot do, and says so", function()
    connect({ lacks = { "load", "resume", "list", "fork", "delete" } })
    open(1)
    for _, row in ipairs({
      { "load", "no connected agent can load a session" },
      { "resume", "no connected agent can resume a session" },
      { "delete", "no connected agent can delete sessions" },
      { "fork", "the agent cannot fork sessions" },
    }) do
      child.cmd("Hermes " .. row[1])
      noted(row[2])
    end
    child.cmd("Hermes sessions")
    wait_for("menu", function()
      return get("#menus") == 1
    end)
    eq(#get("menus[1][2]"), 1)
  end)

  it("needs an id where an agent cannot list its sessions", function()
    local name = connect({ lacks = { "list" } })
    for _, way in ipairs({ "load", "resume", "delete" }) do
      child.cmd("Hermes " .. way)
      noted("the agent cannot list its sessions; :Hermes " .. way .. " {session}")
      child.cmd("Hermes " .. way .. " old")
      asked_agent(name, "session/" .. way)
    end
  end)

  it("opens no menu over a user who has begun to type", function()
    connect({ stored = { { sessionId = "old", cwd = dir }, { sessionId = "older", cwd = dir } } })
    child.cmd("startinsert")
    child.lua([[vim.cmd("Hermes load")]])
    noted("you were busy when the list came; once more: :Hermes load")
    eq(get("menus"), {})
    child.cmd("stopinsert")
  end)

  it("logs in and out", function()
    local name = connect({
      login = { { id = "key", name = "Use a key" }, { id = "web", name = "In a browser" } },
    })
    child.lua("_G.picks = { 'browser' }")
    child.cmd("Hermes login")
    noted("you are logged in to " .. name)
    asked_agent(name, [[authenticate {"methodId":"web"}]])
    child.cmd("Hermes login " .. name .. " key")
    asked_agent(name, [[authenticate {"methodId":"key"}]])
    child.cmd("Hermes login " .. name .. " nosuch")
    noted("it has: key, web")
    child.cmd("Hermes logout")
    noted("you are logged out of " .. name)
    local other = connect()
    child.lua("_G.picks = { ... }", { other })
    child.cmd("Hermes logout") -- asks
    noted("you are logged out of " .. other)
  end)

  it("adds, shows and removes rules in words", function()
    child.cmd("Hermes permissions")
    noted("there are no rules")
    child.cmd([[Hermes permissions allow kind=read path=~/src/**]])
    noted("from now on: Allow read of files in ~/src, until Neovim ends")
    child.cmd([[Hermes permissions deny path=.env* scope=once]])
    child.cmd([[Hermes permissions allow agent=claude env=CI,PAGER cwd=/w -- go test my\ dir]])
    child.cmd([[Hermes permissions allow exact=true -- go vet]])
    child.cmd("Hermes permissions")
    shows("Deny anything of .env*, once")
    shows("Allow commands that begin with go test 'my dir', in /w, with CI, PAGER, by claude")
    shows("Allow the command go vet, until Neovim ends")
    eq(child.bo.modifiable, false)
    child.type_keys("q")
    eq(child.lua_get("#vim.api.nvim_list_wins()"), 1)
    child.lua("_G.picks = { 'Deny' }")
    child.cmd("Hermes permissions remove")
    noted("removed: Deny anything of .env*, once")
    child.cmd(
      [[Hermes permissions remove allow agent=claude env=CI,PAGER cwd=/w -- go test my\ dir]]
    )
    noted("removed: Allow commands that begin with go test 'my dir'")
    child.cmd("Hermes permissions remove allow -- go vet")
    noted('there is no rule "Allow commands that begin with go vet, until Neovim ends"')
    child.cmd("Hermes permissions remove allow exact=true -- go vet")
    noted("removed: Allow the command go vet")
    child.lua("_G.picks = { 'Allow read' }")
    child.cmd("Hermes permissions remove")
    noted("removed: Allow read")
    child.cmd("Hermes permissions remove")
    noted("there is no rule to remove")
  end)

  it("shows the health", function()
    child.cmd("Hermes health")
    wait_for("the report", function()
      return child.bo.filetype == "checkhealth"
    end)
  end)

  it("lists what waits and brings it up", function()
    connect()
    child.cmd("Hermes pending")
    noted("nothing waits for an answer")
    child.cmd("Hermes respond")
    noted("no question is waiting for your answer")
    -- A handler that never answers.
    child.lua([[require("hermes").on_request("PermissionRequest", function() end)]])
    open(1)
    child.cmd("Hermes prompt ask Delete everything")
    wait_for("request", function()
      return get([[#require("hermes").pending()]]) == 1
    end)
    child.lua("_G.picks = { 'PermissionRequest', 'refuse' }")
    child.cmd("Hermes pending")
    wait_for("end", function()
      return get([[#require("hermes").pending()]]) == 0
    end)
    eq(get("menus[1][2][1]"):find("Delete everything", 1, true) ~= nil, true)
    -- The question of the default.
    child.lua([[_G.menus = {}
      require("hermes").on_request("PermissionRequest", nil)
      _G.picks = { "Yes" }]])
    child.cmd("Hermes prompt ask Go on")
    wait_for("answer", function()
      return get("Fired('PermissionResolved', 'optionId', 'yes')")
    end)
    child.lua([[require("hermes").on_request("PermissionRequest", nil)]])
  end)

  it("shows the logs of the host and of agents", function()
    local name = connect()
    open(1)
    child.cmd("Hermes prompt noise one\27[2Jtwo")
    child.cmd("Hermes log " .. name)
    shows("one<1b>[2Jtwo")
    child.cmd("wincmd p")
    child.cmd("Hermes prompt noise and more")
    child.cmd("wincmd p")
    shows("and more") -- it follows
    child.lua("_G.notes = {}")
    child.cmd("Hermes cancel nosuch")
    noted("nosuch")
    child.cmd("Hermes log")
    eq(get("#vim.api.nvim_tabpage_list_wins(0)"), 2)
    for _, log in ipairs({ "hermes-host.log", "hermes.log" }) do
      eq(vim.fs.basename(child.api.nvim_buf_get_name(0)), log)
      wait_for("the newest line", function() -- the log may grow meanwhile
        return get("vim.fn.line('.') == vim.fn.line('$')")
      end)
      child.cmd("wincmd w")
    end
    child.cmd("wincmd w")
    shows('there is no session "nosuch"')
    vim.fn.writefile({ "one more" }, child.api.nvim_buf_get_name(0), "a")
    child.cmd("checktime")
    -- Other specs write there, too.
    local seen = "{ vim.fn.line('.') == vim.fn.line('$'), vim.fn.search(..., 'nw') > 0 }"
    eq(get(seen, "^one more$"), { true, true })
    vim.fn.writefile({ "and another" }, child.api.nvim_buf_get_name(0), "a")
    child.cmd("normal! gg")
    child.cmd("checktime")
    eq(get(seen, "^and another$"), { false, true })
    child.cmd("tabclose")
    child.cmd("Hermes cancel nosuchagain")
    child.cmd("Hermes log")
    child.cmd("wincmd w")
    shows('there is no session "nosuchagain"') -- read again
  end)
end)

describe("completion of :Hermes", function()
  before_each(fresh)

  it("offers the words that a subcommand takes", function()
    local login = { { id = "key", name = "Use a key" } }
    local stored = { { sessionId = "old", cwd = dir, title = "Old" } }
    local name = connect({ modes = modes, options = options, stored = stored, login = login })
    open(2)
    child.lua([[require("hermes.view.picker").sessions()]])
    wait_for("list", function()
      return get("#menus") == 1
    end)
    for _, row in ipairs({
      { "co", "config conflict connect" },
      { "connect " .. name, name },
      { "connect mine env", "env" },
      { "disconnect ", name },
      { "login ", name },
      { "login " .. name .. " ", "key" },
      { "logout ", name },
      { "sessions ", name },
      { "new agent=", "agent=" .. name },
      { "new /et", "/etc/" },
      { "fork ", "s1 s2" },
      { "close ", "s1 s2" },
      { "cancel ", "s1 s2" },
      { "load ", "old" },
      { "resume ", "old" },
      { "delete ", "old" },
      { "prompt ", "session=s1 session=s2" },
      { "prompt x ", "" },
      { "mode ", "ask code session=s1 session=s2" },
      { "mode session=s1 ", "ask code" },
      { "mode ask ", "" },
      { "model ", "big session=s1 session=s2 small" },
      { "config ", "model session=s1 session=s2 web" },
      { "config web ", "off on" },
      { "config session=s1 model ", "big small" },
      { "permissions ", "allow deny remove" },
      { "permissions allow kind=e", "kind=edit kind=execute" },
      { "permissions deny ag", "agent=" .. name },
      { "permissions allow -- ", "" },
      { "log ", name },
      { "pending ", "" },
      { "nonsense ", "" },
    }) do
      local found = complete("Hermes " .. row[1])
      if row[1]:find("^login $") or row[1]:find("^log $") then
        found = vim.tbl_filter(function(word)
          return word == name
        end, found)
      elseif row[1] == "connect mine env" then
        found = { found[1] }
      end
      eq({ row[1], table.concat(found, " ") }, { row[1], row[2] })
    end
    eq(complete("silent! Hermes connect " .. name), { name })
  end)

  it("offers what sessions are called, and takes it for them", function()
    connect({ modes = modes })
    open(4)
    local first = "Fix the LOGIN: it, fails | 7 quit and, then, something very long"
    for id, text in pairs({ s1 = first, s2 = "s4", s3 = "Twice!", s4 = "twice" }) do
      child.lua([[require("hermes").prompt(...)]], { id, text })
    end
    wait_for("names", function()
      return not vim.iter(get([[require("hermes").sessions()]])):any(function(session)
        return session.name == session.sessionId and session.sessionId ~= "s4"
      end)
    end)
    local all = "fix-the-login-it-fails-quit-and s s3 s4"
    local named = all:gsub("%S+", "session=%0")
    for start, words in pairs({
      ["cancel "] = all,
      ["fork "] = all,
      ["close "] = all,
      ["terminal "] = all,
      ["prompt "] = named,
      ["mode "] = "ask code " .. named,
      ["mode session=fix-the-login-it-fails-quit-and "] = "ask code",
      ["review accept "] = "all file " .. named,
      ["review reject s"] = named,
      ["traffic session="] = named,
    }) do
      eq({ start, table.concat(complete("Hermes " .. start), " ") }, { start, words })
    end
    child.cmd("Hermes mode session=fix-the-login-it-fails-quit-and code")
    noted("code")
    eq(get([[require("hermes").state("s1", "modes").currentModeId]]), "code")
    local about = child.lua([[
      local review, traffic, about = require("hermes.review"), require("hermes.traffic"), {}
      local reject, open = review.reject, traffic.open
      review.reject = function(what) about[1] = what end
      traffic.open = function(what) about[2] = what end
      vim.cmd("Hermes review reject session=fix-the-login-it-fails-quit-and")
      vim.cmd("Hermes traffic session=fix-the-login-it-fails-quit-and agent=a")
      review.reject, traffic.open = reject, open
      return about]])
    eq(about, { { session_id = "s1" }, { session = "s1", agent = "a" } })
    child.cmd("Hermes close fix-the-login-it-fails-quit-and")
    sessions(3)
    eq(get([[require("hermes").state("s1")]]), vim.NIL)
    child.cmd("Hermes close twice")
    noted('there is no session "twice"', vim.log.levels.ERROR)
    child.cmd("Hermes close s4")
    sessions(2)
    eq(complete("Hermes close "), { "s", "twice" })
    child.cmd("Hermes close s4")
    noted('there is no session "s4"', vim.log.levels.ERROR)
    sessions(2)
  end)

  it("offers no name of an agent that hides something or would mean something else", function()
    local ids, stored, methods = {}, {}, {}
    local values, available = {}, {}
    for i, text in ipairs(hostile) do
      ids[i] = text
      stored[i] = { sessionId = text .. "!", cwd = dir, title = text }
      methods[i] = { id = text, name = text, description = text }
      available[i] = { id = text, name = text, description = text }
      values[i] = { value = text, name = text }
    end
    ids[#ids + 1] = "plain"
    local name = connect({
      title = hostile[6],
      ids = ids,
      stored = stored,
      login = methods,
      modes = { currentModeId = hostile[1], availableModes = available },
      options = {
        {
          id = hostile[2],
          name = hostile[4],
          category = "model",
          type = "select",
          currentValue = hostile[1],
          options = values,
        },
      },
    })
    open(#ids)
    child.cmd("Hermes sessions")
    wait_for("menu", function()
      return get("#menus") == 1
    end)
    local seen = {}
    for _, start in ipairs({
      "cancel ",
      "close ",
      "fork ",
      "load ",
      "delete ",
      "login " .. name .. " ",
      "mode ",
      "model ",
      "config ",
      "prompt ",
    }) do
      for _, word in ipairs(complete("Hermes " .. start)) do
        local bare = start == "prompt " and word:gsub("^session=", "") or word
        seen[bare] = true
        eq({ word, bare:find("[%s%c\\\226]"), bare:find("^session=%a+=") }, { word, nil, nil })
        -- As a word of the command it is what the agent called it.
        child.cmd("Echo " .. word)
        eq(get("fargs"), { word })
      end
    end
    eq({ seen.plain, seen["%:p"], seen["a|let"] }, { true, true, nil })
    eq(has(complete("Hermes cancel "), "session=s1"), false)
    -- Menus and the status window show all of them, on one line each.
    child.cmd("Hermes mode")
    child.cmd("Hermes login")
    child.cmd("Hermes config")
    for _, menu in ipairs(get("menus")) do
      for _, label in ipairs(menu[2]) do
        eq(
          { label, label:find("[%z\1-\8\10-\31\127]"), label:find("\226\128\174", 1, true) },
          { label, nil, nil }
        )
      end
    end
    child.cmd("Hermes status")
    local text = screen()
    eq({ text:find("[%z\1-\8\11-\31\127]"), text:find("\226\128\174", 1, true) }, { nil, nil })
    eq(#vim.split(text, "\n"), 1 + agents + #ids) -- the other agents are not connected
    eq({ get("vim.g.pwned"), vim.fn.filereadable(dir .. "/pwned") }, { vim.NIL, 0 })
  end)

  it("is for the session of the view that the user is in, and for no other", function()
    local name = connect({ modes = modes })
    open(2)
    child.cmd("Hermes prompt session=s2 hold")
    asked_agent(name, '"text":"hold"')
    child.lua("vim.b.hermes_session, vim.b.hermes_agent = 's1', ...", { name })
    child.cmd("Hermes cancel")
    noted("no turn is running")
    child.cmd("Hermes fork")
    wait_for("the fork", function()
      return vim.iter(get([[require("hermes").sessions()]])):any(function(session)
        return session.sessionId == "s1-fork"
      end)
    end)
    eq(get([[require("hermes").state("s2", "state")]]), "running")
    local log = table.concat(get([[require("hermes").agent_log(...)]], name), "\n")
    eq(log:find("session/cancel", 1, true), nil)
  end)

  it("does not let an agent's session id take the first word of a prompt", function()
    local name = connect({ ids = { "explain" } })
    open(2)
    child.cmd("Hermes prompt explain this")
    asked_agent(name, [["text":"explain this"]])
    eq(get([[require("hermes").sessions()[1].sessionId]]), "s2")
  end)
end)

describe("the status window", function()
  before_each(fresh)

  it("opens once, follows what happens, keeps its line, closes with q", function()
    child.cmd("Hermes status")
    shows("host: ")
    local name = connect()
    shows("agent " .. name .. ": ready  (spec 1.2.3)")
    child.cmd("Hermes status")
    eq(child.lua_get("#vim.api.nvim_list_wins()"), 2)
    child.cmd("Hermes new")
    shows("  session s1: idle")
    go_to("session s1")
    child.cmd("Hermes new")
    shows("  session s2: idle")
    eq(child.api.nvim_get_current_line():find("session s1", 1, true) ~= nil, true)
    child.cmd("Hermes prompt hold") -- the one under the cursor
    shows("  session hold (s1): running")
    child.cmd("Hermes prompt next")
    shows("  session hold (s1): running, 1 prompt waits")
    child.type_keys("x")
    shows("  session hold (s1): idle")
    child.cmd("Hermes prompt title A new name")
    shows("  session A new name (s1): idle")
    child.cmd("wincmd p")
    child.cmd("Hermes")
    eq(child.lua_get("#vim.api.nvim_list_wins()"), 2)
    child.type_keys("g?")
    shows("close this window")
    child.type_keys("g?")
    eq(screen():find("close this window", 1, true), nil)
    child.type_keys("q")
    eq(child.lua_get("#vim.api.nvim_list_wins()"), 1)
    eq(get([[require("hermes.view.pane").buffer("status")]]), vim.NIL)
  end)

  it("has keys for the agent and the session under the cursor", function()
    local name =
      connect({ modes = modes, options = options, login = { { id = "key", name = "Use a key" } } })
    child.cmd("Hermes status")
    child.type_keys("p")
    noted("the cursor is not on a line of a session")
    go_to("agent " .. name)
    child.type_keys("n")
    shows("session s1: idle, mode ask, model small")
    child.type_keys("n")
    shows("session s2")
    child.type_keys("L")
    asked_agent(name, [[authenticate {"methodId":"key"}]])
    go_to("session s1")
    child.lua("_G.picks = { 'Write code', 'Big', 'web' }")
    child.type_keys("m")
    shows("session s1: idle, mode code")
    child.type_keys("M")
    shows("session s1: idle, mode code, model big")
    child.type_keys("o")
    noted("Search the web: on")
    child.lua("_G.lines = { 'hello there', 'ask Delete it' }")
    child.type_keys("p")
    asked_agent(name, "hello there")
    child.lua([[require("hermes").on_request("PermissionRequest", function() end)]])
    child.type_keys("p")
    shows("    waits for a handler: PermissionRequest, Delete it")
    shows("session hello there (s1): waits for you")
    child.lua("_G.picks = { 'refuse' }")
    go_to("waits for a handler")
    child.type_keys("a")
    shows("session hello there (s1): idle")
    child.lua([[require("hermes").on_request("PermissionRequest", nil)]])
    go_to("session hello there (s1)")
    child.type_keys("f")
    shows("session s1-fork")
    go_to("session hello there (s1):")
    child.type_keys("X")
    wait_for("s1 gone", function()
      return not screen():find("(s1):", 1, true)
    end)
    go_to("agent " .. name)
    child.type_keys("l")
    shows("session/new")
    child.type_keys("q")
    child.cmd("Hermes status")
    go_to("agent " .. name)
    child.type_keys("D")
    shows("agent " .. name .. ": not connected")
    go_to("agent " .. name)
    child.type_keys("c")
    shows("agent " .. name .. ": ready")
  end)
end)

describe("<Plug> maps", function()
  before_each(fresh)

  it("run the subcommands, and take no keys by themselves", function()
    local name = connect({ modes = modes })
    eq(
      get([[vim.iter(vim.api.nvim_get_keymap("n")):filter(function(m)
        return m.rhs and m.rhs:find("Hermes") and not m.lhs:find("^<Plug>") end):totable()]]),
      {}
    )
    child.lua([[for _, name in ipairs({ "new", "prompt", "status", "cancel", "mode", "respond" }) do
      vim.keymap.set({ "n", "x" }, "," .. name, "<Plug>(hermes-" .. name .. ")") end]])
    child.type_keys(",new")
    sessions(1)
    child.lua("_G.lines = { 'from a map', 'about this' }")
    child.type_keys(",prompt")
    asked_agent(name, "from a map")
    child.api.nvim_buf_set_lines(0, 0, -1, false, { "one two three", "four" })
    child.type_keys("0", "w", "v", "e", ",prompt")
    asked_agent(name, "about this")
    asked_agent(name, [[```\ntwo\n```]])
    eq(child.api.nvim_get_mode().mode, "n")
    child.cmd("Hermes prompt hold")
    wait_for("turn", function()
      return get([[require("hermes").sessions()[1].state]]) == "running"
    end)
    child.type_keys(",cancel")
    wait_for("end", function()
      return get([[require("hermes").sessions()[1].state]]) == "idle"
    end)
    child.type_keys(",mode")
    eq(get("menus[1][1]"), "Mode")
    child.type_keys(",respond")
    noted("no question is waiting")
    child.type_keys(",status")
    shows("(s1): ")
  end)
end)
