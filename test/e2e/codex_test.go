package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/test/editors"
	"github.com/hermes-nvim/hermes/test/llm"
)

// The published codex edits a file through Neovim: asked about, told to the review,
// with the usage, and cancelled in the middle of a turn. (It offers its model no tool
// for plans.)
func TestCodexWithoutNodeEditsThroughNeovim(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	hermes := build(t)
	edit := func(text string) string {
		return call(t, "exec_command", map[string]any{"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: hello.txt\n@@\n-alpha\n+" + text + "\n*** End Patch\nEOF"})
	}
	command := testcodex.Published(t, model.URL)
	for _, nvim := range editors.All(t)[:1] { // nothing of it depends on Neovim
		env := environment{hermes: hermes, recording: filepath.Join(t.TempDir(), "traffic.jsonl")}
		start := env.recorded(hermes, "codex-agent", "--codex", command.Path, "--mode", "approval-required")
		vars := map[string]string{"PATH": os.Getenv("PATH")}
		for _, v := range command.Env {
			name, value, _ := strings.Cut(v, "=")
			vars[name] = value
		}
		work := realTempDir(t)
		writeFile(t, filepath.Join(work, "hello.txt"), "alpha\nbeta\n")
		run(t, nvim.Path, "codex.lua", map[string]any{
			"hermes": hermes, "workspace": work, "launch": launch{Command: start[0], Args: start[1:], Env: vars},
			"rejected": edit("REJECTED"), "edit": edit("ALPHA"),
		})
		lintClean(t, env.recording, lint.Client, lint.Agent)
	}
}
