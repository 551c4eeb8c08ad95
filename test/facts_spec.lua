-- What the user sees of a question, on a real screen of 80 columns and 24 lines.

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local eq = MiniTest.expect.equality

describe("the facts of a question", function()
  local screen ---@type hermes.test.Screen

  before_each(function()
    screen = screens.fresh()
  end)

  -- The text that the user must not miss, or must not be able to allow.
  local evil = "; rm -rf EVIL"

  ---@param call table a tool call
  local function permission(call)
    screen:ask("permission", "p", { toolCall = vim.tbl_extend("keep", call, { toolCallId = "t" }) })
    screen:wait_for_text("umber and <Enter>")
  end

  local function host_command(command)
    return {
      title = "Run " .. command,
      kind = "execute",
      rawInput = { command = command, program = "/bin/sh", cwd = "/w", shell = false },
    }
  end

  local padded = {
    ["1500 blanks"] = host_command("sh -c 'echo ok" .. (" "):rep(1500) .. evil .. "'"),
    ["60 options"] = host_command(
      "tool" .. (" --harmless-option-with-a-long-name"):rep(60) .. evil
    ),
    ["a long title"] = {
      title = ("Looks at the list of files. "):rep(100),
      kind = "execute",
      rawInput = { command = "echo ok" .. evil },
    },
    ["40 locations"] = {
      title = "Look",
      kind = "execute",
      locations = vim.tbl_map(function(i)
        return { path = "/w/file" .. i }
      end, vim.fn.range(40)),
      rawInput = { command = "echo ok" .. evil },
    },
    ["tabs"] = host_command("echo ok" .. ("\t"):rep(900) .. evil),
    ["line breaks"] = host_command("echo ok" .. ("\n"):rep(900) .. evil),
    ["wide blanks"] = host_command("echo ok" .. ("\227\128\128"):rep(900) .. evil),
    ["letters"] = host_command("echo " .. ("a"):rep(5000) .. evil),
    ["wide letters"] = host_command("echo " .. ("字"):rep(3000) .. evil),
    ["letters around it"] = host_command(
      "echo " .. ("a"):rep(5000) .. evil .. "; echo " .. ("b"):rep(5000)
    ),
    ["more than is ever shown"] = host_command("echo " .. ("a"):rep(200000) .. evil),
    ["60 arguments"] = {
      kind = "execute",
      rawInput = (function()
        local input = { zz = "echo ok" .. evil }
        for i = 1, 60 do
          input["a" .. i] = "harmless"
        end
        return input
      end)(),
    },
    ["the environment"] = {
      kind = "execute",
      rawInput = { command = "make", cwd = "/w", env = { "A=" .. ("a"):rep(3000), "B=" .. evil } },
    },
    ["a path"] = {
      kind = "edit",
      rawInput = { file_path = "/w/" .. ("d/"):rep(3000) .. evil, content = "x" },
    },
    ["diffs"] = {
      kind = "edit",
      content = vim.list_extend(
        vim.tbl_map(function(i)
          return { type = "diff", path = "/w/file" .. i, newText = "x\n" }
        end, vim.fn.range(40)),
        { { type = "diff", path = "/w/" .. evil, newText = "x\n" } }
      ),
    },
  }
  for name, call in pairs(padded) do
    it("allows nothing that " .. name .. " keep out of sight", function()
      permission(call)
      local facts = screen:framed()
      local offered = screen:shows("[allow once]")
      if offered then
        eq({ facts:find("rm -rf EVIL", 1, true) ~= nil, facts }, { true, facts })
      else
        eq({ screen:shows("NOT ALL IS SHOWN"), facts }, { true, facts })
        eq({ facts:find("%d more ") ~= nil, facts }, { true, facts })
      end
    end)
  end

  it("says how many blanks there are between what can be read", function()
    permission(padded["1500 blanks"])
    local facts = screen:framed()
    eq(
      facts:find("command: sh -c 'echo ok‹1,500 blanks›; rm -rf EVIL'", 1, true) ~= nil
        and facts:find("cwd: /w", 1, true) ~= nil
        and screen:shows("[allow once]"),
      true
    )
  end)

  it("shows the end of what is too long and how much is missing", function()
    permission(padded["letters"])
    local facts = screen:framed()
    eq(facts:match("… ([%d,]+) more characters …") ~= nil, true)
    eq(facts:find("rm -rf EVIL", 1, true) ~= nil, true)
    eq(screen:shows("NOT ALL IS SHOWN"), true)
    eq(screen:shows("[allow once]"), false)
  end)

  it("shows command, folder and environment before the words of the agent", function()
    permission({
      title = "Harmless",
      kind = "execute",
      locations = { { path = "/w/a" } },
      rawInput = { about = "nothing", env = { "A=b" }, cwd = "/w", command = "make" },
    })
    local order = {}
    for name in screen:framed():gmatch("(%l+): ") do
      order[#order + 1] = name
    end
    eq(vim.list_slice(order, 1, 3), { "command", "cwd", "env" })
    eq(order[#order], "title")
  end)

  it("allows what is too long for the window once all of it was on the screen", function()
    local long = "echo " .. ("a"):rep(5000) .. evil .. "; echo " .. ("b"):rep(5000)
    permission({ kind = "execute", rawInput = { command = long } })
    screen:choose("Show everything first")
    screen:wait_for_text("q goes back to the question")
    screen:type("q")
    screen:wait_for_text("NOT ALL IS SHOWN")
    eq(screen:shows("[allow once]"), false)
    screen:choose("Show everything first")
    screen:wait_for_text("q goes back to the question")
    screen:type("G")
    screen:wait_for_text("kind: execute")
    screen:type("gg")
    screen:type("/EVIL<CR>")
    screen:wait_for("the middle", function()
      return screen:framed():find(evil, 1, true)
    end)
    screen:type("q")
    screen:wait_for_text("[allow once]")
    screen:choose("Yes")
    screen:wait_for_answers(1)
    eq(screen:answers(), { "p=yes" })
  end)

  it("never allows what is too long to be shown at all", function()
    permission({ kind = "execute", rawInput = { command = ("a"):rep(200000) } })
    screen:choose("Show everything first")
    screen:wait_for_text("it can only be refused")
    screen:type("G")
    screen:wait_for_text("kind: execute")
    screen:type("q")
    screen:wait_for_text("NOT ALL IS SHOWN")
    eq(screen:shows("[allow once]"), false)
    screen:choose("No")
    screen:wait_for_answers(1)
    eq(screen:answers(), { "p=no" })
  end)

  it("never allows what the host had to cut", function()
    screen:ask("permission", "p", { truncated = { bytes = 5000000, entries = 0 } })
    screen:wait_for_question()
    eq(screen:shows("missing: 5000000 bytes"), true)
    eq(screen:shows("[allow once]"), false)
    screen:choose("Show everything first")
    screen:wait_for_text("it can only be refused")
    screen:type("q")
    screen:wait_for_question()
    eq(screen:shows("[allow once]"), false)
  end)

  it("offers nothing more when the screen becomes too small for it", function()
    permission(host_command("echo " .. ("a"):rep(700)))
    eq(screen:shows("[allow once]"), true)
    local yes = screen:number("Yes")
    screen:lua("vim.o.columns = 40")
    screen:type(yes .. "<CR>")
    screen:wait_for_text("NOT ALL IS SHOWN")
    eq(screen:answers(), {})
  end)

  it("offers a way to see more and a way out, however many options there are", function()
    local options = {}
    for i = 1, 60 do
      options[i] = { optionId = "y" .. i, name = "Yes " .. i, kind = "allow_once" }
    end
    options[61] = { optionId = "no", name = "No", kind = "reject_once" }
    screen:ask("permission", "p", {
      options = options,
      toolCall = { toolCallId = "t", kind = "execute", rawInput = { command = "echo ok" .. evil } },
    })
    screen:wait_for_text("No  [reject once]")
    eq(screen:framed():find("command: echo ok" .. evil, 1, true) ~= nil, true)
    eq(screen:mode(), "c")
  end)

  it("names every option by its kind, however long its name is", function()
    screen:ask("permission", "p", {
      options = {
        { optionId = "a", name = "Reject " .. ("it "):rep(100), kind = "allow_always" },
        { optionId = "b", name = ("\226\128\174"):rep(100), kind = "allow_once" },
        { optionId = "c", name = "No", kind = "reject_once" },
      },
    })
    screen:wait_for_question()
    local kinds = {}
    for kind in screen:text():gmatch("%[(%l+ %l+)%]│") do
      kinds[#kinds + 1] = kind
    end
    for kind in screen:text():gmatch("%[(%l+ %l+)%] +│") do
      kinds[#kinds + 1] = kind
    end
    table.sort(kinds)
    eq(kinds, { "allow always", "allow once", "reject once" })
  end)

  it("is put by the user's own picker, the facts above it", function()
    screen:lua([[
      vim.ui.select = function(items, opts, on_choice)
        _G.picked = { labels = vim.tbl_map(opts.format_item, items), prompt = opts.prompt }
        _G.choose = function(i) on_choice(items[i], i) end
        local buf = vim.api.nvim_create_buf(false, true)
        local config = { relative = "editor", row = 0, col = 0, zindex = 150 }
        config.width, config.height = 78, 20
        vim.api.nvim_open_win(buf, true, config)
      end]])
    screen:ask("permission", "p", {
      toolCall = { kind = "execute", rawInput = { command = ("a"):rep(5000) .. evil } },
    })
    screen:wait_for("picker", function()
      return screen:lua("return picked ~= nil")
    end)
    eq(screen:lua("return picked.labels"), { "No  [reject once]", "Show everything first" })
    eq(screen:lua("return picked.prompt:find('NOT ALL IS SHOWN', 1, true)"), 1)
    screen:wait_for_text("EVIL")
    eq(screen:framed():find(evil, 1, true) ~= nil, true)
    screen:later("vim.api.nvim_win_close(0, true); choose(2)")
    screen:wait_for_text("q goes back to the question")
    screen:type("G")
    screen:wait_for_text("kind: execute")
    screen:type("q")
    screen:wait_for("all options", function()
      return #screen:lua("return picked.labels") == 2
        and screen:lua("return picked.labels[2]") == "Yes  [allow once]"
    end)
    screen:later("choose(2)")
    screen:wait_for_answers(1)
    eq(screen:answers(), { "p=yes" })
  end)

  it("shows the whole address of a page, or does not open it", function()
    local url = "https://example.com/" .. ("a"):rep(4000) .. "?to=EVIL"
    screen:ask("url", "u", { url = url })
    screen:wait_for_question()
    local facts = screen:framed()
    eq(facts:find("Host: example.com", 1, true), 1)
    eq(facts:find("?to=EVIL", 1, true) ~= nil, true)
    eq(screen:shows("Open it"), false)
    eq(screen:shows("NOT ALL IS SHOWN"), true)
    screen:choose("Show everything first")
    screen:wait_for_text("q goes back to the question")
    screen:type("G")
    screen:wait_for_text("message: ")
    screen:type("q")
    screen:wait_for_text("Open it")
    screen:choose("Open it")
    screen:wait_for_answers(1)
    eq(screen:answers(), { "u=accept" })
    eq(screen:lua("return opened"), { url })
  end)
end)
