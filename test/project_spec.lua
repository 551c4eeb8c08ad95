local hermes = require("hermes")
local params = require("hermes.session.params")
local eq = MiniTest.expect.equality

describe("a session of a project", function()
  local dir, notes
  local notify = vim.notify
  local state = vim.env.XDG_STATE_HOME

  ---@param name string
  ---@param content string
  ---@return string path
  local function on_disk(name, content)
    local path = dir .. "/" .. name
    vim.fn.mkdir(vim.fs.dirname(path), "p")
    local file = assert(io.open(path, "wb"))
    file:write(content)
    file:close()
    return path
  end

  --- What the user does after reading the file.
  local function trust(path)
    vim.cmd.edit(vim.fn.fnameescape(path))
    vim.cmd("silent trust")
    vim.cmd.bwipeout()
  end

  local function told()
    vim.wait(50, function()
      return false
    end, 5)
    return notes
  end

  before_each(function()
    dir = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())) .. "/" .. vim.uv.hrtime()
    vim.fn.mkdir(dir .. "/state/nvim", "p")
    vim.env.XDG_STATE_HOME = dir .. "/state"
    notes = {}
    vim.notify = function(text)
      notes[#notes + 1] = text
    end
  end)
  after_each(function()
    vim.notify = notify
    vim.env.XDG_STATE_HOME = state
    require("hermes.core.config").reset()
  end)

  it("does not wait for a named pipe in the place of its file", function()
    vim.system({ "mkfifo", dir .. "/" .. require("hermes.session.project").file }):wait()
    eq(params.session({ cwd = dir }).cwd, dir)
  end)

  it("starts with what setup says, unless the call says otherwise", function()
    local server = { name = "a", command = "/a", args = {}, env = {} }
    hermes.setup({
      session_defaults = { additional_directories = { "/x/" }, mcp_servers = { server } },
    })
    local p = params.session({ cwd = dir })
    eq({ p.additionalDirectories, p.mcpServers }, { { "/x" }, { server } })
    p = params.session({ cwd = dir, mcp_servers = {}, additionalDirectories = { "/y" } })
    eq({ p.additionalDirectories, p.mcpServers }, { { "/y" }, {} })
    hermes.setup({
      session_defaults = function(cwd)
        return cwd == dir and { additional_directories = { "/z" } } or nil
      end,
    })
    eq(params.session({ cwd = dir }).additionalDirectories, { "/z" })
    eq(params.session({ cwd = "/" }).additionalDirectories, nil)
    eq(params.session({ cwd = "/" }).mcpServers, {})
  end)

  it("starts all the same when those defaults are wrong", function()
    for wrong, text in pairs({
      ["{ mcp_server = {} }"] = 'session_defaults: unknown key "mcp_server"; did you mean',
      ["{ additional_directories = 'x' }"] = "additional_directories must be a list of strings",
      ["5"] = "session_defaults must be a table",
    }) do
      local ok, err = pcall(hermes.setup, { session_defaults = loadstring("return " .. wrong)() })
      eq({ ok, err:find(text, 1, true) ~= nil or err }, { false, true })
      notes = {}
      hermes.setup({ session_defaults = loadstring("return " .. wrong) })
      eq(params.session({ cwd = dir }).additionalDirectories, nil)
      eq(told()[1]:find(text, 1, true) ~= nil or notes, true)
    end
    notes = {}
    hermes.setup({
      session_defaults = function()
        error("oops")
      end,
    })
    eq(params.session({ cwd = dir }).mcpServers, {})
    eq(told()[1]:find("oops", 1, true) ~= nil, true)
  end)

  it("takes up the project's file only once it is trusted, as it is", function()
    local server = { name = "b", command = "/b", env = { KEY = "v" } }
    local path = on_disk(
      ".hermes.json",
      vim.json.encode({ additional_directories = { "../lib", "/abs" }, mcp_servers = { server } })
    )
    hermes.setup({ session_defaults = { additional_directories = { "/x" } } })
    eq(params.session({ cwd = dir }).additionalDirectories, { "/x" })
    eq(params.session({ cwd = dir }).mcpServers, {})
    eq(#told(), 1) -- once
    eq(
      notes[1]:find(".hermes.json is not used: open it, read it, then :trust", 1, true) ~= nil,
      true
    )
    trust(path)
    local p = params.session({ cwd = dir })
    eq(p.additionalDirectories, { "/x", vim.fs.dirname(dir) .. "/lib", "/abs" })
    eq(p.mcpServers, {
      { name = "b", command = "/b", args = {}, env = { { name = "KEY", value = "v" } } },
    })
    on_disk(".hermes.json", '{ "mcp_servers": [ { "name": "evil", "command": "/evil" } ] }')
    eq(params.session({ cwd = dir }).mcpServers, {})
    eq(#told(), 2)
    eq(vim.fn.mode(), "n")
  end)

  it("says what is wrong with a trusted file", function()
    for content, text in pairs({
      ["not json"] = "not JSON",
      ['{ "mcpServers": [] }'] = 'unknown key "mcpServers"; did you mean "mcp_servers"?',
      ['{ "additional_directories": "x" }'] = "must be a list of strings",
      ["[]"] = "",
    }) do
      notes = {}
      trust(on_disk(".hermes.json", content))
      eq(params.session({ cwd = dir }).mcpServers, {})
      if text == "" then
        eq(told(), {})
      else
        eq(told()[1]:find(text, 1, true) ~= nil or notes, true)
      end
    end
  end)
end)
