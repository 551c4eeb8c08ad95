-- Every line that docs/review.md and docs/shim.md tell the user to type, in a shell in a real
-- tmux. The home is not fresh: agents have been set up and used in it, journals of older shims lie
-- there, one of a project that is gone, and a Neovim with a review of another project is open.
-- Needs bin/hermes (make build) and tmux.

local eq = MiniTest.expect.equality
local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local tmuxes = dofile(here .. "/tmux.lua")
local read, write, wait_for = tmuxes.read, tmuxes.write, tmuxes.wait_for

local server = tmuxes.new("docs") ---@type hermes.test.Tmux
if not server then
  return it("the lines of the guides", tmuxes.skip)
end
local dir = server.dir
local root = vim.fs.dirname(here)
local agents = (vim.env.HERMES_AGENTS or "") .. "/node_modules/.bin"

-- Changes a file, if it may.
local agent = [[#!/bin/sh
echo claude >> src/list.go || echo "not allowed"
]]

-- What is in the home, and stays as it is. Some of it is of older versions and of programs that are
-- gone.
local home = {
  [".gitconfig"] = "[user]\n\tname = t\n[core]\n\texcludesFile = ~/.ignored\n",
  [".ignored"] = "*.swp\n",
  [".claude.json"] = '{"numStartups": 40, "projects": {"/gone": {"allowedTools": []}}}\n',
  [".claude/settings.json"] = vim.json.encode({
    model = "opus",
    hooks = {
      PostToolUse = {
        {
          matcher = "Edit|Write",
          hooks = { { type = "command", command = "/gone/hermes review tell hook" } },
        },
      },
    },
  }) .. "\n",
  [".codex/config.toml"] = [[
model = "gpt-5.1-codex"
approval_policy = "on-failure"
sandbox_mode = "workspace-write"
no_such_setting = true
[mcp_servers.gone]
command = "/gone/server"
[projects."/gone"]
trust_level = "trusted"
]],
  [".codex/history.jsonl"] = '{"session_id":"gone","ts":1,"text":"hello"}\n',
  [".codex/app-server-control/app-server-control.sock"] = "", -- of a daemon that was killed
}

local first = "package src\n"
local old = first .. "old\n"

---@class hermes.test.Line
---@field says? string[] what the screen shows
---@field status? integer 0 if it is not here
---@field has? string what src/list.go is afterwards
---@field before? fun(project: string)
---@field editor? boolean a Neovim has the project, in which this many files are then pending
---@field pending? integer
---@field not_here? string why the line is not run

---@param project string
local function with_patch(project)
  local hermes = root .. "/bin/hermes"
  local how = { cwd = project, env = { XDG_STATE_HOME = dir .. "/state" } }
  local make = { hermes, "shim", "--review", "changes.patch", "--", "sh", "-c" }
  make[#make + 1] = "echo two >> src/list.go"
  eq(vim.system(make, how):wait().code, 0)
end

local lines = {
  ["docs/review.md"] = {
    ['hermes run --approve all --review changes.patch claude "make the tests pass"'] = {
      not_here = "needs claude and a model; test/e2e/review_test.go runs it with both",
    },
    ["test -s changes.patch && cat changes.patch"] = { before = with_patch, says = { "%+two" } },
    ["git apply -R changes.patch"] = { before = with_patch, has = old },
    ["hermes review"] = { says = { "src/list.go" } },
    ["hermes review show"] = { says = { "%+old" } },
    ["hermes review show src/list.go | less"] = { says = { "%+old" } },
    ["hermes review checkpoints"] = {},
    ["hermes review projects"] = { says = { "/other", "/%d+" } },
    ["hermes review accept src/list.go"] = { has = old },
    ["hermes review reject --all"] = { has = first },
    ["hermes review tell --pre write src/list.go"] = { editor = true, pending = 1 },
    ["hermes review tell write src/list.go"] = {
      editor = true,
      before = function(project)
        write(project .. "/src/list.go", old .. "told\n")
      end,
      pending = 1,
    },
    ["hermes review tell rename old.go new.go"] = {
      editor = true,
      before = function(project)
        vim.fn.rename(project .. "/old.go", project .. "/new.go")
      end,
      pending = 3,
    },
    ["hermes review tell remove old.go"] = {
      editor = true,
      before = function(project)
        vim.fn.delete(project .. "/old.go")
      end,
      pending = 2,
    },
  },
  ["docs/claude.md"] = {}, -- everything in it is typed in Neovim; test/claude_spec.lua does
  ["docs/codex.md"] = {
    ["hermes codex-agent --check"] = {
      not_here = not vim.env.HERMES_AGENTS and "needs codex" or nil,
      says = { "codex%-cli", "login: needed" },
    },
    ['hermes run codex "explain this project"'] = {
      not_here = "needs codex and a model; test/e2e/codex_test.go runs both",
    },
  },
  ["docs/shim.md"] = {
    ["hermes shim -- claude"] = { has = old .. "claude\n" },
    ["hermes shim --gate -- claude"] = { says = { "not allowed" }, has = old },
    ["hermes shim --gate --allow src --deny src/secrets -- claude"] = {
      has = old .. "claude\n",
    },
  },
} ---@type table<string, table<string, hermes.test.Line>>

---@param page string
---@return string[] the lines of its shell blocks, without comments
local function typed(page)
  local found, inside = {}, false
  for line in vim.gsplit(read(root .. "/" .. page), "\n") do
    if line:match("^%s*```") then
      inside = not inside and line:match("^%s*```(%w*)$") == "sh"
    elseif inside and not line:match("^%s*#") and line:match("%S") then
      found[#found + 1] = vim.trim((line:gsub("%s+#.*$", "")))
    end
  end
  return found
end

---@param code string
---@return any
local function lua(code, ...)
  return server:lua(code, ...)
end

---@param project string
---@return integer files with pending changes in it
local function pending(project)
  return lua(
    [[local project = ...
    local result
    require("hermes").review.files({ open = true, on_done = function(err, r)
      result = r and #vim.tbl_filter(function(file)
        return vim.startswith(file.path, project .. "/")
      end, r.files) or tostring(err)
    end })
    vim.wait(60000, function() return result end, 10)
    return result]],
    project
  )
end

local count = 0

---@return string project that an older shim has changed
local function new_project()
  count = count + 1
  local project = ("%s/%d"):format(dir, count)
  vim.fn.mkdir(project .. "/src", "p")
  write(project .. "/src/list.go", first)
  write(project .. "/old.go", "package old\n")
  eq(vim.system({ "git", "init", "-q" }, { cwd = project }):wait().code, 0)
  local how = { cwd = project, env = { XDG_STATE_HOME = dir .. "/state" } }
  local run = { root .. "/bin/hermes", "shim", "--agent", "older", "--", "sh", "-c" }
  run[#run + 1] = "echo old >> src/list.go"
  eq(vim.system(run, how):wait().code, 0)
  return project
end

---@param line string
---@param expects hermes.test.Line
local function runs(line, expects)
  local project = new_project()
  if expects.editor then
    lua("vim.cmd.edit(...)", project .. "/src/list.go")
    wait_for("the older changes", function()
      return pending(project) == 1
    end)
  end
  if expects.before then
    expects.before(project)
  end
  local how = { "new-window", "-d", "-P", "-F", "#{pane_id}", "-c", project }
  vim.list_extend(how, {
    "env",
    "XDG_STATE_HOME=" .. dir .. "/state",
    "HOME=" .. dir .. "/home",
    ("PATH=%s/bin:%s/bin:%s:%s"):format(dir, root, vim.env.PATH, agents),
    "LESS=FX",
    "sh",
  })
  local pane = server:run(unpack(how))
  for _, text in ipairs({ line, 'echo "status <$?>"' }) do
    server:run("send-keys", "-t", pane, "-l", text)
    server:run("send-keys", "-t", pane, "Enter")
  end
  local function screen()
    return server:screen(pane)
  end
  wait_for("end of " .. line, function()
    return screen():find("status <%d+>")
  end, screen)
  local shown = screen()
  eq({ shown, tonumber(shown:match("status <(%d+)>")) }, { shown, expects.status or 0 })
  for _, pattern in ipairs(expects.says or {}) do
    eq({ shown, shown:find(pattern) ~= nil }, { shown, true })
  end
  if expects.has then
    eq(read(project .. "/src/list.go"), expects.has)
  end
  if expects.pending then
    wait_for(expects.pending .. " pending files", function()
      return pending(project) == expects.pending
    end, function()
      return pending(project)
    end)
  end
  for name, text in pairs(home) do
    eq({ name, read(dir .. "/home/" .. name) }, { name, text })
  end
  server:run("kill-pane", "-t", pane)
end

describe("the lines of the guides", function()
  setup(function()
    vim.fn.mkdir(dir .. "/bin", "p")
    for name, text in pairs(home) do
      vim.fn.mkdir(vim.fs.dirname(dir .. "/home/" .. name), "p")
      write(dir .. "/home/" .. name, text)
    end
    vim.fn.delete(new_project(), "rf")
    vim.fn.mkdir(dir .. "/other/.git", "p")
    write(dir .. "/bin/claude", agent, 493)
    write(dir .. "/other/a", "one\n")
    server:neovim("one", dir .. "/other/a")
    lua([[vim.cmd.runtime("plugin/hermes.lua") vim.o.swapfile = false require("hermes").setup({})]])
    eq(pending(dir), 0)
  end)

  teardown(function()
    server:run("kill-server")
  end)

  for page, expected in pairs(lines) do
    it("are all known, of " .. page, function()
      local all = {}
      for _, line in ipairs(typed(page)) do
        all[line] = true
        eq({ line, expected[line] ~= nil }, { line, true })
      end
      for line in pairs(expected) do
        eq({ line, all[line] }, { line, true })
      end
    end)
    for _, line in ipairs(typed(page)) do
      local expects = expected[line]
      if expects and not expects.not_here then
        it("work: " .. line, function()
          runs(line, expects)
        end)
      end
    end
  end
end)
