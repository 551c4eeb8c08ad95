-- What "make demo" runs, without a terminal. Needs bin/hermes (make build).

local root = vim.fs.dirname(vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2))))
local eq = MiniTest.expect.equality

describe("the demo", function()
  it("ends well, and leaves nothing in the temporary folder", function()
    local dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir, "p")
    local out = vim
      .system({ root .. "/scripts/demo" }, {
        text = true,
        env = {
          PATH = vim.fs.dirname(vim.v.progpath) .. ":" .. vim.env.PATH, -- for this Neovim
          TMPDIR = dir,
          NVIM = "",
        },
      })
      :wait(60000)
    eq({ out.code, vim.fn.readdir(dir) }, { 0, {} })
    eq((out.stdout .. out.stderr):find("That was the tour", 1, true) ~= nil, true)
  end)
end)
