// Package shim runs any program and knows what it changes in a project before it
// happens: what each file was, what it became, and which process did it. It serves
// agents that have a terminal of their own and speak no protocol.
//
// On Linux, on amd64 and arm64, a filter of system calls (seccomp) stops every call
// that creates, changes, moves or removes a file, in the program and in everything
// that it starts. A supervisor looks at the file, keeps its content and lets the
// call go on. Calls that only read never leave the kernel. No privilege is needed,
// and it does not matter what language a program is written in.
//
// Three processes take part. The front is what the caller started: it stops,
// continues and ends exactly as the program does. The supervisor is its child, in a
// session of its own, and lives as long as any process that it supervises. The
// program is the supervisor's child, in the front's process group. If the
// supervisor is killed, calls that change files fail from then on.
//
// Where this is not possible, Portable compares the files of the project with what
// they were before. See it for what it cannot know.
package shim

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hermes-nvim/hermes/internal/confine"
)

// ErrUnavailable says that this system cannot tell what a program does to files.
// The error that wraps it says why.
var ErrUnavailable = errors.New("this system does not show what programs do to files")

// Config says what to do with a program. All of it goes to the supervisor.
type Config struct {
	// Root is the folder of the project. Changes outside are not reported.
	Root string `json:"root"`
	// Journal is the folder of the events and contents. It is created.
	Journal string `json:"journal"`
	// Socket is where the changes are reported, or "" (see package feed). It need
	// not exist: reports wait until somebody listens.
	Socket string `json:"socket,omitempty"`
	// Agent names the program in reports.
	Agent string `json:"agent,omitempty"`
	// Session names the session of the agent in reports, or is "".
	Session string `json:"session,omitempty"`
	// Settle is how long a new file is kept back, because many programs write a file
	// under another name and then rename it, and the two are one write: 100 ms.
	Settle time.Duration `json:"settle,omitempty"`
	// Gate makes every change wait until it is allowed.
	Gate *Gate `json:"gate,omitempty"`
	// Sandbox confines the program of a gate, as a confine.Box has the rules. The project
	// is one of the folders that it may change.
	Sandbox *confine.Rules `json:"sandbox,omitempty"`
}

// Gate says which changes are allowed. The program that listens at Config.Socket is
// asked about changes that neither list names, one at a time. An error denies the
// change, and so does no answer. The program gets EACCES. A question is taken back
// when the thread that waits for its answer is killed.
type Gate struct {
	Allow []string `json:"allow,omitempty"` // files and folders
	Deny  []string `json:"deny,omitempty"`  // files and folders; wins over Allow
	// Effects asks about what reaches further than the project instead of about its files: what
	// the sandbox does not let the program change, connections that it does not allow, and files
	// of the project that other programs run or trust, or that hold secrets. It also asks before
	// a file goes that is older than Since and that git does not have, and before git forgets
	// commits. Everything else happens without a question and without a record. It needs Config.Sandbox, whose sockets
	// are those that may be asked about.
	Effects bool `json:"effects,omitempty"`
	// Since is when the session began that the program belongs to; zero: when the program began.
	Since time.Time `json:"since,omitzero"`
	// Timeout is how long an answer may take from the moment of the question: 60 s.
	Timeout time.Duration `json:"timeout,omitempty"`
}

const (
	gateTimeout = 60 * time.Second
	settleTime  = 100 * time.Millisecond
)

// resolved returns the configuration with absolute paths without links.
func (c Config) resolved() (Config, error) {
	real := func(path string) (string, error) {
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			return real, nil
		}
		// It need not exist, but the folder it is in may.
		if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
			return filepath.Join(dir, filepath.Base(abs)), nil
		}
		return abs, nil
	}
	var err error
	if c.Root, err = filepath.Abs(c.Root); err == nil {
		c.Root, err = filepath.EvalSymlinks(c.Root)
	}
	if err != nil {
		return c, fmt.Errorf("shim: %w", err)
	}
	if c.Journal, err = filepath.Abs(c.Journal); err != nil {
		return c, fmt.Errorf("shim: %w", err)
	}
	if c.Settle <= 0 {
		c.Settle = settleTime
	}
	if c.Gate == nil {
		return c, nil
	}
	if c.Gate.Effects && c.Sandbox == nil {
		return c, errors.New("shim: a gate for effects needs a sandbox")
	}
	g := Gate{Effects: c.Gate.Effects, Since: c.Gate.Since, Timeout: c.Gate.Timeout}
	if g.Timeout <= 0 {
		g.Timeout = gateTimeout
	}
	for _, l := range []struct{ from, to *[]string }{{&c.Gate.Allow, &g.Allow}, {&c.Gate.Deny, &g.Deny}} {
		for _, path := range *l.from {
			path, err := real(path)
			if err != nil {
				return c, fmt.Errorf("shim: %w", err)
			}
			*l.to = append(*l.to, path)
		}
	}
	c.Gate = &g
	return c, nil
}
