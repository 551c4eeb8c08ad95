//go:build amd64 || arm64

package shim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

func TestAProgramEndsAsItDoesWithoutAShim(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{
		"exit 0": 0, "exit 3": 3, "exit 255": 255,
		"kill -TERM $$": -15, "kill -KILL $$": -9, "kill -INT $$": -2, "kill -QUIT $$": -3, "kill -SEGV $$": -11, "kill -USR1 $$": -10, "kill -PIPE $$": -13, "kill -ABRT $$": -6,
	} {
		s := newShimmed(t)
		if out, status := s.run("sh", "-c", script); status != want {
			t.Errorf("%s: ended with %d, want %d\n%s", script, status, want, out)
		}
	}
	s := newShimmed(t)
	if out, status := s.run("/proc/self/status"); status == 0 || status == 125 && !strings.Contains(out, "permission denied") {
		t.Errorf("what cannot be executed: %d\n%s", status, out)
	}
}

func TestAProgramGetsTheSameArgumentsAndEnvironment(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	const script = `env | grep -v '^_=' | sort; pwd; ulimit -n; umask; printf '<%s>' "$0" "$@"; ls /proc/self/fd | tr '\n' ' '; cat <&7; grep -E 'SigBlk|SigIgn' /proc/self/status; echo err >&2`
	arguments := []string{"-c", script, "zero", "a b", "", "\xff", "-x"}
	run := func(cmd *exec.Cmd) string {
		in := filepath.Join(filepath.Dir(s.root), "in")
		if err := os.WriteFile(in, []byte("from a descriptor\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.ExtraFiles = []*os.File{nil, nil, nil, nil, f}[4:]
		// The file is descriptor 3 now, and 7 in the shell.
		cmd.Args = append([]string{"sh", "-c", `exec 7<&3 3<&- "$@"`, "sh"}, append([]string{cmd.Path}, cmd.Args[1:]...)...)
		cmd.Path = "/bin/sh"
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return string(out)
	}
	with := s.command(append([]string{"sh"}, arguments...)...)
	without := exec.Command("sh", arguments...)
	without.Dir, without.Env = with.Dir, append(slices.Clone(with.Env), "HERMES_SHIM=1") // the one addition
	if got, want := run(with), run(without); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A reader of the output of a program learns that it has ended, although
// processes that it left behind are still supervised.
func TestOutputEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	out, status := s.run("sh", "-c", `exec sh -c 'echo out; (exec setsid sh -c "sleep 0.5; echo x > late" > /dev/null 2>&1 < /dev/null) & exit 5'`)
	if out != "out\n" || status != 5 {
		t.Errorf("%q, exit status %d", out, status)
	}
	waitFor(t, func() bool { return strings.Contains(strings.Join(s.lines(journal.Post), "\n"), "write late") })
}

// Changes reach the editor in order and once, whenever it comes and goes.
func TestAnEditorThatComesLaterGetsEveryChange(t *testing.T) {
	t.Parallel()
	s := newShimmed(t)
	s.config.Settle = 1
	s.write("a", "0\n")
	s.config.Socket = filepath.Join(sockdir.New(t), "s")
	cmd := s.command("sh", "-c", `for i in 1 2 3; do echo $i > a; mv a b; mv b a; done; rm a; mkdir d; while ! test -e ../go; do sleep 0.02; done; echo last > c`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	waitFor(t, func() bool {
		_, err := os.Stat(filepath.Join(s.root, "d"))
		return err == nil
	})
	reports := s.editor(nil)
	waitFor(t, func() bool { return len(reports()) >= 11 })
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.root), "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(reports()) >= 12 })
	for i, r := range reports() {
		if r.Seq != uint64(i+1) || r.Missed || r.Author.Source != "shim" || r.Author.Inferred {
			t.Errorf("report %d: %+v", i, r)
		}
	}
	first, last := reports()[0], reports()[11]
	if first.Kind != feed.Write || *first.Before.Text != "0\n" || *first.After.Text != "1\n" || last.Path != filepath.Join(s.root, "c") || !last.Before.Absent || *last.After.Text != "last\n" {
		t.Errorf("first %+v, last %+v", first, last)
	}
}
