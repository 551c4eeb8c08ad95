-- Programs of this machine that answer at once, and those that do not.

local exec = require("hermes.core.exec")
local eq = MiniTest.expect.equality

describe("a program of this machine", function()
  local patience = exec.patience_ms
  after_each(function()
    exec.patience_ms = patience
  end)

  ---@param how "start"|"wait"
  ---@param argv string[]
  ---@param busy? integer ms in which Neovim hears nothing
  ---@return hermes.Ran
  local function ran(how, argv, busy)
    if how == "wait" then
      return exec.wait(argv)
    end
    local result
    exec.start(argv, nil, function(out)
      result = out
    end)
    vim.uv.sleep(busy or 0)
    vim.wait(60000, function()
      return result ~= nil
    end, 5)
    return result
  end

  for _, how in ipairs({ "start", "wait" }) do
    it("says how it went, when Hermes would " .. how, function()
      local script = "printf out; printf why >&2; exit 3"
      eq(ran(how, { "sh", "-c", script }), { code = 3, stdout = "out", stderr = "why" })
      eq(ran(how, { "/no/such/program" }).code, 127)
      eq(ran(how, { "sh", "-c", "kill -9 $$" }).stderr, "it was ended by signal 9")
    end)

    it("that does not answer is ended, when Hermes would " .. how, function()
      exec.patience_ms = 100
      local out = ran(how, { "sleep", "600" })
      eq({ out.code ~= 0, out.stderr }, { true, "it gave no answer within 0.1 s" })
    end)
  end

  it("that answers while Neovim hears nothing has answered", function()
    exec.patience_ms = 100
    eq(ran("start", { "echo", "here" }, 400), { code = 0, stdout = "here\n", stderr = "" })
  end)
end)
