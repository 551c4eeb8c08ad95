package store

import (
	"os"
	"syscall"
)

// flushBlob hands a blob to the drive. The journal, which is flushed
// afterwards, also empties the cache of the drive, which is what takes long.
func flushBlob(f *os.File) error { return syscall.Fsync(int(f.Fd())) }
