// Package seccomp builds filters of system calls and installs them.
//
// A filter decides by numbers and flags, never by what a pointer leads to, which
// the program could change after the decision.
package seccomp

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// Step is an instruction of a filter.
type Step = unix.SockFilter

// Allow and Notify end a filter: the call is made, or the listener decides.
var (
	Allow  = Step{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	Notify = Step{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF}
)

// Fail ends a filter: the call fails.
func Fail(errno unix.Errno) Step {
	return Step{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// Jump skips as many steps as yes or no says.
func Jump(test uint16, k uint32, yes, no uint8) Step {
	return Step{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: yes, Jf: no}
}

// And keeps some bits of what was loaded.
func And(mask uint32) Step { return Step{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask} }

// Arg loads the lower half of an argument. Flags and small numbers are there.
func Arg(i uint32) Step { return load(offArgs + 8*i) }

// High loads the upper half of an argument, which only pointers and large numbers
// have.
func High(i uint32) Step { return load(offArgs + 8*i + 4) }

func load(offset uint32) Step {
	return Step{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// When runs steps if the system call is number. The steps may end the filter or
// fall through.
func When(number uint32, steps ...Step) []Step {
	return slices.Concat([]Step{load(offNumber), Jump(unix.BPF_JEQ, number, 0, uint8(len(steps)))}, steps)
}

// Unless runs steps if the processor is not in the mode of an architecture, one
// of AUDIT_ARCH. There can be at most 255 steps.
func Unless(arch uint32, steps ...Step) []Step {
	return slices.Concat([]Step{load(offArch), Jump(unix.BPF_JEQ, arch, uint8(len(steps)), 0)}, steps)
}

// From runs steps if the number of the system call is not below a bound.
func From(number uint32, steps ...Step) []Step {
	return slices.Concat([]Step{load(offNumber), Jump(unix.BPF_JGE, number, 0, uint8(len(steps)))}, steps)
}

// Any takes step if the system call is one of some numbers.
func Any(numbers []uint32, step Step) []Step {
	f := []Step{load(offNumber)}
	for i, number := range numbers {
		left := uint8(len(numbers) - 1 - i)
		if left > 0 {
			f = append(f, Jump(unix.BPF_JEQ, number, left, 0))
		} else {
			f = append(f, Jump(unix.BPF_JEQ, number, 0, 1))
		}
	}
	return append(f, step)
}

// Mounts are the calls that change what is mounted where.
var Mounts = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
	unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
}

// Limits takes step if prlimit64, whose number differs by architecture, sets a limit
// of a process other than the caller. A process names itself by 0, and only reads
// limits if the new ones are a null pointer.
func Limits(number uint32, step Step) []Step {
	return When(number,
		Arg(0), Jump(unix.BPF_JEQ, 0, 5, 0),
		Arg(2), Jump(unix.BPF_JEQ, 0, 0, 2), High(2), Jump(unix.BPF_JEQ, 0, 1, 0), step)
}

// Install binds the calling thread, and what it starts, to a filter for good. With
// SECCOMP_FILTER_FLAG_NEW_LISTENER the result is the listener.
func Install(filter []Step, flags uint) (listener int, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, uintptr(flags), uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
