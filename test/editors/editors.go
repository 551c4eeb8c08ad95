// Package editors finds the Neovims that tests run in.
package editors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Program is a Neovim.
type Program struct {
	Path    string
	Version string // such as 0.12.4
}

// All returns the Neovims of HERMES_NVIM, a list like PATH, or otherwise the one in
// PATH. If there is none the test is skipped; in CI it fails.
func All(t testing.TB) []Program {
	t.Helper()
	paths := filepath.SplitList(os.Getenv("HERMES_NVIM"))
	if len(paths) == 0 {
		paths = []string{"nvim"}
	}
	var list []Program
	for _, path := range paths {
		out, err := exec.Command(path, "--version").Output()
		if err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("no Neovim to test with: %v (nothing is skipped in CI; run 'make test')", err)
			}
			t.Skipf("no Neovim to test with: %v (run 'make test', or set HERMES_NVIM)", err)
		}
		first, _, _ := strings.Cut(string(out), "\n")
		list = append(list, Program{Path: path, Version: strings.TrimPrefix(first, "NVIM v")})
	}
	return list
}

// stateTime is how long a host may take to store its reviews.
const stateTime = time.Minute

// StateDir is a folder that may be written to a moment longer than the test: the
// host stores its reviews once Neovim is gone.
func StateDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hermes-state")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(stateTime); os.RemoveAll(dir) != nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%s cannot be removed", dir)
				return
			}
		}
	})
	return dir
}
