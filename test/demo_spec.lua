-- What "make demo" and "make demo-agent" run, without a terminal. Needs bin/hermes (make build).

local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))
local eq = MiniTest.expect.equality

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
        eq(built:wait(300000).stderr, "")
      end
      local dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
      vim.fn.mkdir(dir, "p")
      local out = vim
        .system({ root .. "/scripts/demo", agent }, {
          text = true,
          env = {
            PATH = vim.fs.dirname(vim.v.progpath) .. ":" .. vim.env.PATH, -- for this Neovim
            TMPDIR = dir,
            NVIM = "",
          },
        })
        :wait(180000)
      local shown = out.stdout .. out.stderr
      eq({ out.code, vim.fn.readdir(dir), out.code ~= 0 and shown or "" }, { 0, {}, "" })
      eq(shown:find(said, 1, true) ~= nil, true)
    end)
  end
end)
