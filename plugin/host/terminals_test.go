package host

import (
	"testing"
)

func TestACommandIsAnnouncedBeforeItsOutput(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.prompt("RUN echo 'a b'; exit 3")
		e.until(`#of("TerminalExited") == 1`)
		e.is(`vim.tbl_map(function(x) return x.event end, vim.tbl_filter(function(x) return vim.startswith(x.event, "Terminal") and x.terminalId end, seen))[1]`, "TerminalStarted")
		e.is(`{ of("TerminalStarted")[1].command:find("exit 3", 1, true) ~= nil, of("TerminalStarted")[1].cwd == vim.uv.fs_realpath(vim.fn.getcwd()) }`, []any{true, true})
		e.is(`(function()
  local t, output = hermes.terminal_output(s, of("TerminalStarted")[1].terminalId)
  return { t.state, t.exitCode, t.dropped, t.command == of("TerminalStarted")[1].command, output }
end)()`, []any{"exited", 3, 0, true, "a b\n"})
	})
}

func TestTheUserEndsACommand(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.prompt(s, "RUN echo up; sleep 60", { on_done = finish("turn") })`)
		e.until(`#of("TerminalData") == 1`)
		e.lua(`hermes.kill_terminal(s, of("TerminalStarted")[1].terminalId, { on_done = finish("kill") })`)
		e.until("done.turn and done.kill")
		e.is(`{ done.kill.err == nil, done.turn.result.stopReason, of("TerminalExited")[1].signal }`, []any{true, "end_turn", "SIGTERM"})
		e.lua(`
hermes.kill_terminal(s, "no such terminal", { on_done = finish("unknown") })
hermes.kill_terminal("no such session", "x", { on_done = finish("session") })`)
		e.until("done.unknown and done.session")
		e.is("{ done.unknown.err.kind, done.session.err.kind }", []any{"invalid", "unknown_session"})
	})
}

func TestCommandsEndWithTheirAgent(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.prompt(s, ..., { on_done = finish("turn") })`, `NOTIFY session/update {"sessionId":"$SESSION","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"npm test","_meta":{"terminal_info":{"terminal_id":"own","cwd":"/x"}}}}
RUN sleep 60`)
		e.until(`#of("TerminalStarted") == 2`)
		e.is(`(function() local t = hermes.terminals(s)[1] return { t.state, t.title, t.cwd } end)()`, []any{"running", "npm test", "/x"})
		e.lua(`hermes.disconnect(nil, { on_done = finish("off") })`)
		e.until(`done.off and #of("TerminalExited") == 1`)
		e.is(`vim.tbl_map(function(t) return t.state end, hermes.terminals())`, []any{"lost", "exited"})
	})
}
