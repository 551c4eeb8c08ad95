package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// Choice is an answer to an Approval: one of those below, or the ID of an Option.
type Choice string

// The choices that every approval has.
const (
	Once    Choice = "once"
	ForThis Choice = "session" // for the rest of the session
	Always  Choice = "always"  // the same; codex has no more than that for every approval
	Deny    Choice = "deny"    // the turn goes on without it
	Cancel  Choice = "cancel"  // the turn ends
)

// Subject is what an Approval is about.
type Subject string

// The subjects.
const (
	SubjectExec        Subject = "exec"
	SubjectPatch       Subject = "patch"
	SubjectPermissions Subject = "permissions"
)

// Approval is something that codex may do only with consent.
type Approval struct {
	Subject  Subject
	ItemID   string
	Command  string
	Dir      string
	Reason   string
	Root     string                       // the folder that codex asks to write to for the rest of the session, if it gets ForThis
	Changes  []appserver.FileUpdateChange // of a patch, where they are known
	Item     *appserver.ThreadItem        // that has started; nil when codex has not reported it
	Options  []Option
	Wanted   json.RawMessage // the permissions of SubjectPermissions, or those that a command has with the consent; nil: none
	approved bool            // by a flag
}

// Option is an answer that codex offers.
type Option struct {
	ID     Choice
	Name   string
	Choice Choice // what it amounts to
	Denies bool

	decision appserver.CommandExecutionApprovalDecision
}

// standard returns the options that the protocol writes as a single word. covers names what
// the option for the session allows.
func standard(covers string) []Option {
	return []Option{
		{ID: "accept", Name: "Allow once", Choice: Once},
		{ID: "acceptForSession", Name: "Allow " + covers + " for this session", Choice: ForThis},
		{ID: "decline", Name: "Deny", Choice: Deny, Denies: true},
		{ID: "cancel", Name: "Deny and stop", Choice: Cancel, Denies: true},
	}
}

// An approval for the session covers the command with its folder, or all changes of the files.
const (
	thisCommand = "this command"
	theseRights = "these permissions"
)

func ofFiles(root string) string {
	if root != "" {
		return "all changes below " + root
	}
	return "all changes of these files"
}

// options returns the options for a command: the decisions that codex offers,
// and always a denial.
func options(p *appserver.CommandExecutionRequestApprovalParams) []Option {
	raw, found := p.Extra.Get("availableDecisions")
	var texts []json.RawMessage
	if !found || json.Unmarshal(raw, &texts) != nil || len(texts) == 0 {
		return standard(thisCommand)
	}
	var list []Option
	words := standard(thisCommand)
	for n, text := range texts {
		d, err := appserver.DecodeCommandExecutionApprovalDecision(text)
		if err != nil {
			continue
		}
		switch v := d.(type) {
		case appserver.CommandExecutionApprovalDecisionWord:
			for _, o := range words {
				if string(o.ID) == string(v) && o.ID != "decline" {
					list = append(list, o)
				}
			}
		case *appserver.CommandExecutionApprovalDecisionAcceptWithExecpolicyAmendment:
			rule := strings.Join(v.AcceptWithExecpolicyAmendment.ExecpolicyAmendment, " ")
			list = append(list, Option{ID: Choice(fmt.Sprintf("rule-%d", n)), Name: "Always allow " + rule, Choice: Always, decision: v})
		case *appserver.CommandExecutionApprovalDecisionApplyNetworkPolicyAmendment:
			a := v.ApplyNetworkPolicyAmendment.NetworkPolicyAmendment
			o := Option{ID: Choice(fmt.Sprintf("network-%d", n)), Name: "Always allow " + a.Host, Choice: Always, decision: v}
			if a.Action != appserver.NetworkPolicyRuleActionAllow {
				o.Name, o.Choice, o.Denies = "Always deny "+a.Host, Deny, true
			}
			list = append(list, o)
		}
	}
	at := len(list)
	if at > 0 && list[at-1].ID == "cancel" {
		at--
	}
	return slices.Insert(list, at, words[2])
}

// decide answers an approval: by a flag, then by the callback, and otherwise it
// denies.
func (s *Session) decide(ctx context.Context, turn string, a *Approval) (Choice, *Option) {
	t := s.running(ctx, turn)
	switch {
	case t == nil:
		return Deny, nil
	case a.approved:
		return Once, nil
	case s.opts.Approve == nil:
		return Deny, nil
	}
	defer t.ask()()
	if a.Item = t.item(a.ItemID); a.Item != nil {
		if f, ok := a.Item.Variant.(*appserver.ThreadItemFileChange); ok && a.Changes == nil {
			a.Changes = f.Changes
		}
	}
	ctx, cancel := s.questionContext(ctx, t)
	defer cancel()
	answer := make(chan Choice, 1)
	go func() {
		c, err := Deny, error(nil)
		defer func() {
			if p := recover(); p != nil || err != nil {
				c = Deny
			}
			answer <- c
		}()
		c, err = s.opts.Approve(ctx, a)
	}()
	var c Choice
	select {
	case c = <-answer:
	case <-ctx.Done():
		c = Deny
	}
	if t.givenUp() {
		return Cancel, nil
	}
	switch c {
	case Once, ForThis, Always, Deny, Cancel:
		return c, nil
	}
	for i, o := range a.Options {
		if o.ID == c {
			return o.Choice, &a.Options[i]
		}
	}
	return Deny, nil
}

// questionContext ends with the turn, or when the answer takes too long.
func (s *Session) questionContext(ctx context.Context, t *turn) (context.Context, context.CancelFunc) {
	limit := s.opts.ApproveWithin
	if limit <= 0 {
		limit = math.MaxInt64
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	release := context.AfterFunc(t.ended, cancel)
	return ctx, func() { release(); cancel() }
}

// review is a choice in the words of the former protocol.
func review(c Choice) appserver.ReviewDecision {
	switch c {
	case Once:
		return appserver.ReviewDecisionWord("approved")
	case ForThis, Always:
		return appserver.ReviewDecisionWord("approved_for_session")
	case Cancel:
		return appserver.ReviewDecisionWord("abort")
	}
	return &appserver.ReviewDecisionDenied{Denied: appserver.ReviewDecisionDeniedDenied{Rejection: "denied by the user"}}
}

// word is a choice in the words of the protocol.
func word(c Choice) string {
	switch c {
	case Once:
		return "accept"
	case ForThis, Always:
		return "acceptForSession"
	case Cancel:
		return "cancel"
	}
	return "decline"
}

func (h *handler) CommandExecutionRequestApproval(ctx context.Context, p *appserver.CommandExecutionRequestApprovalParams) (*appserver.CommandExecutionRequestApprovalResponse, error) {
	c, o := Deny, (*Option)(nil)
	if s := h.session(ctx, p.ThreadID); s != nil {
		more, _ := p.Extra.Get("additionalPermissions") // experimental
		if string(more) == "null" {
			more = nil
		}
		c, o = s.decide(ctx, p.TurnID, &Approval{
			Subject: SubjectExec, ItemID: p.ItemID, Command: p.Command.V, Dir: string(p.Cwd.V), Reason: p.Reason.V,
			Options: options(p), Wanted: more, approved: s.opts.AutoExec,
		})
	}
	if o != nil && o.decision != nil {
		return &appserver.CommandExecutionRequestApprovalResponse{Decision: o.decision}, nil
	}
	return &appserver.CommandExecutionRequestApprovalResponse{Decision: appserver.CommandExecutionApprovalDecisionWord(word(c))}, nil
}

func (h *handler) FileChangeRequestApproval(ctx context.Context, p *appserver.FileChangeRequestApprovalParams) (*appserver.FileChangeRequestApprovalResponse, error) {
	c := Deny
	if s := h.session(ctx, p.ThreadID); s != nil {
		c, _ = s.decide(ctx, p.TurnID, &Approval{
			Subject: SubjectPatch, ItemID: p.ItemID, Reason: p.Reason.V, Root: p.GrantRoot.V,
			Options: standard(ofFiles(p.GrantRoot.V)), approved: s.opts.AutoPatch,
		})
	}
	return &appserver.FileChangeRequestApprovalResponse{Decision: appserver.FileChangeApprovalDecision(word(c))}, nil
}

func (h *handler) ExecCommandApproval(ctx context.Context, p *appserver.ExecCommandApprovalParams) (*appserver.ExecCommandApprovalResponse, error) {
	c := Deny
	if s := h.session(ctx, string(p.ConversationID)); s != nil {
		c, _ = s.decide(ctx, "", &Approval{
			Subject: SubjectExec, ItemID: p.CallID, Command: strings.Join(p.Command, " "), Dir: p.Cwd, Reason: p.Reason.V,
			Options: standard(thisCommand), approved: s.opts.AutoExec,
		})
	}
	return &appserver.ExecCommandApprovalResponse{Decision: review(c)}, nil
}

func (h *handler) ApplyPatchApproval(ctx context.Context, p *appserver.ApplyPatchApprovalParams) (*appserver.ApplyPatchApprovalResponse, error) {
	c := Deny
	if s := h.session(ctx, string(p.ConversationID)); s != nil {
		c, _ = s.decide(ctx, "", &Approval{
			Subject: SubjectPatch, ItemID: p.CallID, Reason: p.Reason.V, Root: p.GrantRoot.V, Changes: formerChanges(p.FileChanges),
			Options: standard(ofFiles(p.GrantRoot.V)), approved: s.opts.AutoPatch,
		})
	}
	return &appserver.ApplyPatchApprovalResponse{Decision: review(c)}, nil
}

// formerChanges are the changes of the former protocol in today's form.
func formerChanges(files map[string]appserver.FileChange) []appserver.FileUpdateChange {
	var list []appserver.FileUpdateChange
	for path, change := range files {
		c := appserver.FileUpdateChange{Path: path}
		switch v := change.(type) {
		case *appserver.FileChangeAdd:
			c.Kind, c.Diff = &appserver.PatchChangeKindAdd{}, v.Content
		case *appserver.FileChangeDelete:
			c.Kind, c.Diff = &appserver.PatchChangeKindDelete{}, v.Content
		case *appserver.FileChangeUpdate:
			c.Kind, c.Diff = &appserver.PatchChangeKindUpdate{MovePath: v.MovePath}, v.UnifiedDiff
		default:
			continue
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b appserver.FileUpdateChange) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// PermissionsRequestApproval grants what codex asks for only with consent. Without
// it the grant is empty.
func (h *handler) PermissionsRequestApproval(ctx context.Context, p *appserver.PermissionsRequestApprovalParams) (*appserver.PermissionsRequestApprovalResponse, error) {
	c := Deny
	if s := h.session(ctx, p.ThreadID); s != nil {
		c, _ = s.decide(ctx, p.TurnID, &Approval{
			Subject: SubjectPermissions, ItemID: p.ItemID, Dir: string(p.Cwd), Reason: p.Reason.V, Wanted: p.Permissions.Raw,
			Options: standard(theseRights)[:3],
		})
	}
	r := &appserver.PermissionsRequestApprovalResponse{
		Permissions: appserver.GrantedPermissionProfile{Raw: json.RawMessage(`{}`)}, Scope: acp.Some(appserver.PermissionGrantScopeTurn),
	}
	switch c {
	case Once:
		r.Permissions.Raw = p.Permissions.Raw
	case ForThis, Always:
		r.Permissions.Raw, r.Scope = p.Permissions.Raw, acp.Some(appserver.PermissionGrantScopeSession)
	}
	return r, nil
}
