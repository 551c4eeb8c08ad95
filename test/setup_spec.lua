local hermes = require("hermes")
local eq = MiniTest.expect.equality

---@param text string
local function fails(text, fn, ...)
  local ok, err = pcall(fn, ...)
  eq(ok, false)
  eq(tostring(err):find(text, 1, true) ~= nil or err, true)
end

describe("an agent for the host", function()
  local wire = require("hermes.core.config_wire").agent

  it("has its folders with the home folder in place of ~", function()
    local given = { command = "x", paths = { ["~/a"] = "/w", ["/b"] = [[C:\w]] } }
    local home = vim.uv.os_homedir()
    eq(wire(given).paths, { [home .. "/a"] = "/w", ["/b"] = [[C:\w]] })
    eq(given.paths["~/a"], "/w")
    eq(wire({ command = "x", paths = {}, env = {} }), { command = "x" })
  end)
end)

describe("setup", function()
  after_each(function()
    require("hermes.core.config").reset()
  end)

  it("names what is wrong and changes nothing", function()
    fails('unknown key "permisions"', hermes.setup, { permisions = {} })
    fails('unknown key "compat.sed"', hermes.setup, { compat = { sed = true } })
    fails(
      "compat.seed must be a boolean, not a string",
      hermes.setup,
      { compat = { seed = "yes" } }
    )
    fails("handlers.X must be a function", hermes.setup, { handlers = { X = 1 } })
    fails("agents.a must be a table", hermes.setup, { agents = { a = "cmd" } })
    fails('unknown key "agents.a.cmd"', hermes.setup, { agents = { a = { cmd = "x" } } })
    fails("agents must have names", hermes.setup, { agents = { { command = "x" } } })
    for _, wrong in ipairs({
      { "args must be a list of strings", { args = "x" } },
      { "args must be a list of strings", { args = { "a", 1 } } },
      { "args must be a list of strings", { args = { a = "b" } } },
      { "pass_env must be a list of strings", { pass_env = { 1 } } },
      { "env must be a table of strings by name", { env = { "A=b" } } },
      { "env must be a table of strings by name, not { A = 1 }", { env = { A = 1 } } },
      { "headers must be a table of strings by name", { headers = { { "a" } } } },
      { "port must be a number from 1 to 65535, not 0.5", { port = 0.5 } },
      { 'paths must be a table of strings by name, not { "/a" }', { paths = { "/a" } } },
      {
        "sandbox must be true, false, a table, a list of strings or a function, not 7",
        { sandbox = 7 },
      },
      {
        'sandbox must be a list of strings, the program first, not { "a", 1 }',
        { sandbox = { "a", 1 } },
      },
      { 'sandbox must be a list of strings, the program first, not { "" }', { sandbox = { "" } } },
      {
        'sandbox is wrong: unknown key "wirte"; did you mean "write"?',
        { sandbox = { wirte = {} } },
      },
      { "sandbox is wrong: write must be a list of strings", { sandbox = { write = "/a" } } },
      {
        'sandbox is wrong: read: "a" is not an absolute path',
        { sandbox = { read = { "/a", "a" } } },
      },
      { 'sandbox is wrong: hide: "~a" is not an absolute path', { sandbox = { hide = { "~a" } } } },
      {
        "sandbox is wrong: net must be true, false or a list of ports, not 443",
        { sandbox = { net = 443 } },
      },
      {
        "sandbox is wrong: net must be true, false or a list of ports, not { 0 }",
        { sandbox = { net = { 0 } } },
      },
      {
        "sandbox is wrong: net must be true, false or a list of ports",
        { sandbox = { net = { a = 1 } } },
      },
      {
        "sandbox is wrong: sockets must be a boolean, not a number",
        { sandbox = { sockets = 1 } },
      },
      { 'paths: "b" is not an absolute path', { paths = { ["/a"] = "b" } } },
      { 'paths: "./a" is not an absolute path', { paths = { ["./a"] = "/b" } } },
    }) do
      fails("agents.a." .. wrong[1], hermes.setup, { agents = { a = wrong[2] } })
      if wrong[2].sandbox then
        fails("setup: " .. wrong[1], hermes.setup, wrong[2])
        fails("connect: " .. wrong[1], hermes.connect, "a", wrong[2])
      end
    end
    fails("timeouts.answer must be a whole number", hermes.setup, { timeouts = { answer = 0.5 } })
    fails("timeouts.cancel must be a whole number", hermes.setup, { timeouts = { cancel = -1 } })
    fails("root_markers must be a list of strings", hermes.setup, { root_markers = { 1 } })
    fails(
      'agents.a.quirks.missing_file must be "error" or "empty", not "gone"',
      hermes.setup,
      { agents = { a = { quirks = { missing_file = "gone" } } } }
    )
    fails(
      "agents.a.quirks.one_session must be a boolean, not a number",
      hermes.setup,
      { agents = { a = { quirks = { one_session = 1 } } } }
    )
    fails(
      'unknown key "agents.a.quirks.shell_lines"; valid keys: elsewhere, ignores_eof',
      hermes.setup,
      { agents = { a = { quirks = { shell_lines = true } } } }
    )
    fails(
      'agents.a.protocol: unknown protocol "smoke"',
      hermes.setup,
      { agents = { a = { protocol = "smoke" } } }
    )
    fails(
      'terminal_access must be a boolean or one of ask, not "sometimes"',
      hermes.setup,
      { permissions = { terminal_access = "sometimes" } }
    )
    fails(
      'agents.a.terminal_access must be a boolean or one of ask, not "sometimes"',
      hermes.setup,
      { agents = { a = { terminal_access = "sometimes" } } }
    )
    local settle =
      "review.settle must be one of approval, commit, decision, or a list of them, not "
    for value, shown in pairs({
      ["never"] = '"never"',
      [1] = "1",
      [{}] = "{}",
      [{ "commit", "x" }] = '{ "commit", "x" }',
      [{ a = "commit" }] = "{",
    }) do
      fails(settle .. shown, hermes.setup, { review = { settle = value } })
    end
    for _, value in ipairs({ "approval", { "approval", "commit" }, { "commit" }, "decision" }) do
      hermes.setup({ review = { settle = value } })
      eq(require("hermes.core.config").get().review.settle, value)
    end
    fails("permissions.rules must be a list", hermes.setup, { permissions = { rules = { a = 1 } } })
    for text, rule in pairs({
      ['unknown key "permissions.rules[1].paths"; did you mean "path"? valid keys: action'] = {
        action = "allow",
        paths = "/w",
      },
      ['permissions.rules[1].action must be "allow" or "deny", not nil'] = { kind = "read" },
      ["permissions.rules[1].path must be a string, not a table"] = {
        action = "allow",
        path = { "/w" },
      },
      ["permissions.rules[1].command must hold"] = { action = "allow", command = {} },
      ["permissions.rules[1].command must be a list of strings"] = {
        action = "allow",
        command = "git",
      },
      ["permissions.rules[1].env must be a list of strings"] = {
        action = "allow",
        command = { "git" },
        env = { HOME = true },
      },
      ["permissions.rules[1].cwd must be a string"] = {
        action = "allow",
        command = { "git" },
        cwd = { "/w" },
      },
      ["permissions.rules[1]: a command may touch any path"] = {
        action = "allow",
        command = { "cat" },
        path = "/w/**",
      },
      ["permissions.rules[1]: env and cwd are for rules that allow"] = {
        action = "deny",
        command = { "cat" },
        env = { "HOME" },
      },
      ["permissions.rules[1]: rules of setup() hold always"] = { action = "deny", scope = "once" },
      ["permissions.rules[1] must be a table"] = "allow",
    }) do
      fails(text, hermes.setup, { permissions = { rules = { rule } } })
    end
    fails("reconnect must be a table", hermes.setup, { reconnect = false })
    fails("reconnect.remote must be a boolean", hermes.setup, { reconnect = { remote = 3 } })
    fails(
      "agents.a.reconnect must be a boolean",
      hermes.setup,
      { agents = { a = { reconnect = {} } } }
    )
    for _, url in ipairs({ "", "x.example", "ftp://x", "https://", "https://x/a b", 1 }) do
      fails("host.url must be an address that begins", hermes.setup, { host = { url = url } })
    end
    for _, cmd in ipairs({ "x", {}, { "" }, { 1 } }) do
      fails("host.cmd must be a list of strings", hermes.setup, { host = { cmd = cmd } })
    end
    fails("expected a table", hermes.setup, "x")
    eq(require("hermes.core.config").get(), require("hermes.core.config").defaults)
  end)

  it("finds the home folder in rules", function()
    hermes.setup({
      permissions = {
        rules = {
          { action = "deny", path = "~/x" },
          { action = "allow", command = { "git" }, env = { "HOME" }, cwd = "~/**" },
          { action = "deny", path = "a/~/b", command = { "cat" } },
        },
      },
    })
    local home = vim.uv.os_homedir()
    eq(require("hermes.core.config_wire").all().permissions.rules, {
      { action = "deny", path = home .. "/x" },
      { action = "allow", command = { "git" }, env = { "HOME" }, cwd = home .. "/**" },
      { action = "deny", path = "a/~/b", command = { "cat" } },
    })
  end)

  it("says which keys of another plugin have no effect, and takes the rest", function()
    local notify, notes = vim.notify, {}
    vim.notify = function(text)
      notes[#notes + 1] = text
    end
    hermes.setup({ download = true, terminal = { hidden = true }, root_markers = { "x" } })
    vim.wait(60000, function()
      return #notes == 2
    end, 2)
    vim.notify = notify
    eq(#notes, 2)
    eq(require("hermes.core.config").get().root_markers, { "x" })
  end)

  it("adds up over calls", function()
    hermes.setup({ agents = { a = { command = "a" } } })
    hermes.setup({ agents = { b = { command = "b" } }, root_markers = { ".hg" } })
    local config = require("hermes.core.config").get()
    eq({ config.agents.a.command, config.agents.b.command }, { "a", "b" })
    eq(config.root_markers, { ".hg" })
    hermes.setup({ sandbox = { write = { "/a" } } })
    hermes.setup({ sandbox = { net = false } }) -- rules of two calls would be nobody's
    eq(require("hermes.core.config").get().sandbox, { net = false })
    hermes.setup({ sandbox = false })
  end)
end)

describe("arguments", function()
  local params = require("hermes.session.params")

  it("that are wrong are named", function()
    fails("the name of the agent must be a string", hermes.connect, nil)
    fails('unknown protocol "smoke"', hermes.connect, "x", { protocol = "smoke" })
    fails('unknown protocol "smoke"', hermes.connect, "x", "smoke")
    fails("port must be a number", hermes.connect, "x", { protocol = "tcp", port = "80" })
    fails("expected a table of options", hermes.connect, { agent = "x" }, 5)
    fails("the names of agents must be", hermes.disconnect, 5)
    fails("the names of agents must be", hermes.disconnect, { "a", 5 })
    fails("the names of agents must be a string or a list", hermes.logout, 5)
    fails("cwd must be a string", hermes.create_session, { cwd = 5 })
    fails("mcp_servers must be a table", hermes.create_session, { mcp_servers = "x" })
    fails("the id of the session must be a string", hermes.delete_session)
    fails("the id of the session must be a string", hermes.delete_session, {})
    fails("the ids of sessions must be", hermes.delete_session, { "a", 5 })
    fails("the option must be a table", hermes.set_config_option, "s", 5)
    fails("the value must be a string", hermes.set_config_option, "s", { id = "x" })
    fails("on_done must be a function", hermes.prompt, "s", "x", { on_done = "f" })
    fails("agent must be a string", hermes.cancel, "s", { agent = 5 })
    fails("the params must be a table", hermes.request, nil, "x", 5)
    fails("on_done must be a function", hermes.request, nil, "x", {}, "f")
    fails("the params must be a table", hermes.notify, nil, "x", 5)
    fails("hermes.session_list: the params must be a table", hermes.session_list, 5)
    fails("hermes.session_list: on_done must be", hermes.session_list, {}, { on_done = 5 })
    fails("the id of the session must be a string", hermes.state, 5)
    fails("file must be a string", hermes.install, { file = 5 })
    fails("timeout must be a whole number of milliseconds", hermes.install, { timeout = "5" })
    fails("the id of the request must be a string", hermes.respond)
    fails("the id of the request must be a string", hermes.reject, 5)
    fails("the code must be a whole number", hermes.reject, "r", "no", "x")
    fails("the message must be a string", hermes.reject, "r", {})
    fails("expected the names of events", hermes.on, {}, print)
    fails("expected a function", hermes.once, "AgentPlan", 5)
    fails("expected the names of events", hermes.create_autocmd, {}, { callback = print })
    fails("expected a table of options", hermes.create_autocmd, "AgentPlan")
    fails('unknown key "prot"', hermes.connect, "x", { prot = "tcp" })
    fails("the model must be a string", hermes.set_model, "s", nil)
    fails("args must be a list of strings", hermes.connect, "x", { args = "y" })
    fails("the id of the session must be a string", hermes.prompt, nil, "x")
    fails("the prompt is empty", hermes.prompt, "s", {})
    fails("a block is a string or a table with a type", hermes.prompt, "s", { 7 })
    fails("a table with a type, not nil", hermes.prompt, "s", { "a", nil, "b" })
    fails("the event or method", hermes.on_request, nil, print)
    fails("expected a function", hermes.on_request, "PermissionRequest", "x")
    fails("expected a table of options", hermes.create_session, "x")
  end)

  it("that are misspelt name what was meant", function()
    for text, call in pairs({
      ['setup: unknown key "permisions"; did you mean "permissions"?'] = function()
        hermes.setup({ permisions = {} })
      end,
      ['setup: unknown key "buffer.autosave"; did you mean "auto_save"? valid'] = function()
        hermes.setup({ buffer = { autosave = true } })
      end,
      ['setup: unknown key "agents.a.quirks.ignore_eof"; did you mean "ignores_eof"?'] = function()
        hermes.setup({ agents = { a = { quirks = { ignore_eof = true } } } })
      end,
      ['"defaults.PermisionRequest"; did you mean "PermissionRequest"?'] = function()
        hermes.setup({ defaults = { PermisionRequest = false } })
      end,
      ['events.off: "AgentTextThougt" is not the name of an event; did'] = function()
        hermes.setup({ events = { off = { "AgentTextThougt" } } })
      end,
      ['"PermisionRequest"; did you mean "PermissionRequest"?'] = function()
        hermes.setup({ handlers = { PermisionRequest = print } })
      end,
      ['"WriteTextFiel"; did you mean "WriteTextFile"?'] = function()
        hermes.on_request("WriteTextFiel", print)
      end,
      ["on_request: AgentTextMessage is an event that needs no answer; hermes.on()"] = function()
        hermes.on_request("AgentTextMessage", print)
      end,
      ["handlers: AgentPlan is an event that needs no answer; hermes.on()"] = function()
        hermes.setup({ handlers = { HermesAgentPlan = print } })
      end,
      ["on_request: expected a function, or nil to remove it, not nothing"] = function()
        hermes.on_request("PermissionRequest")
      end,
      ['create_session: unknown key "cmd"; did you mean "cwd"?'] = function()
        hermes.create_session({ cmd = "/" })
      end,
      ['list_sessions: unknown key "curser"; did you mean "cursor"?'] = function()
        hermes.list_sessions({ curser = "" })
      end,
      ['prompt: unknown key "ondone"; did you mean "on_done"? valid'] = function()
        hermes.prompt("s", "x", { ondone = print })
      end,
      ['session_list: unknown key "zzz"; valid keys: agent'] = function()
        hermes.session_list({}, { zzz = 1 })
      end,
      ['on: unknown key "session"; did you mean "session_id"?'] = function()
        hermes.on("AgentPlan", { callback = print, session = "s" })
      end,
      ['on: "AgentPlans" is not an event of Hermes; did you mean "AgentPlan"?'] = function()
        hermes.on("AgentPlans", print)
      end,
      ['connect: unknown key "comand"; did you mean "command"?'] = function()
        hermes.connect("x", { comand = "y" })
      end,
    }) do
      fails(text, call)
    end
    hermes.on_request("_vendor/WriteTextFile", print) -- of an extension
    hermes.on_request("_vendor/WriteTextFile", nil)
  end)

  it("of a prompt are a text, a block or a list of both", function()
    eq(params.blocks("hi"), { { type = "text", text = "hi" } })
    eq(params.blocks({ type = "link", uri = "file:///a", name = "a" }), {
      { type = "resource_link", uri = "file:///a", name = "a" },
    })
    eq(params.blocks({ "a", { type = "embedded", resource = {} } }), {
      { type = "text", text = "a" },
      { type = "resource", resource = {} },
    })
  end)

  it("of a session take both spellings", function()
    local p = params.session({
      cwd = "/tmp/",
      additional_directories = { "/var/" },
      mcp_servers = {
        { name = "a", command = "/a", env = { { KEY = "v" } } },
        { type = "http", name = "b", url = "http://b", headers = { { name = "H", value = "w" } } },
      },
    })
    eq({ p.cwd, p.additionalDirectories }, { "/tmp", { "/var" } })
    eq(
      p.mcpServers[1],
      { name = "a", command = "/a", args = {}, env = { { name = "KEY", value = "v" } } }
    )
    eq(p.mcpServers[2].headers, { { name = "H", value = "w" } })
    eq(params.session({}).mcpServers, {})
  end)

  it("of a session start at the root of the project, without reading $VAR as a variable", function()
    local dir = vim.fn.tempname() .. "/$HOME"
    vim.fn.mkdir(dir .. "/.git", "p")
    vim.fn.mkdir(dir .. "/sub", "p")
    vim.cmd.edit(vim.fn.fnameescape(dir .. "/sub/f.txt"))
    eq(params.session({}).cwd, vim.fs.normalize(dir, { expand_env = false }))
    vim.cmd.bwipeout()
    eq(params.session({}).cwd, params.folder(vim.fn.getcwd()))
  end)
end)

describe("without an agent", function()
  it("calls return an id and fail by the callback", function()
    local got
    local id = hermes.create_session({
      on_done = function(err)
        got = err
      end,
    })
    eq(type(id), "string")
    eq(got, nil)
    vim.wait(60000, function()
      return got ~= nil
    end, 2)
    eq(got.kind, "not_connected")
    eq(got.message:find("hermes.connect", 1, true) ~= nil, true)
  end)

  it("calls work where Neovim allows little", function()
    local got
    vim.uv.new_timer():start(0, 0, function()
      hermes.create_session({
        on_done = function(err)
          got = err
        end,
      })
    end)
    vim.wait(60000, function()
      return got ~= nil
    end, 2)
    eq(got and got.kind, "not_connected")
  end)
end)

describe("the plugin file", function()
  it("makes the groups and the command, and loads nothing", function()
    local look = [[lua
      vim.wait(20)
      local loaded = vim.tbl_filter(function(name)
        return vim.startswith(name, "hermes")
      end, vim.tbl_keys(package.loaded))
      local function in_group(name)
        return #vim.api.nvim_get_autocmds({ group = name })
      end
      io.write(#loaded, vim.fn.exists(":Hermes"), in_group("hermes"), in_group("Hermes"))]]
    local out = vim
      .system({
        vim.v.progpath,
        "--clean",
        "--headless",
        "--cmd",
        "set rtp^=" .. vim.fn.getcwd(),
        "+" .. look:gsub("\n%s*", " "),
        "+qa!",
      }, { text = true })
      :wait()
    eq(out.stdout .. out.stderr, "0200")
  end)
end)
