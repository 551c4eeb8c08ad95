//go:build unix

package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// T26, L4: of a flood of questions 64 are open, the rest is answered cancelled at
// once, and the turn continues.
func TestAFloodOfQuestionsIsBounded(t *testing.T) {
	leak.Check(t)
	const n, open = 5000, 64
	soak.Repeat(t, func(t *testing.T, _ int) {
		p := start(t, "HEAR session/prompt\n"+
			fmt.Sprintf(`FLOOD %d {"jsonrpc":"2.0","id":$N,"method":"session/request_permission","params":{"sessionId":"s"}}`, n)+
			"\n"+`LINE {"jsonrpc":"2.0","id":1,"result":{}}`+"\nEOF")
		w := newWitness()
		w.hold = make(chan struct{})
		var cancelled, answered atomic.Int64
		c := rpc.NewConn(p.Transport(), w, rpc.Options{Tap: func(d rpc.Direction, msg []byte) {
			switch {
			case d == rpc.Outbound && bytes.Contains(msg, []byte(`"code":-32800`)):
				cancelled.Add(1)
			case d == rpc.Outbound && bytes.Contains(msg, []byte(`"outcome"`)):
				answered.Add(1)
			}
		}})
		began := time.Now()
		if err := receive(t, "answer", prompt(t.Context(), c)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the rest is refused", func() bool { return cancelled.Load() == n-open })
		eventually(t, "the others are asked", func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.asked == open
		})
		t.Logf("%d questions in %v", n, time.Since(began))
		close(w.hold)
		eventually(t, "they are answered", func() bool { return answered.Load() == open })
		if got := c.Stats().Count(rpc.FaultRefused); got != n-open {
			t.Errorf("%d refusals counted", got)
		}
		closed(t, "flood", c, p)
	})
}

// slow is a client that handles updates slowly.
type slow struct {
	next, wrong int
	last        chan struct{}
	until       int
}

func (*slow) Side() acp.Side { return acp.SideClient }

func (s *slow) HandleNotification(_ context.Context, _ string, params json.RawMessage) error {
	var p struct{ N int }
	if err := json.Unmarshal(params, &p); err != nil || p.N != s.next {
		s.wrong++
	}
	if s.next++; s.next == s.until {
		close(s.last)
	}
	if s.next%1000 == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

func (s *slow) HandleRequest(_ context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
	return nil, acp.MethodNotFound(method)
}

// L2, T19: a process that sends as fast as it can loses nothing to a client
// that is slower, keeps its order, and costs bounded memory.
func TestAFloodOfUpdatesArrivesWholeWithinBoundedMemory(t *testing.T) {
	leak.Check(t)
	n := soak.Of(t, 500_000, 50_000)
	soak.Repeat(t, func(t *testing.T, _ int) {
		before, peak := mapped(), watchMemory()
		p := start(t, fmt.Sprintf(`FLOOD %d {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":$N}}`, n)+"\nEOF")
		s := &slow{last: make(chan struct{}), until: n}
		c := rpc.NewConn(p.Transport(), s, rpc.Options{})
		for done := false; !done; { // as long as there is progress
			before := c.Stats().Received
			select {
			case <-s.last:
				done = true
			case <-time.After(patience.Soon):
				if c.Stats().Received == before {
					t.Fatalf("nothing arrives after %d updates", before)
				}
			}
		}
		if s.wrong > 0 {
			t.Errorf("%d updates out of order", s.wrong)
		}
		closed(t, "flood", c, p)
		if used := (peak() - before) / mib; used > 100 {
			t.Errorf("took %d MiB", used)
		}
	})
}

// A connection can be closed during an endless flood.
func TestAnEndlessFloodCanBeClosed(t *testing.T) {
	leak.Check(t)
	soak.Repeat(t, func(t *testing.T, _ int) {
		floods := map[string]string{
			"updates":   `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}`,
			"requests":  `{"jsonrpc":"2.0","id":$N,"method":"_x"}`,
			"questions": `{"jsonrpc":"2.0","id":$N,"method":"session/request_permission","params":{}}`,
			"answers":   `{"jsonrpc":"2.0","id":$N,"result":{}}`,
			"noise":     `Loading ... $N %`,
			"sessions":  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s$N"}}`,
		}
		names := slices.Collect(maps.Keys(floods))
		workers(2*len(names), func(i int) {
			name, deaf := names[i/2], []string{"", "DEAF\n"}[i%2]
			p := start(t, deaf+"FLOOD 0 "+floods[name])
			w := newWitness()
			w.sizesOnly = true
			w.hold = make(chan struct{})
			c := rpc.NewConn(p.Transport(), w, rpc.Options{})
			eventually(t, "it begins", func() bool { return c.Stats().Received > 1000 })
			closed(t, name, c, p)
		})
	})
}
