package host

import (
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/plugin/events"
)

// A user who quits in the middle of a turn knows what the agent has changed by then. A user
// who was cut off gets a notice on the next day that something may be missing.
func TestTheEndOfATurnThatNobodySawIsNamedOnTheNextDay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(d *desk)
		want int
	}{
		"the user quits":     {func(d *desk) { d.stop() }, 0},
		"the host is killed": {nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, true)
			if c.end == nil {
				d.stop()
				kill := d.startProcess("host")
				c.end = func(*desk) { kill() }
			}
			d.write("f", "a\n")
			d.open()
			d.send("request", "turn", args{"agent": d.agent, "method": "session/prompt", "params": args{
				"sessionId": d.session, "prompt": []any{args{"type": "text", "text": "TOUCH " + d.path("f") + ` b\n` + "\nWAIT 10m"}}}})
			patience.True(t, "the agent has written", func() bool { return len(d.seen(events.CheckpointCreated)) > 0 && d.disk("f") == "b\n" })
			c.end(d)

			d.start(true)
			d.open()
			d.settle()
			if got := d.seen(events.ChangesUnseen); len(got) != c.want {
				t.Errorf("unseen %v", got)
			}
			if c.want == 0 {
				d.is("pending", d.pending(), []string{"f a>b"})
			}
		})
	}
}
