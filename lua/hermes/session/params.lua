---Converts arguments of users to params of the protocol.
local M = {}

---@param path string
---@return string path absolute, "~" expanded, without a final slash
function M.folder(path)
  local full = vim.fs.normalize(vim.fn.fnamemodify(path, ":p"), { expand_env = false })
  return #full > 1 and (full:gsub("/+$", "")) or full
end

---@param path string
---@return string? root the nearest folder above that has a marker
local function root_of(path)
  -- vim.fs.root would expand $NAME in a path.
  for dir in vim.fs.parents(path) do
    for _, marker in ipairs(require("hermes.core.config").get().root_markers) do
      if require("hermes.core.disk").exists(vim.fs.joinpath(dir, marker)) then
        return dir
      end
    end
  end
end

---@return string root of the current buffer's project, or the working directory
local function default_cwd()
  local name = vim.api.nvim_buf_get_name(0)
  local plain = vim.bo.buftype == "" and name ~= "" and not name:find("^%a[%w+.-]+://")
  return M.folder(plain and root_of(name) or vim.fn.getcwd())
end

---Converts {{KEY = "value"}}, {KEY = "value"} or {{name=, value=}} to the last form.
local function pairs_list(list)
  local out = {}
  for key, entry in pairs(list or {}) do
    if type(entry) ~= "table" then
      out[#out + 1] = { name = key, value = tostring(entry) }
    elseif entry.name then
      out[#out + 1] = entry
    else
      for name, value in pairs(entry) do
        out[#out + 1] = { name = name, value = tostring(value) }
      end
    end
  end
  table.sort(out, function(a, b)
    return a.name < b.name
  end)
  return out
end

local function mcp_servers(list)
  local out = {}
  for _, server in ipairs(list or {}) do
    local copy = vim.tbl_extend("force", {}, server)
    if copy.type == "http" or copy.type == "sse" then
      copy.headers = pairs_list(copy.headers)
    else
      copy.type = nil
      copy.args = copy.args or {}
      copy.env = pairs_list(copy.env)
    end
    out[#out + 1] = copy
  end
  return out
end

---@param opts hermes.SessionOpts
---@param session_id? string
---@return table params
function M.session(opts, session_id)
  local cwd = opts.cwd and M.folder(opts.cwd) or default_cwd()
  local defaults = require("hermes.session.project").defaults(cwd)
  local dirs = opts.additional_directories
    or opts.additionalDirectories
    or defaults.additional_directories
  return {
    sessionId = session_id,
    cwd = cwd,
    additionalDirectories = #dirs > 0 and vim.tbl_map(M.folder, dirs) or nil,
    mcpServers = mcp_servers(opts.mcp_servers or opts.mcpServers or defaults.mcp_servers),
  }
end

local block_types = { link = "resource_link", embedded = "resource" }

---@param block any
---@return table? block
---@return string? err
local function block_of(block)
  if type(block) == "string" then
    return { type = "text", text = block }
  elseif type(block) ~= "table" or type(block.type) ~= "string" then
    return nil, ("a block is a string or a table with a type, not %s"):format(vim.inspect(block))
  end
  local copy = vim.tbl_extend("force", {}, block)
  copy.type = block_types[block.type] or block.type
  return copy
end

---@param content any a text, a block or a list of both
---@return table[]? blocks
---@return string? err
function M.blocks(content)
  local list = (type(content) == "table" and content.type == nil) and content or { content }
  local blocks = {}
  for i = 1, table.maxn(list) do -- a nil in between must not hide what follows
    local block, err = block_of(list[i])
    if not block then
      return nil, err
    end
    blocks[i] = block
  end
  if #blocks == 0 then
    return nil, "the prompt is empty"
  end
  return blocks
end

return M
