//go:build unix

package agent

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	termSignal = syscall.SIGTERM
	killSignal = syscall.SIGKILL
)

// signalGroup signals every process of the group, if there is one left.
func signalGroup(pid int, sig syscall.Signal) { syscall.Kill(-pid, sig) }

func exitError(s *os.ProcessState) *ExitError {
	e := &ExitError{Code: s.ExitCode()}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		e.Signal = w.Signal().String()
	}
	return e
}

func sameName(a, b string) bool { return a == b }

func stat(p string) (string, fs.FileInfo, error) {
	info, err := os.Stat(p)
	return p, info, err
}

func runnable(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }
