package process

import (
	"os/exec"
	"syscall"
	"unsafe"
)

// Death says what happens to a program when this process dies without ending
// it. Only Linux can do that.
type Death syscall.Signal

// What a program gets then.
const (
	Terminated = Death(syscall.SIGTERM)
	Killed     = Death(syscall.SIGKILL)
)

// Attr makes a program the leader of a group of its own.
func Attr(d Death) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.Signal(d)}
}

// TerminalAttr is Attr for a program whose standard input is a terminal, which
// becomes its controlling terminal.
func TerminalAttr(d Death) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.Signal(d)}
}

// WaitAll waits for the leader and kills what it left in its group. That
// happens while the leader is a zombie, because it still holds the number of
// the group.
func WaitAll(x *exec.Cmd, g *Group) {
	if awaitExit(g.leader) {
		g.Kill()
		x.Wait()
		return
	}
	x.Wait()
	g.Kill()
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
