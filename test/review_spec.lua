-- The review on a real screen, with the real host and an agent. Needs bin/hermes (make build).

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local root = vim.fs.dirname(vim.fs.dirname(here))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local eq = MiniTest.expect.equality

local screen ---@type hermes.test.Screen
local dir ---@type string of the project

---@param name string
---@param text string
local function put(name, text)
  local file = assert(io.open(dir .. "/" .. name, "wb"))
  file:write(text)
  file:close()
end

---@param name string
---@return string?
local function get(name)
  local file = io.open(dir .. "/" .. name, "rb")
  local text = file and file:read("*a")
  if file then
    file:close()
  end
  return text
end

local function lua(code, ...)
  return screen:lua(code, ...)
end

---@param is string Lua expression
local function wait_for(is)
  screen:wait_for(is, function()
    return lua("return " .. is)
  end)
end

--- Lets the agent do something in a turn.
---@param steps table[]
local function turn(steps)
  local before = lua("return ended")
  lua("hermes.prompt(session, vim.json.encode(...))", steps)
  wait_for(("ended > %d"):format(before))
end

--- Calls a function of the review and returns its result.
---@param name string such as "review.files"
---@param ... any without the options
---@return table
local function run(name, ...)
  lua(
    [[local name, opts, args = ...
    answer = nil
    opts.on_done = function(err, result)
      answer = { err = err and err.kind, message = err and err.message, result = result }
    end
    args[#args + 1] = opts
    hermes.review[name](unpack(args))]],
    (name:gsub("^review%.", "")),
    ...
  )
  wait_for("answer ~= nil")
  return lua("return answer")
end

--- As run(), for one argument before the options.
---@param name string
---@param what any
---@param opts? table
---@return table result
local function decide(name, what, opts)
  local answer = run(name, opts or vim.empty_dict(), { what })
  assert(answer.result, answer.message)
  for _, f in ipairs(answer.result.files or {}) do
    assert(not f.error, f.error)
  end
  return answer.result
end

---@param name string
---@param opts? table
---@return table result
local function ask(name, opts)
  local answer = run(name, opts or vim.empty_dict(), {})
  assert(answer.result, answer.message)
  for _, f in ipairs(answer.result.files or {}) do
    assert(not f.error, f.error)
  end
  return answer.result
end

---@return any[] { first, count, old } of each hunk of the current buffer
local function hunks()
  return lua([[return vim.tbl_map(function(h)
    return { h.first, h.count, table.concat(h.old, "|") }
  end, hermes.review.hunks())]])
end

---@param want any[]
local function wait_for_hunks(want)
  local ok = vim.wait(30000, function()
    return vim.deep_equal(hunks(), want)
  end, 10)
  eq({ ok, hunks() }, { true, want })
end

---@return string of the current buffer
local function text()
  return lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') .. '\\n'")
end

---@param name string
local function edit(name)
  lua("vim.cmd('silent edit ' .. vim.fn.fnameescape(...))", dir .. "/" .. name)
end

---@param line string
local function command(line)
  screen:type(":" .. line .. "<CR>")
end

---@param view? boolean
local function start(view)
  dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
  vim.fn.mkdir(dir, "p")
  screen = screens.start()
  screen:lua(
    [[local root, program, dir, view = ...
    _G.notes, _G.ended, _G.heard = {}, 0, {}
    vim.cmd.cd(dir)
    _G.hermes = require("hermes")
    hermes.setup({
      attention = { done = false },
      review = { view = view },
      agents = { spec = {
        command = program,
        args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
      } },
    })
    hermes.on({ "FileEdited", "ReviewUpdated", "CheckpointCreated" }, function(data, name)
      heard[#heard + 1] = { name, data.path and vim.fs.basename(data.path) or data.name }
    end)
    hermes.on("TurnEnded", function() ended = ended + 1 end)
    hermes.connect("spec")
    hermes.create_session({ cwd = dir, on_done = function(err, result)
      _G.session = assert(result, err and err.message).sessionId
    end })]],
    root,
    vim.v.progpath,
    dir,
    view ~= false
  )
  wait_for("session ~= nil")
end

local six = "one\ntwo\nthree\nfour\nfive\nsix\n"
local changed = "one\nTWO\nthree\nfour\nfive\nnew\nsix\n"

describe("the review", function()
  before_each(start)
  after_each(function()
    screen:stop()
  end)

  it("shows what an agent wrote into a buffer, hunk by hunk, and takes decisions", function()
    put("a.txt", six)
    edit("a.txt")
    turn({ { write = dir .. "/a.txt", content = changed } })
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    screen:wait_for_text("┃ TWO")
    screen:wait_for_text("  two")

    -- One is accepted, and undone.
    local decided = decide("review.accept", lua("return hermes.review.hunks()[1]"))
    wait_for_hunks({ { 6, 1, "" } })
    screen:wait_for("no sign", function()
      return not screen:shows("┃ TWO")
    end)
    decide("review.undo", decided.decision)
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })

    -- The other is rejected.
    decide("review.reject", lua("return hermes.review.hunks()[2]"))
    wait_for_hunks({ { 2, 1, "two" } })
    eq(text(), "one\nTWO\nthree\nfour\nfive\nsix\n")
    eq(get("a.txt"), text())
    eq(lua("return vim.bo.modified"), false)

    -- Undo of the editor is an undo of the decision.
    screen:type("u")
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    eq(text(), changed)

    decide("review.reject", "all")
    wait_for_hunks({})
    eq({ text(), get("a.txt") ~= nil }, { six, true })
    decide("review.undo", "all")
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
  end)

  it("decides about what was shown, and not about what an agent has made of it since", function()
    put("a.txt", six)
    edit("a.txt")
    turn({ { write = dir .. "/a.txt", content = changed } })
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    local seen = lua("return hermes.review.hunks()")
    local file = { bufnr = 0, version = math.max(seen[1].version, seen[2].version) }
    local grown = changed:gsub("TWO\n", "TWO\nmore\n")
    turn({ { write = dir .. "/a.txt", content = grown } })
    wait_for_hunks({ { 2, 2, "two" }, { 7, 1, "" } })
    for _, name in ipairs({ "accept", "reject" }) do
      for _, what in ipairs({ seen[1], file }) do
        eq(run("review." .. name, vim.empty_dict(), { what }).err, "changed")
      end
    end
    eq({ text(), #ask("review.pending").hunks }, { grown, 2 })
    decide("review.accept", seen[2]) -- the agent has changed the other one only
    wait_for_hunks({ { 2, 2, "two" } })
    lua("vim.api.nvim_buf_set_lines(0, 2, 3, true, { 'mine' })") -- the user's change is none
    decide("review.accept", lua("return hermes.review.hunks()[1]"))
    wait_for_hunks({})
  end)

  it("goes back only to what was shown", function()
    put("a.txt", six)
    edit("a.txt")
    turn({ { write = dir .. "/a.txt", content = changed } })
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    local point = ask("review.checkpoints").checkpoints[1]
    local shown = decide("review.restore", point, { preview = true }).shown
    put("b.txt", "")
    turn({ { edit = dir .. "/b.txt", content = "new\n" } })
    screen:wait_for("the change", function()
      return #ask("review.files").files == 2
    end)
    eq(run("review.restore", { shown = shown }, { point }).err, "changed")
    eq({ text(), get("b.txt") }, { changed, "new\n" })
    shown = decide("review.restore", point, { preview = true }).shown
    decide("review.restore", point, { shown = shown })
    eq({ text(), get("b.txt") }, { six, "" })
  end)

  it("never shows what the user wrote as the agent's, and keeps it", function()
    put("a.txt", six)
    edit("a.txt")
    screen:type("ggOmine<Esc>")
    turn({ { write = dir .. "/a.txt", content = "mine\n" .. changed } })
    wait_for_hunks({ { 3, 1, "two" }, { 7, 1, "" } })
    screen:type("Gomine, too<Esc>")
    screen:type("3GAmine<Esc>")
    screen:wait_for("the user's line", function()
      return lua("local h = hermes.review.hunks()[1] return h and #h.user > 0")
    end)
    local answer = run("review.reject", vim.empty_dict(), { "all" })
    eq(answer.err, "touched")
    decide("review.reject", "all", { force = true })
    wait_for_hunks({})
    local left = text()
    eq({ left:find("^mine\none\n") ~= nil, left:find("TWOmine\n", 1, true) ~= nil }, { true, true })
    eq({ left:find("\nmine, too\n") ~= nil, left:find("new") }, { true, nil })
  end)

  it("has what agents do on the disk, in files that nobody opened, too", function()
    put("a.txt", six)
    put("gone.txt", "bye\n")
    turn({
      { edit = dir .. "/a.txt", content = changed },
      { edit = dir .. "/made.txt", content = "made\n" },
      { edit = dir .. "/gone.txt", content = vim.NIL },
    })
    local found = {}
    screen:wait_for("three files", function()
      found = ask("review.files").files
      return #found == 3
    end)
    eq(
      vim.tbl_map(function(file)
        return { vim.fs.basename(file.path), file.base, file.current, file.added, file.removed }
      end, found),
      {
        { "a.txt", "regular", "regular", 2, 1 },
        { "gone.txt", "regular", "absent", 0, 1 },
        { "made.txt", "absent", "regular", 1, 0 },
      }
    )
    eq(#ask("review.pending").hunks, 4)
    eq(#ask("review.pending", { path = dir .. "/a.txt" }).hunks, 2)
    eq(#decide("review.turn", lua("return session")).paths, 3)
    decide("review.reject", { path = dir .. "/made.txt" })
    eq(get("made.txt"), nil)
    decide("review.reject", { path = dir .. "/gone.txt" })
    eq(get("gone.txt"), "bye\n")
    decide("review.reject", { session_id = lua("return session") })
    eq(get("a.txt"), six)
    eq(ask("review.files").files, {})
  end)

  it("knows the base, who wrote a line, and what a change was", function()
    put("a.txt", six)
    edit("a.txt")
    lua([[_G.edits, _G.calls = {}, 0
    hermes.on("FileEdited", function(data) edits[#edits + 1] = data.change end)
    _G.off = hermes.review.on_change(function(change)
      calls = calls + (change.bufnr == vim.api.nvim_get_current_buf() and 1 or 0)
    end)]])
    turn({ { write = dir .. "/a.txt", content = changed } })
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    eq(decide("review.base", 0).text, six)
    local blame = decide("review.blame", 0).lines
    eq({ #blame, blame[1].first, blame[1].last, blame[1].pending }, { 2, 2, 2, true })
    eq(blame[1].author.sessionId, lua("return session"))
    wait_for("#edits > 0")
    local change = decide("review.change", lua("return edits[1]"))
    eq({ change.before.text, change.after.text }, { six, changed })
    eq({ lua("return #edits"), lua("return calls > 0") }, { 1, true })
    lua("off() calls = 0")
    decide("review.accept", "all")
    wait_for_hunks({})
    eq(lua("return calls"), 0)
    eq(decide("review.blame", 0).lines[1].pending, false)
  end)

  it("goes back to a prompt and forth again", function()
    put("a.txt", six)
    edit("a.txt")
    turn({ { write = dir .. "/a.txt", content = changed } })
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    screen:type("Gomine<Esc>:silent write<CR>")
    screen:wait_for("the user's line", function()
      return get("a.txt") == changed .. "mine\n"
    end)
    local list = ask("review.checkpoints").checkpoints
    eq({ #list, list[1].sessionId }, { 1, lua("return session") })
    local preview = decide("review.restore", list[1], { preview = true })
    eq({ #preview.files, vim.fs.basename(preview.files[1].path) }, { 1, "a.txt" })
    eq(preview.files[1].diff:find("\n one\n-TWO\n+two\n three\n", 1, true) ~= nil, true)
    eq(text(), changed .. "mine\n")
    local restored = decide("review.restore", list[1])
    wait_for_hunks({})
    eq(text(), six .. "mine\n")
    decide("review.undo", restored.decision)
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    eq(text(), changed .. "mine\n")
  end)

  it("sends comments to the session that wrote the hunk", function()
    put("a.txt", six)
    edit("a.txt")
    turn({ { write = dir .. "/a.txt", content = changed } })
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    lua([[_G.said = ""
    hermes.on("AgentTextMessage", function(data) said = said .. data.text end)
    hermes.review.comment(hermes.review.hunks()[1], "Why not four?")]])
    wait_for("said:find('four?', 1, true) ~= nil")
    local said = lua("return said")
    eq(said:find(dir .. "/a.txt, line 2:", 1, true) ~= nil, true)
    eq(said:find("```diff\n-two\n+TWO\n```\n\nWhy not four?", 1, true) ~= nil, true)

    -- With it, a question is refused.
    lua([[_G.said, _G.asked = "", nil
    hermes.on_request("PermissionRequest", function(data) asked = data.requestId end)
    hermes.prompt(session, "ask Edit")]])
    wait_for("asked ~= nil")
    lua([[hermes.review.comment(hermes.review.hunks()[1], "No.", { deny = asked })]])
    wait_for("said:find('No.', 1, true) ~= nil")
    eq(lua("return #hermes.pending()"), 0)

    local answer = run(
      "comment",
      { session_id = "nobody" },
      { lua("return hermes.review.hunks()[1]"), "x" }
    )
    eq(answer.err, "no_session")
  end)

  it("fills the quickfix list", function()
    put("a.txt", six)
    put("b.txt", "x\n")
    turn({
      { edit = dir .. "/a.txt", content = changed },
      { edit = dir .. "/b.txt", content = "\27[1my\n" },
    })
    screen:wait_for("three hunks", function()
      return #ask("review.pending").hunks == 3
    end)
    eq(ask("review.quickfix", { open = false }).count, 3)
    eq(
      lua([[return vim.tbl_map(function(item)
        local name = vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr))
        return { name, item.lnum, item.text, item.user_data.kind }
      end, vim.fn.getqflist())]]),
      {
        { "a.txt", 2, "+1 -1  TWO", "text" },
        { "a.txt", 6, "+1 -0  new", "text" },
        { "b.txt", 1, "+1 -1  <1b>[1my", "text" },
      }
    )
  end)

  it("refuses wrong arguments by name", function()
    local function problem(code)
      return lua("local ok, err = pcall(function() " .. code .. " end) return err"):gsub(
        "^.-: ",
        "",
        1
      )
    end
    eq(problem("hermes.review.accept()"):find('a hunk, "all"', 1, true) ~= nil, true)
    eq(problem("hermes.review.accept({})"):find('a hunk, "all"', 1, true) ~= nil, true)
    eq(problem("hermes.review.reject({ pathh = 'x' })"):find("did you mean", 1, true) ~= nil, true)
    eq(
      problem("hermes.review.files({ on_doen = print })"):find("did you mean", 1, true) ~= nil,
      true
    )
    eq(problem("hermes.review.on_change(1)"):find("function", 1, true) ~= nil, true)
    eq(problem("hermes.review.restore()"):find("the checkpoint", 1, true) ~= nil, true)
  end)

  it("waits in coroutines", function()
    put("a.txt", six)
    turn({ { edit = dir .. "/a.txt", content = changed } })
    screen:wait_for("the change", function()
      return #ask("review.files").files == 1
    end)
    lua([[hermes.async(function()
      _G.count = #hermes.await.review.files().files
      _G.found = hermes.await.review.pending({}).hunks
      _G.made = hermes.await.review.accept(found[1])
    end)]])
    wait_for("made ~= nil")
    eq(lua("return { count, #found, type(made.decision) }"), { 1, 2, "number" })
    local problem = lua([[local ok, err = pcall(function() return hermes.await.review.hunks end)
    return err]])
    eq(problem:find("no function") ~= nil, true)
  end)

  it("can be off, by one key", function()
    lua("hermes.setup({ review = false })")
    put("a.txt", six)
    edit("a.txt")
    turn({ { write = dir .. "/a.txt", content = changed } })
    local answer = run("review.files", vim.empty_dict(), {})
    eq({ answer.err, hunks() }, { "off", {} })
    eq(lua("return { #heard, require('hermes.doc.applied').take == nil }"), { 0, true })
  end)
end)

describe("the view of the review", function()
  before_each(start)
  after_each(function()
    screen:stop()
  end)

  local function two_files()
    put("a.txt", six)
    put("b.txt", "x\n")
    edit("a.txt")
    turn({
      { write = dir .. "/a.txt", content = changed },
      { edit = dir .. "/b.txt", content = "y\n" },
    })
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
  end

  it("goes to hunks, decides about them and undoes it, by command and by mapping", function()
    two_files()
    lua([[for _, name in ipairs({ "next", "previous", "accept", "reject", "undo", "comment" }) do
      vim.keymap.set({ "n", "x" }, "," .. name:sub(1, 1), ("<Plug>(hermes-review-%s)"):format(name))
    end]])
    command("Hermes review next")
    wait_for("vim.fn.line('.') == 2")
    screen:type(",n")
    wait_for("vim.fn.line('.') == 6")
    screen:type(",p")
    wait_for("vim.fn.line('.') == 2")
    command("Hermes review previous")
    wait_for("vim.fn.line('.') == 6")
    screen:type(",r")
    wait_for_hunks({ { 2, 1, "two" } })
    screen:type(",u")
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    screen:type("2G,a")
    wait_for_hunks({ { 6, 1, "" } })
    command("Hermes review undo")
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    screen:type("ggVG,r")
    wait_for_hunks({})
    eq(text(), six)
    command("Hermes review undo all")
    wait_for_hunks({ { 2, 1, "two" }, { 6, 1, "" } })
    command("Hermes review accept file")
    wait_for_hunks({})
    command("Hermes review reject all")
    screen:wait_for("the old text", function()
      return get("b.txt") == "x\n"
    end)
    eq(text(), changed)
  end)

  it("lists files and hunks, and opens them", function()
    two_files()
    command("Hermes review")
    screen:wait_for_text("Review: 2 files, +3 -2")
    screen:wait_for_text("a.txt  +2 -1  2 hunks")
    screen:wait_for_text("b.txt  +1 -1  1 hunk")
    screen:type("j<CR>")
    wait_for("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'b.txt'")
    screen:wait_for_text("┃ y")
    command("Hermes review hunks")
    screen:wait_for_text("a.txt:6  +1 -0  new")
    screen:type("j<CR>")
    wait_for("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'a.txt' and vim.fn.line('.') == 6")
    command("Hermes review quickfix")
    wait_for("#vim.fn.getqflist() == 3 and vim.bo.buftype == 'quickfix'")
  end)

  it("names ten sessions of a file, and counts the others", function()
    lua([[local files = {}
    for i, count in ipairs({ 10, 11, 12 }) do
      local sessions = {}
      for k = 1, count do sessions[k] = ("s%d"):format(k) end
      files[i] = { path = vim.fn.getcwd() .. "/f" .. i, hunks = 1, added = 1, removed = 0,
        base = "regular", current = "regular", sessions = sessions }
    end
    hermes.review.files = function(opts)
      opts.on_done(nil, { files = files, total = 3, more = 0, unseen = 0, added = 3, removed = 0,
        elsewhere = {}, names = { s2 = "asked", s11 = "not named" } })
    end]])
    command("Hermes review")
    wait_for("vim.bo.filetype == 'hermes'")
    local named = "  +1 -0  1 hunk, s1, asked, s3, s4, s5, s6, s7, s8, s9, s10"
    eq(lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), {
      "f1" .. named,
      "f2" .. named .. ", 1 more session",
      "f3" .. named .. ", 2 more sessions",
    })
    lua("hermes.sessions = function() return { { sessionId = 's1', name = 'open' } } end")
    command("Hermes review")
    wait_for("vim.api.nvim_get_current_line():find('1 hunk, open, asked, s3', 1, true) ~= nil")
  end)

  it("shows 20,000 lines of the diffs of a restore, and goes back below them, too", function()
    lua([[local function file(name, count)
      local diff = { "--- a", "+++ b" }
      for i = 1, count do diff[i + 2] = i == 1 and "@@ -1 +1 @@" or "+" .. i end
      return { path = vim.fn.getcwd() .. "/" .. name, added = 1, removed = 2,
        diff = table.concat(diff, "\n") .. "\n" }
    end
    local files = { file("a", 19998), file("b", 2), file("c", 1), file("d", 0) }
    files[3].cut = true
    _G.files, _G.restored = files, nil
    hermes.review.restore = function(_, opts)
      restored = opts.shown
      opts.on_done(nil, { files = files, shown = "this" })
    end
    require("hermes.view.review.lists").restore({ id = "c", name = "c", root = "/" }, {})
    function _G.last(count) return vim.api.nvim_buf_get_lines(0, -count - 1, -1, false) end]])
    wait_for("vim.bo.filetype == 'hermes'")
    eq(lua("return last(7)"), {
      "  +19998",
      "b  +1 -2",
      "  @@ -1 +1 @@",
      "  +2",
      "c  +1 -2",
      "  …",
      "d  +1 -2",
    })
    eq(lua("return vim.api.nvim_buf_line_count(0)"), 20000 + 5)
    -- One more, and it is the end of its file that is not shown.
    lua([[vim.cmd.normal("q")
    files[2].diff = files[2].diff .. "+3\n"
    require("hermes.view.review.lists").restore({ id = "c", name = "c", root = "/" }, {})]])
    eq(lua("return last(6)"), { "  @@ -1 +1 @@", "  +2", "  …", "c  +1 -2", "  …", "d  +1 -2" })
    screen:type("G<CR>")
    wait_for("restored == 'this'")
  end)

  it("acts on the line of the window that has the keys", function()
    two_files()
    for _, first_closes in ipairs({ false, true }) do
      lua("vim.cmd.only()")
      command("Hermes review")
      wait_for("vim.bo.filetype == 'hermes'")
      lua("vim.cmd('split | 2')")
      if first_closes then
        lua("vim.api.nvim_win_close(vim.fn.win_getid(vim.fn.winnr('#')), true)")
      end
      eq(lua("return vim.fn.getline('.'):match('%S+')"), "b.txt")
      screen:type("<CR>")
      wait_for("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'b.txt'")
    end
    eq(lua("return vim.v.errmsg"), "")
  end)

  it("opens a file without its modelines, in a window of its own if it has to", function()
    two_files()
    lua("vim.o.modeline = true")
    local file = assert(io.open(dir .. "/b.txt", "ab"))
    file:write("vim: set nosuchoption ts=31 :\n")
    file:close()
    command("Hermes review")
    screen:wait_for_text("Review: 2 files")
    screen:type("j<CR>")
    wait_for("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'b.txt'")
    eq(lua("return vim.bo.tabstop ~= 31"), true)
    command("new | set winfixbuf")
    command("Hermes review hunks")
    screen:wait_for_text("a.txt:6  +1 -0  new")
    screen:type("j<CR>")
    wait_for("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'a.txt' and vim.fn.line('.') == 6")
    eq(lua("return vim.v.errmsg"), "")
    lua("hermes.review.open(..., 3)", dir .. "/b.txt") -- what the lists do, for plugins
    eq(lua("return vim.fs.basename(vim.api.nvim_buf_get_name(0))"), "b.txt")
  end)

  it("shows a file beside its base", function()
    two_files()
    command("Hermes review diff")
    wait_for("#vim.api.nvim_list_tabpages() == 2")
    wait_for("vim.wo.diff")
    screen:wait_for_text("base")
    eq(
      lua([[return vim.tbl_map(function(win)
        local buf = vim.api.nvim_win_get_buf(win)
        return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n") .. "\n"
      end, vim.api.nvim_tabpage_list_wins(0))]]),
      { six, changed }
    )
    -- Deleted lines would shift one side.
    local virtual = [[#vim.tbl_filter(function(mark)
      return mark[4].virt_lines
    end, vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("a.txt"), -1, 0, -1, { details = true }))]]
    wait_for(virtual .. " == 0")
    screen:wait_for("lines side by side", function()
      return screen:text():find("six +│ *[┃%s]*six") ~= nil
    end)
    command("tabclose")
    wait_for("#vim.api.nvim_list_tabpages() == 1 and not vim.wo.diff")
    wait_for(virtual .. " > 0")
    for _, leave in ipairs({ "quit", "wincmd h | quit" }) do -- the file, the base
      command("Hermes review diff")
      wait_for("vim.wo.diff and #vim.api.nvim_tabpage_list_wins(0) == 2")
      command(leave)
      wait_for([[#vim.tbl_filter(function(win)
        return vim.wo[win].diff or vim.wo[win].statusline == "base"
      end, vim.api.nvim_list_wins()) == 0]])
      command("silent! tabonly")
    end
  end)

  it("goes back to a checkpoint after it has shown what would change", function()
    two_files()
    command("Hermes review checkpoints")
    screen:wait_for_text("Checkpoints: <CR>")
    screen:type("<CR>")
    screen:wait_for_text("goes back, q does not")
    screen:wait_for_text("a.txt  +1 -2")
    screen:wait_for_text("-TWO")
    screen:wait_for_text("+two")
    eq(text() ~= six, true)
    screen:type("<CR>")
    screen:wait_for("the old text", function()
      return get("a.txt") == six and get("b.txt") == "x\n"
    end)
    command("Hermes review undo")
    screen:wait_for("the agent's text", function()
      return get("a.txt") == changed and get("b.txt") == "y\n"
    end)
    command("Hermes review restore " .. ask("review.checkpoints").checkpoints[1].id)
    screen:wait_for_text("goes back, q does not")
    screen:type("q")
  end)

  it("shows anew what would change when that is not what it has shown", function()
    two_files()
    command("Hermes review restore " .. ask("review.checkpoints").checkpoints[1].id)
    screen:wait_for_text("goes back, q does not")
    turn({ { edit = dir .. "/b.txt", content = "z\n" } })
    screen:wait_for("the change", function()
      return ask("review.pending", { path = dir .. "/b.txt" }).hunks[1].new[1] == "z"
    end)
    screen:type("<CR>")
    screen:wait_for_text("files have changed meanwhile; look again")
    screen:wait_for("the new list", function()
      return text():find("\n  -z\n", 1, true)
    end)
    eq({ get("a.txt"), get("b.txt") }, { changed, "z\n" })
    screen:type("<CR>")
    screen:wait_for("the old text", function()
      return get("a.txt") == six and get("b.txt") == "x\n"
    end)
  end)

  it("asks for a comment and sends it", function()
    two_files()
    lua([[_G.said = ""
    hermes.on("AgentTextMessage", function(data) said = said .. data.text end)]])
    screen:type("2G")
    command("Hermes review comment")
    screen:wait_for_text("Comment:")
    screen:type("Why?<CR>")
    wait_for("said:find('Why?', 1, true) ~= nil")
  end)

  it("asks for a second word before it rejects what the user has changed", function()
    two_files()
    screen:type("2GAmine<Esc>")
    wait_for("#(hermes.review.hunks()[1] or { user = {} }).user > 0")
    command("Hermes review reject")
    screen:wait_for_text("reject force")
    command("Hermes review reject force")
    wait_for_hunks({ { 7, 1, "" } })
    eq(text():find("TWOmine") ~= nil, true)
  end)

  it("can be hidden, and left out", function()
    two_files()
    screen:wait_for_text("┃ TWO")
    command("Hermes review off")
    screen:wait_for("no sign", function()
      return not screen:shows("┃ TWO")
    end)
    eq(#hunks(), 2)
    command("Hermes review on")
    screen:wait_for_text("┃ TWO")
    lua("hermes.setup({ review = { view = false } })")
    screen:wait_for("no sign", function()
      return not screen:shows("┃ TWO")
    end)
  end)

  it("completes its actions", function()
    local function complete(line)
      return lua("return vim.fn.getcompletion(..., 'cmdline')", line)
    end
    eq(complete("Hermes review "), {
      "accept",
      "checkpoints",
      "comment",
      "diff",
      "files",
      "hunks",
      "next",
      "off",
      "on",
      "previous",
      "quickfix",
      "reject",
      "restore",
      "undo",
    }) -- stylua: ignore
    eq(complete("Hermes review reject f"), { "file", "force" })
  end)
end)

--- The first example of the help after a tag.
---@param tag string
---@return string code
local function example(tag)
  local help = table.concat(vim.fn.readfile(root .. "/doc/hermes.txt"), "\n")
  local code = help:match(vim.pesc("*" .. tag .. "*") .. ".->lua\n(.-)\n<")
  return (assert(code, tag):gsub("%f[^\n]    ", ""))
end

-- A caller of the sources that does what the help of mini.diff says about them. With
-- HERMES_MINI_DIFF, a folder that holds lua/mini/diff.lua, the real one is used.
local caller = [[
local M, buffers = {}, {}
local config
_G.MiniDiff = M
M.gen_source = { git = function()
  return { name = "git", attach = function(buf) M.set_ref_text(buf, { "git" }) end }
end }
local function ends(text) return text:sub(-1) == "\n" and text or text .. "\n" end
function M.setup(opts)
  config = opts
  local list = opts.source[1] and opts.source or { opts.source }
  config.source = list
  vim.api.nvim_create_autocmd("BufEnter", { callback = function(args)
    if vim.bo[args.buf].buftype == "" then M.enable(args.buf) end
  end })
  M.enable(0)
end
local function number(buf) return buf == 0 and vim.api.nvim_get_current_buf() or buf end
function M.enable(buf)
  buf = number(buf)
  if buffers[buf] then return end
  for _, source in ipairs(config.source) do
    buffers[buf] = { source = source }
    if source.attach(buf) ~= false then return end
    buffers[buf] = nil
  end
end
function M.disable(buf)
  buf = number(buf)
  local mine = buffers[buf]
  buffers[buf] = nil
  if mine and mine.source.detach then mine.source.detach(buf) end
end
function M.set_ref_text(buf, text)
  buf = number(buf)
  assert(buffers[buf], "not enabled")
  buffers[buf].ref_text = ends(type(text) == "table" and table.concat(text, "\n") or text)
end
function M.get_buf_data(buf)
  buf = number(buf)
  local mine = buffers[buf]
  if not mine then return nil end
  local now = ends(table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n"))
  local hunks = {}
  local diff = vim.text and vim.text.diff or vim.diff
  for i, h in ipairs(diff(mine.ref_text or now, now, { result_type = "indices" })) do
    hunks[i] = { ref_start = h[1], ref_count = h[2], buf_start = h[3], buf_count = h[4] }
  end
  return { hunks = hunks, ref_text = mine.ref_text, summary = { source_name = mine.source.name } }
end
function M.do_hunks(buf, action)
  assert(action == "apply")
  buf = number(buf)
  buffers[buf].source.apply_hunks(buf, M.get_buf_data(buf).hunks)
end
return M
]]

describe("the recipes of the review", function()
  before_each(function()
    start(false)
  end)
  after_each(function()
    screen:stop()
  end)

  it("let comments go out from the quickfix window", function()
    lua(example("hermes-recipe-review-quickfix"))
    lua([[vim.g.mapleader = ","
    _G.said = ""
    hermes.on("AgentTextMessage", function(data) said = said .. data.text end)]])
    put("a.txt", six)
    turn({ { edit = dir .. "/a.txt", content = changed } })
    screen:wait_for("two hunks", function()
      return #ask("review.pending").hunks == 2
    end)
    lua("hermes.review.quickfix()")
    wait_for("vim.bo.buftype == 'quickfix'")
    screen:type("jc")
    screen:wait_for_text("Comment:")
    screen:type("Six is fine.<CR>")
    wait_for("said:find('Six is fine.', 1, true) ~= nil")
    eq(lua("return said:find('+new', 1, true) ~= nil"), true)
  end)

  it("let mini.diff show the hunks and accept them", function()
    lua(
      [[local real, caller = ...
      if real then
        vim.opt.rtp:append(real)
      else
        package.preload["mini.diff"] = assert(loadstring(caller))
      end]],
      vim.env.HERMES_MINI_DIFF or false,
      caller
    )
    put("a.txt", six)
    edit("a.txt")
    lua("_G.hermes = require('hermes') " .. example("hermes-recipe-mini-diff"))
    local function data(what)
      return ("(MiniDiff.get_buf_data(0) or { hunks = {}, summary = {} }).%s"):format(what)
    end
    turn({ { write = dir .. "/a.txt", content = changed } })
    wait_for("#" .. data("hunks") .. " == 2")
    eq(lua("return " .. data("summary.source_name")), lua("return hermes.review.mini_diff().name"))
    eq(lua("return " .. data("ref_text")), six)
    eq(screen:shows("┃"), false)

    -- What the user types is no change of an agent.
    screen:type("ggOmine<Esc>")
    wait_for(data("ref_text") .. " == " .. ("%q"):format("mine\n" .. six))
    wait_for("#" .. data("hunks") .. " == 2")

    lua("MiniDiff.do_hunks(0, 'apply')")
    wait_for_hunks({})
    wait_for(data("summary.source_name") .. " ~= 'hermes'")
  end)
end)
