package host

import (
	"time"

	"github.com/hermes-nvim/hermes/internal/envelope"
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
	if !c.host.traffic.Load() || c.host.queue.room(c.ctx) != nil {
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
	shown := msg[:min(len(msg), maxCost)]
	o := new(object).str("agent", c.name).num("connection", c.wireNumber.Load()).str("direction", d.String()).
		str("time", now.UTC().Format(time.RFC3339Nano)).str("message", string(shown))
	if redacted {
		o.flag("redacted", true)
	}
	o.lost.bytes = len(msg) - len(shown)
	o.envelope(msg)
	// The numbers have no gaps and are in the order of the events.
	c.tapping.Lock()
	defer c.tapping.Unlock()
	c.tapped++
	c.host.queue.push(event(eventTrafficMessage, o.num("seq", c.tapped)))
}

// envelope adds what a message says of itself.
func (o *object) envelope(msg []byte) *object {
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
	o.str("kind", kind)
	if e.Method != nil {
		o.str("method", string(e.Method))
	}
	if e.ID != nil {
		o.str("id", string(e.ID))
	}
	if e.SessionID != nil {
		o.str("sessionId", string(e.SessionID))
	}
	if e.Error != nil {
		o.flag("failed", true)
	}
	return o
}
