package confine

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What Landlock does not cover is refused by a filter of system calls. It
// decides by numbers and flags, never by what a pointer leads to, which the
// program could change after the decision.

// Offsets in struct seccomp_data.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// refused are calls that get around paths, or that only root may make and that
// reach beyond files. They fail with EPERM.
var refused = []uint32{
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_MOUNT_SETATTR,
}

// typing are requests of ioctl that put keys into a terminal, as if the user had
// typed them.
var typing = []uint32{unix.TIOCSTI, unix.TIOCLINUX}

func filter(r Rules) error {
	program := compile(r)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func jump(test uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: yes, Jf: no}
}

func fail(errno unix.Errno) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

var allow = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}

// arg loads the lower half of an argument. Flags and small numbers are there.
func arg(i uint32) unix.SockFilter { return load(offArgs + 8*i) }

// when runs steps if the system call is number. The steps may leave by a return
// or fall through.
func when(number uint32, steps ...unix.SockFilter) []unix.SockFilter {
	return slices.Concat([]unix.SockFilter{load(offNumber), jump(unix.BPF_JEQ, number, 0, uint8(len(steps)))}, steps)
}

// compile makes the filter.
func compile(r Rules) []unix.SockFilter {
	// Numbers mean something else in other modes of the processor.
	p := []unix.SockFilter{load(offArch), jump(unix.BPF_JEQ, arch, 1, 0), fail(unix.ENOSYS)}
	if maxNumber > 0 {
		p = append(p, load(offNumber), jump(unix.BPF_JGE, maxNumber, 0, 1), fail(unix.ENOSYS))
	}
	// Its requests are files and sockets, and no filter sees them.
	p = append(p, when(unix.SYS_IO_URING_SETUP, fail(unix.ENOSYS))...)
	for _, number := range append(slices.Clone(refused), refusedHere...) {
		p = append(p, when(number, fail(unix.EPERM))...)
	}
	for _, request := range typing {
		p = append(p, when(unix.SYS_IOCTL, arg(1), jump(unix.BPF_JEQ, request, 0, 1), fail(unix.EPERM))...)
	}
	if !r.Net.All {
		// A connection can be opened by sending, which Landlock does not see.
		const fastOpen = unix.MSG_FASTOPEN
		p = append(p, when(unix.SYS_SENDTO, arg(3), jump(unix.BPF_JSET, fastOpen, 0, 1), fail(unix.EOPNOTSUPP))...)
		p = append(p, when(unix.SYS_SENDMSG, arg(2), jump(unix.BPF_JSET, fastOpen, 0, 1), fail(unix.EOPNOTSUPP))...)
		p = append(p, when(unix.SYS_SENDMMSG, arg(3), jump(unix.BPF_JSET, fastOpen, 0, 1), fail(unix.EOPNOTSUPP))...)
		p = append(p, when(unix.SYS_SOCKET, sockets(r)...)...)
	} else if !r.Sockets {
		p = append(p, when(unix.SYS_SOCKET, arg(0), jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1), fail(unix.EACCES))...)
	}
	return append(p, allow)
}

// sockets decides about socket(domain, type, protocol).
func sockets(r Rules) []unix.SockFilter {
	var p []unix.SockFilter
	// Interfaces and addresses of this machine.
	p = append(p, arg(0), jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 3), arg(2), jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 0, 1), allow)
	if r.Sockets {
		p = append(p, arg(0), jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1), allow)
	}
	if len(r.Net.Ports) == 0 {
		return append(p, fail(unix.EACCES))
	}
	const kind = 0xf // the rest are flags
	p = append(p,
		arg(0), jump(unix.BPF_JEQ, unix.AF_INET, 2, 0), jump(unix.BPF_JEQ, unix.AF_INET6, 1, 0), fail(unix.EACCES),
		// TCP, and not its relatives, which Landlock does not know.
		arg(2), jump(unix.BPF_JEQ, 0, 3, 0), jump(unix.BPF_JEQ, unix.IPPROTO_TCP, 2, 0), jump(unix.BPF_JEQ, unix.IPPROTO_UDP, 1, 0), fail(unix.EPROTONOSUPPORT),
		arg(1), unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: kind},
		jump(unix.BPF_JEQ, unix.SOCK_STREAM, 0, 1), allow)
	if slices.Contains(r.Net.Ports, 53) {
		p = append(p, jump(unix.BPF_JEQ, unix.SOCK_DGRAM, 0, 1), allow)
	}
	return append(p, fail(unix.EACCES))
}
