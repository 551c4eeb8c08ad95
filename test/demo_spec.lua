-- What "make demo" and "make demo-agent" run, without a terminal. Needs bin/hermes (make build).

local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))
local eq = MiniTest.expect.equality

local patience = tonumber(vim.env.HERMES_PATIENCE) or 1

-- Runs the demo below a folder, in a temporary folder of its own.
local function run(folder, agent, env)
  local dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
  vim.fn.mkdir(dir, "p")
  local out = vim
    .system({ folder .. "/scripts/demo", agent }, {
      text = true,
      env = vim.tbl_extend("force", {
        PATH = vim.fs.dirname(vim.v.progpath) .. ":" .. vim.env.PATH, -- for this Neovim
        TMPDIR = dir,
        NVIM = "",
        HERMES_DEMO_LIMIT_MS = 60000 * patience,
      }, env or {}),
    })
    :wait(180000 * patience)
  return out, vim.fn.readdir(dir)
end

local demos = {
  demo = "That was the tour",
  hermes = "Done. Hello, world",
}

describe("the demo", function()
  for agent, said in pairs(demos) do
    it("of " .. agent .. " ends well, and leaves nothing in the temporary folder", function()
      if agent == "hermes" then
        local agents = { "go", "build", "-trimpath", "-o", "bin/", "./tools/hermes-agent" }
        local built = vim.system(agents, { cwd = root, text = true, env = { CGO_ENABLED = "0" } })
        eq(built:wait(300000 * patience).stderr, "")
      end
      local out, left = run(root, agent)
      local shown = out.stdout .. out.stderr
      eq({ out.code, left, out.code ~= 0 and shown or "" }, { 0, {}, "" })
      eq(shown:find(said, 1, true) ~= nil, true)
    end)
  end

  -- What stands in the place of bin/hermes when it is called as the host or as the agent.
  for fault, case in pairs({
    ["an agent that does not start"] = {
      agent = "echo no licence >&2; exit 3",
      says = "no licence",
    },
    ["an agent that ends in its turn"] = {
      agent = 'sed -u /session.prompt/q | "$real" "$@"; exit 3',
      says = "its turn failed: ",
    },
    ["an agent that does not answer"] = {
      agent = "exec sleep 60",
      limit = 2000,
      says = "after 2 s it still waits for the agent to start",
    },
    ["a host that does not start"] = { host = "exit 3", says = "host" },
  }) do
    it("of " .. fault .. " says so in its last line", function()
      local folder = vim.fn.tempname()
      vim.fn.mkdir(folder .. "/bin", "p")
      for _, name in ipairs({ "lua", "plugin", "scripts", ".cache" }) do
        assert(vim.uv.fs_symlink(root .. "/" .. name, folder .. "/" .. name))
      end
      local program = "#!/bin/sh\nreal=%s/bin/hermes\ncase $1 in demo-agent) %s;; host) %s;; esac\n"
      local real = 'exec "$real" "$@"'
      local file = folder .. "/bin/hermes"
      vim.fn.writefile(
        vim.split(program:format(root, case.agent or real, case.host or real), "\n"),
        file
      )
      vim.fn.setfperm(file, "rwxr-xr-x")
      local out, left = run(folder, "demo", { HERMES_DEMO_LIMIT_MS = case.limit })
      local last = vim.trim(out.stderr):match("[^\n]*$")
      eq({ out.code ~= 0, left }, { true, {} })
      local says = last:match("^The demo has failed: ") and last:find(case.says, 1, true)
      eq(says ~= nil or last, true)
    end)
  end
end)
