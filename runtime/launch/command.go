// Package launch runs agents as child processes of a client. It finds the program, gives it a
// chosen environment and a process group of its own, keeps the end of its standard error, and makes
// sure that nothing of it is left behind. Authors of agents want package rpc, where Serve runs an
// agent.
package launch

import (
	"cmp"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

// Command says how to start an agent.
type Command struct {
	// Path is the program: a name that is looked up in the agent's PATH, or a
	// path. A relative path is relative to Dir; "~/" is the home directory.
	Path string
	Args []string
	// Dir is the working directory; empty means the one of this process.
	Dir string

	// Env holds additions to the environment, "NAME=value". They override other
	// values.
	Env []string
	// PassEnv names variables of this process that the agent gets besides those
	// that every agent gets (see Environ). A final * matches any ending.
	PassEnv []string
	// InheritEnv passes on the whole environment of this process.
	InheritEnv bool

	// OnStderr gets each line of standard error, without line end and cut at
	// StderrLine bytes. It is called by one goroutine and must return soon, or
	// the agent waits for it.
	OnStderr func(line string)

	// Keeper is the command line of a program that calls Keep with the arguments
	// that follow, such as {"/proc/self/exe", "keep"} for a program that does so
	// when its first argument is "keep". It runs between this process and the
	// agent, and ends everything that the agent has started, whatever process
	// group or session it has moved to, even when this process is killed. It
	// spares daemons: processes that have moved to a session of their own and
	// lost their parent, and were started while no turn ran.
	//
	// Without a keeper, on Linux, Stop ends the agent's descendants at that
	// moment, and the agent gets TERM when this process is killed. On Windows Stop
	// ends everything that the agent has started, and so does the system when this
	// process is killed. On other systems Stop ends the process group, and the
	// system does not end the agent when this process is killed.
	Keeper []string

	// Wrapper is put before the command line of the agent: the path of a program
	// that runs the rest, and its arguments, as confine.Box has them.
	Wrapper []string

	// LeaveTurns makes Stop cancel no turns, for agents whose turns go on elsewhere.
	LeaveTurns bool

	// How long an agent has to end: from the beginning of Stop, which cancels
	// turns and closes standard input, to TERM (2 s), after TERM (2 s) and after
	// KILL (1 s). Zero means the default. Turns may take a second to end,
	// whatever EOFWait is, and half of EOFWait always follows the end of the
	// input.
	EOFWait, TermWait, KillWait time.Duration
}

func (c Command) withDefaults() Command {
	c.EOFWait = cmp.Or(c.EOFWait, 2*time.Second)
	c.TermWait = cmp.Or(c.TermWait, 2*time.Second)
	c.KillWait = cmp.Or(c.KillWait, time.Second)
	return c
}

// secret matches options whose values must not appear in messages.
var secret = lazyregexp.New(`(?i)^[-\w]*(key|token|secret|password)(=|$)`)

// String returns the command as a user would type it, for messages. The values
// of options named after keys, tokens, secrets or passwords are masked.
func (c Command) String() string {
	words := make([]string, 0, 1+len(c.Args))
	hide := false
	for _, w := range append([]string{c.Path}, c.Args...) {
		if hide {
			w = "***"
		}
		hide = false
		if name := secret().FindString(w); strings.HasSuffix(name, "=") {
			w = name + "***"
		} else if strings.HasPrefix(name, "-") {
			hide = true
		}
		if w == "" || strings.ContainsAny(w, " \t\r\n'\"\\$`|&;<>()*?[]{}~#!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}
