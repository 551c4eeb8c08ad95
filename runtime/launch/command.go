// Package launch runs agents as child processes for a client: it finds the program, gives
// it a chosen environment and a process group of its own, keeps what it says on
// standard error, and sees to it that nothing of it is left in the end.
package launch

import (
	"cmp"
	"regexp"
	"strings"
	"time"
)

// Command says how to start an agent.
type Command struct {
	// Path is the program: a name that is looked up in the PATH the agent gets,
	// or a path; a relative one is relative to Dir, "~/" is the home directory.
	Path string
	Args []string
	// Dir is the working directory; empty is that of this process.
	Dir string

	// Env holds additions to the environment, "NAME=value". They win.
	Env []string
	// PassEnv names variables of this process that the agent gets beside those
	// every agent gets (see Environ). A final * stands for any rest.
	PassEnv []string
	// InheritEnv passes the whole environment of this process on.
	InheritEnv bool

	// OnStderr gets each line of standard error, without line end and cut at
	// StderrLine bytes. It is called by one goroutine and must return soon, or
	// the agent waits for it.
	OnStderr func(line string)

	// Keeper is the command line of a program that calls Keep with the arguments
	// that follow, such as {"/proc/self/exe", "keep"} for a program that does so
	// when its first argument is "keep". It runs between this process and the
	// agent, and ends all that the agent has started, whatever process group or
	// session that has moved to, even when this process is killed. It spares
	// what the agent has set up for good: processes that have moved to a session
	// of their own and lost their parent, and were started while no turn ran.
	//
	// Without a keeper those are ended that are descendants of the agent when
	// Stop begins, and when this process is killed the agent gets TERM. Both are
	// for Linux. Elsewhere the process group is ended, on Windows all that the
	// agent has started; when this process is killed only Windows ends anything.
	Keeper []string

	// How long an ending agent has: from the beginning of Stop, which cancels
	// turns and closes standard input, to TERM (2 s), after TERM (2 s) and after
	// KILL (1 s). Zero means the default. Turns may take a second to end whatever
	// EOFWait is, and half of it always follows the end of the input.
	EOFWait, TermWait, KillWait time.Duration
}

func (c Command) withDefaults() Command {
	c.EOFWait = cmp.Or(c.EOFWait, 2*time.Second)
	c.TermWait = cmp.Or(c.TermWait, 2*time.Second)
	c.KillWait = cmp.Or(c.KillWait, time.Second)
	return c
}

// secret finds options whose value must not show up in messages.
var secret = regexp.MustCompile(`(?i)^[-\w]*(key|token|secret|password)(=|$)`)

// String returns the command as a user would type it, for messages. The values
// of options that are called keys, tokens, secrets or passwords are masked.
func (c Command) String() string {
	words := make([]string, 0, 1+len(c.Args))
	hide := false
	for _, w := range append([]string{c.Path}, c.Args...) {
		if hide {
			w = "***"
		}
		hide = false
		if name := secret.FindString(w); strings.HasSuffix(name, "=") {
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
