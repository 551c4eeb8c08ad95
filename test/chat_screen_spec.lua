-- hermes.chat on a real screen, with real keys. Needs bin/hermes (make build).

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local root = vim.fs.dirname(vim.fs.dirname(here))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local eq = MiniTest.expect.equality

describe("the chat on the screen", function()
  local screen ---@type hermes.test.Screen

  before_each(function()
    screen = screens.start()
    screen:lua(
      [[local root, program = ...
      _G.notes = {}
      _G.hermes, _G.chat = require("hermes"), require("hermes.chat")
      hermes.setup({ agents = { scripted = {
        command = program,
        args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
        env = { HERMES_TEST_AGENT = vim.json.encode({
          modes = { currentModeId = "ask", availableModes = { { id = "ask", name = "Ask" } } },
        }) },
      } } })
      function _G.Buffer(filetype)
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          if vim.bo[buf].filetype == filetype then
            return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
          end
        end
      end
      function _G.Say(steps)
        hermes.prompt((next(hermes.state().sessions)), vim.json.encode(steps))
      end]],
      root,
      vim.v.progpath
    )
  end)
  after_each(function()
    screen:stop()
  end)

  ---@param opts? table
  local function open(opts)
    screen:lua("chat.setup(...)", opts or {})
    screen:type(":Hermes chat scripted<CR>")
    screen:wait_for_text("scripted · idle")
  end

  --- The columns of the chat, without blanks at the end of lines.
  ---@return string[]
  local function right()
    local lines = {}
    for line in (screen:text() .. "\n"):gmatch("(.-)\n") do
      local own = vim.trim(line:match("│(.*)$") or ""):gsub("%s+", " ")
      lines[#lines + 1] = (own:gsub(" ?[\194\183]+$", "")) -- what fills the line of a fold
    end
    return lines
  end

  local function text(kind, value)
    return { update = { sessionUpdate = kind, content = { type = "text", text = value } } }
  end

  local turn = {
    text("agent_thought_chunk", "Let me see\nwhat there is\nto be done"),
    {
      update = {
        sessionUpdate = "plan",
        entries = {
          { content = "Look", status = "completed", priority = "low" },
          { content = "Change \27[1m", status = "pending", priority = "low" },
        },
      },
    },
    {
      update = {
        sessionUpdate = "tool_call",
        toolCallId = "e",
        title = "Edit it",
        status = "completed",
        content = { { type = "diff", path = "/w/a", oldText = "a\nb\n", newText = "a\n2\n" } },
      },
    },
    {
      update = {
        sessionUpdate = "tool_call",
        toolCallId = "r",
        title = "Run %{1+1}",
        status = "failed",
        content = { { type = "content", content = { type = "text", text = "1\n2\n3\n4" } } },
      },
    },
    text("agent_message_chunk", "**Done**, with `code`."),
    {
      update = {
        sessionUpdate = "usage_update",
        used = 12000,
        size = 200000,
        cost = { amount = 0.5, currency = "USD" },
      },
    },
    { update = { sessionUpdate = "session_info_update", title = "A %{2+2} title" } },
  }

  it("shows each kind of thing, and hides nothing", function()
    open()
    screen:lua("Say(...)", turn)
    screen:wait_for_text("with `code`.")
    screen:wait_for_text("12k/200k")
    local status = "scripted · idle · Ask · 12k/200k 6% · 0.50 USD · A %{2+2} title"
    screen:wait_for("status", function()
      return screen:lua([[for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.bo[buf].filetype == "hermes_chat" then return vim.b[buf].hermes_chat end
      end]]) == status
    end)
    screen:wait_for("status on the screen", function()
      return vim.startswith(right()[1], "scripted · idle · Ask · 12k/200k 6%")
    end)
    local lines = right()
    local last = 0
    for i, line in ipairs(lines) do
      last = line:find("with `code`.", 1, true) and i or last
    end
    eq(vim.list_slice(lines, last - 13, last), {
      "… Let me see (+2 lines)",
      "",
      "≡ ● Look",
      "○ Change <1b>[1m",
      "",
      "● Edit it",
      "/w/a",
      "@@ -1,2 +1,2 @@",
      "a",
      "-b",
      "+2",
      "✗ Run %{1+1} (+4 lines)",
      "",
      "**Done**, with `code`.",
    })
  end)

  it("keeps the height of the prompt when windows come and go", function()
    open({ prompt_height = { 3, 12 } })
    screen:type("one<CR>two<CR>three<CR>four<Esc>")
    local function height()
      return screen:lua([[for _, win in ipairs(vim.api.nvim_list_wins()) do
        if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == "hermes_prompt" then
          return vim.fn.winheight(win) -- without the winbar
        end
      end]])
    end
    screen:wait_for("a line for each of the prompt", function()
      return height() == 4
    end)
    for _, keys in ipairs({
      ":Hermes permissions<CR>",
      ":Hermes status<CR>",
      ":quit<CR>",
      ":botright split<CR>",
      ":quit<CR>",
    }) do
      screen:type(keys)
      local before = screen:lua("return #vim.api.nvim_list_wins()")
      vim.wait(300, function()
        return screen:lua("return #vim.api.nvim_list_wins()") ~= before
      end, 10)
      screen:wait_for(keys .. " to leave the prompt as it was", function()
        return height() == 4
      end)
    end
  end)

  it("shows its keys, in a window that can be scrolled and closed", function()
    open()
    for _, enter in ipairs({ "<Esc>", "<C-w>k" }) do
      screen:type(enter .. "g?")
      screen:wait_for_text("Keys of the chat")
      screen:wait_for_text("send the prompt")
      screen:type("G")
      screen:wait_for_text("show these keys")
      screen:type("q")
      screen:wait_for("the chat alone", function()
        return not screen:shows("Keys of the chat")
      end)
      eq(screen:lua("return vim.v.errmsg"), "")
    end
  end)

  it("fits a narrow window", function()
    screen:lua("vim.o.columns = 40")
    open()
    screen:lua("Say(...)", turn)
    screen:wait_for("text", function()
      return table.concat(right(), " "):find("**Done**, with `code`.", 1, true)
    end)
    screen:type("a prompt that is longer than the window")
    screen:wait_for("prompt", function()
      return table.concat(right(), " "):find("longer than the window", 1, true)
    end)
  end)

  it("follows the end, unless the user reads something else", function()
    open({ insert = false })
    screen:lua(
      "Say(...)",
      { { say = "line\n", times = 100 }, { say = "the la" }, { say = "st line" } }
    )
    screen:wait_for_text("the last line")
    screen:type("<C-w>kgg")
    screen:wait_for("top", function()
      return not screen:shows("the last line")
    end)
    screen:lua(
      "Say(...)",
      { { say = "line\n", times = 100 }, { say = "another e" }, { say = "nd" } }
    )
    screen:wait_for("text", function()
      return screen:lua("return Buffer('hermes_chat')"):find("another end", 1, true)
    end)
    vim.wait(200)
    eq({ screen:shows("another end"), screen:lua("return vim.fn.line('.')") }, { false, 1 })
    screen:type("G")
    screen:wait_for_text("another end")
  end)

  for _, where in ipairs({ "dialog", "chat" }) do
    it("takes no key of a typist while the agent asks; questions in the " .. where, function()
      open({ permissions = where })
      screen:lua("Say(...)", {
        {
          asks = {
            {
              toolCall = { toolCallId = "t", title = "rm", rawInput = { command = "rm -rf /" } },
            },
          },
          times = 60,
        },
      })
      local prose, typed = "2 of 3 and 1 more,\n1\n2\n\ny yes n no <C-y> 1) a b c\n", {}
      for i = 1, 3 do
        typed[i] = prose
        for key in prose:gmatch(".") do
          screen:type(key == "\n" and "<CR>" or key == "<" and "<lt>" or key)
          vim.wait(33) -- 30 keys a second
        end
      end
      local want = table.concat(typed)
      screen:wait_for("text", function()
        return screen:lua("return Buffer('hermes_prompt')") == want
      end)
      eq(screen:mode(), "i")
      screen:wait_for("all questions", function()
        return screen:lua("return #hermes.state().pending") == 60
      end)
      eq(screen:lua("return Buffer('hermes_chat')"):find("ask%-%d+: "), nil)
    end)
  end
end)
