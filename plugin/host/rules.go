package host

import (
	"context"
	"errors"
	"time"

	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

// configureRules applies the rules of setup. If they are wrong, it reports
// that, and the user is asked all that only they would have answered.
func (h *Host) configureRules(p setup.Permissions) {
	if h.rules.Current() == nil && len(p.Rules) == 0 && p.Remember == "" {
		return
	}
	policy, err := h.rules.Use(p.Remember)
	if err != nil {
		h.Notice("error", "%v", err)
	}
	if err := policy.Configure(p.Rules); err != nil {
		policy.Configure(nil)
		h.Notice("error", "setup: permissions.rules: %v; none of them is used", err)
	}
}

// rulesOp adds or removes a permission rule, or asks for them.
type rulesOp struct {
	Add    *permission.Rule `json:"add,omitempty"`
	Remove *permission.Rule `json:"remove,omitempty"`
}

type ruleList struct {
	Rules []permission.Rule `json:"rules"` // that there are now
}

// rulesWait bounds the wait for another process that changes the kept rules.
// Other operations wait meanwhile: a rule is in force for what follows it.
const rulesWait = time.Second

// changeRules adds or removes a rule; the operation ends with all there are.
func (h *Host) changeRules(id string, p rulesOp) error {
	policy := h.rules.Current()
	if policy == nil && p.Add != nil {
		h.mu.Lock()
		path := h.config.Permissions.Remember
		h.mu.Unlock()
		var err error
		if policy, err = h.rules.Use(path); err != nil {
			h.Notice("error", "%v", err)
		}
	}
	ctx, cancel := context.WithTimeout(h.ctx, rulesWait)
	defer cancel()
	var err error
	result := ruleList{Rules: []permission.Rule{}}
	switch {
	case policy == nil:
	case p.Add != nil:
		err = policy.Add(ctx, *p.Add)
	case p.Remove != nil:
		err = policy.Remove(ctx, *p.Remove)
	}
	if errors.Is(err, permission.ErrRule) {
		return wire.Invalid("%v", err)
	} else if err != nil {
		return &wire.Error{Kind: wire.ErrorRules, Message: "the rules could not be changed", Cause: err}
	}
	if policy != nil {
		result.Rules = append(result.Rules, policy.Rules()...)
	}
	h.Done(id, wire.Encode(result))
	return nil
}

// policy is the user's rules, as far as the user is asked at all; nil for none.
func (h *Host) policy() *permission.Policy {
	if !h.configured().Permissions.MayAsk() {
		return nil
	}
	return h.rules.Current()
}
