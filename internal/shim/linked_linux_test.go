//go:build amd64 || arm64

package shim_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
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

// A gate asks about a file of the project, whatever name a program has for it.
func TestAGateKnowsAFileByEachOfItsNames(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`echo two > "$OUT/f"`:                   `write f "one\n" "two\n"`,
		`echo two >> "$OUT/f"`:                  `write f "one\n" "one\ntwo\n"`,
		`truncate -s 1 "$OUT/f"`:                `write f "one\n" "o"`,
		`chmod 600 "$OUT/f"`:                    `chmod f "one\n" 644 "one\n" 600`,
		`ln -s f "$OUT/l"; echo two > "$OUT/l"`: `write f "one\n" "two\n"`,
		`cd "$OUT"; exec 5<> f; echo two >&5`:   `write f "one\n" "two\n"`,
	} {
		for _, allow := range []bool{false, true} {
			t.Run(fmt.Sprint(script, allow), func(t *testing.T) {
				t.Parallel()
				s := newShimmed(t)
				s.config.Gate = &shim.Gate{}
				out := filepath.Join(filepath.Dir(s.config.Journal), "out")
				s.env = []string{"OUT=" + out}
				s.write("f", "one\n")
				s.write("../out/g", "one\n")
				if err := errors.Join(os.Chmod(s.root+"/f", 0o644), os.Link(s.root+"/f", out+"/f"), os.Link(out+"/g", out+"/g2")); err != nil {
					t.Fatal(err)
				}
				reports := s.editor(func(feed.Report) error {
					if allow {
						return nil
					}
					return errors.New("no")
				})
				said, _ := s.run("sh", "-c", "echo free > \"$OUT/g\"; "+script)
				asked := 0
				for _, r := range reports() {
					if r.Phase == feed.Ask {
						asked++
						if r.Path != filepath.Join(s.root, "f") {
							t.Errorf("asked about %s", r.Path)
						}
					}
				}
				var done []string
				if allow {
					done = []string{want}
				}
				if got := s.lines(journal.Post); !slices.Equal(got, done) || asked == 0 {
					t.Errorf("%d questions, done %q, want %q\n%s", asked, got, done, said)
				}
				st, err := os.Stat(s.root + "/f")
				if data, _ := os.ReadFile(s.root + "/f"); err != nil || !allow && (string(data) != "one\n" || st.Mode() != 0o644) {
					t.Errorf("it is %q, %v, %v", data, st.Mode(), err)
				}
			})
		}
	}
}

// A program in a gate can neither mount anything nor get mounts of its own, where the files of
// the project have names that nobody asks about.
func TestAGateMakesNoMounts(t *testing.T) {
	t.Parallel()
	for _, enter := range []string{"", "unshare -rm ", "unshare -m ", "unshare -U "} {
		for _, do := range []string{
			`touch $D/g; mount --bind f $D/g && echo two > $D/g`,
			`mkdir $D/m; mount --bind . $D/m && echo two > $D/m/f`,
			`mkdir $D/l $D/w $D/o; mount -t overlay -o lowerdir=$D/l,upperdir=$PWD,workdir=$D/w none $D/o && echo two > $D/o/f`,
			`$HELPER helper detached f`,
		} {
			t.Run(enter+do, func(t *testing.T) {
				t.Parallel()
				s := newShimmed(t)
				s.config.Gate = &shim.Gate{}
				s.write("f", "one\n")
				s.env = []string{"D=" + t.TempDir()}
				out, status := s.run("sh", "-c", enter+"sh -c '"+do+"' && echo passed")
				if data, err := os.ReadFile(s.root + "/f"); string(data) != "one\n" || err != nil || strings.Contains(out, "passed") {
					t.Errorf("it is %q, %v; status %d\n%s", data, err, status, out)
				}
			})
		}
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
