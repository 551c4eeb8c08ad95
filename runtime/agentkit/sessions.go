// Package agentkit has what every agent needs beside its model: a table of sessions, turns
// that follow each other and end with their session, the question for permission, and
// session/fork. Each part stands alone. An agent of version 1 is served by rpc.Serve.
package agentkit

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// Sessions are the open sessions of an agent. The zero value has none. It is safe for
// concurrent use.
type Sessions[S any] struct {
	mu     sync.Mutex
	open   map[acp.SessionID]S
	closed bool
}

// Open adds a session. If one of that id is open, it is replaced and returned; the caller
// ends it. The error is rpc.ErrClosed after Close.
func (t *Sessions[S]) Open(id acp.SessionID, session S) (before S, replaced bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return before, false, rpc.ErrClosed
	}
	if t.open == nil {
		t.open = map[acp.SessionID]S{}
	}
	before, replaced = t.open[id]
	t.open[id] = session
	return before, replaced, nil
}

// Find returns an open session. The error is an *acp.Error that answers the client: there is
// no such session.
func (t *Sessions[S]) Find(id acp.SessionID) (S, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	session, ok := t.open[id]
	if !ok {
		return session, notOpen(id)
	}
	return session, nil
}

// Take removes a session, whose end is up to the caller. The error is that of Find.
func (t *Sessions[S]) Take(id acp.SessionID) (S, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	session, ok := t.open[id]
	if !ok {
		return session, notOpen(id)
	}
	delete(t.open, id)
	return session, nil
}

// All returns the sessions that are open now, in no order.
func (t *Sessions[S]) All() []S {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.open))
}

// Close removes all sessions, which the caller ends. No session can be opened any more.
func (t *Sessions[S]) Close() []S {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Collect(maps.Values(t.open))
	t.open, t.closed = nil, true
	return all
}

func notOpen(id acp.SessionID) error {
	return acp.Errorf(acp.ErrorCodeResourceNotFound, "no session %q is open", id)
}

// CheckRoots checks the folders of a request that opens a session: the protocol wants absolute
// paths. The error is an *acp.Error that names the method and the folder.
//
// See https://agentclientprotocol.com/protocol/session-setup.
func CheckRoots(method, cwd string, additional []string) error {
	if !filepath.IsAbs(cwd) {
		return acp.Errorf(acp.ErrorCodeInvalidParams, "%s: cwd %q is not an absolute path", method, cwd)
	}
	for _, folder := range additional {
		if !filepath.IsAbs(folder) {
			return acp.Errorf(acp.ErrorCodeInvalidParams, "%s: %q is not an absolute path", method, folder)
		}
	}
	return nil
}
