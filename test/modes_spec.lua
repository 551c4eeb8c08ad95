-- The modes of sessions, in each of the ways in which agents offer them, with the real host and a
-- real agent. Needs bin/hermes (make build). All specs share one Neovim.

local eq = MiniTest.expect.equality
local root = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)))

---@param id string
---@return table
local function named(id)
  return { id = id, name = id:upper() }
end

---@param current string
---@param ... string
---@return table modes
local function modes(current, ...)
  return { currentModeId = current, availableModes = vim.tbl_map(named, { ... }) }
end

---@param current string
---@param ... string
---@return table option
local function option(current, ...)
  return {
    id = "permissions",
    name = "Mode",
    category = "mode",
    type = "select",
    currentValue = current,
    options = vim.tbl_map(function(id)
      return { value = id, name = id:upper() }
    end, { ... }),
  }
end

local agents = {
  both = { modes = modes("ask", "ask", "code"), options = { option("ask", "ask", "code") } },
  only_modes = { modes = modes("ask", "ask", "code") },
  only_option = { options = { option("ask", "ask", "code") } },
  other_ids = {
    modes = modes("ask[old]", "ask[old]", "code[old]"),
    options = { option("ask", "ask", "code") },
  },
}

describe("the modes of a session", function()
  local child = MiniTest.new_child_neovim()

  ---@param code string of an expression
  local function wait_for(code)
    local ok = vim.wait(60000, function()
      return child.lua_get(code) == true
    end, 10)
    eq({ code, ok }, { code, true })
  end

  before_each(function()
    if child.is_running() then
      child.lua("sent, seen = {}, {}")
      return
    end
    child.start({ "--cmd", "set rtp^=" .. vim.fn.fnameescape(root) })
    child.lua(
      [[local agent, configs = ...
      _G.hermes, _G.sent, _G.seen, _G.ids = require("hermes"), {}, {}, {}
      vim.notify = function() end
      local specs = {}
      for name, config in pairs(configs) do
        specs[name] = {
          command = vim.v.progpath,
          args = { "--clean", "-l", agent },
          env = { HERMES_TEST_AGENT = config },
        }
      end
      hermes.setup({ agents = specs })
      hermes.on("TrafficMessage", function(data)
        if data.direction == "out" and data.method and data.method:find("/set_") then
          sent[#sent + 1] = data.method
        end
      end)
      hermes.on("ModeUpdated", function(data)
        seen[#seen + 1] = data.agent .. " " .. data.modeId
      end)
      for name in pairs(configs) do
        hermes.connect(name)
        hermes.create_session({ agent = name, cwd = "/", on_done = function(err, result)
          ids[name] = result and result.sessionId or vim.inspect(err)
        end })
      end]],
      { root .. "/test/scripted_agent.lua", vim.tbl_map(vim.json.encode, agents) }
    )
    wait_for(("vim.tbl_count(ids) == %d"):format(vim.tbl_count(agents)))
  end)

  ---@param agent string
  ---@param mode string
  ---@return any err
  local function set(agent, mode)
    child.lua(
      [[local agent, mode = ...
      _G.done = nil
      hermes.set_mode(ids[agent], mode, { agent = agent, on_done = function(err)
        done = { err = err and err.message or nil }
      end })]],
      { agent, mode }
    )
    wait_for("done ~= nil")
    return child.lua_get("done.err")
  end

  ---@param agent string
  ---@return table
  local function of(agent)
    return child.lua_get(("hermes.modes(ids.%s, { agent = %q })"):format(agent, agent))
  end

  ---@param agent string
  ---@return string
  local function shown(agent)
    return child.lua_get(
      ("vim.iter(hermes.sessions()):find(function(s) return s.agent == %q end).mode"):format(agent)
    )
  end

  -- The protocol: "clients that support config options SHOULD use configOptions exclusively".
  for _, row in ipairs({
    { "both", "code", "session/set_config_option" },
    { "only_modes", "code", "session/set_mode" },
    { "only_option", "code", "session/set_config_option" },
    { "other_ids", "code", "session/set_config_option" },
    { "other_ids", "code[old]", "session/set_mode" }, -- only the old list has it
    { "both", "nowhere", "session/set_config_option" },
  }) do
    local agent, mode, method = unpack(row)
    it(("of %s: %s is set by %s"):format(agent, mode, method), function()
      eq(of(agent).availableModes, vim.tbl_map(named, { "ask", "code" }))
      eq(set(agent, mode), vim.NIL)
      eq(child.lua_get("sent"), { method })
      wait_for(("vim.deep_equal(seen, { %q })"):format(agent .. " " .. mode))
      if mode == "code" then
        eq({ of(agent).currentModeId, shown(agent) }, { "code", "code" })
        eq(set(agent, "ask"), vim.NIL)
        wait_for(("seen[2] == %q"):format(agent .. " ask"))
        eq(of(agent).currentModeId, "ask")
      end
    end)
  end

  it("follow an agent that changes its mode itself and says so in one way", function()
    for _, agent in ipairs({ "both", "only_modes" }) do
      child.lua(
        [[local agent = ...
        hermes.prompt(ids[agent], vim.json.encode({
          { update = { sessionUpdate = "current_mode_update", currentModeId = "code" } },
        }), { agent = agent })]],
        { agent }
      )
      wait_for(
        ("hermes.modes(ids.%s, { agent = %q }).currentModeId == 'code'"):format(agent, agent)
      )
      eq(shown(agent), "code")
    end
  end)

  it("are unknown for a session that is not there", function()
    eq(child.lua_get([[hermes.modes("nowhere", { agent = "both" }) == nil]]), true)
  end)
end)
