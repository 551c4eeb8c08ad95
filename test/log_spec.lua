local log = require("hermes.core.log")
local eq = MiniTest.expect.equality

describe("the log", function()
  local path, builtin

  before_each(function()
    path = vim.fn.tempname()
    builtin = log.path
    log.path = function()
      return path
    end
  end)
  after_each(function()
    log.path = builtin
    require("hermes.core.config").reset()
  end)

  local function lines(aside)
    local file = aside and ("%s.%d"):format(path, aside) or path
    return vim.uv.fs_stat(file) and #vim.fn.readfile(file) or nil
  end

  it("of a spec is not that of the user, and neither are other files", function()
    eq(vim.startswith(builtin(), vim.env.HOME), false)
    for _, what in ipairs({ "state", "data", "cache", "config" }) do
      eq({ what, vim.startswith(vim.fn.stdpath(what), vim.env.HOME) }, { what, false })
    end
  end)

  it("is set aside at its size, and a few of those are kept", function()
    for keep, want in pairs({ [0] = { 1 }, [1] = { 1, 2 }, [2] = { 1, 2, 2 } }) do
      path = vim.fn.tempname()
      -- A line has 31 bytes.
      require("hermes.core.config").set({ log = { max_size = 60, keep = keep } })
      for i = 1, 9 do
        log.write(vim.log.levels.ERROR, ("%03d"):format(i))
      end
      eq({ keep, lines(), lines(1), lines(2), lines(3) }, { keep, unpack(want) })
    end
  end)

  it("only grows when it has no size", function()
    require("hermes.core.config").set({ log = { max_size = 0 } })
    for _ = 1, 100 do
      log.write(vim.log.levels.ERROR, "x")
    end
    eq({ lines(), lines(1) }, { 100, nil })
  end)

  it("takes sizes and counts, nothing else", function()
    for _, bad in ipairs({ { max_size = -1 }, { keep = 1.5 }, { max_size = "5MB" } }) do
      eq(pcall(require("hermes.core.config").set, { log = bad }), false)
    end
  end)
end)
