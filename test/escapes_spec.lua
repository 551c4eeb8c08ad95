local escapes = require("hermes.core.escapes")
local eq = MiniTest.expect.equality

---@param bytes string
---@return string
local function filtered(bytes)
  return escapes.new():feed(bytes)
end

-- What goes in, and what comes out.
local cases = {
  -- Drawn.
  { "plain text äöü 日本 👍", "plain text äöü 日本 👍" },
  { "a\nb", "a\r\nb" },
  { "a\r\nb", "a\r\r\nb" },
  { "a\vb\fc", "a\r\nb\r\nc" },
  { "50%\r60%\b\b\t", "50%\r60%\b\b\t" },
  { "\27[31mred\27[0m", "\27[31mred\27[0m" },
  { "\27[38;2;1;2;3;48:5:7m", "\27[38;2;1;2;3;48:5:7m" },
  { "\27[2J\27[H\27[3;4H\27[K\27[2A\27[5C", "\27[2J\27[H\27[3;4H\27[K\27[2A\27[5C" },
  { "\27[?1049h\27[?1049l\27[?7l", "\27[?1049h\27[?1049l\27[?7l" },
  { "\0277\0278\27M\27D\27E", "\0277\0278\27M\27D\27E" },
  { "\27(0lqk\27(B", "\27(0lqk\27(B" },
  { "a\27cb", "a\27(B\27[0m\27[r\27[H\27[2Jb" },
  -- Asks the terminal for an answer.
  { "a\27[6nb", "ab" },
  { "a\27[5n\27[?6nb", "ab" },
  { "a\27[c\27[0c\27[>c\27[=cb", "ab" },
  { "a\27[>0q\27[?u\27[14t\27[21tb", "ab" },
  { "a\27Zb", "ab" },
  { "a\5b", "ab" },
  { "a\27[?2026$pb", "ab" },
  { "a\27P$qm\27\\b", "ab" },
  { "a\27P+q544e\27\\b", "ab" },
  { "a\27]10;?\7\27]11;?\27\\\27]4;1;?\7b", "ab" },
  -- Acts on the editor or on the terminal around it.
  { "a\27]52;c;TUFSSw==\7b", "ab" },
  { "a\27]52;c;TUFSSw==\27\\b", "ab" },
  { "a\27]0;title\7b\27]2;title\27\\c", "abc" },
  { "a\27]8;;https://x.example/\27\\link\27]8;;\27\\b", "alinkb" },
  { "a\27]7;file:///tmp\7\27]133;A\7\27]9;note\7\27]777;notify;a;b\7b", "ab" },
  { "a\27_Gf=100;AAAA\27\\b", "ab" },
  { "a\27^private\27\\b\27Xstring\27\\c", "abc" },
  { "a\27ktitle\27\\b", "ab" },
  { "a\7b", "ab" },
  { "a\27[?1000h\27[?1002h\27[?1006h\27[?1004h\27[?2004hb", "ab" },
  { "a\27[?25l\27[?12h\27[2 q\27[!pb", "ab" },
  { "a\27[?1049;25hb", "ab" },
  { "a\27=\27>\27N\27O\27nb", "ab" },
  { "a\27[8;500;500tb", "ab" },
  { "a\27[3Jb", "ab" },
  { "a\27[5ib\27[4ic", "abc" },
  { "a\14b\15c\0d\17e\19f\127g", "abcdefg" },
  { "a\27#8b\27%@c\27(Ad\27*0e", "abcde" },
  { "a\27[200~b\27[201~c", "abc" },
  -- Takes long, or needs much memory.
  { "x\27[999999999b", "x" },
  { "x\27[99999999Cy", "xy" },
  { "x\27[" .. ("1;"):rep(5000) .. "mb", "xb" },
  { "x\27[" .. ("1"):rep(5000) .. "\nb", "x\r\nb" },
  { "x\27" .. (" "):rep(5000) .. "Fb", "xb" },
  -- Broken in the middle.
  { "a\27\27[31mb", "a\27[31mb" },
  { "a\27[3\27[31mb", "a\27[31mb" },
  { "a\27]0;x\27[31mb", "a\27[31mb" },
  { "a\27]0;x\24b\27]0;y\26c", "abc" },
  { "a\27P1;2\7still\27\\b", "ab" },
  { "a\27[31\nb", "a\r\nb" },
  { "a\27\nb", "a\r\nb" },
  { "a\27[3äb", "aäb" },
  { "a\27", "a" },
  { "a\27[", "a" },
  { "a\27]0;never ends", "a" },
  -- Controls of eight bits, and what hides or reorders.
  { "a\194\155 31mb", "a<U+009B> 31mb" },
  { "a\194\157 52;c;x\194\156b", "a<U+009D> 52;c;x<U+009C>b" },
  { "a\155 31mb\157 52", "a<9b> 31mb<9d> 52" },
  { "a\226\128\174b\226\128\139c", "a<U+202E>b<U+200B>c" },
  { "a\255\254b\192\128c\237\160\128d", "a<ff><fe>b<c0><80>c<ed><a0><80>d" },
}

describe("what a command prints", function()
  it("is filtered", function()
    for _, case in ipairs(cases) do
      eq({ case[1], filtered(case[1]) }, { case[1], case[2] })
    end
  end)

  it("is filtered the same wherever it is cut", function()
    for _, case in ipairs(cases) do
      local bytes = case[1]
      if #bytes < 1000 then
        local one = escapes.new()
        local out = {}
        for i = 1, #bytes do
          out[i] = one:feed(bytes:sub(i, i))
        end
        eq({ bytes, table.concat(out) .. "" }, { bytes, case[2] })
        for at = 1, #bytes - 1 do
          local two = escapes.new()
          eq(
            { bytes, at, two:feed(bytes:sub(1, at)) .. two:feed(bytes:sub(at + 1)) },
            { bytes, at, case[2] }
          )
        end
      end
    end
  end)

  it("is filtered the same by a filter that goes on behind its beginning", function()
    for _, case in ipairs(cases) do
      local bytes = case[1]
      for at = 1, math.min(#bytes, 1000) do
        local before = bytes:sub(1, at)
        if not before:find("[\194-\244][\128-\191]*$") then -- it begins with a whole character
          local whole = escapes.new()
          whole:feed(before)
          local rest = bytes:sub(at + 1)
          eq({ bytes, at, escapes.after(before):feed(rest) }, { bytes, at, whole:feed(rest) })
        end
      end
    end
  end)

  it("leaves the terminal in its ground state, whatever it is", function()
    -- Everything that may be between printable characters, as whole sequences.
    local function is_safe(s)
      s = s:gsub("\27%[[%d;:]*m", "")
        :gsub("\27%[[%d;]*[@A-MPSTXZ`adefrsu]", "")
        :gsub("\27%[%?7[hl]", "")
        :gsub("\27%[%?1?047[hl]", "")
        :gsub("\27%[%?47[hl]", "")
        :gsub("\27%[%?1049[hl]", "")
        :gsub("\27[78DEM]", "")
        :gsub("\27%([0B]", "")
      return not s:find("[%z\1-\7\11\12\14-\31\127]") and not s:find("\194[\128-\159]")
    end
    math.randomseed(7)
    local alphabet =
      { "\27", "[", "]", "P", "\\", "\7", "?", ";", "1", "9", "h", "m", "J", "n", "c" }
    vim.list_extend(
      alphabet,
      { "\24", "\n", "\194", "\155", "\226", "a", " ", "$", "(", "0", "\0", "_" }
    )
    for _ = 1, 3000 do
      local filter, all, out = escapes.new(), {}, {}
      for piece = 1, 6 do
        local bytes = {}
        for i = 1, math.random(0, 8) do
          bytes[i] = alphabet[math.random(#alphabet)]
        end
        all[piece] = table.concat(bytes)
        out[piece] = filter:feed(all[piece])
      end
      local input = table.concat(all)
      eq({ input, is_safe(table.concat(out)) }, { input, true })
      local whole = escapes.new()
      local once = whole:feed(input)
      eq({ input, once, whole.pending }, { input, table.concat(out), filter.pending })
    end
  end)

  it("keeps little, and takes time for its length only", function()
    local filter = escapes.new()
    --- Counts instructions, because time depends on the machine.
    local function work(flood)
      local count = 0
      jit.off()
      debug.sethook(function()
        count = count + 1
      end, "", 1)
      for _ = 1, 50 do
        filter:feed(flood .. ("1;"):rep(100))
      end
      debug.sethook()
      jit.on()
      return count
    end
    for _, flood in ipairs({ "\27]0;", "\27[1", "\27", ("\27[1m"):rep(10), "\194", "aaaa" }) do
      local first, last = work(flood), nil
      for _ = 1, 10 do
        last = work(flood)
      end
      eq(last <= 1.2 * first or { first, last }, true)
      eq(#filter.pending < 300, true)
      filter:feed("\24")
    end
  end)
end)
