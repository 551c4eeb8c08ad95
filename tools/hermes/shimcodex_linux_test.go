//go:build amd64 || arm64

package main

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/test/llm"
)

// codexTurn is a turn with a patch of one file and a new one, and a command that
// creates and removes a file.
const codexTurn = `CALL exec_command {"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: deep/a\n@@\n 1\n-2\n+two\n 3\n*** Add File: deep/new\n+added\n*** End Patch\nEOF"}
CALL exec_command {"cmd":"echo made > made; rm b"}
SAY done`

// The published Codex, in its terminal and with its own sandbox or without it,
// changes files by a patch and by a command.
func TestChangesOfThePublishedCodexAreExactAndReviewed(t *testing.T) {
	t.Parallel()
	shimHere(t)
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	patched := []string{`write deep/a "1\n2\n3\n" "1\ntwo\n3\n"`, `write deep/new absent "added\n"`}
	all := append(slices.Clone(patched), `write made absent "made\n"`, `remove b "b\n"`)
	const patchReviewed = "deep/a\tchanged, +1 -1\tcodex\ndeep/new\tcreated, +1 -0\tcodex\n"
	const allReviewed = "b\tdeleted, +0 -1\tcodex\n" + patchReviewed + "made\tcreated, +1 -0\tcodex\n"
	for _, c := range []struct {
		name    string
		sandbox string
		flags   []string
		changes []string
		review  string
	}{
		{"without a sandbox", "danger-full-access", nil, all, allReviewed},
		{"in its sandbox", "workspace-write", nil, all, allReviewed},
		{"with a gate", "danger-full-access", []string{"--gate", "--allow", "../deep", "--deny", "../made", "--deny", "../b"}, patched, patchReviewed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			codex := testcodex.Published(t, model.URL)
			env := func(cmd *exec.Cmd, state string) {
				cmd.Env = append(append(cmd.Environ(), codex.Env...), "XDG_STATE_HOME="+state, "NVIM_APPNAME=")
			}
			if c.sandbox != "danger-full-access" {
				cmd := exec.Command(codex.Path, "sandbox", "--", "true")
				if env(cmd, ""); cmd.Run() != nil {
					t.Skip("the sandbox of Codex does not work here, with or without a shim")
				}
			}
			r := underReview(t)
			stop, err := r.Listen()
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			args := slices.Concat([]string{"shim"}, c.flags, []string{"--", codex.Path, "exec", "--skip-git-repo-check", "-s", c.sandbox, "-C", r.root, codexTurn})
			cmd := hermes(t, filepath.Join(r.root, "deep"), args...)
			env(cmd, filepath.Dir(filepath.Dir(r.state)))
			out, errs, status := end(t, cmd)
			if status != 0 || !strings.Contains(out, "Done.") {
				t.Fatalf("exit status %d\n%s%s", status, out, errs)
			}
			if got := fileChanges(t, r); !slices.Equal(got, c.changes) {
				t.Fatalf("got\n  %s\nwant\n  %s\n%s%s", strings.Join(got, "\n  "), strings.Join(c.changes, "\n  "), out, errs)
			}
			for until := time.Now().Add(patience.Soon); ; time.Sleep(10 * time.Millisecond) {
				r.wait()
				got := r.pending()
				if got == c.review {
					break
				}
				if time.Now().After(until) {
					t.Fatalf("got\n%swant\n%s%s%s", got, c.review, out, errs)
				}
			}
			diff, _, _ := r.hermes("", "", "show", "deep/a")
			if !strings.Contains(diff, " 1\n-2\n+two\n 3\n") || !strings.Contains(diff, "source shim, exact") {
				t.Error(diff)
			}
		})
	}
}

// fileChanges are the changes of files in the only journal of a project, one line
// each, with the contents.
func fileChanges(t *testing.T, r *reviewed) (list []string) {
	t.Helper()
	journals, err := filepath.Glob(filepath.Join(store.Dir(r.state, r.root), "shim", "*"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("journals: %v, %v", journals, err)
	}
	in, err := journal.Open(journals[0])
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	text := func(v *journal.Version) string {
		if v.Absent {
			return "absent"
		}
		data, err := in.Content(v.Hash)
		if err != nil {
			t.Errorf("content is lost: %v", err)
		}
		return fmt.Sprintf("%q", data)
	}
	for {
		e, err := in.Next()
		switch {
		case err == io.EOF:
			return list
		case err != nil:
			t.Fatal(err)
		case e.Phase != journal.Post:
			continue
		}
		line := string(e.Op) + " " + strings.TrimPrefix(e.Path, r.root+"/") + " "
		switch e.Op {
		case journal.Mkdir, journal.Rmdir: // the sandbox mounts there
		case journal.Remove:
			list = append(list, line+text(e.Before))
		default:
			list = append(list, line+text(e.Before)+" "+text(e.After))
		}
	}
}
