package agent

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

const (
	termSignal = syscall.SIGTERM
	killSignal = syscall.SIGKILL
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func reap(x *exec.Cmd) { x.Wait() }

// signalGroup ends the process; Windows knows neither TERM nor groups.
func signalGroup(pid int, _ syscall.Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
		p.Release()
	}
}

func exitError(s *os.ProcessState) *ExitError { return &ExitError{Code: s.ExitCode()} }

func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// stat finds p with one of the extensions of programs.
func stat(p string) (string, fs.FileInfo, error) {
	if found, err := exec.LookPath(p); err == nil {
		p = found
	}
	info, err := os.Stat(p)
	return p, info, err
}

func runnable(fs.FileInfo) bool { return true }
