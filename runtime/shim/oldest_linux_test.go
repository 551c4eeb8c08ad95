package shim

import (
	"os"
	"os/exec"
	"testing"
)

// A child that was just forked holds the socket of its parent. It is not who listens, whatever
// the numbers of the two are.
func TestTheHolderOfASocketIsTheOldest(t *testing.T) {
	t.Parallel()
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	for _, pids := range [][]int{{os.Getpid(), child.Process.Pid}, {child.Process.Pid, os.Getpid()}} {
		if got := oldest(pids); got != os.Getpid() {
			t.Errorf("of %v: %d", pids, got)
		}
	}
	if got := oldest([]int{1 << 30}); got != 0 {
		t.Errorf("of none: %d", got)
	}
}
