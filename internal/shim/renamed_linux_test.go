//go:build amd64 || arm64

package shim_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// below puts the project into a folder of its own, which can be renamed.
func (s *shimmed) below(dir string) {
	s.t.Helper()
	s.root = filepath.Join(filepath.Dir(s.root), dir, "p")
	if err := os.MkdirAll(s.root, 0o700); err != nil {
		s.t.Fatal(err)
	}
	s.config.Root = s.root
}

// renames are ways to give the project another path for a while. Each sets W to the
// project's folder meanwhile, and ends in "back".
var renames = map[string]string{
	"the project":            `cd ..; mv p q; W=$PWD/q; back() { mv q p; }`,
	"the folder above":       `cd ../..; mv top t; W=$PWD/t/p; back() { mv t top; }`,
	"two above":              `cd ../../..; mv outer o; W=$PWD/o/top/p; back() { mv o outer; }`,
	"by another process":     `cd ..; (setsid sh -c 'mv p q'); W=$PWD/q; back() { mv q p; }`,
	"by a link":              `ln -s "$(dirname "$PWD")" ../../link; cd /; L=$BASE/outer/link; mv $L/p $L/q; W=$L/q; back() { mv $L/q $L/p; }`,
	"by descriptors":         `exec 9< ..; cd /; $HELPER helper rename /proc/self/fd/9/p /proc/self/fd/9/q; W=/proc/$$/fd/9/q; back() { $HELPER helper rename /proc/self/fd/9/q /proc/self/fd/9/p; }`,
	"exchanged":              `cd ..; mkdir q; $HELPER helper exchange p q; W=$PWD/q; back() { $HELPER helper exchange p q; }`,
	"the exchanged one here": `mkdir ../../q; cd ..; $HELPER helper exchange ../q ../top; W=$BASE/outer/q/p; back() { $HELPER helper exchange ../q ../top; }`,
	"into another folder":    `mkdir ../../deep; cd ../..; mv top/p deep/p; W=$PWD/deep/p; back() { mv deep/p top/p; }`,
}

func TestARenamedProjectIsStillTheProject(t *testing.T) {
	t.Parallel()
	const change = `
echo new > $W/sub/a; echo new >> $W/b; mv $W/c $W/d; rm $W/e; mkdir $W/dir; echo new > $W/dir/f; ln -s b $W/soft
cd $W && echo new > g
cd /
`
	for name, rename := range renames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, gated := range []bool{false, true} {
				s := newShimmed(t)
				s.below("outer/top")
				for _, file := range []string{"sub/a", "b", "c", "e"} {
					s.write(file, "old\n")
				}
				if gated {
					s.config.Gate = &shim.Gate{}
				}
				s.env = []string{"BASE=" + filepath.Dir(filepath.Dir(filepath.Dir(s.root)))}
				here := `here=$PWD; `
				out, _ := s.run("sh", "-c", here+rename+change+"cd $here/.. 2> /dev/null || cd /; back")
				got := s.lines(journal.Post)
				if !gated {
					want := []string{`write sub/a "old\n" "new\n"`, `write b "old\n" "old\nnew\n"`, `rename c d`, `remove e "old\n"`, `mkdir dir`, `write dir/f absent "new\n"`, `symlink soft absent ->b`, `write g absent "new\n"`}
					if !slices.Equal(got, want) {
						t.Errorf("got\n  %s\n%s", strings.Join(got, "\n  "), out)
					}
					if !slices.ContainsFunc(s.events(), func(e journal.Event) bool {
						return e.Op == journal.Note && strings.Contains(e.Text, "with the project in it")
					}) {
						t.Error("that the project was renamed is not noted")
					}
					continue
				}
				if len(got) > 0 {
					t.Errorf("it changed, and nobody allowed it\n  %s\n%s", strings.Join(got, "\n  "), out)
				}
				for _, file := range []string{"sub/a", "b", "c", "e"} {
					if data, err := os.ReadFile(filepath.Join(s.root, file)); string(data) != "old\n" {
						t.Errorf("%s: %q %v", file, data, err)
					}
				}
				if !slices.ContainsFunc(s.events(), func(e journal.Event) bool {
					return e.Phase == journal.Denied && e.Op == journal.Rename && strings.Contains(e.Text, "rename or remove the project")
				}) {
					t.Errorf("the rename is not in the journal: %v\n%s", s.events(), out)
				}
			}
		})
	}
}

// Programs outside can rename the project; those inside are then asked about as before.
func TestAProjectThatSomebodyElseRenamesStaysGated(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.below("top")
	s.write("a", "old\n")
	s.config.Gate = &shim.Gate{}
	var asked []string
	reports := s.editor(func(r feed.Report) error {
		if r.Phase == feed.Ask && strings.HasSuffix(r.Path, "/first") {
			if err := os.Rename(filepath.Dir(s.root), filepath.Dir(s.root)+"2"); err != nil {
				t.Error(err)
			}
		}
		return errors.New("no")
	})
	out, _ := s.run("sh", "-c", `echo x > first; echo new > a; echo new > `+filepath.Dir(s.root)+`2/p/a; cat a`)
	for _, r := range reports() {
		if r.Phase == feed.Ask {
			asked = append(asked, strings.TrimPrefix(r.Path, s.root+"/"))
		}
	}
	if !slices.Equal(asked, []string{"first", "a", "a"}) || !strings.HasSuffix(out, "old\n") {
		t.Errorf("asked about %q\n%s", asked, out)
	}
}

// An empty project could be removed, and another folder be put in its place.
func TestAnEmptyProjectIsNotReplaced(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]string{
		"renamed to it":    `rmdir p; mv q p`,
		"renamed over it":  `mv -T q p`,
		"exchanged":        `$HELPER helper exchange q p`,
		"a link":           `rmdir p; ln -s q p`,
		"made again":       `rmdir p; mkdir p; mv q/x p`,
		"by a descriptor":  `exec 9< .; rmdir /proc/self/fd/9/p; mv q p`,
		"with its parent":  `rmdir p; cd ..; mv top t; mkdir top; mv t/q top/p`,
		"a folder it held": `mv q p; mv p/q r; rmdir p; mv r p`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShimmed(t)
			s.below("top")
			s.config.Gate = &shim.Gate{}
			before, err := os.Stat(s.root)
			if err != nil {
				t.Fatal(err)
			}
			out, _ := s.run("sh", "-c", "cd ..; mkdir q; echo evil > q/x\n"+replace)
			after, err := os.Lstat(s.root)
			if err != nil {
				t.Fatal(err)
			}
			if in, err := os.ReadDir(s.root); !os.SameFile(before, after) || len(in) > 0 || err != nil {
				t.Errorf("it holds %v, %v\n%s", in, err, out)
			}
		})
	}
}
