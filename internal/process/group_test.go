//go:build unix

package process

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// start runs a shell script that says a line, and returns that line, the group
// and how it ended.
func start(t *testing.T, script string, kind Kind) (string, *Group, <-chan Exit) {
	t.Helper()
	x := exec.Command("/bin/sh", "-c", script)
	kind.Death = Killed
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	x.Stdout = w
	ended := make(chan Exit, 1)
	g, err := Start(x, kind, func(_ *Group, e Exit) { ended <- e })
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), g, ended
}

func within[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience.Soon):
		t.Fatal("the program does not end")
		panic("unreachable")
	}
}

func gone(pid int) bool {
	for end := time.Now().Add(patience.Soon); time.Now().Before(end); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) == syscall.ESRCH || err == nil && strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}

func TestTheEndOfTheLeaderEndsTheGroup(t *testing.T) {
	t.Parallel()
	line, g, ended := start(t, "sleep 600 >/dev/null & echo $!", Kind{Whole: true})
	if e := within(t, ended); e != (Exit{}) {
		t.Error(e)
	}
	child, _ := strconv.Atoi(line)
	if child == 0 || !gone(child) {
		t.Errorf("child %q is left", line)
	}
	if g.Kill(); g.wait(patience.Soon) && g.Terminate() {
		t.Error("an empty group was signalled")
	}
}

func TestEndKillsProcessesThatIgnoreTerm(t *testing.T) {
	t.Parallel()
	_, g, ended := start(t, "trap '' TERM; echo; while :; do sleep 600; done", Kind{})
	if !g.Alive() {
		t.Error("a running group is not alive")
	}
	g.End(50 * time.Millisecond)
	if e := within(t, ended); e.Signal != "SIGKILL" || e.Words != "killed" {
		t.Errorf("ended by %+v", e)
	}
}

func TestAProgramThatCannotBeStartedIsNotServed(t *testing.T) {
	t.Parallel()
	served := false
	if _, err := Start(exec.Command(filepath.Join(t.TempDir(), "program")), Kind{}, func(*Group, Exit) { served = true }); err == nil || served {
		t.Error(err, served)
	}
}
