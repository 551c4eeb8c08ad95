package turns

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// Change changes a prompt that waits for the turn before it.
type Change struct {
	Prompt string          `json:"prompt"`           // id
	Change string          `json:"change"`           // edit, remove, move, or send: next, and cancel the turn that runs
	Place  int             `json:"place,omitempty"`  // of a move: 1 is the next
	Params json.RawMessage `json:"params,omitempty"` // of an edit
	Force  bool            `json:"force,omitempty"`  // of an edit: whatever the agent has announced
}

// Changed is what a Change did.
type Changed struct {
	Cancelled bool `json:"cancelled"` // the turn that ran
}

// What a Change can do.
const (
	queueEdit   = "edit"
	queueRemove = "remove"
	queueMove   = "move"
	queueSend   = "send" // next, and cancel the turn that runs
)

// Change carries out p, as the operation id. A prompt that does not wait, because it has been
// sent meanwhile, fails it.
func (s *Turns) Change(id string, p Change) error {
	var result Changed
	var err error
	switch p.Change {
	case queueEdit:
		err = s.edit(p)
	case queueRemove:
		err = s.remove(p.Prompt)
	case queueMove:
		err = s.move(p.Prompt, p.Place)
	case queueSend:
		result.Cancelled, err = s.sendNow(p.Prompt)
	default:
		err = wire.Invalid("there is no change %q of a queue", p.Change)
	}
	if err != nil {
		return err
	}
	s.editor.Done(id, wire.Encode(result)) // first, so that a listener of the change knows its result
	s.pushQueue()
	return nil
}

// NotQueued is the error for a prompt that does not wait.
func NotQueued(prompt string) error {
	return &wire.Error{Kind: wire.ErrorNotQueued, Message: fmt.Sprintf("prompt %q does not wait", prompt)}
}

// IsQueued reports whether a prompt waits in the session.
func (s *Turns) IsQueued(prompt string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place(prompt) >= 0
}

func (s *Turns) pushQueue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, len(s.queued))
	for i, t := range s.queued {
		ids[i] = t.ID
	}
	s.pushLocked(events.QueueChanged, new(wire.Object).Strs("items", ids))
}

// place is where in the queue a prompt is, negative if it is not there. The
// turns are locked.
func (s *Turns) place(prompt string) int {
	return slices.IndexFunc(s.queued, func(t *Turn) bool { return t.ID == prompt })
}

// edit gives the prompt other content.
func (s *Turns) edit(p Change) error {
	t, err := ReadTurn(p.Prompt, p.Params)
	if err != nil {
		return err
	}
	t.Force = p.Force
	if err := s.agent.Fit(t); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.place(p.Prompt)
	if i < 0 {
		return NotQueued(p.Prompt)
	}
	t.Steering, t.outcome = s.queued[i].Steering, s.queued[i].outcome
	s.queued[i] = t
	return nil
}

// remove takes the prompt out and ends it as a cancel does.
func (s *Turns) remove(prompt string) error {
	s.mu.Lock()
	i, t := s.place(prompt), (*Turn)(nil)
	if i >= 0 {
		t = s.queued[i]
		s.queued = slices.Delete(slices.Clone(s.queued), i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		return NotQueued(prompt)
	}
	s.editor.Done(prompt, t.cancelled())
	return nil
}

// move puts the prompt at a place of the queue; the nearest there is.
func (s *Turns) move(prompt string, place int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moveLocked(prompt, place)
}

func (s *Turns) moveLocked(prompt string, place int) error {
	i := s.place(prompt)
	if i < 0 {
		return NotQueued(prompt)
	}
	t, queued := s.queued[i], slices.Delete(slices.Clone(s.queued), i, i+1)
	s.queued = slices.Insert(queued, min(max(place-1, 0), len(queued)), t)
	return nil
}

// sendNow makes the prompt the next and cancels the turn that runs. It reports
// whether one did.
func (s *Turns) sendNow(prompt string) (bool, error) {
	s.mu.Lock()
	if err := s.moveLocked(prompt, 1); err != nil {
		s.mu.Unlock()
		return false, err
	}
	if s.state.State() == cancelling {
		s.mu.Unlock()
		return false, nil
	}
	stop := s.stopTurn()
	s.mu.Unlock()
	return stop(), nil
}
