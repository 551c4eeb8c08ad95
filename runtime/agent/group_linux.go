package agent

import (
	"os/exec"
	"syscall"
	"unsafe"
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// reap waits for the child and ends what it left in its group. That happens
// while the child is a zombie, because it still holds the number of the group.
func reap(x *exec.Cmd) {
	if awaitExit(x.Process.Pid) {
		signalGroup(x.Process.Pid, killSignal)
		x.Wait()
		return
	}
	x.Wait()
	signalGroup(x.Process.Pid, killSignal)
}

// awaitExit returns when the child has exited, and leaves it to be waited for.
func awaitExit(pid int) bool {
	const (
		byPID = 1         // P_PID
		keep  = 0x1000004 // WEXITED | WNOWAIT
	)
	var info [128]byte // siginfo_t
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), keep, 0, 0)
		if e != syscall.EINTR {
			return e == 0
		}
	}
}
