package shim

import (
	"golang.org/x/sys/unix"

	"github.com/hermes-nvim/hermes/internal/seccomp"
)

const (
	arch      = unix.AUDIT_ARCH_X86_64
	archOther = unix.AUDIT_ARCH_I386 // int 0x80, and programs of 32 bits
	// maxNumber is where the numbers of a third mode begin, x32.
	maxNumber = 0x40000000
)

var (
	others = numbers{
		uring: unix.SYS_IO_URING_SETUP, limit: unix.SYS_PRLIMIT64, connect: unix.SYS_CONNECT, bind: unix.SYS_BIND, listen: unix.SYS_LISTEN,
		mounts: seccomp.Mounts, clone: []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE}, setns: unix.SYS_SETNS,
	}
	othersOther = numbers{
		uring: 425, limit: 340, connect: 362, bind: 361, listen: 363, sockets: 102,
		// mount, umount, umount2, pivot_root, and what is the same everywhere.
		mounts: []uint32{21, 22, 52, 217, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR},
		clone:  []uint32{120, 310}, setns: 346,
	}
)

var calls = []call{
	{unix.SYS_OPENAT, open, 0, 1, none, none, 2, 3},
	{unix.SYS_OPEN, open, none, 0, none, none, 1, 2},
	{unix.SYS_OPENAT2, openHow, 0, 1, none, none, 2, none},
	{unix.SYS_CREAT, create, none, 0, none, none, none, 1},
	{unix.SYS_TRUNCATE, truncate, none, 0, none, none, 1, none},
	{unix.SYS_UNLINK, unlink, none, 0, none, none, none, none},
	{unix.SYS_UNLINKAT, unlink, 0, 1, none, none, 2, none},
	{unix.SYS_RMDIR, rmdir, none, 0, none, none, none, none},
	{unix.SYS_RENAME, rename, none, 0, none, 1, none, none},
	{unix.SYS_RENAMEAT, rename, 0, 1, 2, 3, none, none},
	{unix.SYS_RENAMEAT2, rename, 0, 1, 2, 3, 4, none},
	{unix.SYS_LINK, link, none, 1, none, 0, none, none},
	{unix.SYS_LINKAT, link, 2, 3, 0, 1, 4, none},
	{unix.SYS_SYMLINK, symlink, none, 1, none, 0, none, none},
	{unix.SYS_SYMLINKAT, symlink, 1, 2, none, 0, none, none},
	{unix.SYS_MKDIR, mkdir, none, 0, none, none, none, 1},
	{unix.SYS_MKDIRAT, mkdir, 0, 1, none, none, none, 2},
	{unix.SYS_MKNOD, mknod, none, 0, none, none, none, 1},
	{unix.SYS_MKNODAT, mknod, 0, 1, none, none, none, 2},
	{unix.SYS_CHMOD, chmod, none, 0, none, none, none, 1},
	{unix.SYS_FCHMOD, chmod, 0, none, none, none, none, 1},
	{unix.SYS_FCHMODAT, chmod, 0, 1, none, none, none, 2},
	{unix.SYS_FCHMODAT2, chmod, 0, 1, none, none, 3, 2},
	{unix.SYS_OPEN_BY_HANDLE_AT, refuse, none, none, none, none, 2, none},
}

var callsOther = []call{
	{295, open, 0, 1, none, none, 2, 3},            // openat
	{5, open, none, 0, none, none, 1, 2},           // open
	{437, openHow, 0, 1, none, none, 2, none},      // openat2
	{8, create, none, 0, none, none, none, 1},      // creat
	{92, truncate, none, 0, none, none, 1, none},   // truncate
	{193, truncate, none, 0, none, none, 1, none},  // truncate64
	{10, unlink, none, 0, none, none, none, none},  // unlink
	{301, unlink, 0, 1, none, none, 2, none},       // unlinkat
	{40, rmdir, none, 0, none, none, none, none},   // rmdir
	{38, rename, none, 0, none, 1, none, none},     // rename
	{302, rename, 0, 1, 2, 3, none, none},          // renameat
	{353, rename, 0, 1, 2, 3, 4, none},             // renameat2
	{9, link, none, 1, none, 0, none, none},        // link
	{303, link, 2, 3, 0, 1, 4, none},               // linkat
	{83, symlink, none, 1, none, 0, none, none},    // symlink
	{304, symlink, 1, 2, none, 0, none, none},      // symlinkat
	{39, mkdir, none, 0, none, none, none, 1},      // mkdir
	{296, mkdir, 0, 1, none, none, none, 2},        // mkdirat
	{14, mknod, none, 0, none, none, none, 1},      // mknod
	{297, mknod, 0, 1, none, none, none, 2},        // mknodat
	{15, chmod, none, 0, none, none, none, 1},      // chmod
	{94, chmod, 0, none, none, none, none, 1},      // fchmod
	{306, chmod, 0, 1, none, none, none, 2},        // fchmodat
	{452, chmod, 0, 1, none, none, 3, 2},           // fchmodat2
	{342, refuse, none, none, none, none, 2, none}, // open_by_handle_at
}
