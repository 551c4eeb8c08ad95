package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/test/editors"
)

// What "make demo" shows people breaks no rule on either side.
func TestTheTrafficOfTheDemoIsClean(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the demo is for Unix")
	}
	hermes := build(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	nvim, home, state := editors.All(t)[0], realTempDir(t), editors.StateDir(t)
	// The demo runs bin/hermes beside its script. This one records its agent.
	recording := filepath.Join(state, "traffic.jsonl")
	writeFile(t, filepath.Join(home, "bin/hermes"), fmt.Sprintf(`#!/bin/sh
[ "$1" = demo-agent ] && exec '%[1]s' record --out '%[2]s' -- '%[1]s' "$@"
exec '%[1]s' "$@"
`, hermes, recording))
	if err := os.Chmod(filepath.Join(home, "bin/hermes"), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "scripts/demo.lua"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "scripts/demo.lua"), string(text))
	ctx := patience.Context(t, patience.Turn)
	cmd := exec.CommandContext(ctx, nvim.Path, "--clean", "-n", "--headless", "--cmd", "set rtp^="+root, "-c", "luafile "+filepath.Join(home, "scripts/demo.lua"))
	cmd.Dir = realTempDir(t)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "XDG_DATA_HOME="+state, "XDG_CACHE_HOME="+state, "NVIM=")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "That was the tour") {
		t.Fatalf("%v\n%s", err, out)
	}
	lintHurried(t, recording, lint.Client, lint.Agent)
}
