package host

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Changes that a shim could not see are counted, and reported once for each
// reason.
func TestWhatWasNotSeenIsSaidOnceAndCounted(t *testing.T) {
	t.Parallel()
	d, _ := gated(t)
	c, err := feed.Dial(t.Context(), feed.Path(store.Dir(d.state, d.root)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	seq := uint64(0)
	for _, reason := range []string{"no space left", "no space left", "a door"} {
		seq++
		if err := c.Tell(t.Context(), feed.Report{Kind: feed.Unseen, Reason: reason, Agent: "claude", Author: review.Author{Session: "run", Source: "shim"}, Producer: "shim x", Seq: seq}); err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	notices := func(list []map[string]any) (said []string) {
		for _, n := range list {
			if text := fmt.Sprint(n["message"]); strings.HasPrefix(text, "not all changes") {
				said = append(said, text)
			}
		}
		return said
	}
	d.until("what was not seen", func() bool { return len(d.of(events.ChangesUnseen)) == 3 && len(notices(d.of(wire.KindNotice))) == 2 })
	for _, e := range d.seen(events.ChangesUnseen) {
		said = append(said, fmt.Sprint(e["agent"], " ", e["sessionId"], " ", e["root"] == d.root, " ", e["reason"], " ", e["count"]))
	}
	d.is("events", said, []string{"claude run true no space left 1", "claude run true no space left 2", "claude run true a door 3"})
	d.is("notices", notices(d.seen(wire.KindNotice)), []string{"not all changes of claude are recorded: no space left", "not all changes of claude are recorded: a door"})
	d.is("pending", d.pending(), nil)

	// The next day it is still known, and not reported again.
	c.Close()
	d.stop()
	d.start(true)
	d.open()
	d.settle()
	said = nil
	for _, e := range d.seen(events.ChangesUnseen) {
		said = append(said, fmt.Sprint(e["agent"], " ", e["sessionId"], " ", e["reason"], " ", e["count"]))
	}
	d.is("events of the next day", said, []string{"claude run a door 3"})
	d.is("notices of the next day", notices(d.seen(wire.KindNotice)), nil)
}

// A program whose changes are found by comparing files has no complete record, also if nothing is
// known to be missing.
func TestHowChangesAreFoundIsSaidOfTheWholeRecord(t *testing.T) {
	t.Parallel()
	d, _ := gated(t)
	c, err := feed.Dial(t.Context(), feed.Path(store.Dir(d.state, d.root)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i, r := range []feed.Report{{Reason: "compared files", Whole: true}, {Reason: "a door"}} {
		r.Kind, r.Agent, r.Author, r.Producer, r.Seq = feed.Unseen, "claude", review.Author{Session: "run", Source: "shim"}, "shim x", uint64(i+1)
		if err := c.Tell(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	d.until("both", func() bool { return len(d.of(events.ChangesUnseen)) == 2 })
	for i, session := range []string{"run", "other"} {
		name := fmt.Sprint("f", i)
		d.write(name, "x\n")
		gone, text := feed.Version{Absent: true}, "x\n"
		r := feed.Report{Kind: feed.Write, Path: d.path(name), Agent: "claude", Author: review.Author{Session: session, Source: "shim"}, Before: &gone, After: &feed.Version{Text: &text, Size: 2}}
		if err := c.Tell(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var files []string
	for _, f := range d.review("files", args{})["files"].([]any) {
		f := f.(map[string]any)
		files = append(files, fmt.Sprint(filepath.Base(f["path"].(string)), " ", f["partial"]))
	}
	d.is("files", files, []string{"f0 true", "f1 <nil>"})
	said := func() (list []string) {
		for _, e := range d.seen(events.ChangesUnseen) {
			list = append(list, fmt.Sprint(e["reason"], " ", e["count"], " ", e["limit"]))
		}
		return list
	}
	d.is("events", said(), []string{"compared files 0 compared files", "a door 1 compared files"})
	c.Close()
	d.stop()
	d.start(true)
	d.open()
	d.settle()
	d.is("events of the next day", said(), []string{"a door 1 compared files"})
}
