-- examples/chat.lua with the demo agent: the whole line from the agent's
-- stdout to what a user sees. Needs bin/hermes (make build).

local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))
local eq = MiniTest.expect.equality

describe("the chat example", function()
  local child = MiniTest.new_child_neovim()
  local dir

  before_each(function()
    dir = dofile(root .. "/test/place.lua").new() -- a question shows all of the path
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.o.lines, child.o.columns = 50, 120
    child.lua(
      [[local root, dir = ...
      vim.cmd.cd(dir)
      vim.cmd.runtime("plugin/hermes.lua")
      vim.cmd.luafile(root .. "/examples/chat.lua")
      _G.asked = {}
      vim.ui.select = function(items, opts, on_choice) -- a user who agrees once
        for i, item in ipairs(items) do
          if item.kind == "allow_once" then
            table.insert(asked, { opts.prompt, vim.tbl_map(opts.format_item, items) })
            on_choice(item, i)
          end
        end
      end]],
      { root, dir }
    )
    child.cmd("HermesChat")
  end)
  after_each(function()
    child.lua("require('hermes').disconnect()")
    child.stop()
  end)

  local function shown()
    return table.concat(child.lua_get("vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n")
  end

  local function status()
    return child.lua_get("vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true }).str")
  end

  --- Whether there is a session, and no turn runs.
  local function is_ready()
    local state = status():match("^demo: (%a+)") or ""
    return child.lua_get("vim.b.hermes_session") ~= vim.NIL
      and vim.tbl_contains({ "idle", "done", "failed" }, state)
  end

  ---@param what string
  ---@param is fun(): boolean
  local function wait_for(what, is)
    if not vim.wait(60000, is, 20) then
      error(
        ("no %s; status %q, messages %q, buffer:\n%s"):format(
          what,
          status(),
          child.cmd_capture("messages"),
          shown()
        )
      )
    end
  end

  --- Insert mode begins and ends after the command that says so.
  ---@param mode string
  local function in_mode(mode)
    wait_for("mode " .. mode, function()
      return child.api.nvim_get_mode().mode == mode
    end)
  end

  --- Types a prompt and waits for text in the buffer. Questions come up in normal
  --- mode only, so <Esc> makes room for them.
  local function prompt(keys, text)
    wait_for("session", is_ready)
    in_mode("i")
    -- Not type_keys, which fails when an error is shown meanwhile, and some turns end with one.
    child.api.nvim_input(keys:find("<Esc>") and keys or keys .. "<CR>")
    wait_for(text, function()
      return shown():find(text, 1, true) ~= nil
    end)
  end

  it("is a lesson of at most 150 lines", function()
    eq(#vim.fn.readfile(root .. "/examples/chat.lua") <= 150, true)
  end)

  it("shows a turn as it goes, and what the agent did is on disk", function()
    prompt("hello<CR><Esc>", "That was the tour; ask again for another line.")
    wait_for("end of the turn", is_ready)
    eq(
      vim.trim(shown()),
      vim.trim([[
❯ hello

A file and a command will show it all.

Hello! I keep a list of visits in hermes-demo.md. 

● Write this visit down
● Count the lines

● Read hermes-demo.md

● Edit hermes-demo.md
@@ -0,0 +1,3 @@
+# Visits of the demo agent
+
+- visit 1

● wc -l hermes-demo.md

3 hermes-demo.md


wc ended with status 0 and printed "3 hermes-demo.md". That was the tour; ask again for another line.
]])
    )
    local options = {
      "Reject  [reject once]",
      "Allow  [allow once]",
      "Allow for this session  [allow always]",
      "Allow this and more …  [rule]",
    }
    eq(child.lua_get("asked"), {
      { "demo asks: create hermes-demo.md (Edit hermes-demo.md)", options },
      { "demo asks: command: wc '-l' 'hermes-demo.md' (wc -l hermes-demo.md)", options },
    })
    eq(vim.fn.readfile(dir .. "/hermes-demo.md"), { "# Visits of the demo agent", "", "- visit 1" })
    eq(child.cmd_capture("messages"), "")
  end)

  it("edits a loaded buffer in place, unsaved changes included", function()
    vim.fn.writefile({ "one", "two" }, dir .. "/a.txt")
    in_mode("i")
    child.cmd("stopinsert")
    in_mode("n")
    child.cmd("vsplit a.txt")
    child.api.nvim_buf_set_lines(0, 1, 2, false, { "TWO" })
    child.cmd("wincmd l | startinsert")
    prompt("/edit a.txt<CR><Esc>", "● Edit a.txt")
    wait_for("end of the turn", is_ready)
    eq(vim.fn.readfile(dir .. "/a.txt"), { "one", "TWO", "- visit 1" })
    eq(child.fn.getbufline("a.txt", 1, "$"), { "one", "TWO", "- visit 1" })
    eq(child.fn.getbufvar("a.txt", "&modified"), 0)
  end)

  it("cancels with <C-c> and continues afterwards", function()
    prompt("/slow 1000", "1 2 ")
    child.type_keys("<C-c>")
    wait_for("cancelled", function()
      return shown():find("\ncancelled\n", 1, true) ~= nil
    end)
    prompt("/say still here", "\nstill here")
  end)

  it("keeps what is being typed while text streams in above", function()
    prompt("/slow 5", "1 ")
    child.type_keys("next")
    wait_for("end of the turn", is_ready)
    eq(shown():match("[^\n]*$"), "next")
  end)

  it("takes several lines that are pasted", function()
    wait_for("session", is_ready)
    child.api.nvim_paste("/say one\ntwo", true, -1)
    child.api.nvim_input("<CR>")
    wait_for("the answer", function()
      return shown():find("❯ /say one\ntwo\n\none\ntwo", 1, true)
    end)
  end)

  it("does not refuse :qa", function()
    child.type_keys("half a prompt<Esc>")
    pcall(child.cmd, "qa")
    local gone = vim.wait(60000, function()
      return not pcall(child.lua_get, "1")
    end, 20)
    pcall(child.stop)
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) }) -- for what comes after each
    eq(gone, true)
  end)

  for what, kill in pairs({
    agent = "/crash<CR>",
    host = [[<C-o>:lua for _, c in ipairs(vim.api.nvim_list_chans()) do if c.argv and c.argv[2] == "host" then vim.uv.kill(vim.fn.jobpid(c.id), "sigkill") end end<CR>]],
  }) do
    it("says that the " .. what .. " died, and keeps the next prompt", function()
      prompt(what == "host" and "/slow 1000" or "/say x", what == "host" and "1 2 " or "\nx")
      child.api.nvim_input((kill:gsub("<C%-o>", "<Esc>")) .. (what == "host" and "i" or ""))
      wait_for("word of it", function()
        return shown():find("\nthe agent has stopped: ", 1, true)
      end)
      child.api.nvim_input("do not lose this<CR>")
      vim.uv.sleep(200)
      eq(shown():match("[^\n]*$"), "do not lose this")
      eq(select(2, shown():gsub("the agent has stopped: ", "")), 1)
      eq(status(), "")
    end)
  end

  it("closes its session with its buffer, and then the agent", function()
    prompt("/slow 1000", "1 ")
    child.cmd("HermesChat")
    wait_for("second session", function()
      return child.lua_get("vim.tbl_count(require('hermes').state().sessions)") == 2
    end)
    child.cmd("stopinsert | bwipeout!")
    wait_for("one session", function()
      return child.lua_get("vim.tbl_count(require('hermes').state().sessions)") == 1
    end)
    eq(child.lua_get("next(require('hermes').state().agents)"), "demo")
    child.cmd("bwipeout!")
    wait_for("no agent", function()
      return child.lua_get("next(require('hermes').state().agents) == nil")
    end)
    eq(vim.trim(child.cmd_capture("messages")), "")
  end)

  it("says why a turn failed", function()
    prompt("/fail", "failed as asked")
    prompt("/crash", "exited with status 3")
  end)

  it("closes with q, also in the middle of a turn", function()
    prompt("/slow 1000", "1 ")
    child.type_keys("<Esc>q")
    eq(child.lua_get("#vim.api.nvim_list_wins()"), 1)
    vim.uv.sleep(300)
    eq(child.cmd_capture("messages"), "")
  end)
end)
