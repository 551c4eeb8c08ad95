package launch

import (
	"io/fs"
	"os"
	"os/exec"
)

// stat finds p with one of the extensions of programs.
func stat(p string) (string, fs.FileInfo, error) {
	if found, err := exec.LookPath(p); err == nil {
		p = found
	}
	info, err := os.Stat(p)
	return p, info, err
}

func runnable(fs.FileInfo) bool { return true }
