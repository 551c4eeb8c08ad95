package ask

import (
	"context"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// Question is an agent request on its way to Neovim.
type Question struct {
	Event   string // name of the autocommand
	Method  string
	Session acp.SessionID
	Alone   bool // it belongs to no session
	Data    *wire.Object
	refused string          // why the default must not serve it; empty for no reason
	User    bool            // a person answers it, so the session is shown as waiting
	Max     int             // what it may cost; 0 means wire.MaxCost
	Asked   func(id string) // gets the request id; may be nil
	Heard   func(Answer)    // gets the answer; may be nil
	Rebase  Rebase          // of a write; nil otherwise
}

// IsWhole reports whether Neovim sees all of q.
func (q *Question) IsWhole() bool {
	return q.Data.Fits(q.Max)
}

// MayBeCut reports whether Neovim can answer q without seeing all of it: a
// question for permission by a denial, a write by leaving it to the host. For
// other questions Neovim needs all of the text.
func (q *Question) MayBeCut() bool {
	return q.Method == acp.MethodSessionRequestPermission || q.Method == acp.MethodFsWriteTextFile
}

// Refuse gives Neovim's default the reason why it must not serve the request.
func (q *Question) Refuse(err error) {
	if err != nil {
		q.refused = err.Error()
	}
}

// Put puts q to Neovim and waits for the answer. waits is called with 1 when the wait for
// a person begins and with -1 when it ends; it may be nil.
func (s *Asks) Put(ctx context.Context, agent string, waits func(int), q Question) (Answer, error) {
	a, err := s.add(agent, string(q.Session), q.Method)
	if err != nil {
		return Answer{}, err
	}
	q.Data.Str("agent", agent).Str("requestId", a.id)
	s.mu.Lock()
	a.rebase = q.Rebase
	s.mu.Unlock()
	if q.Asked != nil {
		q.Asked(a.id)
	}
	if waits != nil && q.User {
		waits(1)
		defer waits(-1)
	}
	it := wire.ItemOf(Asked{a.id, q.Event, q.Method, agent, q.refused, q.Data})
	it.Max = q.Max
	s.put(a, it)
	v := s.wait(ctx, a)
	if q.Heard != nil {
		q.Heard(v)
	}
	return v, nil
}
