//go:build amd64 || arm64

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/test/llm"
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

// The terminal of the published Codex works in the daemon that another terminal has left behind,
// and in a shim in its own process. Under another name the shim does not know it: then it works in
// the daemon. The shim reports that, which proves that there is a daemon to get around.
func TestThePublishedCodexWorksInItsOwnProcess(t *testing.T) {
	t.Parallel()
	shimHere(t)
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	for _, name := range []string{"codex", "stock"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := underReview(t)
			codex := testcodex.Published(t, model.URL)
			home := strings.TrimPrefix(codex.Env[0], "HOME=")
			trust, err := os.OpenFile(filepath.Join(home, "config.toml"), os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = fmt.Fprintf(trust, "[projects.%q]\ntrust_level = \"trusted\"\n", r.root)
				err = errors.Join(err, trust.Close())
			}
			dir := sockdir.New(t)
			path := filepath.Join(dir, name)
			if err := errors.Join(err, os.Symlink(codex.Path, path)); err != nil {
				t.Fatal(err)
			}
			daemon := exec.Command(codex.Path, "app-server", "--listen", "unix://")
			daemon.Env = append(os.Environ(), codex.Env...)
			if err := daemon.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				daemon.Process.Kill()
				daemon.Wait()
			})
			patience.True(t, "a socket of the daemon", func() bool {
				found, _ := filepath.Glob(filepath.Join(home, "app-server-control", "*.sock"))
				return len(found) == 1
			})
			pane := r.pane(codex.Env, path, "-s", "danger-full-access", "-a", "never",
				"CALL exec_command {\"cmd\":\"echo made > deep/a; echo more >> deep/a\"}\nSAY done")
			pane.shows("Done.")
			if data, err := os.ReadFile(filepath.Join(r.root, "deep/a")); string(data) != "made\nmore\n" {
				t.Fatalf("the command has made %q, %v", data, err)
			}
			journals, err := filepath.Glob(filepath.Join(store.Dir(r.state, r.root), "shim", "*"))
			if err != nil || len(journals) != 1 {
				t.Fatalf("journals: %v, %v", journals, err)
			}
			missing, err := journal.MissingIn(journals[0])
			if err != nil {
				t.Fatal(err)
			}
			if name != "codex" {
				if want := fmt.Sprintf(" works in process %d (codex), which is not watched", daemon.Process.Pid); !strings.Contains(missing.Reason, want) || missing.Count != 1 {
					t.Errorf("the record lacks %+v, want %q", missing, want)
				}
				return
			}
			want := []string{`write deep/a "1\n2\n3\n" "made\n"`, `write deep/a "made\n" "made\nmore\n"`}
			if missing.Count > 0 || missing.Reason != "" {
				t.Errorf("the record lacks %+v", missing)
			} else if got := fileChanges(t, r); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
