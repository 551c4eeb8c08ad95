package session

import (
	"slices"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
)

// maxStrangers bounds the sessions that exist only because updates name them.
const maxStrangers = 64

// Store holds the sessions of one connection. It is safe for concurrent use.
//
// Agents send updates for a session before they have answered session/new, so
// an update for an unknown session makes one; Open takes it over.
type Store struct {
	limits Limits

	mu        sync.Mutex
	states    map[acp.SessionID]*State
	strangers []acp.SessionID // not opened, oldest first
}

// NewStore returns a Store without sessions; limits hold for each of them.
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
	}
	return s
}

// Get returns the state of a session, nil when there is none.
func (t *Store) Get(id acp.SessionID) *State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.states[id]
}

// Apply adds an update to its session.
func (t *Store) Apply(n *acp.SessionNotification) { t.named(n.SessionID).Apply(n.Update) }

// ApplyV2 adds an update of version 2 to its session.
func (t *Store) ApplyV2(n *v2.UpdateSessionNotification) {
	t.named(acp.SessionID(n.SessionID)).ApplyV2(n.Update)
}

// named returns the state of a session that an update names.
func (t *Store) named(id acp.SessionID) *State {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.states[id] == nil {
		if len(t.strangers) == maxStrangers {
			delete(t.states, t.strangers[0])
			t.strangers = t.strangers[1:]
		}
		t.strangers = append(t.strangers, id)
	}
	return t.state(id)
}

// End forgets a session.
func (t *Store) End(id acp.SessionID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.states, id)
	t.strangers = slices.DeleteFunc(t.strangers, func(s acp.SessionID) bool { return s == id })
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
