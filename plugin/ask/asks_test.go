package ask

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// Neovim gets a question before the message that nobody waits for the answer, or it would show it
// for ever.
func TestAQuestionIsWithdrawnAfterItWasPut(t *testing.T) {
	t.Parallel()
	queue := wire.NewQueue(wire.QueueBytes, errors.New("over"))
	asks := NewAsks(queue, slog.New(slog.DiscardHandler))
	q := Question{Event: "PermissionRequest", Method: "session/request_permission", Session: "s", Data: new(wire.Object)}
	q.Asked = func(string) { asks.CancelSession("a", "s", "the turn is over") } // as early as it can be
	if v, err := asks.Put(t.Context(), "a", nil, q); err != nil || !v.Cancelled {
		t.Fatal(v, err)
	}
	items, more := queue.Take()
	var kinds []string
	for _, it := range items {
		kinds = append(kinds, it.Kind)
	}
	want := []string{wire.KindAsk, wire.KindWithdraw, events.RequestCancelled}
	if more || len(kinds) != 3 || kinds[0] != want[0] || kinds[1] != want[1] {
		t.Errorf("%q, %v, want %q", kinds, more, want)
	}
}
