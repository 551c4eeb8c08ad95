package shim

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// A child that was just forked holds the socket of its parent. It is not who listens, whatever
// the numbers of the two are.
func TestTheHolderOfASocketIsTheOldest(t *testing.T) {
	t.Parallel()
	// The child is born in the same tick as its own child, or one before.
	child := exec.Command("sh", "-c", "sleep 600 & echo $!; wait")
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer syscall.Kill(-child.Process.Pid, syscall.SIGKILL)
	var grandchild int
	if _, err := fmt.Fscan(out, &grandchild); err != nil {
		t.Fatal(err)
	}
	self, middle := os.Getpid(), child.Process.Pid
	for _, c := range []struct {
		pids []int
		want int
	}{
		{[]int{self, middle}, self},
		{[]int{middle, self}, self},
		{[]int{grandchild, middle}, middle},
		{[]int{middle, grandchild}, middle},
		{[]int{grandchild, self, middle}, self},
		{[]int{grandchild}, grandchild},
	} {
		if got := oldest(c.pids); got != c.want {
			t.Errorf("of %v: %d, want %d", c.pids, got, c.want)
		}
	}
	if got := oldest([]int{1 << 30}); got != 0 {
		t.Errorf("of none: %d", got)
	}
}
