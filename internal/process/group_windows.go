package process

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Death makes no difference here: the program always ends with this process.
type Death int

// What Linux would do when this process dies.
const (
	Terminated Death = iota
	Killed
)

// attr keeps Ctrl-C from a program.
func attr(_ Kind, more *syscall.SysProcAttr) *syscall.SysProcAttr {
	a := new(syscall.SysProcAttr)
	if more != nil {
		*a = *more // it may hold a command line
	}
	a.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP
	return a
}

// Group is a program and those it started: a job object. Windows has no TERM,
// so all ways to end it are the same, and the first one ends it for good. When
// this process dies Windows closes the job, which ends it too. Group is safe for
// concurrent use.
type Group struct {
	leader  int
	process *os.Process

	mu  sync.Mutex
	job windows.Handle // 0 once it has ended, or when there is none
}

// newGroup makes the job of a program that has just been started. Processes that
// the program starts in its first moments, before it is in the job, are not part of
// the job. If there can be no job, the group is only the program.
func newGroup(x *exec.Cmd) *Group {
	g := &Group{leader: x.Process.Pid, process: x.Process}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	if err := fill(job, g.leader); err != nil {
		windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

func fill(job windows.Handle, pid int) error {
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		return err
	}
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(p)
	return windows.AssignProcessToJobObject(job, p)
}

// Leader returns the process id of the program.
func (g *Group) Leader() int { return g.leader }

// Alive reports whether nobody has ended the job yet.
func (g *Group) Alive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.job != 0
}

// Terminate is Kill.
func (g *Group) Terminate() bool { return g.Kill() }

// Kill ends the program and those it started, and reports whether it did.
func (g *Group) Kill() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job == 0 {
		return g.process.Kill() == nil // an error when it has been waited for
	}
	err := windows.TerminateJobObject(g.job, 1)
	windows.CloseHandle(g.job)
	g.job = 0
	return err == nil
}

// End is Kill.
func (g *Group) End(time.Duration) { g.Kill() }

// Look does nothing: the job knows all of them.
func (g *Group) Look() {}

// Programs returns none: only Linux is asked.
func (g *Group) Programs() []string { return nil }

// waitAll waits for the program and ends what it left in its job.
func waitAll(x *exec.Cmd, g *Group) {
	x.Wait()
	g.Kill()
}

func exitOf(s *os.ProcessState) Exit { return Exit{Code: s.ExitCode()} } // there are no signals

// SameName reports whether two names are the same variable.
func SameName(a, b string) bool { return strings.EqualFold(a, b) }
