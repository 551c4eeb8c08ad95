//go:build amd64 || arm64

package shim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// A change of a file of the project by another name that it had before is not seen, but
// reported as missing.
func TestAChangeByANameOutsideIsCounted(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{
		`echo two > "$OUT/f"`:       1,
		`echo two >> "$OUT/f"`:      1,
		`truncate -s 1 "$OUT/f"`:    1,
		`chmod 600 "$OUT/f"`:        1,
		`cat "$OUT/f" > /dev/null`:  0,
		`rm "$OUT/f"`:               0, // the file keeps its name here
		`echo two > "$OUT/g"`:       0, // both names are outside
		`echo two > "$OUT/ignored"`: 0,
		`echo two > f`:              0,
		`echo two > "$OUT/g"; ln "$OUT/g" h; echo three > "$OUT/g"`: 1,
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			s := newShimmed(t)
			out := filepath.Join(filepath.Dir(s.config.Journal), "out")
			s.env = []string{"OUT=" + out}
			for name, text := range map[string]string{"f": "one\n", "out/ignored": "one\n", ".gitignore": "out/\n", ".git/HEAD": "", "../out/g": "one\n"} {
				s.write(name, text)
			}
			for from, to := range map[string]string{
				s.root + "/f": out + "/f", s.root + "/out/ignored": out + "/ignored", out + "/g": out + "/g2",
			} {
				if err := os.Link(from, to); err != nil {
					t.Fatal(err)
				}
			}
			if said, status := s.run("sh", "-c", script); status != 0 {
				t.Fatalf("ended with %d\n%s", status, said)
			}
			missing, err := journal.MissingIn(s.config.Journal)
			if err != nil || missing.Count != want {
				t.Errorf("the record lacks %+v, %v", missing, err)
			}
		})
	}
}

// A mount that has no place is reached by its descriptor alone.
func TestAChangeInADetachedMountIsCounted(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "-rm", "true").CombinedOutput(); err != nil {
		t.Skipf("no namespaces here: %s", out)
	}
	for do, want := range map[string]int{
		"write f": 1, "write new": 1, "write d/f": 1, "remove f": 1, "mkdir new": 1, "rename f g": 1, "read f": 0, "write ignored/f": 0,
	} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			s := newShimmed(t)
			for name, text := range map[string]string{"f": "one\n", "d/f": "one\n", "ignored/f": "one\n", ".gitignore": "ignored/\n", ".git/HEAD": ""} {
				s.write(name, text)
			}
			if said, status := s.run("sh", "-c", "unshare -rm $HELPER helper detached "+do); status != 0 {
				t.Fatalf("ended with %d\n%s", status, said)
			}
			missing, err := journal.MissingIn(s.config.Journal)
			if err != nil || missing.Count != want {
				t.Errorf("the record lacks %+v, %v, and has %q", missing, err, s.lines(journal.Post))
			}
		})
	}
}
