-- Questions that come while the user types, with real keys on a real screen.

local here = vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))
local screens = dofile(vim.fs.dirname(here) .. "/screen.lua")
local eq = MiniTest.expect.equality

describe("a question that comes while the user types", function()
  local screen ---@type hermes.test.Screen

  before_each(function()
    screen = screens.fresh()
  end)

  --- Time in which a question that may come up does.
  local function a_while()
    vim.wait(300)
  end

  -- What is typed before a question comes and after it, the mode in between, the
  -- line that results, how to be back in normal mode, and what the screen shows in
  -- between when the mode alone does not say that Neovim has taken the keys.
  local busy = {
    {
      "insert",
      "iadd| a test",
      "i",
      " and write 2 more<CR>2<CR>.",
      { "add| a test and write 2 more", "2", "." },
      "<Esc>",
    },
    { "replace", "iabcdefgh<Esc>0Rxy", "R", "2<CR>z", { "xy2", "zefgh" }, "<Esc>" },
    { "insert, for one command", "iabc<C-o>", "niI", "0x", { "xabc" }, "<Esc>" },
    { "operator-pending", "ione two<Esc>0d", "no", "w", { "two" }, "" },
    { "visual", "iabcdef<Esc>0v", "v", "ld", { "cdef" }, "" },
    { "visual line", "iabc<Esc>V", "V", "cx", { "x" }, "<Esc>" },
    { "select", "iabcdef<Esc>0gh", "s", "2", { "2bcdef" }, "<Esc>" },
    { "command-line", ":let g:typed = ", "c", "2<CR>", { "" }, "" },
    { "search", "i2 two<Esc>/", "c", "two<CR>x", { "2 wo" }, "" },
    { "prompt", ":let g:typed = input('? ')<CR>", "c", "2<CR>", { "" }, "" },
    { "count", "iabcdef<Esc>03", "n!", "x", { "def" }, "" },
    { "register", 'iabc<Esc>"a', "n", "yyVp", { "abc" }, "", '"a' },
    { "replace one", "iabc<Esc>0r", "R!", "2", { "2bc" }, "" },
    { "after g", "iabc<Esc>0g", "n!", "~l", { "Abc" }, "" },
    { "mapping", "iabc<Esc>0,", "n!", ",x", { "bc" }, "" },
    { "recording", "qa", "n", "i2<Esc>q", { "2" }, "", "recording @a" },
    { "completion", "ifoo fox f<C-n>", "ic", "<C-n>", { "foo fox fox" }, "<Esc>" },
    { "hit-enter", ":echo 'a\\nb' | echo 2<CR>", "r", "<CR>ix", { "x" }, "<Esc>" },
    { "choice", ":call confirm('?', \"&yes\\n&no\")<CR>", "r?", { "n", "ix" }, { "x" }, "<Esc>" },
  }
  for _, kind in ipairs({ "permission", "url", "form" }) do
    it("eats no key and takes none for an answer: " .. kind, function()
      for i, row in ipairs(busy) do
        local name, before, mode, after, lines, back, shown = unpack(row)
        local id = kind .. i
        screen:reset()
        -- Keys that are sent at once are one piece of typing.
        screen:lua("require('hermes.ask.questions').quiet_ms = 150")
        screen:type(before)
        screen:wait_for(name .. " mode " .. mode, function()
          return screen:mode():find("^" .. vim.pesc(mode)) and screen:shows(shown or "")
        end)
        screen:ask(kind, id)
        a_while()
        eq({ name, screen:is_asking() }, { name, false })
        -- A message would be in the way elsewhere; in Visual mode it stops Neovim.
        local told = ({ i = 1, R = 1, no = 1, n = 1, niI = 0, v = 0, V = 0, s = 0, c = 0 })[mode]
        if told then
          screen:wait_for(name .. " notices", function()
            return #screen:lua("return notes") == told
          end)
        end
        for part, keys in ipairs(type(after) == "table" and after or { after }) do
          if part > 1 then -- Neovim 0.10 throws away what is typed behind the first
            screen:wait_for_mode("n")
          end
          screen:type(keys)
        end
        if back ~= "" then
          a_while()
          eq({ name, screen:is_asking() }, { name, false })
          screen:type(back)
        end
        screen:wait_for_question()
        eq({ name, screen:answers() }, { name, {} })
        eq(
          { name, screen:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") },
          { name, lines }
        )
        screen:go_to()
        screen:type("1<CR>")
        screen:wait_for_answers(1)
        if lines[1] == "" then
          eq({ name, tostring(screen:lua("return vim.g.typed")) }, { name, "2" })
        end
      end
    end)
  end

  -- Prose that would answer every kind of question, if it could.
  local prose = "add 2 more tests, then 1\r2\ry\rrun it 3 times\r"

  -- Where the user types, and what has become of it in the end.
  local places = {
    {
      "insert",
      "i",
      "i",
      "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\r')",
    },
    {
      "terminal",
      ":terminal stty raw -echo && cat >got<CR>i", -- the program gets each key at once
      "t",
      "return table.concat(vim.fn.readfile('got', 'b'), '\\n')",
    },
    {
      "command-line",
      ":let g:typed = '",
      "c",
      'return vim.fn.getcmdline():sub(#"let g:typed = \'" + 1)',
    },
    { "operator-pending", "0d", "no", "return ''" },
  }
  for _, place in ipairs(places) do
    local name, enter, mode, read = unpack(place)
    it("loses no key and answers no question, of 50 that come meanwhile: " .. name, function()
      screen:reset()
      screen:lua("require('hermes.ask.questions').quiet_ms = 100")
      screen:type(enter)
      screen:wait_for_mode(mode)
      if mode == "t" then
        screen:wait_for("the program", function()
          return screen:lua("return vim.fn.filereadable('got')") == 1
        end)
      end
      local kinds = { "permission", "url", "form", "text" }
      for i = 1, 50 do
        screen:later("Ask(...)", kinds[i % #kinds + 1], name .. i, {})
        if mode ~= "no" then -- one key ends it
          local key = prose:sub((i - 1) % #prose + 1, (i - 1) % #prose + 1)
          if mode == "c" and key == "\r" then
            key = " "
          end
          vim.rpcrequest(screen.channel, "nvim_input", key)
        end
        vim.wait(i % 10 == 0 and 300 or 33) -- people stop to think
      end
      eq({ screen:mode(), screen:is_asking(), screen:answers() }, { mode, false, {} })
      local want = ""
      for i = 1, mode ~= "no" and 50 or 0 do
        want = want .. prose:sub((i - 1) % #prose + 1, (i - 1) % #prose + 1)
      end
      want = mode == "c" and want:gsub("\r", " ") or want
      screen:wait_for("all of the text", function()
        return screen:lua(read) == want
      end)
      screen:wait_for("all questions", function()
        return #screen:lua("return require('hermes.ask.questions').list()") == 50
      end)
      screen:type(mode == "t" and "<C-\\><C-n>" or "<Esc>")
      screen:wait_for_question()
      eq(screen:answers(), {})
    end)
  end
end)
