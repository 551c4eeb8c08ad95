//go:build unix

package transport

import (
	"os"
	"syscall"
)

// pollable makes a read of f end when f is closed. A standard stream inherited
// in blocking mode would keep its reader forever. The mode belongs to the open
// file description, so a stream shared with another standard stream, a terminal
// or a regular file is left as it is.
func pollable(f *os.File) *os.File {
	var st syscall.Stat_t
	fd := int(f.Fd())
	if syscall.Fstat(fd, &st) != nil {
		return f
	}
	if kind := st.Mode & syscall.S_IFMT; kind != syscall.S_IFIFO && kind != syscall.S_IFSOCK {
		return f
	}
	for _, other := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		var o syscall.Stat_t
		if other != f && syscall.Fstat(int(other.Fd()), &o) == nil && o.Dev == st.Dev && o.Ino == st.Ino {
			return f
		}
	}
	if syscall.SetNonblock(fd, true) != nil {
		return f
	}
	return os.NewFile(uintptr(fd), f.Name())
}
