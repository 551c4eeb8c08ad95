-- The stock UI of Codex beside Neovim, in one session. Started by codex_shared_test.go;
-- $HERMES_E2E says where.
local codex = dofile(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)) .. "/codex_screen.lua")
local config, hermes = codex.config, require("hermes")

codex.start({ shared = true })
local session = codex.session

-- Typed in the terminal, seen in the editor.
codex.type_prompt("SAY typed-there")
codex.said("typed-there")
codex.ended()

-- Typed in the editor, seen in the terminal.
hermes.prompt(session, "SAY typed-here")
codex.shows("typed-here")
codex.ended()

-- Asked in both, answered in the terminal.
hermes.prompt(session, config.allowed)
local asked = codex.question("allowed")
codex.answer_there("y")
codex.event("RequestCancelled", function(data)
  return data.requestId == asked.requestId
end)
codex.ended()
assert(codex.exists("allowed"), "an allowed command did not run")

-- Asked in both, answered in the editor.
codex.type_prompt(config.denied)
asked = codex.question("denied")
codex.shows("Would you like to run")
codex.answer_here(asked, "decline")
codex.hides("Would you like to run")
codex.ended()
assert(not codex.exists("denied"), "a denied command ran")

-- The terminal goes, and comes back.
codex.type_prompt("/quit")
codex.wait("end of the terminal", function()
  return vim.fn.jobwait({ vim.bo[codex.buf].channel }, 0)[1] ~= -1
end)
hermes.prompt(session, "SAY without-it")
codex.said("without-it")
codex.ended()
vim.cmd.bwipeout({ codex.buf, bang = true })
local opened
hermes.shared.open(session, {
  on_done = function(err, info)
    opened = err or info
  end,
})
codex.wait("shared.open", function()
  return opened
end)
assert(opened.sessionId == session, vim.inspect(opened))
codex.find()
codex.shows("without-it")

-- The agent goes, and comes back to a question that is still open.
hermes.prompt(session, config.left)
codex.question("left")
codex.shows("Would you like to run")
hermes.disconnect("codex")
codex.event("Disconnected")
codex.forget()
hermes.connect("codex", { shared = true })
hermes.load_session(session, { cwd = config.workspace })
asked = codex.question("left")
codex.shows("Would you like to run")
codex.answer_here(asked, "accept")
codex.hides("Would you like to run")
codex.ended()
assert(codex.exists("left"), "an allowed command did not run")

io.stdout:write("conversation complete\n")
