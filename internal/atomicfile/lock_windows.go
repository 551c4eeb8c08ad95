package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockedByte is far behind the end of a file, because other processes cannot
// read a byte that is locked.
var lockedByte = windows.Overlapped{OffsetHigh: 1 << 30}

// TryLock takes the lock of an open file, which ends when the file is closed or
// the process ends. It never waits: ErrLocked means that another process, or
// another open file of this one, holds the lock. Other errors mean that the
// file system has no locks.
func TryLock(f *os.File) error {
	at := lockedByte
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// Unlock releases the lock at once.
func Unlock(f *os.File) error {
	at := lockedByte
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}
