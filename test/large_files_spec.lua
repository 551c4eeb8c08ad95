-- What an agent can make of a file that is open, so large or so odd that Neovim must not load it.

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))
local child = MiniTest.new_child_neovim()
local dir, path
local writes = 0

--- Gives the file a time of its own, long ago, so that it counts at once.
local function settle()
  writes = writes + 10 -- one second is no difference to Neovim
  vim.uv.fs_utime(path, os.time() - 3600 + writes, os.time() - 3600 + writes)
end

---@param text string
local function write(text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  settle()
end

---@param size integer
local function sparse(size)
  local file = assert(vim.uv.fs_open(path, "w", 420))
  assert(vim.uv.fs_ftruncate(file, size))
  vim.uv.fs_close(file)
  settle()
end

--- Looks at the buffer as after a tool call.
local function look()
  child.lua([[require("hermes.doc.refresh").check(1, {})
    require("hermes.doc.refresh").now(1)]])
end

local function lines()
  return child.api.nvim_buf_get_lines(1, 0, -1, false)
end

--- What becomes of the file, and what the user reads: not of what has no size.
local cases = {
  ["700 MB without a block"] = {
    function()
      sparse(700e6)
    end,
    "a.log is 700 MB now",
  },
  ["700 MB behind a link"] = {
    function()
      local other = path
      path = path .. ".other"
      sparse(700e6)
      path, other = other, path
      os.remove(path)
      vim.uv.fs_symlink(other, path)
    end,
    says = "a.log leads to another file on disk now; the buffer keeps its text, read-only",
  },
  ["one line of 10 MB"] = {
    function()
      write(("x"):rep(10e6))
    end,
    "a.log is 10 MB now",
  },
  ["a million empty lines"] = {
    function()
      write(("\n"):rep(1e6))
    end,
    "a.log has more than 50000 lines now",
  },
  ["2 MB of random bytes"] = {
    function()
      write(assert(io.open("/dev/urandom", "rb")):read(2e6))
    end,
    "a.log is 2.0 MB now",
  },
  ["500 KB of random bytes"] = {
    function()
      write(assert(io.open("/dev/urandom", "rb")):read(500e3))
    end,
    "a.log is not text in the encoding utf-8 any more",
    "a.log: the file changed on disk where you have unsaved edits;"
      .. " yours stay until you choose with :Hermes conflict",
  },
  ["a pipe"] = {
    function()
      os.remove(path)
      vim.fn.system({ "mkfifo", path })
    end,
  },
  ["a pipe behind a link"] = {
    function()
      os.remove(path)
      vim.fn.system({ "mkfifo", path .. ".pipe" })
      vim.uv.fs_symlink(path .. ".pipe", path)
      settle()
    end,
    says = "a.log leads to another file on disk now; the buffer keeps its text, read-only",
  },
  ["a folder"] = {
    function()
      os.remove(path)
      vim.fn.mkdir(path)
    end,
  },
}

describe("an open file", function()
  before_each(function()
    child.restart({ "--clean", "-n", "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    dir = vim.uv.fs_realpath(vim.fn.fnamemodify(vim.fn.tempname(), ":h")) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir, "p")
    path = dir .. "/a.log"
    write("one\n")
    child.lua(
      [[require("hermes.doc.versions")
      require("hermes.doc.ancestor")
      require("hermes.doc.refresh")
      require("hermes.doc.autoread")
      notes = {}
      vim.notify = function(text) notes[#notes + 1] = text end
      vim.cmd.cd(...)
      vim.cmd.edit("a.log")]],
      { dir }
    )
    -- Neovim looks at files by itself only with a user interface.
    child.api.nvim_ui_attach(80, 24, {})
  end)
  after_each(child.stop)

  for name, case in pairs(cases) do
    it("that becomes " .. name .. " stays as it is in its buffer, and is announced once", function()
      case[1]()
      look()
      eq(lines(), { "one" })
      local notes = child.lua_get("notes")
      local notice = case.says or (case[2] and case[2] .. "; :edit loads it")
      eq(notes, notice and { "hermes: " .. notice } or {})
      look()
      eq(child.lua_get("notes"), notes)
      eq(child.bo.modified, false)

      -- The user comes back to Neovim, or looks for changes.
      child.api.nvim_ui_set_focus(false)
      child.api.nvim_ui_set_focus(true)
      child.cmd("checktime")
      eq(lines(), { "one" })

      vim.fn.delete(path, "rf")
      write("two\n")
      look()
      eq({ lines(), child.lua_get("vim.api.nvim_eval([[&autoread]])") }, { { "two" }, 1 })
      eq(child.cmd_capture("set autoread? | autocmd FileChangedShell"):match("<buffer"), nil)
    end)

    it("that becomes " .. name .. " keeps unsaved edits, and is announced once", function()
      child.api.nvim_buf_set_lines(0, 0, -1, false, { "mine" })
      case[1]()
      look()
      eq({ lines(), child.bo.modified }, { { "mine" }, true })
      local notes = child.lua_get("notes")
      local what = case[2] and case[2] .. " and is not merged with your edits; :e! loads it,"
      local notice = case.says or case[3] or (what and what .. " :w! writes yours")
      eq(notes, notice and { "hermes: " .. notice } or {})
      look()
      if not case[3] then -- an ordinary conflict, about which Neovim asks
        child.api.nvim_ui_set_focus(false)
        child.api.nvim_ui_set_focus(true)
        child.cmd("checktime")
      end
      eq({ lines(), child.bo.modified, child.lua_get("notes") }, { { "mine" }, true, notes })
      if case[2] then
        for _, choice in ipairs({ "theirs", "both", "mine" }) do
          child.lua(
            [[require("hermes.doc.conflict").resolve(1, ..., function(why) problem = why end)]],
            {
              choice,
            }
          )
          local problem = child.lua_get("problem")
          eq(problem == vim.NIL, choice == "mine")
          eq({ lines(), child.bo.modified }, { { "mine" }, true })
        end
      end
    end)

    it("that becomes " .. name .. " before Hermes has looked is not loaded on focus", function()
      child.api.nvim_ui_set_focus(false)
      case[1]()
      child.api.nvim_ui_set_focus(true)
      eq(child.api.nvim_get_mode().blocking, false)
      local fast = { ["a million empty lines"] = true, ["500 KB of random bytes"] = true }
      if not fast[name] then
        eq(lines(), { "one" })
      end
    end)
  end

  local styles = {
    ["a pipe"] = function(config)
      vim.fn.system({ "mkfifo", config })
    end,
    ["a sparse file"] = function(config)
      local file = assert(vim.uv.fs_open(config, "w", 420))
      assert(vim.uv.fs_ftruncate(file, 2e9))
      vim.uv.fs_close(file)
    end,
  }
  for name, make in pairs(styles) do
    it("whose .editorconfig becomes " .. name .. " is loaded all the same", function()
      eq(
        child.fn.exists("#nvim.editorconfig#BufRead") + child.fn.exists("#editorconfig#BufRead"),
        1
      )
      make(dir .. "/.editorconfig")
      write("\255\254t\0w\0o\0") -- which only Neovim can decode
      look()
      eq(lines()[1]:find("t", 1, true) ~= nil, true)
      child.lua(
        [[local other = ...
        vim.fn.writefile({ "other" }, other)
        _G.problem = require("hermes.doc.show").file(other)]],
        { dir .. "/b.log" }
      )
      eq(
        { child.lua_get("problem"), child.api.nvim_buf_get_lines(0, 0, -1, false) },
        { vim.NIL, { "other" } }
      )
      eq(child.lua_get("vim.b.editorconfig"), vim.NIL)
    end)
  end

  it("that becomes a link is not overwritten by :w until it is a file again", function()
    local away = dir .. "/away"
    vim.fn.writefile({ "away" }, away)
    local function becomes_a_link()
      os.remove(path)
      vim.uv.fs_symlink(away, path)
      look()
    end
    becomes_a_link()
    child.api.nvim_buf_set_lines(0, 0, -1, false, { "mine" })
    for _, command in ipairs({ "write", "wall", "update", "xit", "wqall" }) do
      local ok, problem = pcall(child.cmd, command)
      eq({ command, ok }, { command, false })
      eq({ command, problem:match("E45") or problem }, { command, "E45" })
      eq({ command, vim.fn.readfile(away) }, { command, { "away" } })
    end
    eq(lines(), { "mine" })

    os.remove(path)
    write("one\n")
    look()
    eq(child.bo.readonly, false)
    child.cmd("write!") -- a conflict, about which Neovim asks
    eq({ vim.fn.readfile(path), vim.fn.readfile(away) }, { { "mine" }, { "away" } })

    child.bo.readonly = true -- by the user
    becomes_a_link()
    os.remove(path)
    write("one\n")
    look()
    eq(child.bo.readonly, true)
  end)

  for what, text in pairs({
    ["one line of 8 MB"] = [[("x"):rep(8e6)]],
    ["a million lines"] = [[("\n"):rep(1e6)]],
  }) do
    it("takes no write of " .. what .. " by an agent", function()
      child.lua(([[require("hermes.doc.agent_write").write(vim.api.nvim_buf_get_name(1), %s, {},
        function(why) problem = why end)
        vim.wait(60000, function() return problem ~= nil end)]]):format(text))
      eq(
        child.lua_get("problem"),
        "too large for a file that is open in the editor: at most 4194304 bytes and 250000 lines"
      )
      eq({ lines(), vim.fn.readfile(path) }, { { "one" }, { "one" } })
    end)
  end

  it("keeps its style when it is loaded again", function()
    child.fn.writefile({ "root = true", "[*]", "max_line_length = 77" }, dir .. "/.editorconfig")
    write("\255\254t\0w\0o\0")
    look()
    eq(child.bo.textwidth, 77)
  end)

  it("that is too large is not shown by a list of the review", function()
    sparse(3e9)
    child.cmd("bwipeout!")
    eq(
      child.lua_get([[require("hermes.doc.show").file(...)]], { path }),
      "it is 3000 MB now; :edit loads it"
    )
  end)

  it("that the user loads at its size is followed by Neovim again, and announced again", function()
    write(("a line of some length\n"):rep(60000))
    look()
    child.cmd("edit")
    eq(#lines(), 60000)
    eq({ child.lua_get("vim.api.nvim_eval([[&autoread]])"), #child.lua_get("notes") }, { 1, 1 })
    look()
    write(("a line of some length\n"):rep(60001))
    look()
    eq({ #lines(), #child.lua_get("notes") }, { 60000, 2 })
    write("small\n")
    look()
    eq(child.lua_get("notes[3]"), vim.NIL) -- it is still the same news
    child.cmd("edit")
    write("two\n")
    look()
    eq(lines(), { "two" })
  end)

  it("that is large is read in parts, or left to the disk", function()
    local text = ("a line of some length\n"):rep(60000)
    write(text)
    child.cmd("edit!")
    local function read(...)
      return child.lua(
        [[return { (require("hermes.doc.buffer").read(vim.api.nvim_buf_get_name(1), ...)) }]],
        { ... }
      )
    end
    eq(read()[1], nil)
    eq(read(3, 2)[1], ("a line of some length\n"):rep(2))
    eq(read(2)[1], nil)
    child.api.nvim_buf_set_lines(0, 0, 1, false, { "mine" })
    eq(read(1, 1)[1], "mine\n")
    eq(
      child.lua_get([[select(2, require("hermes.doc.buffer").read(vim.api.nvim_buf_get_name(1)))]]),
      path
        .. " has unsaved edits and is too large to read at once;"
        .. " read at most 1000 lines, with line and limit"
    )
  end)

  it("costs no more than its beginning, whatever its size", function()
    child.lua([[
      local real = vim.uv.fs_read
      bytes = 0
      vim.uv.fs_read = function(fd, size, ...) -- luacheck: ignore
        bytes = bytes + size
        return real(fd, size, ...)
      end]])
    sparse(5e12)
    look()
    child.lua([[require("hermes.doc.ancestor").note(1)]])
    eq(child.lua_get("bytes"), 0)
  end)
end)
