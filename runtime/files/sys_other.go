//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package files

import (
	"io/fs"
	"os"
	"time"
)

const openFlags = 0

func linkCount(fs.FileInfo) uint64 { return 1 }

func owned(fs.FileInfo) bool { return true }

func shared(fs.FileMode) bool { return false }

func keepOwner(*os.File, fs.FileInfo) {}

func lock(*os.File) {}

// tryLock has no lock to try: a temporary file that nobody has touched for an
// hour is taken for a leftover.
func tryLock(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && time.Since(info.ModTime()) > time.Hour
}
