-- hermes.text.printed: what a terminal would show of an output. HERMES_SEED and HERMES_RUNS choose
-- the random outputs, which Neovim's own terminal is to show alike.

local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))
local dice = dofile(root .. "/test/dice.lua")
local pace = dofile(root .. "/test/pace.lua")
local escapes = require("hermes.core.escapes")
local hermes = require("hermes")
local eq = MiniTest.expect.equality

---@param output string
---@param opts? table
---@return string
local function shown(output, opts)
  return table.concat((hermes.text.printed(output, opts)), "\n")
end

-- What a command prints, and what is left of it.
local cases = {
  ["plain text"] = {
    "one\ntwo\n\nthree äöü 日本 👍\n",
    "one\ntwo\n\nthree äöü 日本 👍",
  },
  ["nothing"] = { "", "" },
  ["lines that end as on Windows"] = { "one\r\ntwo\r\n", "one\ntwo" },
  ["a line that is written anew"] = { " 5%\r50%\r100%\n", "100%" },
  ["what a shorter text leaves of a longer one"] = { "abcdef\rxy", "xycdef" },
  ["a step back"] = { "abc\b\bX", "aXc" },
  ["tabs"] = { "a\tb\n12345678\tc", "a       b\n12345678        c" },
  ["colours"] = { "\27[31mred\27[0m \27[38;2;1;2;3mother\27[m", "red other" },
  ["the rest of a line that is erased"] = { "Counting 100\rdone\27[K", "done" },
  ["the start of a line that is erased"] = { "abcdef\b\b\27[1K", "     f" },
  ["a line that is erased"] = { "working\27[2K\27[1Gdone", "done" },
  ["a screen that is erased"] = { "one\ntwo\27[2J\27[Hthree", "three" },
  ["lines above"] = { "one: 1%\ntwo: 1%\n\27[2A\27[Kone: 2%\n\27[Ktwo: 2%\n", "one: 2%\ntwo: 2%" },
  ["a place on the screen"] = { "a\27[2;4Hb\27[1Cc", "a\n   b c" },
  ["a place beyond the screen"] = { "\27[99;9999Hx", ("\n"):rep(23) .. (" "):rep(119) .. "x" },
  ["characters that are inserted and deleted"] = { "abcd\27[3D\27[2@X\27[C\27[1P", "aX cd" },
  ["characters that are erased"] = { "abcd\r\27[2X", "  cd" },
  ["lines that are inserted and deleted"] = {
    "a\nb\nc\27[2A\r\27[Lx\27[2B\27[M",
    "x\na\nc",
  },
  ["a part of the screen that scrolls"] = { "a\nb\nc\27[2;3r\27[3H\nx", "a\nc\nx" },
  ["titles, links and pictures"] = {
    "\27]0;title\7a \27]8;;https://x.example\27\\link\27]8;;\27\\ \27_Gf=100;AAAA\27\\b",
    "a link b",
  },
  ["questions to the terminal"] = { "a\27[6n\27[cb", "ab" },
  ["the other screen, and back"] = { "one\27[?1049h\27[Hmenu\27[?1049l\ntwo", "one\ntwo" },
  ["the other screen, if that is the last"] = { "one\27[?1049h\27[Hmenu", "menu" },
  ["the cursor where it was saved"] = { "a\0277bc\0278X", "aXc" },
  ["the pieces of lines"] = { "\27(0lqk\27(Blqk", "┌─┐lqk" },
  ["a terminal that is reset"] = { "one\ntwo\27cthree", "three" },
  ["wide characters, of which one is overwritten"] = { "漢字\rab", "ab字" },
  ["accents"] = { "e\204\129a\204\136\27[1mo\27[0m\204\136\bO", "e\204\129a\204\136O" },
  ["bytes that are no text"] = { "a\255b\195\n\194\155c\0d", "a<ff>b<c3>\n<U+009B>cd" },
  ["what hides or reorders"] = { "a\226\128\174b\226\128\139c", "a<U+202E>b<U+200B>c" },
  ["a sequence that never ends"] = { "a\27[31", "a" },
  ["a title that never ends"] = { "a\27]0;title", "a" },
}

describe("what a terminal shows of an output", function()
  for what, case in pairs(cases) do
    it("is right of " .. what, function()
      eq(shown(case[1]), case[2])
    end)
  end

  it("is what is on the screen, and what has scrolled away", function()
    local numbers = {}
    for i = 1, 100 do
      numbers[i] = tostring(i)
    end
    local all = table.concat(numbers, "\n")
    eq(shown(all), all)
    -- The first row of the screen is the 77th line.
    eq(shown(all .. "\27[Hx\27[2J"), table.concat(numbers, "\n", 1, 76))
  end)

  it("is the end of what is too long, in whole lines", function()
    eq({ hermes.text.printed("1\n2\n3\n", { lines = 2 }) }, { { "2", "3" }, true })
    eq({ hermes.text.printed("1\n2\n3\n", { lines = 3 }) }, { { "1", "2", "3" }, false })
    local lines, cut = hermes.text.printed(("äöü and more of the line\n"):rep(100000) .. "end")
    eq({ lines[1], lines[#lines], cut }, { "äöü and more of the line", "end", true })
    eq({ #lines > 100, #lines < 10000 }, { true, true })
  end)

  it("begins with a whole line when the beginning is missing", function()
    eq({ hermes.text.printed("\151\165 of\nnext\n", { cut = true }) }, { { "next" }, true })
    eq({ hermes.text.printed("\151\165 of\r\nnext\n", { cut = true }) }, { { "next" }, true })
    eq({ hermes.text.printed("\151\165 of\n", { cut = true }) }, { { " of" }, true })
    eq({ hermes.text.printed("0%\r50%", { cut = true }) }, { { "50%" }, true })
  end)

  it("begins with a whole character where there is no line to begin with", function()
    for _, char in ipairs({ "ä", "漢", "👍" }) do
      for more = 0, 3 do
        local lines = hermes.text.printed(char:rep(50000) .. ("x"):rep(more))
        eq({ char, more, lines[1]:find("<", 1, true) }, { char, more })
        eq(vim.startswith(lines[1], char), true)
      end
    end
  end)

  it("does not begin inside a sequence", function()
    local picture = "\27_G" .. ("AAAA"):rep(100000)
    eq(hermes.text.printed(picture .. "\27\\done"), { "done" })
    local title = "\27]0;" .. ("words\n"):rep(50000)
    eq(hermes.text.printed(title .. "\7done"), { "done" })
    for length = 1, 35 do
      local rest = ("x"):rep(32 * 1024 - length)
      local lines = hermes.text.printed("before\27[38;2;100;100;100m\27[0;1;4;5;7;100m" .. rest)
      eq({ length, lines[1]:match("^[^x]+") }, { length })
    end
  end)

  it("is known soon, whatever a flood does", function()
    for _, what in ipairs({
      ("x"):rep(20000) .. ("\27Dx"):rep(4000),
      ("\t"):rep(10000) .. ("\27Dx"):rep(7000),
      "x",
      "some words of a line\n",
      "\n",
      "漢",
      "e\204\129",
      "50%\r",
      "\27[31mx\27[0m",
      "\27[H\27[J",
      "\27[2J",
      "\27[L",
      "\27[99L",
      "\27[9999@x",
      "x\27[D\27[@",
      "\r\27[P" .. ("x"):rep(50),
      "\27[9999Cx\r\27[K",
      "\27[?1049h",
      "\0277\0278\27M",
      "\27]0;",
      "\27",
      "\204\129",
      "\233\255",
      "é\27[m",
    }) do
      local flood = what:rep(math.ceil(10 * 1024 * 1024 / #what))
      collectgarbage()
      local before, began = collectgarbage("count"), os.clock()
      local lines = hermes.text.printed(flood, { lines = 200 })
      local ms = (os.clock() - began) * 1000
      local name = what:sub(1, 40)
      eq(
        { name, #lines <= 200, ms < 500 or ms < pace.most_ms(500, pace.here) or ms },
        { name, true, true }
      )
      eq({ name, collectgarbage("count") - before < 64 * 1024 }, { name, true })
    end
  end)
end)

describe("a random output", function()
  local seed, runs = tonumber(vim.env.HERMES_SEED) or 1, tonumber(vim.env.HERMES_RUNS) or 200
  local rows, columns = 24, 120

  --- An output that fits into the terminal, because lines wrap there at its edge and not here. Left
  --- out is also what terminals do not agree on: half of a wide character that is overwritten, and
  --- letters that stand for pieces of lines next to characters that are no letters.
  ---@param roll fun(n: integer): integer
  ---@return string
  local function output_of(roll)
    local parts, reach = {}, 0 -- no line is longer than this
    local function one(list)
      return list[roll(#list)]
    end
    local function number(n)
      return one({ "", tostring(roll(n)), tostring(roll(n)) })
    end
    local makes = {
      function()
        local words =
          one({ "word", "x", "a b", "ä", "é", "e\204\129", "o\204\136\204\163", "  " })
        reach = reach + 4
        return words
      end,
      function()
        return one({ "\n", "\n", "\r\n", "\r", "\n\n" })
      end,
      function()
        reach = reach + 8
        return "\t"
      end,
      function()
        return "\b"
      end,
      function()
        return ("\27[%s%s"):format(number(5), one({ "A", "B", "D", "E", "F", "e" }))
      end,
      function()
        reach = reach + 5
        return ("\27[%s%s"):format(number(5), one({ "C", "a", "@" }))
      end,
      function()
        reach = math.max(reach, 30)
        return ("\27[%s%s"):format(number(30), one({ "G", "`" }))
      end,
      function()
        reach = math.max(reach, 30)
        return ("\27[%s;%s%s"):format(number(30), number(30), one({ "H", "f" }))
      end,
      function()
        return ("\27[%sd"):format(number(30))
      end,
      function()
        return ("\27[%s%s"):format(one({ "", "0", "1", "2" }), one({ "J", "K", "K" }))
      end,
      function()
        return ("\27[%s%s"):format(number(4), one({ "L", "M", "P", "X", "S", "T" }))
      end,
      function()
        reach = reach + 16
        return ("\27[%s%s"):format(number(2), one({ "I", "Z" }))
      end,
      function()
        return ("\27[%s;%sr"):format(number(12), number(26))
      end,
      function()
        return one({ "\0277", "\0278", "\27M", "\27D", "\27E", "\27c", "\27[31m", "\27[0m" })
      end,
      function()
        return one({ "\27[?1049h", "\27[?1049l", "\27[?1047h", "\27[?1047l", "\27[?7l" })
      end,
      function()
        return one({ "\27]0;title\7", "\27]8;;x\27\\", "\27[6n", "\7", "\27[3\r", "\255", "\194" })
      end,
      function()
        reach = reach + 8
        return one({ "\r\27[K漢字\r\n", "\r\27[K日x本\n", "\r\n\27[2K👍\n" })
      end,
      function()
        return "\27(0lqk\27(B"
      end,
    }
    local scrolls = ("line\n"):rep(roll(40) - 10)
    for i = 1, roll(40) do
      parts[i] = makes[roll(#makes)]()
      if reach > columns - 40 then
        break
      end
    end
    return scrolls .. table.concat(parts)
  end

  --- What Neovim's own terminal shows.
  ---@param output string
  ---@return string
  local function drawn(output)
    local buf = vim.api.nvim_create_buf(false, true)
    vim.o.lines, vim.o.columns = rows + 10, columns
    local window = vim.api.nvim_open_win(buf, false, {
      relative = "editor",
      row = 0,
      col = 0,
      width = columns,
      height = rows,
      style = "minimal",
    })
    local channel = vim.api.nvim_open_term(buf, { force_crlf = false })
    vim.api.nvim_chan_send(channel, escapes.new():feed(output))
    local last = ""
    vim.wait(5000, function() -- it draws later
      local now = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), "\n")
      local settled = now == last and vim.api.nvim_buf_line_count(buf) >= rows
      last = now
      return settled
    end, 30)
    vim.api.nvim_win_close(window, true)
    vim.api.nvim_buf_delete(buf, { force = true })
    return (last:gsub("%s+$", ""))
  end

  it("is shown as Neovim's own terminal does", function()
    for run = seed, seed + runs - 1 do
      local output = output_of(dice.new(run))
      local now = shown(output):gsub("%s+$", "")
      eq({ run, output, now }, { run, output, drawn(output) })
    end
  end)
end)
