package process

import (
	"os/exec"
	"syscall"
	"unsafe"
)

// Death says what happens to a program when this process dies without ending
// it. Only Linux can do that.
type Death syscall.Signal

// The signals that a program gets in that case.
const (
	Terminated = Death(syscall.SIGTERM)
	Killed     = Death(syscall.SIGKILL)
)

func attr(k Kind, _ *syscall.SysProcAttr) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.Signal(k.Death)}
	a.Setpgid, a.Setsid, a.Setctty = !k.Terminal, k.Terminal, k.Terminal
	return a
}

// waitAll waits for the leader and kills the processes that it left: those in its
// group, and others that Look has seen. It kills the group while the leader is a
// zombie, because the leader then still holds the id of the group.
func waitAll(x *exec.Cmd, g *Group) {
	if awaitExit(g.leader) {
		g.Kill()
		g.killSeen()
		x.Wait()
		return
	}
	x.Wait()
	g.Kill()
	g.killSeen()
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
