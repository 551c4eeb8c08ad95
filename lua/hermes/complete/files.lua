--- The files of a project, listed in the background: those that git knows and
--- does not ignore, otherwise those of a walk through the folders.

local M = {}

--- The most files of one project.
M.max_files = 20000
--- A list is good for this long.
M.fresh_ms = 10000

local max_bytes, max_folders, timeout_ms = 4 * 1024 * 1024, 5000, 10000

---@class hermes.complete.Listing
---@field files? string[] relative to the folder
---@field at number when it was made
---@field waiting? fun(files: string[])[] nil when none is being made

local listings = {} ---@type table<string, hermes.complete.Listing>

---@param folder string
---@param done fun(files: string[])
local function walk(folder, done)
  local files, folders, visited = {}, { "" }, 0
  local function step()
    local path = table.remove(folders, 1)
    if not path or visited >= max_folders or #files >= M.max_files then
      return done(files)
    end
    visited = visited + 1
    vim.uv.fs_scandir(vim.fs.joinpath(folder, path), function(_, entries)
      while entries and #files < M.max_files do
        local name, kind = vim.uv.fs_scandir_next(entries)
        if not name then
          break
        end
        local inside = path == "" and name or path .. "/" .. name
        if kind == "file" then
          files[#files + 1] = inside
        elseif kind == "directory" and name:sub(1, 1) ~= "." and name ~= "node_modules" then
          folders[#folders + 1] = inside
        end
      end
      step()
    end)
  end
  step()
end

---@param folder string
---@param done fun(files: string[]?) nil when git cannot tell
local function from_git(folder, done)
  local parts, bytes = {}, 0
  local command = {
    "git",
    "-c",
    "core.fsmonitor=false",
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--deduplicate",
  }
  local process
  local ok, started = pcall(vim.system, command, {
    cwd = folder,
    timeout = timeout_ms,
    stdout = function(_, chunk)
      bytes = bytes + #(chunk or "")
      parts[#parts + 1] = chunk
      if bytes > max_bytes and process then
        process:kill("sigterm")
      end
    end,
    stderr = false,
  }, function(result)
    if result.code ~= 0 and bytes <= max_bytes then
      return done(nil)
    end
    local files = {}
    for file in table.concat(parts):gmatch("([^%z]+)%z") do
      files[#files + 1] = file
      if #files >= M.max_files then
        break
      end
    end
    done(files)
  end)
  process = ok and started
  if not ok then
    done(nil)
  end
end

---Lists the files of a folder. A list that is not fresh is given at once, while the next one is
---made.
---@param folder string
---@param done fun(files: string[])
function M.list(folder, done)
  local listing = listings[folder] or { at = -math.huge }
  listings[folder] = listing
  local age = vim.uv.hrtime() / 1e6 - listing.at
  if listing.files then
    done(listing.files)
  elseif listing.waiting then
    listing.waiting[#listing.waiting + 1] = done
  end
  if listing.waiting or age < M.fresh_ms then
    return
  end
  listing.waiting = not listing.files and { done } or {}
  local function made(files)
    vim.schedule(function()
      local waiting = listing.waiting or {}
      listing.files, listing.at, listing.waiting = files, vim.uv.hrtime() / 1e6, nil
      for _, fn in ipairs(waiting) do
        fn(files)
      end
    end)
  end
  from_git(folder, function(files)
    if files then
      return made(files)
    end
    walk(folder, made)
  end)
end

return M
