package host

import (
	"time"

	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// tap shows every message while somebody listens to the traffic.
func (c *connection) tap(d rpc.Direction, msg []byte) {
	seq := c.tapped.Add(1)
	if !c.host.traffic.Load() || c.host.queue.room(c.ctx) != nil {
		return
	}
	shown := msg[:min(len(msg), maxCost)]
	o := new(object).str("agent", c.name).str("direction", d.String()).num("seq", seq).
		str("time", time.Now().UTC().Format(time.RFC3339Nano)).str("message", string(shown))
	o.lost.bytes = len(msg) - len(shown)
	c.host.queue.push(event(eventTrafficMessage, o))
}
