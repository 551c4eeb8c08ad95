---The subcommands of :Hermes for the host.
---@type table<string, hermes.Subcommand>
local M = {}

local choose = require("hermes.view.choose")
local say = choose.say

local function hermes()
  return require("hermes")
end

---Replaces the host, and stops the running one; the next call starts the new one. Without a user
---who would wait, as in `nvim --headless +"Hermes install" +qa`, it returns at the end.
---@param start fun(on_done: fun(err: any, installed: hermes.Installed?))
local function replace_host(start)
  local done = false
  start(function(err, installed)
    if not err and not (installed and installed.unchanged) then
      require("hermes.core.rpc").stop()
    end
    vim.schedule(function() -- after the messages
      done = true
    end)
  end)
  if #vim.api.nvim_list_uis() == 0 then
    vim.wait(2 ^ 31 - 1, function()
      return done
    end, 20)
  end
end

---@param opts hermes.InstallOpts
local function install(opts)
  replace_host(function(on_done)
    opts.on_done = function(err, installed)
      if err then
        require("hermes.core.log").show(vim.log.levels.ERROR, err.message)
      end
      on_done(err, installed)
    end
    hermes().install(opts)
  end)
end

M.build = {
  run = function()
    replace_host(require("hermes.core.host").build)
  end,
}

M.install = {
  run = function(args)
    install({ file = args[1] })
  end,
  complete = function(lead)
    return vim.fn.getcompletion(lead, "file")
  end,
}

M.update = {
  run = function()
    install({ update = true })
  end,
}

M.clean = {
  run = function()
    require("hermes.core.rpc").stop()
    local err = require("hermes.core.install").clean()
    say(err or "the host is removed; :Hermes install or :Hermes build brings it back")
  end,
}

M.version = {
  run = function()
    require("hermes.core.host").describe(say)
  end,
}

return M
