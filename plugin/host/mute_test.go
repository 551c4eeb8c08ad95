package host

import "testing"

// A program that is not the host must not make calls wait for ever.
func TestAHostThatSaysNothingIsGivenUp(t *testing.T) {
	inNeovim(t, func(t *testing.T, e *editor) {
		for _, cmd := range []string{`{ "sleep", "600" }`, `{ "cat" }`} {
			e.lua(`
done, notes = {}, {}
hermes.setup({ host = { cmd = ` + cmd + ` }, timeouts = { host = 300 } })
hermes.connect("tester", { on_done = finish("connect") })
hermes.list_sessions({ agent = "tester", on_done = finish("list") })`)
			e.until("done.connect and done.list and #notes > 0")
			e.is("{ done.connect.err.kind, done.list.err.kind }", []string{"host", "host"})
			e.is(`done.connect.err.message`, `the host `+cmd+` has said nothing for 0.3 seconds; is it the program of this plugin?`)
			e.is(`notes[1]:find("has said nothing", 1, true) ~= nil`, true)
			e.is(`require("hermes.core.rpc").running()`, false)
		}
	})
}
