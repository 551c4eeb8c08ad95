-- An agent may exchange names below the folder of its session at any moment, and Neovim reads by
-- name. So a buffer can get the text of a file that the agent must not read.

local hermes = require("hermes")
local buffer = require("hermes.doc.buffer")
local disk = require("hermes.core.disk")
local versions = require("hermes.doc.versions")
local eq = MiniTest.expect.equality

describe("the text of a file elsewhere", function()
  local folders, place, exists = disk.folders, disk.place, disk.exists
  local base, path, buf

  local function write(file, text)
    vim.fn.writefile(vim.split(text, "\n"), file, "b")
  end

  local function swap(way)
    vim.uv.fs_unlink(base .. "/work/sub")
    assert(vim.uv.fs_symlink(base .. "/" .. way, base .. "/work/sub"))
  end

  before_each(function()
    vim.cmd("silent! %bwipeout!")
    base = place(vim.fn.fnamemodify(vim.fn.tempname(), ":h")) .. "/" .. vim.uv.hrtime()
    for _, name in ipairs({ "work/sub", "away" }) do
      vim.fn.mkdir(base .. "/" .. name, "p")
    end
    path = base .. "/work/sub/c.txt"
    write(path, "inside\n")
    write(base .. "/away/c.txt", "secret\n")
    buf = vim.fn.bufadd(path) -- a name that is a link already would become the one of its end
    assert(vim.uv.fs_rename(base .. "/work/sub", base .. "/work/real"))
    swap("work/real")
    function disk.folders()
      return { base .. "/work" }
    end
  end)

  after_each(function()
    disk.folders, disk.place, disk.exists = folders, place, exists
  end)

  --- Does something while the name leads away. It leads back when Hermes looks at what was read.
  local function while_away(act)
    local was_read = false
    swap("away")
    function disk.place(...)
      if vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1] == "secret" then
        swap("work/real")
        disk.place, was_read = place, true
      end
      return place(...)
    end
    act()
    eq(was_read, true)
  end

  --- All that Hermes gives away of the file and of its buffer.
  ---@return string
  local function given()
    local at = buffer.at(base .. "/work/real/c.txt")
    return vim.inspect({
      (buffer.read(path)),
      at and buffer.text(at),
      { hermes.context.file(path) },
      { hermes.context.diff(buf) },
    })
  end

  local ways = {
    ["when the user opens it"] = function()
      while_away(function()
        vim.cmd.buffer(buf)
      end)
    end,
    ["when it is loaded in the background"] = function()
      while_away(function()
        vim.fn.bufload(buf)
      end)
    end,
    ["when Neovim reads a changed file again"] = function()
      vim.cmd.buffer(buf)
      vim.bo[buf].autoread = true
      vim.uv.fs_utime(base .. "/away/c.txt", os.time() + 10, os.time() + 10)
      while_away(function()
        vim.cmd("silent checktime")
      end)
    end,
  }
  for way, load in pairs(ways) do
    it("is not given to agents " .. way, function()
      load()
      local text = given()
      eq({ text, text:find("secret", 1, true) }, { text, nil })
      local has = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
      eq({ versions.is_foreign(buf), has }, { has[1] == "secret", has })
      vim.cmd.buffer(buf)
      vim.cmd.edit({ bang = true })
      eq({ versions.is_foreign(buf), buffer.read(path) }, { false, "inside\n" })
    end)
  end

  it("is not compared with the file that its name leads to", function()
    swap("away")
    vim.cmd.buffer(buf)
    vim.api.nvim_buf_set_lines(buf, -1, -1, false, { "edited" })
    function disk.exists(...)
      swap("work/real")
      return exists(...)
    end
    local block, problem = hermes.context.diff(0)
    eq(block, nil)
    eq(problem and problem:find("leads out of the folder of a session", 1, true) ~= nil, true)
  end)

  it("is not compared with a text that was read under a shorter name", function()
    local before = vim.fn.getcwd()
    vim.cmd.cd(vim.fn.fnameescape(base .. "/work"))
    swap("away")
    local other = vim.fn.bufadd("sub/c.txt") -- gets the full name of the file that this leads to
    swap("work/real")
    vim.fn.bufload(other)
    vim.cmd.cd(vim.fn.fnameescape(before))
    eq(
      { vim.api.nvim_buf_get_name(other), vim.api.nvim_buf_get_lines(other, 0, -1, false) },
      { base .. "/away/c.txt", { "inside" } }
    )
    eq((hermes.context.diff(other)), nil)
  end)

  it("is what the user has saved there", function()
    ways["when the user opens it"]()
    vim.cmd("silent write!")
    eq({ versions.is_foreign(buf), buffer.read(path) }, { false, "secret\n" })
  end)
end)

describe("a buffer", function()
  local folders = disk.folders
  local dir

  before_each(function()
    vim.cmd("silent! %bwipeout!")
    dir = disk.place(vim.fn.fnamemodify(vim.fn.tempname(), ":h")) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir, "p")
    function disk.folders()
      return { dir }
    end
  end)

  after_each(function()
    disk.folders = folders
  end)

  for name, text in pairs({
    ["plain text"] = "one\ntwo\n",
    ["no text"] = "",
    ["no last line end"] = "one\ntwo",
    ["Windows line ends"] = "one\r\ntwo\r\n",
    ["both line ends"] = "one\r\ntwo\n",
    ["a byte order mark"] = "\239\187\191one\n",
    ["Latin-1"] = "caf\233\n",
    ["UTF-16"] = "\255\254o\0n\0e\0\n\0",
    ["a NUL"] = "a\0b\n",
  }) do
    it("has the text of its file: " .. name, function()
      local path = dir .. "/a.txt"
      local file = assert(io.open(path, "wb"))
      file:write(text)
      file:close()
      vim.cmd.edit(path)
      eq(
        { versions.is_foreign(vim.api.nvim_get_current_buf()), buffer.at(path) },
        { false, vim.api.nvim_get_current_buf() }
      )
    end)
  end

  it("has no other text before its file exists", function()
    vim.cmd.edit(dir .. "/new.txt")
    eq(versions.is_foreign(vim.api.nvim_get_current_buf()), false)
  end)
end)
