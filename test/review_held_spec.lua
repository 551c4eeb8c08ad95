-- What the host hears of the buffers that hold files under review. A mirror follows the messages as
-- the host does; it must always have the text of the buffer.

local this = assert(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local root = vim.fs.dirname(vim.fs.dirname(this))
local eq = MiniTest.expect.equality
local pace = dofile(root .. "/test/pace.lua")

local child = MiniTest.new_child_neovim()

-- Between two chances for the user's keys: about 30 ms on a slow machine, as in budget_spec.lua.
local most_instructions = 30e6

--- Runs in the child: the other end of the messages.
local prelude = [=[
local root, dir = ...
vim.opt.rtp:prepend(root)
vim.cmd.cd(dir)
vim.o.swapfile, vim.o.showmode = false, false
_G.held = require("hermes.doc.held")
_G.disk, _G.buffer_text = require("hermes.core.disk"), require("hermes.doc.buffer_text")
_G.changed = require("hermes.doc.applied")
_G.said, _G.mirrors, _G.undone = {}, {}, {}
local function split(text)
  local lines, at = {}, 1
  while at <= #text do
    local stop = text:find("\n", at, true) or #text
    lines[#lines + 1] = text:sub(at, stop)
    at = stop + 1
  end
  return lines
end
local follow = {
  hold = function(m) mirrors[m.path] = split(m.text) end,
  changed = function(m) mirrors[m.path] = m.text and split(m.text) end,
  release = function(m) mirrors[m.path] = nil end,
  applied = function(m) mirrors[m.path] = m.ok and target and split(target) or mirrors[m.path] end,
  edited = function(m)
    local mirror = mirrors[m.path]
    for _, edit in ipairs(m.edits) do
        local new = vim.list_slice(mirror, 1, edit.start)
      vim.list_extend(new, edit.lines)
      mirror = vim.list_extend(new, mirror, edit["end"] + 1)
      undone[#undone + 1] = edit.undo or false
    end
    mirrors[m.path] = mirror
  end,
}
require("hermes.core.rpc").send = function(op, id, payload)
  local what = assert(op:match("^review%.(%w+)$"))
  assert(id == "")
  payload = vim.json.decode(vim.json.encode(payload)) -- it can be sent
  said[#said + 1] = vim.tbl_extend("error", { what = what }, payload)
  if follow[what] then
    follow[what](payload)
  end
end
held.start()
--- Counts instructions of Lua, because time depends on what else the machine does.
---@return fun(): integer the most between two ticks of a timer
function _G.Instructions()
  jit.off()
  local count, worst, timer = 0, 0, vim.uv.new_timer()
  debug.sethook(function() count = count + 1000 end, "", 1000)
  timer:start(0, 1, function()
    worst, count = math.max(worst, count), 0
  end)
  return function()
    timer:stop()
    debug.sethook()
    jit.on()
    return math.max(worst, count)
  end
end
function _G.Flush()
  for _, buf in ipairs(held.buffers()) do
    held.flush(buf)
  end
end
--- Opens a file and holds it.
function _G.Open(name, text)
  local path = dir .. "/" .. name
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  vim.cmd("silent edit! " .. vim.fn.fnameescape(path))
  held.receive("hold", { path = vim.uv.fs_realpath(path) })
  said, undone = {}, {}
  return path
end
function _G.Mirror()
  return mirrors[vim.uv.fs_realpath(vim.api.nvim_buf_get_name(0))]
end
--- What the mirror lacks, or has too much.
function _G.Wrong()
  Flush()
  local text = buffer_text.text(0)
  local mirror = Mirror()
  local mine = mirror and table.concat(mirror)
  if mine ~= text then
    return vim.inspect({ mirror = mine, text = text, said = said })
  end
end
--- Changes the lines of the current buffer as an agent's write does.
function _G.Write(first, last, lines)
  local buf = vim.api.nvim_get_current_buf()
  local ok, _, before = changed.apply(buf, function()
    vim.api.nvim_buf_set_lines(buf, first, last, true, lines)
  end)
  assert(ok)
  changed.report({
    bufnr = buf,
    agent = "a",
    sessionId = "s",
    source = "write",
    outcome = "written",
    before = before,
  })
end
function _G.File()
  return (disk.read(vim.api.nvim_buf_get_name(0)))
end
--- Carries out a decision about the current buffer, as the host asks for it.
function _G.Apply(item)
  item.path = vim.api.nvim_buf_get_name(0)
  item.tick = item.tick or vim.b.changedtick
  held.receive("apply", item)
  for i = #said, 1, -1 do
    if said[i].what == "applied" then
      return said[i]
    end
  end
end
function _G.Kinds()
  return vim.tbl_map(function(m) return m.what end, said)
end
]=]

local dir

local function start()
  dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
  vim.fn.mkdir(dir, "p")
  child.restart({ "--headless" })
  child.lua(prelude, { root, dir })
end

local function lua(code, ...)
  return child.lua(code, { ... })
end

local function wrong()
  return lua("return Wrong()")
end

describe("a held buffer", function()
  before_each(start)
  after_each(function()
    child.stop()
  end)

  it("is sent as a whole, then by the lines that the user changes", function()
    lua([[Open("a", "one\ntwo\nthree\n")]])
    child.type_keys("jccTWO<Esc>")
    eq(wrong(), vim.NIL)
    eq(lua("return Kinds()"), { "edited" })
    eq(lua("return said[1].edits"), { { start = 1, ["end"] = 2, lines = { "TWO\n" } } })
    child.type_keys("ofour<CR>five<Esc>", "ggdd", "Gp")
    eq(wrong(), vim.NIL)
  end)

  it("says a moment after an edit what it was, without being asked", function()
    lua([[Open("a", "one\n")]])
    child.type_keys("ccx")
    local heard = vim.wait(60000, function()
      return lua("return #said") > 0
    end, 5)
    eq({ heard, lua("return said[1].edits") }, {
      true,
      { { start = 0, ["end"] = 1, lines = { "x\n" } } },
    })
  end)

  it("tells undo and redo from other edits", function()
    lua([[Open("a", "one\ntwo\nthree\n")]])
    child.type_keys("x")
    eq(wrong(), vim.NIL)
    child.type_keys("u")
    eq(wrong(), vim.NIL)
    child.type_keys("<C-r>")
    eq(wrong(), vim.NIL)
    child.type_keys("jx")
    eq(wrong(), vim.NIL)
    eq(lua("return undone"), { false, true, true, false })
  end)

  it("never calls what was typed an undo, however fast the undo follows", function()
    lua([[held.pause_ms = 60000
    Open("a", "one\ntwo\nthree\n")]])
    child.type_keys("xu", "jxjx", "u", "iab<Esc>")
    eq(wrong(), vim.NIL)
    child.type_keys("u")
    eq(wrong(), vim.NIL)
    for _, message in ipairs(lua("return said")) do
      for _, edit in ipairs(message.edits) do
        eq(edit.undo and table.concat(edit.lines):find("ab") or nil, nil)
      end
    end
  end)

  it("keeps an agent's writes out of the user's edits, in the order in which both came", function()
    lua([[Open("a", "one\ntwo\nthree\n")]])
    child.type_keys("ccmine<Esc>")
    lua([[Write(2, 3, { "agent", "agent" })]])
    child.type_keys("Gomore<Esc>")
    eq(wrong(), vim.NIL)
    eq(lua("return Kinds()"), { "edited", "changed", "edited" })
    eq(lua("return { said[2].text, said[2].before or false, said[2].sessionId, said[2].source }"), {
      "mine\ntwo\nagent\nagent\n",
      false,
      "s",
      "write",
    })
    eq(lua("return said[3].edits[1].lines"), { "more\n" })
  end)

  it("says what a buffer was before an agent's first write to it", function()
    lua(
      [[local path = ...
    vim.fn.writefile({ "x" }, path)
    vim.cmd("silent edit " .. path)
    Write(1, 1, { "agent" })]],
      dir .. "/b"
    )
    eq(
      lua("return { said[1].what, said[1].before, said[1].text }"),
      { "changed", "x\n", "x\nagent\n" }
    )
  end)

  it("is the same after other line ends, a missing last one, a mark, and nothing at all", function()
    for name, text in pairs({
      dos = "one\r\ntwo\r\n",
      noeol = "one\ntwo",
      bom = "\239\187\191one\ntwo\n",
      empty = "",
      line = "\n",
      blank = "\n\n",
    }) do
      local all = { "x", "ggOnew<Esc>", "Gonew<Esc>", "ggdG", "u", "Goa<CR>b<Esc>ggdd" }
      for _, keys in ipairs(all) do
        lua("Open(...)", name, text)
        child.type_keys(keys)
        eq({ name, keys, wrong() }, { name, keys, vim.NIL })
        child.type_keys("u")
        eq({ name, keys, "u", wrong() }, { name, keys, "u", vim.NIL })
        child.cmd("silent write")
        eq({ name, keys, "w", wrong() }, { name, keys, "w", vim.NIL })
      end
    end
    lua("Open('f', 'one\\ntwo\\n')")
    child.cmd("set fileformat=dos")
    eq(wrong(), vim.NIL)
    child.cmd("set bomb")
    eq(wrong(), vim.NIL)
  end)

  it("is not held when its bytes cannot be sent by lines", function()
    for name, text in pairs({
      latin1 = "caf\233\n",
      zero = "a\0b\n",
      mac = "one\rtwo\r",
    }) do
      child.o.fileformats = name == "mac" and "mac" or "unix,dos"
      lua("Open(...)", name, text)
      eq({ name, lua("return Mirror() == nil") }, { name, true })
    end
    child.o.fileformats = "unix,dos"
    lua("Open('c', 'one\\n')")
    child.type_keys("A<C-v>xff<Esc>") -- U+00FF
    eq(wrong(), vim.NIL)
    lua([[vim.api.nvim_buf_set_lines(0, 0, 1, true, { "a\255" }) Flush()]])
    eq(lua("return Mirror() == nil"), true)
  end)

  it("says when it was written, renamed and closed", function()
    lua([[Open("a", "one\n")]])
    child.type_keys("x")
    child.cmd("silent write")
    eq(lua("return Kinds()"), { "edited", "wrote" })
    child.cmd("silent write " .. dir .. "/other")
    eq(lua("return { said[2].path, said[3].path }"), { dir .. "/a", dir .. "/other" })
    child.cmd("silent file " .. dir .. "/b")
    eq(lua("return Kinds()"), { "edited", "wrote", "wrote", "release" })
    lua([[Open("c", "one\n")]])
    child.cmd("bdelete!")
    lua("assert(vim.wait(60000, function() return #said > 0 end))")
    eq(lua("return Kinds()"), { "release" })
  end)

  it("says of a file that is held elsewhere what it was and is when it was written", function()
    lua([[local dir = ... disk.folders = function() return { dir } end]], dir)
    ---@param text string? what the file is, nil for none
    ---@param keys string
    ---@param want table
    local function writes(text, keys, want)
      if text then
        lua(
          "local f = assert(io.open(..., 'wb')) f:write(select(2, ...)) f:close()",
          dir .. "/a",
          text
        )
      else
        vim.fn.delete(dir .. "/a")
      end
      child.cmd("silent edit " .. dir .. "/a")
      lua("said = {}")
      child.type_keys(keys)
      child.cmd("silent write")
      local said = lua("return said")
      eq(#said, 1)
      eq({ said[1].path, said[1].before, said[1].text }, { dir .. "/a", want[1], want[2] })
      child.cmd("bwipeout")
    end
    writes("one\n", "ra", { "one\n", "ane\n" })
    writes("", "ia<Esc>", { "", "a\n" })
    writes(nil, "ia<Esc>", { nil, "a\n" })
    writes("\252ber\n", "xia<Esc>", { nil, nil }) -- in Latin-1
    writes(("x"):rep(8 * 1024 * 1024 + 1), "x", { nil, nil })
    -- What was there when another program wrote the file counts, not what the buffer began with.
    vim.fn.writefile({ "one" }, dir .. "/a")
    child.cmd("silent edit " .. dir .. "/a")
    child.type_keys("ra")
    vim.fn.writefile({ "two" }, dir .. "/a")
    lua("said = {}")
    child.cmd("silent write!")
    eq(lua("return { said[1].before, said[1].text }"), { "two\n", "ane\n" })
    child.cmd("silent write! " .. dir .. "/copy")
    eq(
      lua("return { said[2].path, said[2].before or false, said[2].text }"),
      { dir .. "/copy", false, "ane\n" }
    )
  end)

  it("is held again after :edit, and when it is opened again", function()
    lua([[Open("a", "one\n")]])
    child.type_keys("x")
    child.cmd("silent edit!")
    eq(wrong(), vim.NIL)
    eq(lua("return { said[#said].what, said[#said].reloaded or false }"), { "hold", false })
    child.type_keys("x")
    eq(wrong(), vim.NIL)
    child.cmd("bdelete!")
    lua("assert(vim.wait(60000, function() return next(mirrors) == nil end))")
    child.cmd("silent edit " .. dir .. "/a")
    eq(wrong(), vim.NIL)
    vim.fn.writefile({ "other", "text" }, dir .. "/a")
    child.cmd("silent edit")
    eq(wrong(), vim.NIL)
    eq(lua("return said[#said].reloaded"), true)
  end)

  it("is not held while the disk has what it lacks", function()
    lua([[Open("a", "one\n")]])
    child.cmd("bdelete!")
    lua("assert(vim.wait(60000, function() return next(mirrors) == nil end))")
    child.cmd("silent edit " .. dir .. "/b")
    child.type_keys("imine<Esc>")
    vim.fn.writefile({ "the agent's" }, dir .. "/b")
    lua("said = {} held.receive('hold', { path = ... })", dir .. "/b")
    eq(lua("return said"), {})
    child.cmd("silent write!")
    lua("assert(vim.wait(60000, function() return Mirror() ~= nil end))")
    eq(wrong(), vim.NIL)
  end)

  it("gets what the host has written before it knew that the buffer is held", function()
    lua([[Open("a", "one\n")]])
    vim.fn.writefile({ "two" }, dir .. "/a")
    lua("held.receive('hold', { path = ... })", dir .. "/a")
    lua("assert(vim.wait(60000, function() return vim.fn.getline(1) == 'two' end))")
    eq(wrong(), vim.NIL)
  end)

  it("costs less than 0.1 ms for each key", function()
    local ms = lua([[local lines = {}
    for i = 1, 10000 do
      lines[i] = ("line %d of a file with some text in it"):format(i)
    end
    held.pause_ms = 60000 -- flushed here
    Open("a", table.concat(lines, "\n") .. "\n")
    local other = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(other, 0, -1, false, lines)
    local buf = vim.api.nvim_get_current_buf()
    _G.sent = 0
    require("hermes.core.rpc").send = function(_, _, payload)
      sent = sent + #vim.json.encode(payload)
    end
    local count = 2000
    local function typed(into)
      local began = os.clock()
      for i = 1, count do
        vim.api.nvim_buf_set_text(into, 4000 + i, 0, 4000 + i, 0, { "k" })
        held.flush(into)
      end
      return (os.clock() - began) * 1000 / count
    end
    local plain, cost = typed(other), typed(buf)
    assert(sent > 50 * count)
    return cost - plain]])
    eq(ms < pace.most_ms(0.1, child.lua) or ms, true)
  end)

  it("is drawn in pieces, however large a hunk is", function()
    local worst, signs = unpack(lua([[local lines, old = {}, {}
    for i = 1, 100000 do
      lines[i] = "a line of the agent"
    end
    for i = 1, 1000 do
      old[i] = "a line that is gone\n"
    end
    Open("a", table.concat(lines, "\n") .. "\n")
    require("hermes.view.review.signs").start()
    local namespace = vim.api.nvim_get_namespaces()["hermes.review.view"]
    local function is_drawn() -- the last line is the last to be
      return #vim.api.nvim_buf_get_extmarks(0, namespace, { 99999, 0 }, -1, { limit = 1 }) > 0
    end
    local worst = Instructions()
    vim.schedule(function()
      held.receive("hunks", {
        path = held.path(vim.api.nvim_get_current_buf()),
        tick = vim.b.changedtick,
        hunks = { { id = 1, kind = "text", current = { start = 0, ["end"] = 100000 }, old = old } },
      })
    end)
    vim.wait(60000, is_drawn, 5)
    return { worst(), #vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, {}) }]]))
    eq({ signs, worst < most_instructions or worst }, { 100001, true })
  end)

  it("is drawn in pieces, however many hunks there are", function()
    local worst, signs, hunks = unpack(lua([[local lines, hunks = {}, {}
    for i = 1, 50000 do
      lines[i] = "a line of some length that nobody has changed"
    end
    for i = 1, 5000 do
      local first = 10 * i - 5
      hunks[i] = {
        id = i, path = "a", kind = "text", sessionId = "s", agent = "demo",
        base = { start = first, ["end"] = first + 2 },
        current = { start = first, ["end"] = first + 1 },
        old = { "a line that is gone\n", "and another one\n" },
        oldLines = 2, newLines = 1, user = {},
        authors = { {
          sessionId = "s", agent = "demo", turn = "prompt-1", toolCallId = "call-1",
          source = "tool", at = "2026-01-01T00:00:00Z",
        } },
      }
    end
    Open("a", table.concat(lines, "\n") .. "\n")
    require("hermes.view.review.signs").start()
    local namespace = vim.api.nvim_get_namespaces()["hermes.review.view"]
    local item = vim.json.encode({ "hunks", {
      path = held.path(vim.api.nvim_get_current_buf()), tick = vim.b.changedtick, hunks = hunks,
    } })
    local function is_drawn()
      return #vim.api.nvim_buf_get_extmarks(0, namespace, { 49995, 0 }, -1, { limit = 1 }) > 0
    end
    local worst = Instructions()
    vim.schedule(function()
      require("hermes.core.rpc").deliver(item)
    end)
    vim.wait(60000, is_drawn, 5)
    vim.wait(20) -- for the last tick
    local most = worst()
    local marks = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, {})
    return { most, #marks, #require("hermes.review").hunks() }]]))
    eq({ signs, hunks, worst < most_instructions or worst }, { 10000, 5000, true })
  end)

  it("has those hunks accepted that touch hunks of mini.diff", function()
    local seed = vim.uv.hrtime() % 1e6
    local fault = lua(
      [[local roll = dofile((...) .. "/test/dice.lua").new(select(2, ...))
      Open("a", ("a line\n"):rep(3000))
      local review, source = require("hermes.review"), require("hermes.view.review.mini_diff")
      local accepted
      review.accept = function(hunk) accepted[#accepted + 1] = hunk.id end
      for round = 1, 40 do
        local hunks, theirs, row = {}, {}, 0
        local count = round == 1 and 1200 or roll(30)
        for i = 1, count do
          local first = row + roll(2) - 1
          row = first + roll(3) - 1
          hunks[i] = { id = i, kind = "text", current = { start = first, ["end"] = row }, old = {} }
        end
        for i = 1, count do
          theirs[i] = { buf_start = roll(row + 3), buf_count = roll(4) - 1 }
        end
        local path = held.path(vim.api.nvim_get_current_buf())
        held.receive("hunks", { path = path, tick = vim.b.changedtick, hunks = hunks })
        local want = {}
        for _, hunk in ipairs(review.hunks(0)) do
          local from, to = hunk.first - 1, hunk.first - 1 + hunk.count
          for _, other in ipairs(theirs) do
            local first = other.buf_count == 0 and other.buf_start or other.buf_start - 1
            if from <= first + other.buf_count and first <= to then
              want[#want + 1] = hunk.id
              break
            end
          end
        end
        accepted = {}
        source.apply_hunks(vim.api.nvim_get_current_buf(), theirs)
        vim.wait(60000, function() return #accepted >= #want end, 1)
        if not vim.deep_equal(accepted, want) then
          return vim.inspect({ round, hunks, theirs, accepted, want })
        end
      end]],
      root,
      seed
    )
    eq({ seed, fault }, { seed, vim.NIL })
  end)

  it("keeps hunks in place while the user goes on", function()
    lua([[Open("a", "one\ntwo\nthree\nfour\n")
    function _G.Push(tick)
      held.receive("hunks", { path = vim.api.nvim_buf_get_name(0), tick = tick, hunks = {
        { id = 1, kind = "text", current = { start = 1, ["end"] = 2 }, old = {} },
        { id = 2, kind = "text", current = { start = 3, ["end"] = 3 }, old = { "x\n" } },
      } })
    end
    function _G.Places()
      local places = held.hunks(vim.api.nvim_get_current_buf())
      return vim.tbl_map(function(place) return { place.first, place.last } end, places)
    end
    _G.tick = vim.b.changedtick
    Push(tick)]])
    eq(lua("return Places()"), { { 1, 2 }, { 3, 3 } })
    child.type_keys("ggOabove<Esc>")
    eq(lua("return Places()"), { { 2, 3 }, { 4, 4 } })
    child.type_keys("Gobelow<Esc>", "2GObetween<Esc>")
    eq(lua("return Places()"), { { 3, 4 }, { 5, 5 } })
    -- Hunks that the host found before it heard of these edits.
    lua("Push(tick)")
    eq(lua("return Places()"), { { 3, 4 }, { 5, 5 } })
    lua("Flush() Push(vim.b.changedtick)")
    eq(lua("return Places()"), { { 1, 2 }, { 3, 3 } })
  end)

  it("takes decisions as one undo step, only on the text that they are for", function()
    lua([[Open("a", "one\ntwo\nthree\nfour\n")
    vim.api.nvim_win_set_cursor(0, { 4, 2 })
    vim.api.nvim_buf_set_mark(0, "m", 4, 1, {})
    _G.answer = Apply({ id = 7, edits = {
      { start = 0, ["end"] = 0, lines = { "zero\n" } },
      { start = 1, ["end"] = 3, lines = {} },
    } })]])
    eq(
      lua("return { buffer_text.text(0), answer.ok, answer.id }"),
      { "zero\none\nfour\n", true, 7 }
    )
    eq(lua("return { vim.api.nvim_win_get_cursor(0), vim.api.nvim_buf_get_mark(0, 'm') }"), {
      { 3, 2 },
      { 3, 1 },
    })
    eq({ lua("return vim.bo.modified"), lua("return File()") }, { false, "zero\none\nfour\n" })
    eq(lua("return Kinds()"), { "applied", "wrote" })
    child.type_keys("u")
    eq(lua("Flush() return { buffer_text.text(0), said[#said].edits[1].undo }"), {
      "one\ntwo\nthree\nfour\n",
      true,
    })

    -- A decision about another text is not carried out.
    lua([[said = {}
    local stale = vim.b.changedtick
    vim.api.nvim_buf_set_lines(0, 0, 1, true, { "mine" })
    _G.answer = Apply({ id = 8, tick = stale, text = "lost\n" })]])
    eq(lua("return { Kinds(), answer.stale, buffer_text.text(0) }"), {
      { "edited", "applied" },
      true,
      "mine\ntwo\nthree\nfour\n",
    })

    -- Unsaved edits are not written, and nothing is removed under them.
    eq(lua([[return Apply({ id = 9, text = "mine\nfour\n" }).ok]]), true)
    eq(lua("return { vim.bo.modified, buffer_text.text(0) }"), { true, "mine\nfour\n" })
    eq(lua("return File()"), "zero\none\nfour\n")
    eq(lua("return Apply({ id = 10, delete = true }).error ~= nil"), true)
    eq(lua("return buffer_text.text(0)"), "mine\nfour\n")
    child.cmd("silent write")
    eq(lua("return Apply({ id = 11, delete = true }).ok"), true)
    eq(lua("return { buffer_text.text(0), vim.bo.modified }"), { "", false })
    eq(vim.uv.fs_stat(dir .. "/a"), nil)
  end)

  it("takes decisions when the file went away and came back", function()
    lua([[Open("a", "one\ntwo\n")
    function _G.Replace(text) -- as git does
      os.remove("a")
      local file = assert(io.open("a", "wb"))
      file:write(text)
      file:close()
    end
    Replace("one\n")
    Replace("one\ntwo\n")
    _G.answer = Apply({ id = 1, text = "two\n" })]])
    eq(lua("return { answer.ok, answer.error, buffer_text.text(0), File() }"), {
      true,
      vim.NIL,
      "two\n",
      "two\n",
    })
    lua([[Replace("other\n")
    _G.answer = Apply({ id = 2, text = "one\n" })]])
    eq(lua("return { answer.error, buffer_text.text(0), File() }"), {
      "the file has changed on disk",
      "two\n",
      "other\n",
    })
  end)

  it("is held as soon as its file is what it was", function()
    lua([[Open("a", "one\n")
    -- Whatever the machine does meanwhile, the file is being written.
    disk.settle_ms, disk.settle_limit_ms = 2000, 60000
    local path = vim.uv.cwd() .. "/b"
    local function write(text)
      os.remove(path)
      local file = assert(io.open(path, "wb"))
      file:write(text)
      file:close()
    end
    write("one\n")
    vim.cmd("silent edit! " .. vim.fn.fnameescape(path))
    write("another\n")
    held.receive("hold", { path = vim.uv.fs_realpath(path) })
    _G.first = Mirror()
    write("one\n")]])
    eq(lua("return first == nil"), true)
    local held = vim.wait(60000, function()
      return lua("return Mirror() ~= nil")
    end, 10)
    eq({ held, lua("return Mirror()") }, { true, { "one\n" } })
  end)

  it("has the exact bytes after a decision", function()
    for name, texts in pairs({
      noeol = { "one\ntwo", "one\nTWO" },
      cut = { "one\ntwo\n", "one\ntwo" },
      dos = { "one\r\ntwo\r\n", "one\r\n" },
      bom = { "\239\187\191one\n", "\239\187\191two\n" },
      empty = { "one\n", "" },
      filled = { "", "\n\n" },
    }) do
      lua("Open(...)", name, texts[1])
      lua("_G.target = ... Apply({ id = 1, text = target })", texts[2])
      eq({ name, lua("return buffer_text.text(0)") }, { name, texts[2] })
      eq({ name, lua("return File()") }, { name, texts[2] })
      eq({ name, wrong() }, { name, vim.NIL })
    end
  end)

  it("follows any edits", function()
    local keys = {
      "x",
      "dd",
      "p",
      "P",
      "yyp",
      "J",
      "u",
      "u",
      "<C-r>",
      "ggdd",
      "Gdd",
      "oab<Esc>",
      "Ocd<Esc>",
      "ihi<CR>ho<Esc>",
      "Aend<Esc>",
      "ggO<Esc>",
      "Go<Esc>",
      ":%s/a/b/e<CR>",
      ":g/b/d<CR>",
      ":m0<CR>",
      ":sort<CR>",
      "dgg",
      "yG",
      "3k",
      "j",
      "k",
      "5j",
      "G",
      "gg",
      "i<C-o>u<Esc>",
      "R123<Esc>",
      ".",
      "ifoo<C-w>bar<Esc>",
      ":silent w<CR>",
      ":silent e!<CR>",
      ":g/e/s/e/E/<CR>",
      "ggyG",
      "<C-v>jd",
    } -- stylua: ignore
    local seed = vim.uv.hrtime() % 100000
    math.randomseed(seed)
    for round = 1, 12 do
      local lines = {}
      for i = 1, math.random(0, 12) do
        lines[i] = ("%s%d"):format(("abcde"):sub(i % 5 + 1), i)
      end
      local text = table.concat(lines, "\n") .. (math.random(3) > 1 and #lines > 0 and "\n" or "")
      lua("Open(...)", "f" .. round, text)
      child.fn.setreg('"', "put\n")
      local typed = {}
      for _ = 1, 40 do
        local key = keys[math.random(#keys)]
        typed[#typed + 1] = key
        child.type_keys(key)
        if math.random(4) == 1 then
          local problem = wrong()
          if problem ~= vim.NIL then
            error(("seed %d: %q after %s: %s"):format(seed, text, vim.inspect(typed), problem))
          end
        elseif math.random(6) == 1 then
          typed[#typed + 1] = "agent"
          lua([[local count = vim.api.nvim_buf_line_count(0)
          local at = math.random(0, count)
          Write(at, math.min(at + 2, count), { "agent" })]])
        end
      end
    end
  end)
end)
