package agents

import (
	"github.com/hermes-nvim/hermes/internal/machine"
)

// The states of a connection, and what changes them: the code says what happens, and this table
// what follows from it.

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
