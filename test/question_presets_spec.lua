-- Each preset has a recorded question in test/questions, or is named here.

local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))

---@param path string
---@return table
local function read(path)
  return vim.json.decode(table.concat(vim.fn.readfile(path), "\n"))
end

local without = {
  -- Without an account, auggie 0.36.0 and droid 0.225.2 start no session.
  "auggie",
  -- Neither npm nor Debian has the programs of cursor and hermes-agent.
  "cursor",
  "droid",
  "hermes-agent",
}

describe("a recorded question", function()
  it("is there for each preset but those that could not be driven", function()
    local of = {} ---@type table<string, true>
    for name in vim.fs.dir(here .. "/questions") do
      of[read(here .. "/questions/" .. name).preset or ""] = true
    end
    local missing = {}
    for name in vim.spairs(read(here .. "/../internal/preset/presets.json")) do
      missing[#missing + 1] = not of[name] and name or nil
    end
    MiniTest.expect.equality(missing, without)
  end)
end)
