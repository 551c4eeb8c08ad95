//go:build unix

package terminal

import (
	"io/fs"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

var suffixes = []string{""}

const batchFiles = false

func mayRun(mode fs.FileMode) bool { return mode.Perm()&0o111 != 0 }

// unread reports whether there is something to read from f.
func unread(f *os.File) (some bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	conn.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		some = err == nil && n > 0 && p[0].Revents&unix.POLLIN != 0
	})
	return some
}

func shellArgv(line string) []string { return []string{"/bin/sh", "-c", line} }

func toShell(*exec.Cmd, []string) {}
