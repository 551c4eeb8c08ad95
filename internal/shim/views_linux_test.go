//go:build amd64 || arm64

package shim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// A program may see the files of the project under other names.
func TestOtherViewsOfTheFilesAreTheSameFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		want         []string
	}{
		{"a root", `mkdir ../bin; cp "$STATIC" ../bin/h; exec chroot .. /bin/h /p/a`, []string{`write a absent "text"`}},
		{"a link in a root", `mkdir ../bin; cp "$STATIC" ../bin/h; ln -s /p/sub ../way; ln -s ../../../../../p/x ../up; chroot .. /bin/h /way/a; exec chroot .. /bin/h /up`,
			[]string{`write sub/a absent "text"`, `write x absent "text"`}},
		{"a mount", `exec unshare -m sh -c 'mkdir ../m; mount --bind sub ../m; echo a > ../m/a; mv ../m/a ../m/b; cd ../m; rm b'`,
			[]string{`write sub/b absent "a\n"`, `remove sub/b "a\n"`}},
		{"a file with the name of another", `exec unshare -m sh -c 'mkdir ../m; mount --bind ../m sub; echo a > sub/a'`, nil},
		{"namespaces of a user", `exec unshare -rm sh -c 'mkdir ../m; mount --bind . ../m; echo a > ../m/a; rm ../m/a'`,
			[]string{`write a absent "a\n"`, `remove a "a\n"`}},
		{"numbers of processes", `exec unshare -rpfm --mount-proc sh -c 'exec 5>a; echo a > /proc/self/fd/5; echo b > /proc/self/cwd/b; exec 5>&-'`,
			[]string{`write a absent "a\n"`, `write b absent "b\n"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShimmed(t)
			s.write("sub/g", "g\n")
			if out, err := exec.Command("sh", "-c", "unshare -rm true && unshare -m true && chroot / true").CombinedOutput(); err != nil {
				t.Skipf("no namespaces here: %s", out)
			}
			program, err := static()
			if err != nil {
				t.Fatal(err)
			}
			s.env = []string{"STATIC=" + program}
			out, status := s.run("sh", "-c", c.script)
			if got := s.lines(journal.Post); !slices.Equal(got, c.want) || status != 0 {
				t.Errorf("exit status %d, got\n  %s\nwant\n  %s\n%s", status, strings.Join(got, "\n  "), strings.Join(c.want, "\n  "), out)
			}
		})
	}
}

func TestADaemonIsSupervisedWhenTheProgramHasEnded(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	// If the shim waited for the daemon, which waits for a file, it would be killed.
	if out, status := s.run("HELPER", "helper", "daemon"); status != 0 {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	s.write("go", "")
	waitFor(t, func() bool { return slices.Contains(s.lines(journal.Post), `write late absent "late\n"`) })
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	patience.True(t, "what was waited for", ok)
}

func TestAShimInAShimSaysSo(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	inner := `{"root":".","journal":"inner"}`
	out, status := s.run("HELPER", "shim", inner, "sh", "-c", "echo started > f")
	if status != 125 || !strings.Contains(out, "supervises this one already") {
		t.Errorf("exit status %d\n%s", status, out)
	}
	if got := s.lines(journal.Post); slices.ContainsFunc(got, func(l string) bool { return strings.Contains(l, "write f") }) {
		t.Errorf("the program started: %q", got)
	}
	if _, err := os.Stat(filepath.Join(s.root, "inner")); err == nil {
		t.Error("a journal is left")
	}
}
