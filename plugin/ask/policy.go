package ask

import (
	"sync"

	"github.com/hermes-nvim/hermes/runtime/permission"
)

// Rules are the user's, which answer an agent's questions before they are
// asked. Without any there is no policy, and everything is asked.
type Rules struct {
	mu     sync.Mutex
	policy *permission.Policy // nil while nobody has asked for rules
	path   string             // where it keeps the rules of scope always; empty: nowhere
}

// Current returns the policy in force, nil for none.
func (r *Rules) Current() *permission.Policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.policy
}

// Use returns the policy that keeps its rules at path. It is usable whatever the
// error says of that file.
func (r *Rules) Use(path string) (*permission.Policy, error) {
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
