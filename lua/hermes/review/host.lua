---How the functions of the review check their arguments and ask the host.
local M = {}

---@param opts any
---@param who string
---@param more? table<string, string> further options and their kinds
---@return table
function M.options(opts, who, more)
  local check = require("hermes.core.arguments")
  opts = opts or {}
  who = "review." .. who
  check.need(opts, "table", who, "the options", 3)
  local valid = vim.tbl_extend("force", { on_done = "callback", root = "name" }, more or {})
  for key, value in pairs(opts) do
    if not valid[key] then
      error(("hermes.%s: %s"):format(who, check.unknown("", key, valid)), 3)
    end
    check.need(value, valid[key], who, key, 3)
  end
  return opts
end

---@param path string
---@return string
function M.absolute(path)
  return vim.fs.normalize(vim.fn.fnamemodify(path, ":p"), { expand_env = false })
end

---@return table? held hermes.review.held, when something may be under review
function M.held()
  return package.loaded["hermes.doc.held"]
end

---@param what string of the host
---@param opts table
---@param payload? table
---@param convert? fun(result: table): table
---@param after? fun(result: table)
---@return string id
function M.ask(what, opts, payload, convert, after)
  local on_done = opts.on_done
  local info = { method = "review." .. what, after = after }
  info.on_done = on_done
    and function(err, result)
      on_done(err, not err and (convert and convert(result) or result) or nil)
    end
  local rpc = require("hermes.core.rpc")
  if not require("hermes.core.config").get().review.enabled then
    return rpc.refuse(info, "off", "the review is off; see :help hermes-config-review")
  end
  return rpc.call("review." .. what, function()
    for _, buf in ipairs(M.held() and M.held().buffers() or {}) do
      M.held().flush(buf)
    end
    payload = vim.tbl_extend("force", { root = opts.root }, payload or {})
    payload.cwd = require("hermes.session.params").session({}).cwd
    return payload
  end, info)
end

---@param buf any
---@param who string
---@return integer
function M.buffer_of(buf, who)
  if buf == nil or buf == 0 then
    return vim.api.nvim_get_current_buf()
  end
  require("hermes.core.arguments").need(buf, "integer", "review." .. who, "the buffer", 3)
  return buf
end

---@param buf integer
---@return string path
function M.path_of(buf)
  return M.held() and M.held().path(buf) or M.absolute(vim.api.nvim_buf_get_name(buf))
end

---@param what any
---@param who string
---@return table payload
function M.selection(what, who)
  local check = require("hermes.core.arguments")
  if what == "all" then
    return {}
  end
  who = "review." .. who
  if type(what) ~= "table" or next(what) == nil then
    error(('hermes.%s: expected a hunk, "all" or a table of what is meant'):format(who), 4)
  elseif what.id and what.path then
    return { hunk = what.id, path = what.path, version = what.version }
  end
  local valid = {
    bufnr = "integer",
    hunk = "integer",
    path = "name",
    session_id = "name",
    turn = "name",
    version = "integer",
  }
  for key, value in pairs(what) do
    if not valid[key] then
      error(("hermes.%s: %s"):format(who, check.unknown("", key, valid)), 4)
    end
    check.need(value, valid[key], who, key, 4)
  end
  local path = what.bufnr and M.path_of(M.buffer_of(what.bufnr, who))
    or what.path and M.absolute(what.path)
  return {
    hunk = what.hunk,
    path = path,
    sessionId = what.session_id,
    turn = what.turn,
    version = what.version,
  }
end

return M
