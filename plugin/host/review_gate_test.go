package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// gated is a desk whose review is open, and the socket of it.
func gated(t *testing.T) (d *desk, asks func(context.Context, feed.Report) error) {
	t.Helper()
	d = newDesk(t, true)
	d.write("f", "a\n")
	if root := d.review("open", args{"root": d.root})["root"]; root != d.root {
		t.Fatalf("the review of %v is open", root)
	}
	return d, func(ctx context.Context, r feed.Report) error {
		t.Helper()
		c, err := feed.Dial(ctx, feed.Path(store.Dir(d.state, d.root)))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		r.Phase, r.Agent, r.Author = feed.Ask, "claude", review.Author{Session: "run", Source: "shim"}
		return c.Tell(ctx, r)
	}
}

func (d *desk) answers(f func(asks map[string]any) any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.respond = f
}

func option(id string) any {
	return args{"by": "default", "result": args{"outcome": args{"outcome": "selected", "optionId": id}}}
}

func TestOnlyTheUsersYesLetsAGatedChangeThrough(t *testing.T) {
	t.Parallel()
	d, asks := gated(t)
	absent := &feed.Version{Absent: true}
	for _, c := range []struct {
		name   string
		report feed.Report
		answer any
		title  string
		denied string // why, empty if it is allowed
	}{
		{"yes", feed.Report{Kind: feed.Write, Path: d.path("f")}, option(ask.OptionAllow), "Change f", ""},
		{"yes to a new file", feed.Report{Kind: feed.Write, Path: d.path("sub/g"), Before: absent}, option(ask.OptionAllow), "Create sub/g", ""},
		{"no", feed.Report{Kind: feed.Write, Path: d.path("f")}, option(ask.OptionReject), "Change f", "the user did not allow the change"},
		{"no to a removal", feed.Report{Kind: feed.Remove, Path: d.path("f")}, option(ask.OptionReject), "Remove f", "the user did not allow the change"},
		{"no to a rename", feed.Report{Kind: feed.Rename, From: d.path("f"), Path: d.path("g")}, option(ask.OptionReject), "Rename f to g", "the user did not allow the change"},
		{"dismissed", feed.Report{Kind: feed.Write, Path: d.path("f")}, args{"by": "default", "result": args{"outcome": args{"outcome": "cancelled"}}}, "Change f", "gave no answer"},
		{"left to the host", feed.Report{Kind: feed.Write, Path: d.path("f")}, args{"default": true}, "Change f", "gave no answer"},
		{"an option that was not offered", feed.Report{Kind: feed.Write, Path: d.path("f")}, option("allow_all"), "Change f", "there is no option"},
		{"an error", feed.Report{Kind: feed.Write, Path: d.path("f")}, args{"error": args{"code": 1, "message": "no"}}, "Change f", "gave no answer"},
	} {
		var asked map[string]any
		d.answers(func(asks map[string]any) any { asked = asks; return c.answer })
		err := asks(t.Context(), c.report)
		if (err == nil) != (c.denied == "") || err != nil && !strings.Contains(err.Error(), c.denied) {
			t.Errorf("%s: %v, want %q", c.name, err, c.denied)
		}
		data, _ := asked["data"].(map[string]any)
		call, _ := data["toolCall"].(map[string]any)
		d.is(c.name, []any{asked["name"], data["agent"], data["sessionId"], call["title"]}, []any{"PermissionRequest", "claude", "run", c.title})
	}
	d.until("outcomes", func() bool { return len(d.of(events.PermissionResolved)) == 9 })
	for i, outcome := range d.of(events.PermissionResolved) { // like the events of any session
		d.is("counted", []any{outcome["seq"], outcome["replay"], outcome["agent"], outcome["sessionId"]}, []any{float64(i + 1), false, "claude", "run"})
	}
}

func TestAGatedChangeIsTakenBackWithItsProgram(t *testing.T) {
	t.Parallel()
	d, asks := gated(t)
	ctx, cancel := context.WithCancel(t.Context())
	d.answers(func(map[string]any) any { cancel(); return nil })
	if err := asks(ctx, feed.Report{Kind: feed.Write, Path: d.path("f")}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	d.until("withdrawal", func() bool { return len(d.of(wire.KindWithdraw)) == 1 })
}

func TestRulesAnswerForTheUserAtAGate(t *testing.T) {
	t.Parallel()
	d, asks := gated(t)
	var offered []any
	d.answers(func(asks map[string]any) any {
		offered, _ = asks["data"].(map[string]any)["rules"].([]any)
		return option(ask.OptionReject)
	})
	change := func(name string) error {
		return asks(t.Context(), feed.Report{Kind: feed.Write, Path: filepath.Join(d.root, name)})
	}
	if err := change("src/f"); err == nil {
		t.Error("it was allowed")
	}
	if !slices.ContainsFunc(offered, func(rule any) bool { return rule.(map[string]any)["path"] == d.path("src/f") }) {
		t.Errorf("the offers are %v", offered)
	}
	d.must("rules", args{"add": args{"action": "allow", "kind": "edit", "path": d.path("src/**"), "scope": "session", "session": "run"}})
	d.must("rules", args{"add": args{"action": "deny", "path": d.path("src/never"), "scope": "always"}})
	d.answers(func(asks map[string]any) any {
		return args{"error": args{"code": 1, "message": fmt.Sprint("asked: ", asks)}}
	})
	if err := change("src/f"); err != nil {
		t.Error(err)
	}
	if err := change("src/never"); err == nil || err.Error() != reviews.ErrRuleDenied.Error() {
		t.Error(err)
	}
}

// The editor offers a yes only to what it has whole, and shows all of a name before it does.
func TestAGatedChangeIsNeverAskedWithHalfAName(t *testing.T) {
	t.Parallel()
	d, asks := gated(t)
	for _, c := range []struct {
		length int
		denied string
	}{{30000, ""}, {1 << 20, "bytes, and 32768 are allowed"}, {10 << 20, "bytes, and 32768 are allowed"}} {
		path := d.path(strings.Repeat("n/", c.length/2) + "f")
		var data map[string]any
		d.answers(func(asks map[string]any) any {
			data, _ = asks["data"].(map[string]any)
			return option(ask.OptionAllow)
		})
		err := asks(t.Context(), feed.Report{Kind: feed.Write, Path: path})
		if (err == nil) != (c.denied == "") || err != nil && !strings.Contains(err.Error(), c.denied) {
			t.Errorf("%d bytes: %v, want %q", c.length, err, c.denied)
		}
		if c.denied != "" {
			d.is("asked", data, map[string]any(nil))
			continue
		}
		call, _ := data["toolCall"].(map[string]any)
		d.is("named", []any{data["truncated"], call["locations"]}, []any{nil, []any{map[string]any{"path": path}}})
	}
}
