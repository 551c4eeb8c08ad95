package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

// rules are the user's, which answer an agent's questions before they are
// asked. Without any there is no policy, and everything is asked.
type rules struct {
	mu     sync.Mutex
	policy *permission.Policy // nil while nobody has asked for rules
	path   string             // where it keeps those of scope always; empty: nowhere
}

// current returns the policy in force, nil for none.
func (r *rules) current() *permission.Policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.policy
}

// use returns the policy that keeps its rules at path. It is usable whatever the
// error says of that file.
func (r *rules) use(path string) (*permission.Policy, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.policy != nil && r.path == path {
		return r.policy, nil
	}
	var err error
	r.policy, err = permission.Open(path)
	r.path = path
	return r.policy, err
}

// configureRules applies what setup says of rules. What is wrong with them is
// reported, and then everything is asked that only they would have answered.
func (h *Host) configureRules(p permissions) {
	if h.rules.current() == nil && len(p.Rules) == 0 && p.Remember == "" {
		return
	}
	policy, err := h.rules.use(p.Remember)
	if err != nil {
		h.notice("error", "%v", err)
	}
	if err := policy.Configure(p.Rules); err != nil {
		policy.Configure(nil)
		h.notice("error", "setup: permissions.rules: %v; none of them is used", err)
	}
}

type rulesOp struct {
	Add    *permission.Rule `json:"add"`
	Remove *permission.Rule `json:"remove"`
}

// rulesWait bounds the wait for another process that changes the kept rules.
// Other operations wait meanwhile: a rule is in force for what follows it.
const rulesWait = time.Second

// changeRules adds or removes a rule; the operation ends with all there are.
func (h *Host) changeRules(id string, p rulesOp) error {
	policy := h.rules.current()
	if policy == nil && p.Add != nil {
		h.mu.Lock()
		path := h.config.Permissions.Remember
		h.mu.Unlock()
		var err error
		if policy, err = h.rules.use(path); err != nil {
			h.notice("error", "%v", err)
		}
	}
	ctx, cancel := context.WithTimeout(h.ctx, rulesWait)
	defer cancel()
	var err error
	list := []permission.Rule{}
	switch {
	case policy == nil:
	case p.Add != nil:
		err = policy.Add(ctx, *p.Add)
	case p.Remove != nil:
		err = policy.Remove(ctx, *p.Remove)
	}
	if errors.Is(err, permission.ErrRule) {
		return invalid("%v", err)
	} else if err != nil {
		return &opError{Kind: errorRules, Message: "the rules could not be changed", Cause: err}
	}
	if policy != nil {
		list = append(list, policy.Rules()...)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	h.done(id, new(object).raw("rules", text).json())
	return nil
}

// endRules drops the rules that were made for a session.
func (h *Host) endRules(id acp.SessionID) {
	if policy := h.rules.current(); policy != nil {
		policy.EndSession(id)
	}
}

// ruled answers p by a rule; false when there is none and the user is asked.
func (k *client) ruled(s *session, p *acp.RequestPermissionRequest) (*acp.PermissionOption, bool) {
	policy := k.conn.host.rules.current()
	if policy == nil || s == nil || s.cancelling() || !on(k.conn.host.permissions().Requests) {
		return nil, false
	}
	call, whole := s.calls.Merge(&p.ToolCall)
	q := permission.Describe(k.conn.name, p.SessionID, call)
	q.Truncated, q.Roots = !whole, s.roots
	choice, _, ok := policy.Answer(q, p.Options)
	if !ok {
		return nil, false
	}
	o := new(object).str("toolCallId", string(p.ToolCall.ToolCallID)).str("by", "rule")
	if choice == nil {
		o.str("error", permission.ErrNoOption.Error()).str("outcome", "cancelled")
	} else {
		o.str("outcome", "selected").str("optionId", string(choice.OptionID))
	}
	s.push(eventPermissionResolved, o)
	return choice, true
}

// permitFile applies the rules that deny to a file that the agent reads or
// writes.
func (c *connection) permitFile(id acp.SessionID, path string, at files.Location, write bool) error {
	policy := c.host.rules.current()
	if policy == nil {
		return nil
	}
	return policy.Permit(permission.File(c.name, id, write, path, at.Path, at.Real))
}

// chosen returns the option that an outcome selects, nil for none.
func chosen(p *acp.RequestPermissionRequest, outcome acp.RequestPermissionOutcome) *acp.PermissionOption {
	selected, ok := outcome.(*acp.SelectedPermissionOutcome)
	if !ok {
		return nil
	}
	for i, o := range p.Options {
		if o.OptionID == selected.OptionID {
			return &p.Options[i]
		}
	}
	return nil
}
