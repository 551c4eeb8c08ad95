-- What :Hermes says when it cannot do something: every subcommand with arguments that make no
-- sense, without a host, without an agent, and with a session. Needs bin/hermes (make build).

local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

local eq = MiniTest.expect.equality

-- These change the plugin's folder, use the network, or refuse nothing.
local never = { build = true, clean = true, install = true, update = true, version = true }

local tails = {
  "",
  "nosuch",
  "nosuch extra words",
  "agent=nosuch",
  "session=nosuch",
  "session=nosuch nosuch nosuch",
  "colour=red",
  "-1",
  "'",
  "%",
}

local prelude = [[
  vim.o.swapfile = false
  vim.cmd.runtime("plugin/hermes.lua")
  _G.hermes, _G.said, _G.menus = require("hermes"), {}, {}
  local line = ""
  vim.notify = function(text) said[#said + 1] = { line, text } end
  vim.ui.select = function(items, opts, chosen)
    local labels = vim.tbl_map(opts.format_item, items)
    menus[#menus + 1] = labels
    for i, label in ipairs(labels) do
      said[#said + 1] = { line, label }
      if label == pick then
        return chosen(items[i], i)
      end
    end
    chosen(nil, nil)
  end
  vim.ui.input = function(_, typed) typed(nil) end
  function _G.Run(command)
    line = command
    local ok, err = pcall(vim.cmd, command)
    if not ok or vim.v.errmsg ~= "" then
      said[#said + 1] = { line, ok and vim.v.errmsg or err }
    end
    vim.v.errmsg = ""
    pcall(vim.cmd, "silent! tabonly! | silent! only! | enew!")
  end
]]

local scripted = [[
    local root = ...
    hermes.setup({ agents = { scripted = {
      command = vim.v.progpath,
      args = { "--clean", "--headless", "-l", root .. "/test/scripted_agent.lua" },
    } } })]]

-- How it can be when a user gives a command.
local cases = {
  ["without a host"] = [[hermes.setup({ host = { cmd = { "/nonexistent/hermes" } } })]],
  ["without an agent"] = "",
  ["with a session"] = scripted .. [[
    hermes.connect("scripted")
    hermes.create_session({ agent = "scripted" })
    assert(vim.wait(60000, function() return #hermes.sessions() == 1 end))]],
}

---@param begin string
---@return table child
local function start(begin)
  local child = MiniTest.new_child_neovim()
  child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
  child.o.columns, child.o.lines = 80, 24
  child.lua(prelude)
  child.lua(begin, { root })
  return child
end

describe("a command that cannot be done", function()
  for name, begin in vim.spairs(cases) do
    it("says why in words, " .. name, function()
      local child = start(begin)
      local room = child.v.echospace
      for _, subcommand in ipairs(child.fn.getcompletion("Hermes ", "cmdline")) do
        for _, tail in ipairs(never[subcommand] and {} or tails) do
          child.lua("Run(...)", { vim.trim(("Hermes %s %s"):format(subcommand, tail)) })
        end
      end
      child.lua([[Run("Hermes nosuch")]])
      child.lua([[assert(vim.wait(60000, function()
        return said[#said][1] == "Hermes nosuch"
      end))]])
      local wrong = {}
      for _, said in ipairs(child.lua_get("said")) do
        local line, text = unpack(said)
        local reason = (text .. "; "):match("^(hermes: .-)[:;] ") -- and then what to do
        for _, trace in ipairs({ "%.lua:%d+:", "traceback", "attempt to", "hermes%.[%w_.]+:" }) do
          if text:find(trace) then
            wrong[#wrong + 1] = ("%s: %s"):format(line, text)
            break
          end
        end
        if reason and vim.api.nvim_strwidth(reason) > room then
          wrong[#wrong + 1] = ("%s: %s: the reason is too long"):format(line, text)
        end
      end
      child.lua("hermes.disconnect()")
      child.stop()
      assert(#wrong == 0, table.concat(wrong, "\n"))
    end)
  end
end)

describe("a command without an agent", function()
  local first = {
    ["Hermes chat"] = [[return #hermes.sessions() == 1 and #require("hermes.chat").list() == 1]],
    ["Hermes prompt hi"] = [[return _G.sent == "hi"]],
  }
  for command, is in vim.spairs(first) do
    it("offers those that are installed in one menu: " .. command, function()
      local child = start(scripted)
      child.lua(
        [[hermes.setup({ agents = { away = { command = "/nonexistent/agent" } } })
      _G.pick = "scripted"
      hermes.on("ClientTextMessage", function(data) _G.sent = data.content.text end)
      Run(...)]],
        { command }
      )
      local ok = vim.wait(60000, function()
        return child.lua(is)
      end, 20)
      local menus, said = child.lua_get("menus"), child.lua_get("said")
      child.lua("hermes.disconnect()")
      child.stop()
      assert(ok, vim.inspect(said))
      eq(#menus, 1)
      eq(vim.tbl_contains(menus[1], "scripted"), true)
      eq(vim.tbl_contains(menus[1], "away"), false)
      eq(menus[1][#menus[1]]:find("others, which are not installed …", 1, true) ~= nil, true)
    end)
  end
end)
