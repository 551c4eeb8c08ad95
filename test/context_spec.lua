local hermes = require("hermes")
local context = hermes.context
local eq = MiniTest.expect.equality

local dir

---@param name string
---@param content string
---@return string path
local function on_disk(name, content)
  local path = dir .. "/" .. name
  local file = assert(io.open(path, "wb"))
  file:write(content)
  file:close()
  return path
end

local function edit(path)
  vim.cmd.edit(vim.fn.fnameescape(path))
  return vim.api.nvim_get_current_buf()
end

--- What a block says, and how it is called.
local function text_of(block, err)
  eq(err, nil)
  eq(block.type, "resource")
  return block.resource.text, block.resource.uri
end

describe("a block of", function()
  before_each(function()
    vim.cmd("silent! %bwipeout!")
    dir = vim.uv.fs_realpath(vim.fn.fnamemodify(vim.fn.tempname(), ":h")) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir, "p")
    vim.cmd.cd(dir)
  end)
  after_each(function()
    require("hermes.core.config").reset()
  end)

  it("a file holds what is on disk, or unsaved in its buffer", function()
    local path = on_disk("a b.txt", "one\n")
    eq({ text_of(context.file("a b.txt")) }, { "one\n", "file://" .. dir .. "/a%20b.txt" })
    edit(path)
    vim.api.nvim_buf_set_lines(0, 0, 1, false, { "unsaved" })
    eq(text_of(context.file(path)), "unsaved\n")
  end)

  it("a file that is large or not text is a link", function()
    local path = on_disk("big.txt", ("x"):rep(50))
    eq(context.file(path, { limit = 49 }), {
      type = "resource_link",
      name = "big.txt",
      uri = "file://" .. path,
      size = 50,
    })
    eq(context.file(path, { limit = 50 }).type, "resource")
    hermes.setup({ context = { limit = 10 } })
    eq(context.file(path).type, "resource_link")
    eq(context.file(on_disk("nul", "a\0b")).type, "resource_link")
    eq(context.file(on_disk("latin1", "caf\233")).type, "resource_link")
  end)

  it("what cannot be read is nil and a reason", function()
    local block, err = context.file("no-such-file")
    eq({ block, err:find("ENOENT", 1, true) ~= nil }, { nil, true })
    eq({ context.file(dir) }, { nil, dir .. ": not a file, but a directory" })
    eq({ context.buffer(9999) }, { nil, "there is no buffer 9999" })
    eq({ context.diff(9999) }, { nil, "there is no buffer 9999" })
    eq({ context.terminal(0) }, { nil, ("buffer %d is not a terminal"):format(vim.fn.bufnr()) })
    eq({ context.quickfix() }, { nil, "the quickfix list is empty" })
    eq({ context.diagnostics() }, { nil, "there are no diagnostics" })
    vim.cmd.enew()
    eq({ context.selection() }, { nil, "nothing is selected" })
    local path = on_disk("a.xyz", "x")
    eq(
      { context.image(path) },
      { nil, path .. ": the name does not say which kind of image it is" }
    )
  end)

  it("a file leaves out what a link in the folder of a session leads to", function()
    local disk, folders = require("hermes.core.disk"), require("hermes.core.disk").folders
    vim.fn.mkdir(dir .. "/project/sub", "p")
    vim.fn.mkdir(dir .. "/away")
    local key, image = on_disk("away/key", "canary\n"), on_disk("away/a.png", "canary")
    local inside = on_disk("project/a.txt", "fine\n")
    vim.uv.fs_symlink(key, dir .. "/project/key")
    vim.uv.fs_symlink(image, dir .. "/project/a.png")
    vim.uv.fs_symlink(dir .. "/away", dir .. "/project/folder")
    vim.uv.fs_symlink(inside, dir .. "/project/inner")
    edit(key)
    function disk.folders()
      return { dir .. "/project" }
    end
    local got = {}
    for _, name in ipairs({ "project/key", "project/folder/key", "project/inner", "away/key" }) do
      local block = context.file(name)
      got[#got + 1] = block and block.resource.text or "none"
    end
    eq(got, { "none", "none", "fine\n", "canary\n" })
    local _, err = context.file("project/key")
    eq(err:find("leads out of the folder of a session", 1, true) ~= nil, true)
    eq(context.image("project/a.png"), nil)
    disk.folders = folders
  end)

  it("a buffer and its diff leave out what a name leads to by now", function()
    local disk, folders = require("hermes.core.disk"), require("hermes.core.disk").folders
    vim.fn.mkdir(dir .. "/project", "p")
    local key = on_disk("key", "canary\n")
    local open, later = on_disk("project/open.txt", "one\n"), on_disk("project/later.txt", "x\n")
    edit(open)
    for _, path in ipairs({ open, later }) do
      vim.uv.fs_unlink(path)
      vim.uv.fs_symlink(key, path)
    end
    local buf = vim.fn.bufadd(later)
    local out = "leads out of the folder of a session"
    local other = "its name leads to another file now"
    eq(select(2, context.diff()):find(other, 1, true) ~= nil, true)
    eq(text_of(context.buffer()), "one\n") -- what the user sees
    function disk.folders()
      return { dir .. "/project" }
    end
    eq(select(2, context.buffer(buf)):find(out, 1, true) ~= nil, true)
    edit(later) -- the user may look at it
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { "mine" })
    eq(select(2, context.diff()):find(out, 1, true) ~= nil, true)
    disk.folders = folders
  end)

  it("a buffer that is not loaded holds its file, and stays so", function()
    local buf = vim.fn.bufadd(on_disk("a.txt", "one\ntwo\nvim: set ft=evil :"))
    local uri = "file://" .. dir .. "/a.txt"
    eq({ text_of(context.buffer(buf)) }, { "one\ntwo\nvim: set ft=evil :\n", uri })
    eq({ text_of(context.buffer(buf, { first = 2, last = 2 })) }, { "two\n", uri .. "#L2-L2" })
    eq({ context.diff(buf) }, { nil, "a.txt: nothing is unsaved" })
    eq({ vim.api.nvim_buf_is_loaded(buf), vim.bo[buf].filetype }, { false, "" })
    local dos = vim.fn.bufadd(on_disk("dos.txt", "\239\187\191one\r\ntwo\r\n"))
    eq(text_of(context.buffer(dos)), "one\ntwo\n")
    local latin1 = vim.fn.bufadd(on_disk("latin1", "caf\233\n"))
    eq(text_of(context.buffer(latin1)), "café\n")
    eq({ context.buffer(vim.fn.bufadd(on_disk("nul", "a\0b"))) }, { nil, "nul: not text" })
    local missing = vim.fn.bufadd(dir .. "/missing")
    eq(select(2, context.buffer(missing)):find("ENOENT", 1, true) ~= nil, true)
    vim.system({ "truncate", "-s", "2G", dir .. "/large" }):wait()
    buf = vim.fn.bufadd(dir .. "/large")
    eq({ context.buffer(buf) }, { nil, "large: it is 2147 MB; :edit loads it" })
  end)

  it("a named pipe is nil and a reason", function()
    vim.system({ "mkfifo", dir .. "/pipe.png" }):wait()
    eq(select(2, context.file("pipe.png")):find("not a file, but a fifo", 1, true) ~= nil, true)
    eq(select(2, context.image("pipe.png")):find("not a file, but a fifo", 1, true) ~= nil, true)
    local buf = vim.fn.bufadd(dir .. "/pipe.png")
    eq(select(2, context.buffer(buf)):find("not a file, but a fifo", 1, true) ~= nil, true)
    edit(on_disk("a.txt", "one\n"))
    vim.system({ "rm", "a.txt" }, { cwd = dir }):wait()
    vim.system({ "mkfifo", "a.txt" }, { cwd = dir }):wait()
    eq(select(2, context.diff()):find("not a file, but a fifo", 1, true) ~= nil, true)
  end)

  it("a buffer holds its lines, or some of them, and is cut at a line", function()
    local buf = edit(on_disk("a.txt", "one\ntwo\nthree\n"))
    local uri = "file://" .. dir .. "/a.txt"
    eq({ text_of(context.buffer()) }, { "one\ntwo\nthree\n", uri })
    eq(
      { text_of(context.buffer(buf, { first = 2, last = 9 })) },
      { "two\nthree\n", uri .. "#L2-L3" }
    )
    eq(text_of(context.buffer(buf, { limit = 9 })), "one\ntwo\n[6 of 14 bytes are left out]\n")
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, { ("ä"):rep(9) })
    eq(text_of(context.buffer(buf, { limit = 5 })), "ää\n[15 of 19 bytes are left out]\n")
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, { "a\255b" })
    eq(text_of(context.buffer(buf)), "aÿb\n")
    vim.cmd.enew()
    local name = ("neovim:buffer/%d"):format(vim.fn.bufnr())
    eq({ text_of(context.buffer(0)) }, { "\n", name })
  end)

  it("the selection holds what is or was selected", function()
    edit(on_disk("a.txt", "one\ntwo\nthree\n"))
    local uri = "file://" .. dir .. "/a.txt"
    vim.cmd("normal! gg2lvj")
    eq({ text_of(context.selection()) }, { "e\ntwo\n", uri .. "#L1-L2" })
    vim.cmd("normal! \27G0V\27")
    eq({ text_of(context.selection()) }, { "three\n", uri .. "#L3-L3" })
  end)

  it("diagnostics and the quickfix list hold one line each", function()
    local buf = edit(on_disk("a.txt", "one\ntwo\n"))
    local space = vim.api.nvim_create_namespace("context_spec")
    vim.diagnostic.set(space, buf, {
      { lnum = 1, col = 2, message = "bad\n  thing", severity = 1, code = "E1" },
      { lnum = 0, col = 0, message = "hm", severity = 4 },
    })
    local want = "a.txt:1:1: hint: hm\na.txt:2:3: error: bad thing [E1]\n"
    local text = text_of(context.diagnostics(buf))
    local lines = vim.split(text, "\n", { trimempty = true })
    table.sort(lines)
    eq(table.concat(lines, "\n") .. "\n", want)
    eq(#text_of(context.diagnostics()), #want)
    vim.fn.setqflist({ { bufnr = buf, lnum = 2, col = 1, text = "  here" }, { text = "note" } })
    eq({ text_of(context.quickfix()) }, { "a.txt:2:1: here\nnote\n", "neovim:quickfix" })
    vim.fn.setqflist({})
  end)

  it("a diff holds what is unsaved", function()
    edit(on_disk("a.txt", "one\ntwo\n"))
    eq({ context.diff() }, { nil, "a.txt: nothing is unsaved" })
    vim.api.nvim_buf_set_lines(0, 1, 2, false, { "TWO" })
    local want = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
    eq({ text_of(context.diff()) }, { want, "neovim:diff/a.txt" })
    eq({ context.diff(0, { limit = 0 }) }, { nil, "a.txt: too large to compare" })
  end)

  it("an image holds its bytes, up to a limit", function()
    local path = on_disk("a.PNG", "\137PNG\0")
    local block = context.image(path)
    eq({ block.type, block.mimeType, block.uri }, { "image", "image/png", "file://" .. path })
    eq(vim.base64.decode(block.data), "\137PNG\0")
    eq(
      { context.image(path, { limit = 4 }) },
      { nil, path .. ": 5 bytes, more than the limit of 4" }
    )
  end)

  it("a terminal holds the end of what it shows", function()
    vim.cmd.enew()
    local buf = vim.api.nvim_get_current_buf()
    local channel = vim.api.nvim_open_term(buf, {})
    vim.api.nvim_chan_send(channel, "one\r\ntwo\r\n\27[31mthree\27[m")
    vim.wait(60000, function()
      return vim.api.nvim_buf_get_lines(buf, 2, 3, false)[1] == "three"
    end, 5)
    eq({ text_of(context.terminal()) }, { "one\ntwo\nthree\n", ("neovim:terminal/%d"):format(buf) })
    eq(
      text_of(context.terminal(buf, { limit = 10 })),
      "[1 earlier lines are left out]\ntwo\nthree\n"
    )
  end)

  it("anything takes only options that it knows", function()
    for name in pairs(context) do
      local first = (name == "file" or name == "image") and "x"
        or (name ~= "selection" and name ~= "quickfix") and 0
        or nil
      local args = first and { first, { limits = 1 } } or { { limits = 1 } }
      local ok, err = pcall(context[name], unpack(args))
      eq(ok, false)
      eq(
        err:find(('context.%s: unknown key "limits"; did you mean "limit"?'):format(name), 1, true)
            ~= nil
          or err,
        true
      )
    end
  end)
end)
