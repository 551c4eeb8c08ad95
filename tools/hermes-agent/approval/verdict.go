// Package approval decides which shell commands of the agent need the user.
//
// Place.Judge parses a command and looks for what is dangerous, wherever it
// stands: behind sudo and xargs, in $(…), in the text of sh -c, in a heredoc for
// a shell. Quoted text, comments and the prose of heredocs are harmless. Gate
// asks the user, remembers the answers, and refuses in every other case.
//
// A judgement is no sandbox. It protects from mistakes and from the obvious, and
// cannot know what a script or a program does.
package approval

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Action is what happens to a command.
type Action string

// The actions, from harmless to worst.
const (
	Allow Action = "allow"
	Ask   Action = "ask"
	Deny  Action = "deny" // never runs, whatever the user has allowed
)

// Finding is a danger in a command.
type Finding struct {
	Rule    string // such as recursive-delete
	Reason  string // for the user
	Command string // the words that it is about
	Action  Action // Ask or Deny
}

// Verdict says what is dangerous in a command. The zero value allows it.
type Verdict struct {
	Findings []Finding // each rule once, in the order of the command
}

// Action returns the action of the worst finding.
func (v Verdict) Action() Action {
	switch {
	case len(v.Findings) == 0:
		return Allow
	case slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Action == Deny }):
		return Deny
	}
	return Ask
}

// Reason joins the reasons of the findings that decide the action.
func (v Verdict) Reason() string {
	var reasons []string
	for _, f := range v.Findings {
		if f.Action == v.Action() {
			reasons = append(reasons, f.Reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// maxLine is how long a command may be to be judged, in bytes. Longer ones are
// asked about.
const maxLine = 64 << 10

// Place is where a command would run.
type Place struct {
	Dir  string   // absolute; empty if it is not known
	Home string   // the user's home folder
	Own  []string // more folders of our own settings, which no command may change
}

// Judge says what is dangerous about a shell line. A line that it cannot read
// is dangerous.
func (p Place) Judge(line string) Verdict {
	s := newScript(p)
	switch {
	case len(line) > maxLine:
		s.find(unreadable, fmt.Sprintf("the command is longer than %d KiB", maxLine>>10), line)
	case strings.ContainsFunc(line, invisible):
		s.find(hidden, hidden.reason, line)
	}
	s.text(line[:min(len(line), maxLine)])
	return Verdict{s.findings}
}

// invisible reports whether a character makes a line look different from what it
// does: control characters, and those that have no width or turn the direction
// of writing.
func invisible(r rune) bool {
	return r == unicode.ReplacementChar || r == unknown || r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) ||
		unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Zs, r) && r != ' '
}
