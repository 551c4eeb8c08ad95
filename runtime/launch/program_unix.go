//go:build unix

package launch

import (
	"io/fs"
	"os"
)

func stat(p string) (string, fs.FileInfo, error) {
	info, err := os.Stat(p)
	return p, info, err
}

func runnable(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }
