local buffer, diff, changed =
  require("hermes.doc.buffer"), require("hermes.doc.diff"), require("hermes.doc.applied")
local agent_write = require("hermes.doc.agent_write")
local eq = MiniTest.expect.equality
local api = vim.api

---@param text string
---@return string[]
local function chars(text)
  return vim.split(text, "")
end

describe("hunks of a text that was edited meanwhile", function()
  for name, case in pairs({
    ["stay above the edit"] = { "abcd", "Abcd", "abcX", "AbcX" },
    ["stay right above the edit"] = { "abcd", "Abcd", "aXcd", "AXcd" },
    ["move with lines added above"] = { "abcd", "abcD", "nnabcd", "nnabcD" },
    ["move with lines deleted above"] = { "abcd", "abcD", "cd", "cD" },
    ["move right below the edit"] = { "abcd", "aBcd", "XXbcd", "XXBcd" },
    ["insert above a line that was replaced"] = { "ab", "anb", "aX", "anX" },
    ["are lost with an edit of the same line"] = { "abcd", "aBcd", "aXcd" },
    ["are lost with an insertion at the same place"] = { "ab", "anb", "aXb" },
    ["are lost between two edits"] = { "abcde", "abCde", "XbcdX" },
    ["stay when nothing was edited"] = { "ab", "aB", "ab", "aB" },
  }) do
    it(name, function()
      local old, new, now = chars(case[1]), chars(case[2]), chars(case[3])
      local hunks = diff.shift(diff.hunks(old, new), old, now)
      if not case[4] then
        return eq(hunks, nil)
      end
      for i = #hunks, 1, -1 do
        local hunk = hunks[i]
        for _ = 1, #hunk.old do
          table.remove(now, hunk.first + 1)
        end
        for k = #hunk.new, 1, -1 do
          table.insert(now, hunk.first + 1, hunk.new[k])
        end
      end
      eq(table.concat(now), case[4])
    end)
  end
end)

describe("a change of an agent", function()
  local dir, path, buf, taken

  before_each(function()
    vim.cmd("silent! %bwipeout!")
    dir = vim.uv.fs_realpath(vim.fn.fnamemodify(vim.fn.tempname(), ":h")) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir, "p")
    path = dir .. "/a.txt"
    vim.fn.writefile({ "one", "two" }, path)
    vim.cmd.edit(vim.fn.fnameescape(path))
    buf, taken = api.nvim_get_current_buf(), {}
    changed.begin = function(changing)
      taken[#taken + 1] = { "begin", changing, changed.applying[changing] or false }
    end
    changed.take = function(change)
      taken[#taken + 1] = { change.source, change.outcome, change.before, change.text }
      return true
    end
  end)

  after_each(function()
    changed.begin, changed.take = nil, nil
  end)

  --- Writes as an agent that read the buffer when it had `known`.
  local function write(text, rebase)
    local result
    agent_write.write(path, text, {
      author = { agent = "a", sessionId = "s", requestId = "r", rebase = rebase },
    }, function(problem, now, merged)
      result = { problem or "written", now, merged }
    end)
    vim.wait(60000, function()
      return result ~= nil
    end, 2)
    return result
  end

  it("by a write is reported with both texts, formatters included", function()
    local during
    api.nvim_create_autocmd("BufWritePre", {
      buffer = buf,
      callback = function()
        during = changed.applying[buf]
        api.nvim_buf_set_lines(buf, 0, 1, false, { "formatted" })
      end,
    })
    local result = write("ONE\ntwo\n", function(now, done)
      eq(now, "one\ntwo\n")
      done(nil, "ONE\ntwo\n")
    end)
    eq(result, { "written", "formatted\ntwo\n", false })
    eq(during, true)
    eq(changed.applying, {})
    eq(taken, {
      { "begin", buf, false },
      { "write", "written", "one\ntwo\n", "formatted\ntwo\n" },
    })
  end)

  it("by a refresh is reported with both texts", function()
    vim.fn.writefile({ "one", "TWO!" }, path)
    eq(buffer.update(buf), "refreshed")
    eq(taken, { { "begin", buf, false }, { "disk", "refreshed", "one\ntwo\n", "one\nTWO!\n" } })
  end)

  it("is made in what the user has typed until it is known", function()
    local asked = 0
    local result = write("ONE\ntwo\n", function(_, done)
      asked = asked + 1
      vim.schedule(function()
        api.nvim_buf_set_lines(buf, -1, -1, false, { "typed " .. asked })
        done(nil, "ONE\ntwo\n")
      end)
    end)
    eq(result, { "written", "ONE\ntwo\ntyped 1\n", true })
    eq(asked, 1)
  end)

  it("is asked for again when the user types in the same line, but not for ever", function()
    local merges, asked = agent_write.merges, 0
    agent_write.merges = 3
    MiniTest.finally(function()
      agent_write.merges = merges
    end)
    local result = write("ONE\ntwo\n", function(_, done)
      asked = asked + 1
      api.nvim_buf_set_lines(buf, 0, 1, false, { "typed " .. asked })
      done(nil, "ONE\ntwo\n")
    end)
    eq(result, { "the user is typing where you write; read the file again and try once more" })
    eq(asked, 3)
    eq(api.nvim_buf_get_lines(buf, 0, -1, false), { "typed 3", "two" })
    eq(vim.fn.readfile(path), { "one", "two" })
  end)

  it("that is refused leaves buffer and file", function()
    local result = write("ONE\n", function(_, done)
      done("read again")
    end)
    eq(result, { "read again" })
    eq(taken, {})
    eq(vim.fn.readfile(path), { "one", "two" })
  end)
end)

describe("a conflict with the file", function()
  it("is listed, and only a known choice ends it", function()
    local hermes = require("hermes")
    vim.cmd("silent! %bwipeout!")
    local path = vim.fn.tempname()
    vim.fn.writefile({ "one" }, path)
    vim.cmd.edit(vim.fn.fnameescape(path))
    local problem
    local function done(why)
      problem = why or "none"
    end
    local function resolve(choice)
      problem = nil
      hermes.resolve_conflict(choice, { on_done = done })
      vim.wait(60000, function()
        return problem ~= nil
      end, 5)
    end
    eq(hermes.conflicts(), {})
    resolve("mine")
    eq(problem, "the buffer and its file have no conflict")
    api.nvim_buf_set_lines(0, 0, -1, false, { "mine" })
    vim.fn.writefile({ "theirs" }, path)
    eq(#hermes.conflicts(), 1)
    MiniTest.expect.error(function()
      hermes.resolve_conflict("yours")
    end, 'the choice must be "mine", "theirs" or "both"')
    MiniTest.expect.error(function()
      hermes.resolve_conflict("mine", { bufnr = 9999 })
    end, "buffer 9999 is not loaded")
    resolve("both")
    eq({ problem, #api.nvim_list_tabpages() }, { "none", 2 })
    vim.cmd("tabclose")
    -- Without the host nothing can be merged.
    resolve("theirs")
    eq(problem, "the texts cannot be merged; :e! loads the file")
    resolve("mine")
    eq({ problem, #hermes.conflicts() }, { "none", 0 })
    vim.cmd("silent write")
    eq(vim.fn.readfile(path), { "mine" })
  end)
end)
