//go:build amd64 || arm64

package shim_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// notFollowed are the reasons why calls of this run could not be followed.
func (s *shimmed) notFollowed() (reasons []string) {
	s.t.Helper()
	for _, e := range s.events() {
		if reason, ok := strings.CutPrefix(e.Text, "a call could not be followed: "); ok && e.Op == journal.Unseen && e.Phase == journal.Post {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// The memory of a program that is not dumpable can be read by root alone. Its changes are
// counted and named, and refused in a gate.
func TestAChangeByAProgramThatHidesItsMemoryIsCounted(t *testing.T) {
	t.Parallel()
	for do, want := range map[string]string{
		"write f two":  `write f "one\n" "two"`,
		"write g two":  `write g absent "two"`,
		"rename f g":   `rename f g`,
		"remove f":     `remove f "one\n"`,
		"mkdir d":      `mkdir d`,
		"chmod f":      `chmod f "one\n" 644 "one\n" 600`,
		"truncate f":   `write f "one\n" ""`,
		"link f g":     `link f g`,
		"symlink to l": `symlink l absent ->to`,
	} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			for _, user := range users() {
				for _, gated := range []bool{false, true} {
					s := newShimmed(t)
					s.user = user
					s.write("f", "one\n")
					if gated {
						s.config.Gate = &shim.Gate{Allow: []string{s.root}}
					}
					out, status := s.run("sh", "-c", "$HELPER helper hidden "+do)
					changed := s.lines(journal.Post)
					reasons := s.notFollowed()
					missing, err := journal.MissingIn(s.config.Journal)
					if err != nil || missing.Count != len(reasons) {
						t.Errorf("user %d, gate %v: the record lacks %+v, %v", user, gated, missing, err)
					}
					switch {
					case user == 0:
						if status != 0 || len(reasons) > 0 || len(changed) != 1 || !strings.HasPrefix(changed[0], want) {
							t.Errorf("root, gate %v: ended with %d, recorded %q, lacks %q\n%s", gated, status, changed, reasons, out)
						}
					case gated:
						if status != 1 || !strings.Contains(out, "operation not permitted") || len(changed) > 0 || len(reasons) > 0 {
							t.Errorf("user %d, in a gate: ended with %d, recorded %q, lacks %q\n%s", user, status, changed, reasons, out)
						}
						if data, err := os.ReadFile(filepath.Join(s.root, "f")); string(data) != "one\n" {
							t.Errorf("user %d: a gate let it make %q of the file, %v", user, data, err)
						}
						if entries, err := os.ReadDir(s.root); err != nil || len(entries) != 1 {
							t.Errorf("user %d: a gate let it make %q, %v", user, entries, err)
						}
					default:
						if status != 0 || !slices.Equal(reasons, []string{"operation not permitted"}) {
							t.Errorf("user %d: ended with %d, recorded %q, lacks %q\n%s", user, status, changed, reasons, out)
						}
					}
				}
			}
		})
	}
}

// A supervisor that has no descriptors left does not know what a call is about. The call is
// counted and goes on, or fails in a gate, and the record is exact again afterwards.
func TestChangesWithoutDescriptorsLeftAreCounted(t *testing.T) {
	t.Parallel()
	for _, gated := range []bool{false, true} {
		s := newShimmed(t)
		s.write("f", "one\n")
		s.write("g", "one\n")
		s.write("open", "old\n")
		if gated {
			s.config.Gate = &shim.Gate{Allow: []string{s.root}}
		}
		d := s.talk(`exec 2>&1 5> open; echo ready
read line; echo text >&5; exec 5>&-; (echo two > f); (mkdir d); (rm g); echo tried
read line; echo three > f; echo done; read line; exit 0`)
		d.expect("ready")
		waitFor(t, func() bool { // what it opened is kept by now
			data, _ := os.ReadFile(filepath.Join(s.config.Journal, "events.jsonl"))
			return strings.Contains(string(data), `"phase":"pre"`)
		})
		var limit unix.Rlimit
		if err := unix.Prlimit(d.supervisor, unix.RLIMIT_NOFILE, nil, &limit); err != nil {
			t.Fatal(err)
		}
		none := limit
		none.Cur = 3 // it has them, and waits for no more
		if err := unix.Prlimit(d.supervisor, unix.RLIMIT_NOFILE, &none, nil); err != nil {
			t.Fatal(err)
		}
		d.enter()
		refused := 0
		for line := d.line(); line != "tried"; line = d.line() {
			if refused++; !strings.HasSuffix(line, "Too many open files") {
				t.Errorf("gate %v: it printed %q", gated, line)
			}
		}
		if err := unix.Prlimit(d.supervisor, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
			t.Fatal(err)
		}
		d.enter()
		d.expect("done")
		d.enter()
		if err := d.cmd.Wait(); err != nil {
			t.Error(err)
		}
		changed := slices.DeleteFunc(s.lines(journal.Post), func(line string) bool { return strings.HasPrefix(line, string(journal.Unseen)) })
		want, wantReasons := []string{`write open "old\n" 5 bytes`, `write f "two\n" "three\n"`}, slices.Repeat([]string{"too many open files"}, 3)
		if gated {
			want[1], wantReasons = `write f "one\n" "three\n"`, nil
		}
		reasons := s.notFollowed()
		if !slices.Equal(changed, want) || !slices.Equal(reasons, wantReasons) || refused != 3-len(reasons) {
			t.Errorf("gate %v: recorded %q, lacks %q, and %d calls failed", gated, changed, reasons, refused)
		}
		// The text of the file that was closed is missing, too.
		if missing, err := journal.MissingIn(s.config.Journal); err != nil || missing.Count != len(wantReasons)+1 {
			t.Errorf("gate %v: the record lacks %+v, %v", gated, missing, err)
		}
		if _, err := os.Stat(filepath.Join(s.root, "d")); (err == nil) == gated {
			t.Errorf("gate %v: the folder: %v", gated, err)
		}
	}
}
