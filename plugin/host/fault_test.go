package host

import (
	"strings"
	"testing"
)

func TestAConnectionThatFailsSaysWhy(t *testing.T) {
	cases := []struct{ agent, kind, stage, want string }{
		{"nobody", "unknown_agent", "resolve", "known agents:"},
		{"missing", "start", "start", "no-such-program"},
		{"help", "initialize", "initialize", "Usage: agent [OPTIONS]"},
		{"exit", "initialize", "initialize", "no licence found"},
		{"version", "initialize", "initialize", "this client speaks 1, the agent 9"},
		{"mute", "timeout", "initialize", "did not answer initialize within 300ms"},
		{"chatty", "timeout", "initialize", `within 5s: stdout: Do you trust this folder? [yN] ` + "\ufffd[31m\ufffdxxx"},
	}
	inNeovim(t, func(t *testing.T, e *editor) {
		for _, c := range cases {
			switch c.agent {
			case "mute":
				e.lua(`hermes.setup({ timeouts = { initialize = 300 } })`)
			case "chatty":
				e.lua(`hermes.setup({ timeouts = { initialize = 5000 } })`)
			}
			e.lua(`hermes.connect(..., { on_done = finish(...) })
hermes.create_session({ on_done = finish("session " .. ...) })`, c.agent)
			e.until(`done["` + c.agent + `"] and done["session ` + c.agent + `"]`)
			err := e.json(`done["` + c.agent + `"].err`)
			if len(err) > 1000 || !strings.Contains(err, c.want) || !strings.Contains(err, `"kind":"`+c.kind+`"`) {
				t.Errorf("%s: %s", c.agent, err)
			}
			e.is(`done["session `+c.agent+`"].err ~= nil`, true)
			e.is(`of("ConnectionFailed")[#of("ConnectionFailed")].stage`, c.stage)
			e.is(`(function()
  local methods = vim.tbl_map(function(d) return d.method end, vim.list_slice(of("RequestFailed"), #of("RequestFailed") - 1))
  table.sort(methods) -- the agent may be gone before the session is asked for
  return methods
end)()`, []string{"connect", "session/new"})
			e.until("vim.tbl_count(hermes.state().agents) == 0") // or the next session asks for this one
		}
		e.until("vim.tbl_count(hermes.state().agents) == 0")
		e.lua(`hermes.setup({ timeouts = { initialize = 0 } })`)
		e.open() // still usable
		e.prompt("SAY fine")
		e.is("said()", "fine")
	})
}

func TestASessionThatNeverOpensFailsInTime(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`hermes.setup({ timeouts = { new_session = 300 } })
hermes.connect("hung", { on_done = finish("connect") })
hermes.create_session({ on_done = finish("session") })`)
		e.until("done.session")
		e.is("done.session.err.message", "session/new: not answered within 300ms")
		e.is("done.session.err.kind", "timeout")
		e.lua(`hermes.setup({ timeouts = { new_session = 0 } })
hermes.create_session({ on_done = finish("second") })`) // still usable, and as slow as the machine
		e.until("done.second")
		e.is("done.second.err == nil", true)
	})
}

func TestAnAgentThatDiesFailsEverythingWithTheCause(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
hermes.on_request("PermissionRequest", function() end)
hermes.prompt(s, "SAY last words\nWAIT 500ms\nERR out of memory\nEXIT 7", { on_done = finish(1) })
hermes.prompt(s, "SAY never", { on_done = finish(2) })`)
		e.until("done[1] and done[2]")
		for _, key := range []string{"1", "2"} {
			err := e.json("done[" + key + "].err")
			if !strings.Contains(err, "exited with status 7") || !strings.Contains(err, "out of memory") || !strings.Contains(err, `"kind":"exit"`) {
				t.Errorf("prompt %s: %s", key, err)
			}
		}
		e.until(`#of("Disconnected") == 1`)
		e.is(`of("Disconnected")[1].code`, 7)
		e.is(`of("Disconnected")[1].stderr_tail`, []string{"out of memory"})
		e.is("said()", "last words")
		e.until("vim.tbl_count(hermes.state().sessions) == 0")
		e.lua(`done = {}`)
		e.open()
		e.prompt("SAY again")
		e.is("said()", "last wordsagain")
	})
}

func TestAnAgentCanBeStartedAgainAsSoonAsItIsGone(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
hermes.once("Disconnected", function()
  hermes.connect("tester", { on_done = finish("again") })
  hermes.create_session({ cwd = vim.fn.getcwd(), on_done = function(err, r)
    finish("session again")(err, r)
    hermes.prompt(r.sessionId, "SAY back", { on_done = finish("turn") })
  end })
end)
hermes.prompt(s, "ERR out of memory\nEXIT 7", { on_done = finish("dead") })`)
		e.until("done.dead and done.again and done.turn")
		e.is("{ done.dead.err.kind, done.again.err == nil, said() }", []any{"exit", true, "back"})
		e.lua(`
done = {}
hermes.disconnect("tester")
hermes.connect("tester", { on_done = finish("third") })`)
		e.until("done.third")
		e.is("{ done.third.err == nil, hermes.state().agents.tester.state }", []any{true, "ready"})
	})
}

func TestAnErrorAnswerReachesTheCaller(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.prompt(`ERROR {"code":400,"message":"no money","data":{"hint":"later"}}`)
		e.is("{ done.turn.err.kind, done.turn.err.code, done.turn.err.data.hint }", []any{"agent", 400, "later"})
		e.is(`of("TurnEnded")[1].error.message`, "no money")
		e.is(`of("RequestFailed")[1].promptId == nil and of("RequestFailed")[1].sessionId == s`, true)
		e.lua(`hermes.authenticate("other", { on_done = finish("auth") })`)
		e.until("done.auth")
		e.is("done.auth.err.kind", "auth_required")
		e.lua(`hermes.prompt("unknown", "hi", { on_done = finish("lost") })`)
		e.until("done.lost")
		e.is("done.lost.err.kind", "unknown_session")
		e.lua(`hermes.request(nil, "session/set_mode", { sessionId = s }, finish("bad"))`)
		e.until("done.bad")
		e.is("{ done.bad.err.kind, done.bad.err.message:find('modeId', 1, true) ~= nil }", []any{"invalid", true})
	})
}

// R11, T23 of the conformance list.
func TestAnAgentThatSaysNothingIsReportedAndGoesOn(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`hermes.setup({ timeouts = { silence = 200, cancel = 100 } })`)
		e.open()
		e.lua(`hermes.prompt(s, "WAIT 1m", { on_done = finish("turn") })`)
		e.until(`vim.iter(notes):any(function(n) return n:find("has said nothing for 200ms", 1, true) ~= nil end)`)
		e.is(`done.turn == nil`, true)
		e.lua(`hermes.cancel(s)`)
		e.until(`done.turn`)
		e.is(`done.turn.result.stopReason`, "cancelled")
		e.prompt("SAY later")
		e.is("done.turn.result.stopReason", "end_turn")
		e.lua(`done.turn = nil; hermes.prompt(s, "SAY on\nIGNORE 4s", { on_done = finish("turn") })`)
		e.until(`#of("AgentTextMessage") == 2`) // before it has the prompt, nothing has to stop
		e.lua(`hermes.cancel(s)`)
		e.until(`vim.iter(notes):any(function(n) return n:find("has not stopped 100ms after cancel", 1, true) ~= nil end)`)
		e.until(`done.turn`)
	})
}

func TestBadLinesAreReportedAndTheAgentGoesOn(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.prompt(`LINE {"jsonrpc":"2.0","method":"session/update","params":` + "\nLINE Loading model...\nERR warming up\nWAIT 20ms\nSAY fine")
		e.is("said()", "fine")
		e.until(`#of("AgentStderr") == 2`)
		e.is(`(function()
  local lines = {}
  for _, x in ipairs(of("AgentStderr")) do lines[x.stream] = x.line end
  return lines.stdout .. "," .. lines.stderr
end)()`, "Loading model...,warming up")
		e.until(`#of("RequestFailed") == 1`)
		e.is(`of("RequestFailed")[1].kind`, "wire")
		e.until(`table.concat(notes):find("sent a bad message", 1, true)`)
	})
}

func TestALineAboveTheLimitIsReportedAndTheAgentGoesOn(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.prompt("GIANT 178257920\nSAY fine")
		e.is("said()", "fine")
		e.until(`#of("RequestFailed") == 1`)
		e.until(`table.concat(notes):find("limit", 1, true)`)
	})
}

func TestAHostThatDiesFailsEverythingAndIsStartedAgain(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
hermes.prompt(s, "SAY on\nWAIT 10s", { on_done = finish("turn") })
_G.pid = vim.fn.jobpid(vim.iter(vim.api.nvim_list_chans()):find(function(c) return c.stream == "job" end).id)`)
		e.until(`said() == "on"`)
		e.lua(`vim.uv.kill(pid, "sigkill")`)
		e.until("done.turn")
		e.is("done.turn.err.kind", "host")
		e.until(`#of("Disconnected") == 1`)
		e.is(`{ #of("TurnEnded"), of("TurnEnded")[1].error.kind, of("TurnEnded")[1].promptId == of("TurnStarted")[1].promptId }`, []any{1, "host", true})
		e.is(`vim.iter(seen):map(function(x) return x.event end):filter(function(n) return n == "TurnEnded" or n == "Disconnected" end):join(" ")`, "TurnEnded Disconnected")
		e.is("vim.tbl_count(hermes.state().agents)", 0)
		e.lua(`done = {}`)
		e.open()
		e.prompt("SAY back")
		e.is("said()", "onback")
	})
}

func TestAHostThatIsNotThereIsNamed(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`hermes.setup({ host = { cmd = { "/no/such/host" } } })
hermes.connect("tester", { on_done = finish("connect") })`)
		e.until("done.connect")
		e.is("done.connect.err.message:find('/no/such/host', 1, true) ~= nil", true)
	})
}

func TestAListenerThatFailsStopsNobody(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`
vim.api.nvim_create_autocmd("User", { pattern = "AgentTextMessage", callback = function() error("first\nsecond line") end })
vim.api.nvim_create_autocmd("User", { pattern = "AgentTextMessage", callback = function() _G.later = (later or 0) + 1 end })
hermes.on("AgentTextMessage", function() error("third") end)`)
		e.prompt("SAY a\nSAY b")
		e.is("later", 2)
		e.until("#notes >= 2") // one for each listener
		e.is("#notes", 2)
		e.is(`vim.iter(notes):all(function(n) return not n:find("\n") and n:find("AgentTextMessage") ~= nil end)`, true)
		e.is("vim.api.nvim_get_mode().blocking", false)
	})
}

// An agent with a misspelt name does not become the current one.
func TestAnAgentThatFailsToConnectIsNotTheCurrentOne(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`
hermes.connect("tester", { on_done = finish("tester") })
hermes.connect("second", { on_done = finish("second") })`)
		e.until("done.tester and done.second")
		for _, name := range []string{"nobody", "missing", "exit"} {
			e.lua(`
local name = ...
done = {}
hermes.connect("missing")
hermes.connect(name, { on_done = finish("connect") })
hermes.create_session({ on_done = finish("at once") })`, name)
			e.until(`done.connect and done["at once"]`)
			e.is(`{ done.connect.err ~= nil, done["at once"].err ~= nil }`, []bool{true, true}) // it was meant for that agent
			e.until(`hermes.state().current == "second"`)                                       // the other one may fail later
			e.lua(`hermes.create_session({ cwd = vim.fn.getcwd(), on_done = finish("session") })`)
			e.until("done.session")
			e.is("done.session.err == nil", true)
			e.is(`of("SessionCreated")[#of("SessionCreated")].agent`, "second")
		}
	})
}

// A listener that fails on every update of a long answer is reported once.
func TestAListenerThatFailsOftenIsReportedOnceAndCounted(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.notified()
		e.lua(`
_G.later = 0
for _ = 1, 2 do
  hermes.on("AgentTextMessage", function(d) error("third " .. d.text) end)
end
vim.api.nvim_create_autocmd("User", { pattern = "AgentTextMessage", callback = function(args)
  error("at:" .. args.data.text:match("%d+") .. ": each time another place", 0)
end })
vim.api.nvim_create_autocmd("User", { pattern = "AgentTextMessage", callback = function() later = later + 1 end })`)
		e.prompt("COUNT 2000")
		e.is("later", 2000)
		e.goesOn()
		e.until(`messages():find("at:", 1, true)`)
		e.is(`(select(2, messages():gsub("third %d+", "")))`, 2)
		e.is(`select(2, messages():gsub("at:%d+", "")) <= 21`, true)
		e.goesOn()
		e.is(`#vim.tbl_filter(function(l) return l:find("has failed 1000 times", 1, true) end, vim.fn.readfile(require("hermes.core.log").path())) == 3`, true)
		e.is(`vim.fn.getfsize(require("hermes.core.log").path()) < 200000`, true)
	})
}
