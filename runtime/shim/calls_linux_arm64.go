package shim

import "golang.org/x/sys/unix"

const (
	arch       = unix.AUDIT_ARCH_AARCH64
	archOther  = 0 // programs of 32 bits cannot call anything
	maxNumber  = 0
	uringSetup = unix.SYS_IO_URING_SETUP
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
	{unix.SYS_OPEN_BY_HANDLE_AT, refuse, none, none, none, none, 2, none},
}

var callsOther []call
