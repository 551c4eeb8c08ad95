// Package ask puts the questions of agents to the user, by way of Neovim: it keeps those that
// wait, asks the user's rules first where there are any, and reads the answers.
package ask

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// maxAsks bounds the requests of one agent that wait for an answer.
const maxAsks = 64

// Asked is a request of an agent that needs an answer: the operation respond, whose id is the id
// of the request.
type Asked struct {
	RequestID string       `json:"requestId"`
	Name      string       `json:"name"` // of the event
	Method    string       `json:"method"`
	Agent     string       `json:"agent"`
	Refused   string       `json:"refused,omitempty"` // why the default must not serve it
	Data      *wire.Object `json:"data"`              // of the event
}

// Withdrawn says that a request needs no answer any more, and why.
type Withdrawn struct {
	RequestID string `json:"requestId"`
	Reason    string `json:"reason"`
}

func (Asked) Kind() string     { return wire.KindAsk }
func (Withdrawn) Kind() string { return wire.KindWithdraw }

// Answer is what Neovim says to a request of an agent: a result, an error, or that the host is to
// do what it does by default.
type Answer struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *acp.Error      `json:"error,omitempty"`
	Default bool            `json:"default,omitempty"`
	By      string          `json:"by"` // handler, listener, default, respond, timeout
	// Whole is the text of the file after a read of some lines, and after a write
	// unless it is what the agent wrote.
	Whole *string `json:"whole,omitempty"`
	// Seen says that the user has answered, with all that decides on the screen.
	Seen bool `json:"seen,omitempty"`

	Cancelled bool `json:"-"` // withdrawn by session/cancel, or by the agent
}

// ask is a request of an agent that waits for Neovim's answer.
type ask struct {
	id      string
	method  string
	agent   string
	session string
	rebase  Rebase      // of a write; nil otherwise
	answer  chan Answer // capacity 1, written once

	put       bool   // Neovim has it; under Asks.mu
	withdrawn string // why; empty: it is not; under Asks.mu
}

// Asks are all requests of agents that wait for an answer, by id. The first answer wins.
type Asks struct {
	queue  *wire.Queue
	log    *slog.Logger
	prefix string // differs between hosts, so that no late answer hits a new ask

	mu   sync.Mutex
	next int
	open map[string]*ask
}

// NewAsks returns asks that are put through a queue.
func NewAsks(queue *wire.Queue, log *slog.Logger) *Asks {
	var b [3]byte
	rand.Read(b[:])
	return &Asks{queue: queue, log: log, prefix: "req-" + hex.EncodeToString(b[:]) + "-", open: make(map[string]*ask)}
}

func (s *Asks) add(agent, session, method string) (*ask, error) {
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
		answer:  make(chan Answer, 1),
	}
	s.open[a.id] = a
	return a, nil
}

// Answer gives v to the ask id and reports whether it still waited.
func (s *Asks) Answer(id string, v Answer) bool {
	s.mu.Lock()
	a := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if a == nil {
		s.log.Debug("answer to a request that no longer waits", "requestId", id)
		return false
	}
	a.answer <- v
	return true
}

// put hands the ask to Neovim. It may have been withdrawn by now.
func (s *Asks) put(a *ask, it wire.Item) {
	s.queue.Push(it)
	s.mu.Lock()
	a.put = true
	reason := a.withdrawn
	s.mu.Unlock()
	if reason != "" {
		s.tell(a, reason)
	}
}

// withdraw takes the ask back, and also in Neovim if Neovim has got it; false if it was
// answered.
func (s *Asks) withdraw(a *ask, reason string, v Answer) bool {
	if !s.Answer(a.id, v) {
		return false
	}
	s.mu.Lock()
	a.withdrawn = reason
	put := a.put
	s.mu.Unlock()
	if put {
		s.tell(a, reason)
	}
	return true
}

// tell sends Neovim the message that an ask is withdrawn.
func (s *Asks) tell(a *ask, reason string) {
	s.queue.Push(wire.ItemOf(Withdrawn{a.id, reason}))
	s.queue.Push(new(wire.Object).Str("requestId", a.id).Str("method", a.method).
		Str("agent", a.agent).Optional("sessionId", a.session).Str("reason", reason).Item(events.RequestCancelled))
}

// TurnCancelled says why the questions of a turn are withdrawn when the user cancels it.
const TurnCancelled = "the turn was cancelled"

// CancelSession withdraws the questions of a session, except those of some methods, and says
// why.
func (s *Asks) CancelSession(agent, session, reason string, except ...string) {
	for _, a := range s.of(agent, session) {
		if !slices.Contains(except, a.method) {
			s.withdraw(a, reason, Answer{Cancelled: true, By: "cancel"})
		}
	}
}

func (s *Asks) of(agent, session string) []*ask {
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

// wait returns Neovim's answer. When ctx ends first, because the agent withdrew the request
// or is gone or its turn is over, the ask is withdrawn from Neovim.
func (s *Asks) wait(ctx context.Context, a *ask) Answer {
	select {
	case v := <-a.answer:
		return v
	case <-ctx.Done():
		reason, by := "the agent no longer waits for an answer", "agent"
		switch context.Cause(ctx) {
		case rpc.ErrTurnEnded:
			reason = rpc.ErrTurnEnded.Error()
		case rpc.ErrSessionCancelled: // CancelSession says the same, and may be later
			reason, by = TurnCancelled, "cancel"
		}
		s.withdraw(a, reason, Answer{Cancelled: true, By: by})
		return <-a.answer
	}
}

// Rebase is services.Rebase for one write. An agent that has not read the file
// through Hermes is taken to know the text on disk, nil for none.
type Rebase func(disk *string, now string) (string, error)

// Rebase returns the Rebase of a write that waits, nil for none.
func (s *Asks) Rebase(id string) Rebase {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.open[id]; a != nil {
		return a.rebase
	}
	return nil
}
