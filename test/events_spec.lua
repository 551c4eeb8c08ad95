local listeners = require("hermes.core.listeners")
local rpc = require("hermes.core.rpc")
local eq = MiniTest.expect.equality

vim.cmd.source(vim.fn.globpath(vim.o.rtp, "plugin/hermes.lua", false, true)[1])

---@param name string
---@param data table
local function deliver(name, data)
  rpc.deliver(vim.json.encode({ name, data }))
end

local function chunk(text)
  return {
    agent = "demo",
    sessionId = "s",
    update = { sessionUpdate = "agent_message_chunk", content = { type = "text", text = text } },
  }
end

describe("events", function()
  local group, offs, got, notes
  local notify = vim.notify

  before_each(function()
    group = vim.api.nvim_create_augroup("events_spec", {})
    offs, got, notes = {}, {}, {}
    vim.notify = function(text)
      notes[#notes + 1] = text
    end
  end)

  after_each(function()
    vim.notify = notify
    vim.api.nvim_del_augroup_by_id(group)
    vim.api.nvim_clear_autocmds({ group = "hermes" })
    vim.api.nvim_clear_autocmds({ group = "Hermes" })
    require("hermes.core.config").reset()
    require("hermes.session.compat").apply()
    vim.iter(offs):each(function(off)
      off()
    end)
  end)

  local function listen(pattern, opts)
    return vim.api.nvim_create_autocmd(
      "User",
      vim.tbl_extend("force", {
        group = group,
        pattern = pattern,
        callback = function(args)
          got[#got + 1] = { match = args.match, data = args.data }
        end,
      }, opts or {})
    )
  end

  it("have a nested view as on the wire and a flat one", function()
    listen("AgentTextMessage")
    deliver("AgentTextMessage", chunk("hi"))
    eq(got[1].data.update.content.text, "hi")
    eq(got[1].data.text, "hi")
    eq(got[1].data.type, "text")
    eq(got[1].data.alias_of, nil)
  end)

  it("have no flat view when it is off", function()
    require("hermes").setup({ compat = { flat = false } })
    listen("AgentTextMessage")
    deliver("AgentTextMessage", chunk("hi"))
    eq(got[1].data.text, nil)
    eq(got[1].data.update.content.text, "hi")
  end)

  it("do not fire when they are off, but are known to the state", function()
    local hermes = require("hermes")
    hermes.setup({ events = { off = { "Agent*Message", "ToolCall" } } })
    listen({ "*" })
    offs[#offs + 1] = hermes.on("*", function(_, name)
      got[#got + 1] = { match = name }
    end)
    deliver("StateChanged", { agent = "demo", from = "starting", to = "ready" })
    deliver("SessionCreated", { agent = "demo", sessionId = "s" })
    deliver("AgentTextMessage", chunk("hi"))
    local call = { sessionUpdate = "tool_call", toolCallId = "t", title = "Look" }
    deliver("AgentToolCall", { agent = "demo", sessionId = "s", update = call })
    local names = vim.tbl_map(function(event)
      return event.match
    end, got)
    eq(
      names,
      vim
        .iter({ "StateChanged", "SessionCreated", "ToolCallState" })
        :map(function(name)
          return { name, name }
        end)
        :flatten()
        :totable()
    )
    eq(hermes.state("s").toolCalls.t.title, "Look")
    hermes.setup({ events = { off = {} } })
    got = {}
    deliver("AgentTextMessage", chunk("hi"))
    eq(#got, 2)
    deliver("StateChanged", { agent = "demo", from = "ready", to = "disconnected" })
  end)

  it("have the value and the choices of an option as older configurations expect them", function()
    listen("AgentConfigOption")
    local plain = { value = "a", name = "A", description = "first" }
    local grouped = { group = "g", name = "G", options = { plain } }
    deliver("AgentConfigOption", {
      agent = "demo",
      sessionId = "s",
      update = {
        sessionUpdate = "config_option_update",
        configOptions = {
          { id = "m", name = "M", type = "select", currentValue = "a", options = { plain } },
          { id = "n", name = "N", type = "select", currentValue = "a", options = { grouped } },
          { id = "b", name = "B", type = "boolean", currentValue = false },
        },
      },
    })
    local options = got[1].data.configOptions
    eq(options[1].kind, {
      currentValue = "a",
      options = { { type = "ungrouped", value = "a", name = "A", description = "first" } },
    })
    eq({ options[1].id, options[1].name, options[1].currentValue }, { "m", "M", "a" })
    eq(
      options[2].kind.options,
      { { type = "grouped", group = "g", name = "G", options = { plain } } }
    )
    eq(options[3].kind, { currentValue = false })
    eq(got[1].data.update.configOptions[1].kind, nil)
  end)

  it("spell the members of a tool call both ways", function()
    listen("AgentToolCall")
    deliver("AgentToolCall", {
      agent = "demo",
      sessionId = "s",
      update = {
        sessionUpdate = "tool_call",
        toolCallId = "t1",
        title = "Edit",
        rawInput = { a = 1 },
        content = {
          { type = "diff", path = "/a", oldText = "x", newText = "y" },
          { type = "content", content = { type = "text", text = "z" } },
          { type = "terminal", terminalId = "term" },
        },
      },
    })
    local data = got[1].data
    eq({ data.id, data.toolCallId, data.title, data.input }, { "t1", "t1", "Edit", '{"a":1}' })
    eq({ data.content[1].new_text, data.content[1].newText }, { "y", "y" })
    eq({ data.content[2].text, data.content[3].id }, { "z", "term" })
    eq(data.update.content[1].new_text, nil)
    eq(data.update.content[2].content.text, "z")
  end)

  it("never hold vim.NIL in an object", function()
    listen("AgentTextMessage")
    rpc.deliver('["AgentTextMessage",{"x":null,"update":{"content":{"annotations":null}}}]')
    eq(got[1].data.x, nil)
    eq(got[1].data.annotations, nil)
  end)

  it("reach every group, no group and globs once", function()
    listen("*")
    listen("Agent*")
    listen("AgentPlan", { group = "hermes" })
    listen("AgentPlan", { group = "Hermes" })
    local id = vim.api.nvim_create_autocmd("User", {
      pattern = "AgentPlan",
      callback = function(args)
        got[#got + 1] = { match = args.match }
      end,
    })
    deliver("AgentPlan", { agent = "demo", sessionId = "s", update = { entries = {} } })
    vim.api.nvim_del_autocmd(id)
    eq(#got, 5)
    eq(
      vim.iter(got):all(function(g)
        return g.match == "AgentPlan"
      end),
      true
    )
  end)

  it("fire an alias for listeners of exactly that name", function()
    listen("Plan")
    listen("HermesAgentPlan")
    deliver("AgentPlan", { agent = "demo", sessionId = "s", update = { entries = {} } })
    eq(
      vim.tbl_map(function(g)
        return g.match .. " " .. g.data.alias_of
      end, got),
      { "HermesAgentPlan AgentPlan", "Plan AgentPlan" }
    )
  end)

  it("reach hermes.on before autocommands", function()
    listen("AgentTextMessage")
    offs[1] = listeners.on("AgentTextMessage", function(data, name)
      got[#got + 1] = { match = "on " .. name, data = data }
    end, "on")
    deliver("AgentTextMessage", chunk("a"))
    eq({ got[1].match, got[2].match }, { "on AgentTextMessage", "AgentTextMessage" })
  end)

  it("can be heard once, by agent and by session", function()
    local hermes = require("hermes")
    local heard = {}
    local function hear(tag)
      return function()
        heard[#heard + 1] = tag
      end
    end
    offs = {
      hermes.once("AgentTextMessage", hear("once")),
      hermes.on("Plan", hear("never")),
      hermes.on("AgentTextMessage", { callback = hear("other"), agent = "other" }),
      hermes.on({ "AgentTextMessage" }, { callback = hear("mine"), session_id = "s" }),
    }
    deliver("AgentTextMessage", chunk("a"))
    deliver("AgentTextMessage", chunk("b"))
    eq(heard, { "once", "mine", "mine" })
  end)

  it("continue after a listener that fails, with one line for the user", function()
    listen("AgentTextMessage", {
      callback = function()
        error("broken\nin two lines")
      end,
    })
    listen("AgentTextMessage")
    offs[1] = listeners.on("AgentTextMessage", function()
      error("worse")
    end, "on")
    deliver("AgentTextMessage", chunk("a"))
    eq(#got, 1)
    vim.wait(60000, function()
      return #notes == 2
    end, 2)
    eq(#notes, 2)
    eq(table.concat(notes):find("\n"), nil)
  end)

  it("report a listener once, however many events it fails at", function()
    local ready = { state = "ready" }
    offs[1] = listeners.on("*", function()
      error("broken")
    end, "on")
    listen({ "AgentTextMessage", "AgentTextThought", "StateChanged" }, {
      callback = function()
        error("broken too")
      end,
    })
    local batch = {}
    for i = 1, 2000 do
      local name = i % 2 == 0 and "AgentTextMessage" or "AgentTextThought"
      vim.list_extend(batch, { name, chunk("a") })
    end
    rpc.deliver(vim.json.encode(batch))
    deliver("StateChanged", { agent = "demo", from = "starting", to = ready.state })
    vim.wait(100, function()
      return false
    end, 2)
    eq({ #notes, notes }, { 2, notes })
  end)

  -- What Neovim is asked to fire, as it converts the data even if nobody listens.
  local function fired_by(batch)
    local exec, fired = vim.api.nvim_exec_autocmds, {}
    vim.api.nvim_exec_autocmds = function(event, opts)
      fired[#fired + 1] = opts.pattern
      return exec(event, opts)
    end
    local ok, err = pcall(rpc.deliver, vim.json.encode(batch))
    vim.api.nvim_exec_autocmds = exec
    eq({ ok, err and type(err) }, { true, "number" })
    return fired
  end

  it("that nobody hears are not fired, however many other autocommands there are", function()
    local many = {}
    for i = 1, 100 do
      listen("Other" .. i)
      vim.list_extend(many, { "AgentTextMessage", chunk("a") })
    end
    local fired = fired_by(many)
    eq(#fired < 50, true)
    vim.api.nvim_clear_autocmds({ group = group })
    listen("Other")
    vim.list_extend(many, { "AgentTextThought", chunk("a") })
    eq(fired_by(many), {})
    listen("AgentTextThought")
    eq(fired_by(many), { "AgentTextThought" })
    eq(#got, 1)
  end)

  it("are heard by whatever autocommand a listener has just made", function()
    local ways = {
      autocommand = function(make)
        listen("AgentTextThought", { callback = make })
      end,
      ["hermes.on"] = function(make)
        offs[#offs + 1] = listeners.on("AgentTextThought", make, "on")
      end,
    }
    for way, prepare in pairs(ways) do
      for others = 0, 60, 30 do
        for _, pattern in ipairs({
          "AgentTextMessage",
          "*",
          "Agent*",
          "{x,AgentText}Message",
          "HermesAgentTextMessage",
        }) do
          got = {}
          for i = 1, others do
            listen("Other" .. i)
          end
          prepare(function()
            listen(pattern)
          end)
          local batch = {}
          for _ = 1, 20 do -- so that all are looked at
            vim.list_extend(batch, { "AgentPlan", { agent = "demo", update = { entries = {} } } })
          end
          vim.list_extend(batch, { "AgentTextThought", chunk("b"), "AgentTextMessage", chunk("c") })
          rpc.deliver(vim.json.encode(batch))
          local last = got[#got] and got[#got].data.text
          eq({ way, others, pattern, last }, { way, others, pattern, "c" })
          vim.api.nvim_clear_autocmds({ group = group })
          vim.iter(offs):each(function(off)
            off()
          end)
        end
      end
    end
  end)

  it("are heard by an autocommand of a buffer", function()
    deliver("AgentTextMessage", chunk("nobody"))
    listen(nil, { buffer = 0 })
    deliver("AgentTextMessage", chunk("hi"))
    eq(#got, 1)
    eq(got[1].data.text, "hi")
  end)

  it("are heard as 'fileignorecase' says", function()
    vim.o.fileignorecase = true
    listen("agenttextmessage")
    deliver("AgentTextMessage", chunk("hi"))
    vim.o.fileignorecase = false
    eq(#got, 1)
  end)

  it("leave what listeners print and v:errmsg alone", function()
    vim.v.errmsg = "kept"
    listen("AgentTextMessage", {
      callback = function()
        print("heard")
      end,
    })
    vim.cmd("redir => g:printed")
    deliver("AgentTextMessage", chunk("a"))
    vim.cmd("redir END")
    eq(vim.g.printed:find("heard") ~= nil, true)
    eq(vim.v.errmsg, "kept")
  end)

  it("survive a message that is broken", function()
    listen("AgentTextMessage")
    local after = { "nonsense", {}, "AgentTextMessage", chunk("after") }
    eq(pcall(rpc.deliver, '["AgentTextMessage",' .. vim.json.encode(chunk("lost")) .. ",{]"), false)
    eq(#got, 0)
    rpc.deliver(vim.json.encode(after))
    eq(got[1].data.text, "after")
    vim.wait(60000, function()
      return #notes == 1
    end, 2)
    eq(notes[1]:find("nonsense was lost", 1, true) ~= nil, true)
  end)

  it("of one batch reach everybody, whatever a listener does", function()
    local function heard()
      return vim.iter(got):fold("", function(all, g)
        return all .. g.data.text
      end)
    end
    -- An event each, as a failure is shown once for each.
    for i, case in ipairs({
      { "lua error('broken')", 1 },
      { "throw 'broken'", 1 },
      { "call NoSuchFunction()", 1 },
      { "lua vim.cmd('throw 1')", 1 },
      { "let v:errmsg = ''", 0 },
      { "stopinsert | redraw", 0 },
      { "lua vim.wait(1)", 0 },
      { "lua require('hermes.core.events').emit('AgentPlan', { agent = 'demo' })", 0 },
    }) do
      local command, failures = unpack(case)
      local name = ("%s%sMessage"):format(
        i > 4 and "Agent" or "User",
        ({ "Text", "Image", "Audio", "Resource" })[(i - 1) % 4 + 1]
      )
      got, notes = {}, {}
      vim.v.errmsg = "kept"
      listen(name)
      local opts = { group = group, pattern = name, command = command }
      vim.api.nvim_create_autocmd("User", opts)
      local batch = {}
      for _, text in ipairs({ "a", "b", "c" }) do
        vim.list_extend(batch, { name, chunk(text) })
      end
      rpc.deliver(vim.json.encode(batch))
      vim.wait(failures > 0 and 60000 or 200, function()
        return failures > 0 and #notes == failures
      end, 2)
      eq({ command, heard(), #notes, vim.v.errmsg }, { command, "abc", failures, "kept" })
    end
  end)

  it("call functions where errors are raised, also those registered in mid-batch", function()
    local raised = {}
    local function try(data)
      raised[#raised + 1] = data.text .. " " .. tostring(pcall(vim.cmd, "NoSuchCommand"))
    end
    listen("AgentTextMessage", {
      once = true,
      callback = function()
        offs[1] = listeners.on("AgentTextMessage", try, "on")
      end,
    })
    local batch = {}
    for _, text in ipairs({ "a", "b", "c" }) do
      vim.list_extend(batch, { "AgentTextMessage", chunk(text) })
    end
    rpc.deliver(vim.json.encode(batch))
    eq(raised, { "b false", "c false" })
  end)

  it("of a host of another version are refused with advice", function()
    rpc.deliver({ { "hello", '{"protocol":1}' } })
    vim.wait(60000, function()
      return #notes == 1
    end, 2)
    eq(notes[1]:find(":Hermes build", 1, true) ~= nil, true)
  end)

  it("are refused by Neovim as they are, and taken by create_autocmd", function()
    eq(pcall(vim.api.nvim_create_autocmd, "AgentTextMessage", { callback = print }), false)
    require("hermes").create_autocmd("AgentTextMessage", {
      group = "Hermes",
      pattern = { "*" },
      callback = function(args)
        got[#got + 1] = { data = args.data }
      end,
    })
    require("hermes").create_autocmd({ "AgentTextMessage", "Plan" }, {
      group = group,
      pattern = "other",
      callback = function()
        got[#got + 1] = "never"
      end,
    })
    deliver("AgentTextMessage", chunk("x"))
    eq(#got, 1)
    eq(got[1].data.text, "x")
  end)

  it("of others do not use up a create_autocmd that is for one", function()
    local function count(opts)
      local heard = {}
      opts.group, opts.once = group, true
      opts.callback = function(args)
        heard[#heard + 1] = args.data.sessionId .. " " .. args.match
        if opts.fails then
          error("broken")
        end
      end
      local fails = opts.fails
      opts.fails = nil
      require("hermes").create_autocmd({ "AgentTextMessage", "AgentPlan" }, opts)
      opts.fails = fails
      return heard
    end
    local session, agent = count({ pattern = "b" }), count({ pattern = { "x", "second" } })
    local any, failing = count({}), count({ pattern = "b", fails = true })
    local sources = { { "demo", "a" }, { "demo", "b" }, { "second", "c" }, { "demo", "b" } }
    for _, data in ipairs(sources) do
      for _, name in ipairs({ "AgentTextMessage", "AgentPlan" }) do
        local c = chunk("x")
        c.agent, c.sessionId = data[1], data[2]
        deliver(name, c)
      end
    end
    eq(session, { "b AgentTextMessage", "b AgentPlan" })
    eq(agent, { "c AgentTextMessage", "c AgentPlan" })
    eq(any, { "a AgentTextMessage", "a AgentPlan" })
    eq(failing, { "b AgentTextMessage", "b AgentPlan" })
    eq(#vim.api.nvim_get_autocmds({ group = group }), 0)
    vim.wait(60000, function()
      return #notes > 0
    end, 2)
    eq(#notes, 1) -- it is reported once
  end)

  it("are taken by nvim_create_autocmd with compat.seed", function()
    local plain = vim.api.nvim_create_autocmd
    require("hermes").setup({ compat = { seed = true } })
    vim.api.nvim_create_autocmd({ "AgentToolCall", "AgentToolCallUpdate" }, {
      group = "Hermes",
      pattern = { "*" },
      callback = function(args)
        got[#got + 1] = args.data
      end,
    })
    vim.api.nvim_create_autocmd("User", { group = group, pattern = "X", callback = print })
    deliver("AgentToolCall", {
      agent = "demo",
      sessionId = "s",
      update = { sessionUpdate = "tool_call", toolCallId = "t", status = "in_progress" },
    })
    eq({ got[1].status, got[1].update.status, got[1].id }, { "InProgress", "in_progress", "t" })
    local link = { type = "resource_link", name = "x", uri = "file:///x" }
    local content = { { type = "content", content = link } }
    deliver("AgentToolCallUpdate", {
      agent = "demo",
      sessionId = "s",
      update = { sessionUpdate = "tool_call_update", toolCallId = "t", content = content },
    })
    eq({ got[2].content[1].type, got[2].fields[1].type }, { "resourcelink", "resourcelink" })
    require("hermes").setup({ compat = { seed = false } })
    eq(vim.api.nvim_create_autocmd, plain)
  end)

  it("that do not exist are named", function()
    local ok, err = pcall(require("hermes").on, "AgentTextMesage", print)
    eq(ok, false)
    eq(err:find('hermes.on: "AgentTextMesage" is not an event', 1, true) ~= nil, true)
    eq(pcall(require("hermes").create_autocmd, "Nothing", {}), false)
  end)
end)
