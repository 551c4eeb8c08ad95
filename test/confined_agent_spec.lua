-- A confined agent prepares a project, and then the user does what is harmless there: completes,
-- names files, opens, rejects, accepts, restores, writes and quits. Nothing outside of the project
-- may change, no program of the agent's choice may run outside of its sandbox, and nothing outside
-- may be sent to it. Needs bin/hermes (make build), Linux with Landlock, and git.

local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))
local eq = MiniTest.expect.equality

-- What the agent does in the project, by the shell. $A is the folder with the canaries: `run` is a
-- program that leaves a mark there, unless the sandbox prevents that; `key` and `rc` are texts.
-- `is` proves that it is done. `later` runs when the user has seen the completion. The test binds
-- the `sockets` for the agent, whose sandbox may not let it. `refused` says that the sandbox does
-- not let it do this at all. `races` says that the agent goes on with it.
---@class hermes.test.Preparation
---@field [1] string
---@field [2] string
---@field is? string
---@field later? string
---@field sockets? string[]
---@field refused? boolean
---@field races? boolean

---@type hermes.test.Preparation[]
local preparations = {
  -- Links.
  { "a link in the place of a file", "ln -sf $A/key notes.txt", is = "test -L notes.txt" },
  { "a link in the place of an open file", "ln -sf $A/rc a.txt", is = "test -L a.txt" },
  {
    "a link to a file of the same text",
    "cp $A/rc a.txt; ln -sf $A/rc a.txt",
    is = "test -L a.txt",
  },
  {
    "a link to nothing",
    "ln -sf $A/none a.txt; ln -sf $A/none b.txt",
    is = "test -L a.txt -a ! -e a.txt",
  },
  {
    "a link in the place of an open file's folder",
    "rm -rf sub; ln -s $A/folder sub",
    is = "test -L sub",
  },
  {
    "a link to the home folder",
    "rm -rf sub; ln -s $HOME sub; ln -s $HOME home",
    is = "test -f sub/.bashrc -a -f home/.bashrc",
  },
  {
    "links of links",
    "ln -s $A l1; ln -s l1/key l2.txt; ln -s l2.txt l3.txt",
    is = "test -s l3.txt -a -L l3.txt",
  },
  {
    "a link with dots",
    "ln -s ../../away/key up.txt; ln -s sub/../../../away/rc dots.txt",
    is = "test -s up.txt -a -s dots.txt",
  },
  {
    "a link to itself",
    "rm a.txt; ln -s a.txt a.txt; ln -s loop loop",
    is = "test -L a.txt -a ! -e a.txt",
  },
  { "a hard link", "ln -f $A/key hard.txt; ln -f $A/rc a.txt", refused = true },
  {
    "links in the place of ignore files",
    "ln -sf $A/key .gitignore; ln -sf $A/key sub/.gitignore",
    is = "test -L .gitignore -a -L sub/.gitignore",
  },
  {
    "a link through /proc",
    "ln -sf /proc/self/environ notes.txt; ln -sf /proc/self/cwd/a cwd.txt",
    is = "test -L notes.txt -a -L cwd.txt",
  },
  -- Git.
  { "core.fsmonitor", "git config core.fsmonitor $A/run", is = "grep -q fsmonitor .git/config" },
  {
    "a partial clone whose objects are missing",
    "T=$(git rev-parse HEAD:sub); git sparse-checkout init --cone --sparse-index;"
      .. " git sparse-checkout set other; rm -f .git/objects/$(echo $T | cut -c1-2)/*;"
      .. " git config remote.origin.url .; git config remote.origin.promisor true;"
      .. " git config remote.origin.uploadpack $A/run; git config core.repositoryformatversion 1;"
      .. " git config extensions.partialClone origin",
    is = "grep -q promisor .git/config && grep -qa sdir .git/index",
  },
  {
    "include.path",
    "printf '[core]\\nfsmonitor = %s\\n' $A/run > evil; git config include.path ../evil",
    is = "grep -q evil .git/config",
  },
  {
    "an include of a device",
    "printf '[include]\\npath = /dev/zero\\n[core]\\nexcludesFile = /dev/zero\\n' >> .git/config",
    is = "grep -q /dev/zero .git/config",
  },
  {
    "hooks",
    "for h in post-index-change pre-commit post-checkout; do cp $A/run .git/hooks/$h; done",
    is = "test -x .git/hooks/post-index-change",
  },
  {
    "core.hooksPath",
    "git config core.hooksPath $A; ln -s $A/run post-index-change",
    is = "grep -q hooksPath .git/config",
  },
  {
    "filters and drivers of attributes",
    "printf '* filter=x diff=x merge=x\\n' > .gitattributes; for k in filter.x.clean"
      .. " filter.x.smudge filter.x.process diff.x.textconv diff.x.command merge.x.driver;"
      .. " do git config $k $A/run; done",
    is = "grep -q smudge .git/config",
  },
  {
    "alternates",
    "mkdir -p .git/objects/info; echo $A > .git/objects/info/alternates",
    is = "test -s .git/objects/info/alternates",
  },
  {
    "a .git that leads elsewhere",
    'rm -rf .git; echo "gitdir: $A/repo" > .git',
    is = "test -f .git",
  },
  {
    "a common folder elsewhere",
    "echo $A/repo > .git/commondir; echo $A/repo > .git/gitdir",
    is = "test -s .git/commondir",
  },
  {
    "a work tree elsewhere",
    "git config core.worktree $A; git config core.excludesFile $A/key",
    is = "grep -q worktree .git/config",
  },
  {
    "programs of git",
    "for k in core.pager core.editor core.sshCommand core.askPass gpg.program credential.helper"
      .. " core.gitProxy diff.external pager.ls-files; do git config $k $A/run; done;"
      .. ' git config alias.ls-files "!$A/run"',
    is = "grep -q ls-files .git/config",
  },
  {
    "a bare repository",
    "mkdir bare; cp -r .git/* bare; git -C bare config core.fsmonitor $A/run",
    is = "grep -q fsmonitor bare/config",
  },
  -- Other kinds of files.
  { "a pipe in the place of an open file", "rm a.txt; mkfifo a.txt", is = "test -p a.txt" },
  {
    "a pipe in the place of a file",
    "rm b.txt; mkfifo b.txt; mkfifo pipe.png",
    is = "test -p b.txt",
  },
  {
    "pipes in the place of configuration",
    "for f in .hermes.json .git/info/exclude; do rm -f $f; mkfifo $f; done;"
      .. " rm .git/config .git/index; mkfifo .git/config .git/index",
    is = "test -p .hermes.json -a -p .git/config",
  },
  {
    "a folder in the place of a file",
    "rm a.txt b.txt; mkdir a.txt b.txt; echo x > b.txt/in",
    is = "test -d a.txt -a -f b.txt/in",
  },
  {
    "a sparse file in the place of a file",
    "truncate -s 3G b.txt",
    is = "find b.txt -size +2G | grep -q .",
  },
  { "a sparse file", "truncate -s 3G big.txt", is = "test -s big.txt" },
  {
    "a sparse file in the place of an open one",
    "truncate -s 3G a.txt",
    is = "find a.txt -size +2G | grep -q .",
  },
  {
    "a socket in the place of an open file",
    "rm a.txt b.txt",
    sockets = { "a.txt", "b.txt" },
    is = "test -S a.txt -a -S b.txt",
  },
  {
    "a folder that is swapped for a link and back",
    "mv sub real; ln -s $A/folder link; (n=0; while [ $n -lt 2000 ]; do n=$((n+1));"
      .. " ln -sfn real sub; ln -sfn link sub; done) >/dev/null 2>&1 &",
    races = true,
    is = "test -d real -a -L link",
  },
  {
    "a file that grows while it is read",
    "(n=0; while [ $n -lt 2000 ]; do n=$((n+1)); echo more >> a.txt; echo more >> b.txt; done)"
      .. " >/dev/null 2>&1 &",
    races = true,
    is = "test $(wc -l < a.txt) -gt 10",
  },
  {
    "files that appear after the completion",
    "touch late.txt",
    later = "ln -sf $A/key late.txt; ln -sf $A/key notes.txt; rm -rf sub; ln -s $A/folder sub",
    is = "test -f late.txt",
  },
  {
    "a mount of its own",
    "unshare -Um mount --bind $A/folder sub || exit 1",
    refused = true,
  },
  {
    "links into another process",
    "sleep 60 >/dev/null 2>&1 & ln -sf /proc/$!/root$A/key notes.txt;"
      .. " ln -s /proc/$!/cwd/a.txt up.txt",
    is = "test -L notes.txt -a -L up.txt",
  },
  {
    "long and deep names",
    "n=$(printf '%0200d' 0); touch $n.txt; d=.; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;"
      .. " do d=$d/$n; mkdir $d || break; done; touch $d/x; ln -s $A/key $d/key; true",
    is = "find . -path '*/x' | wc -c | awk '{ exit $1 < 2000 }'",
  },
  -- What editors obey.
  {
    "a style that never answers",
    "mkfifo .editorconfig sub/.editorconfig",
    is = "test -p .editorconfig",
  },
  {
    "modelines",
    "for f in a.txt b.txt sub/c.txt; do"
      .. " printf '\\nvim: set fde=system(\"%s\") fdm=expr makeprg=%s nosuchoption :\\n'"
      .. " $A/run $A/run >> $f;"
      .. " done",
    is = "grep -q fde a.txt",
  },
  {
    "start-up files",
    "for f in .nvim.lua .exrc .nvimrc sub/.nvim.lua; do echo \"call system('$A/run')\" > $f; done;"
      .. " printf 'root = true\\n[*]\\ncharset = utf-16le\\n' > .editorconfig",
    is = "test -f .exrc -a -f .editorconfig",
  },
  -- Names.
  {
    "names that act",
    "touch -- '+call system(run)' '--cmd' 'a|!run' '`run`' '$(run)' '*'"
      .. " '?.txt' '[a].txt' '%' '#' '~'"
      .. " 'a (@key' 'x(@key' '<CR>:q!' '-' ' '; mkdir -p 'term:'; touch 'term:/x';"
      .. " touch \"$(printf 'new\\nline')\""
      .. " \"$(printf 'esc\\033]52;c;eA==\\007')\" \"$(printf '\\377')\"",
    is = "test -f '$(run)' -a -f 'x(@key'",
  },
}

describe("what a confined agent has prepared", function()
  if vim.fn.executable("git") == 0 or vim.uv.os_uname().sysname ~= "Linux" then
    return
  end
  local child = MiniTest.new_child_neovim()
  local base, before
  local clean = false -- whether the folders are as start() has made them

  ---@param path string
  ---@param text string
  ---@param mode? integer
  local function write(path, text, mode)
    vim.fn.mkdir(vim.fs.dirname(path), "p")
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
    vim.uv.fs_chmod(path, mode or 420)
  end

  --- Everything outside of the projects.
  local function outside()
    local found = {}
    for _, folder in ipairs({ "/away", "/home", "/xdg/config", "/xdg/data" }) do
      for name, kind in vim.fs.dir(base .. folder, { depth = 20 }) do
        local path = base .. folder .. "/" .. name
        local stat = assert(vim.uv.fs_lstat(path))
        local what = kind
        if kind == "file" then
          local file = assert(io.open(path, "rb"))
          what = file:read("*a")
          file:close()
        elseif kind == "link" then
          what = vim.uv.fs_readlink(path)
        end
        found[path] = ("%o %d %s"):format(stat.mode, stat.nlink, what)
      end
    end
    return found
  end

  local function wire()
    local file = io.open(base .. "/tmp/wire", "rb")
    local text = file and file:read("*a") or ""
    if file then
      file:close()
    end
    return text
  end

  local function start()
    base = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
    local away, home = base .. "/away", base .. "/home"
    write(away .. "/key", "CANARY key\n", 384)
    write(away .. "/rc", "# CANARY rc\n")
    write(away .. "/folder/c.txt", "CANARY folder\n")
    write(away .. "/folder/d.txt", "CANARY folder\n")
    write(away .. "/run", ('#!/bin/sh\ntouch "%s/ran"\n'):format(away), 493)
    write(home .. "/.bashrc", "# CANARY bashrc\n")
    write(home .. "/.ssh/id_rsa", "CANARY id\n", 384)
    write(home .. "/c.txt", "CANARY home\n")
    write(home .. "/d.txt", "CANARY home\n")
    local template = base .. "/work/template"
    for name, text in pairs({
      ["a.txt"] = "one\ntwo\n",
      ["b.txt"] = "one\ntwo\n",
      ["notes.txt"] = "notes\n",
      ["sub/c.txt"] = "one\ntwo\n",
      ["sub/d.txt"] = "one\ntwo\n",
      [".gitignore"] = "*.log\n",
      ["sub/.gitignore"] = "*.tmp\n",
    }) do
      write(template .. "/" .. name, text)
    end
    vim.fn.mkdir(base .. "/tmp", "p")
    local git = { "git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", template }
    for _, args in ipairs({ { "init", "-q" }, { "add", "." }, { "commit", "-qm", "a" } }) do
      local out = vim.system(vim.list_extend(vim.list_slice(git), args), { text = true }):wait()
      eq({ out.code, out.stderr }, { 0, "" })
    end
    vim.system({ "git", "clone", "-q", "--bare", template, away .. "/repo" }):wait()
    local env = {
      "HOME=" .. home,
      "TMPDIR=" .. base .. "/tmp",
      "XDG_STATE_HOME=" .. base .. "/xdg/state",
      "XDG_CONFIG_HOME=" .. base .. "/xdg/config",
      "XDG_DATA_HOME=" .. base .. "/xdg/data",
      "XDG_CACHE_HOME=" .. base .. "/xdg/cache",
      "HERMES_TEST_SECRET=CANARY env",
    }
    for _, pair in ipairs(env) do
      local name, value = pair:match("^([^=]+)=(.*)$")
      vim.env[name] = value
    end
    before = outside()
  end

  -- One for each preparation: reviews of earlier projects would take part in everything.
  local function open_editor()
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.o.exrc, child.o.modeline, child.o.swapfile = true, true, false
    child.lua(
      [[local root, base, program = ...
      vim.cmd.runtime("plugin/hermes.lua")
      _G.hermes = require("hermes")
      hermes.setup({
        sandbox = { write = { base .. "/work" } },
        agents = { inside = {
          command = program,
          args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
          env = {
            A = base .. "/away",
            HOME = vim.env.HOME,
            HERMES_TEST_AGENT = vim.json.encode({
              takes = { "embeddedContext", "image" },
              wire = base .. "/tmp/wire",
            }),
          },
        } },
      })
      _G.ended, _G.trouble = 0, {}
      hermes.on("TurnEnded", function() ended = ended + 1 end)
      _G.said = ""
      hermes.on("AgentTextMessage", function(data) said = said .. data.text end)
      _G.wait = function(what, is)
        assert(vim.wait(60000, is, 5), "no " .. what .. ": " .. table.concat(trouble, "; "))
      end
      --- Calls a function and waits for its result.
      _G.await = function(fn, ...)
        local args, got = { ... }, nil
        args[#args + 1] = { on_done = function(err, result)
          got = { err and err.message, result }
        end }
        fn(unpack(args))
        wait("answer", function() return got ~= nil end)
        return got[2], got[1]
      end
      _G.turn = function(script)
        local before = ended
        hermes.prompt(session, vim.json.encode(script))
        wait("end of the turn", function() return ended > before end)
      end
      _G.send = function(content)
        local before = ended
        hermes.prompt(session, vim.list_extend({ "see" }, content))
        wait("end of the turn", function() return ended > before end)
      end
      --- What is unsaved in each buffer.
      _G.diffs = function()
        local blocks = {}
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          table.insert(blocks, (hermes.context.diff(buf)))
        end
        return blocks
      end
      _G.begin = function(dir)
        vim.cmd.cd(vim.fn.fnameescape(dir))
        for _, name in ipairs({ "sub/c.txt", "a.txt" }) do
          vim.cmd("silent edit " .. name)
        end
        for _, name in ipairs({ "b.txt", "notes.txt", "sub/d.txt", "up.txt", "pipe.png" }) do
          vim.fn.bufadd(dir .. "/" .. name) -- known, and never loaded
        end
        require("hermes.chat").open({ agent = "inside", cwd = dir, new = true })
        wait("session", function() return vim.b.hermes_session ~= nil end)
        vim.cmd.stopinsert()
        _G.session, _G.prompt = vim.b.hermes_session, vim.api.nvim_get_current_buf()
      end]],
      { root, base, vim.v.progpath }
    )
  end

  after_each(function()
    child.stop()
  end)

  local function quit()
    child.lua_notify("vim.cmd('qall!')")
    eq(vim.fn.jobwait({ child.job.id }, 60000)[1], 0)
    child.stop()
  end

  --- What the user does, one after the other.
  ---@type { [1]: string, [2]: string, races?: boolean }[]
  local acts = {
    {
      "completes",
      [[vim.api.nvim_set_current_buf(prompt)
      local got = await(hermes.list_files, dir)
      local lead = { kind = "file", text = "", col = 0 }
      require("hermes.complete").items(lead, session, function(items)
        _G.offered = vim.tbl_map(function(item) return item.word end, items)
      end)
      wait("completion", function() return offered ~= nil end)]],
    },
    {
      "names every file",
      [[local words = vim.list_extend({ "see" }, offered)
      for _, name in ipairs({ "a.txt", "notes.txt", "sub/c.txt", "home/.ssh/id_rsa",
        "../../away/key", "l1/key", "hard.txt",
        "x(@key", "sub/../../../away/key", "up.txt", "dots.txt" }) do
        words[#words + 1] = "@" .. name
        if not name:find("../..", 1, true) then -- which would name the file outside in full
          words[#words + 1] = "@" .. dir .. "/" .. name
        end
      end
      local before = ended
      vim.api.nvim_buf_set_lines(prompt, 0, -1, false, { table.concat(words, " ") })
      vim.api.nvim_set_current_win(vim.fn.bufwinid(prompt))
      vim.api.nvim_feedkeys(vim.keycode("<CR>"), "xt", false)
      wait("end of the turn", function() return ended > before end)]],
    },
    {
      "completes by key, and sends what stands there",
      [[for _, keys in ipairs({ "@<Tab>", "@a<Tab><Tab>", "@s<C-x><C-o>" }) do
        vim.api.nvim_set_current_win(vim.fn.bufwinid(prompt))
        vim.api.nvim_feedkeys(vim.keycode("cclook at " .. keys), "xt", false)
        vim.cmd.stopinsert()
        local before = ended
        vim.api.nvim_feedkeys(vim.keycode("<CR>"), "xt", false)
        wait("end of the turn", function() return ended > before end)
      end]],
    },
    {
      "completes the agent's commands, and sends one",
      [[local commands = {}
      for _, name in ipairs({ "@notes.txt", "look @sub/c.txt", "@" .. dir .. "/../../away/key",
        "a.txt", "<CR>:q!<CR>", "x|call system('run')|", "`run`", "$(run)", "new\nline", "-" }) do
        table.insert(commands,
          { name = name, description = "@notes.txt", input = { hint = "@" } })
      end
      turn({ { update = {
        sessionUpdate = "available_commands_update", availableCommands = commands } } })
      for _, keys in ipairs({ "/<Tab>", "/<Tab><Tab>", "/a<C-x><C-o>" }) do
        vim.api.nvim_set_current_win(vim.fn.bufwinid(prompt))
        vim.api.nvim_feedkeys(vim.keycode("cc" .. keys), "xt", false)
        vim.cmd.stopinsert()
        local before = ended
        vim.api.nvim_feedkeys(vim.keycode("<CR>"), "xt", false)
        wait("end of the turn", function() return ended > before end)
      end]],
    },
    {
      "gives files as context",
      [[local content = {}
      for _, name in ipairs({ "a.txt", "b.txt", "notes.txt", "sub/c.txt", "up.txt", "l2.txt",
        "pipe.png" }) do
        table.insert(content, (hermes.context.file(name)))
        table.insert(content, (hermes.context.image(name)))
      end
      send(content)]],
    },
    {
      "gives buffers as context",
      [[local content = diffs()
      for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.startswith(vim.api.nvim_buf_get_name(buf), dir .. "/") then
          table.insert(content, (hermes.context.buffer(buf)))
        end
      end
      send(content)]],
    },
    {
      "lets the agent write into buffers",
      [[turn({ { write = dir .. "/a.txt", content = "agent\n" },
        { write = dir .. "/sub/c.txt", content = "agent\n" } })]],
    },
    {
      "looks for changes",
      [[vim.cmd("silent! checktime")
      vim.api.nvim_exec_autocmds("FocusGained", {})
      vim.wait(200)
      turn({}) -- at whose end Hermes looks, too
      vim.wait(200)]],
    },
    {
      "writes what is open",
      [[for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        local is_file = vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= ""
        if is_file and vim.api.nvim_buf_is_loaded(buf) then
          vim.api.nvim_buf_call(buf, function()
            vim.api.nvim_buf_set_lines(buf, 0, 0, false, { "mine" })
            if vim.bo.readonly or require("hermes.doc.versions").state(buf) == "same" then
              pcall(vim.cmd, "silent write") -- Neovim asks about the others
            end
          end)
        end
      end]],
      races = true,
    },
    {
      "decides conflicts",
      [[for _, choice in ipairs({ "both", "theirs", "mine" }) do
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          local done
          require("hermes.doc.conflict").resolve(buf, choice, function() done = true end)
          vim.wait(60000, function() return done end, 5)
        end
      end]],
    },
    {
      "opens the lists",
      [[local files = await(hermes.review.files)
      vim.cmd("topleft new")
      for _, file in ipairs(files and files.files or {}) do
        hermes.review.open(file.path)
      end
      vim.cmd("silent! tabonly")]],
    },
    {
      "looks at differences",
      [[for _, name in ipairs({ "a.txt", "sub/c.txt", "b.txt" }) do
        hermes.review.open(dir .. "/" .. name)
        vim.cmd("silent! Hermes review diff")
        vim.cmd("silent! diffoff! | silent! tabonly")
      end
      send(diffs())
      await(hermes.review.quickfix)
      vim.cmd("silent! cfirst | silent! clast | silent! cclose")
      vim.cmd("silent! Hermes review hunks")
      vim.wait(200)
      vim.api.nvim_feedkeys(vim.keycode("<CR>"), "xt", false)]],
    },
    {
      "rejects",
      [[_G.points = await(hermes.review.checkpoints)
      await(hermes.review.reject, { session_id = session })]],
    },
    { "takes that back", [[await(function(opts) hermes.review.undo(nil, opts) end)]] },
    {
      "restores",
      [[for _, point in ipairs(points and points.checkpoints or {}) do
        if point.root == dir then
          await(function(opts)
            opts.everything = true
            hermes.review.restore(point, opts)
          end)
        end
      end]],
    },
    { "accepts", [[await(hermes.review.accept, { session_id = session })]] },
    {
      "leaves",
      [[for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.api.nvim_buf_is_valid(buf) then
          pcall(vim.api.nvim_buf_delete, buf, { force = true })
        end
      end
      vim.cmd("silent! only")]],
    },
  }

  --- On the next day, with another Neovim: what was changed after the decisions is under review, or
  --- is what the session of yesterday finds.
  local tomorrow = [[vim.cmd.cd(vim.fn.fnameescape(dir))
    await(function(opts)
      opts.open = true
      hermes.review.files(opts)
    end)
    for _, name in ipairs({ "sub/c.txt", "a.txt", "b.txt" }) do
      hermes.review.open(dir .. "/" .. name)
      vim.cmd("silent! Hermes review diff")
      vim.cmd("silent! diffoff! | silent! tabonly")
    end
    require("hermes.chat").open({ agent = "inside", cwd = dir, new = true })
    wait("session", function() return hermes.sessions()[1] ~= nil end) -- a diff may be in front
    vim.cmd.stopinsert()
    session = hermes.sessions()[1].sessionId
    turn({ { sh = "cd " .. dir .. "; for f in a.txt b.txt sub/c.txt;"
      .. " do [ ! -f $f ] || echo agent >> $f; done" } })
    await(hermes.review.reject, { session_id = session })
    await(function(opts) hermes.review.undo(nil, opts) end)
    await(hermes.review.accept, { session_id = session })]]

  --- What changed outside of the projects, and what of it was sent.
  ---@return string[]
  local function differences()
    local after, found = outside(), {}
    for path in pairs(vim.tbl_extend("keep", {}, before, after)) do
      if before[path] ~= after[path] then
        found[#found + 1] = path:sub(#base + 2)
      end
    end
    table.sort(found)
    return vim.list_extend(found, { (wire():match("CANARY %w+")) })
  end

  ---@param what string
  local function check(what)
    eq({ what, differences() }, { what, {} })
  end

  -- A check that cannot fail proves nothing.
  it("would be seen", function()
    start()
    open_editor()
    local dir = base .. "/work/control"
    vim.system({ "cp", "-r", base .. "/work/template", dir }):wait()
    child.lua("begin(...)", { dir })
    check("nothing has happened")
    child.lua("vim.system({ ... }):wait()", { base .. "/away/run" })
    eq(differences(), { "away/ran" })
    child.lua("vim.fn.writefile({ 'x' }, ...)", { base .. "/home/.bashrc" })
    eq(differences(), { "away/ran", "home/.bashrc" })
    child.lua(
      [[local before = ended
      hermes.prompt(session, { "see", (hermes.context.file(...)) })
      wait("end of the turn", function() return ended > before end)]],
      { base .. "/away/key" }
    )
    eq(differences(), { "away/ran", "home/.bashrc", "CANARY key" })
  end)

  -- Each Neovim meets every second preparation; while soaking each meets all.
  local first, step = vim.fn.has("nvim-0.12") + 1, 2
  if vim.env.HERMES_SOAK then
    first, step = 1, 1
  end
  for i = first, #preparations, step do
    local preparation = preparations[i]
    it("does nothing outside: " .. preparation[1], function()
      if not clean then
        start()
      end
      clean = false -- until the end: what one has changed is not told of the next one
      open_editor()
      local dir = ("%s/work/%d"):format(base, i)
      vim.system({ "cp", "-r", base .. "/work/template", dir }):wait()
      child.lua("begin(...)", { dir })
      child.lua(
        [[turn({ { sh = "cd " .. ... .. "; for f in a.txt b.txt sub/c.txt; do echo agent >> $f;"
        .. " done; echo new > new.txt; echo x > $A/direct; echo x > $HOME/direct" } })]],
        { dir }
      )
      child.lua(
        [[local dir, script = ...
        said = ""
        turn({ { sh = "cd " .. dir .. "; " .. script } })]],
        { dir, preparation[2] }
      )
      local said = child.lua_get("said")
      eq(
        { said, said:match("^ended %d+") },
        { said, preparation.refused and "ended 1" or "ended 0" }
      )
      for _, name in ipairs(preparation.sockets or {}) do
        local here, socket = vim.uv.cwd(), vim.uv.new_pipe(false)
        vim.uv.chdir(dir) -- a socket's whole path has 107 bytes at most
        assert(socket:bind("socket"))
        assert(vim.uv.fs_rename("socket", name)) -- closing it removes the name that it was bound to
        socket:close()
        vim.wait(60000, function()
          return not socket:is_active() and not vim.uv.fs_lstat("socket")
        end)
        vim.uv.chdir(here)
      end
      check("the agent itself")
      if not preparation.refused then
        local opts = { cwd = dir, env = { A = base .. "/away" } }
        local done = vim.wait(60000, function()
          return vim.system({ "sh", "-c", preparation.is }, opts):wait().code == 0
        end, 100)
        eq({ preparation.is, done }, { preparation.is, true })
      end
      for _, act in ipairs(acts) do
        if not (act.races and preparation.races) then
          child.lua("local dir = ...\n" .. act[2], { dir })
        end
        check("the user " .. act[1])
        if act[1] == "completes" and preparation.later then
          child.lua(
            "local dir, script = ...\n turn({ { sh = 'cd ' .. dir .. '; ' .. script } })",
            { dir, preparation.later }
          )
          check("the agent, later")
        end
      end
      quit()
      check("the user quits")
      if vim.env.HERMES_SOAK or (i - first) % (3 * step) == 0 then
        open_editor()
        child.lua("local dir = ...\n" .. tomorrow, { dir })
        check("the user has decided on the next day")
        quit()
        check("the user quits again")
      end
      clean = true
    end)
  end
end)
