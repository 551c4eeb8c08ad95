//go:build unix && !linux

package agent

import (
	"os/exec"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reap waits for the child and ends what it left in its group.
func reap(x *exec.Cmd) {
	x.Wait()
	signalGroup(x.Process.Pid, killSignal)
}
