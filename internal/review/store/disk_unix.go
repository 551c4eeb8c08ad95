//go:build !windows

package store

import (
	"errors"
	"os"
	"syscall"
)

// diskFull are the errors of a disk that is full.
var diskFull = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// syncDir ignores file systems on which a directory cannot be flushed.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// renameHoldsFiles: a directory with an open file cannot be renamed.
const renameHoldsFiles = false
