-- What a question says about files: names below the session's folder, and where in a file a text
-- stands that an agent wants to replace. Needs bin/hermes (make build).

local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))
local eq = MiniTest.expect.equality

describe("a question about files", function()
  local child = MiniTest.new_child_neovim()
  local dir

  ---@param name string
  ---@param text string
  local function write(name, text)
    vim.fn.mkdir(vim.fs.dirname(dir .. "/" .. name), "p")
    local file = assert(io.open(dir .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end

  ---@param expr string
  local function wait_for(expr)
    local ok = vim.wait(60000, function()
      return child.lua_get(expr)
    end, 5)
    assert(ok, expr .. "\n" .. child.cmd_capture("messages"))
  end

  before_each(function()
    dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir, "p")
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua(
      [[local root, dir, program = ...
      vim.cmd.cd(dir)
      _G.hermes = require("hermes")
      hermes.setup({ agents = { scripted = {
        command = program,
        args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
        env = { HERMES_TEST_AGENT = "{}" },
      } } })
      hermes.on_request("PermissionRequest", function(data, answer)
        asked = data
        answer.respond("yes")
      end)
      hermes.connect("scripted")
      hermes.create_session({ on_done = function(_, result) session = result.sessionId end })
      function _G.Ask(call)
        asked, ended = nil, nil
        call = vim.tbl_extend("force", { toolCallId = "t", kind = "edit", title = "Edit" }, call)
        local options = { { optionId = "yes", name = "Yes", kind = "allow_once" } }
        local step = { ask = { toolCall = call, options = options }, times = 1 }
        local function done() ended = true end
        hermes.prompt(session, vim.json.encode({ step }), { on_done = done })
      end]],
      { root, dir, vim.v.progpath }
    )
    wait_for("session ~= nil")
  end)
  after_each(function()
    pcall(child.lua, "require('hermes').disconnect()")
    child.stop()
  end)

  ---@param call table
  ---@return string[] lines of the question, but for its kind and its title
  local function ask(call)
    child.lua("Ask(...)", { call })
    wait_for("asked ~= nil and ended == true")
    return vim.tbl_filter(function(line)
      return line ~= "kind: edit" and line ~= "title: Edit"
    end, child.lua("return (require('hermes.ask.permission').details(asked))"))
  end

  ---@param path string
  ---@param old string
  ---@param new string
  local function replace(path, old, new)
    return ask({
      rawInput = { file_path = path, old_string = old, new_string = new },
      content = { { type = "diff", path = path, oldText = old, newText = new } },
    })
  end

  it("shows the lines of the file that a text stands in", function()
    local lines = {}
    for i = 1, 20 do
      lines[i] = "line " .. i
    end
    write("src/a.txt", table.concat(lines, "\n") .. "\n")
    local path = dir .. "/src/a.txt"
    eq(replace(path, "ne 12\nli", "NE 12\nLI"), {
      "file_path: src/a.txt",
      "change src/a.txt",
      "@@ -9,8 +9,8 @@",
      " line 9",
      " line 10",
      " line 11",
      "-line 12",
      "-line 13",
      "+liNE 12",
      "+LIne 13",
      " line 14",
      " line 15",
      " line 16",
    })
    eq(replace(path, "line 1\n", "")[3], "@@ -1,4 +1,3 @@")
    eq(vim.list_slice(replace(path, "line 1", "line one"), 2), {
      "change src/a.txt",
      "  the old text is in the file 11 times",
      "-line 1",
      "+line one",
    })
    eq(vim.list_slice(replace(path, "line 21", "x"), 2), {
      "change src/a.txt",
      "  the old text is not in the file on the disk",
      "-line 21",
      "+x",
    })
  end)

  it("says nothing of places where there is no file to look at", function()
    for _, path in ipairs({ dir .. "/none", "/etc/hostname", dir .. "/../out.txt" }) do
      local shown = replace(path, "one", "two")
      eq(shown[#shown - 2]:find("change ", 1, true), 1)
      eq(vim.list_slice(shown, #shown - 1), { "-one", "+two" })
    end
    write("whole.txt", "one")
    local shown = replace(dir .. "/whole.txt", "one", "two")
    eq(vim.list_slice(shown, #shown - 2), { "@@ -1 +1 @@", "-one", "+two" })
    eq(child.lua_get("asked.places"), { { diff = 1, times = 1 } })
    -- A pipe with nobody at its other end, and a link out of the folder.
    assert(vim.system({ "mkfifo", dir .. "/pipe" }):wait().code == 0)
    assert(vim.uv.fs_symlink("/etc/passwd", dir .. "/link"))
    for _, name in ipairs({ "/pipe", "/link" }) do
      replace(dir .. name, "root", "toor")
      eq(child.lua_get("asked.places == nil"), true)
    end
  end)

  it("names files below the session's folder without it, and others in full", function()
    for path, case in pairs({
      ["/a.txt"] = { "a.txt" },
      ["/src/b c.txt"] = { "src/b c.txt" },
      ["/../up.txt"] = { dir .. "/../up.txt", outside = true },
      ["/./dot.txt"] = { dir .. "/./dot.txt" },
      ["//twice.txt"] = { dir .. "//twice.txt" },
      ["x/beside.txt"] = { dir .. "x/beside.txt", outside = true },
    }) do
      local full, want = dir .. path, case[1]
      local shown = ask({ rawInput = { path = full }, locations = { { path = full, line = 3 } } })
      local facts = { "path: " .. want, "path: " .. want .. ":3" }
      if case.outside then
        table.insert(facts, 1, "OUTSIDE THE SESSION'S FOLDER: " .. want)
      end
      eq(shown, facts)
    end
    local elsewhere = { "OUTSIDE THE SESSION'S FOLDER: /etc/hosts", "path: /etc/hosts" }
    eq(ask({ locations = { { path = "/etc/hosts" } } }), elsewhere)
  end)
end)
