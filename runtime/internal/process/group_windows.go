package process

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Death has no effect here: the program lives on when this process dies.
type Death int

// What Linux would do then.
const (
	Terminated Death = iota
	Killed
)

// Attr makes a program the leader of a group of its own.
func Attr(Death) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// TerminalAttr is Attr.
func TerminalAttr(d Death) *syscall.SysProcAttr { return Attr(d) }

// Group is a program and those it started. Windows has no TERM, so all ways to
// end it are the same.
type Group struct{ leader int }

// Leader returns the process id of the program.
func (g *Group) Leader() int { return g.leader }

// Alive is not known here.
func (g *Group) Alive() bool { return true }

// Terminate is Kill.
func (g *Group) Terminate() bool { return g.Kill() }

// Kill ends the program and those it started.
func (g *Group) Kill() bool {
	return exec.Command("taskkill", "/t", "/f", "/pid", strconv.Itoa(g.leader)).Run() == nil
}

// End is Kill.
func (g *Group) End(time.Duration) { g.Kill() }

// WaitAll waits for the program.
func WaitAll(x *exec.Cmd, _ *Group) { x.Wait() }

// Signal returns nothing: there are no signals.
func Signal(*os.ProcessState) (name, words string) { return "", "" }

// SameName reports whether two names are the same variable.
func SameName(a, b string) bool { return strings.EqualFold(a, b) }
