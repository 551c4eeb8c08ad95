package reviews

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Why a program in a terminal may not change a file.
var (
	errChangeDenied = errors.New("the user did not allow the change")
	ErrRuleDenied   = errors.New("a rule of the user denies the change")
)

// ask asks the user whether a program in a terminal may change a file, unless a rule
// decides. Only a clear yes allows it.
func (p *Folder) ask(ctx context.Context, r feed.Report) error {
	p.asking.Add(1)
	defer p.asking.Add(-1)
	h := p.reviews.host
	if !h.MayAsk() {
		return ask.ErrNobodyAsked
	}
	request, by := p.changeQuestion(r), p.asker(r)
	choice, ruled := by.ByRule(request)
	if ruled {
		if choice == nil || !ask.Allows(choice) {
			return ErrRuleDenied
		}
		return nil
	}
	choice, err := by.ByUser(ctx, request)
	switch {
	case err != nil:
		return err
	case choice == nil:
		return ask.ErrNotAnswered
	case !ask.Allows(choice):
		return errChangeDenied
	}
	return nil
}

// asker asks on behalf of the program that reports r.
func (p *Folder) asker(r feed.Report) *ask.Asker {
	h := p.reviews.host
	return &ask.Asker{
		Policy: h.Policy, Notice: h.Notice,
		About: &permission.Gate{Agent: r.Agent, Roots: func(acp.SessionID) []string { return []string{p.Root()} }},
		Push: func(name string, o *wire.Object) {
			o.Str("agent", r.Agent).Str("sessionId", r.Author.Session).Num("seq", p.told.Add(1)).Flag("replay", false)
			h.Queue.Push(o.Item(name))
		},
		Put: func(ctx context.Context, q ask.Question) (ask.Answer, error) { return h.Asks.Put(ctx, r.Agent, nil, q) },
	}
}

// changeQuestion says what a program wants to change.
func (p *Folder) changeQuestion(r feed.Report) *acp.RequestPermissionRequest {
	name := func(path string) string {
		if name := p.Name(path); !filepath.IsAbs(name) {
			return name
		}
		return path
	}
	title, kind := "Change "+name(r.Path), acp.ToolKindEdit
	locations := []acp.ToolCallLocation{{Path: r.Path}}
	switch {
	case r.Kind == feed.Rename:
		title, kind = fmt.Sprintf("Rename %s to %s", name(r.From), name(r.Path)), acp.ToolKindMove
		locations = append(locations, acp.ToolCallLocation{Path: r.From})
	case r.Kind == feed.Remove:
		title, kind = "Remove "+name(r.Path), acp.ToolKindDelete
	case r.Before != nil && r.Before.Absent:
		title = "Create " + name(r.Path)
	case r.After != nil && r.After.Mode != nil:
		title = fmt.Sprintf("Change the permissions of %s to %o", name(r.Path), *r.After.Mode)
	}
	allow := "Allow this change"
	switch r.Kind {
	case feed.Connect:
		title, kind, allow = "Connect to "+cmp.Or(r.Host, r.Path), acp.ToolKindFetch, "Allow this connection"
	case feed.Accept:
		title, kind, allow = "Let other machines connect to "+r.Host, acp.ToolKindFetch, "Allow these connections"
	}
	if r.Path == "" {
		locations = nil
	}
	return ask.Own(acp.SessionID(r.Author.Session), acp.ToolCallUpdate{
		Title: acp.Some(title), Kind: acp.Some(kind), Locations: locations, Content: shownOf(r),
	},
		acp.PermissionOption{OptionID: ask.OptionAllow, Name: allow, Kind: acp.PermissionOptionKindAllowOnce},
		acp.PermissionOption{OptionID: ask.OptionReject, Name: "Do not allow it", Kind: acp.PermissionOptionKindRejectOnce},
	)
}

// shownOf shows what is special about a change, and its texts.
func shownOf(r feed.Report) []acp.ToolCallContent {
	texts := textsOf(r)
	if r.Reason == "" {
		return texts
	}
	return append([]acp.ToolCallContent{acp.NewContent(acp.NewTextContent(r.Reason))}, texts...)
}

// textsOf shows the old and the new text of a file, if a report has both.
func textsOf(r feed.Report) []acp.ToolCallContent {
	if r.Before == nil || r.After == nil || r.After.Text == nil || !r.Before.Absent && r.Before.Text == nil {
		return nil
	}
	d := acp.NewDiff(r.Path, *r.After.Text)
	if r.Before.Text != nil {
		d.OldText = acp.Some(*r.Before.Text)
	}
	return []acp.ToolCallContent{d}
}
