local rpc = require("hermes.core.rpc")
local eq = MiniTest.expect.equality

---The kinds of messages that the host sends, as its Go types say.
---@return string[]
local function kinds()
  local list = {}
  for line in io.lines("lua/hermes/core/border_gen.lua") do
    local name = line:match("^%-%-%-@class hermes%.item%.(%u%w*)$")
    list[#list + 1] = name and name:lower()
  end
  return list
end

describe("a message of the host", function()
  local notify, shown = vim.notify, nil
  local mismatch = "the host does not match the plugin; run :Hermes build and restart Neovim"

  ---Delivers a message and waits until what it says is shown.
  local function deliver(kind, item)
    rpc.deliver(vim.json.encode({ kind, item }))
    local passed = false
    vim.schedule(function()
      passed = true
    end)
    vim.wait(10000, function()
      return passed
    end)
  end

  before_each(function()
    shown = {}
    vim.notify = function(text)
      shown[#shown + 1] = text
    end
  end)

  after_each(function()
    vim.notify = notify
  end)

  it("has a function in Lua, whatever its kind", function()
    eq(#kinds() > 10, true)
    for _, kind in ipairs(kinds()) do
      deliver(kind, { protocol = rpc.PROTOCOL })
      eq({ kind, table.concat(shown):find(mismatch, 1, true) }, { kind, nil })
    end
  end)

  it("says what to do when the plugin does not know it", function()
    deliver("surprise", {})
    eq(shown, { "hermes: a message of kind surprise was lost: " .. mismatch })
  end)
end)
