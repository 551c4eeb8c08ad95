-- Whatever text comes from elsewhere, no piece of work of the main loop is too much. Work is
-- counted: instructions of Lua, and bytes that its functions in C go over. Time of the processor
-- shows what these counts miss, such as a pattern that begins anew at every byte. A piece ends
-- where Neovim can take a key again, at the end of a scheduled function.

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))
local pace = dofile(root .. "/test/pace.lua")

-- What one piece may take: about 30 ms on a slow machine. Compiled code takes a fifth of it.
local most_instructions, most_bytes = 30e6, 40e6
-- The same with the counting, which takes most of it.
local most_ms = 500

local prelude = [[
  jit.off()
  instructions, bytes = 0, 0 -- of the piece of work that runs
  worst = { instructions = 0, bytes = 0, ms = 0 }
  debug.sethook(function() instructions = instructions + 1000 end, "", 1000)

  -- Functions in C, with the bytes that they go over.
  local find = string.find
  function string.find(s, pattern, at, plain)
    local found = { find(s, pattern, at, plain) }
    if not find(pattern, "^%^") then
      bytes = bytes + (found[1] or #s) - (at or 1)
    end
    return unpack(found)
  end
  local function count(owner, name, cost)
    local real = owner[name]
    owner[name] = function(...)
      bytes = bytes + cost(...)
      return real(...)
    end
  end
  local function first(s) return #s end
  local function list(lines)
    local n = 0
    for i = 1, #lines do n = n + #lines[i] + 1 end
    return n
  end
  count(string, "gsub", first)
  count(string, "lower", first)
  count(string, "reverse", first)
  count(string, "rep", function(s, n) return math.max(0, #s * n) end)
  count(table, "concat", list)
  count(vim.json, "decode", first)
  count(vim, "iconv", first)
  count(vim.api, "nvim_buf_set_lines", function(_, _, _, _, lines) return list(lines) end)
  count(vim.api, "nvim_strwidth", first)
  if vim.text and vim.text.diff then
    count(vim.text, "diff", function(a, b) return 4 * (#a + #b) end)
  end
  count(vim, "diff", function(a, b) return 4 * (#a + #b) end)
  for _, name in ipairs({ "strdisplaywidth", "strcharpart", "strwidth" }) do
    local real = vim.fn[name]
    vim.fn[name] = function(s, ...)
      bytes = bytes + #s
      return real(s, ...)
    end
  end

  waiting = 0 -- pieces of work that are still to come
  function Piece(fn, ...)
    instructions, bytes = 0, 0
    local began = os.clock()
    local results = vim.F.pack_len(pcall(fn, ...))
    worst.ms = math.max(worst.ms, (os.clock() - began) * 1000)
    worst.instructions = math.max(worst.instructions, instructions)
    worst.bytes = math.max(worst.bytes, bytes)
    if not results[1] then
      error(results[2], 0)
    end
    return unpack(results, 2, results.n)
  end
  local schedule = vim.schedule
  function vim.schedule(fn) -- luacheck: ignore
    waiting = waiting + 1
    schedule(function()
      waiting = waiting - 1
      Piece(fn)
    end)
  end
  local defer = vim.defer_fn
  function vim.defer_fn(fn, ms) -- luacheck: ignore
    waiting = waiting + 1
    return defer(function()
      waiting = waiting - 1
      fn()
    end, ms)
  end

  vim.notify = function() end
  MB = 1024 * 1024
  -- As much as the host sends at once.
  texts = {
    line = ("x"):rep(2 * MB),
    lines = ("some words of a line\n"):rep(100000),
    breaks = ("\n"):rep(MB),
    wide = ("漢"):rep(600000),
    controls = ("\27[31m\194\155\226\128\174\7"):rep(150000),
    bytes = ("\233\255"):rep(MB),
    markup = ("`*_[#<"):rep(300000),
    path = ("/a"):rep(MB),
    names = (("n"):rep(250) .. "/"):rep(8000),
  }
  function Each(fn)
    for name, text in vim.spairs(texts) do
      Piece(fn, text, name)
    end
  end
  local rpc = require("hermes.core.rpc")
  rpc.send = function() end
  rpc.call = function() end
  function Deliver(items)
    local text = vim.json.encode(items)
    Piece(rpc.deliver, text)
  end
]]

---@type table<string, string> code by the modules that it runs
local cases = {
  ["core.text"] = [[Each(function(text)
    require("hermes.core.text").line(text, 200)
    require("hermes.core.text").lines(text, 200)
  end)]],
  ["core.encoding"] = [[local disk, encoding = require("hermes.core.disk"), require("hermes.core.encoding")
  Each(function(text) encoding.decode(text:sub(1, disk.max_bytes), "utf-8") end)
  Each(function(text) encoding.decode(text:sub(1, disk.max_bytes), "utf-16le") end)]],
  ["doc.diff"] = [[local diff = require("hermes.doc.diff")
  Each(function(text) diff.quick(text, text:reverse()) end)
  Each(function(text) diff.quick("", text) end)
  Each(function(text) diff.compare("", text, { lines = 10000, bytes = 512 * 1024 }, 500) end)]],
  ["core.disk doc.versions doc.buffer_text doc.buffer doc.replace doc.applied doc.ancestor doc.refresh"] = [[
    local disk, buffer = require("hermes.core.disk"), require("hermes.doc.buffer")
    local buffer_text = require("hermes.doc.buffer_text")
    require("hermes.doc.applied").take = function() return true end
    local path, age = vim.fn.tempname(), 0
    local function write(text)
      local file = assert(io.open(path, "wb"))
      file:write(text)
      file:close()
      age = age + 10
      vim.uv.fs_utime(path, os.time() - 5000 + age, os.time() - 5000 + age)
    end
    write("one\n")
    vim.cmd.edit(path)
    for _, text in pairs(texts) do
      for _, size in ipairs({ disk.max_bytes, buffer_text.max_odd_bytes, 2 * disk.max_bytes }) do
        write(text:sub(1, size))
        Piece(buffer.update, 0)
        Piece(buffer.read, path)
        Piece(require("hermes.doc.ancestor").note, 1)
      end
    end]],
  ["complete view.complete.files"] = [[
    local complete, listed = require("hermes.complete"), nil
    require("hermes.core.rpc").call = function(_, _, info) listed = info.on_done end
    local lists = {
      deep = (("/" .. ("n"):rep(250)):rep(16) .. "\n"):rep(500),
      short = ("n/e\n"):rep(20000),
      hidden = (("n"):rep(90) .. "\226\128\174\n"):rep(20000),
      wide = (("漢"):rep(33) .. "\n"):rep(20000),
    }
    for name, text in pairs(lists) do
      local folder = vim.fn.tempname() .. name
      vim.fn.mkdir(folder)
      vim.cmd.cd(folder)
      for _, lead in ipairs({ "n", "", "漢", "e" }) do
        local what, offered = { kind = "file", text = lead, col = 0 }, nil
        Piece(complete.items, what, nil, function(items) offered = items end)
        if listed then
          Piece(listed, nil, { files = text, complete = true })
          listed = nil
        end
        assert(#offered <= complete.max_items)
      end
    end
    require("hermes.session.state").get = function(_, member) return member == "commands" and commands end
    for _, text in pairs(texts) do
      commands = {}
      for i = 1, 20000 do
        commands[i] = { name = text:sub(i, i + 40), description = text:sub(1, 1000) }
      end
      Piece(complete.items, { kind = "command", text = "x", col = 0 }, "s", function() end)
      Piece(complete.items, { kind = "command", text = "", col = 0 }, "s", function() end)
    end]],
  ["paths of agents: buffer disk refresh"] = [[
    local buffer, disk = require("hermes.doc.buffer"), require("hermes.core.disk")
    local file, age = vim.fn.tempname(), 0
    local function write() -- the paths of a tool call are looked at when a file has changed
      age = age + 10
      vim.fn.writefile({ ("%d"):format(age) }, file)
      vim.uv.fs_utime(file, os.time() - 5000 + age, os.time() - 5000 + age)
    end
    write()
    vim.cmd.edit(file)
    Each(function(text) buffer.find("/" .. text) end)
    Each(function(text) disk.place("/" .. text) end)
    for _, part in ipairs({ "/a", "/n/../m/./", "//a" }) do -- as long as a path may be
      local path = part:rep(disk.max_path / #part):sub(1, disk.max_path)
      Piece(disk.place, path)
      Piece(disk.place, vim.fn.tempname() .. path:sub(200))
      Piece(buffer.find, path)
    end
    Each(function(text) buffer.read("/" .. text) end)
    Each(function(text) require("hermes.doc.agent_write").write("/" .. text, "x", {}, function() end) end)
    local refresh, locations = require("hermes.doc.refresh"), {}
    for _, text in pairs(texts) do
      for _ = 1, 3 do locations[#locations + 1] = { path = "/" .. text } end
    end
    local long = {}
    for i = 1, 20 do long[i] = { path = ("/%d"):format(i) .. ("/a"):rep(2000) } end
    for _, list in ipairs({ locations, long }) do
      write()
      refresh.check(1, { call = { locations = list, content = list } })
      Piece(refresh.now, 1)
      assert(vim.fn.getline(1) == ("%d"):format(age), "it was not refreshed")
    end]],
  ["view.traffic.json view.traffic.list"] = [[
    local json, list = require("hermes.view.traffic.json"), require("hermes.view.traffic.list")
    local messages = {
      flat = "[" .. ("1,"):rep(500000) .. "1]",
      deep = ("["):rep(500000),
      broken = ('"'):rep(500000) .. (" :"):rep(500000),
      blank = "[" .. (" "):rep(2 * MB),
    }
    for name, text in pairs(texts) do
      messages[name] = '{"params":{"sessionId":"' .. text .. '"}}'
    end
    for _, message in pairs(messages) do
      local step = coroutine.wrap(function()
        json.layout(message, function() end, coroutine.yield)
        return true
      end)
      for _ = 1, 100 do -- of its pieces
        if Piece(step) then break end
      end
      Piece(list.line, { agent = message, time = message, method = message, id = message,
        kind = "request", direction = "in", message = message })
    end]],
  ["view.traffic.message"] = [[
    local message, buf = require("hermes.view.traffic.message"), vim.api.nvim_create_buf(false, true)
    texts.words = ("word "):rep(400000)
    texts.escaped = ("\\\\"):rep(MB)
    for name, text in pairs(texts) do
      local entries = {
        { kind = "other", message = text },
        { kind = "request", message = '{"params":{"text":"' .. text .. '"}}' },
        { kind = "request", message = vim.json.encode({ text:sub(1, MB), { text:sub(-MB) } }) },
        { kind = "request", message = text },
      }
      for _, entry in ipairs(entries) do
        entry.agent, entry.direction, entry.method, entry.ms = text, "in", text, 1
        Piece(message.describe, entry)
        Piece(message.fill, buf, entry, function() return true end)
        assert(vim.wait(60000, function() return waiting == 0 end, 1), name)
      end
    end]],
  ["core.escapes"] = [[Each(function(text)
    -- As much as the host sends of the output of a command at once.
    require("hermes.core.escapes").new():feed(text:sub(1, 65536))
  end)]],
  ["core.printed"] = [[texts.codes = ("\27[H\27[9@x\27[J"):rep(200000)
  Each(function(text)
    require("hermes").text.printed(text:rep(5), { lines = 200 }) -- 10 MB, more than Hermes keeps
  end)]],
  ["core.log"] = [[texts.spaces = (" "):rep(65536)
  Each(function(text) require("hermes.core.log").line(text) end)]],
  ["view.chat.render"] = [[Each(function(text)
    require("hermes.view.chat.render").label({ type = "text", text = text })
  end)]],
  ["core.agent_log"] = [[Each(function(text) require("hermes.core.agent_log").add("demo", text) end)]],
  ["ask.elicitation ask.form_fields"] = [[
    local elicitation = require("hermes.ask.elicitation")
    vim.ui.select = function(items, opts)
      for _, item in ipairs(items) do opts.format_item(item) end
    end
    local many, required, choices = {}, {}, {}
    for i = 1, 5000 do
      many["f" .. i] = { type = "string", title = "field " .. i, default = "x" }
      required[i] = "f" .. i
    end
    for i = 1, 50000 do
      choices[i] = "choice " .. i
    end
    local forms = {
      fields = { properties = many, required = required },
      choices = { properties = { one = { type = "string", enum = choices, default = choices[50000] } } },
      several = { properties = { some = {
        type = "array", items = { enum = choices }, default = vim.list_slice(choices, 1, 2000) } } },
    }
    for name, text in pairs(texts) do
      forms[name] = { properties = { [text] = {
        type = "string", title = text, description = text, default = text, maxLength = 1 } } }
    end
    for _, style in ipairs({ "window", "select" }) do
      require("hermes").setup({ questions = { style = style } })
      for name, schema in pairs(forms) do
        local function ask(data)
          data.requestId, data.agent, data.sessionId = name .. style, "demo", "s"
          Piece(elicitation.ask, data, function() end)
          Piece(require("hermes.ask.questions").open)
          shown = (shown or 0) + #require("hermes.ask.questions").list()
          Piece(require("hermes.ask.questions").remove, data.requestId)
        end
        ask({ mode = "form", message = texts[name] or "", requestedSchema = schema })
        ask({ mode = "url", host = "a", url = "https://a/" .. (texts[name] or ""), message = "m" })
      end
    end
    assert(shown == 4 * vim.tbl_count(forms), shown)]],
  ["view.review.messages"] = [[Each(function(text)
    require("hermes.view.review.messages").safe(text, 200)
    require("hermes.view.review.messages").short(text)
  end)]],
  ["view.review.lists"] = [[
    local lists, answer = require("hermes.view.review.lists"), nil
    require("hermes.core.rpc").call = function(_, payload, info)
      vim.json.encode(payload())
      answer = info.on_done
    end
    -- Shows a list of what the host says, and takes the choice of its first line.
    local function list(result, open, ...)
      answer = nil
      Piece(open, ...)
      Piece(answer, nil, result)
      assert(vim.b.hermes_title, "there is no list")
      shown = (shown or 0) + vim.api.nvim_buf_line_count(0)
    end
    local function close()
      Piece(vim.cmd.normal, "q")
    end
    for i = 1, 300 do
      vim.fn.bufload(vim.fn.bufadd(("/nowhere/%d/file"):format(i)))
    end
    local function sessions(i, count, text)
      local ids = {}
      for k = 1, count do ids[k] = ("%d %d "):format(i, k) .. text:sub(1, 100) end
      return ids
    end
    for name, text in pairs(texts) do
      local start = ("/" .. text:sub(1, 4000)):gsub("[\n/]+", "/") -- clean, as the host sends it
      local function path(i)
        return ("/nowhere/%d"):format(i) .. start
      end
      local files, hunks, names, points, previews = {}, {}, {}, {}, {}
      for i = 1, 1000 do -- as many as the host sends at once
        files[i] = { path = path(i), hunks = i, added = i, removed = i, base = "regular",
          current = "regular", from = path(i), sessions = sessions(i, 20, text), partial = true }
        for _, id in ipairs(files[i].sessions) do names[id] = text:sub(1, 200) end
      end
      list({ files = files, total = 2000, more = 1000, unseen = 3, added = 1, removed = 1, elsewhere = {},
        names = names }, lists.files)
      close()
      list({ files = { { path = path(1), hunks = 1, added = 1, removed = 1,
        sessions = sessions(1, 20000, text) } }, total = 1, more = 0, unseen = 0, added = 1,
        removed = 1, elsewhere = {}, names = {} }, lists.files)
      close()
      for i = 1, 500 do
        hunks[i] = { id = i, path = path(i), kind = "text", sessionId = "s", version = 1,
          current = { start = i, ["end"] = i }, old = { text:sub(1, 4000) .. "\n" } }
      end
      for i = 1, 2 do hunks[i].old = { (text:sub(1, 262144):gsub("\n", " ")) .. "\n" } end
      hunks[3].old = { (" "):rep(262144) .. "\n" }
      list({ hunks = hunks, total = 1000, more = 500 }, lists.hunks)
      close()
      Piece(require("hermes").review.quickfix, { open = false })
      Piece(answer, nil, { hunks = vim.list_slice(hunks, 1, 50), more = 450 })
      for i = 1, 10000 do
        points[i] = { id = "c" .. i, name = text:sub(1, 200), at = text:sub(1, 200) }
      end
      list({ checkpoints = points }, lists.checkpoints, {})
      close()
      for i = 1, 5000 do
        previews[i] = { path = path(i), before = "regular", after = "regular", added = 1, removed = 1 }
      end
      -- As much of diffs as the host sends: 64 KB of a file, 1 MB in all.
      for i = 1, 16 do
        previews[i].diff, previews[i].cut = "--- a\n+++ b\n@@ -1 +1 @@\n" .. text:sub(1, 65536), true
      end
      list({ files = previews, shown = "s" }, lists.restore, { id = "c", name = text, root = "/" }, {})
      Piece(vim.cmd, "normal \r")
      local failed = {}
      for i = 1, 1000 do failed[i] = { path = path(i), error = text:sub(1, 1000) } end
      Piece(answer, nil, { decision = 1, files = failed, failed = 1000, total = 1000 })
      assert(vim.wait(60000, function() return waiting == 0 end, 1))
    end
    assert(shown > 10 * 10000)]],
  ["review.comment"] = [[
    local review, hunk = require("hermes.review"), nil
    require("hermes.core.rpc").call = function(_, payload)
      vim.json.encode(type(payload) == "function" and payload() or payload)
    end
    local comment = require("hermes.review.comment")
    Each(function(text)
      local lines = {}
      for i = 1, 1000 do lines[i] = text:sub(256 * i + 1, 256 * (i + 1)) end
      for _, quoted in ipairs({ lines, { text:sub(1, 262144) }, { (" "):rep(262144) } }) do
        hunk = { id = 1, path = "/" .. text:sub(1, 4000), sessionId = text:sub(1, 4000), agent = "demo",
          first = 1, count = #quoted, old_count = #quoted, old = quoted, new = quoted }
        comment.prompt(hunk, text)
        review.comment(hunk, "why?")
        comment.send_in_terminal(hunk, text, { sessionId = "s" })
      end
    end)]],
  ["view.review.mini_diff"] = [[
    local held, source = require("hermes.doc.held"), require("hermes.view.review.mini_diff")
    local buf, taken, refs, asked = nil, {}, 0, nil
    require("hermes.core.rpc").call = function(op, payload, info)
      local sent = vim.json.decode(vim.json.encode(payload()))
      asked = op == "review.base" and info.on_done or asked
      if op == "review.accept" then taken[#taken + 1] = sent.hunk end
    end
    MiniDiff = {
      enable = function(b) source.attach(b) end,
      disable = function(b) source.detach(b) end,
      set_ref_text = function() refs = refs + 1 end,
    }
    held.start()
    local path, lines, hunks, theirs = vim.fn.tempname(), {}, {}, {}
    for i = 1, 50000 do lines[i] = "a line" end
    vim.fn.writefile(lines, path)
    vim.cmd("silent edit " .. path)
    buf, path = vim.api.nvim_get_current_buf(), vim.uv.fs_realpath(path)
    held.receive("hold", { path = path })
    source.attach(buf) -- listens
    for i = 1, 5000 do
      local first = 10 * i - 5
      hunks[i] = { id = i, path = path, kind = "text", sessionId = "s", version = 1, oldLines = 1,
        base = { start = first, ["end"] = first + 1 }, old = { "gone\n" },
        current = { start = first, ["end"] = first + 1 } }
      theirs[i] = { buf_start = first + 1, buf_count = 1 }
    end
    Piece(held.receive, "hunks", { path = path, tick = vim.b.changedtick, hunks = hunks })
    assert(vim.wait(60000, function() return asked ~= nil and waiting == 0 end, 1))
    Each(function(text)
      local done = asked
      done(nil, { text = text, kind = "regular" })
      vim.bo.fileformat = "dos"
      done(nil, { text = text, kind = "regular" })
      vim.bo.fileformat = "unix"
    end)
    Piece(source.apply_hunks, buf, theirs)
    assert(vim.wait(60000, function() return #taken == 5000 and waiting == 0 end, 1))
    assert(refs >= 2 * vim.tbl_count(texts), refs)]],
  ["channel core.rpc core.events core.listeners core.user_autocmds core.flat_events session.state core.output view.status session.compat session.overview session.words view.waiting session.attention"] = [[
    Deliver({ "StateChanged", { agent = "demo", from = "starting", to = "ready" } })
    Deliver({ "SessionCreated", { agent = "demo", sessionId = "s" } })
    for name, text in vim.spairs(texts) do
      if name ~= "bytes" then -- JSON has none
        local content = { type = "text", text = text }
        Deliver({ "AgentTextMessage", { agent = "demo", sessionId = "s", update = {
          sessionUpdate = "agent_message_chunk", content = content } } })
        Deliver({ "AgentToolCall", { agent = "demo", sessionId = "s", update = {
          sessionUpdate = "tool_call", toolCallId = name, title = text, kind = "edit",
          status = "completed", content = { { type = "content", content = content } } } } })
        Deliver({ "SessionUpdate", { agent = "demo", sessionId = "s", update = {
          sessionUpdate = "session_info_update", title = text } } })
        local entries = {}
        for i = 1, 20000 do
          entries[i] = { content = text:sub(i, i + 40), priority = "low", status = "pending" }
        end
        Deliver({ "AgentPlan", { agent = "demo", sessionId = "s", update = {
          sessionUpdate = "plan", entries = entries } } })
        Piece(require("hermes").statusline)
        Piece(require("hermes.session.words").all)
      end
    end
    local calls = require("hermes.session.state").session("s", "demo").toolCalls
    assert(vim.tbl_count(calls) == vim.tbl_count(texts) - 1)]],
}

--- Files that handle no text from elsewhere, or hand it on as it is, and why that is enough. A new
--- file needs a case above, or a line here.
local others = {
  ["checks of what the user gives"] = ""
    .. "core.arguments core.config core.config_check session.config_options"
    .. " core.config_wire session.params program.options ask.defaults view.chat.options"
    .. " view.chat.actions",
  ["generated names"] = ""
    .. "api_gen core.event_names core.event_types_gen core.events_gen core.types_gen core.border_gen"
    .. " program.presets",
  ["functions that the user calls"] = ""
    .. "api api.sessions api.permissions api.text core.async await connect init session.queue session.rules"
    .. " session.modes session.models doc.conflict view.settings doc.merge view.picker view.choose"
    .. " command command.agents command.sessions command.requests command.views command.host command.line view.logs core.install core.install_task core.job core.exec core.host ask.login session.sandbox session.project core.sha256 health view.sign_in"
    .. " program.shared_session program.claude program.shim maps core.quit view.restored"
    .. " core.known_agents session.requests wiring",
  ["programs and windows of their own"] = ""
    .. "program program.buffer program.health program.process program.tmux"
    .. " program.supervised view.pane core.float doc.autoread doc.show doc.write core.environ",
  ["text of the user, and files up to the limit that it may send"] = ""
    .. "doc.blocks doc.mentions doc.context complete.source view.chat.prompt"
    .. " view.chat.draft view.chat.keys view.rule_words",
  ["writes of agents, which frames_spec.lua measures"] = "doc.agent_write",
  ["questions, which frames_spec.lua measures"] = ""
    .. "ask.reading ask.answers asks ask.dialog ask.layout"
    .. " ask.permission ask.tool_call ask.question_window ask.questions ask.corner",
  ["the chat, which hermes_chat_spec.lua feeds in pieces"] = ""
    .. "chat view.chat.asks view.chat.session view.chat.view view.chat.transcript view.chat.blocks view.chat.markdown view.chat.pieces"
    .. " view.chat.follow view.chat.sends",
  ["the review, which review_held_spec.lua measures"] = ""
    .. "review review.host review.hunk review.decisions doc.review_apply doc.held doc.change_message doc.held_hunks doc.user_edits doc.plain_text doc.saves"
    .. " view.review.signs view.review.view",
  ["a reason that is cut to a line before it is shown"] = "session.unseen",
  ["windows that traffic_spec.lua and terminals_spec.lua feed"] = ""
    .. "terminals view.terminals.drawing traffic view.traffic.filters view.traffic.recording view.traffic.store",
}

describe("no piece of work is too much", function()
  local child = MiniTest.new_child_neovim()

  before_each(function()
    child.restart({ "--clean", "-n", "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua(prelude)
    child.lua([[require("hermes")]]) -- joins its modules
  end)
  after_each(child.stop)

  for modules, code in pairs(cases) do
    it("in " .. modules, function()
      child.lua(code)
      eq(child.lua_get("vim.wait(60000, function() return waiting == 0 end, 1)"), true)
      local worst = child.lua_get("worst")
      if vim.env.HERMES_FRAMES then
        io.stdout:write(
          ("%s: %.1f million instructions, %.1f MB, %d ms\n"):format(
            modules,
            worst.instructions / 1e6,
            worst.bytes / 1e6,
            worst.ms
          )
        )
      end
      eq(worst.instructions < most_instructions or worst, true)
      eq(worst.bytes < most_bytes or worst, true)
      child.lua("debug.sethook() jit.on()")
      eq(worst.ms < pace.most_ms(most_ms, child.lua) or worst, true)
    end)
  end

  it("and the count sees one that is", function()
    child.lua([[Piece(function() for _ = 1, 1e8 do end end)
      Piece(function() return (("x"):rep(1e6):rep(100)) end)]])
    local worst = child.lua_get("worst")
    eq(worst.instructions > most_instructions, true)
    eq(worst.bytes > most_bytes, true)
  end)
end)

describe("every file that text from elsewhere reaches", function()
  it("has a case here, or a reason to have none", function()
    local listed = {}
    for modules in pairs(cases) do
      for name in modules:gmatch("%S+") do
        listed[name] = true
      end
    end
    for _, modules in pairs(others) do
      for name in modules:gmatch("%S+") do
        listed[name] = true
      end
    end
    local missing = {}
    for name in vim.fs.dir(root .. "/lua/hermes", { depth = 10 }) do
      local module = name:match("^(.*)%.lua$")
      module = module and module:gsub("/init$", ""):gsub("/", ".")
      if module and not listed[module] then
        missing[#missing + 1] = module
      end
    end
    table.sort(missing)
    eq(missing, {})
  end)
end)
