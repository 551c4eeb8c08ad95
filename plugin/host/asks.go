package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// maxAsks bounds the requests of one agent that wait for an answer.
const maxAsks = 64

// answer is what Neovim says to an ask. Exactly one of Result, Error and
// Default is meant; Default leaves it to the host.
type answer struct {
	Result  json.RawMessage `json:"result"`
	Error   *acp.Error      `json:"error"`
	Default bool            `json:"default"`
	By      string          `json:"by"` // handler, listener, default, respond, timeout
	// Whole is the text of the file after a read of some lines, and after a write
	// unless it is what the agent wrote.
	Whole *string `json:"whole"`

	cancelled bool // withdrawn by session/cancel
}

// ask is a request of an agent that waits for Neovim's answer.
type ask struct {
	id      string
	method  string
	agent   string
	session string
	rebase  rebase      // of a write; nil otherwise
	answer  chan answer // capacity 1, written once
}

// asks are all requests that wait, by id. The first answer wins.
type asks struct {
	host   *Host
	prefix string // differs between hosts, so that no late answer hits a new ask

	mu   sync.Mutex
	next int
	open map[string]*ask
}

func newAsks(h *Host) *asks {
	var b [3]byte
	rand.Read(b[:])
	return &asks{host: h, prefix: "req-" + hex.EncodeToString(b[:]) + "-", open: make(map[string]*ask)}
}

func (s *asks) add(agent, session, method string) (*ask, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := 0
	for _, a := range s.open {
		if a.agent == agent {
			waiting++
		}
	}
	if waiting >= maxAsks {
		return nil, &acp.Error{
			Code:    acp.ErrorCodeInternalError,
			Message: fmt.Sprintf("%s: %d requests already wait for an answer", method, waiting),
		}
	}
	s.next++
	a := &ask{
		id:      s.prefix + strconv.Itoa(s.next),
		method:  method,
		agent:   agent,
		session: session,
		answer:  make(chan answer, 1),
	}
	s.open[a.id] = a
	return a, nil
}

// answer gives v to the ask id and reports whether it still waited.
func (s *asks) answer(id string, v answer) bool {
	s.mu.Lock()
	a := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if a == nil {
		s.host.log.Debug("answer to a request that no longer waits", "requestId", id)
		return false
	}
	a.answer <- v
	return true
}

// withdraw takes the ask back and tells Neovim; false if it was answered.
func (s *asks) withdraw(a *ask, reason string, v answer) bool {
	if !s.answer(a.id, v) {
		return false
	}
	q := s.host.queue
	q.push(new(object).str("requestId", a.id).str("reason", reason).item(kindWithdraw))
	q.push(event(eventRequestCancelled, new(object).str("requestId", a.id).str("method", a.method).
		str("agent", a.agent).optional("sessionId", a.session).str("reason", reason)))
	return true
}

// cancelSession withdraws the questions of a session, except those of some methods.
func (s *asks) cancelSession(agent, session string, except ...string) {
	for _, a := range s.of(agent, session) {
		if !slices.Contains(except, a.method) {
			s.withdraw(a, "the turn was cancelled", answer{cancelled: true, By: "cancel"})
		}
	}
}

func (s *asks) of(agent, session string) []*ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*ask
	for _, a := range s.open {
		if a.agent == agent && a.session == session {
			list = append(list, a)
		}
	}
	return list
}

// wait returns Neovim's answer. When ctx ends first, because the agent
// withdrew the request or is gone, the ask is withdrawn from Neovim.
func (s *asks) wait(ctx context.Context, a *ask) answer {
	select {
	case v := <-a.answer:
		return v
	case <-ctx.Done():
		s.withdraw(a, "the agent no longer waits for an answer", answer{cancelled: true, By: "agent"})
		return <-a.answer
	}
}
