//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"io/fs"
	"syscall"
)

func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && !info.IsDir() {
		return uint64(st.Nlink)
	}
	return 1
}
