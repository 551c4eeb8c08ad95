//go:build unix

package hostile

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// F4: lines up to the limit of 160 MiB arrive, longer ones are refused, and
// neither costs more than three times the limit of memory. A line without end
// ends the connection.
func TestGiantLines(t *testing.T) {
	leak.Check(t)
	cases := []struct {
		name, script string
		arrives      bool
		ends         bool
	}{
		{"1 MiB", size(1 * mib), true, false},
		{"16 MiB", size(16 * mib), true, false},
		{"63 MiB", size(63 * mib), true, false},
		{"160 MiB", size(160 * mib), true, false},
		{"161 MiB", size(161 * mib), false, false},
		{"512 MiB", size(512 * mib), false, false},
		{"endless", "ENDLESS", false, true},
	}
	soak.Repeat(t, func(t *testing.T, _ int) {
		for _, test := range cases {
			t.Run(test.name, func(t *testing.T) {
				debug.FreeOSMemory()
				before, peak := mapped(), watchMemory()
				p := start(t, test.script+"\n"+ready+"EOF")
				w := newWitness()
				w.sizesOnly = true
				var refused error
				c := rpc.NewConn(p.Transport(), w, rpc.Options{OnFault: func(f rpc.Fault) {
					if f.Kind == rpc.FaultTooLarge {
						refused = f.Err
					}
				}})
				if test.ends {
					receive(t, "end of the connection", c.Done())
					if !isA[*rpc.TooLargeError](c.Err()) || !strings.Contains(c.Err().Error(), "without end") {
						t.Errorf("ended with %v", c.Err())
					}
				} else {
					receive(t, "message after it", w.ready)
					if test.arrives { // on a line of its own, so maybe later
						eventually(t, "the message arrives", func() bool { return len(w.seen()) == 1 })
					} else if len(w.seen()) > 0 {
						t.Error("arrived")
					}
					if isA[*rpc.TooLargeError](refused) == test.arrives {
						t.Errorf("reported: %v", refused)
					}
				}
				closed(t, test.name, c, p)
				if used := peak() - before; used > peakLimit {
					t.Errorf("took %d MiB at its peak", used/mib)
				} else {
					t.Logf("took %d MiB at its peak", max(used, 0)/mib)
				}
			})
		}
	})
}

func size(n int) string { return fmt.Sprintf("GIANT %d", n) }

// mapped is the memory that Go has from the system, in bytes.
func mapped() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}

// watchMemory samples mapped until the returned function is called, which
// returns the highest.
func watchMemory() func() int64 {
	stop, highest := make(chan struct{}), make(chan int64)
	go func() {
		var top int64
		for tick := time.NewTicker(time.Millisecond); ; {
			top = max(top, mapped())
			select {
			case <-tick.C:
			case <-stop:
				tick.Stop()
				highest <- top
				return
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-highest
	}
}
