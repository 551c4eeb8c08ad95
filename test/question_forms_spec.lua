-- Forms and rules in the window of a question, on a real screen.

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local eq = MiniTest.expect.equality

describe("a form", function()
  local screen ---@type hermes.test.Screen

  before_each(function()
    screen = screens.fresh()
  end)

  --- Puts a form.
  local function put(properties, fields, required)
    screen:ask("form", "f", {
      message = "Say",
      fields = fields,
      requestedSchema = { type = "object", properties = properties, required = required },
    })
    screen:go_to()
  end

  local properties = {
    zeta = { type = "string", title = "Zeta", default = "z" },
    alpha = { type = "string", title = "Alpha" },
    size = { type = "string", title = "Size", enum = { "S", "M", "L" }, default = "M" },
    count = { type = "integer", title = "Count", minimum = 1 },
    tags = {
      type = "array",
      title = "Tags",
      items = { enum = { "red", "green", "blue" } },
      default = { "blue" },
    },
  }
  local order = { "zeta", "alpha", "size", "count", "tags" }

  local function ask(required)
    put(properties, order, required)
    screen:wait_for_text("Send")
  end

  local function sent()
    screen:wait_for("an answer", function()
      return #screen:lua("return values") == 1
    end)
    return screen:lua("return values[1]")
  end

  --- Goes to a field and waits for what comes.
  local function open(field, text)
    screen:choose(field)
    screen:wait_for_text(text)
  end

  it("keeps the order of the agent and shows the defaults", function()
    ask({ "alpha" })
    local names = {}
    for name in screen:framed():gmatch("%d+: (%u%l+)") do
      names[#names + 1] = name
    end
    local want = { "Zeta", "Alpha", "Size", "Count", "Tags", "Send", "Decline", "Cancel" }
    eq(names, want)
    for _, shown in ipairs({ "Zeta: z", "Alpha*:", "Size: M", "Tags: blue" }) do
      screen:wait_for_text(shown)
    end
  end)

  it("begins on a field, which <CR> changes, and says what each is for", function()
    put({
      where = { type = "string", title = "Where", description = "A city\27 or a country" },
      who = { type = "string", description = "Who goes there" },
    }, { "where", "who" })
    screen:wait_for_text("Where: A city<1b> or a country")
    screen:wait_for_text("2: Who goes there: ")
    eq(select(2, screen:framed():gsub("Who goes there", "")), 1)
    eq(screen:lua("return vim.api.nvim_get_current_line()"), "1: Where: ")
    screen:type("<CR>")
    screen:wait_for_text("Say: Where:")
    eq(screen:answers(), {})
    screen:type("Oslo<CR>")
    screen:wait_for_text("1: Where: Oslo")
  end)

  it("sends the defaults and nothing for fields without a value", function()
    ask()
    screen:choose("Send")
    eq(sent(), {
      action = "accept",
      content = { zeta = "z", size = "M", tags = { "blue" } },
    })
  end)

  it("asks for what must be filled in before it is sent", function()
    ask({ "alpha" })
    screen:choose("Send")
    screen:wait_for_text("Alpha is required.")
    open("Alpha", "Say: Alpha:")
    screen:type("mine<CR>")
    screen:wait_for_text("Alpha*: mine")
    screen:choose("Send")
    eq(sent().content.alpha, "mine")
  end)

  it("goes on when a field is dismissed or skipped", function()
    ask()
    open("Alpha", "Say: Alpha:")
    screen:type("<Esc>")
    screen:wait_for_text("Send")
    open("Size", "1: S")
    screen:choose("Skip")
    screen:wait_for_text("Send")
    open("Count", "Say: Count:")
    screen:type("none<CR>")
    screen:wait_for_text("a whole number, please")
    screen:type("<C-u>3<CR>")
    screen:wait_for_text("Count: 3")
    open("Size", "1: S")
    screen:choose("Cancel")
    screen:wait_for_text("Send")
    open("Tags", "[x] blue")
    screen:choose("[ ] red")
    screen:wait_for_text("[x] red")
    screen:choose("[x] blue")
    screen:wait_for_text("[ ] blue")
    screen:choose("done")
    screen:wait_for_text("Tags: red")
    screen:choose("Send")
    eq(sent(), { action = "accept", content = { zeta = "z", count = 3, tags = { "red" } } })
  end)

  it("is declined or cancelled as a whole", function()
    for _, how in ipairs({ "Decline", "Cancel" }) do
      screen:lua("_G.values = {}")
      ask()
      screen:choose(how)
      eq(sent(), { action = how:lower() })
    end
  end)

  it("offers the choices of its only field at once", function()
    put({ size = properties.size }, { "size" }, { "size" })
    screen:wait_for_text("2: M  (default)")
    screen:choose("L")
    eq(sent(), { action = "accept", content = { size = "L" } })
  end)

  it("skips an optional field that is dismissed on a line", function()
    screen:use_line()
    local two = { a = properties.size, b = { type = "boolean", title = "Sure" } }
    put(two, { "b", "a" })
    screen:wait_for_text("Say: Sure")
    screen:type("<Esc>")
    screen:wait_for_text("Say: Size")
    screen:choose("S")
    eq(sent(), { action = "accept", content = { a = "S" } })
    screen:lua("_G.values = {}")
    put(two, { "b", "a" })
    screen:wait_for_text("Say: Sure")
    screen:type("<Esc>")
    screen:wait_for_text("Say: Size")
    screen:type("<Esc>")
    eq(sent(), { action = "cancel" })
  end)
end)

describe("a rule made at a question", function()
  local screen ---@type hermes.test.Screen

  before_each(function()
    screen = screens.fresh()
    screen:lua([[
      _G.rules = {}
      require("hermes.session.rules").change = function(_, rule) rules[#rules + 1] = rule end]])
  end)

  local command =
    { action = "allow", agent = "demo", command = { "rm", "-rf", "build" }, exact = true }
  local offers = {
    command,
    { action = "allow", agent = "demo", command = { "rm" } },
    { action = "allow", agent = "demo", kind = "edit", path = "/w/src/**" },
    { action = "allow", agent = "demo", kind = "edit", path = "/w/a.txt" },
    { action = "allow", agent = "demo", kind = "execute" },
    { action = "allow", agent = "demo" },
  }

  it("is said in words, with how long it lasts, and answers the question", function()
    screen:ask("permission", "p", { rules = offers })
    screen:go_to()
    screen:choose("Allow this and more")
    screen:wait_for_text("1: Back")
    for _, words in ipairs({
      "Allow the command rm -rf build, by demo, until the session ends",
      "Allow the command rm -rf build, by demo, until Neovim ends",
      "Allow commands that begin with rm, by demo, until the session ends",
      "Allow edit of files in /w/src, by demo, until Neovim ends",
      "Allow edit of /w/a.txt, by demo, until the session ends",
      "Allow every command, by demo, until the session ends",
      "Allow everything, by demo, until the session ends",
    }) do
      screen:wait_for_text(words)
    end
    eq(screen:shows("every command, by demo, until Neovim ends"), false)
    screen:choose("Back")
    screen:wait_for_text("Yes  [allow once]")
    eq(screen:lua("return rules"), {})
    screen:choose("Allow this and more")
    screen:wait_for_text("1: Back")
    screen:choose("Allow the command rm -rf build, by demo, until the session ends")
    screen:wait_for_answers(1)
    eq(screen:answers(), { "p=yes" })
    eq(screen:lua("return rules"), {
      vim.tbl_extend("force", command, { scope = "session", session = "s" }),
    })
  end)

  it("names what is in the session's folder as the question does", function()
    screen:lua([[
      require("hermes.session.state")
      local events = require("hermes.core.events")
      events.emit("StateChanged", { agent = "demo", to = "ready" })
      events.emit("SessionCreated", { agent = "demo", sessionId = "s", cwd = "/w" })]])
    local all = { action = "allow", agent = "demo", kind = "edit", path = "/w/**" }
    local other = { action = "allow", agent = "demo", kind = "edit", path = "/www/a" }
    screen:ask("permission", "p", { rules = { offers[3], offers[4], all, other } })
    screen:go_to()
    screen:choose("Allow this and more")
    for _, words in ipairs({
      "Allow edit of files in src, by demo, until the session ends",
      "Allow edit of a.txt, by demo, until the session ends",
      "Allow edit of files in /w, by demo, until the session ends",
      "Allow edit of /www/a, by demo, until the session ends",
    }) do
      screen:wait_for_text(words)
    end
  end)

  it("lasts for good where rules are kept", function()
    screen:lua("require('hermes').setup({ permissions = { remember = true } })")
    screen:ask("permission", "p", { rules = { command } })
    screen:go_to()
    screen:choose("Allow this and more")
    screen:wait_for_text("1: Back")
    screen:choose("Allow the command rm -rf build, by demo, from now on")
    screen:wait_for_answers(1)
    screen:lua("require('hermes').setup({ permissions = { remember = false } })")
    eq(screen:lua("return rules"), { vim.tbl_extend("force", command, { scope = "always" }) })
  end)

  it("is not offered where no option allows once", function()
    screen:ask("permission", "p", {
      rules = offers,
      options = {
        { optionId = "a", name = "Always", kind = "allow_always" },
        { optionId = "no", name = "No", kind = "reject_once" },
      },
    })
    screen:go_to()
    screen:wait_for_text("Always  [allow always]")
    eq(screen:shows("[rule]"), false)
  end)
end)
