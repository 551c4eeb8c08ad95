//go:build amd64 || arm64

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
)

// A codex that has a daemon works in its own process, where the shim sees it.
func TestCodexWorksInItsOwnProcess(t *testing.T) {
	t.Parallel()
	shimHere(t)
	for _, c := range []struct{ name, help, want string }{
		{"codex", "--no-daemon", "[--no-daemon][exec][x]"},
		{"codex", "--older", "[exec][x]"},
		{"codexes", "--no-daemon", "[exec][x]"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, c.name)
		script := "#!/bin/sh\nif [ \"$1\" = --help ]; then echo '  " + c.help + "'; else printf '[%s]' \"$@\"; fi\n"
		if err := gobuild.Write(path, script); err != nil {
			t.Fatal(err)
		}
		out, errs, status := end(t, hermes(t, dir, "shim", "--root", dir, "--journal", filepath.Join(t.TempDir(), "j"), "--state", filepath.Join(dir, "s"), "--", path, "exec", "x"))
		if status != 0 || strings.TrimSpace(out) != c.want {
			t.Errorf("%s with %s: %d %q %s", c.name, c.help, status, out, errs)
		}
	}
}
