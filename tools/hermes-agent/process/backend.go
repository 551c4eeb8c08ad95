package process

import (
	"context"
	"os/exec"
	"strings"
)

// Backend says where commands run. Its methods are safe for concurrent use.
type Backend interface {
	// Command returns the argument vector that runs a line, and the folder of this
	// machine to run it in. End gets the same id.
	Command(ctx context.Context, id string, c Command) (argv []string, dir string, err error)
	// End ends a command that runs elsewhere. A command on this machine is ended
	// anyway.
	End(id string)
	// Reach says how far commands reach.
	Reach(context.Context) Reach
	// Close ends what the backend has started itself.
	Close() error
}

// Reach is how far commands reach without a question.
type Reach uint8

// The reaches.
const (
	Machine  Reach = iota // this machine, or another one that matters, too
	Asked                 // this machine, but what reaches further than the project is asked about when it happens
	Isolated              // nothing that matters
)

// Local runs commands on this machine.
type Local struct{}

// Command runs the line as a terminal of the client would.
func (Local) Command(_ context.Context, _ string, c Command) ([]string, string, error) {
	return Vector(c.Line), c.Dir, nil
}

// End does nothing: the command is a process of this machine.
func (Local) End(string) {}

// Reach is this machine.
func (Local) Reach(context.Context) Reach { return Machine }

// Close does nothing.
func (Local) Close() error { return nil }

// shell is the one that most models write for, if there is one.
func shell() []string {
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path, "-c"}
		}
	}
	return []string{"cmd.exe", "/d", "/c"}
}

// quote makes one word of a POSIX shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
