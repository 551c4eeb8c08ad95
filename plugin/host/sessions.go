package host

import (
	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

type cancelOp struct {
	Agent     string        `json:"agent"`
	SessionID acp.SessionID `json:"sessionId"`
}

func (h *Host) cancel(id string, p cancelOp) error {
	s, err := h.agents.Session(p.Agent, p.SessionID)
	if err != nil {
		return err
	}
	ran, dropped := s.Cancel()
	h.Done(id, new(wire.Object).Flag("cancelled", ran).Num("dropped", int64(dropped)).JSON())
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

type mentionsOp struct {
	Agent   string        `json:"agent"`
	Session acp.SessionID `json:"sessionId"`
	Text    string        `json:"text"`
	Limit   int64         `json:"limit"` // bytes of a file whose text is wanted; 0: none is
}

// mentions answers with the files that a text names for a session.
func (h *Host) mentions(id string, p mentionsOp) error {
	s, err := h.agents.Session(p.Agent, p.Session)
	if err != nil {
		return err
	}
	h.Start(func() {
		list := s.Mentions(p.Text, p.Limit)
		h.Push(new(wire.Object).Str("id", id).Object("result", new(wire.Object).Raw("mentions", wire.Encode(list))).Item(wire.KindDone).Whole())
	})
	return nil
}
