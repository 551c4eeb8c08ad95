local permission = require("hermes.ask.permission")
local questions = require("hermes.ask.questions")
local eq = MiniTest.expect.equality

local options = {
  { optionId = "always", name = "Always", kind = "allow_always" },
  { optionId = "yes", name = "Yes", kind = "allow_once" },
  { optionId = "no", name = "No", kind = "reject_once" },
}

---@param id string
---@param extra? table
local function request(id, extra)
  return vim.tbl_extend("force", {
    requestId = id,
    sessionId = "s",
    agent = "demo",
    options = options,
    toolCall = { toolCallId = "t", title = "Do " .. id, kind = "edit" },
  }, extra or {})
end

--- How many bytes of texts are compared, which is what takes time.
---@param fn fun()
---@return integer
local function compared(fn)
  local owner = vim.text and vim.text.diff and vim.text or vim
  local real, bytes = owner.diff, 0
  owner.diff = function(old, new, ...)
    bytes = bytes + #old + #new
    return real(old, new, ...)
  end
  local ok, problem = pcall(fn)
  owner.diff = real
  assert(ok, problem)
  return bytes
end

describe("permission", function()
  local builtin = vim.ui.select
  local shown, answers

  --- Lets what is scheduled run.
  local function settle(ms)
    vim.wait(ms or 20, function()
      return false
    end, 2)
  end

  local function ask(data)
    permission.ask(data, function(option_id)
      answers[#answers + 1] = data.requestId .. "=" .. option_id
    end)
    settle()
  end

  local function floats()
    return vim.tbl_filter(function(win)
      return vim.api.nvim_win_get_config(win).relative ~= ""
    end, vim.api.nvim_list_wins())
  end

  before_each(function()
    shown, answers = {}, {}
    vim.ui.select = function(items, opts, on_choice)
      shown[#shown + 1] = { items = items, opts = opts, choose = on_choice }
    end
  end)
  after_each(function()
    for _, id in ipairs({ "a", "b", "c" }) do
      permission.withdraw(id)
    end
    settle()
    eq(#floats(), 0)
    vim.ui.select = builtin
  end)

  it("answers with the option that was chosen", function()
    ask(request("a"))
    shown[1].choose(shown[1].items[2], 2)
    eq(answers, { "a=always" })
  end)

  it("says whether everything was in sight when it was answered", function()
    local seen = {}
    local function ask_seen(id, text)
      local diff = { type = "diff", path = "/w/a", oldText = "a\n", newText = text }
      local call = { toolCallId = "t", title = "Edit", kind = "edit", content = { diff } }
      permission.ask(request(id, { toolCall = call }), function(option, all)
        seen[#seen + 1] = { option, all }
      end)
      vim.wait(60000, function() -- the diff is compared in a thread
        return #shown == #seen + 1
      end, 2)
    end
    ask_seen("a", "b\n")
    shown[1].choose(shown[1].items[2], 2)
    ask_seen("b", ("b\n"):rep(2000))
    shown[2].choose(shown[2].items[1], 1) -- only a refusal is offered
    eq(seen, { { "always", true }, { "no", false } })
    local reading = require("hermes.ask.reading")
    for what, case in pairs({
      ["all of it"] = { { whole = true, decided = 0, unread = 0, pending = false }, true },
      ["a part"] = { { whole = false, decided = 0, unread = 0, pending = false }, false },
      ["without lines"] = { { whole = true, decided = 0, unread = 1, pending = false }, false },
      ["not yet"] = { { whole = true, decided = 0, unread = 0, pending = true }, false },
      ["above the screen"] = { { whole = true, decided = 1, unread = 0, pending = false }, false },
    }) do
      local r = reading.new()
      r:begin(vim.tbl_extend("error", case[1], { folds = {} }))
      eq({ what, r:all_shown() }, { what, case[2] })
    end
  end)

  it("names every option by its kind and puts rejections first", function()
    ask(request("a", {
      options = {
        { optionId = "x", name = "Reject\226\128\174", kind = "allow_always" },
        { optionId = "y", name = "No", kind = "reject_once" },
        { optionId = "z", name = "Maybe", kind = "_later" },
      },
    }))
    eq(vim.tbl_map(shown[1].opts.format_item, shown[1].items), {
      "No  [reject once]",
      "Reject<U+202E>  [allow always]",
      "Maybe  [unknown kind: _later]",
    })
  end)

  it("offers the same choices to other dialogs, safe to show, rules included", function()
    local go = { action = "allow", command = { "go", "test\27" } }
    local yes =
      { label = "Yes  [allow once]", refuses = false, optionId = "yes", kind = "allow_once" }
    local no =
      { label = "No  [reject once]", refuses = true, optionId = "no", kind = "reject_once" }
    local spoof = { optionId = "yes", name = "Yes", kind = "allow_once", rule = go, choices = {} }
    local function rule(scope, session, words)
      local full = vim.tbl_extend("force", go, { scope = scope, session = session })
      return {
        label = "Allow commands that begin with go test<1b>, " .. words,
        refuses = false,
        optionId = "yes",
        rule = full,
      }
    end
    for what, case in pairs({
      ["no options"] = { {}, {} },
      ["no list of options"] = { { options = "x" }, {} },
      ["members that agents must not set"] = { { options = { spoof } }, { yes } },
      ["a rule"] = {
        { options = { options[2], options[3] }, rules = { go } },
        {
          no,
          yes,
          {
            label = "Allow this and more …  [rule]",
            refuses = false,
            choices = {
              rule("session", "s", "until the session ends"),
              rule("always", nil, "until Neovim ends"),
            },
          },
        },
      },
      ["a rule without the one option that it would choose"] = {
        { options = { options[2], options[3], options[2] }, rules = { go } },
        { no, yes, yes },
      },
    }) do
      local data = vim.tbl_extend("force", { sessionId = "s" }, case[1])
      eq({ what, require("hermes").permissions.choices(data) }, { what, case[2] })
    end
    eq(pcall(require("hermes").permissions.choices), false)
  end)

  it("shows one question at a time", function()
    ask(request("a"))
    ask(request("b"))
    eq(#shown, 1)
    eq(#floats(), 1)
    shown[1].choose(shown[1].items[1], 1)
    settle()
    eq(#shown, 2)
    shown[2].choose(nil)
    settle()
    eq(answers, { "a=no", "b=" })
  end)

  it("treats dismissal, foreign items and a missing index as cancelled", function()
    ask(request("a"))
    shown[1].choose(nil, nil)
    ask(request("b"))
    shown[2].choose({ optionId = "always" }, 2)
    ask(request("c", { options = {} }))
    eq(answers, { "a=", "b=", "c=" })
  end)

  it("takes the label that some pickers hand back", function()
    ask(request("a"))
    shown[1].choose("Yes  [allow once]", 3)
    eq(answers, { "a=yes" })
  end)

  it("hears the first answer only", function()
    ask(request("a"))
    shown[1].choose(shown[1].items[1], 1)
    shown[1].choose(shown[1].items[2], 2)
    eq(answers, { "a=no" })
  end)

  it("withdraws a visible and a waiting question without an answer", function()
    ask(request("a"))
    ask(request("b"))
    ask(request("c"))
    permission.withdraw("b")
    permission.withdraw("a")
    settle()
    shown[1].choose(shown[1].items[2], 2)
    eq(answers, {})
    eq(#shown, 2)
    shown[2].choose(shown[2].items[1], 1)
    eq(answers, { "c=no" })
  end)

  it("cancels when the picker fails", function()
    vim.ui.select = function()
      error("picker broke")
    end
    local notify, told = vim.notify, nil
    vim.notify = function(message)
      told = message
    end
    ask(request("a"))
    vim.notify = notify
    eq(answers, { "a=" })
    eq(told:find("picker broke", 1, true) ~= nil, true)
  end)

  it("cancels when nobody answers in time, and asks the next question", function()
    local timeout = questions.timeout_ms
    questions.timeout_ms = 60
    ask(request("a"))
    questions.timeout_ms = timeout
    ask(request("b"))
    settle(120)
    eq(answers, { "a=" })
    eq(#shown, 2)
  end)

  it("can be shown again when a picker never called back", function()
    ask(request("a"))
    eq(questions.open(), true)
    settle()
    eq(#shown, 2)
    eq(#floats(), 1)
    shown[2].choose(shown[2].items[1], 1)
    eq(answers, { "a=no" })
    eq(questions.open(), false)
  end)

  it("denies where nobody can be asked", function()
    vim.ui.select = builtin
    local notify = vim.notify
    vim.notify = function() end
    ask(request("a"))
    vim.notify = notify
    eq(answers, { "a=" })
  end)

  it("makes the title harmless in the prompt", function()
    ask(request("a", { toolCall = { title = "rm\27[8m\n-rf" } }))
    eq(shown[1].opts.prompt, "demo: rm<1b>[8m<0a>-rf?")
  end)

  it("puts what would run before the title in the prompt", function()
    ask(request("a", {
      toolCall = {
        title = "List files",
        kind = "execute",
        rawInput = { command = { "rm", "-rf", ("a"):rep(300), "b\27" } },
      },
    }))
    local command = "'rm' '-rf' 'aaaaaaaaa … 270 more characters … "
      .. ("a"):rep(21)
      .. "' 'b<1b>'"
    eq(shown[1].opts.prompt, "demo asks: command: " .. command .. " (List files)")
  end)
end)

describe("permission.details", function()
  --- What the host says of the arguments with some names.
  local function deciding(words, ...)
    local list = {}
    for i, name in ipairs({ ... }) do
      list[i] = { name = name, decides = true }
    end
    return { words = words, arguments = list }
  end

  it("shows the real arguments beside the title", function()
    eq(
      permission.details(request("a", {
        deciding = deciding(false, "command", "args", "cwd"),
        toolCall = {
          title = "List files",
          kind = "execute",
          locations = { { path = "/w/a.go", line = 3 }, { path = "/w/b.go" } },
          rawInput = { all = true, args = { "-rf", "a b" }, command = "rm", cwd = "/w" },
        },
      })),
      {
        "command: rm",
        "args: '-rf' 'a b'",
        "cwd: /w",
        "all: true",
        "path: /w/a.go:3",
        "path: /w/b.go",
        "kind: execute",
        "title: List files",
      }
    )
  end)

  it("puts what decides first, and says how much of it does", function()
    local call = {
      title = "Look at it",
      kind = "read",
      rawInput = { limit = 20, path = "/w/a", new = "x" },
      content = { { type = "content", content = { type = "text", text = "because" } } },
    }
    local path, limit, new =
      { name = "path", decides = true }, { name = "limit", decides = false }, { name = "new" }
    new.decides, new.inDiff = false, true
    for what, case in pairs({
      ["an argument"] = {
        { words = false, arguments = { path, new, limit } },
        { "path: /w/a" },
        { "kind: read", "title: Look at it", "limit: 20", "because" },
      },
      ["an argument that the host does not name"] = {
        { words = false, arguments = { path } },
        { "path: /w/a", "limit: 20", "new: x" },
        { "kind: read", "title: Look at it", "because" },
      },
      ["the words of the agent"] = {
        { words = true, arguments = { limit, new } },
        { "path: /w/a", "title: Look at it", "because" },
        { "kind: read", "limit: 20" },
      },
      ["all of it, when the host says nothing"] = {
        nil,
        { "limit: 20", "new: x", "path: /w/a", "title: Look at it", "because" },
        { "kind: read" },
      },
    }) do
      local data = request("a", { toolCall = call, deciding = case[1] })
      local lines, whole, decided, unread = permission.details(data)
      eq({ what, lines, whole, decided, unread }, {
        what,
        vim.list_extend(vim.list_slice(case[2]), case[3]),
        true,
        #case[2],
        0,
      })
    end
  end)

  it("does not repeat in the words of the agent what an argument says", function()
    for title, shown in pairs({ ["rm x"] = false, ["`rm x`"] = false, ["Run rm x"] = true }) do
      local call = { title = title, kind = "execute", rawInput = { command = "rm x" } }
      local data = request("a", { toolCall = call, deciding = deciding(false, "command") })
      local want = { "command: rm x", "kind: execute" }
      want[3] = shown and "title: " .. title or nil
      eq(permission.details(data), want)
    end
  end)

  it("shows every kind of content, and what is not text by its type and its place", function()
    local function of(content)
      return { type = "content", content = content }
    end
    local link = { type = "resource_link", name = "plan\27", uri = "file:///w/plan.md" }
    local rows = {
      ["rm x"] = of({ type = "text", text = "rm x" }),
      ["file:///w/a text/plain rm x"] = of({
        type = "resource",
        resource = { uri = "file:///w/a", mimeType = "text/plain", text = "rm x" },
      }),
      ["resource file:///w/b"] = of({
        type = "resource",
        resource = { uri = "file:///w/b", blob = "AAAA" },
      }),
      ["resource_link plan<1b> file:///w/plan.md"] = of(link),
      ["image image/png"] = of({ type = "image", mimeType = "image/png", data = "AAAA" }),
      ["terminal t1 (not known here)"] = { type = "terminal", terminalId = "t1" },
      ["plan x"] = { type = "text", text = "plan x" }, -- as an example of the protocol has it
      ["content"] = { type = "content" },
      ["unknown content"] = {},
      ["later"] = { type = "later" },
    }
    for shown, block in pairs(rows) do
      for words, decided in pairs({ [true] = "all", [false] = "none" }) do
        local data = request("a", {
          deciding = { words = words },
          toolCall = { kind = "execute", content = { block } },
        })
        local lines, _, count = permission.details(data)
        local kind = table.remove(lines, words and #lines or 1)
        eq({ kind, table.concat(lines, " ") }, { "kind: execute", shown })
        eq(count, decided == "all" and #lines or 0)
      end
    end
  end)

  it("shows a script over its lines and counts its blanks", function()
    local script = "one\ntwo" .. (" "):rep(3000) .. "evil"
    local lines = permission.details({ toolCall = { rawInput = { command = script } } })
    eq(lines[1], "command: one")
    eq(lines[2], "  two‹3,000 blanks›evil")
  end)

  it("says what it leaves out in the middle of what has no end", function()
    local script = ("a"):rep(70000) .. "\0é" .. ("b"):rep(70000)
    local lines = permission.details({ toolCall = { rawInput = { command = script } } })
    local all = table.concat(lines, "\n")
    eq(all:find("… 74,466 more characters …", 1, true) ~= nil, true)
    eq(all:find("bb\nkind: unknown", 1, true) ~= nil, true)
  end)

  it("takes every form of arguments, places and texts", function()
    for _, call in ipairs({
      {},
      { locations = { {} }, content = { { type = "diff" }, { type = "content" }, {} } },
      { rawInput = "a\0b" },
      { rawInput = 3 },
      { rawInput = {} },
      { rawInput = { "a", "b" } },
      { rawInput = { command = { "a", { 1 } }, env = { A = "b" }, cwd = false } },
      { rawInput = { command = "\255\0\27", [""] = { {} } } },
    }) do
      eq(#permission.details({ toolCall = call }) > 0, true)
    end
    eq(permission.details({ toolCall = { locations = { {} } } })[1], "path: a place without a path")
  end)

  it("says how long texts are that would take too long to compare", function()
    local old, new = ("1\n"):rep(600000), ("2\n"):rep(600000)
    local got
    local bytes = compared(function()
      got = {
        permission.details({
          toolCall = {
            content = { { type = "diff", path = "/w/a", oldText = old, newText = new } },
          },
        }),
      }
    end)
    local lines, unread = got[1], got[4]
    eq(lines[#lines - 2], "  … too large to compare: 600000 lines before, 600000 after")
    eq({ unread, lines[#lines - 1] }, { 600000, "  … 600,000 more lines" })
    eq(bytes, 0)
  end)

  it("compares only so much for one question, in however many diffs", function()
    local content = {}
    for i = 1, 100 do
      local old, new = {}, {}
      for j = 1, 2000 do
        old[j], new[j] = tostring((i * j * 7919) % 10), tostring((i * j * 104729) % 9)
      end
      content[i] = {
        type = "diff",
        path = "/w/" .. i,
        oldText = table.concat(old, "\n"),
        newText = table.concat(new, "\n"),
      }
    end
    local all
    local bytes = compared(function()
      all = table.concat(permission.details({ toolCall = { content = content } }), "\n")
    end)
    eq(select(2, all:gsub("too large to compare: 2000 lines before, 2000 after", "")), 99)
    eq(bytes, #content[1].oldText + #content[1].newText + 2) -- and the ends of their last lines
  end)

  it("shows diffs behind the names of their files", function()
    local old, new = {}, {}
    for i = 1, 50 do
      old[i], new[i] = "old " .. i, "new " .. i
    end
    local lines = permission.details({
      deciding = { words = false },
      toolCall = {
        kind = "edit",
        locations = { { path = "/w/a", line = 2 }, { path = "/w/other" }, { path = "/w/b" } },
        content = {
          { type = "diff", path = "/w/a", oldText = "1\n2\n3\n", newText = "1\ntwo\n3\n" },
          { type = "diff", path = "/w/b", newText = "n\n" },
          {
            type = "diff",
            path = "/w/c",
            oldText = table.concat(old, "\n"),
            newText = table.concat(new, "\n"),
          },
          { type = "content", content = { type = "text", text = "because" } },
        },
      },
    })
    eq(vim.list_slice(lines, 1, 11), {
      "changes: /w/a",
      "changes: /w/b",
      "changes: /w/c",
      "path: /w/other",
      "change /w/a",
      " 1",
      "-2",
      "+two",
      " 3",
      "create /w/b",
      "@@ -0,0 +1 @@",
    })
    eq(lines[#lines], "because")
    eq(lines[#lines - 1], "kind: edit")
    eq(lines[#lines - 2], "+new 50")
  end)
end)

describe("permission with the built-in picker", function()
  local child = MiniTest.new_child_neovim()
  local seen -- a file that grows by one byte per question; a waiting Neovim can't be asked

  before_each(function()
    seen = vim.fn.tempname()
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(vim.fn.getcwd()) })
    child.lua(
      [[local seen, options, too_soon_ms = ...
      vim.api.nvim_list_uis = function() return { {} } end -- keys come from the spec
      local input = vim.fn.input
      vim.fn.input = function(...)
        vim.fn.writefile({ "x" }, seen, "a")
        return input(...)
      end
      _G.answers = {}
      local permission = require("hermes.ask.permission")
      require("hermes").setup({ questions = { style = "select" } })
      require("hermes.ask.reading").too_soon_ms = too_soon_ms
      function _G.Ask()
        local call = { title = "Edit it", kind = "edit" }
        local data = { requestId = "a", agent = "demo", options = options, toolCall = call }
        permission.ask(data, function(id) table.insert(answers, id) end)
        require("hermes.ask.questions").open()
      end]],
      { seen, options, 10000 }
    )
  end)
  after_each(function()
    child.stop()
  end)

  --- Types keys once the question was asked for the nth time.
  local function type_at(n, keys)
    local asked = vim.wait(60000, function()
      local stat = vim.uv.fs_stat(seen)
      return stat ~= nil and stat.size >= 2 * n
    end, 10)
    eq(asked, true)
    child.api_notify.nvim_input(keys)
  end

  local function answers()
    vim.wait(60000, function()
      return not child.is_blocked() and #child.lua_get("answers") > 0
    end, 10)
    return child.lua_get("answers")
  end

  it("asks again when keys typed ahead would allow", function()
    child.lua_notify("Ask()")
    type_at(1, "3<CR>")
    type_at(2, "1<CR>")
    eq(answers(), { "no" })
  end)

  it("takes an approval that comes later", function()
    child.lua("require('hermes.ask.reading').too_soon_ms = 0")
    child.lua_notify("Ask()")
    type_at(1, "3<CR>")
    eq(answers(), { "yes" })
  end)

  it("counts <Esc> as cancelled", function()
    child.lua_notify("Ask()")
    type_at(1, "<Esc>")
    eq(answers(), { "" })
  end)
end)
