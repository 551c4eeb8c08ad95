package host

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// queueOp changes a prompt that waits for the turn before it.
type queueOp struct {
	Prompt string          `json:"prompt"` // id
	Change string          `json:"change"`
	Place  int             `json:"place"`  // of a move: 1 is the next
	Params json.RawMessage `json:"params"` // of an edit
	Force  bool            `json:"force"`  // of an edit: whatever the agent has announced
}

// Changes of a queueOp.
const (
	queueEdit   = "edit"
	queueRemove = "remove"
	queueMove   = "move"
	queueSend   = "send" // next, and cancel the turn that runs
)

// changeQueue carries out p. A prompt that does not wait, because it has been sent
// meanwhile, fails it.
func (h *Host) changeQueue(id string, p queueOp) error {
	s := h.queuing(p.Prompt)
	if s == nil {
		return notQueued(p.Prompt)
	}
	result := new(wire.Object)
	var err error
	switch p.Change {
	case queueEdit:
		err = s.edit(p)
	case queueRemove:
		err = s.remove(p.Prompt)
	case queueMove:
		err = s.move(p.Prompt, p.Place)
	case queueSend:
		var cancelled bool
		cancelled, err = s.sendNow(p.Prompt)
		result.Flag("cancelled", cancelled)
	default:
		err = wire.Invalid("there is no change %q of a queue", p.Change)
	}
	if err != nil {
		return err
	}
	h.Done(id, result.JSON()) // first, so that who hears of the change knows what it was
	s.pushQueue()
	return nil
}

func notQueued(prompt string) error {
	return &wire.Error{Kind: wire.ErrorNotQueued, Message: fmt.Sprintf("prompt %q does not wait", prompt)}
}

// queuing is the session in which a prompt waits, nil for none.
func (h *Host) queuing(prompt string) *session {
	for _, first := range h.all() {
		for _, c := range first.pool.all() {
			for _, s := range c.open() {
				s.mu.Lock()
				waits := s.place(prompt) >= 0
				s.mu.Unlock()
				if waits {
					return s
				}
			}
		}
	}
	return nil
}

// place is where in the queue a prompt is, negative if it is not there. The
// session is locked.
func (s *session) place(prompt string) int {
	return slices.IndexFunc(s.queued, func(t *turn) bool { return t.id == prompt })
}

// edit gives the prompt other content.
func (s *session) edit(p queueOp) error {
	r, err := newRequest(p.Prompt, acp.MethodSessionPrompt, p.Params)
	if err != nil {
		return err
	}
	t := r.prompt
	t.force = p.Force
	if err := t.fit(s.conn); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.place(p.Prompt)
	if i < 0 {
		return notQueued(p.Prompt)
	}
	s.queued[i] = t
	return nil
}

// remove takes the prompt out and ends it as a cancel does.
func (s *session) remove(prompt string) error {
	s.mu.Lock()
	i := s.place(prompt)
	if i >= 0 {
		s.queued = slices.Delete(slices.Clone(s.queued), i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		return notQueued(prompt)
	}
	s.conn.host.Done(prompt, new(wire.Object).Str("stopReason", string(acp.StopReasonCancelled)).JSON())
	return nil
}

// move puts the prompt at a place of the queue; the nearest there is.
func (s *session) move(prompt string, place int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moveLocked(prompt, place)
}

func (s *session) moveLocked(prompt string, place int) error {
	i := s.place(prompt)
	if i < 0 {
		return notQueued(prompt)
	}
	t, queued := s.queued[i], slices.Delete(slices.Clone(s.queued), i, i+1)
	s.queued = slices.Insert(queued, min(max(place-1, 0), len(queued)), t)
	return nil
}

// sendNow makes the prompt the next and cancels the turn that runs. It reports
// whether one did.
func (s *session) sendNow(prompt string) (bool, error) {
	s.mu.Lock()
	if err := s.moveLocked(prompt, 1); err != nil {
		s.mu.Unlock()
		return false, err
	}
	if s.state.State() == sessionCancelling {
		s.mu.Unlock()
		return false, nil
	}
	stop := s.stopTurn()
	s.mu.Unlock()
	return stop(), nil
}
