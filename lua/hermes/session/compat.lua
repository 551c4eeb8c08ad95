---setup{compat={seed=true}}: nvim_create_autocmd accepts the names of Hermes'
---events. Neovim itself refuses them, because its list of events is compiled
---in; plugins fire User autocommands instead.
local M = {}

local original ---@type function?

---The values that older configurations spell differently.
local spelling = {
  resource_link = "resourcelink",
}

local function seed_value(value)
  if type(value) ~= "string" then
    return value
  end
  return spelling[value]
    or (value:gsub("^%l", string.upper):gsub("_(%l)", function(c)
      return c:upper()
    end))
end

---Data with the flat values in the older spelling; the update stays as it is.
---@param data table
---@return table
local function seed_data(data)
  local copy = vim.tbl_extend("force", {}, data)
  copy.kind, copy.status = seed_value(data.kind), seed_value(data.status)
  copy.type = spelling[data.type] or data.type
  for _, key in ipairs({ "content", "fields" }) do
    if vim.islist(data[key]) then
      copy[key] = vim.tbl_map(function(item)
        return vim.tbl_extend("force", item, { type = spelling[item.type] or item.type })
      end, data[key])
    end
  end
  if type(data.entries) == "table" then
    copy.entries = vim.tbl_map(function(entry)
      return vim.tbl_extend("force", entry, {
        priority = seed_value(entry.priority),
        status = seed_value(entry.status),
      })
    end, data.entries)
  end
  return copy
end

local function wrapped(event, opts)
  local names = type(event) == "table" and event or { event }
  for _, name in ipairs(names) do
    if type(name) ~= "string" or not require("hermes.core.event_names").canonical(name) then
      return original(event, opts)
    end
  end
  opts = vim.tbl_extend("force", {}, opts or {})
  local callback = opts.callback
  if type(callback) == "function" then
    opts.callback = function(args)
      args.data = seed_data(args.data or {})
      return callback(args)
    end
  end
  return require("hermes.core.user_autocmds").create_autocmd(names, opts, original)
end

---Wraps or unwraps nvim_create_autocmd, as the configuration says.
function M.apply()
  local wanted = require("hermes.core.config").get().compat.seed
  if wanted and not original then
    original = vim.api.nvim_create_autocmd
    vim.api.nvim_create_autocmd = wrapped
  elseif not wanted and original and vim.api.nvim_create_autocmd == wrapped then
    vim.api.nvim_create_autocmd, original = original, nil
  end
end

return M
