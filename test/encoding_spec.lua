local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))

-- While soaking every size is tried.
local step = vim.env.HERMES_SOAK and 1 or 13

local encodings = {
  "utf-8",
  "latin1",
  "cp1252",
  "cp1251",
  "koi8-r",
  "cp932",
  "euc-jp",
  "iso-2022-jp",
  "euc-kr",
  "gb18030",
  "big5",
  "utf-7",
  "utf-16",
  "utf-16le",
  "ucs-2",
  "ucs-2le",
  "ucs-4",
  "ucs-4le",
}

-- Hostile text: what iconv cannot convert at many places, around many sizes.
local prelude = [[
  math.randomseed(7)
  local function random(size)
    local list = {}
    for i = 1, size do
      list[i] = string.char(math.random(0, 255))
    end
    return table.concat(list)
  end
  hostile = {
    random(20000),
    random(20001),
    ("\0\216"):rep(5000), -- half of a surrogate pair
    ("a\0\0\220"):rep(5000),
    "\0\216",
    ("\254\255"):rep(3000),
    ("\129"):rep(9999),
    "caf\233 " .. ("\233"):rep(5000),
    ("\227\129"):rep(5000),
    ("\27$B"):rep(4000),
    ("+"):rep(5000),
  }
  -- Euro signs fill the room for the result; the error comes where it ends.
  for size = 100, 400, ... do
    hostile[#hostile + 1] = ("\128"):rep(size) .. ("\129"):rep(40) .. ("\128"):rep(3 * size)
  end
]]

describe("a file with an encoding", function()
  local child = MiniTest.new_child_neovim()

  before_each(function()
    child.restart({ "--clean", "-n", "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua(prelude, { step })
  end)
  after_each(child.stop)

  for _, encoding in ipairs(encodings) do
    it("is text, or something else, whatever is in it: " .. encoding, function()
      -- Each in a Neovim that must still be there afterwards.
      local wrong = child.lua(
        [[local encoding, wrong = require("hermes.core.encoding"), {}
        for i, bytes in ipairs(hostile) do
          local text = encoding.decode(bytes, ...)
          if text and not encoding.is_utf8(text) then
            wrong[#wrong + 1] = i
          end
        end
        return wrong]],
        { encoding }
      )
      eq(wrong, {})
    end)

    it("refuses text that is not UTF-8: " .. encoding, function()
      local problem = child.lua_get([[require("hermes.core.encoding").problem(hostile[1], ...)]], {
        encoding,
      })
      eq(problem, encoding == "utf-8" and vim.NIL or "the text is not UTF-8; nothing was written")
    end)

    it("says what it cannot hold, whatever the text: " .. encoding, function()
      child.lua(
        [[local encoding, step = require("hermes.core.encoding"), select(2, ...)
        for size = 1, 200, step do
          for _, text in ipairs({ "日", "a日", "é", "\0", "a\n" }) do
            encoding.problem(text:rep(size) .. ("😀"):rep(20) .. text:rep(3 * size), (...))
          end
        end]],
        { encoding, step }
      )
      eq(child.is_running(), true)
    end)
  end

  it("is refreshed when it turns into random bytes", function()
    for _, encoding in ipairs({ "utf-8", "latin1", "cp1252", "euc-jp", "utf-16le" }) do
      child.lua(
        [[local path = vim.fn.tempname()
        local function write(bytes, age)
          local file = assert(io.open(path, "wb"))
          file:write(bytes)
          file:close()
          vim.uv.fs_utime(path, os.time() + age, os.time() + age)
        end
        write("a\n", 0)
        vim.cmd.edit({ args = { path } })
        vim.bo.fileencoding, vim.bo.modified = ..., false
        local buffer = require("hermes.doc.buffer")
        for i = 1, 11 do
          write(hostile[i], 10 * i)
          buffer.refresh({ path })
        end]],
        { encoding }
      )
      eq(child.lua_get("vim.api.nvim_buf_line_count(0) > 0"), true)
    end
  end)
end)

describe("iconv", function()
  it("is called in one place, which knows its faults", function()
    local found = {}
    for name in vim.fs.dir(root .. "/lua", { depth = 10 }) do
      local text = name:find("%.lua$")
        and table.concat(vim.fn.readfile(root .. "/lua/" .. name), "\n")
      if text and text:find("iconv%s*%(") then
        found[#found + 1] = name
      end
    end
    eq(found, { "hermes/core/encoding.lua" })
  end)
end)

describe("UTF-8", function()
  local encoding = require("hermes.core.encoding")

  it("is what Neovim's own conversion leaves as it is", function()
    -- Every character at the edges, and every sequence of two bytes and of some more.
    local edges = { 0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF }
    vim.list_extend(edges, { 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF })
    local function strict(text) -- the RFC's table, as patterns
      local rest = text:gsub("[%z\1-\127]", "A")
      for _, pattern in ipairs({
        "[\194-\223][\128-\191]",
        "\224[\160-\191][\128-\191]",
        "[\225-\236\238\239][\128-\191][\128-\191]",
        "\237[\128-\159][\128-\191]",
        "\240[\144-\191][\128-\191][\128-\191]",
        "[\241-\243][\128-\191][\128-\191][\128-\191]",
        "\244[\128-\143][\128-\191][\128-\191]",
      }) do
        rest = rest:gsub(pattern, "A")
      end
      return not rest:find("[^A]")
    end
    local wrong = {}
    local function check(...)
      local text = string.char(...)
      if encoding.is_utf8(text) ~= strict(text) then
        wrong[#wrong + 1] = vim.inspect({ ... })
      end
    end
    for a = 0, 255 do
      check(a)
      for b = 0, 255 do
        check(a, b)
      end
    end
    for _, a in ipairs(edges) do
      for _, b in ipairs(edges) do
        for _, c in ipairs(edges) do
          check(a, b, c)
          for _, d in ipairs(edges) do
            check(a, b, c, d)
          end
        end
      end
    end
    eq(wrong, {})
  end)

  for name, case in pairs({
    cp1252 = { "\128 caf\233", "€ café" },
    cp932 = { "\147\250\150\123", "日本" },
    ["euc-jp"] = { "\198\252", "日" },
    ["euc-kr"] = { "\199\209", "한" },
    latin1 = { "caf\233\0", "café\0" },
    ["utf-16le"] = { "\229\101a\0\61\216\0\222", "日a😀" },
    ["ucs-2le"] = { "\229\101a\0", "日a" },
  }) do
    it("is made of " .. name, function()
      eq(encoding.decode(case[1], name), case[2])
      eq(encoding.problem(case[2], name), nil)
    end)
  end
end)
