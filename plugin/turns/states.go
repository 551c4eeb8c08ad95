package turns

import (
	"github.com/hermes-nvim/hermes/internal/machine"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// The states of a session, and what changes them: the code says what happens, and this table
// what follows from it.

type (
	state string
	event int
)

// States of a session, as StateChanged and hermes.state() show them.
const (
	idle       state = "idle"
	running    state = "running"
	waiting    state = "waiting" // for the user's answer
	cancelling state = "cancelling"
	replaying  state = "replaying" // its history comes again, because the connection broke
)

const (
	turnBegins event = iota
	turnCancelled
	turnEnds
	userAsked
	allAnsweredInTurn // no question is open any more
	allAnswered       // the same outside of a turn
	historyComes
	restoredInTurn // the history is complete
	restored
	restoredAsking // with a question open
)

var states = machine.Table[event, state]{
	turnBegins:        {idle: running, waiting: running, cancelling: running, replaying: running},
	turnCancelled:     {idle: cancelling, running: cancelling, waiting: cancelling, replaying: cancelling},
	turnEnds:          {running: idle, waiting: idle, cancelling: idle, replaying: idle},
	userAsked:         {idle: waiting, running: waiting},
	allAnsweredInTurn: {waiting: running},
	allAnswered:       {waiting: idle},
	historyComes:      {idle: replaying, running: replaying, waiting: replaying, cancelling: replaying},
	restoredInTurn:    {replaying: running},
	restored:          {replaying: idle},
	restoredAsking:    {replaying: waiting},
}

// on changes the state as the event says.
func (s *Turns) on(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onLocked(e)
}

func (s *Turns) onLocked(e event) {
	if from, to := s.state.On(e); from != to {
		s.pushLocked(events.StateChanged, new(wire.Object).Str("from", string(from)).Str("to", string(to)))
	}
}

// Waits counts questions to the user, so that the state shows them.
func (s *Turns) Waits(delta int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits(delta)
}

func (s *Turns) waits(delta int) {
	s.asked += delta
	switch {
	case s.asked > 0:
		s.onLocked(userAsked)
	case s.turn != nil:
		s.onLocked(allAnsweredInTurn)
	default:
		s.onLocked(allAnswered)
	}
}

// WaitsElsewhere notes whether the agent waits for the user elsewhere, which counts as a question.
func (s *Turns) WaitsElsewhere(waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.elsewhere
	s.elsewhere = waits
	switch {
	case waits && !was:
		s.waits(1)
	case !waits && was:
		s.waits(-1)
	}
}

// Cancelling reports whether the turn that runs has been cancelled.
func (s *Turns) Cancelling() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.State() == cancelling
}

// Replays notes whether the agent's updates from now on are a replay. It returns the earlier
// value.
func (s *Turns) Replays(on bool) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, s.replay = s.replay, on
	return was
}

// HistoryComes notes that the agent replays the session, over a new connection.
func (s *Turns) HistoryComes() {
	s.on(historyComes)
	s.Replays(true)
}

// Restored notes that it has.
func (s *Turns) Restored() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.asked > 0:
		s.onLocked(restoredAsking)
	case s.turn != nil:
		s.onLocked(restoredInTurn)
	default:
		s.onLocked(restored)
	}
}
