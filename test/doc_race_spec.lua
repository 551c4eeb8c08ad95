local agent_write = require("hermes.doc.agent_write")
local buffer = require("hermes.doc.buffer")
local disk = require("hermes.core.disk")
local eq = MiniTest.expect.equality
local api = vim.api

local rounds = vim.env.HERMES_SOAK and 20000 or 400

local base, inside, outside

---@param path string
---@param content string
local function put(path, content)
  local file = assert(io.open(path, "wb"))
  file:write(content)
  file:close()
end

---@param path string
---@return string?
local function text(path)
  local file = io.open(path, "rb")
  local content = file and file:read("*a")
  return file and file:close() and content or nil
end

--- What is in the folder that is not the project's, with the texts.
local function canary()
  local found = {}
  for name, kind in vim.fs.dir(outside, { depth = 5 }) do
    found[name] = kind == "file" and text(outside .. "/" .. name) or kind
  end
  return found
end

--- Lets a name lead outside and back, again and again, until the test is over.
---@param name string in the project
---@param to string where it leads in between
local function swap(name, to)
  local good, bad, stop = base .. "/good", base .. "/bad", base .. "/stop"
  vim.uv.fs_symlink(to, bad)
  local thread = vim.uv.new_thread(function(path, kept, link, over)
    local uv, cycles = vim.uv or require("luv"), 0
    while not uv.fs_stat(over) do
      cycles = cycles + 1
      if cycles % 5 == 0 then
        uv.sleep(cycles % 4) -- so that an act can begin
      end
      uv.fs_rename(path, kept)
      uv.fs_rename(link, path)
      uv.fs_rename(path, link)
      if not uv.fs_rename(kept, path) then -- a folder was made anew meanwhile
        uv.fs_rename(path, kept .. cycles)
        uv.fs_rename(kept, path)
      end
    end
  end, name == "" and inside or inside .. "/" .. name, good, bad, stop)
  MiniTest.finally(function()
    put(stop, "")
    thread:join()
  end)
end

--- Opens a file, and calls `act` with its buffer while a name on the way is swapped. However that
--- ends, nothing outside may change, and nothing of it may come in.
---@param opts { swap: string, to: string, act: fun(buf: integer, path: string, i: integer) }
---@param enough? fun(): boolean whether the acts have met both, by default at once
local function race(opts, enough)
  local path = inside .. "/sub/a.txt"
  vim.cmd.edit(vim.fn.fnameescape(path))
  local buf, before = api.nvim_get_current_buf(), canary()
  swap(opts.swap, outside .. opts.to)
  for i = 1, 100 * rounds do
    if not api.nvim_buf_is_loaded(buf) or (i > rounds and (not enough or enough())) then
      break
    end
    opts.act(buf, path, i)
    local now = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
    eq(now:find("secret", 1, true), nil)
  end
  eq(canary(), before)
end

--- The ways in which a name on the way to sub/a.txt leads outside for a moment.
local ways = {
  ["the file"] = { swap = "sub/a.txt", to = "/sub/a.txt" },
  ["its folder"] = { swap = "sub", to = "/sub" },
  ["the folder above"] = { swap = "", to = "" },
}

describe("While an agent swaps names on the way to an open file", function()
  before_each(function()
    if not vim.uv.fs_stat("/proc/self/fd") then
      MiniTest.skip("only Linux reaches a file by way of an open folder")
    end
    vim.cmd("silent! %bwipeout!")
    vim.o.autoread = false
    base = assert(vim.uv.fs_realpath(vim.fn.fnamemodify(vim.fn.tempname(), ":h")))
      .. "/"
      .. vim.uv.hrtime()
    inside, outside = base .. "/project", base .. "/outside"
    vim.fn.mkdir(inside .. "/sub", "p")
    vim.fn.mkdir(outside .. "/sub", "p")
    put(inside .. "/sub/a.txt", "a\n")
    put(outside .. "/sub/a.txt", "secret\n")
  end)

  for what, way in pairs(ways) do
    it("a write stays inside: " .. what, function()
      local written, refused = 0, 0
      race(
        vim.tbl_extend("error", way, {
          act = function(_, path, i)
            local result
            local open = agent_write.write(path, ("text %d\n"):format(i), nil, function(problem)
              result = problem or "written"
            end)
            vim.wait(open and 60000 or 0, function()
              return result ~= nil
            end, 1)
            written = written + (result == "written" and 1 or 0)
            refused = refused + (result ~= "written" and 1 or 0)
          end,
        }),
        function()
          return written > 0 and refused > 0
        end
      )
      eq({ written > 0, refused > 0 }, { true, true })
    end)

    it("a decision of the user stays inside: " .. what, function()
      race(vim.tbl_extend("error", way, {
        act = function(buf, _, i)
          vim.bo[buf].modified = false
          buffer.put(buf, ("text %d\n"):format(i), true)
        end,
      }))
    end)

    it("nothing outside is removed or gets other permissions: " .. what, function()
      local mode = assert(vim.uv.fs_stat(outside .. "/sub/a.txt")).mode
      local place = inside .. "/sub/a.txt"
      race(vim.tbl_extend("error", way, {
        act = function()
          if not pcall(disk.chmod, place, 384) then -- 0600
            return
          elseif pcall(disk.remove, place) then
            pcall(disk.replace, place, "again\n", function() end)
          end
        end,
      }))
      eq(assert(vim.uv.fs_stat(outside .. "/sub/a.txt")).mode, mode)
    end)

    it("no text comes in from outside: " .. what, function()
      local followed, folder = 0, assert(vim.uv.fs_open(inside .. "/sub", "r", 0))
      local door = ("/proc/self/fd/%d/"):format(folder) -- always leads inside
      race(
        vim.tbl_extend("error", way, {
          act = function(buf, path, i)
            put(door .. "other", ("text %d\n"):format(i))
            vim.uv.fs_rename(door .. "other", door .. "a.txt")
            local ok, outcome = pcall(buffer.update, buf)
            followed = followed + (ok and outcome == "refreshed" and 1 or 0)
            eq((buffer.read(path) or ""):find("secret", 1, true), nil)
          end,
        }),
        function()
          return followed > 0
        end
      )
      vim.uv.fs_close(folder)
      eq(followed > 0, true)
    end)
  end
end)
