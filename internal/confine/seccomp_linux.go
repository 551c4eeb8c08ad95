package confine

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/seccomp"
)

// A filter of system calls refuses what Landlock does not cover. It decides by
// numbers and flags, never by what a pointer leads to, which the program could
// change after the decision.

// refused are calls that get around paths, or that only root may make and that
// reach beyond files. They fail with EPERM.
var refused = []uint32{
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
}

// shared are the calls of System V for memory, queues and semaphores, which are no
// files for Landlock.
var shared = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
}

// typing are requests of ioctl that put keys into a terminal, as if the user had
// typed them.
var typing = []uint32{unix.TIOCSTI, unix.TIOCLINUX}

func filter(r Rules) error {
	_, err := seccomp.Install(compile(r), 0)
	return err
}

// compile makes the filter.
func compile(r Rules) []seccomp.Step {
	// Numbers mean something else in other modes of the processor.
	p := seccomp.Unless(arch, seccomp.Fail(unix.ENOSYS))
	if maxNumber > 0 {
		p = append(p, seccomp.From(maxNumber, seccomp.Fail(unix.ENOSYS))...)
	}
	// Its requests are files and sockets, and no filter sees them.
	p = append(p, seccomp.When(unix.SYS_IO_URING_SETUP, seccomp.Fail(unix.ENOSYS))...)
	p = append(p, seccomp.Any(slices.Concat(refused, refusedHere, seccomp.Mounts), seccomp.Fail(unix.EPERM))...)
	// Memory, queues and semaphores of other programs have numbers in place of paths.
	// A program that knows such a number need not open anything first.
	for _, number := range shared {
		p = append(p, seccomp.When(number, seccomp.Fail(unix.ENOSYS))...)
	}
	p = append(p, others()...)
	for _, request := range typing {
		p = append(p, seccomp.When(unix.SYS_IOCTL, seccomp.Arg(1), seccomp.Jump(unix.BPF_JEQ, request, 0, 1), seccomp.Fail(unix.EPERM))...)
	}
	if !r.Net.All {
		// A connection can be opened by sending, which Landlock does not see.
		const fastOpen = unix.MSG_FASTOPEN
		p = append(p, seccomp.When(unix.SYS_SENDTO, seccomp.Arg(3), seccomp.Jump(unix.BPF_JSET, fastOpen, 0, 1), seccomp.Fail(unix.EOPNOTSUPP))...)
		p = append(p, seccomp.When(unix.SYS_SENDMSG, seccomp.Arg(2), seccomp.Jump(unix.BPF_JSET, fastOpen, 0, 1), seccomp.Fail(unix.EOPNOTSUPP))...)
		p = append(p, seccomp.When(unix.SYS_SENDMMSG, seccomp.Arg(3), seccomp.Jump(unix.BPF_JSET, fastOpen, 0, 1), seccomp.Fail(unix.EOPNOTSUPP))...)
		p = append(p, seccomp.When(unix.SYS_SOCKET, sockets(r)...)...)
	} else if !r.Sockets {
		p = append(p, seccomp.When(unix.SYS_SOCKET, seccomp.Arg(0), seccomp.Jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1), seccomp.Fail(unix.EACCES))...)
	}
	if !r.Sockets {
		p = append(p, seccomp.When(unix.SYS_SOCKETPAIR, pairs()...)...)
		if !r.Net.All && !r.Supervised {
			// A socket without an address gets a port by it, which Landlock does not see. With
			// Unix sockets it has to be allowed. A supervisor decides about each.
			p = append(p, seccomp.When(unix.SYS_LISTEN, seccomp.Fail(unix.EACCES))...)
		}
	}
	return append(p, seccomp.Allow)
}

// kind is the part of the type of a socket that is no flag.
const kind = 0xf

// pairs allows pairs of sockets that reach only each other: what is sent with the
// other kinds can have an address.
func pairs() []seccomp.Step {
	return []seccomp.Step{
		seccomp.Arg(1), seccomp.And(kind),
		seccomp.Jump(unix.BPF_JEQ, unix.SOCK_STREAM, 2, 0), seccomp.Jump(unix.BPF_JEQ, unix.SOCK_SEQPACKET, 1, 0), seccomp.Fail(unix.EACCES), seccomp.Allow,
	}
}

// others refuses calls that change how other processes run: a limit can end one. A
// process names itself, or its group, by 0.
func others() (p []seccomp.Step) {
	for _, number := range []uint32{unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		p = append(p, seccomp.When(number, seccomp.Arg(0), seccomp.Jump(unix.BPF_JEQ, 0, 1, 0), seccomp.Fail(unix.EPERM))...)
	}
	p = append(p, seccomp.Limits(unix.SYS_PRLIMIT64, seccomp.Fail(unix.EPERM))...)
	const ioUser = 3 // IOPRIO_WHO_USER
	for _, c := range []struct{ number, user uint32 }{{unix.SYS_SETPRIORITY, unix.PRIO_USER}, {unix.SYS_IOPRIO_SET, ioUser}} {
		p = append(p, seccomp.When(c.number,
			seccomp.Arg(0), seccomp.Jump(unix.BPF_JEQ, c.user, 2, 0), seccomp.Arg(1), seccomp.Jump(unix.BPF_JEQ, 0, 1, 0), seccomp.Fail(unix.EPERM))...)
	}
	return p
}

// sockets decides about socket(domain, type, protocol).
func sockets(r Rules) []seccomp.Step {
	var p []seccomp.Step
	// Interfaces and addresses of this machine.
	p = append(p, seccomp.Arg(0), seccomp.Jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 3), seccomp.Arg(2), seccomp.Jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 0, 1), seccomp.Allow)
	if r.Sockets {
		p = append(p, seccomp.Arg(0), seccomp.Jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1), seccomp.Allow)
	}
	if len(r.Net.Ports) == 0 && !r.Supervised { // a supervisor decides about each connection
		return append(p, seccomp.Fail(unix.EACCES))
	}
	p = append(p,
		seccomp.Arg(0), seccomp.Jump(unix.BPF_JEQ, unix.AF_INET, 2, 0), seccomp.Jump(unix.BPF_JEQ, unix.AF_INET6, 1, 0), seccomp.Fail(unix.EACCES),
		// TCP, and not its relatives, which Landlock does not know.
		seccomp.Arg(2), seccomp.Jump(unix.BPF_JEQ, 0, 3, 0), seccomp.Jump(unix.BPF_JEQ, unix.IPPROTO_TCP, 2, 0), seccomp.Jump(unix.BPF_JEQ, unix.IPPROTO_UDP, 1, 0), seccomp.Fail(unix.EPROTONOSUPPORT),
		seccomp.Arg(1), seccomp.And(kind),
		seccomp.Jump(unix.BPF_JEQ, unix.SOCK_STREAM, 0, 1), seccomp.Allow)
	if slices.Contains(r.Net.Ports, 53) {
		p = append(p, seccomp.Jump(unix.BPF_JEQ, unix.SOCK_DGRAM, 0, 1), seccomp.Allow)
	}
	return append(p, seccomp.Fail(unix.EACCES))
}
