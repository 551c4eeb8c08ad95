package store

import (
	"os"

	"golang.org/x/sys/unix"
)

func flushBlob(f *os.File) error { return f.Sync() }

// flushAll flushes the whole file system below dir. One call for many blobs is
// faster than one for each.
func flushAll(dir string) (done bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return true, unix.Syncfs(int(f.Fd()))
}
