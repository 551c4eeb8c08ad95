package process

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	"github.com/hermes-nvim/hermes/internal/confine"
)

// Backend says where commands run. Its methods are safe for concurrent use.
type Backend interface {
	// Command returns the argument vector that runs a line, and the folder of this
	// machine to run it in. End gets the same id.
	Command(ctx context.Context, id string, c Command) (argv []string, dir string, err error)
	// End ends a command that runs elsewhere. A command on this machine is ended
	// anyway.
	End(id string)
	// Isolated reports whether commands cannot reach this machine.
	Isolated() bool
	// Close ends what the backend has started itself.
	Close() error
}

// Local runs commands on this machine.
type Local struct{}

// Command runs the line as a terminal of the client would.
func (Local) Command(_ context.Context, _ string, c Command) ([]string, string, error) {
	return Vector(c.Line), c.Dir, nil
}

// End does nothing: the command is a process of this machine.
func (Local) End(string) {}

// Isolated is false.
func (Local) Isolated() bool { return false }

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

// Sandbox runs commands on this machine that can change only the folder they run
// in and the temporary one, and that reach no network. They can still destroy the
// project, so it is not isolated.
type Sandbox struct {
	Local
	Launcher []string // a program that calls confine.Exec with the rules, and the command after --
	Net      confine.Net
	Write    []string // further folders that may be changed
}

// Command puts the launcher before the shell.
func (s Sandbox) Command(_ context.Context, _ string, c Command) ([]string, string, error) {
	rules, err := json.Marshal(confine.Rules{Write: append([]string{c.Dir}, s.Write...), Net: s.Net})
	if err != nil {
		return nil, "", fmt.Errorf("sandbox: %w", err)
	}
	argv := append(append([]string{}, s.Launcher...), string(rules), "--")
	return append(append(argv, shell()...), c.Line), c.Dir, nil
}

// quote makes one word of a POSIX shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
