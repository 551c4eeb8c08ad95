package host

import (
	"fmt"
	"testing"
)

// mixed makes two sessions, a and b, with an agent that sends every update to
// all sessions of its process.
func (e *editor) mixed(quirk bool) {
	e.t.Helper()
	exe := testAgent(e.t)
	e.script("mixed", exe, quirk)
	e.until("done.a and done.b")
	e.is("{ done.a.err == nil, done.b.err == nil }", []bool{true, true})
}

// R08 of the conformance list.
func TestAnAgentThatMixesSessionsUpGetsAProcessForEach(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.mixed(true)
		e.is(`a:match("%d+$") ~= b:match("%d+$")`, true)
		for _, id := range []string{"a", "b"} {
			e.lua(fmt.Sprintf(`hermes.prompt(%s, "SAY hi", { on_done = finish("turn %s") })`, id, id))
			e.until(fmt.Sprintf(`done["turn %s"]`, id))
		}
		e.is("{ heard(a), heard(b) }", []int{1, 1})
		e.is(`{ #of("ConnectionInitialized"), #of("StateChanged") - 4 }`, []int{1, 3}) // of the connection, once

		e.lua(`hermes.prompt(b, "WAIT 1m", { on_done = finish("cancelled") }); hermes.cancel(b)`)
		e.until("done.cancelled")
		e.is("done.cancelled.result.stopReason", "cancelled")

		// A process that dies takes its own session with it.
		e.lua(`hermes.prompt(b, "ERR out of memory\nEXIT 7", { on_done = finish("dead") })`)
		e.until(`done.dead and #of("SessionClosed") == 1`)
		e.is(`{ done.dead.err.kind, of("SessionClosed")[1].sessionId == b, #of("Disconnected") }`, []any{"exit", true, 0})
		e.is(`of("SessionClosed")[1].reason:find("exited with status 7", 1, true) ~= nil`, true)
		e.lua(`hermes.prompt(a, "SAY still here", { on_done = finish("alive") })`)
		e.until("done.alive")
		e.is("done.alive.err == nil", true)

		// A session that is closed ends its process.
		e.lua(`hermes.create_session({ cwd = vim.fn.getcwd(), on_done = function(err, r) _G.c = r.sessionId; finish("c")(err, r) end })`)
		e.until("done.c")
		e.is("alive(c)", true)
		e.lua(`hermes.close_session(c, { on_done = finish("close") })`)
		e.until("done.close and not alive(c)")
		e.is(`{ #of("SessionClosed"), of("SessionClosed")[2].reason == nil }`, []any{2, true})

		e.lua(`hermes.create_session({ cwd = vim.fn.getcwd(), on_done = function(err, r) _G.d = r.sessionId; finish("d")(err, r) end })`)
		e.until("done.d")
		e.lua(`hermes.disconnect("mixed", { on_done = finish("end") })`)
		e.until(`done["end"]`)
		e.is("{ alive(a), alive(d) }", []bool{false, false})
		e.is(`#of("Disconnected")`, 1)
	})
}

func TestOtherAgentsKeepAllSessionsInOneProcess(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		e.mixed(false)
		e.is(`a:match("%d+$") == b:match("%d+$")`, true)
		e.lua(`hermes.prompt(a, "SAY hi", { on_done = finish("turn") })`)
		e.until("done.turn")
		e.is("{ heard(a), heard(b) }", []int{1, 1}) // what the quirk is for
	})
}
