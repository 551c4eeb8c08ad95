local answers = require("hermes.ask.answers")
local rpc = require("hermes.core.rpc")
local eq = MiniTest.expect.equality

vim.cmd.source(vim.fn.globpath(vim.o.rtp, "plugin/hermes.lua", false, true)[1])

describe("answers", function()
  local sent, send, defaults, last, notes
  local notify = vim.notify
  local default = require("hermes.ask.defaults")["session/request_permission"]

  before_each(function()
    sent, defaults, notes, last = {}, 0, {}, 0
    send = rpc.send
    rpc.send = function(op, id, payload)
      eq(op, "respond")
      sent[#sent + 1] =
        vim.tbl_extend("force", { id = id }, vim.json.decode(vim.json.encode(payload)))
    end
    vim.notify = function(text)
      notes[#notes + 1] = text
    end
    require("hermes.ask.defaults")["session/request_permission"] = function(_, answer)
      defaults = defaults + 1
      answer.respond("default")
    end
  end)

  after_each(function()
    rpc.send, vim.notify = send, notify
    require("hermes.ask.defaults")["session/request_permission"] = default
    require("hermes.core.config").reset()
    for _, key in ipairs({
      "PermissionRequest",
      "session/request_permission",
      "_x/y",
      "TerminalExit",
    }) do
      answers.on_request(key, nil)
    end
    vim.api.nvim_clear_autocmds({ event = "User" })
    vim.api.nvim_create_augroup("watcher", { clear = true })
    vim.api.nvim_clear_autocmds({ group = "Hermes" })
    answers.drop_all("over")
  end)

  local function settle()
    vim.wait(30, function()
      return false
    end, 2)
  end

  ---@return string id
  local function ask(method, name, data)
    last = last + 1
    local id = "req-" .. last
    data = vim.tbl_extend("force", { requestId = id, sessionId = "s", agent = "demo" }, data or {})
    rpc.deliver(vim.json.encode({
      "ask",
      {
        requestId = id,
        name = name,
        method = method,
        agent = "demo",
        data = data,
      },
    }))
    settle()
    return id
  end

  local function permission()
    local options = vim.tbl_map(function(id)
      return { optionId = id, name = id, kind = "allow_once" }
    end, { "default", "handled", "late", "later", "spelt", "theirs" })
    return ask("session/request_permission", "PermissionRequest", { options = options })
  end

  local function chosen(i)
    return sent[i].result.outcome.optionId
  end

  it("come from the default, outside of the autocommand", function()
    permission()
    eq({ defaults, chosen(1), sent[1].by }, { 1, "default", "default" })
  end)

  it("come from a handler of setup, by what it returns", function()
    require("hermes").setup({
      handlers = {
        PermissionRequest = function()
          return "handled"
        end,
      },
    })
    permission()
    eq({ defaults, chosen(1), sent[1].by }, { 0, "handled", "handler" })
  end)

  it("come from on_request, later, by event or method", function()
    local later
    require("hermes").on_request("session/request_permission", function(_, answer)
      later = answer
    end)
    permission()
    eq(#sent, 0)
    eq(later.respond("late"), true)
    eq(later.respond("later"), false)
    eq({ defaults, chosen(1) }, { 0, "late" })
  end)

  it("come from on_request by any spelling of the event", function()
    require("hermes").on_request("HermesPermissionRequest", function()
      return "spelt"
    end)
    permission()
    eq({ defaults, chosen(1) }, { 0, "spelt" })
  end)

  it("fall back to the default when the handler fails", function()
    answers.on_request("PermissionRequest", function()
      error("oops")
    end)
    permission()
    eq({ defaults, #sent, #notes }, { 1, 1, 1 })
  end)

  it("can be handed on to the default", function()
    answers.on_request("PermissionRequest", function(_, answer)
      eq(answer.default(), true)
    end)
    permission()
    eq({ defaults, chosen(1) }, { 1, "default" })
  end)

  it("come from a listener that claims them, not from one that watches", function()
    vim.api.nvim_create_autocmd("User", { pattern = "*", callback = function() end })
    vim.api.nvim_create_autocmd("User", {
      group = vim.api.nvim_create_augroup("watcher", {}),
      pattern = "PermissionRequest",
      callback = function() end,
    })
    permission()
    eq(defaults, 1)
    vim.api.nvim_create_autocmd("User", {
      group = "Hermes",
      pattern = "PermissionRequest",
      callback = function(args)
        vim.schedule(function()
          require("hermes").respond(args.data.requestId, "theirs")
        end)
      end,
    })
    permission()
    eq({ defaults, chosen(2), sent[2].by }, { 1, "theirs", "respond" })
  end)

  it("of a watcher also count if they are first", function()
    vim.api.nvim_create_autocmd("User", {
      group = vim.api.nvim_create_augroup("watcher", {}),
      pattern = "PermissionRequest",
      callback = function(args)
        args.data.reject("no", -32000)
      end,
    })
    permission()
    eq({ defaults, sent[1].error.code, sent[1].error.message }, { 0, -32000, "no" })
  end)

  it("come from the default when the listener is ignored", function()
    vim.api.nvim_create_autocmd(
      "User",
      { pattern = "PermissionRequest", callback = function() end }
    )
    for _, ignored in ipairs({ "User", "all" }) do
      vim.o.eventignore = ignored
      permission()
      vim.o.eventignore = ""
    end
    eq(defaults, 2)
  end)

  it("come from the default after the time limit", function()
    require("hermes").setup({ timeouts = { answer = 20 } })
    answers.on_request("PermissionRequest", function() end)
    permission()
    vim.wait(60000, function()
      return defaults == 1
    end, 2)
    eq({ defaults, #sent }, { 1, 1 })
  end)

  it("wait when the default is off, and come from whoever answers", function()
    require("hermes").setup({ defaults = { HermesPermissionRequest = false } })
    local id = permission()
    eq({ defaults, #sent, #answers.pending() }, { 0, 0, 1 })
    eq(answers.respond(id, "later"), true)
    eq(chosen(1), "later")
    answers.on_request("PermissionRequest", function(_, answer)
      answer.default() -- asked for by the user
    end)
    permission()
    eq({ defaults, chosen(2) }, { 1, "default" })
    answers.on_request("PermissionRequest", nil)
    require("hermes").setup({ timeouts = { answer = 20 } })
    permission()
    vim.wait(60000, function()
      return #sent == 3
    end, 2)
    eq({ defaults, sent[3].error.message }, { 1, "nobody has answered in time" })
    require("hermes").setup({ defaults = { PermissionRequest = true } })
  end)

  it("are too late when the request was withdrawn", function()
    answers.on_request("PermissionRequest", function() end)
    local id = permission()
    eq(#answers.pending(), 1)
    rpc.deliver(vim.json.encode({ "withdraw", { requestId = id, reason = "cancelled" } }))
    eq({ require("hermes").respond(id, "x"), #answers.pending(), #sent }, { false, 0, 0 })
  end)

  it("are shaped for the method", function()
    local function answer(method, name, value)
      answers.on_request(method, function(_, a)
        a.respond(value)
      end)
      ask(method, name)
      answers.on_request(method, nil)
      local s = table.remove(sent)
      return s and s.result
    end
    eq(answer("fs/read_text_file", "ReadTextFile", "text"), { content = "text" })
    eq(answer("fs/write_text_file", "WriteTextFile", nil), {})
    eq(answer("terminal/create", "TerminalCreate", "t1"), { terminalId = "t1" })
    eq(answer("terminal/wait_for_exit", "TerminalExit", 3), { exitCode = 3 })
    eq(answer("terminal/wait_for_exit", "TerminalExit", "SIGINT"), { signal = "SIGINT" })
    eq(
      answer("session/request_permission", "PermissionRequest", ""),
      { outcome = { outcome = "cancelled" } }
    )
    eq(answer("_x/y", "ExtRequest", { 1, 2 }), { 1, 2 })
  end)

  it("that do not fit are refused and can be given again", function()
    answers.on_request("ReadTextFile", function() end)
    local id = ask("fs/read_text_file", "ReadTextFile")
    eq(answers.respond(id, 7), false)
    eq(answers.respond(id, { f = print }), false)
    settle()
    eq(#notes, 2)
    eq(answers.respond(id, "text"), true)
    eq(sent[1].result, { content = "text" })
    answers.on_request("ReadTextFile", nil)
  end)

  it("name an option of the question, or leave it waiting", function()
    local respond = require("hermes").respond
    answers.on_request("PermissionRequest", function() end)
    local id = permission()
    for _, value in ipairs({
      "bogus",
      { outcome = { outcome = "selected", optionId = "bogus" } },
    }) do
      eq({ respond(id, value), #answers.pending(), #sent }, { false, 1, 0 })
    end
    settle()
    eq(notes[1]:find('there is no option "bogus"', 1, true) ~= nil, true)
    eq({ respond(id, "late"), chosen(1) }, { true, "late" })
    id = permission()
    eq({ respond(id, ""), sent[2].result.outcome.outcome }, { true, "cancelled" })
  end)

  it("come from the default when what the handler returned does not fit", function()
    answers.on_request("PermissionRequest", function()
      return "bogus"
    end)
    permission()
    eq({ defaults, chosen(1), sent[1].by }, { 1, "default", "default" })
  end)

  it("given elsewhere take the question of the default away", function()
    require("hermes.ask.defaults")["session/request_permission"] = default
    local select = vim.ui.select
    local shown = 0
    vim.ui.select = function()
      shown = shown + 1
    end
    local id = permission()
    eq({ shown, #require("hermes.ask.questions").list() }, { 1, 1 })
    eq(require("hermes").respond(id, "late"), true)
    eq({ #require("hermes.ask.questions").list(), #sent }, { 0, 1 })
    vim.ui.select = select
  end)

  it("of defaults respect a refusal", function()
    local id = ask("fs/read_text_file", "ReadTextFile", { path = "/x" })
    eq({ sent[1].id, sent[1].default }, { id, true })
  end)
end)
