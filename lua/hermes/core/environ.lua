---Keeps the host's copy of Neovim's environment up to date. The host starts with all of it, and
---gets the changes before it starts a program.
local M = {}

local known = {} ---@type table<string, string>

---The host starts now, with the environment of Neovim.
function M.begin()
  known = vim.fn.environ()
end

---The changes since begin() or the last call.
---@return { set: string[], unset: string[] }? changes `set` are pairs of name and value in Base64,
---because they may hold any bytes; nil without changes
function M.changes()
  local now, set, unset = vim.fn.environ(), {}, {}
  for name, value in pairs(now) do
    if known[name] ~= value then
      set[#set + 1] = vim.base64.encode(name .. "=" .. value)
    end
  end
  for name in pairs(known) do
    if now[name] == nil then
      unset[#unset + 1] = name
    end
  end
  known = now
  return (#set > 0 or #unset > 0) and { set = set, unset = unset } or nil
end

return M
