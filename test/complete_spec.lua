-- Completion of /commands and @files: as an 'omnifunc', from a key, and as the
-- source that blink.cmp and nvim-cmp call. Needs bin/hermes (make build).

local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))
local eq = MiniTest.expect.equality

describe("completion", function()
  local child = MiniTest.new_child_neovim()
  local dir

  before_each(function()
    dir = dofile(root .. "/test/place.lua").new()
    for file, text in pairs({
      ["main.go"] = "x",
      ["src/main_test.go"] = "x",
      ["src/deep/other.lua"] = "x",
      ["two words.txt"] = "x",
      ["bad\27[31m.txt"] = "x",
      ["ignored.log"] = "x",
      [".gitignore"] = "*.log\n",
    }) do
      vim.fn.mkdir(vim.fs.dirname(dir .. "/" .. file), "p")
      vim.fn.writefile({ text }, dir .. "/" .. file)
    end
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua(
      [[local dir = ...
      vim.cmd.cd(dir)
      vim.cmd.runtime("plugin/hermes.lua")
      _G.hermes, _G.complete = require("hermes"), require("hermes.complete")
      hermes.connect("demo")
      hermes.create_session({ cwd = dir, on_done = function(_, session)
        vim.b.hermes_session = session.sessionId
      end })
      vim.bo.omnifunc = "v:lua.require'hermes.complete'.omnifunc"
      vim.o.completeopt = "menuone,noinsert"]],
      { dir }
    )
    vim.wait(60000, function()
      return child.lua_get(
        "vim.b.hermes_session ~= nil and hermes.state(vim.b.hermes_session, 'commands') ~= nil"
      )
    end, 20)
  end)
  after_each(function()
    child.lua("hermes.disconnect()")
    child.stop()
  end)

  local function wait_for(what, is)
    if not vim.wait(60000, is, 20) then
      error(
        ("no %s; line %q, messages %q"):format(
          what,
          child.api.nvim_get_current_line(),
          child.cmd_capture("messages")
        )
      )
    end
  end

  --- The words of the menu, once it is there.
  local function offered()
    wait_for("menu", function()
      return child.fn.pumvisible() == 1
    end)
    return vim.tbl_map(function(item)
      return item.word
    end, child.fn.complete_info({ "items" }).items)
  end

  it("offers commands at the start of a prompt only", function()
    child.type_keys("i/s<C-x><C-o>")
    eq(offered(), { "/say", "/slow", "/crash" })
    child.type_keys("<C-n><C-y>")
    eq(child.api.nvim_get_current_line(), "/slow")
    child.type_keys("<CR>/s<C-x><C-o>")
    eq(child.fn.pumvisible(), 0)
    eq(child.api.nvim_get_current_line(), "/s")
  end)

  for _, git in ipairs({ true, false }) do
    it(
      "offers the files of the project, those of their own name first; git: " .. tostring(git),
      function()
        if git then
          vim.system({ "git", "init", "-q" }, { cwd = dir }):wait()
        end
        child.type_keys("isee @ma<Tab>")
        if child.fn.pumvisible() == 0 then
          child.lua("vim.keymap.set('i', '<F5>', complete.tab)")
          child.type_keys("<BS><F5>")
        end
        eq(offered(), { "@main.go", "@src/main_test.go" })
        child.type_keys("<C-y> and @two<F5>")
        eq(offered(), { '@"two words.txt"' })
        child.type_keys("<C-y> @log<F5>")
        wait_for("answer", function()
          return child.lua_get("not vim.in_fast_event()")
        end)
        eq(child.fn.pumvisible(), 0)
        child.type_keys("<C-e><Esc>S@txt<F5>")
        eq(offered(), { '@"two words.txt"' }) -- and none with an escape sequence
      end
    )
  end

  it("lists the files of a folder for plugins, too", function()
    local function list(folder)
      return child.lua(
        [[local answer
        hermes.list_files(..., { on_done = function(err, result)
          answer = err and { err = err.message } or result
        end })
        vim.wait(60000, function() return answer end, 5)
        return answer]],
        { folder }
      )
    end
    local listed = list(dir)
    eq({ listed.complete, vim.tbl_contains(listed.files, "main.go") }, { true, true })
    eq(list(dir .. "/none").err:find("no such file", 1, true) ~= nil, true)
  end)

  it("runs no program in the project, which its .git could choose", function()
    local bin = vim.fn.tempname()
    vim.fn.mkdir(bin, "p")
    vim.fn.writefile({ "#!/bin/sh", ('pwd >> "%s/ran"; exit 1'):format(bin) }, bin .. "/git")
    vim.uv.fs_chmod(bin .. "/git", 493)
    vim.fn.mkdir(dir .. "/.git")
    child.lua("vim.env.PATH = ... .. ':' .. vim.env.PATH", { bin })
    child.lua("vim.keymap.set('i', '<F5>', complete.tab)")
    child.type_keys("isee @ma<F5>")
    eq(offered(), { "@main.go", "@src/main_test.go" })
    eq(vim.uv.fs_stat(bin .. "/ran"), nil)
  end)

  it("is a source of blink.cmp", function()
    local got = child.lua([[local source = require("hermes.complete.source").new({}, {})
      _G.got = { enabled = source:enabled(), triggers = source:get_trigger_characters() }
      source:get_completions({ line = "é @ma x", cursor = { 2, 6 }, bufnr = 0 }, function(response)
        got.files = response
      end)
      source:get_completions({ line = "/sa", cursor = { 1, 3 }, bufnr = 0 }, function(response)
        got.commands = response
      end)
      vim.wait(60000, function() return got.files ~= nil end)
      vim.b.hermes_session = nil
      got.outside = source:enabled()
      return got]])
    eq({ got.enabled, got.outside, got.triggers }, { true, false, { "/", "@" } })
    eq(got.files.is_incomplete_forward, false)
    eq(got.files.items[1].textEdit, {
      newText = "@main.go",
      range = { start = { line = 1, character = 3 }, ["end"] = { line = 1, character = 6 } },
    })
    eq(got.commands.items, {
      {
        label = "/say",
        filterText = "/say",
        sortText = "0001",
        kind = 3,
        documentation = "Repeats a text",
        textEdit = {
          newText = "/say",
          range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 3 } },
        },
      },
    })
  end)

  it("is a source of nvim-cmp", function()
    local got = child.lua([[local source = require("hermes.complete.source").new()
      _G.got = { source:is_available(), source:get_position_encoding_kind() }
      _G.got.keyword = vim.regex(source:get_keyword_pattern() .. "$"):match_str("see @src/ma")
      source:complete({
        offset = 5,
        context = { cursor_before_line = "see @src/ma", cursor = { row = 1, col = 12 }, bufnr = 0 },
        completion_context = { triggerKind = 1 },
      }, function(response) got.response = response end)
      vim.wait(60000, function() return got.response ~= nil end)
      return { got[1], got[2], got.keyword, got.response }]])
    eq(vim.list_slice(got, 1, 3), { true, "utf-8", 4 })
    eq(
      { #got[4].items, got[4].items[1].label, got[4].isIncomplete },
      { 1, "@src/main_test.go", false }
    )
  end)

  it("offers no command whose name looks like a file", function()
    local got = child.lua([[local names = {}
      hermes.state = function(_, member)
        return member == "commands" and vim.tbl_map(function(name)
          return { name = name, description = "" }
        end, { "fix(@.env", "fix@main.go", "fix[x]", "fix" }) or vim.fn.getcwd()
      end
      complete.items(complete.lead("/fi", 1), "s", function(items)
        names = vim.tbl_map(function(item) return item.name end, items)
      end)
      return names]])
    eq(got, { "fix" })
  end)
end)
