package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/test/editors"

	"github.com/hermes-nvim/hermes/internal/machine"
)

// reachable are the states that a table leads to from the first one, which
// counts only when something leads back to it.
func reachable[E, S comparable](table machine.Table[E, S], first S) []S {
	found, open := []S{}, []S{first}
	for len(open) > 0 {
		from := open[0]
		open = open[1:]
		for _, moves := range table {
			if to, ok := moves[from]; ok && !slices.Contains(found, to) {
				found, open = append(found, to), append(open, to)
			}
		}
	}
	return found
}

// idleMoves are the states that an event is listed for and does not change.
func idleMoves[E, S comparable](table machine.Table[E, S]) (list []S) {
	for _, moves := range table {
		for from, to := range moves {
			if from == to {
				list = append(list, from)
			}
		}
	}
	return list
}

func TestEveryStateIsReachedAndLeft(t *testing.T) {
	t.Parallel()
	connections := []connectionState{stateDisconnected, stateStarting, stateInitializing, stateReady, stateReconnecting, stateClosing}
	for _, from := range connections {
		if got := reachable(connectionStates, from); len(got) != len(connections) {
			t.Errorf("from %s a connection comes to %q only", from, got)
		}
	}
	sessions := []sessionState{sessionIdle, sessionRunning, sessionWaiting, sessionCancelling, sessionReplaying}
	for _, from := range sessions {
		if got := reachable(sessionStates, from); len(got) != len(sessions) {
			t.Errorf("from %s a session comes to %q only", from, got)
		}
	}
	if same, alike := idleMoves(connectionStates), idleMoves(sessionStates); same != nil || alike != nil {
		t.Errorf("the tables have moves that change nothing: %q %q", same, alike)
	}
}

func TestTheHelpListsEveryState(t *testing.T) {
	t.Parallel()
	help, err := os.ReadFile(filepath.Join(editors.Root(t), "doc", "hermes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(help), "hermes.state(")
	if !found {
		t.Fatal("the help does not describe the state")
	}
	for _, s := range reachable(connectionStates, stateDisconnected) {
		if s != stateDisconnected && !strings.Contains(list, `"`+string(s)+`"`) { // those are not in the list
			t.Errorf("connection: %s is missing", s)
		}
	}
	for _, s := range reachable(sessionStates, sessionIdle) {
		if !strings.Contains(list, `"`+string(s)+`"`) {
			t.Errorf("session: %s is missing", s)
		}
	}
}

// What comes late does not undo what came before it.
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
	s, err := c.session("s")
	if err != nil {
		t.Fatal(err)
	}
	s.turn = newTurn("p", nil, nil)
	s.on(turnBegins)
	s.waits(1)
	s.on(turnCancelled)
	if s.waits(-1); !s.cancelling() {
		t.Errorf("an answer makes a cancelled turn %s", s.state.State())
	}
	s.on(turnEnds)
	s.turn = nil
	s.on(historyComes)
	s.waits(1)
	if s.waits(-1); s.state.State() != sessionReplaying {
		t.Errorf("an answer ends a replay: %s", s.state.State())
	}
}
