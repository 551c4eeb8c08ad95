---Finds and builds the host, the Go program behind Hermes.
local M = {}

local root = vim.fs.dirname(
  vim.fs.dirname(
    vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
  )
)

---@return string folder of the plugin
function M.root()
  return root
end

---@return string the command that builds the host
function M.build_command()
  return ("cd %s && go build -trimpath -o bin/hermes ./tools/hermes"):format(
    vim.fn.shellescape(root)
  )
end

---The location of the host: setup{host={cmd}}, bin/hermes in the plugin's folder, or hermes in
---PATH.
---@return string[]? cmd
---@return string? err
function M.command()
  local cmd = require("hermes.config").get().host.cmd
  if cmd then
    if vim.fn.executable(cmd[1]) ~= 1 then
      return nil, ("the host %q of setup{host={cmd}} cannot be run"):format(tostring(cmd[1]))
    end
    return vim.deepcopy(cmd)
  end
  local exe = vim.fn.has("win32") == 1 and "hermes.exe" or "hermes"
  local own = vim.fs.joinpath(root, "bin", exe)
  for _, program in ipairs({ own, exe }) do
    if vim.fn.executable(program) == 1 then
      return { program, "host" }
    end
  end
  return nil, ("the host is not built; run :Hermes build (or: %s)"):format(M.build_command())
end

---Builds the host in the plugin's folder.
---@param on_done? fun(err: string?)
function M.build(on_done)
  local log = require("hermes.log")
  on_done = on_done or function() end
  if vim.fn.executable("go") ~= 1 then
    local err = "building the host needs Go 1.26 or newer in PATH"
    log.notify(vim.log.levels.ERROR, err)
    return on_done(err)
  end
  log.notify(vim.log.levels.INFO, "building the host …")
  local cmd = { "go", "build", "-trimpath", "-o", "bin/", "./tools/hermes" }
  vim.system(cmd, { cwd = root, text = true }, function(out)
    vim.schedule(function()
      local err = out.code ~= 0 and ("go build failed: " .. vim.trim(out.stderr)) or nil
      log.notify(err and vim.log.levels.ERROR or vim.log.levels.INFO, err or "the host is built")
      on_done(err)
    end)
  end)
end

return M
