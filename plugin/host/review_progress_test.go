package host

import (
	"fmt"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// A decision about many files says how far it is. Here an editor takes its time with the
// first one.
func TestADecisionThatTakesLongSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	names := []string{"a", "b", "c"}
	script := ""
	for _, name := range names {
		d.write(name, "old\n")
		script += "EDIT " + d.path(name) + ` new` + `\n` + "\n"
	}
	d.open()
	d.prompt(script)
	d.settle()
	d.is("pending", d.pending(), []string{"a old>new", "b old>new", "c old>new"})
	for i, c := range []struct {
		do   string
		more args
		now  string // what the file is then
	}{
		{"reject", args{}, "old\n"},
		{"undo", args{}, "new\n"},
		{"restore", args{"checkpoint": "1"}, "old\n"},
	} {
		d.tell("hold", args{"path": d.path("a"), "text": d.disk("a"), "tick": i})
		d.is("held", d.review("hunks", args{"path": d.path("a")})["hunks"] != nil, true)
		id, started, before := fmt.Sprint("slow", i), len(d.seen(reviews.KindApply)), len(d.seen(wire.KindNotice))
		d.send("review."+c.do, id, c.more)
		d.until("change of the buffer", func() bool { return len(d.of(reviews.KindApply)) == started+1 })
		time.Sleep(reviews.ProgressPeriod)
		d.is("notices before the first file is done", len(d.seen(wire.KindNotice)), before)
		d.write("a", c.now)
		d.tell("applied", args{"id": d.seen(reviews.KindApply)[started]["id"], "path": d.path("a"), "ok": true, "tick": i})
		d.until("answer", func() bool { return d.done[id] != nil })
		notices := d.seen(wire.KindNotice)[before:]
		if len(notices) == 0 {
			t.Fatalf("%s: no notice", c.do)
		}
		for n, notice := range notices { // a second one on a machine that is slow with the next file
			d.is(c.do, notice["message"], fmt.Sprintf("%d of %d files done in %s", n+1, len(names), d.root))
		}
		d.is("answer", d.done[id]["error"], nil)
		for _, name := range names {
			d.is(name, d.disk(name), c.now)
		}
	}
}

// A file that the user was changing is decided once more, and then belongs to the same
// decision.
func TestAFileThatIsDecidedOnceMoreIsOfTheSameDecision(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	for _, name := range []string{"a", "b"} {
		d.write(name, "old\n")
	}
	d.open()
	d.prompt("EDIT " + d.path("a") + ` new\n` + "\nEDIT " + d.path("b") + ` new\n`)
	d.settle()
	d.is("pending", d.pending(), []string{"a old>new", "b old>new"})
	d.tell("hold", args{"path": d.path("a"), "text": "new\n", "tick": 1})
	d.is("held", d.review("hunks", args{"path": d.path("a")})["hunks"] != nil, true)
	answer := func(nth int, text string, how args) {
		d.until("change of the buffer", func() bool { return len(d.of(reviews.KindApply)) == nth })
		if text != "" {
			d.write("a", text)
		}
		how["id"], how["path"], how["tick"] = d.seen(reviews.KindApply)[nth-1]["id"], d.path("a"), nth
		d.tell("applied", how)
	}
	d.send("review.reject", "reject", args{})
	answer(1, "", args{"stale": true})
	answer(2, "old\n", args{"ok": true})
	d.until("rejected", func() bool { return d.done["reject"] != nil })
	d.is("b", d.disk("b"), "old\n")
	d.send("review.undo", "undo", args{})
	answer(3, "new\n", args{"ok": true})
	d.until("undone", func() bool { return d.done["undo"] != nil })
	d.is("files", len(d.done["undo"]["result"].(map[string]any)["files"].([]any)), 2)
	d.is("a and b", d.disk("a")+d.disk("b"), "new\nnew\n")
}
