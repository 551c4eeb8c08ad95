package host

import (
	"github.com/hermes-nvim/hermes/internal/machine"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// The states of a connection and a session, and what changes them: the code says
// what happens, and these tables what follows from it.

type (
	connectionState string
	connectionEvent int
)

// States of a connection, as StateChanged and hermes.state() show them.
const (
	stateDisconnected connectionState = "disconnected"
	stateStarting     connectionState = "starting"
	stateInitializing connectionState = "initializing"
	stateReady        connectionState = "ready"
	stateReconnecting connectionState = "reconnecting" // it broke and is being re-established
	stateClosing      connectionState = "closing"
)

const (
	connectionStarts  connectionEvent = iota
	connectionReached                 // the agent runs and can be spoken to
	connectionReady                   // the agent is initialized
	connectionBroke                   // and is being re-established
	connectionCloses
	connectionEnded
)

var connectionStates = machine.Table[connectionEvent, connectionState]{
	connectionStarts:  {stateDisconnected: stateStarting},
	connectionReached: {stateStarting: stateInitializing},
	connectionReady:   {stateInitializing: stateReady, stateReconnecting: stateReady},
	connectionBroke:   {stateReady: stateReconnecting},
	connectionCloses: {
		stateStarting: stateClosing, stateInitializing: stateClosing, stateReady: stateClosing, stateReconnecting: stateClosing,
	},
	connectionEnded: {
		stateStarting: stateDisconnected, stateInitializing: stateDisconnected, stateClosing: stateDisconnected,
	},
}

// on changes the state as the event says; reason is nil for none.
func (c *connection) on(e connectionEvent, reason error) {
	c.mu.Lock()
	from, to := c.state.On(e)
	c.mu.Unlock()
	if from == to || !c.isFirst() {
		return
	}
	o := new(wire.Object).Str("agent", c.name).Str("from", string(from)).Str("to", string(to))
	if reason != nil {
		o.Str("reason", reason.Error())
	}
	if sandbox := c.cmd.Boxed(); sandbox != nil && e == connectionStarts {
		o.Object("sandbox", sandbox)
	}
	c.host.Push(o.Item(events.StateChanged))
}

type (
	sessionState string
	sessionEvent int
)

// States of a session.
const (
	sessionIdle       sessionState = "idle"
	sessionRunning    sessionState = "running"
	sessionWaiting    sessionState = "waiting" // for the user's answer
	sessionCancelling sessionState = "cancelling"
	sessionReplaying  sessionState = "replaying" // its history comes again, because the connection broke
)

const (
	turnBegins sessionEvent = iota
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

var sessionStates = machine.Table[sessionEvent, sessionState]{
	turnBegins: {
		sessionIdle: sessionRunning, sessionWaiting: sessionRunning, sessionCancelling: sessionRunning, sessionReplaying: sessionRunning,
	},
	turnCancelled: {
		sessionIdle: sessionCancelling, sessionRunning: sessionCancelling, sessionWaiting: sessionCancelling, sessionReplaying: sessionCancelling,
	},
	turnEnds: {
		sessionRunning: sessionIdle, sessionWaiting: sessionIdle, sessionCancelling: sessionIdle, sessionReplaying: sessionIdle,
	},
	userAsked:         {sessionIdle: sessionWaiting, sessionRunning: sessionWaiting},
	allAnsweredInTurn: {sessionWaiting: sessionRunning},
	allAnswered:       {sessionWaiting: sessionIdle},
	historyComes: {
		sessionIdle: sessionReplaying, sessionRunning: sessionReplaying, sessionWaiting: sessionReplaying, sessionCancelling: sessionReplaying,
	},
	restoredInTurn: {sessionReplaying: sessionRunning},
	restored:       {sessionReplaying: sessionIdle},
	restoredAsking: {sessionReplaying: sessionWaiting},
}

// on changes the state as the event says.
func (s *session) on(e sessionEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onLocked(e)
}

func (s *session) onLocked(e sessionEvent) {
	if from, to := s.state.On(e); from != to {
		s.pushLocked(events.StateChanged, new(wire.Object).Str("from", string(from)).Str("to", string(to)))
	}
}

// waits counts questions to the user, so that the state shows them.
func (s *session) waits(delta int) {
	s.mu.Lock()
	defer s.mu.Unlock()
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

func (s *session) cancelling() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.State() == sessionCancelling
}
