//go:build amd64 || arm64

package shim

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/seccomp"
)

// verb is what a system call does.
type verb uint8

const (
	open    verb = iota + 1
	openHow      // open, with its flags in struct open_how
	create       // open, without flags
	truncate
	unlink
	rmdir
	rename
	link
	symlink
	mkdir
	mknod
	chmod
	refuse // a way around paths: it fails
)

// none is an argument that a call does not have.
const none = -1

// call says where the arguments of a system call are.
type call struct {
	number      uint32
	verb        verb
	dir, path   int // the path that changes, and the folder it is relative to
	dir2, path2 int // the other path: the file that gets another name, the new name, or where a link leads
	flags       int // for openHow, struct open_how; for truncate, the length
	mode        int // for mknod, the device follows; for chmod, the new one
}

// numbers are the numbers of calls that change no file of the project by
// themselves.
type numbers struct {
	uring   uint32
	limit   uint32 // prlimit64
	connect uint32
	bind    uint32
	listen  uint32
	sockets uint32 // socketcall, which makes all calls of sockets; 0 if there is none
	mounts  []uint32
	clone   []uint32 // whose first argument says what the process gets for itself
	setns   uint32
}

// clone3 is the number of clone3 everywhere. Its flags are in memory, where no filter sees them.
const clone3 = unix.SYS_CLONE3

// The numbers of calls for socketcall.
const (
	sysBind    = 2
	sysConnect = 3
	sysListen  = 4
)

// opens are the flags of an open that may change a file. O_TMPFILE has one bit of
// its own.
const opens = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | unix.O_TMPFILE&^unix.O_DIRECTORY

// filter stops the calls that change files. In gate mode a program cannot add rules
// of its own about files, because the supervisor, which is not bound by them, makes
// its calls.
func filter(gate bool) []seccomp.Step {
	foreign := []seccomp.Step{seccomp.Fail(unix.ENOSYS)}
	if archOther != 0 {
		foreign = append(seccomp.Unless(archOther, seccomp.Fail(unix.ENOSYS)), stops(callsOther, othersOther, gate)...)
	}
	f := seccomp.Unless(arch, foreign...)
	if maxNumber > 0 {
		f = append(f, seccomp.From(maxNumber, seccomp.Fail(unix.ENOSYS))...)
	}
	return append(f, stops(calls, others, gate)...)
}

// landlock is the number of landlock_create_ruleset everywhere.
const landlock = unix.SYS_LANDLOCK_CREATE_RULESET

func stops(calls []call, others numbers, gate bool) []seccomp.Step {
	// Its requests are files, and no filter sees them.
	f := seccomp.When(others.uring, seccomp.Fail(unix.ENOSYS))
	// The other process may be the supervisor.
	f = append(f, seccomp.Limits(others.limit, seccomp.Notify)...)
	// Unix sockets lead to processes outside.
	f = append(f, seccomp.When(others.connect, seccomp.Notify)...)
	if others.sockets != 0 {
		f = append(f, seccomp.When(others.sockets, seccomp.Arg(0), seccomp.Jump(unix.BPF_JEQ, sysConnect, 0, 1), seccomp.Notify)...)
	}
	if gate {
		// The path of a socket is a name in a folder, and other machines reach one that waits.
		f = append(f, seccomp.When(others.bind, seccomp.Notify)...)
		f = append(f, seccomp.When(others.listen, seccomp.Notify)...)
		if others.sockets != 0 {
			f = append(f, seccomp.When(others.sockets, seccomp.Arg(0), seccomp.Jump(unix.BPF_JEQ, sysBind, 1, 0), seccomp.Jump(unix.BPF_JEQ, sysListen, 0, 1), seccomp.Notify)...)
		}
		// In mounts of its own, a program reaches the project by names that nobody asks about.
		f = append(f, seccomp.Any(append(slices.Clone(others.mounts), others.setns), seccomp.Fail(unix.EPERM))...)
		for _, number := range others.clone {
			f = append(f, seccomp.When(number, seccomp.Arg(0), seccomp.Jump(unix.BPF_JSET, unix.CLONE_NEWUSER|unix.CLONE_NEWNS, 0, 1), seccomp.Fail(unix.EPERM))...)
		}
		f = append(f, seccomp.When(clone3, seccomp.Fail(unix.ENOSYS))...) // programs fall back to clone
		f = append(f, seccomp.When(landlock, seccomp.Fail(unix.ENOSYS))...)
	}
	for _, c := range calls {
		switch {
		case c.verb == openHow && gate:
			// Its flags are in memory, and may change after they were read: those that
			// only read could not be let go. Programs fall back to openat.
			f = append(f, seccomp.When(c.number, seccomp.Fail(unix.ENOSYS))...)
		case c.verb == open:
			f = append(f, seccomp.When(c.number, seccomp.Arg(uint32(c.flags)), seccomp.Jump(unix.BPF_JSET, opens, 0, 1), seccomp.Notify, seccomp.Allow)...)
		case c.verb == refuse:
			f = append(f, seccomp.When(c.number, seccomp.Arg(uint32(c.flags)), seccomp.Jump(unix.BPF_JSET, opens, 0, 1), seccomp.Fail(unix.EPERM), seccomp.Allow)...)
		default:
			f = append(f, seccomp.When(c.number, seccomp.Notify)...)
		}
	}
	return append(f, seccomp.Allow)
}

// callOf returns what a notice is about.
func callOf(n *notice) *call {
	table := calls
	if n.arch != arch {
		table = callsOther
	}
	for i := range table {
		if table[i].number == uint32(n.nr) {
			return &table[i]
		}
	}
	return nil
}
