-- Every public function and every subcommand is called by some test.

local this = assert(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local root = vim.fs.dirname(vim.fs.dirname(this))
local eq = MiniTest.expect.equality

--- The code of all tests that run in a Neovim, without comments.
---@return string
local function tests()
  local parts = {}
  for _, pattern in ipairs({ "test/*_spec.lua", "test/*/*.lua", "plugin/host/*_test.go" }) do
    for _, file in ipairs(vim.fn.globpath(root, pattern, true, true)) do
      for _, line in ipairs(file ~= this and vim.fn.readfile(file) or {}) do
        parts[#parts + 1] = not line:find("^%s*%-%-") and not line:find("^%s*//") and line or nil
      end
    end
  end
  return table.concat(parts, "\n")
end

---@param text string
---@param module string such as "hermes" or "queue"
---@param name string
---@return boolean
local function calls(text, module, name)
  return text:find(("%%f[%%w]%s[\"'%%])]*%%.%s%%f[^%%w_]"):format(module, name)) ~= nil
end

describe("some test calls", function()
  local text = tests()

  it("each function of the API", function()
    local hermes, missing = require("hermes"), {}
    local function check(module, name)
      local called = calls(text, module, name) or module == "hermes" and calls(text, "await", name)
      missing[#missing + 1] = not called and module .. "." .. name or nil
    end
    for name, value in pairs(hermes) do
      if type(value) == "function" then
        check("hermes", name)
      end
    end
    for name in pairs(require("hermes.api_gen")) do
      if name ~= "answer" then -- not for users
        check("hermes", name)
      end
    end
    for _, part in ipairs({ "permissions", "queue", "context", "text", "review" }) do
      for name in pairs(hermes[part]) do
        check(part, name)
      end
    end
    local help = table.concat(vim.fn.readfile(root .. "/doc/hermes.txt"), "\n")
    for view, name in help:gmatch("%*hermes%.([a-z]+)%.([%w_]+)%(%)%*") do
      if not hermes[view] or type(hermes[view]) == "function" then
        missing[#missing + 1] = not calls(text, "[%w_]+", name) and view .. "." .. name or nil
      end
    end
    table.sort(missing)
    eq(missing, {})
  end)

  it("each subcommand of :Hermes", function()
    local missing = {}
    for _, name in ipairs(require("hermes.command").complete("", "Hermes ")) do
      if not text:find("Hermes " .. name .. "%f[%A]") then
        missing[#missing + 1] = name
      end
    end
    eq(missing, {})
  end)

  it("nothing that has no name", function()
    eq(calls('hermes.prompt(1)\nlocal x = { "steer" } -- .steer', "hermes", "steer"), false)
    eq(calls("hermes.prompter(1)", "hermes", "prompt"), false)
    eq(calls("hermes.prompt(1)", "hermes", "prompt"), true)
    eq(calls([[require("hermes").prompt(1)]], "hermes", "prompt"), true)
    eq(calls("pcall(hermes.prompt, 1)", "hermes", "prompt"), true)
  end)
end)
