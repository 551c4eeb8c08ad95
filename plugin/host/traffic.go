package host

import (
	"time"

	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// What a message on the wire is, in the event.
const (
	trafficRequest      = "request"
	trafficNotification = "notification"
	trafficResponse     = "response"
	trafficOther        = "other"
)

// tap shows every message while somebody listens to the traffic. Secrets are
// hidden as in recordings, unless the user wants them.
func (c *connection) tap(d rpc.Direction, msg []byte) {
	if !c.host.traffic.Load() || c.host.Room(c.ctx) != nil {
		c.tapping.Lock()
		defer c.tapping.Unlock()
		c.tapped++
		return
	}
	now := time.Now()
	redacted := false
	if !c.host.rawTraffic.Load() {
		msg, redacted = trace.Redact(msg) // the whole of it: what is cut off is no longer JSON
	}
	shown := msg[:min(len(msg), wire.MaxCost)]
	o := new(wire.Object).Str("agent", c.name).Num("connection", c.wireNumber.Load()).Str("direction", d.String()).
		Str("time", now.UTC().Format(time.RFC3339Nano)).Str("message", string(shown))
	if redacted {
		o.Flag("redacted", true)
	}
	o.LeftOut(wire.Lost{Bytes: len(msg) - len(shown)})
	addEnvelope(o, msg)
	// The numbers have no gaps and are in the order of the events.
	c.tapping.Lock()
	defer c.tapping.Unlock()
	c.tapped++
	c.host.Push(o.Num("seq", c.tapped).Item(events.TrafficMessage))
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
