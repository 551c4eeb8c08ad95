package terminal

import (
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

var suffixes = []string{"", ".exe", ".com", ".bat", ".cmd"}

func mayRun(fs.FileMode) bool { return true }

func shellArgv(line string) []string { return []string{"cmd.exe", "/d", "/s", "/c", line} }

func pipeAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func ptyAttr() *syscall.SysProcAttr { return pipeAttr() }

func statusOf(p *os.ProcessState) Status { return Status{Code: p.ExitCode()} }

// processGroup is a process and those it started, ended by taskkill.
type processGroup struct{ leader int }

func (g *processGroup) reaped() {}

func (g *processGroup) terminate(time.Duration) {
	exec.Command("taskkill", "/t", "/f", "/pid", strconv.Itoa(g.leader)).Run()
}
