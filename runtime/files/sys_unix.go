//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep an open from waiting for the other end of a named pipe.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && !info.IsDir() {
		return uint64(st.Nlink)
	}
	return 1
}

// owned reports whether a file belongs to the user, or to root.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Uid == 0 || int(st.Uid) == os.Geteuid()
}

// shared reports whether a mode lets others than the owner write.
func shared(m fs.FileMode) bool { return m.Perm()&0o022 != 0 }

// keepOwner gives f the owner and group of old. An unprivileged user may only
// be able to keep the group, or neither; the file is then the writer's.
func keepOwner(f *os.File, old fs.FileInfo) {
	want, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	info, err := f.Stat()
	if err != nil {
		return
	}
	if have, ok := info.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
		return
	}
	if f.Chown(int(want.Uid), int(want.Gid)) != nil {
		f.Chown(-1, int(want.Gid))
	}
}

func lock(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
