package host

import (
	"os"
	"strings"
	"testing"
)

func TestARequiredLoginComesWithItsWays(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const methods = `hermes.authenticate("oauth"): "Log in with a browser"; hermes.authenticate("key"): "Use a key\x1b[2J"`
	for name, c := range map[string]struct {
		agent, more string
		want        []string
		hint        any
	}{
		"a preset": {"claude", `{}`,
			[]string{"Authentication required; log in with the claude command once, or set ANTHROPIC_API_KEY; ", methods, `setup{agents={["claude"]={pass_env}}}`},
			"log in with the claude command once, or set ANTHROPIC_API_KEY"},
		"an agent of the user":           {"mine", `{}`, []string{"Authentication required; " + methods, "pass_env"}, nil},
		"one with the whole environment": {"mine", `{ inherit_env = true }`, []string{"Authentication required; " + methods}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inEveryNeovim(t, func(t *testing.T, e *editor) {
				e.lua(`
local exe, name = ...
hermes.connect(name, vim.tbl_extend("force", `+c.more+`, { command = exe, env = agent(serving .. " locked").env }))
hermes.create_session({ on_done = finish("session") })
hermes.create_session()`, exe, c.agent)
				e.until("done.session and #notes == 1")
				e.is(`{ done.session.err.kind, done.session.err.code }`, []any{"auth_required", -32000})
				e.is(`done.session.err.auth.hint`, c.hint)
				e.is(`vim.tbl_map(function(m) return m.id end, done.session.err.auth.methods)`, []string{"oauth", "key"})
				e.is(`of("RequestFailed")[1].auth.methods[1].name`, "Log in with a browser")
				for _, got := range []string{`done.session.err.message`, `notes[1]`} {
					text, _ := e.lua("return " + got).(string)
					for _, want := range c.want {
						if !strings.Contains(text, want) {
							t.Errorf("%s: %q is not in %q", got, want, text)
						}
					}
					if strings.Contains(text, "\x1b") || strings.Contains(text, "pass_env") == strings.Contains(c.more, "inherit") {
						t.Errorf("%s: %q", got, text)
					}
				}
			})
		})
	}
}
