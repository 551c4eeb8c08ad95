package reviews

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"

	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// A buffer gets its hunks whenever it is held, also while the host sends the pending
// hunks.
func TestAHeldBufferAlwaysGetsItsHunks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "f")
	if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := Host{Editor: say.New(wire.NewQueue(1<<40, nil), slog.New(slog.DiscardHandler)), Context: t.Context(), Sessions: func() []Session { return nil }, Agents: func() []string { return nil }}
	p := newReviewed(New(h), root)
	p.tryOpen(t.TempDir())
	if p.err != nil {
		t.Fatal(p.err)
	}
	t.Cleanup(p.close)
	write := func() error { return os.WriteFile(path, []byte("new\n"), 0o600) }
	if err := p.Write(review.Author{Session: "agent/s"}, path, "new\n", write); err != nil {
		t.Fatal(err)
	}
	name, text := p.Name(path), "new\n"
	for tick := range int64(500) {
		held := make(chan struct{})
		var telling sync.WaitGroup
		telling.Go(func() {
			for {
				p.touch(name)
				p.tell()
				select {
				case <-held:
					return
				default:
				}
			}
		})
		err := p.hold(name, holdOp{Path: path, Tick: tick, Text: text})
		close(held)
		telling.Wait()
		if err != nil {
			t.Fatal(err)
		}
		patience.True(t, "hunks for the buffer", func() bool { return hasHunks(h.Queue, tick) })
		p.Release(path)
	}
}

// hasHunks takes everything out of a queue and reports whether it had the one hunk of a
// buffer as it is at the tick.
func hasHunks(q *wire.Queue, tick int64) (has bool) {
	for more := true; more; {
		var batch []wire.Item
		batch, more = q.Take()
		for _, it := range batch {
			var told struct {
				Tick  int64
				Hunks []hunkJSON
			}
			if it.Kind == KindHunks && json.Unmarshal(it.JSON, &told) == nil && told.Tick == tick {
				has = has || len(told.Hunks) == 1
			}
		}
	}
	return has
}
