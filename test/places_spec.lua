-- Where paths lead: what lua/hermes/core/disk.lua finds by halving is what a search from folder to
-- folder finds.

local this = assert(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local dice = dofile(vim.fs.dirname(this) .. "/dice.lua")
local disk = require("hermes.core.disk")
local eq = MiniTest.expect.equality

--- The search, one folder after the other.
---@param path string
---@return string?
local function searched(path)
  local found = vim.uv.fs_realpath(path)
  path = path:gsub("(.)/+$", "%1")
  if found or vim.uv.fs_lstat(path) then
    return found or (vim.uv.fs_realpath(path))
  end
  local dir, name = path:match("^(.*)/+([^/]+)$")
  local above = searched(dir:find("[^/]") and dir or "/")
  return above and above:gsub("/$", "") .. "/" .. name
end

describe("the place of a path", function()
  local dir

  before_each(function()
    dir = vim.fn.tempname()
    vim.fn.mkdir(dir .. "/folder/below", "p")
    vim.fn.writefile({}, dir .. "/file")
    vim.uv.fs_symlink(dir .. "/nothing", dir .. "/lost")
    vim.uv.fs_symlink("loop", dir .. "/loop")
    vim.uv.fs_symlink(dir .. "/folder", dir .. "/link")
  end)
  after_each(function()
    vim.fn.delete(dir, "rf")
  end)

  it("is where its folders lead, as far as they exist", function()
    local real = vim.uv.fs_realpath(dir)
    for path, place in pairs({
      ["/link/below"] = "/folder/below",
      ["/link/new/a/b"] = "/folder/new/a/b",
      ["/link//new//a/"] = "/folder/new/a",
      ["/file/a"] = "/file/a",
      ["/new/../link"] = "/new/../link",
      ["/lost"] = false,
      ["/lost/"] = false,
      ["/lost/a/b"] = false,
      ["/loop/a"] = false,
    }) do
      eq({ path, disk.place(dir .. path) or false }, { path, place and real .. place })
    end
    eq(disk.place("/"), "/")
    eq(disk.place("//no-such/a"), "/no-such/a")
    eq(disk.place("/" .. ("a"):rep(300) .. "/b"), "/" .. ("a"):rep(300) .. "/b")
    eq(disk.place("/" .. ("a"):rep(disk.max_path)), nil)
  end)

  it("is the one that a search from folder to folder finds", function()
    local names = { "folder", "below", "file", "lost", "loop", "link", "new", "..", ".", "", "a b" }
    local seed = vim.uv.hrtime() % 1e6
    local roll = dice.new(seed)
    for _ = 1, 5000 do
      local parts = {}
      for i = 1, roll(7) do
        parts[i] = names[roll(#names)]
      end
      local path = (roll(4) == 1 and "/" or dir .. "/") .. table.concat(parts, "/")
      eq({ seed, path, disk.place(path) or false }, { seed, path, searched(path) or false })
    end
  end)
end)
