package reviews

import (
	"slices"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// With review.settle = "approval", a change is accepted if the user allowed it in a question
// that showed all of its diff. Of the changes that the tool call then makes, only those in the
// diff are accepted, and only once.

const (
	maxChanges = 500      // of a folder, whose texts are kept, and as many diffs
	maxTexts   = 16 << 20 // bytes of these texts
)

// approvedDiff is a diff that the user has allowed.
type approvedDiff struct {
	by    review.Author // the session, turn and tool call that it was asked for
	name  string        // of the file
	diff  *acp.Diff
	ended bool // the tool call
}

// approvals are the diffs of a folder that the user has allowed, the newest.
type approvals struct {
	mu    sync.Mutex
	diffs []*approvedDiff
}

// asked notes that a tool call is asked about. An earlier question about it is void, and so is
// what was allowed in other turns.
func (l *approvals) asked(by review.Author) {
	l.forget(func(a *approvedDiff) bool {
		return a.by.Session == by.Session && (a.by.Turn != by.Turn || a.by.ToolCall == by.ToolCall)
	})
}

// add notes diffs that the user has allowed. Only the newest texts are kept, as of
// changes. name makes the name of a file.
func (l *approvals) add(by review.Author, content []acp.ToolCallContent, name func(path string) string) {
	var diffs []*approvedDiff
	for _, c := range content {
		if d, ok := c.(*acp.Diff); ok {
			diffs = append(diffs, &approvedDiff{by: by, name: name(d.Path), diff: d})
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.diffs = append(l.diffs, diffs...)
	size := 0
	for i, a := range slices.Backward(l.diffs) {
		if size += len(a.diff.OldText.V) + len(a.diff.NewText); size > maxTexts || len(l.diffs)-i > maxChanges {
			l.diffs = slices.Delete(l.diffs, 0, i+1)
			break
		}
	}
}

// callGoesOn notes how far a tool call is. When its id is used again, that is another one, which
// nobody has allowed.
func (l *approvals) callGoesOn(by review.Author, begins, ended bool) {
	l.forget(func(a *approvedDiff) bool {
		if a.by.Session != by.Session || a.by.ToolCall != by.ToolCall {
			return false
		}
		again := a.ended && begins
		a.ended = a.ended || ended
		return again
	})
}

// of returns the diffs of a file.
func (l *approvals) of(name string) (found []*approvedDiff) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.diffs {
		if a.name == name {
			found = append(found, a)
		}
	}
	return found
}

func (l *approvals) forget(which func(*approvedDiff) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.diffs = slices.DeleteFunc(l.diffs, which)
}

// applied returns the text that a diff makes of a file. Some agents put the text of the file
// into a diff, and some the text that they replace. It fits if that is there once.
func applied(was review.State, d *acp.Diff) (text string, fits bool) {
	old := d.OldText.V
	switch {
	case was.Kind == review.Absent:
		return d.NewText, old == ""
	case was.Kind != review.Regular:
		return "", false
	case old == was.Text:
		return d.NewText, true
	case old == "" || strings.Count(was.Text, old) != 1:
		return "", false
	}
	return strings.Replace(was.Text, old, d.NewText, 1), true
}
