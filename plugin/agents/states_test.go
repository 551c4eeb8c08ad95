package agents

import (
	"slices"
	"testing"

	"github.com/hermes-nvim/hermes/internal/machinetest"
)

func TestEveryStateIsReachedLeftAndListed(t *testing.T) {
	t.Parallel()
	all := []connectionState{stateDisconnected, stateStarting, stateInitializing, stateReady, stateReconnecting, stateClosing}
	machinetest.Check(t, connectionStates, all)
	machinetest.Listed(t, slices.DeleteFunc(all, func(s connectionState) bool { return s == stateDisconnected })) // those are not in the list
}

// A late event does not undo the events before it.
func TestLateEventsChangeNothing(t *testing.T) {
	t.Parallel()
	c := lone(t)
	for _, e := range []connectionEvent{connectionStarts, connectionReached, connectionReady, connectionCloses} {
		c.on(e, nil)
	}
	for _, late := range []connectionEvent{connectionReady, connectionBroke, connectionReached, connectionStarts} {
		if c.on(late, nil); c.state.State() != stateClosing {
			t.Fatalf("event %d makes a closing connection %s", late, c.state.State())
		}
	}
}
