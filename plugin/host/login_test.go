package host

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
)

func TestARequiredLoginComesWithItsWays(t *testing.T) {
	exe := testAgent(t)
	const methods = `hermes.authenticate("oauth"): "Log in with a browser"; hermes.authenticate("key"): "Use a key\x1b[2J"`
	for name, c := range map[string]struct {
		agent, more string
		want        []string
		hint        any
	}{
		"a preset": {"claude", `{}`,
			[]string{"Authentication required; log in with the claude command once, or set ANTHROPIC_API_KEY; ", methods},
			"log in with the claude command once, or set ANTHROPIC_API_KEY"},
		"an agent of the user":           {"mine", `{}`, []string{"Authentication required; " + methods, `setup{agents={["mine"]={pass_env}}}`}, nil},
		"one with variables":             {"mine", `{ pass_env = { "SECRET_*" } }`, []string{"Authentication required; " + methods}, nil},
		"one with the whole environment": {"mine", `{ inherit_env = true }`, []string{"Authentication required; " + methods}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inNeovim(t, func(t *testing.T, e *editor) {
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
					if strings.Contains(text, "\x1b") || strings.Contains(text, "pass_env") != (name == "an agent of the user") {
						t.Errorf("%s: %q", got, text)
					}
				}
			})
		})
	}
}

// A program that signs the user in runs here, in the environment of the agent,
// and takes no window away from the user.
func TestALoginInATerminalRunsTheProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "agent")
	script := "#!/bin/sh\nif [ \"$LOGIN\" = yes ]; then echo \"logging in $1 $2 with ${SECRET_KEY:-no} key\"; read answer; exit $answer; fi\nexec \"$AGENT\"\n"
	if err := gobuild.Write(program, script); err != nil {
		t.Fatal(err)
	}
	inNeovim(t, func(t *testing.T, e *editor) {
		e.script("login", testAgent(t), program)
		e.until("done.session")
		for _, want := range []string{`hermes.authenticate(\"tui\"): \"Log in here\"`, `hermes.authenticate(\"old\")`} {
			if text := e.json("done.session.err.message"); !strings.Contains(text, want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
		for _, status := range []int{0, 7} {
			e.lua(`seen, done = {}, {}; _G.id = hermes.authenticate("tui", { on_done = finish("login") })`)
			e.until(`#of("TerminalLogin") == 1`)
			e.is(`vim.api.nvim_get_current_win() == win`, true)
			e.is(`vim.api.nvim_get_mode().mode`, "n")
			e.is(`vim.list_slice(of("TerminalLogin")[1].command, 2)`, []string{"first", "login"})
			e.until(`table.concat(vim.api.nvim_buf_get_lines(of("TerminalLogin")[1].bufnr, 0, -1, false)):find("logging in first login with no key", 1, true)`)
			e.is("done.login == nil", true)
			e.lua(`vim.api.nvim_chan_send(vim.bo[of("TerminalLogin")[1].bufnr].channel, ... .. "\r")`, fmt.Sprint(status))
			e.until("done.login")
			e.is(`done.login.err and done.login.err.kind or "in"`, map[int]string{0: "in", 7: "login"}[status])
			e.is(`vim.tbl_map(function(d) return { d.methodId, d.opId == id } end, of("Authenticated"))`, map[int][][]any{0: {{"tui", true}}, 7: {}}[status])
		}
		// The user sees what would run, and decides.
		e.is("#asked", 2)
		e.lua(`choice = "reject_once"; seen = {}; hermes.authenticate("tui", { on_done = finish("no") })`)
		e.until("done.no")
		e.is("{ done.no.err.kind, #of('TerminalLogin'), #asked }", []any{"cancelled", 0, 3})
		// A program that only the agent names does not run.
		e.lua(`hermes.authenticate("old", { on_done = finish("old") })`)
		e.until("done.old")
		e.is("{ done.old.err.kind, done.old.err.message, #asked }", []any{"login", `agent "tui" names a program for this login, which Hermes does not run; the agent says that this logs in: "sh -c 'exit 3'"; run it yourself, where the agent is, only if you know what it does`, 3})
		e.lua(`hermes.authenticate("key", { on_done = finish("key") })`) // not for a terminal
		e.until("done.key")
		e.is("done.key.err == nil", true)
		// Where the user has not let it run commands, the agent names none.
		e.lua(`
hermes.connect("boxed", vim.tbl_extend("force", locked, { terminal_access = "ask" }))
hermes.authenticate("tui", { agent = "boxed", on_done = finish("boxed") })`)
		e.until("done.boxed")
		e.is("{ done.boxed.err.kind, done.boxed.err.message }", []string{"login", `agent "boxed" is not allowed to run its login here; the agent says that this logs in: "` + program + ` first login"; run it yourself, where the agent is, only if you know what it does`})
	})
}
