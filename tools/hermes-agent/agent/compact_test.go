package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/compact"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// reader is a model that reads a file again and again until it has seen enough of it, and
// summarizes when it has no tools.
type reader struct {
	mu      sync.Mutex
	reads   int // that are left
	summary error
	paid    model.Usage // of a summary
	window  int         // in tokens; 0: none
	silent  bool        // it does not say how large the window is
	largest int         // request in bytes
	refused int         // requests above the window
	faults  []string
}

func (r *reader) Complete(_ context.Context, q model.Request, on func(model.Delta)) (model.Reply, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := model.Message{Role: model.Assistant}
	if full := compact.Tokens(q.Messages) > r.window; full && r.window > 0 {
		r.refused++
		err := &model.OverflowError{Err: errors.New("the prompt is too long"), Window: r.window}
		if r.silent {
			err.Window = 0
		}
		return model.Reply{}, err
	}
	if len(q.Tools) == 0 {
		answer.Text = "much was read"
		return model.Reply{Message: answer, Usage: r.paid}, r.summary
	}
	size, open := 0, ""
	for _, m := range q.Messages {
		size += len(m.Text)
		if (m.Role == model.Tool) != (open != "") || m.CallID != open {
			r.faults = append(r.faults, fmt.Sprintf("%q is open, and then comes %s %q", open, m.Role, m.CallID))
		}
		open = ""
		for _, c := range m.Calls {
			open = c.ID
		}
	}
	for _, c := range q.Messages[len(q.Messages)-1].Calls {
		r.faults = append(r.faults, "no result of "+c.ID)
	}
	r.largest = max(r.largest, size)
	if r.reads == 0 {
		answer.Text = "enough"
		on(model.Delta{Text: answer.Text})
	} else {
		r.reads--
		answer.Calls = []model.Call{{Name: "read", Arguments: fmt.Sprintf(`{"path":"a.txt","limit":%d}`, 1000+r.reads)}}
	}
	return model.Reply{Message: answer, Usage: model.Usage{Input: size / 3, Output: 10}}, nil
}

func TestALongTurnStaysWithinTheContextWindow(t *testing.T) {
	t.Parallel()
	const window = 10_000
	for _, test := range []struct {
		name    string
		summary error
		capable bool
		shown   string
	}{
		{"compacted", nil, true, "compaction: completed much was read"},
		{"not compacted", errors.New("no summary today"), true, "compaction: failedsummarize the conversation: no summary today"},
		{"compacted without showing it", nil, false, "was replaced by a summary"},
		{"not compacted without showing it", errors.New("no summary today"), false, "could not be compacted: summarize the conversation: no summary today"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			r := &reader{reads: 40, summary: test.summary}
			e.model, e.sizes = r, map[string]int{"scripted": window}
			e.can = func(c *acp.ClientCapabilities) {
				if !test.capable {
					c.Session = nil
				} else if c.Session == nil {
					c.Session = &acp.ClientSessionCapabilities{Compaction: &acp.CompactionCapabilities{}}
				}
			}
			e.start()
			e.file("a.txt", strings.Repeat("some words in a line\n", 200))
			id := e.open()
			shown := e.play(id, "read it all", acp.StopReasonEndTurn)
			if !strings.Contains(shown, test.shown) || !strings.HasSuffix(shown, "agent: enough") {
				t.Errorf("shown:\n%s", shown)
			}
			if len(r.faults) > 0 {
				t.Errorf("the history is not valid: %s", r.faults[0])
			}
			if fits := r.largest/3 < window; fits != (test.summary == nil) {
				t.Errorf("the largest request has %d bytes", r.largest)
			}
			if n := strings.Count(shown, test.shown); test.summary != nil && n != 1 {
				t.Errorf("the user is told %d times", n)
			}
		})
	}
}

func TestCompactIsACommandAndSurvivesTheAgent(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	r := &reader{}
	e.model, e.sizes = r, map[string]int{"scripted": 10_000}
	e.start()
	e.file("a.txt", strings.Repeat("some words in a line\n", 200))
	id := e.open()
	if got := e.play(id, "/compact", acp.StopReasonEndTurn); got != "agent: The conversation is short already." {
		t.Errorf("%q", got)
	}
	r.reads = 3
	e.play(id, "read it", acp.StopReasonEndTurn)
	got := e.play(id, "/compact", acp.StopReasonEndTurn)
	if !strings.Contains(got, "replaced by a summary: about") {
		t.Errorf("%q", got)
	}
	e.usage = nil
	r.reads = 1
	e.play(id, "read it again", acp.StopReasonEndTurn)
	if len(r.faults) > 0 || e.usage == nil {
		t.Errorf("%v, usage %v", r.faults, e.usage)
	}
	before := e.play(id, "/context", acp.StopReasonEndTurn)
	e.start()
	e.take()
	if _, err := e.LoadSession(t.Context(), e.agent, &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir}); err != nil {
		t.Fatal(err)
	}
	replayed := e.take()
	if n := strings.Count(replayed, "call Read a.txt"); n != 4 {
		t.Errorf("the user sees %d reads again:\n%s", n, replayed)
	}
	after := e.play(id, "/context", acp.StopReasonEndTurn)
	if !strings.HasPrefix(before, strings.TrimSuffix(after, " of 10000")) {
		t.Errorf("%q before, %q after", before, after)
	}
}

// The endpoint has the last word on its window.
func TestAWindowThatIsConfiguredTooLargeIsNoDeadEnd(t *testing.T) {
	t.Parallel()
	const window = 8_000
	for name, test := range map[string]struct {
		configured, declared int
		silent               bool
	}{
		"configured":                   {configured: 1_000_000},
		"configured, unlike declared":  {configured: 1_000_000, declared: 200_000},
		"declared":                     {declared: 200_000},
		"configured, a silent refusal": {configured: 1_000_000, silent: true},
		"declared, a silent refusal":   {declared: 200_000, silent: true},
		"unknown, a silent refusal":    {silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			r := &reader{window: window, silent: test.silent}
			e.model, e.sizes, e.window = r, map[string]int{"scripted": test.declared}, test.configured
			e.start()
			e.file("a.txt", strings.Repeat("some words in a line\n", 200))
			id := e.open()

			// The user wants room before it is needed.
			r.reads = 4
			e.play(id, "read some of it", acp.StopReasonEndTurn)
			if got := e.play(id, "/compact", acp.StopReasonEndTurn); !strings.Contains(got, "replaced by a summary: about") || r.refused > 0 {
				t.Errorf("%q after %d refusals", got, r.refused)
			}
			for turn := range 3 {
				r.reads = 20
				if shown := e.play(id, "read it all", acp.StopReasonEndTurn); !strings.HasSuffix(shown, "agent: enough") {
					t.Errorf("turn %d:\n%s", turn, shown)
				}
			}
			if r.refused == 0 || !test.silent && r.refused > 1 {
				t.Errorf("%d requests were refused", r.refused)
			}
			if len(r.faults) > 0 {
				t.Errorf("the history is not valid: %s", r.faults[0])
			}
			before := e.play(id, "/context", acp.StopReasonEndTurn)
			if got := e.play(id, "/compact", acp.StopReasonEndTurn); !strings.Contains(got, "replaced by a summary: about") {
				t.Errorf("with %q: %q", before, got)
			}
			if !test.silent && !strings.Contains(before, fmt.Sprint("of ", window)) {
				t.Errorf("%q", before)
			}
		})
	}
}
