//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// OpenFlags keep an open from waiting for the other end of a named pipe.
const OpenFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// owned reports whether a file belongs to the user, or to root.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Uid == 0 || int(st.Uid) == os.Geteuid()
}

// shared reports whether a mode lets anyone but the owner write.
func shared(m fs.FileMode) bool { return m.Perm()&0o022 != 0 }

// keepOwner gives f the owner and group of old. An unprivileged user may be
// able to keep only the group, or neither; the file then belongs to the writer.
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

// held takes the lock of f, unless another process holds it. On a file system
// without locks, no other process can hold one.
func held(f *os.File) bool {
	err := TryLock(f)
	return errors.Is(err, ErrLocked) || errors.Is(err, syscall.EINTR)
}

// abandoned reports whether the writer of a temporary file is dead.
func abandoned(f *os.File) bool { return TryLock(f) == nil }

// TryLock takes the lock of an open file, which ends when the file is closed or
// the process ends. It never waits: ErrLocked means that another process, or
// another open file of this one, holds the lock. Other errors mean that the
// file system has no locks.
func TryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Unlock releases the lock at once. Closing the file does that later if a
// process that is being started has a copy of it.
func Unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
