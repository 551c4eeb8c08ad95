-- What a prompt takes along: files that it names with "@", in a folder that an agent may have
-- prepared. Needs bin/hermes (make build).

local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))
local eq = MiniTest.expect.equality

describe("the files that a prompt names", function()
  local child = MiniTest.new_child_neovim()
  local dir, away

  ---@param path string
  ---@param text string
  local function write(path, text)
    vim.fn.mkdir(vim.fs.dirname(path), "p")
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
  end

  ---@param permissions? string Lua
  ---@param takes? string[] what prompts may hold
  local function start(permissions, takes)
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.o.lines, child.o.columns = 40, 100
    child.lua(
      [[local root, dir, program, permissions, takes = ...
      vim.cmd.cd(dir)
      vim.cmd.runtime("plugin/hermes.lua")
      _G.hermes = require("hermes")
      hermes.setup({
        permissions = load("return " .. permissions)(),
        agents = { scripted = {
          command = program,
          args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
          env = { HERMES_TEST_AGENT = vim.json.encode({ takes = takes }) },
        } },
      })
      _G.sent = {}
      hermes.on("ClientResourceMessage", function(data) table.insert(sent, data.content) end)
      hermes.on("ClientResourceLinkMessage", function(data) table.insert(sent, data.content) end)
      vim.cmd("Hermes chat scripted")
      vim.wait(60000, function() return vim.b.hermes_session ~= nil end)
      vim.cmd.stopinsert()
      _G.find = function(filetype)
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          if vim.bo[buf].filetype == filetype then return buf end
        end
      end
      _G.mentions = function(text, blocks)
        local got
        hermes.mentions(vim.b[find("hermes_prompt")].hermes_session, text, {
          blocks = blocks,
          on_done = function(err, result) got = result and result.mentions or err end,
        })
        vim.wait(60000, function() return got ~= nil end)
        return got
      end]],
      { root, dir, vim.v.progpath, permissions or "{}", takes or { "embeddedContext" } }
    )
  end

  before_each(function()
    local base = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
    dir, away = base .. "/project", base .. "/away"
    write(dir .. "/notes.txt", "hello\n")
    write(dir .. "/sub/other.txt", "other\n")
    write(dir .. "/two words.txt", "x")
    write(dir .. "/.env", "TOKEN=canary\n")
    write(dir .. "/binary", "a\0b")
    write(away .. "/key", "canary\n")
    vim.uv.fs_symlink(away .. "/key", dir .. "/link.txt")
    vim.uv.fs_symlink("sub/other.txt", dir .. "/inner.txt")
    vim.uv.fs_symlink(away, dir .. "/folder")
    vim.uv.fs_link(away .. "/key", dir .. "/hard.txt")
    vim.system({ "mkfifo", dir .. "/pipe.txt" }):wait()
  end)
  after_each(function()
    pcall(child.lua, "hermes.disconnect()")
    child.stop()
  end)

  local function wait_for(what, is)
    if not vim.wait(60000, function()
      return is() and true or false
    end, 10) then
      error(("no %s; messages %q"):format(what, child.cmd_capture("messages")))
    end
  end

  ---@param text string
  ---@return table<string, table> by name
  local function mentions(text, blocks)
    local list = {}
    for _, mention in ipairs(child.lua("return mentions(...)", { text, blocks })) do
      list[mention.name] = mention
    end
    return list
  end

  it("are found by where they are, and none outside of the session's folders", function()
    start()
    local got = mentions(
      table.concat({
        'see @notes.txt, @"two words.txt" (@sub/other.txt). @inner.txt @binary @sub @word',
        "@link.txt @folder/key @../away/key @hard.txt @pipe.txt @nosuch.txt",
        "@" .. dir .. "/link.txt @" .. away .. "/key",
      }, "\n"),
      true
    )
    local function text(name)
      return vim.tbl_get(got, name, "block", "resource", "text")
    end
    eq({ text("notes.txt"), text("two words.txt"), text("sub/other.txt") }, {
      "hello\n",
      "x",
      "other\n",
    })
    eq(got["notes.txt"].block.resource.uri, vim.uri_from_fname(dir .. "/notes.txt"))
    eq(got["binary"].block.type, "resource_link")
    eq({ got["sub"], got["word"], got["inner.txt"] }, {}) -- the last is the same file once more
    eq(mentions("@inner.txt")["inner.txt"].short, "sub/other.txt")
    for name, why in pairs({
      ["link.txt"] = "outside of the session's folders",
      ["folder/key"] = "outside of the session's folders",
      ["../away/key"] = "outside of the session's folders",
      [dir .. "/link.txt"] = "outside of the session's folders",
      ["hard.txt"] = "hard links",
      ["pipe.txt"] = "named pipe",
      ["nosuch.txt"] = "no such file",
    }) do
      eq({ name, got[name].block }, { name })
      eq({ name, got[name].error:find(why, 1, true) ~= nil, got[name].error }, {
        name,
        true,
        got[name].error,
      })
    end
    eq(got["link.txt"].path, away .. "/key")
    -- What the user has named in full is meant.
    eq({ got[away .. "/key"].outside, text(away .. "/key") }, { true, "canary\n" })
  end)

  it("have their unsaved text", function()
    start()
    child.lua([[vim.cmd.split("notes.txt")
      vim.api.nvim_buf_set_lines(0, 0, -1, false, { "unsaved" })]])
    eq(mentions("@notes.txt", true)["notes.txt"].block.resource.text, "unsaved\n")
  end)

  it("are kept back by fs_read_access and by rules that deny", function()
    start("{ fs_read_access = false }")
    eq(mentions("@notes.txt", true)["notes.txt"].block, nil)
    child.stop()
    start([[{ rules = { { action = "deny", path = ".env*" } } }]])
    local got = mentions("@.env @notes.txt", true)
    eq({ got[".env"].block, got["notes.txt"].block ~= nil }, { nil, true })
  end)

  ---@return string[] lines below the prompt
  local function below()
    return child.lua([[local buf = find("hermes_prompt")
      local lines = {}
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, -1, 0, -1, { details = true })) do
        for _, line in ipairs(mark[4].virt_lines or {}) do
          local words = vim.tbl_map(function(chunk) return chunk[1] end, line)
          lines[#lines + 1] = table.concat(words)
        end
      end
      return lines]])
  end

  local function transcript()
    return child.lua(
      [[return table.concat(vim.api.nvim_buf_get_lines(find("hermes_chat"), 0, -1, false), "\n")]]
    )
  end

  it("stand below the prompt before it is sent, and in the transcript after", function()
    start()
    child.type_keys("ilook at @notes.txt and @link.txt and @nosuch.txt please<Esc>")
    wait_for("line", function()
      return #below() > 0
    end)
    local lines = table.concat(below()):gsub("%s", "") -- which are broken anywhere
    local key = vim.fn.fnamemodify(away .. "/key", ":~")
    eq(lines:find("not@link.txt→" .. key .. "(outside)", 1, true) ~= nil, true)
    eq(lines:find("not@nosuch.txt:thereisnosuchfile", 1, true) ~= nil, true)
    eq(lines:find("notes.txt,6B", 1, true) ~= nil, true)
    child.type_keys("<CR>")
    wait_for("transcript", function()
      return transcript():find("[notes.txt, 6 B]", 1, true)
    end)
    eq(transcript():find("not @nosuch.txt", 1, true) ~= nil, true)
    eq(child.lua("return vim.tbl_map(function(c) return c.resource.text end, sent)"), { "hello\n" })
    wait_for("empty prompt", function()
      return #below() == 0
    end)
  end)

  it("have their names in the transcript also where the agent only takes links to them", function()
    start("{}", {})
    child.type_keys("ilook at @sub/other.txt and @" .. away .. "/key<Esc>")
    wait_for("line", function()
      return #below() > 0
    end)
    child.type_keys("<CR>")
    wait_for("transcript", function()
      return transcript():find("You said", 1, true)
    end)
    local key = vim.fn.fnamemodify(away .. "/key", ":~")
    eq(transcript():find("\n[sub/other.txt]\n", 1, true) ~= nil, true)
    eq(transcript():find("\n[" .. key .. "]\n", 1, true) ~= nil, true)
  end)

  it("stand in the transcript with the lines that were selected", function()
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    for uri, want in pairs({
      ["/src/greet.sh"] = "src/greet.sh",
      ["/src/greet.sh#L1-L2"] = "src/greet.sh:1-2",
      ["/src/%23L1-L2"] = "src/#L1-L2",
      ["/src/greet.sh#readme"] = "src/greet.sh",
    }) do
      uri = "file://" .. dir .. uri
      local resource = { type = "resource", resource = { uri = uri, text = "two" } }
      local link = { type = "resource_link", uri = uri, size = 3 }
      for _, content in ipairs({ resource, link }) do
        local label =
          child.lua("return require('hermes.view.chat.render').label(...)", { content, dir })
        eq(label, ("[%s, 3 B]"):format(want))
      end
    end
  end)

  it("go along from elsewhere than their names say only after the user was shown where", function()
    start()
    for i, case in ipairs({ { away .. "/key", "canary\n" }, { "inner.txt", "other\n" } }) do
      child.lua("vim.o.eventignore = 'all'") -- nothing is shown below the prompt
      child.api.nvim_buf_set_lines(0, 0, -1, false, { "see @" .. case[1] })
      child.type_keys("<CR>")
      child.lua("vim.o.eventignore = ''")
      wait_for("note", function()
        return select(2, transcript():gsub("not sent yet", "")) == i
      end)
      eq(#child.lua("return sent"), i - 1)
      child.type_keys("<CR>")
      wait_for("prompt", function()
        return #child.lua("return sent") == i
      end)
      eq(child.lua("return sent[...].resource.text", { i }), case[2])
    end
  end)

  it("go along with a prompt from before the session only if their names say all", function()
    start()
    for text, asks in pairs({ ["see @notes.txt"] = false, ["see @inner.txt"] = true }) do
      child.lua("hermes.disconnect()")
      child.cmd("silent! tabonly! | silent! only! | silent! %bwipeout!")
      wait_for("the end", function()
        return child.lua("return #hermes.connections()") == 0
      end)
      local session = child.lua(
        [[sent = {}
        vim.cmd("Hermes chat scripted")
        vim.cmd.stopinsert()
        vim.api.nvim_buf_set_lines(0, 0, -1, false, { ... })
        vim.api.nvim_feedkeys(vim.keycode("<Esc><CR>"), "x", false)
        return { vim.b.hermes_session }]],
        { text }
      )
      eq(session, {}) -- it is opened while the user types
      wait_for(text, function()
        return #child.lua("return sent") == 1 or transcript():find("not sent yet", 1, true)
      end)
      local note = "not sent yet: it takes along inner.txt → sub/other.txt, 6 B"
      eq({ text, transcript():find(note, 1, true) ~= nil }, { text, asks })
      eq({ text, #child.lua("return sent") }, { text, asks and 0 or 1 })
    end
  end)

  it("count as shown only where all of the line was on the screen", function()
    start()
    child.o.columns = 40
    local far = away .. ("/" .. ("long"):rep(40)):rep(4) .. "/key"
    write(far, "canary\n")
    local text = ("see @%s%s"):format(away, "/key") .. ("\nmore"):rep(40)
    for i, prompt in ipairs({ text, "see @" .. far }) do
      child.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(prompt, "\n"))
      child.api.nvim_win_set_cursor(0, { 1, 0 })
      child.api.nvim_exec_autocmds("TextChanged", { buffer = 0 })
      wait_for("line", function()
        return #below() > 0
      end)
      vim.wait(200)
      child.type_keys("<CR>")
      wait_for("note", function()
        return select(2, transcript():gsub("not sent yet", "")) == i
      end)
      eq(child.lua("return sent"), {})
    end
  end)
end)
