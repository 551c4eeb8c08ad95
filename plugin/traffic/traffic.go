// Package traffic shows Neovim the messages of agents themselves: every one while somebody listens,
// those that cannot be read, and what an agent says besides.
package traffic

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// The kinds of messages on the wire, in the event.
const (
	trafficRequest      = "request"
	trafficNotification = "notification"
	trafficResponse     = "response"
	trafficOther        = "other"
)

// Listening says whether Neovim gets every message of the agents.
type Listening struct {
	On  atomic.Bool // somebody listens to TrafficMessage
	Raw atomic.Bool // with its secrets

	wires atomic.Int64 // connections made so far
}

// Tap shows the messages of one connection.
type Tap struct {
	Listening *Listening
	Editor    *say.Editor
	Agent     string
	Context   context.Context // ends with the connection

	wire atomic.Int64 // number of the connection as it is now, among all
	mu   sync.Mutex
	seen int64 // messages
}

// Connected gives the connection the next number.
func (t *Tap) Connected() { t.wire.Store(t.Listening.wires.Add(1)) }

// Message shows a message while somebody listens to the traffic. Secrets are
// hidden as in recordings, unless the user wants them.
func (t *Tap) Message(d rpc.Direction, msg []byte) {
	if !t.Listening.On.Load() || t.Editor.Room(t.Context) != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.seen++
		return
	}
	now := time.Now()
	redacted := false
	if !t.Listening.Raw.Load() {
		msg, redacted = trace.Redact(msg) // the whole of it: what is cut off is no longer JSON
	}
	shown := msg[:min(len(msg), wire.MaxCost)]
	o := new(wire.Object).Str("agent", t.Agent).Num("connection", t.wire.Load()).Str("direction", d.String()).
		Str("time", now.UTC().Format(time.RFC3339Nano)).Str("message", string(shown))
	if redacted {
		o.Flag("redacted", true)
	}
	o.LeftOut(wire.Lost{Bytes: len(msg) - len(shown)})
	addEnvelope(o, msg)
	// The numbers have no gaps and are in the order of the events.
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen++
	t.Editor.Push(o.Num("seq", t.seen).Item(events.TrafficMessage))
}

// addEnvelope adds what a message says of itself.
func addEnvelope(o *wire.Object, msg []byte) {
	e, err := envelope.Parse(msg)
	kind := trafficOther
	switch {
	case err != nil:
	case e.Method != nil && e.ID != nil && string(e.ID) != "null":
		kind = trafficRequest
	case e.Method != nil:
		kind = trafficNotification
	case e.IsAnswer():
		kind = trafficResponse
	}
	o.Str("kind", kind)
	if e.Method != nil {
		o.Str("method", string(e.Method))
	}
	if e.ID != nil {
		o.Str("id", string(e.ID))
	}
	if e.SessionID != nil {
		o.Str("sessionId", string(e.SessionID))
	}
	if e.Error != nil {
		o.Flag("failed", true)
	}
}
