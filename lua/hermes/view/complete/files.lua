--- The files of a project, listed by the host in the background: those that git does not ignore.
--- Nothing runs in the project for it.

local hermes = require("hermes")

local M = {}

--- A list is good for this long.
M.fresh_ms = 10000

---@class hermes.complete.Listing
---@field files? string[] relative to the folder
---@field at number when it was made
---@field waiting? fun(files: string[])[] nil when none is being made

local listings = {} ---@type table<string, hermes.complete.Listing>

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
  hermes.list_files(folder, {
    on_done = function(err, result)
      local waiting = listing.waiting or {}
      listing.files = not err and result.files or {}
      listing.at, listing.waiting = vim.uv.hrtime() / 1e6, nil
      for _, fn in ipairs(waiting) do
        fn(listing.files)
      end
    end,
  })
end

return M
