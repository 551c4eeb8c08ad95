package httpstream

import (
	"fmt"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
)

// A few streams keep many sent events for returning clients. Many streams keep few
// events each. A connection that ends keeps none.
func TestEventsKeptForReturningClientsAreBoundedTogether(t *testing.T) {
	t.Parallel()
	s := new(Server)
	var conns []*serverConn
	msg := make([]byte, 1000)
	for i := range 300 {
		c := newServerConn(s, fmt.Sprint(i), "")
		conns = append(conns, c)
		c.mu.Lock()
		m := c.streams[""]
		for range 400 {
			m.push(event{msg: msg})
			m.advance(1)
		}
		if kept := m.kept; i == 0 && kept < keepBytes*9/10 || i == 299 && kept > 40<<10 || m.sent() != 400 || c.queued != 0 {
			t.Errorf("stream %d keeps %d bytes, %d are queued", i, kept, c.queued)
		}
		if !m.seek(399) || m.seek(1) {
			t.Errorf("stream %d can go on where it should not, or the reverse", i)
		}
		m.advance(1)
		c.mu.Unlock()
	}
	if all := s.kept.Load(); all < keepAll || all > 48<<20 {
		t.Errorf("all keep %d bytes", all)
	}
	for _, c := range conns {
		c.Close()
		c.abort(ErrAbandoned)
	}
	for end := time.Now().Add(patience.Soon); s.kept.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes are still counted", s.kept.Load())
		}
	}
}
