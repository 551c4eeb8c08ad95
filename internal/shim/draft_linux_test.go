//go:build amd64 || arm64

package shim_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// A program that saves a file by renaming another one over it is asked about once, with the
// old and the new text. Without a yes, nothing of it is ever in the project.
func TestASaveByARenameIsOneQuestion(t *testing.T) {
	t.Parallel()
	const save = `f "one\n" "two\n"`
	for _, c := range []struct {
		script string
		asked  []string // with every answer yes
		posts  []string
		status int // if every answer is no
	}{
		{`sed -i s/one/two/ f`, []string{save}, []string{"write " + save}, 4},
		{`$HELPER helper save f.tmp.4711.1732000000000 f`, []string{save}, []string{"write " + save}, 1},
		{`$HELPER helper save f.283746501 f`, []string{save}, []string{"write " + save}, 1},
		{`$HELPER helper save f.2837465012 f`, []string{save}, []string{"write " + save}, 1},
		{`$HELPER helper save .f837465012 f`, []string{save}, []string{"write " + save}, 1},
		{`$HELPER helper save .f.837465012 f`, []string{save}, []string{"write " + save}, 1},
		{`$HELPER helper save f.tmp.1.2 g`, []string{`g absent "two\n"`}, []string{`write g absent "two\n"`}, 1},
		{`$HELPER helper save f.tmp.1.2 ignored/g`, nil, nil, 0},
		{`$HELPER helper save f.tmp.1.2 ../../out/g; cat ../../out/g`, nil, nil, 0},
		{`$HELPER helper save f.tmp.1.2 free/g`, nil, []string{`write free/g absent "two\n"`}, 0},
		{`! $HELPER helper save f.tmp.1.2 never/g; $HELPER helper remove f.tmp.1.2`, nil, nil, 0},
		// The text that was shown is the text that is saved.
		{`$HELPER helper save-late f.tmp.1.2 f`, []string{save}, []string{"write " + save}, 1},
		{`echo t > f.tmp.1.2; echo wo >> f.tmp.1.2; $HELPER helper chmod f.tmp.1.2; $HELPER helper truncate f.tmp.1.2; echo t >> f.tmp.1.2; $HELPER helper rename f.tmp.1.2 f; stat -c %a f | grep -q 600`, []string{`f "one\n" "t\n"`}, []string{`write f "one\n" "t\n"`}, 1},
		{`echo x > f.tmp.1.2; $HELPER helper remove f.tmp.1.2; ! $HELPER helper remove f.tmp.1.2 2> /dev/null`, nil, nil, 0},
		{`set -C; echo x > f.tmp.1.2; ! (echo y > f.tmp.1.2) 2> /dev/null; ! mkdir f.tmp.1.2 2> /dev/null; ! ln -s x f.tmp.1.2 2> /dev/null; ! rmdir f.tmp.1.2 2> /dev/null; $HELPER helper remove f.tmp.1.2`, nil, nil, 0},
		// Without a rename, it is a file.
		{`echo x > f.tmp.1.2`, []string{`f.tmp.1.2 absent "x\n"`}, []string{`write f.tmp.1.2 absent "x\n"`}, 0},
		{`echo x > f.tmp.1.2; kill -9 $$`, nil, nil, -9},
		{`echo x > f.tmp.1.2; sleep 1 & :`, []string{`f.tmp.1.2 absent "x\n"`}, []string{`write f.tmp.1.2 absent "x\n"`}, 0},
		{`ln f new.tmp.1.2; echo x > f.20261130; echo x > none.tmp.1.2`, []string{"f", "new.tmp.1.2 absent -", "f.20261130 absent -", "none.tmp.1.2 absent -"}, []string{"link f new.tmp.1.2", `write f.20261130 absent "x\n"`, `write none.tmp.1.2 absent "x\n"`}, 1},
		{`echo x > f.tmp.1.2; ln f.tmp.1.2 g`, []string{`f.tmp.1.2 absent "x\n"`, "f.tmp.1.2", "g absent -"}, []string{`write f.tmp.1.2 absent "x\n"`, "link f.tmp.1.2 g"}, 1},
		{`echo x > f.tmp.1.2; $HELPER helper exchange f.tmp.1.2 f`, []string{`f.tmp.1.2 absent "x\n"`, `f.tmp.1.2>f "one\n" "x\n"`}, []string{`write f.tmp.1.2 absent "x\n"`, `write f.tmp.1.2 "x\n" "one\n"`, `write f "one\n" "x\n"`}, 1},
		{`echo x > f.tmp.1.2; $HELPER helper rename f f.tmp.1.2`, []string{`f>f.tmp.1.2 absent -`}, []string{"rename f f.tmp.1.2"}, 1},
		{`echo x > d/f.tmp.1.2; mv d e; cat e/f.tmp.1.2`, []string{`d/f.tmp.1.2 absent "x\n"`, `d>e absent -`}, []string{"mkdir e", "rename d/f e/f", `write e/f.tmp.1.2 absent "x\n"`}, 1},
		{`echo x > f.tmp.1.2; until [ -e f.tmp.1.2 ]; do sleep 0.1; done; echo y >> f.tmp.1.2; cat f.tmp.1.2`, []string{`f.tmp.1.2 absent "x\n"`, `f.tmp.1.2 "x\n" -`}, []string{`write f.tmp.1.2 absent "x\n"`, `write f.tmp.1.2 "x\n" "x\ny\n"`}, 99},
		// Over another file, also by a program that first asks for a name of its own.
		{`echo two > n; mv n f`, []string{`n absent -`, `n>f "one\n" "two\n"`}, []string{"write " + save}, 1},
	} {
		for _, allow := range []bool{true, false} {
			if c.status == 99 && !allow {
				continue // it would wait for ever
			}
			t.Run(fmt.Sprint(c.script, allow), func(t *testing.T) {
				t.Parallel()
				s := newShimmed(t)
				s.config.Gate = &shim.Gate{Allow: []string{s.root + "/free"}, Deny: []string{s.root + "/never"}}
				for name, text := range map[string]string{"f": "one\n", "d/f": "", "ignored/x": "", ".gitignore": "ignored\n", ".git/HEAD": "", "free/x": "", "never/x": "", "../../out/x": ""} {
					if strings.HasPrefix(name, "..") {
						name = "../out/x"
					}
					s.write(name, text)
				}
				reports := s.editor(func(r feed.Report) error {
					if r.Phase == feed.Ask && !allow {
						return errors.New("no")
					}
					return nil
				})
				before := s.tree(s.root)
				script := strings.ReplaceAll(c.script, "../../out", "../out")
				out, status := s.run("bash", "-c", "set -e; "+script)
				want := c.status
				if allow && want != -9 {
					want = 0
				}
				if status != want {
					t.Errorf("exit status %d, want %d\n%s", status, want, out)
				}
				var asked []string
				for _, r := range reports() {
					if r.Phase == feed.Ask {
						asked = append(asked, s.question(r))
					}
				}
				posts := s.lines(journal.Post)
				if allow {
					if asked = slices.Compact(asked); !slices.Equal(asked, c.asked) { // what is allowed is told again
						t.Errorf("asked\n  %q, want\n  %q", asked, c.asked)
					}
					if !slices.Equal(posts, c.posts) {
						t.Errorf("recorded\n  %q, want\n  %q", posts, c.posts)
					}
				} else if len(asked) > 0 {
					if now := s.tree(s.root); !slices.Equal(now, before) || len(posts) > 0 {
						t.Errorf("the project was\n  %s\nand is\n  %s\n%q", strings.Join(before, "\n  "), strings.Join(now, "\n  "), posts)
					}
				}
				for _, name := range []string{"f.tmp.1.2"} {
					if _, err := os.Lstat(filepath.Join(s.root, name)); err == nil && !slices.ContainsFunc(posts, func(line string) bool { return strings.Contains(line, name) }) {
						t.Error("there is", name)
					}
				}
			})
		}
	}
}

// question is what a question says: the names, the old text and the new one.
func (s *shimmed) question(r feed.Report) string {
	name := strings.TrimPrefix(r.Path, s.root+"/")
	if r.From != "" {
		name = strings.TrimPrefix(r.From, s.root+"/") + ">" + name
	}
	if r.Before == nil {
		return name
	}
	text := func(v *feed.Version) string {
		switch {
		case v == nil || v.Text == nil && !v.Absent:
			return "-"
		case v.Absent:
			return "absent"
		}
		return fmt.Sprintf("%q", *v.Text)
	}
	return name + " " + text(r.Before) + " " + text(r.After)
}

// A draft belongs to the program's user, who can write it first whatever its mode is.
func TestASaveByARenameIsTheUsers(t *testing.T) {
	t.Parallel()
	for _, user := range users() {
		s := newShimmed(t)
		s.user = user
		s.config.Gate = &shim.Gate{Allow: []string{s.root + "/free"}}
		s.write("f", "one\n")
		s.write("free/f", "one\n")
		if out, status := s.run("sh", "-c", `umask 027; "$HELPER" helper save f.tmp.1.2 free/f && stat -c %u free/f && echo x > free/f`); out != fmt.Sprintln(user) || status != 0 {
			t.Errorf("user %d: exit status %d\n%s", user, status, out)
		}
		if got, want := s.lines(journal.Post), []string{`write free/f "one\n" "two\n"`, `write free/f "two\n" "x\n"`}; !slices.Equal(got, want) {
			t.Errorf("user %d: recorded %q, want %q", user, got, want)
		}
	}
}
