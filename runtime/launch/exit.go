package launch

import (
	"fmt"
	"strings"
)

// ExitError says how an agent process ended. It is the cause of the
// rpc.ClosedError that calls to the agent fail with.
type ExitError struct {
	Command string // as typed
	Code    int    // exit status; -1 when a signal ended it
	Signal  string // name of that signal, otherwise empty
	Stderr  string // tail of standard error
	Stdout  string // last lines on standard output that were not messages
}

// Error names the command, how it ended, and its last words.
func (e *ExitError) Error() string {
	var b strings.Builder
	b.WriteString(e.Command)
	if e.Signal != "" {
		fmt.Fprintf(&b, ": ended by signal %s", e.Signal)
	} else {
		fmt.Fprintf(&b, ": exited with status %d", e.Code)
	}
	if s := said(e.Stderr, e.Stdout); s != "" {
		b.WriteString("; " + s)
	}
	return b.String()
}

// said quotes the last lines of both streams that are not blank.
func said(stderr, stdout string) string {
	var parts []string
	if s := lastLines(stderr); s != "" {
		parts = append(parts, "stderr: "+s)
	}
	if s := lastLines(stdout); s != "" {
		parts = append(parts, "stdout: "+s)
	}
	return strings.Join(parts, "; ")
}

// The most text of an agent in an error.
const (
	quotedLines = 3
	quotedBytes = 400
)

// lastLines returns the last lines of s that are not blank, as one line.
func lastLines(s string) string {
	var kept []string
	lines := strings.Split(s, "\n")
	for i := len(lines) - 1; i >= 0 && len(kept) < quotedLines; i-- {
		if l := strings.TrimSpace(lines[i]); l != "" {
			kept = append([]string{l}, kept...)
		}
	}
	text := strings.Join(kept, " | ")
	if len(text) > quotedBytes {
		text = "..." + strings.ToValidUTF8(text[len(text)-quotedBytes:], "")
	}
	return text
}

// HalfClosedError reports an agent that has closed its input or its output, and goes on. It can no
// longer receive messages, or no longer send them.
type HalfClosedError struct {
	Command string // as typed
	Said    string // its last words, as in ExitError
	Err     error  // of the stream
}

// Error names the command and its last words.
func (e *HalfClosedError) Error() string {
	text := e.Command + ": closed its input or output, and goes on"
	if e.Said != "" {
		text += "; " + e.Said
	}
	return text
}

// Unwrap returns Err.
func (e *HalfClosedError) Unwrap() error { return e.Err }
