//go:build amd64 || arm64

package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/test/llm"
)

// pane is a terminal in a tmux of its own, in which a program runs in a shim.
type pane struct {
	t    *testing.T
	tmux func(args ...string) (string, error)
}

func (r *reviewed) pane(env []string, command ...string) *pane {
	r.t.Helper()
	path, err := exec.LookPath(cmp.Or(os.Getenv("HERMES_TMUX"), "tmux"))
	if err != nil {
		if os.Getenv("CI") != "" {
			r.t.Fatal("no tmux: nothing is skipped in CI, run 'make test'")
		}
		r.t.Skip("skipped: needs tmux: run 'make test', or set HERMES_TMUX")
	}
	socket := filepath.Join(sockdir.New(r.t), "tmux")
	p := &pane{r.t, func(args ...string) (string, error) {
		cmd := exec.Command(path, append([]string{"-f", "/dev/null", "-S", socket}, args...)...)
		cmd.Dir = r.root
		cmd.Env = append(append(os.Environ(), env...), asHermes+"=1", "XDG_STATE_HOME="+filepath.Dir(filepath.Dir(r.state)), "NVIM_APPNAME=", "TMUX=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}}
	p.do(slices.Concat([]string{"new-session", "-d", "-x", "160", "-y", "50", "--", "env", "-u", "TMUX", self(r.t), "shim", "--"}, command)...)
	r.t.Cleanup(func() {
		if r.t.Failed() {
			shown, err := p.tmux("capture-pane", "-p")
			r.t.Log(shown, err)
		}
		defer p.tmux("kill-server")
		patience.True(r.t, "end of the program", func() bool {
			_, err := p.tmux("send-keys", "C-c")
			return err != nil
		})
	})
	return p
}

func (p *pane) do(args ...string) {
	p.t.Helper()
	if out, err := p.tmux(args...); err != nil {
		p.t.Fatalf("tmux %s: %v: %s", args[0], err, out)
	}
}

// shows waits until the screen has a text, or the program has ended.
func (p *pane) shows(text string) {
	p.t.Helper()
	patience.True(p.t, "screen with "+text, func() bool {
		shown, err := p.tmux("capture-pane", "-p")
		return err != nil || strings.Contains(shown, text)
	})
}

// The terminal of the published Claude Code runs in a shim in a pane, and its user types a second
// prompt there. Each change is known exactly, whatever made it.
func TestChangesOfThePublishedClaudeCodeInAPaneAreExactAndReviewed(t *testing.T) {
	t.Parallel()
	shimHere(t)
	agents := os.Getenv("HERMES_AGENTS")
	if _, err := exec.LookPath("node"); err != nil || agents == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Node.js or no HERMES_AGENTS: nothing is skipped in CI, run 'make test'")
		}
		t.Skip("skipped: needs Node.js and HERMES_AGENTS (make test sets it)")
	}
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	r := underReview(t)
	stop, err := r.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	home := t.TempDir()
	settings, err := json.Marshal(map[string]any{
		"numStartups": 40, "hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": map[string]any{"approved": []string{"none"}},
		"projects": map[string]any{r.root: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, ".claude.json"), string(settings))
	claude := filepath.Join(t.TempDir(), "claude")
	if err := os.Symlink(filepath.Join(agents, "node_modules/@anthropic-ai/claude-agent-sdk/cli.js"), claude); err != nil {
		t.Fatal(err)
	}
	calls := func(steps ...any) string {
		var lines []string
		for i := 0; i < len(steps); i += 2 {
			arguments, err := json.Marshal(steps[i+1])
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, "CALL "+steps[i].(string)+" "+string(arguments))
		}
		return strings.Join(lines, "\n")
	}
	type object = map[string]any
	a, made := filepath.Join(r.root, "deep/a"), filepath.Join(r.root, "made")
	pane := r.pane([]string{
		"HOME=" + home, "ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=none",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
	}, claude, "--allowedTools=Read,Edit,Write,Bash", calls(
		"Read", object{"file_path": a},
		"Edit", object{"file_path": a, "old_string": "2", "new_string": "two", "replace_all": false},
		"Write", object{"file_path": made, "content": "made\n"},
	)+"\nSAY one")
	pane.shows("Done.")
	pane.do("send-keys", "-l", calls("Bash", object{"command": "chmod 600 deep/a; rm b; mv made moved", "description": "the rest"}))
	pane.shows("the rest")
	want := strings.Join([]string{
		"b\tdeleted, +0 -1\tclaude", "deep/a\tchanged, +1 -1\tclaude", "moved\tcreated, +1 -0\tclaude", "",
	}, "\n")
	patience.True(t, "file that was moved", func() bool {
		pane.do("send-keys", "Enter") // is a new line, if it comes too soon after the text
		_, err := os.Stat(filepath.Join(r.root, "moved"))
		return err == nil
	})
	got := ""
	for until := patience.Context(t, patience.Soon); got != want && until.Err() == nil; got = r.pending() {
		r.wait()
	}
	if got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	for _, name := range []string{"b", "deep/a", "moved"} {
		if shown, _, _ := r.hermes("", "", "show", name); !strings.Contains(shown, "source shim, exact") {
			t.Errorf("%s is not known exactly: %s", name, shown)
		}
	}
	plan, err := r.Reject(review.Selection{}, false)
	if err == nil {
		err = r.Apply(plan, nil)
	}
	_, left := os.Stat(filepath.Join(r.root, "moved"))
	if a, b := readFile(t, a), readFile(t, filepath.Join(r.root, "b")); err != nil || a != "1\n2\n3\n" || b != "b\n" || left == nil {
		t.Errorf("after a rejection: %v, %q, %q, %v", err, a, b, left)
	}
}
