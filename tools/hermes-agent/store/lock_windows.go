package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockedByte is behind the end of any log, because others cannot read a byte that is locked.
var lockedByte = windows.Overlapped{OffsetHigh: 1 << 30}

// lock keeps other agents from a file until unlock or the end of the program.
func lock(f *os.File) error {
	at := lockedByte
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrBusy
	}
	return err
}

func unlock(f *os.File) {
	at := lockedByte
	windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}
