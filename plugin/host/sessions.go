package host

import (
	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/serve"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// cancelOp ends the turn of a session, and drops the prompts that wait.
type cancelOp struct {
	Agent     string        `json:"agent"` // empty: the one that has the session
	SessionID acp.SessionID `json:"sessionId"`
}

type cancelled struct {
	Cancelled bool `json:"cancelled"` // a turn ran
	Dropped   int  `json:"dropped"`   // prompts
}

func (h *Host) cancel(id string, p cancelOp) error {
	s, err := h.agents.Session(p.Agent, p.SessionID)
	if err != nil {
		return err
	}
	ran, dropped := s.Cancel()
	h.Done(id, wire.Encode(cancelled{ran, dropped}))
	return nil
}

// changeQueue changes a prompt that waits.
func (h *Host) changeQueue(id string, p turns.Change) error {
	for _, s := range h.agents.Sessions() {
		if s.IsQueued(p.Prompt) {
			return s.Change(id, p)
		}
	}
	return turns.NotQueued(p.Prompt)
}

// killOp ends a command of an agent that the host runs.
type killOp struct {
	Agent    string         `json:"agent"`
	Session  acp.SessionID  `json:"sessionId"`
	Terminal acp.TerminalID `json:"terminalId"`
}

// kill ends a command for the user, as terminal/kill does for the agent.
func (h *Host) kill(id string, p killOp) error {
	s, err := h.agents.Session(p.Agent, p.Session)
	if err != nil {
		return err
	}
	h.Start(func() {
		if err := s.Kill(p.Terminal); err != nil {
			h.Fail(id, err)
			return
		}
		h.Done(id, nil)
	})
	return nil
}

// mentionsOp asks which files a text names for a session.
type mentionsOp struct {
	Agent   string        `json:"agent"`
	Session acp.SessionID `json:"sessionId"`
	Text    string        `json:"text"`
	Limit   int64         `json:"limit,omitempty"` // bytes of a file whose text is wanted; 0: none is
}

type mentioned struct {
	Mentions []serve.Mention `json:"mentions"`
}

// mentions answers with the files that a text names for a session.
func (h *Host) mentions(id string, p mentionsOp) error {
	s, err := h.agents.Session(p.Agent, p.Session)
	if err != nil {
		return err
	}
	h.Start(func() {
		list := s.Mentions(p.Text, p.Limit)
		h.Push(wire.ItemOf(say.Done{ID: id, Result: wire.ObjectOf(mentioned{list})}).Whole())
	})
	return nil
}
