//go:build !linux

package confine

import (
	"os"
	"runtime"
	"syscall"
)

func missing(Rules) []string {
	return []string{"there is no way to confine a program on " + runtime.GOOS}
}

func execute(_ Rules, path string, argv, env []string) error {
	return os.NewSyscallError("execve "+path, syscall.Exec(path, argv, env))
}
