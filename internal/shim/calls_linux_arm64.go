package shim

import (
	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/seccomp"
)

const (
	arch      = unix.AUDIT_ARCH_AARCH64
	archOther = 0 // programs of 32 bits cannot call anything
	maxNumber = 0
)

var (
	others = numbers{
		uring: unix.SYS_IO_URING_SETUP, limit: unix.SYS_PRLIMIT64, connect: unix.SYS_CONNECT, bind: unix.SYS_BIND, listen: unix.SYS_LISTEN,
		mounts: seccomp.Mounts, clone: []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE}, setns: unix.SYS_SETNS,
	}
	othersOther numbers
)

var calls = []call{
	{unix.SYS_OPENAT, open, 0, 1, none, none, 2, 3},
	{unix.SYS_OPENAT2, openHow, 0, 1, none, none, 2, none},
	{unix.SYS_TRUNCATE, truncate, none, 0, none, none, 1, none},
	{unix.SYS_UNLINKAT, unlink, 0, 1, none, none, 2, none},
	{unix.SYS_RENAMEAT, rename, 0, 1, 2, 3, none, none},
	{unix.SYS_RENAMEAT2, rename, 0, 1, 2, 3, 4, none},
	{unix.SYS_LINKAT, link, 2, 3, 0, 1, 4, none},
	{unix.SYS_SYMLINKAT, symlink, 1, 2, none, 0, none, none},
	{unix.SYS_MKDIRAT, mkdir, 0, 1, none, none, none, 2},
	{unix.SYS_MKNODAT, mknod, 0, 1, none, none, none, 2},
	{unix.SYS_FCHMOD, chmod, 0, none, none, none, none, 1},
	{unix.SYS_FCHMODAT, chmod, 0, 1, none, none, none, 2},
	{unix.SYS_FCHMODAT2, chmod, 0, 1, none, none, 3, 2},
	{unix.SYS_OPEN_BY_HANDLE_AT, refuse, none, none, none, none, 2, none},
}

var callsOther []call
