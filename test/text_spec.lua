local text = require("hermes.core.text")
local eq = MiniTest.expect.equality

describe("text.line", function()
  for name, case in pairs({
    ["keeps plain text, tabs and other scripts"] = {
      "a\tb äöü 漢字 🙂",
      "a\tb äöü 漢字 🙂",
    },
    ["shows control characters"] = { "a\27[31mb\0c\127", "a<1b>[31mb<00>c<7f>" },
    ["shows line breaks"] = { "a\nb\r", "a<0a>b<0d>" },
    ["shows characters that reorder"] = { "evil\226\128\174txt.exe", "evil<U+202E>txt.exe" },
    ["shows characters that draw nothing"] = { "a\226\128\139b\239\187\191", "a<U+200B>b<U+FEFF>" },
    ["shows C1 controls"] = { "a\194\155m", "a<U+009B>m" },
    ["shows broken UTF-8"] = { "a\255b\195", "a<ff>b<c3>" },
    ["shows overlong forms and surrogates"] = {
      "\192\175 \224\128\175 \237\160\128",
      "<c0><af> <e0><80><af> <ed><a0><80>",
    },
    ["shows stray continuation bytes"] = { "ä\128\129x", "ä<80><81>x" },
    ["shows tags in the last planes"] = { "a\243\160\129\129", "a<U+E0041>" },
    ["shows selectors, of which text can be made"] = {
      "rm\239\184\129\239\184\142 x\243\160\132\128",
      "rm<U+FE01><U+FE0E> x<U+E0100>",
    },
    ["keeps one selector of a picture behind its symbol"] = {
      "⚠\239\184\143 x\239\184\143 ©\239\184\143\239\184\143",
      "⚠\239\184\143 x<U+FE0F> ©\239\184\143<U+FE0F>",
    },
    ["keeps no selector behind what is shown as an escape"] = {
      "\226\129\160\239\184\143\239\184\143",
      "<U+2060><U+FE0F><U+FE0F>",
    },
    ["takes any value"] = { 12, "12" },
  }) do
    it(name, function()
      eq(text.line(case[1]), case[2])
    end)
  end

  it("cuts at the limit, not inside a character", function()
    eq(text.line(("x"):rep(10), 4), "xxxx…")
    eq(text.line("aää", 2), "a…")
    eq(text.line("abc", 3), "abc")
  end)
end)

describe("text.lines", function()
  it("drops the final newline and carriage returns before line breaks", function()
    eq(text.lines("a\r\nb\n"), { "a", "b" })
    eq(text.lines(""), { "" })
    eq(text.lines("a\n\nb"), { "a", "", "b" })
  end)

  it("says how much it leaves out", function()
    eq(text.lines("1\n2\n3\n4\n5", 2), { "1", "2", "… 3 more lines" })
  end)
end)

describe("text.row", function()
  for name, case in pairs({
    ["keeps what fits"] = { "abcd", 4, "abcd" },
    ["ends in an ellipsis where more follows"] = { "abcde", 4, "abc…" },
    ["counts cells, not characters"] = { "漢字漢字", 6, "漢字…" },
    ["has room for one cell"] = { "漢字", 1, "…" },
  }) do
    it(name, function()
      eq(text.row(case[1], case[2]), case[3])
    end)
  end

  it("does not count what the current window adds to its lines", function()
    vim.cmd("vsplit | vertical resize 5 | setlocal linebreak breakindent")
    vim.o.showbreak = "> "
    eq(text.row("a few words", 11), "a few words")
    vim.o.showbreak = ""
    vim.cmd.close()
  end)
end)

describe("text.joined", function()
  for name, case in pairs({
    ["keeps one line as it is"] = { "  a  b\t ", "  a  b\t " },
    ["takes the spaces around breaks"] = { "a \n\n\t b\r\nc", "a|b|c" },
    ["shows breaks at both ends"] = { "\na\n", "|a|" },
    ["goes over long runs of spaces once"] = { (" "):rep(1e6) .. "a", (" "):rep(1e6) .. "a" },
  }) do
    it(name, function()
      eq(text.joined(case[1], "|"), case[2])
    end)
  end
end)
