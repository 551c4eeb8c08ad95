//go:build unix

package project

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// A named pipe in the place of a file or a folder that a look reads makes an open, and a read,
// wait for whoever is at its other end.
func TestALookDoesNotWaitForANamedPipe(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".git", ".git/HEAD", ".git/commondir", ".git/config", ".git/config.worktree", ".git/hooks", ".git/hooks/x",
		".git/index", ".git/info", ".git/info/exclude", ".git/objects", ".git/refs/heads/main", ".gitignore", "d/.gitignore", "d/.git", "d/.git/config",
	} {
		for _, held := range []string{"nobody", "a silent writer"} {
			t.Run(name+" "+held, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "a", "a\n", "d/a", "a\n", "d/.git/HEAD", "ref: refs/heads/main\n", ".git/HEAD", "ref: refs/heads/main\n", ".git/config", "[core]\n")
				r.must(r.Prompt(t.Context(), "s", "1", ""))
				path := r.path(name)
				r.must(os.RemoveAll(path))
				r.must(os.MkdirAll(filepath.Dir(path), 0o700))
				r.must(syscall.Mkfifo(path, 0o600))
				if held != "nobody" {
					f, err := os.OpenFile(path, os.O_RDWR, 0)
					r.must(err)
					defer f.Close()
				}
				patience.Ends(t, "the look", func() bool {
					r.write("a", "b\n")
					r.Scan(review.Author{Session: "s"})
					r.TurnEnded(review.Author{Session: "s", Turn: "1"})
					r.wait()
					r.reopen()
					return true
				})
			})
		}
	}
}
