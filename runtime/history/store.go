package history

import (
	"slices"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// maxStrangers bounds the sessions that exist only because updates name them.
// All of them together are kept within the limit of one session.
const maxStrangers = 64

// Store holds the sessions of one connection. It is safe for concurrent use.
//
// Agents send updates for a session before they have answered session/new, so an
// update for an unknown session creates one. Open adopts it.
type Store struct {
	limits Limits

	mu        sync.Mutex
	states    map[acp.SessionID]*State
	strangers []acp.SessionID // not opened, oldest first
	closed    bool
}

// NewStore returns a Store without sessions. The limits apply to each session.
func NewStore(limits Limits) *Store {
	return &Store{limits: limits, states: make(map[acp.SessionID]*State)}
}

// Open returns the state of a session the agent has confirmed.
func (t *Store) Open(id acp.SessionID) *State {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.strangers = slices.DeleteFunc(t.strangers, func(s acp.SessionID) bool { return s == id })
	return t.state(id)
}

func (t *Store) state(id acp.SessionID) *State {
	s := t.states[id]
	if s == nil {
		s = New(id, t.limits)
		t.states[id] = s
		if t.closed {
			close(s.done)
		}
	}
	return s
}

// Get returns the state of a session, nil if there is none.
func (t *Store) Get(id acp.SessionID) *State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.states[id]
}

// Apply adds an update to its session.
func (t *Store) Apply(n *acp.SessionNotification) {
	t.Update(n.SessionID, func(s *State) { s.Apply(n.Update) })
}

// Update calls f with the state of a session that an update names.
func (t *Store) Update(id acp.SessionID, f func(*State)) {
	s, stranger := t.named(id)
	f(s)
	if stranger {
		t.shrink()
	}
}

// named returns the state of a session that an update names, and whether it
// exists only because of that.
func (t *Store) named(id acp.SessionID) (s *State, stranger bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.states[id] == nil {
		if len(t.strangers) == maxStrangers {
			t.forgetStranger()
		}
		t.strangers = append(t.strangers, id)
	}
	return t.state(id), slices.Contains(t.strangers, id)
}

func (t *Store) forget(id acp.SessionID) {
	if s := t.states[id]; s != nil && !t.closed {
		close(s.done)
	}
	delete(t.states, id)
}

func (t *Store) forgetStranger() {
	t.forget(t.strangers[0])
	t.strangers = slices.Delete(t.strangers, 0, 1)
}

// shrink forgets the oldest strangers until the others are within the limit.
func (t *Store) shrink() {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := 0
	for _, id := range t.strangers {
		sum += t.states[id].size()
	}
	for sum > t.limits.bytes() && len(t.strangers) > 1 {
		sum -= t.states[t.strangers[0]].size()
		t.forgetStranger()
	}
}

// End forgets a session.
func (t *Store) End(id acp.SessionID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(id)
	t.strangers = slices.DeleteFunc(t.strangers, func(s acp.SessionID) bool { return s == id })
}

// Close ends all sessions, including those that are opened later, without
// forgetting them: State.Done is closed.
func (t *Store) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		for _, s := range t.states {
			close(s.done)
		}
	}
}

// Sessions returns the ids of the sessions, sorted.
func (t *Store) Sessions() []acp.SessionID {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := make([]acp.SessionID, 0, len(t.states))
	for id := range t.states {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
