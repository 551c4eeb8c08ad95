package reviews

import (
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// With review.settle = "approval", a change is accepted that the user allowed in a question
// with all of its diff in sight. Of the change that the tool call then makes, only what the diff
// showed counts, and only once.

// approvedDiff is a diff that the user has allowed.
type approvedDiff struct {
	by    review.Author // the session, turn and tool call that it was asked for
	name  string        // of the file
	diff  *acp.Diff
	ended bool // the tool call
}

// settles reports whether something other than a decision accepts changes.
func (r *Reviews) settles(by string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.settleBy, by)
}

// Asked notes that a tool call is asked about. An earlier question about it is void, and so is
// what was allowed in other turns.
func (p *Folder) Asked(by review.Author) {
	p.forgetApproved(func(a *approvedDiff) bool {
		return a.by.Session == by.Session && (a.by.Turn != by.Turn || a.by.ToolCall == by.ToolCall)
	})
}

// Approve notes diffs that the user has allowed. Like those of changes, only the newest texts
// are kept.
func (p *Folder) Approve(by review.Author, content []acp.ToolCallContent) {
	if !p.reviews.settles(settleApproval) {
		return
	}
	var diffs []*approvedDiff
	for _, c := range content {
		if d, ok := c.(*acp.Diff); ok {
			diffs = append(diffs, &approvedDiff{by: by, name: p.Name(d.Path), diff: d})
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.approved = append(p.approved, diffs...)
	size := 0
	for i, a := range slices.Backward(p.approved) {
		if size += len(a.diff.OldText.V) + len(a.diff.NewText); size > maxTexts || len(p.approved)-i > maxChanges {
			p.approved = slices.Delete(p.approved, 0, i+1)
			break
		}
	}
}

func (p *Folder) forgetApproved(which func(*approvedDiff) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.approved = slices.DeleteFunc(p.approved, which)
}

// CallGoesOn notes how far a tool call is. When its id is used again, that is another one, which
// nobody has allowed.
func (p *Folder) CallGoesOn(by review.Author, begins, ended bool) {
	p.forgetApproved(func(a *approvedDiff) bool {
		if a.by.Session != by.Session || a.by.ToolCall != by.ToolCall {
			return false
		}
		again := a.ended && begins
		a.ended = a.ended || ended
		return again
	})
}

// settleApproved accepts what the changes of a file have done as the user has approved it.
func (p *Folder) settleApproved(name string) {
	p.mu.Lock()
	var approved []*approvedDiff
	for _, a := range p.approved {
		if a.name == name {
			approved = append(approved, a)
		}
	}
	var changes []review.Event
	if len(approved) > 0 {
		for _, e := range p.changes {
			if e.Path == name {
				changes = append(changes, e)
			}
		}
	}
	p.mu.Unlock()
	for _, a := range approved {
		for _, e := range changes {
			text, fits := applied(e.Before, a.diff)
			if !fits {
				continue
			}
			accepted, err := p.Review().AcceptApproved(name, e.Change, a.by, e.Before, text)
			if err != nil {
				p.reviews.host.Log.Error("accept what was approved", "file", name, "error", err)
			}
			if accepted {
				p.forgetApproved(func(o *approvedDiff) bool { return o == a })
				break
			}
		}
	}
}

// applied returns the text that a diff makes of a file. Some agents put the text of the file
// into a diff, and some the text that they replace. It fits if that is there once.
func applied(file review.State, d *acp.Diff) (text string, fits bool) {
	old := d.OldText.V
	switch {
	case file.Kind == review.Absent:
		return d.NewText, old == ""
	case file.Kind != review.Regular:
		return "", false
	case old == file.Text:
		return d.NewText, true
	case old == "" || strings.Count(file.Text, old) != 1:
		return "", false
	}
	return strings.Replace(file.Text, old, d.NewText, 1), true
}
