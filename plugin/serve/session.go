package serve

import (
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/review/calls"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/runtime/history"
)

// Session is one conversation with an agent, and what it may do and has done here.
type Session struct {
	*turns.Turns
	Roots  []string // absolute folders the agent may read and write, the working folder first
	client *Client

	calls *history.State // tool calls of the turn
	looks calls.Calls    // what reviews know of them

	mu       sync.Mutex // held for moments, also with the turns locked
	approved approvals  // commands the user has allowed in the turn
	opened   bool       // the services know it; on first use of them
	openErr  error
	ended    bool
}

// callLimits bound the tool calls of a turn that are remembered.
var callLimits = history.Limits{Entries: 1024, Bytes: 4 << 20}

// NewSession makes a session of an agent.
func (k *Client) NewSession(agent turns.Agent, id acp.SessionID, roots []string) *Session {
	s := &Session{Roots: roots, client: k, calls: history.New(id, callLimits)}
	s.Turns = turns.New(k.Editor, k.Asks, agent, s, id)
	return s
}

// Root is the working folder.
func (s *Session) Root() string {
	if len(s.Roots) == 0 {
		return ""
	}
	return s.Roots[0]
}

// openRoots lets the services serve the session below its folders, on first use.
func (s *Session) openRoots() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opened {
		s.opened, s.openErr = true, s.client.services.OpenSession(s.ID(), s.Roots)
	}
	return s.openErr
}

// CutShort ends the commands and the turn that a broken connection leaves in the session.
// Neovim gets the end of the turn before anything of the next connection.
func (s *Session) CutShort() {
	s.mu.Lock()
	if !s.ended {
		s.opened, s.openErr = false, nil
	}
	s.mu.Unlock()
	s.client.services.CloseSession(s.ID())
	s.Turns.CutShort()
}

// End ends what the session holds and the turns that wait; the running one fails by its call.
func (s *Session) End(err error) {
	s.mu.Lock()
	s.opened, s.openErr, s.ended = true, err, true
	s.mu.Unlock()
	s.Abort(err)
	s.client.Editor.Start(func() { s.client.services.CloseSession(s.ID()) })
}

// Begin drops what held for the turn before.
func (s *Session) Begin(t *turns.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.Reset()
	s.looks.Reset()
	s.approved = approvals{turn: t}
}
