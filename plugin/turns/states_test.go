package turns

import (
	"log/slog"
	"testing"

	"github.com/hermes-nvim/hermes/internal/machinetest"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

func TestEveryStateIsReachedLeftAndListed(t *testing.T) {
	t.Parallel()
	all := []state{idle, running, waiting, cancelling, replaying}
	machinetest.Check(t, states, all)
	machinetest.Listed(t, all)
}

// A late event does not undo the events before it.
func TestLateEventsChangeNothing(t *testing.T) {
	t.Parallel()
	editor := say.New(wire.NewQueue(1<<40, nil), slog.New(slog.DiscardHandler))
	s := New(editor, ask.NewAsks(editor.Queue, editor.Log), pipe{}, noWork{}, "s")
	s.turn = new(Turn)
	s.on(turnBegins)
	s.Waits(1)
	s.on(turnCancelled)
	if s.Waits(-1); !s.Cancelling() {
		t.Errorf("an answer makes a cancelled turn %s", s.state.State())
	}
	s.on(turnEnds)
	s.turn = nil
	s.on(historyComes)
	s.Waits(1)
	if s.Waits(-1); s.state.State() != replaying {
		t.Errorf("an answer ends a replay: %s", s.state.State())
	}
}
