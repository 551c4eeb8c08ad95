package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock takes the lock of an open file, which ends when the file is closed or
// the process ends. It never waits: ErrLocked means that another process, or
// another open file of this one, holds the lock. Other errors mean that the
// file system has no locks.
//
// The locked byte is far behind the end of the file, because other processes
// cannot read a byte that is locked.
func TryLock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
