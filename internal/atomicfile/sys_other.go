//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

import (
	"io/fs"
	"os"
	"time"
)

// OpenFlags keep an open from waiting for the other end of a named pipe.
const OpenFlags = 0

func owned(fs.FileInfo) bool { return true }

func shared(fs.FileMode) bool { return false }

func keepOwner(*os.File, fs.FileInfo) {}

func held(*os.File) bool { return false }

// abandoned has no locks here: a temporary file that has not changed for an
// hour counts as a leftover.
func abandoned(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && time.Since(info.ModTime()) > time.Hour
}
