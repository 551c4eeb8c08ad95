package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/test/editors"
	"github.com/hermes-nvim/hermes/test/llm"
)

// The stock UI of the published codex, in a terminal buffer, and Neovim are in one
// session: what is typed and answered in either is known in the other, and either may go.
func TestTheTerminalOfCodexAndNeovimShareASession(t *testing.T) {
	t.Parallel()
	shareASession(t, "codex_shared.lua")
}

// shareASession runs a script with the published codex and a model.
func shareASession(t *testing.T, script string) {
	t.Helper()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	command := testcodex.Published(t, model.URL)
	sockets := t.TempDir()
	env := append(command.Env, "XDG_RUNTIME_DIR="+sockets, "PATH="+filepath.Dir(command.Path)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	ask := func(file string) string {
		return call(t, "exec_command", map[string]any{"cmd": "echo x > " + file, "sandbox_permissions": "require_escalated", "justification": "the test"})
	}
	run(t, editors.All(t)[0].Path, script, map[string]any{
		"hermes": build(t), "workspace": realTempDir(t), "allowed": ask("allowed"), "denied": ask("denied"), "left": ask("left"),
	}, env...)
	patience.True(t, "the end of the app-server", func() bool {
		left, _ := filepath.Glob(filepath.Join(sockets, "hermes-codex-*", "*.sock"))
		return !strings.Contains(strings.Join(left, " "), "codex.sock")
	})
}
