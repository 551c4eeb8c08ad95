package project

import (
	"fmt"
	"maps"
	"os"
	"syscall"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// kinds are what an agent's command can make of the file f.
var kinds = map[string]struct {
	make func(r *rig, path string) error
	is   string
}{
	"a folder with a file": {func(r *rig, path string) error { r.remove("f"); r.write("f/in", "x\n"); return nil }, "a folder"},
	"an empty folder":      {func(r *rig, path string) error { r.remove("f"); return os.Mkdir(path, 0o755) }, "a folder"},
	"a named pipe":         {func(r *rig, path string) error { r.remove("f"); return syscall.Mkfifo(path, 0o644) }, "a named pipe"},
	"a socket": {func(r *rig, path string) error {
		r.remove("f")
		return syscall.Mknod(path, syscall.S_IFSOCK|0o644, 0)
	}, "a socket"},
	"too large": {func(r *rig, path string) error { return os.Truncate(path, 17<<20) }, "a file of 17825792 bytes"},
	"a link":    {func(r *rig, path string) error { r.remove("f"); return os.Symlink("/etc/passwd", path) }, "a link to /etc/passwd"},
	"a mode":    {func(r *rig, path string) error { return os.Chmod(path, 0o755) }, "mode 755"},
	"large":     {func(r *rig, path string) error { return os.WriteFile(path, make([]byte, 5<<20), 0o644) }, ""},
}

// Whatever an agent makes of a file, rejecting it gives the file back.
func TestWhateverAFileBecomesARejectionGivesItBack(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprint(name, again), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "f", "one\ntwo\n", "d/g", "g\n")
				r.must(os.Chmod(r.path("f"), 0o640))
				before := r.sees()
				a := r.turn("s")
				r.must(kind.make(r, r.path("f")))
				r.write("new/folder/x", "x\n")
				r.ends(a)
				hunks := r.Review().Hunks("f")
				if len(hunks) != 1 || hunks[0].Is != kind.is && kind.is != "" {
					t.Fatalf("%+v", hunks)
				}
				if again {
					r.reopen()
				}
				plan, err := r.Reject(review.Selection{}, false)
				r.must(err)
				r.must(r.Apply(plan, nil))
				if after := r.sees(); !maps.Equal(after, before) {
					t.Errorf("%q, was %q", after, before)
				}
				r.is()
			})
			// The checkpoint of the prompt does, too, whatever is under review.
			t.Run(fmt.Sprint(name, again, " restored"), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "f", "one\ntwo\n")
				before := r.sees()
				a := r.turn("s")
				r.must(kind.make(r, r.path("f")))
				r.ends(a)
				if again {
					if _, err := r.Review().Accept(review.Selection{}); err != nil {
						t.Fatal(err)
					}
				}
				plan, err := r.Restore(t.Context(), r.Review().Checkpoints()[0].ID, RestoreOptions{Everything: true})
				r.must(err)
				r.must(r.Apply(plan, nil))
				if after := r.sees(); !maps.Equal(after, before) {
					t.Errorf("%q, was %q", after, before)
				}
			})
		}
	}
}

// A file that has become something else, and a file again, is under review all the time.
func TestAFileThatIsAFileAgainIsUnderReview(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", "one\n")
			a := r.turn("s")
			r.must(kind.make(r, r.path("f")))
			r.ends(a)
			b := r.turn("s")
			r.must(os.RemoveAll(r.path("f")))
			r.write("f", "two\n")
			r.ends(b)
			r.is("f s disk? one>two")
		})
	}
}
