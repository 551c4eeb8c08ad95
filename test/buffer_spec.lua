local agent_write = require("hermes.doc.agent_write")
local buffer = require("hermes.doc.buffer")
local eq = MiniTest.expect.equality
local api = vim.api

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

---@param path string
---@return string
local function disk(path)
  local file = assert(io.open(path, "rb"))
  local content = file:read("*a")
  file:close()
  return content
end

---@param name string
---@param content string
---@return string path, integer buf
local function open(name, content)
  local path = on_disk(name, content)
  vim.cmd.edit(vim.fn.fnameescape(path))
  return path, api.nvim_get_current_buf()
end

--- Writes and waits; returns the problem or "written".
local function write(path, content, opts)
  local result
  eq(
    agent_write.write(path, content, opts, function(problem)
      eq(result, nil)
      result = problem or "written"
    end),
    true
  )
  vim.wait(60000, function()
    return result ~= nil
  end, 2)
  return result
end

local function lines(buf)
  return api.nvim_buf_get_lines(buf or 0, 0, -1, false)
end

--- Changes a file on disk so that the time stamp differs for certain.
local function change_on_disk(path, content)
  on_disk(vim.fs.basename(path), content)
  local future = os.time() + 10
  vim.uv.fs_utime(path, future, future)
end

describe("buffer", function()
  before_each(function()
    vim.cmd("silent! %bwipeout!")
    dir = vim.uv.fs_realpath(vim.fn.fnamemodify(vim.fn.tempname(), ":h")) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir, "p")
    vim.o.hidden = true
  end)

  describe("read", function()
    it("knows nothing of a file without a loaded buffer", function()
      eq(buffer.read(on_disk("a.txt", "x\n")), nil)
      eq(buffer.read("term://sh"), nil)
      eq(buffer.read("/a\0b"), nil)
      eq(buffer.read(dir .. "/no/such/file"), nil)
    end)

    it("includes unsaved edits", function()
      local path = open("a.txt", "one\ntwo\n")
      api.nvim_buf_set_lines(0, 1, 2, false, { "TWO" })
      eq(buffer.read(path), "one\nTWO\n")
    end)

    it("finds the buffer through a link and through dots", function()
      local path = open("a.txt", "one\n")
      api.nvim_buf_set_lines(0, 0, 1, false, { "edited" })
      vim.uv.fs_symlink(path, dir .. "/link.txt")
      eq(buffer.read(dir .. "/link.txt"), "edited\n")
      eq(buffer.read(dir .. "/../" .. vim.fs.basename(dir) .. "/./a.txt"), "edited\n")
    end)

    it("finds a buffer whose file does not exist yet", function()
      vim.cmd.edit(vim.fn.fnameescape(dir .. "/new.txt"))
      api.nvim_buf_set_lines(0, 0, -1, false, { "fresh" })
      eq(buffer.read(dir .. "/new.txt"), "fresh\n")
    end)

    it("counts lines from one and limits their number", function()
      local path = open("a.txt", "1\n2\n3\n4\n")
      eq(buffer.read(path, 2, 2), "2\n3\n")
      eq(buffer.read(path, 4, 10), "4\n")
      eq(buffer.read(path, 3), "3\n4\n")
      eq(buffer.read(path, nil, 1), "1\n")
      eq(buffer.read(path, 1, 0), "")
      eq(buffer.read(path, 9, 2), "")
    end)

    for name, content in pairs({
      ["dos line ends"] = "a\r\nb\r\n",
      ["a byte order mark"] = "\239\187\191a\nb\n",
      ["an empty file"] = "",
      ["a file of one line break"] = "\n",
      ["NUL bytes"] = "a\0b\n",
    }) do
      it("returns what is on disk: " .. name, function()
        eq(buffer.read((open("a.txt", content))), content)
      end)
    end

    it("ends as the options say the file will", function()
      local path = open("a.txt", "a\nb")
      eq(buffer.read(path), "a\nb")
      vim.bo.fixendofline = false
      eq(buffer.read(path), "a\nb")
      eq(buffer.read(path, 1, 1), "a\n")
      api.nvim_buf_set_lines(0, 1, 2, false, { "B" })
      eq(buffer.read(path), "a\nB")
      vim.bo.fixendofline = true -- saving adds the newline
      eq(buffer.read(path), "a\nB\n")
    end)

    it("sees what changed on disk when nothing is unsaved", function()
      local path = open("a.txt", "old\n")
      change_on_disk(path, "new\n")
      eq(buffer.read(path), "new\n")
      eq(lines(), { "new" })
    end)
  end)

  describe("write", function()
    it("leaves files without a loaded buffer to the host", function()
      local path = on_disk("a.txt", "x\n")
      eq(agent_write.write(path, "y\n", {}, error), false)
      eq(disk(path), "x\n")
    end)

    it("changes the buffer and the file", function()
      local path, buf = open("a.txt", "one\ntwo\nthree\n")
      eq(write(path, "one\n2\nthree\nfour\n"), "written")
      eq(lines(buf), { "one", "2", "three", "four" })
      eq(disk(path), "one\n2\nthree\nfour\n")
      eq(vim.bo[buf].modified, false)
    end)

    it("only changes the buffer when it shall not save", function()
      local path, buf = open("a.txt", "one\n")
      eq(write(path, "two\n", { save = false }), "written")
      eq(lines(buf), { "two" })
      eq(disk(path), "one\n")
      eq(vim.bo[buf].modified, true)
    end)

    it("is one undo step, apart from the edits before and after", function()
      local path, buf = open("a.txt", "1\n2\n3\n4\n5\n6\n")
      vim.cmd("normal! Goby hand")
      eq(write(path, "A\n1\n2\n3!\n4\n6\nby hand\n"), "written")
      eq(write(path, "B\n1\n2\n3!\n4\n6\nby hand\n"), "written")
      vim.cmd("silent undo")
      eq(lines(buf), { "A", "1", "2", "3!", "4", "6", "by hand" })
      vim.cmd("silent undo")
      eq(lines(buf), { "1", "2", "3", "4", "5", "6", "by hand" })
      vim.cmd("silent undo")
      eq(lines(buf), { "1", "2", "3", "4", "5", "6" })
    end)

    it("keeps marks, extmarks, folds and the cursor in place", function()
      local path, buf = open("a.txt", "1\n2\n3\n4\n5\n6\nseven is here\n8\n")
      local ns = api.nvim_create_namespace("spec")
      local on_line = api.nvim_buf_set_extmark(buf, ns, 4, 0, {})
      local in_line = api.nvim_buf_set_extmark(buf, ns, 6, 9, {})
      api.nvim_buf_set_mark(buf, "a", 8, 0, {})
      vim.cmd("5,6fold")
      api.nvim_win_set_cursor(0, { 4, 0 })
      eq(write(path, "0\n0\n1\n3\n4\n5\n6\nSeven is here\n8\n"), "written")
      eq(api.nvim_buf_get_extmark_by_id(buf, ns, on_line, {}), { 5, 0 })
      eq(api.nvim_buf_get_extmark_by_id(buf, ns, in_line, {}), { 7, 9 })
      eq(api.nvim_buf_get_mark(buf, "a"), { 9, 0 })
      eq(api.nvim_win_get_cursor(0), { 5, 0 })
      eq({ vim.fn.foldclosed(6), vim.fn.foldclosedend(6) }, { 6, 7 })
    end)

    it("keeps the marks around a file too large to compare", function()
      local diff = require("hermes.doc.diff")
      local limit = diff.max_hunk_bytes
      diff.max_hunk_bytes = 10
      MiniTest.finally(function()
        diff.max_hunk_bytes = limit
      end)
      local path, buf = open("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
      api.nvim_buf_set_mark(buf, "a", 2, 0, {})
      api.nvim_buf_set_mark(buf, "b", 9, 0, {})
      eq(write(path, "1\n2\nx\n4\n5\ny\nz\n7\n8\n9\n"), "written")
      eq(lines(buf), { "1", "2", "x", "4", "5", "y", "z", "7", "8", "9" })
      eq(api.nvim_buf_get_mark(buf, "a"), { 2, 0 })
      eq(api.nvim_buf_get_mark(buf, "b"), { 10, 0 })
    end)

    for name, case in pairs({
      ["dos line ends"] = { "a\r\nb\r\n", "a\r\nc\r\n", "a\r\nc\r\n" },
      ["dos line ends when given others"] = { "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n" },
      ["the byte order mark"] = { "\239\187\191a\n", "b\n", "\239\187\191b\n" },
      ["the byte order mark when it is given"] = {
        "\239\187\191a\n",
        "\239\187\191b\n",
        "\239\187\191b\n",
      },
      ["an empty file"] = { "", "a\n", "a\n" },
      ["one empty line"] = { "", "\n", "\n" },
      ["a file that becomes empty"] = { "a\nb\n", "", "" },
      ["multi-byte characters that share bytes"] = { "ä漢x\n", "ö漣x\n", "ö漣x\n" },
      ["a line that repeats itself"] = { "aaa\n", "aaaaa\n", "aaaaa\n" },
      ["NUL bytes"] = { "a\n", "a\0b\n", "a\0b\n" },
    }) do
      it("writes to disk: " .. name, function()
        local path = open("a.txt", case[1])
        eq(write(path, case[2]), "written")
        eq(disk(path), case[3])
        eq(buffer.read(path), case[3])
      end)
    end

    it("ends the file as the agent does, whatever 'fixendofline' says", function()
      local path, buf = open("a.txt", "a\n")
      for _, fix in ipairs({ true, false }) do
        vim.bo.fixendofline = fix
        for _, content in ipairs({ "b", "c", "d\n", "d", "d\n", "e" }) do
          eq(write(path, content), "written")
          eq(disk(path), content)
          eq(buffer.read(path), content)
        end
        eq({ vim.bo.fixendofline, vim.bo[buf].modified }, { fix, false })
      end
    end)

    it("arrives at the content it was given, whatever was there", function()
      math.randomseed(7)
      local path, buf = open("a.txt", "")
      for _ = 1, 200 do
        local content = {}
        for i = 1, math.random(0, 12) do
          content[i] = ("ä"):rep(math.random(0, 2)) .. math.random(1, 4)
        end
        eq(
          write(
            path,
            table.concat(content, "\n") .. (#content > 0 and "\n" or ""),
            { save = false }
          ),
          "written"
        )
        eq(lines(buf), #content > 0 and content or { "" })
      end
    end)

    it("saves a hidden buffer and creates the folder it belongs in", function()
      vim.cmd.edit(vim.fn.fnameescape(dir .. "/sub/new.txt"))
      vim.cmd.enew()
      vim.uv.fs_mkdir(dir .. "/sub", 448)
      eq(write(dir .. "/sub/new.txt", "x\n"), "written")
      eq(disk(dir .. "/sub/new.txt"), "x\n")
    end)

    it("runs the write autocommands unless told otherwise", function()
      local path = open("a.txt", "a\n")
      local count = 0
      api.nvim_create_autocmd("BufWritePre", {
        buffer = 0,
        callback = function()
          count = count + 1
        end,
      })
      eq(write(path, "b\n", { noautocmd = true }), "written")
      eq(count, 0)
      eq(write(path, "c\n"), "written")
      eq(count, 1)
    end)

    it("runs nothing that the name spells", function()
      vim.g.ran = 0
      local path = open("`let g:ran=1`|let g:ran=1.txt", "a\n")
      eq(write(path, "b\n"), "written")
      eq(disk(path), "b\n")
      eq(vim.g.ran, 0)
    end)

    it("does not obey modelines that came from disk", function()
      local path = open("a.txt", "a\n")
      vim.bo.modeline = true
      change_on_disk(path, "vim: set tabstop=13:\n")
      buffer.refresh({ path })
      eq(lines(), { "vim: set tabstop=13:" })
      eq(vim.bo.tabstop, 8)
      eq(vim.bo.modeline, true)
    end)

    it("refuses a readonly buffer and leaves it alone", function()
      local path, buf = open("a.txt", "a\n")
      vim.bo[buf].readonly = true
      eq(write(path, "b\n"), "E45: 'readonly' option is set")
      eq(lines(buf), { "a" })
    end)

    it("refuses to overwrite what changed on disk beside unsaved edits, every time", function()
      local path, buf = open("a.txt", "a\n")
      api.nvim_buf_set_lines(buf, 0, -1, false, { "mine" })
      change_on_disk(path, "theirs\n")
      for _ = 1, 2 do
        eq(write(path, "b\n"), "changed on disk while the buffer has unsaved edits")
        eq(lines(buf), { "mine" })
        eq(disk(path), "theirs\n")
      end
      vim.cmd("silent edit!")
      eq(write(path, "b\n"), "written")
      eq(disk(path), "b\n")
    end)

    it("loads changes from disk before it writes", function()
      local path, buf = open("a.txt", "a\n")
      change_on_disk(path, "theirs\n")
      eq(write(path, "b\n"), "written")
      eq(lines(buf), { "b" })
      vim.cmd("silent undo")
      eq(lines(buf), { "theirs" })
    end)

    it("writes a file that was deleted", function()
      local path = open("a.txt", "a\n")
      os.remove(path)
      eq(write(path, "b\n"), "written")
      eq(disk(path), "b\n")
    end)

    it("says in one line why the disk refused", function()
      vim.cmd.edit(vim.fn.fnameescape(dir .. "/sub/a.txt"))
      on_disk("sub", "a file where the folder should be")
      local problem = write(dir .. "/sub/a.txt", "x\n")
      eq(problem:match("^E%w+: ") ~= nil, true)
      eq(problem:find("\n"), nil)
      eq(problem:match("; the buffer holds the change, unsaved$") ~= nil, true)
    end)

    it("passes on the error of a write autocommand", function()
      local path = open("a.txt", "a\n")
      api.nvim_create_autocmd("BufWritePre", {
        buffer = 0,
        callback = function()
          error("formatter broke")
        end,
      })
      local problem = write(path, "b\n")
      eq(problem:find("formatter broke", 1, true) ~= nil, true)
      eq(problem:find("\n"), nil)
    end)

    for name, case in pairs({
      ["latin1"] = {
        "caf\233\n",
        "caf\195\169\n\226\134\146 \230\151\165\n",
        "latin1",
        "→ (U+2192), in line 2",
      },
      ["cp1251"] = { "\232\n", "\208\184 \195\169\n", "cp1251", "é (U+00E9), in line 1" },
      ["euc-jp"] = {
        "\198\252\n",
        "\230\151\165 \240\159\152\128\n",
        "euc-jp",
        "😀 (U+1F600), in line 1",
      },
    }) do
      it("refuses text that the encoding of the file cannot hold: " .. name, function()
        vim.o.fileencodings = case[3]
        local path, buf = open("a.txt", case[1])
        vim.o.fileencodings = "ucs-bom,utf-8,default,latin1"
        local before = lines(buf)
        eq(
          write(path, case[2]),
          ("the file is %s, which has no %s; nothing was written"):format(case[3], case[4])
        )
        eq({ lines(buf), disk(path), vim.bo[buf].modified }, { before, case[1], false })
        eq(vim.fn.undotree().seq_last, 0)
        api.nvim_buf_set_lines(buf, 0, -1, false, { "mine" })
        eq(write(path, case[2]) ~= "written", true)
        eq({ lines(buf), disk(path), vim.bo[buf].modified }, { { "mine" }, case[1], true })
      end)
    end

    it("keeps the encoding of the file for text that it can hold", function()
      local path = open("a.txt", "caf\233\n")
      eq(vim.bo.fileencoding, "latin1")
      eq(write(path, "th\195\169 caf\195\169\n"), "written")
      eq(disk(path), "th\233 caf\233\n")
      eq(buffer.read(path), "th\195\169 caf\195\169\n")
    end)

    it("counts as done when an autocommand fails after the file was written", function()
      local path, buf = open("a.txt", "a\n")
      local said
      local notify = vim.notify
      vim.notify = function(text)
        said = text
      end
      MiniTest.finally(function()
        vim.notify = notify
      end)
      api.nvim_create_autocmd("BufWritePost", {
        buffer = buf,
        callback = function()
          error("linter broke")
        end,
      })
      eq(write(path, "b\n"), "written")
      eq({ disk(path), vim.bo[buf].modified }, { "b\n", false })
      vim.wait(60000, function()
        return said ~= nil
      end, 2)
      eq(
        said:match("a%.txt was written for the agent, but then: linter broke") ~= nil or said,
        true
      )
    end)

    it("fails when a BufWriteCmd autocommand does not write the file", function()
      local path, buf = open("a.txt", "a\n")
      api.nvim_create_autocmd("BufWriteCmd", { buffer = buf, callback = function() end })
      eq(
        write(path, "b\n"),
        "an autocommand handled the write but did not write the file; "
          .. "the buffer holds the change, unsaved"
      )
      eq(disk(path), "a\n")
    end)

    it("counts as done when a BufWriteCmd autocommand writes the file its own way", function()
      local path, buf = open("a.txt", "a\n")
      api.nvim_create_autocmd("BufWriteCmd", {
        buffer = buf,
        callback = function()
          on_disk("a.txt", "secret " .. table.concat(lines(buf)))
          vim.bo[buf].modified = false
        end,
      })
      eq(write(path, "b\n"), "written")
      eq(disk(path), "secret b")
    end)

    it("does not name paths of programs when an autocommand fails", function()
      local path, buf = open("a.txt", "a\n")
      local file = on_disk("plugin one.lua", "return function() error('formatter broke') end")
      api.nvim_create_autocmd("BufWritePre", { buffer = buf, callback = dofile(file) })
      eq(write(path, "b\n"), "formatter broke; the buffer holds the change, unsaved")
      eq(disk(path), "a\n")
    end)

    for name, ignored in pairs({
      ["all events are ignored"] = "all",
      ["FileChangedShell is ignored"] = "FileChangedShell",
      ["an autocommand of the user decides"] = "",
    }) do
      it("keeps what changed on disk beside unsaved edits when " .. name, function()
        local path, buf = open("a.txt", "a\n")
        local calls = 0
        if ignored == "" then
          api.nvim_create_autocmd("FileChangedShell", {
            callback = function()
              calls = calls + 1
              vim.v.fcs_choice = "reload"
            end,
          })
        end
        MiniTest.finally(function()
          vim.o.eventignore = ""
          vim.cmd("silent! autocmd! FileChangedShell")
        end)
        vim.o.eventignore = ignored
        api.nvim_buf_set_lines(buf, 0, -1, false, { "mine" })
        change_on_disk(path, "theirs\n")
        for _ = 1, 2 do
          eq(write(path, "b\n"), "changed on disk while the buffer has unsaved edits")
          eq({ lines(buf), disk(path), vim.bo[buf].modified }, { { "mine" }, "theirs\n", true })
        end
        eq({ calls, vim.o.eventignore }, { 0, ignored })
      end)
    end

    it("refuses unsaved edits of a file that was opened without events and exists", function()
      local path = on_disk("a.txt", "a\n")
      vim.cmd("noautocmd edit " .. vim.fn.fnameescape(path))
      eq(write(path, "b\n"), "written") -- unmodified, so the text can be compared
      vim.cmd("noautocmd bwipeout! | noautocmd edit " .. vim.fn.fnameescape(path))
      api.nvim_buf_set_lines(0, 0, -1, false, { "mine" })
      eq(write(path, "c\n"), "changed on disk while the buffer has unsaved edits")
      eq(disk(path), "b\n")
    end)

    it("writes on top of edits that were saved without events", function()
      local path, buf = open("a.txt", "a\n")
      api.nvim_buf_set_lines(buf, 0, -1, false, { "mine" })
      vim.cmd("silent noautocmd write")
      api.nvim_exec_autocmds("BufModifiedSet", { buffer = buf }) -- as the main loop does
      api.nvim_buf_set_lines(buf, 0, -1, false, { "more" })
      eq(write(path, "b\n"), "written")
      eq(disk(path), "b\n")
    end)

    it("does not write into a file that a buffer was only renamed to", function()
      open("a.txt", "a\n")
      local other = on_disk("b.txt", "b\n")
      vim.cmd("silent file " .. vim.fn.fnameescape(other))
      eq(write(other, "c\n"), "changed on disk while the buffer has unsaved edits")
      eq(disk(other), "b\n")
    end)

    it("tells what the file holds in the end, and shows it", function()
      local path, buf = open("a.txt", "a\n")
      api.nvim_create_autocmd("BufWritePost", {
        buffer = buf,
        callback = function()
          on_disk("a.txt", disk(path):upper()) -- a formatter
        end,
      })
      local text
      agent_write.write(path, "b\n", nil, function(problem, now)
        eq(problem, nil)
        text = now
      end)
      vim.wait(60000, function()
        return text ~= nil
      end, 2)
      eq({ text, disk(path), lines(buf), vim.bo[buf].modified }, { "B\n", "B\n", { "B" }, false })
      eq(buffer.read(path), "B\n")
      eq(write(path, "c\n"), "written")
      eq(lines(buf), { "C" })
    end)

    it("separates the name of a file with several names, as the host does", function()
      local path, buf = open("a.txt", "a\n")
      local other = dir .. "/other.txt"
      eq(vim.uv.fs_link(path, other), true)
      eq(write(path, "b\n"), "written")
      eq({ disk(path), disk(other), lines(buf) }, { "b\n", "a\n", { "b" } })
      eq(vim.uv.fs_stat(path).nlink, 1)
      eq(write(path, "c\n"), "written")
      eq(disk(path), "c\n")
    end)

    it("keeps the file itself when 'backupcopy' says so, and its permissions always", function()
      MiniTest.finally(function()
        vim.cmd("set backupcopy&")
      end)
      for copy, same in pairs({ yes = true, auto = false, ["yes,breakhardlink"] = true }) do
        vim.o.backupcopy = copy
        local path = open("a.txt", "a longer text\n")
        vim.uv.fs_chmod(path, 488) -- 0750
        local before = assert(vim.uv.fs_stat(path))
        eq(write(path, "b\n"), "written")
        local after = assert(vim.uv.fs_stat(path))
        eq({ disk(path), after.mode, after.ino == before.ino }, { "b\n", before.mode, same })
        vim.cmd("bwipeout!")
      end
    end)

    it("writes where a link leads that was there when the file was opened", function()
      local path, link = on_disk("a.txt", "a\n"), dir .. "/link"
      vim.uv.fs_symlink("a.txt", link)
      vim.cmd.edit(vim.fn.fnameescape(link))
      eq(write(link, "b\n"), "written")
      eq({ disk(path), vim.uv.fs_lstat(link).type }, { "b\n", "link" })
    end)

    it("makes the folders of a new file", function()
      local path = dir .. "/x/y/a.txt"
      vim.cmd.edit(vim.fn.fnameescape(path))
      eq(write(path, "b\n"), "written")
      eq(disk(path), "b\n")
    end)

    it("leaves nothing beside the file, and no other file to go back to", function()
      local path = open("a.txt", "a\n")
      eq(write(path, "b\n"), "written")
      eq({ vim.fn.readdir(dir), vim.fn.getreg("#") }, { { "a.txt" }, "" })
      vim.cmd("silent write") -- the user, whom Neovim asks nothing
      eq(disk(path), "b\n")
    end)

    it("can be undone on another day", function()
      local path = open("a.txt", "a\n")
      vim.o.undodir = dir
      vim.bo.undofile = true
      MiniTest.finally(function()
        vim.cmd("set undodir& undofile&")
      end)
      eq(write(path, "b\n"), "written")
      vim.cmd("bwipeout!")
      vim.o.undofile = true
      vim.cmd("silent edit " .. vim.fn.fnameescape(path))
      vim.cmd("silent undo")
      eq(lines(), { "a" })
    end)

    it("fires the events of :write, without obeying the modeline of the text", function()
      local path, buf = open("a.txt", "a\n")
      vim.bo.modeline = true
      local fired = {}
      api.nvim_create_autocmd({ "BufWritePre", "BufWritePost" }, {
        buffer = buf,
        callback = function(args)
          fired[#fired + 1] = { args.event, args.buf, args.match, args.file, vim.bo.modified }
        end,
      })
      eq(write(path, "vim: set shiftwidth=3:\n"), "written")
      local hermes = fired
      fired = {}
      api.nvim_buf_set_lines(buf, 0, -1, false, { "c" })
      vim.cmd("silent write")
      eq(hermes, fired)
      eq(vim.bo.shiftwidth ~= 3, true)
    end)

    it("makes the changes of a formatter part of the same undo step", function()
      local path, buf = open("a.txt", "a\n")
      api.nvim_create_autocmd("BufWritePre", {
        buffer = buf,
        callback = function()
          api.nvim_buf_set_lines(buf, -1, -1, false, { "formatted" })
        end,
      })
      local text
      agent_write.write(path, "b\n", nil, function(_, now)
        text = now
      end)
      vim.wait(60000, function()
        return text ~= nil
      end, 2)
      eq({ text, disk(path) }, { "b\nformatted\n", "b\nformatted\n" })
      vim.cmd("silent undo")
      eq(lines(buf), { "a" })
    end)

    for name, setting in pairs({
      ["by default"] = "set backupskip=",
      ["in a folder without backups"] = "set backupskip=*",
      ["without backups"] = "set nowritebackup backupskip=",
      ["with a backup in the way of links"] = "set backupskip= | let g:linked = 1",
    }) do
      -- With the smaller one no copy of the old text can be made either.
      for _, blocks in ipairs({ 100, 20 }) do
        it(
          ("leaves the old text whole when the disk is full, %s (%d)"):format(name, blocks),
          function()
            local old = ("old\n"):rep(10000)
            local path = on_disk("a.txt", old)
            -- A limit on the size of files fails a write half way like a full disk.
            local child = vim.fn.jobstart({
              "sh",
              "-c",
              ("trap '' XFSZ; ulimit -f %d; exec \"$@\""):format(blocks),
              "sh",
              vim.v.progpath,
              "--clean",
              "--headless",
              "--embed",
              "-n",
              "--cmd",
              "set rtp^=" .. vim.fn.fnameescape(vim.fn.getcwd()),
            }, { rpc = true })
            MiniTest.finally(function()
              vim.fn.jobstop(child)
            end)
            local function lua(code, ...)
              return vim.rpcrequest(child, "nvim_exec_lua", code, { ... })
            end
            lua("vim.cmd(...)", setting)
            if lua("return vim.g.linked") == 1 then
              vim.uv.fs_link(path, dir .. "/linked")
            end
            lua("vim.cmd.edit(...)", path)
            lua(
              [[local path, text = ...
            function options()
              local o, list = vim.o, {}
              local names = "backup writebackup backupskip backupcopy backupdir confirm fixeol"
              for name in names:gmatch("%a+") do
                list[#list + 1] = o[name]
              end
              return list
            end
            before = options()
            local function done(p) problem = p or "written" end
            require("hermes.doc.agent_write").write(path, text, nil, done)
            vim.wait(60000, function() return problem end, 2)]],
              path,
              ("new text\n"):rep(50000)
            )
            local problem = lua("return problem")
            eq(problem:match("^E%d+:") ~= nil or problem, true)
            eq(disk(path) == old, true)
            eq(lua("return vim.fn.glob(... .. '*', true, true)", path), { path })
            eq(
              lua("return vim.fn.glob(vim.fn.tempname():gsub('[^/]*$', '[0-9]*'), true, true)"),
              {}
            )
            eq(lua("return vim.deep_equal(before, options())"), true)
          end
        )
      end
    end

    it("waits for a buffer that is unmodifiable for a moment", function()
      local path, buf = open("a.txt", "a\n")
      vim.bo[buf].modifiable = false
      vim.defer_fn(function()
        vim.bo[buf].modifiable = true
      end, 120)
      eq(write(path, "b\n"), "written")
      eq(disk(path), "b\n")
    end)

    it("gives up on a buffer that stays unmodifiable", function()
      local path, buf = open("a.txt", "a\n")
      vim.bo[buf].modifiable = false
      local retries = agent_write.retries
      agent_write.retries = 2
      MiniTest.finally(function()
        agent_write.retries = retries
      end)
      eq(write(path, "b\n"), "E21: 'modifiable' is off")
      eq(disk(path), "a\n")
    end)

    it("waits for the text lock to end", function()
      local child = MiniTest.new_child_neovim()
      child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(vim.fn.getcwd()) })
      local path = on_disk("a.txt", "a\n")
      child.cmd("edit " .. vim.fn.fnameescape(path))
      child.lua(
        [[local path = ...
        function _G.Expr() -- an expression mapping holds the text lock
          require("hermes.doc.agent_write").write(path, "b\n", nil, function(problem)
            _G.result = problem or "written"
          end)
          vim.wait(100)
          _G.during = _G.result or "waiting"
          return ""
        end
        vim.keymap.set("n", "x", "v:lua.Expr()", { expr = true })]],
        { path }
      )
      child.type_keys("x")
      vim.wait(60000, function()
        return child.lua_get("_G.result or ''") ~= ""
      end, 20)
      eq(child.lua_get("{ _G.during, _G.result }"), { "waiting", "written" })
      eq(disk(path), "b\n")
      child.stop()
    end)

    it("says when the buffer went away meanwhile", function()
      local path, buf = open("a.txt", "a\n")
      local result
      agent_write.write(path, "b\n", nil, function(problem)
        result = problem
      end)
      api.nvim_buf_delete(buf, { force = true })
      vim.wait(60000, function()
        return result ~= nil
      end, 2)
      eq(result, "the buffer was closed before it could be written")
    end)
  end)

  -- An agent may change what a name below the folder of its session leads to.
  describe("strays", function()
    local away

    before_each(function()
      away = dir .. "/away"
      vim.fn.mkdir(away)
      on_disk("away/a.txt", "theirs\n")
      vim.fn.mkdir(dir .. "/sub")
    end)

    ---@type table<string, fun(path: string)>
    local ways = {
      ["the file becomes a link"] = function(path)
        vim.uv.fs_unlink(path)
        vim.uv.fs_symlink(away .. "/a.txt", path)
      end,
      ["the file becomes a link with the same text"] = function(path)
        on_disk("away/a.txt", disk(path))
        vim.uv.fs_unlink(path)
        vim.uv.fs_symlink(away .. "/a.txt", path)
      end,
      ["the file becomes a link to nothing"] = function(path)
        vim.uv.fs_unlink(path)
        vim.uv.fs_symlink(away .. "/none.txt", path)
      end,
      ["the folder becomes a link"] = function(path)
        vim.fn.delete(vim.fs.dirname(path), "rf")
        vim.uv.fs_symlink(away, vim.fs.dirname(path))
      end,
      ["the folder becomes a link to one without the file"] = function(path)
        vim.fn.delete(vim.fs.dirname(path), "rf")
        vim.fn.mkdir(away .. "/empty")
        vim.uv.fs_symlink(away .. "/empty", vim.fs.dirname(path))
      end,
    }

    --- What is in the folder that is not the buffer's.
    local function outside()
      local found = {}
      for name, kind in vim.fs.dir(away, { depth = 3 }) do
        local path = away .. "/" .. name
        found[name] = kind == "file" and { disk(path), vim.uv.fs_stat(path).mode } or kind
      end
      return found
    end

    local function apply(item)
      return function(_, buf)
        local answer
        item = vim.tbl_extend("force", item, { id = 1, tick = vim.b[buf].changedtick })
        require("hermes.doc.review_apply").run(buf, item, function(_, payload)
          answer = payload
        end)
        return answer.error
      end
    end

    ---@type table<string, fun(path: string, buf: integer): string?>
    local acts = {
      ["a decision with edits"] = apply({
        edits = { { start = 0, ["end"] = 1, lines = { "x\n" } } },
      }),
      ["a decision with a text"] = apply({ text = "x\n" }),
      ["a decision that removes"] = apply({ delete = true }),
      ["a decision about permissions"] = apply({ text = "one\n", mode = 511 }),
      ["a text of the user"] = function(_, buf)
        local _, problem = buffer.put(buf, "x\n", true)
        return problem
      end,
      ["a refresh"] = function(_, buf)
        eq(buffer.update(buf), "strayed")
        eq(lines(buf), { "one" })
        return "leads to another file"
      end,
      ["an agent's write"] = function(path, buf)
        local found = agent_write.write(path, "x\n", nil, function() end)
        eq({ found, lines(buf) }, { false, { "one" } })
        return "leads to another file"
      end,
    }
    for way, stray in pairs(ways) do
      for act, run in pairs(acts) do
        it(("outside are left alone by %s when %s"):format(act, way), function()
          local path, buf = open("sub/a.txt", "one\n")
          stray(path)
          local before = outside()
          local problem = run(path, buf)
          eq({ problem, problem and problem:find("leads to another file", 1, true) ~= nil }, {
            problem,
            true,
          })
          eq(outside(), before)
        end)
      end
    end

    it("while it is being written are left alone, too", function()
      local path, buf = open("sub/a.txt", "one\n")
      local before = outside()
      api.nvim_create_autocmd("BufWritePre", {
        buffer = buf,
        once = true,
        callback = function()
          ways["the file becomes a link"](path)
        end,
      })
      local _, problem = buffer.put(buf, "x\n", true)
      eq(problem and problem:find("leads to another file", 1, true) ~= nil, true)
      eq(outside(), before)
    end)

    it("is not written once it is a named pipe, for whose other end Neovim would wait", function()
      local path, buf = open("sub/a.txt", "one\n")
      vim.uv.fs_unlink(path)
      vim.fn.system({ "mkfifo", path })
      local replaced, problem = buffer.put(buf, "x\n", true)
      eq({ replaced, problem }, { false, "it is a fifo now; nothing was written" })
      eq(apply({ text = "x\n" })(path, buf), "it is a fifo now; nothing was written")
      eq(write(path, "x\n"), "it is a fifo now; nothing was written")
    end)

    it("are what the user opens again", function()
      local path, buf = open("sub/a.txt", "one\n")
      ways["the file becomes a link"](path)
      eq(buffer.update(buf), "strayed")
      vim.cmd("silent edit!")
      eq({ lines(), buffer.update(buf) }, { { "theirs" } })
    end)
  end)

  describe("refresh", function()
    for what, bytes in pairs({
      ["latin1"] = "gr\252n\nblau\n",
      ["utf-16"] = "\255\254a\0\n\0",
      ["utf-8 with a mark"] = "\239\187\191a\nb\n",
      ["no text at all"] = "\0\1\255\254\n\0",
      ["lines of DOS"] = "a\r\nb\r\n",
      ["lines of an old Mac"] = "a\rb\r",
      ["an end without a line break"] = "a\nb",
      ["one empty line"] = "\n",
      ["a script"] = "#!/bin/sh\necho\n",
    }) do
      for how, prepare in pairs({
        ["a new buffer"] = function(path)
          vim.cmd.edit(vim.fn.fnameescape(path))
        end,
        ["a binary one"] = function(path)
          on_disk("a", "x\n")
          vim.cmd("edit ++bin " .. vim.fn.fnameescape(path))
        end,
        ["a buffer of another encoding"] = not require("hermes.core.encoding").decode(
          bytes,
          "utf-8"
        ) and function(path)
          on_disk("a", "x\ny\nz\n")
          vim.cmd.edit(vim.fn.fnameescape(path))
        end or nil,
      }) do
        it(("shows %s in %s as :edit would"):format(what, how), function()
          local path = dir .. "/a"
          prepare(path)
          local buf, binary = api.nvim_get_current_buf(), vim.bo.binary
          local function shown()
            local o = vim.bo[buf]
            local list = { lines(buf), o.fileencoding, o.fileformat, o.bomb, o.endofline }
            return vim.list_extend(list, { o.modified, o.binary, o.filetype, buffer.read(path) })
          end
          change_on_disk(path, bytes)
          eq(buffer.update(buf), "refreshed")
          local hermes = shown()
          vim.cmd("silent bwipeout! | edit " .. (binary and "++bin " or "") .. path)
          buf = api.nvim_get_current_buf()
          eq(hermes, shown())
        end)
      end
    end

    it("shows what changed on disk, in the buffers asked for", function()
      local a = open("a.txt", "a\n")
      local a_buf = api.nvim_get_current_buf()
      local b, b_buf = open("b.txt", "b\n")
      change_on_disk(a, "A\n")
      change_on_disk(b, "B\n")
      eq(buffer.refresh({ a }), {})
      eq({ lines(a_buf), lines(b_buf) }, { { "A" }, { "b" } })
      eq(buffer.refresh(), {})
      eq(lines(b_buf), { "B" })
    end)

    it("shows it without 'autoread' too, and undo brings the old text back", function()
      local path, buf = open("a.txt", "a\n")
      vim.o.autoread = false
      change_on_disk(path, "A\n")
      eq(buffer.refresh({ path }), {})
      vim.o.autoread = true
      eq(lines(buf), { "A" })
      vim.cmd("silent undo")
      eq(lines(buf), { "a" })
    end)

    it("keeps marks, extmarks, folds and the cursor in place, as one undo step", function()
      local path, buf = open("a.txt", "1\n2\n3\n4\n5\n6\nseven is here\n8\n")
      local ns = api.nvim_create_namespace("spec")
      local on_line = api.nvim_buf_set_extmark(buf, ns, 4, 0, {})
      local in_line = api.nvim_buf_set_extmark(buf, ns, 6, 9, {})
      api.nvim_buf_set_mark(buf, "a", 8, 0, {})
      vim.cmd("5,6fold")
      api.nvim_win_set_cursor(0, { 4, 0 })
      change_on_disk(path, "0\n0\n1\n3\n4\n5\n6\nSeven is here\n8\n")
      eq(buffer.refresh({ path }), {})
      eq(lines(buf), { "0", "0", "1", "3", "4", "5", "6", "Seven is here", "8" })
      eq(api.nvim_buf_get_extmark_by_id(buf, ns, on_line, {}), { 5, 0 })
      eq(api.nvim_buf_get_extmark_by_id(buf, ns, in_line, {}), { 7, 9 })
      eq(api.nvim_buf_get_mark(buf, "a"), { 9, 0 })
      eq(api.nvim_win_get_cursor(0), { 5, 0 })
      eq({ vim.fn.foldclosed(6), vim.fn.foldclosedend(6) }, { 6, 7 })
      eq(vim.bo[buf].modified, false)
      vim.cmd("silent undo")
      eq(lines(buf), { "1", "2", "3", "4", "5", "6", "seven is here", "8" })
      eq(vim.bo[buf].modified, true)
      vim.cmd("silent redo")
      eq(vim.bo[buf].modified, false)
    end)

    for name, case in pairs({
      ["dos line ends"] = { "a\r\nb\r\n", "a\r\nc\r\n", { "a", "c" } },
      ["a byte order mark that goes"] = { "\239\187\191a\n", "b\n", { "b" } },
      ["a byte order mark that comes"] = { "a\n", "\239\187\191b\n", { "b" } },
      ["no final newline"] = { "a\n", "b", { "b" } },
      ["an empty file"] = { "a\n", "", { "" } },
      ["a file that was empty"] = { "", "a\n", { "a" } },
      ["NUL bytes"] = { "a\n", "a\0b\n", { "a\0b" } },
      ["latin1"] = { "caf\233\n", "th\233\n", { "th\195\169" } },
      ["latin1 in place of UTF-8"] = { "caf\195\169\n", "th\233\n", { "th\195\169" } },
      ["UTF-16"] = { "\255\254a\0\n\0", "\255\254\229\101\n\0", { "日" } },
      ["the same text again"] = { "a\n", "a\n", { "a" } },
    }) do
      it("shows and keeps what is on disk: " .. name, function()
        local path, buf = open("a.txt", case[1])
        change_on_disk(path, case[2])
        vim.wait(60000, function() -- an empty file counts when it stays empty
          return #buffer.refresh({ path }) == 0
        end)
        eq({ lines(buf), vim.bo[buf].modified }, { case[3], false })
        vim.o.fixendofline = false
        vim.cmd("silent write") -- headless, a question would be an error
        vim.o.fixendofline = true
        eq(disk(path), case[2])
      end)
    end

    it("shows a file that was made after its buffer, with its format", function()
      local path = dir .. "/new.txt"
      vim.cmd.edit(vim.fn.fnameescape(path))
      on_disk("new.txt", "a\r\nb\r\n")
      eq(buffer.refresh(), {})
      eq({ lines(), vim.bo.fileformat, vim.bo.modified }, { { "a", "b" }, "dos", false })
    end)

    it("reaches hidden, readonly and unmodifiable buffers and those behind links", function()
      local path, buf = open("a.txt", "a\n")
      vim.bo[buf].readonly, vim.bo[buf].modifiable = true, false
      vim.uv.fs_symlink(path, dir .. "/link.txt")
      vim.cmd.tabedit(vim.fn.fnameescape(dir .. "/link.txt"))
      local linked = api.nvim_get_current_buf()
      vim.cmd.lcd("/")
      vim.cmd.enew()
      local here = { api.nvim_get_current_win(), api.nvim_get_current_buf() }
      change_on_disk(path, "b\n")
      eq(buffer.refresh(), {})
      eq({ lines(buf), lines(linked) }, { { "b" }, { "b" } })
      eq(
        { vim.bo[buf].readonly, vim.bo[buf].modifiable, vim.bo[buf].modified },
        { true, false, false }
      )
      eq({ api.nvim_get_current_win(), api.nvim_get_current_buf() }, here)
      vim.cmd("tabonly!")
    end)

    it("leaves buffers alone that an autocommand writes", function()
      local path, buf = open("a.txt", "a\n")
      api.nvim_create_autocmd("BufWriteCmd", { buffer = buf, callback = error })
      change_on_disk(path, "b\n")
      eq(buffer.refresh(), {})
      eq(lines(buf), { "a" })
    end)

    it("does not wait for a file that became something else", function()
      local path, buf = open("a.txt", "a\n")
      os.remove(path)
      vim.fn.system({ "mkfifo", path })
      eq(buffer.refresh(), {})
      eq(lines(buf), { "a" })
    end)

    it("keeps unsaved edits and reports the conflict", function()
      local path, buf = open("a.txt", "a\n")
      api.nvim_buf_set_lines(buf, 0, -1, false, { "mine" })
      change_on_disk(path, "theirs\n")
      eq(buffer.refresh({ path }), { { path = path, reason = "conflict" } })
      eq(lines(buf), { "mine" })
    end)

    it("keeps the buffer of a deleted file and reports it", function()
      local path, buf = open("a.txt", "a\n")
      os.remove(path)
      eq(buffer.refresh({ path }), { { path = path, reason = "deleted" } })
      eq(lines(buf), { "a" })
    end)
  end)
end)
