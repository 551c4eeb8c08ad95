package compact

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// summarizer is a model that summarizes.
type summarizer struct {
	says  string
	err   error
	asked []model.Request
}

func (s *summarizer) Complete(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	s.asked = append(s.asked, r)
	return model.Reply{Message: model.Message{Role: model.Assistant, Text: s.says}}, s.err
}

const window = 8000

// conversation makes a random history: prompts, answers, and calls with results of all sizes.
func conversation(r *rand.Rand) []model.Message {
	history := []model.Message{{Role: model.System, Text: "system"}}
	text := func(most int) string { return strings.Repeat("word ", 1+r.IntN(most)/5) }
	id := 0
	for turn := range 1 + r.IntN(8) {
		history = append(history, model.Message{Role: model.User, Text: fmt.Sprintf("prompt %d %s", turn, text(400))})
		for range r.IntN(6) {
			m := model.Message{Role: model.Assistant, Reasoning: text(300)}
			var results []model.Message
			for range 1 + r.IntN(4) {
				id++
				m.Calls = append(m.Calls, model.Call{ID: fmt.Sprint(id), Name: "read", Arguments: `{"path":"` + text(100) + `"}`})
				results = append(results, model.Message{Role: model.Tool, CallID: fmt.Sprint(id), Text: text(20_000)})
			}
			history = append(append(history, m), results...)
		}
		if r.IntN(3) > 0 {
			history = append(history, model.Message{Role: model.Assistant, Text: text(2000)})
		}
	}
	return history
}

// check fails unless each call has its result right behind it.
func check(t *testing.T, history []model.Message) {
	t.Helper()
	var open []string
	for i, m := range history {
		if m.Role == model.Tool {
			if len(open) == 0 || open[0] != m.CallID {
				t.Fatalf("message %d answers %q, but %v is open", i, m.CallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Fatalf("message %d comes before the results of %v", i, open)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Fatalf("no results of %v", open)
	}
}

func TestACompactedConversationIsValidAndHasWhatMatters(t *testing.T) {
	t.Parallel()
	compacted := 0
	for seed := range uint64(500) {
		history := conversation(rand.New(rand.NewPCG(seed, 1)))
		old := slices.Clone(history)
		m := &summarizer{says: "files were read"}
		shorter, _, err := Compactor{Model: m, Window: window}.Compact(t.Context(), history)
		if !slices.EqualFunc(history, old, func(a, b model.Message) bool { return a.Text == b.Text && a.CallID == b.CallID }) {
			t.Fatalf("seed %d: the old history has changed", seed)
		}
		if errors.Is(err, ErrShort) {
			if tokens := Tokens(history); tokens > window {
				t.Errorf("seed %d: %d tokens are left as they are", seed, tokens)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		compacted++
		check(t, shorter)
		if tokens := Tokens(shorter); tokens > window*3/4 || tokens >= Tokens(history) {
			t.Errorf("seed %d: %d tokens became %d", seed, Tokens(history), tokens)
		}
		if shorter[0].Text != "system" || shorter[len(shorter)-1].Role != history[len(history)-1].Role || !isSummary(shorter[1]) || !strings.Contains(shorter[1].Text, "files were read") {
			t.Errorf("seed %d: the history is now\n%+v", seed, shorter)
		}
		all := ""
		for _, m := range shorter {
			all += m.Text
		}
		for _, m := range history {
			if m.Role == model.User && !strings.Contains(all, m.Text[:9]) {
				t.Errorf("seed %d: %q is lost", seed, m.Text[:9])
			}
		}
		if asked := Tokens(m.asked[0].Messages); len(m.asked) != 1 || len(m.asked[0].Tools) > 0 || asked > window*2/3 {
			t.Errorf("seed %d: %d requests, the first with %d tokens", seed, len(m.asked), asked)
		}
		// The user's messages survive the next time, too.
		again, _, err := Compactor{Model: m, Window: window}.Compact(t.Context(), append(shorter, conversation(rand.New(rand.NewPCG(seed, 2)))[1:]...))
		if err == nil {
			check(t, again)
			if !strings.Contains(again[1].Text, "prompt 0") || strings.Count(again[1].Text, intro) != 1 {
				t.Errorf("seed %d: compacted twice it says\n%s", seed, again[1].Text)
			}
		}
	}
	if compacted < 100 {
		t.Errorf("only %d conversations were compacted", compacted)
	}
}

func TestAFailedSummaryKeepsTheConversation(t *testing.T) {
	t.Parallel()
	history := []model.Message{{Role: model.System, Text: "system"}, {Role: model.User, Text: strings.Repeat("long ", 5000)}, {Role: model.Assistant, Text: "well"}, {Role: model.User, Text: "and?"}}
	broken := errors.New("no connection")
	for want, m := range map[error]*summarizer{broken: {err: broken}, errEmpty: {says: " \n"}} {
		if got, _, err := (Compactor{Model: m, Window: window}).Compact(t.Context(), history); !errors.Is(err, want) || got != nil {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	for _, short := range [][]model.Message{nil, history[:1], {history[0], history[3]}} {
		m := &summarizer{says: "x"}
		if _, _, err := (Compactor{Model: m, Window: window}).Compact(t.Context(), short); !errors.Is(err, ErrShort) || len(m.asked) > 0 {
			t.Errorf("%v, %d requests", err, len(m.asked))
		}
	}
}

func TestACheapModelWritesTheSummaryIfItCan(t *testing.T) {
	t.Parallel()
	history := conversation(rand.New(rand.NewPCG(1, 1)))
	for _, test := range []struct {
		says string
		err  error
		want string // the models that are asked
	}{{"short", nil, "[cheap]"}, {"", nil, "[cheap dear]"}, {"", errors.New("away"), "[cheap dear]"}} {
		s := &summarizer{says: test.says, err: test.err}
		_, _, err := Compactor{Model: s, Name: "dear", Cheap: "cheap", Window: window}.Compact(t.Context(), history)
		var asked []string
		for _, r := range s.asked {
			asked = append(asked, r.Model)
		}
		if fmt.Sprint(asked) != test.want || (err == nil) != (test.says != "") {
			t.Errorf("%v, %v", asked, err)
		}
	}
}

// narrow refuses what is longer than its window, also what the summary is made from.
type narrow struct {
	summarizer
	window int
	named  bool
}

func (n *narrow) Complete(ctx context.Context, r model.Request, on func(model.Delta)) (model.Reply, error) {
	if reply, err := n.summarizer.Complete(ctx, r, on); Tokens(r.Messages) <= n.window {
		return reply, err
	}
	full := &model.OverflowError{Err: errors.New("too long")}
	if n.named {
		full.Window = n.window
	}
	return model.Reply{}, full
}

func TestTheUsersWishIsDoneInAWindowThatIsSmallerThanKnown(t *testing.T) {
	t.Parallel()
	var history []model.Message
	for i := range 40 {
		history = append(history, model.Message{Role: model.User, Text: fmt.Sprint("prompt ", i, strings.Repeat(" word", 300))},
			model.Message{Role: model.Assistant, Text: strings.Repeat("well ", 300)})
	}
	for _, named := range []bool{true, false} {
		m := &narrow{summarizer: summarizer{says: "much"}, window: 3000, named: named}
		known := 1_000_000
		k := Keeper{
			Window: func() int { return known }, Learn: func(size int) { known = size },
			Compact: func(ctx context.Context, h []model.Message, size int) ([]model.Message, error) {
				shorter, _, err := Compactor{Model: m, Window: size}.Compact(ctx, h)
				return shorter, err
			},
		}
		shorter, err := k.Shorten(t.Context(), history)
		if err != nil || Tokens(shorter) > m.window || len(m.asked) < 2 || named != (known == m.window) {
			t.Errorf("named %v: %d tokens after %d requests, the window has %d, %v", named, Tokens(shorter), len(m.asked), known, err)
		}
		check(t, shorter)
	}
	// Nothing is asked for a conversation without a part that can go.
	m := new(summarizer)
	k := Keeper{Window: func() int { return 1_000_000 }, Compact: func(ctx context.Context, h []model.Message, size int) ([]model.Message, error) {
		_, _, err := Compactor{Model: m, Window: size}.Compact(ctx, h)
		return nil, err
	}}
	if _, err := k.Shorten(t.Context(), history[:2]); !errors.Is(err, ErrShort) || len(m.asked) > 0 {
		t.Errorf("%v, %d requests", err, len(m.asked))
	}
}
