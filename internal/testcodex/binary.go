// Package testcodex has what tests of Codex need: the published binary, a
// scripted model for it, and a scripted app-server.
package testcodex

import (
	"os"
	"path/filepath"
	"testing"
)

// Binary returns the codex binary among the agents from npm. Without it the test
// is skipped, and fails in CI.
func Binary(t testing.TB) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(os.Getenv("HERMES_AGENTS"), "node_modules", "@openai", "codex-*", "vendor", "*", "bin", "codex"))
	if os.Getenv("HERMES_AGENTS") == "" || len(found) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("no codex in HERMES_AGENTS: nothing is skipped in CI, run 'make test'")
		}
		t.Skip("skipped: needs the codex binary in HERMES_AGENTS (make test sets it)")
	}
	return found[0]
}
