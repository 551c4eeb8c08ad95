package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// script is a model that says one reply after the other, the last one for ever.
type script struct {
	t       *testing.T
	replies []reply
	asked   int
}

type reply struct {
	model.Reply
	err error
}

func (s *script) Complete(ctx context.Context, r model.Request, on func(model.Delta)) (model.Reply, error) {
	checkHistory(s.t, r.Messages)
	answer := s.replies[min(s.asked, len(s.replies)-1)]
	s.asked++
	on(model.Delta{Text: answer.Message.Text, Reasoning: answer.Message.Reasoning})
	answer.Message.Role = model.Assistant
	return answer.Reply, answer.err
}

// checkHistory fails unless each call has exactly one result, right behind it and in order.
func checkHistory(t *testing.T, history []model.Message) {
	t.Helper()
	var open []string
	seen := map[string]bool{}
	for i, m := range history {
		if m.Role == model.Tool {
			if len(open) == 0 || open[0] != m.CallID {
				t.Errorf("message %d answers %q, but %v is open", i, m.CallID, open)
				return
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Errorf("message %d comes before the results of %v", i, open)
		}
		for _, c := range m.Calls {
			if seen[c.ID] || c.ID == "" || c.Name == "" {
				t.Errorf("call %+v", c)
			}
			seen[c.ID] = true
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Errorf("no result of %v", open)
	}
}

func say(text string) reply {
	return reply{Reply: model.Reply{Message: model.Message{Text: text}}}
}

func calls(pairs ...string) reply {
	var r reply
	for i := 0; i < len(pairs); i += 2 {
		r.Message.Calls = append(r.Message.Calls, model.Call{ID: "same", Name: pairs[i], Arguments: pairs[i+1]})
	}
	return r
}

// testTools are tools without effects.
func testTools(t *testing.T, cancel func()) *tool.Set {
	make := func(name string, run func(context.Context, *tool.Call) (string, error)) *tool.Tool {
		return &tool.Tool{
			Name: name, Toolset: "test", Kind: acp.ToolKindOther, Run: run,
			Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`),
		}
	}
	set, err := tool.NewSet([]*tool.Tool{
		make("echo", func(_ context.Context, c *tool.Call) (string, error) { return string(c.Arguments), nil }),
		make("fail", func(context.Context, *tool.Call) (string, error) { return "", errors.New("no luck") }),
		make("panic", func(context.Context, *tool.Call) (string, error) { panic("oh") }),
		make("long", func(context.Context, *tool.Call) (string, error) {
			return "begin" + strings.Repeat("ä", 100_000) + "end", nil
		}),
		make("cancel", func(ctx context.Context, _ *tool.Call) (string, error) { cancel(); return "", context.Cause(ctx) }),
	}, nil, "test")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestWhateverHappensTheHistoryIsValidAndTheTurnEnds(t *testing.T) {
	t.Parallel()
	length := func(r reply) reply { r.Stop = model.StopLength; return r }
	failed := func(r reply) reply { r.err = errors.New("cut off"); return r }
	storm := make([]string, 0, 2000)
	for range 1000 {
		storm = append(storm, "echo", "{}")
	}
	for _, test := range []struct {
		name    string
		replies []reply
		reason  acp.StopReason
		err     string
		history string // what the turn adds
	}{
		{"an answer", []reply{say("hi")}, acp.StopReasonEndTurn, "", "a:hi"},
		{"calls run in order", []reply{calls("echo", `{"n":1}`, "echo", `{"n":2}`), say("done")}, acp.StopReasonEndTurn, "",
			`a:+2 t:{"n":1} t:{"n":2} a:done`},
		{"no arguments", []reply{calls("echo", ""), say("done")}, acp.StopReasonEndTurn, "", `a:+1 t:{} a:done`},
		{"a failure", []reply{calls("fail", "{}"), say("done")}, acp.StopReasonEndTurn, "", "a:+1 f:no luck a:done"},
		{"a panic", []reply{calls("panic", "{}"), say("done")}, acp.StopReasonEndTurn, "", "a:+1 f:the tool panic has a fault: oh a:done"},
		{"an unknown tool", []reply{calls("ls", "{}"), say("done")}, acp.StopReasonEndTurn, "",
			`a:+1 f:there is no tool "ls"; the tools are echo, fail, panic, long, cancel a:done`},
		{"a call without a name", []reply{calls("", "{}"), say("done")}, acp.StopReasonEndTurn, "",
			`a:+1 f:there is no tool "unknown"; the tools are echo, fail, panic, long, cancel a:done`},
		{"half a call", []reply{length(calls("echo", `{"n":`)), say("done")}, acp.StopReasonEndTurn, "",
			`a:+1 f:the arguments are not valid JSON (unexpected EOF), perhaps because the answer was cut off: "{\"n\":" a:done`},
		{"arguments that are a list", []reply{calls("echo", `[1]`), say("done")}, acp.StopReasonEndTurn, "",
			`a:+1 f:the arguments do not fit the schema of the tool: expected object, but got array a:done`},
		{"a wrong type", []reply{calls("echo", `{"n":"1"}`), say("done")}, acp.StopReasonEndTurn, "",
			`a:+1 f:the arguments do not fit the schema of the tool: n: expected integer, but got string a:done`},
		{"an unknown member", []reply{calls("echo", `{"m":1}`), say("done")}, acp.StopReasonEndTurn, "",
			`a:+1 f:the arguments do not fit the schema of the tool: additionalProperties 'm' not allowed a:done`},
		{"one empty answer", []reply{{}, say("hi")}, acp.StopReasonEndTurn, "", "a:hi"},
		{"empty answers", []reply{{}}, "", "empty answer", ""},
		{"only reasoning", []reply{{Reply: model.Reply{Message: model.Message{Reasoning: "hm"}}}}, "", "empty answer", ""},
		{"no room", []reply{length(say("hi"))}, acp.StopReasonMaxTokens, "", "a:hi"},
		{"no room at all", []reply{length(reply{})}, acp.StopReasonMaxTokens, "", ""},
		{"a failed request", []reply{failed(say(""))}, "", "cut off", ""},
		{"a failed request that had begun", []reply{failed(say("hi"))}, "", "cut off", "a:hi"},
		{"calls for ever", []reply{calls("echo", "{}")}, acp.StopReasonMaxTurnRequests, "", strings.TrimSpace(strings.Repeat("a:+1 t:{} ", DefaultRequests))},
		{"the same failure for ever", []reply{calls("fail", "{}")}, "", "fails again and again: no luck", strings.TrimSpace(strings.Repeat("a:+1 f:no luck ", mostAgain))},
		{"a failure between others", []reply{calls("fail", "{}"), calls("echo", "{}"), calls("fail", "{}"), calls("fail", "{}"), calls("fail", "{}"), calls("fail", "{}"), say("done")}, acp.StopReasonEndTurn, "",
			"a:+1 f:no luck a:+1 t:{} " + strings.Repeat("a:+1 f:no luck ", 4) + "a:done"},
		{"half a call for ever", []reply{length(calls("echo", `{"n":`))}, acp.StopReasonMaxTokens, "",
			strings.TrimSpace(strings.Repeat(`a:+1 f:the arguments are not valid JSON (unexpected EOF), perhaps because the answer was cut off: "{\"n\":" `, mostAgain))},
		{"too many calls", []reply{calls(storm...), say("done")}, acp.StopReasonEndTurn, "",
			"a:+1000" + strings.Repeat(" t:{}", DefaultCalls) + strings.Repeat(" f:not run: one answer can have 32 calls", 1000-DefaultCalls) + " a:done"},
		{"cancelled in a tool", []reply{calls("cancel", "{}", "echo", "{}")}, acp.StopReasonCancelled, "",
			"a:+2 f:context canceled f:not run: the user cancelled the turn"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			history := []model.Message{{Role: model.System, Text: "sys"}, {Role: model.User, Text: "do it"}}
			status := map[acp.ToolCallID]acp.ToolCallStatus{}
			l := &Loop{
				Model: &script{t: t, replies: test.replies}, Tools: testTools(t, cancel), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
				Env: &tool.Env{Show: func(u acp.SessionUpdate) {
					switch u := u.(type) {
					case *acp.ToolCall:
						status[u.ToolCallID] = u.Status.V
					case *acp.ToolCallUpdate:
						status[u.ToolCallID] = u.Status.V
					}
				}},
			}
			reason, err := l.Turn(ctx, history, func(m model.Message) { history = append(history, m) })
			if reason != test.reason || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q, %v; want %q, %q", reason, err, test.reason, test.err)
			}
			checkHistory(t, history)
			if got := summary(history[2:]); got != test.history {
				t.Errorf("history\n%s\nwant\n%s", got, test.history)
			}
			for id, s := range status {
				if s != acp.ToolCallStatusCompleted && s != acp.ToolCallStatusFailed {
					t.Errorf("the call %s stays %s", id, s)
				}
			}
		})
	}
}

// An endpoint that calls the conversation too long is asked again with a shorter one, until
// nothing can be left out any more.
func TestAConversationThatIsTooLongIsShortened(t *testing.T) {
	t.Parallel()
	full := reply{err: fmt.Errorf("model: %w", &model.OverflowError{Err: errors.New("too long"), Window: 8192})}
	for _, test := range []struct {
		replies []reply
		err     string
		left    int // messages
	}{
		{[]reply{full, say("done")}, "", 3},
		{[]reply{full, full, say("done")}, "", 2},
		{[]reply{full}, "too long", 0},
	} {
		history := []model.Message{{Role: model.User, Text: "one"}, {Role: model.Assistant, Text: "two"}, {Role: model.User, Text: "three"}, {Role: model.User, Text: "four"}}
		s := &script{t: t, replies: test.replies}
		var sizes []int
		l := &Loop{Model: s, Tools: testTools(t, nil), Env: &tool.Env{Show: func(acp.SessionUpdate) {}}, Shorten: func(_ context.Context, h []model.Message, full *model.OverflowError) []model.Message {
			if full == nil || len(h) == 1 {
				return h
			}
			sizes = append(sizes, full.Window)
			return h[1:]
		}}
		_, err := l.Turn(t.Context(), history, func(model.Message) {})
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%v, want %q", err, test.err)
		}
		if test.left > 0 && (len(sizes) != 4-test.left || sizes[0] != 8192) {
			t.Errorf("shortened for windows of %v", sizes)
		}
	}
}

func summary(history []model.Message) string {
	var list []string
	for _, m := range history {
		switch {
		case m.Failed:
			list = append(list, "f:"+m.Text)
		case m.Role == model.Tool:
			list = append(list, "t:"+m.Text)
		case len(m.Calls) > 0:
			list = append(list, fmt.Sprintf("a:+%d", len(m.Calls)))
		default:
			list = append(list, "a:"+m.Text)
		}
	}
	return strings.Join(list, " ")
}

func TestResultsAreBoundedAndKeepBothEnds(t *testing.T) {
	t.Parallel()
	var result model.Message
	l := &Loop{
		Model: &script{t: t, replies: []reply{calls("long", "{}"), say("done")}}, Tools: testTools(t, nil),
		Env: &tool.Env{Show: func(acp.SessionUpdate) {}},
	}
	if _, err := l.Turn(t.Context(), nil, func(m model.Message) {
		if m.Role == model.Tool {
			result = m
		}
	}); err != nil {
		t.Fatal(err)
	}
	text := result.Text
	if len(text) > DefaultResult+100 || !strings.HasPrefix(text, "beginä") || !strings.HasSuffix(text, "äend") || !strings.Contains(text, "bytes were left out") || strings.ToValidUTF8(text, "") != text {
		t.Errorf("%d bytes: %.30q", len(text), text)
	}
}

// sideBySide are a tool that reads and returns when enough of its calls run, one that asks, one
// that changes something, and one that waits for the end of the turn.
func sideBySide(t *testing.T, at once) *tool.Set {
	schema := []byte(`{"type":"object"}`)
	set, err := tool.NewSet([]*tool.Tool{
		{Name: "read", Toolset: "test", Schema: schema, Reads: true, Run: func(ctx context.Context, c *tool.Call) (string, error) {
			at.begin("read")
			defer at.end("read")
			select {
			case <-at.enough:
				return string(c.Arguments), nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}},
		{Name: "ask", Toolset: "test", Schema: schema, Reads: true, Asks: true, Run: func(ctx context.Context, c *tool.Call) (string, error) {
			return string(c.Arguments), c.Gate.Use(ctx, c.Shown.AsUpdate(), tool.Foreign{Name: "ask"})
		}},
		{Name: "change", Toolset: "test", Schema: schema, Run: func(_ context.Context, c *tool.Call) (string, error) {
			at.begin("change")
			defer at.end("change")
			return string(c.Arguments), nil
		}},
		{Name: "panic", Toolset: "test", Schema: schema, Reads: true, Run: func(context.Context, *tool.Call) (string, error) { panic("oh") }},
	}, nil, "test")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// once counts what runs at once.
type once struct {
	*sync.Mutex
	running, most map[string]int
	want          int
	enough        chan struct{} // closed when want reads run
	close         func()
	both          *bool // whether something ran beside a change
}

func newOnce(want int) once {
	enough := make(chan struct{})
	return once{&sync.Mutex{}, map[string]int{}, map[string]int{}, want, enough, sync.OnceFunc(func() { close(enough) }), new(bool)}
}

func (o once) begin(what string) {
	o.Lock()
	defer o.Unlock()
	o.running[what]++
	o.most[what] = max(o.most[what], o.running[what])
	if what == "read" && o.running[what] == o.want {
		o.close()
	}
	if o.running["change"] > 0 && o.running["change"]+o.running["read"] > 1 {
		*o.both = true
	}
}

func (o once) end(what string) {
	o.Lock()
	defer o.Unlock()
	o.running[what]--
}

// slowGate answers a question when nothing else can happen.
type slowGate struct {
	tool.Gate
	at once
}

func (g slowGate) Use(context.Context, *acp.ToolCallUpdate, tool.Foreign) error {
	g.at.begin("question")
	defer g.at.end("question")
	for range 100 {
		runtime.Gosched()
	}
	return nil
}

func TestCallsThatOnlyReadRunSideBySide(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		calls reply
		want  int // reads at once
		after string
	}{
		{"neighbours", calls("read", `{"n":1}`, "read", `{"n":2}`, "read", `{"n":3}`), 3, `a:+3 t:{"n":1} t:{"n":2} t:{"n":3} a:done`},
		{"with a change between", calls("read", `{"n":1}`, "read", `{"n":2}`, "change", `{"n":3}`, "read", `{"n":4}`), 2, `a:+4 t:{"n":1} t:{"n":2} t:{"n":3} t:{"n":4} a:done`},
		{"with faults", calls("panic", "{}", "read", `{"n":1}`, "read", `{"n":2}`, "none", "{}"), 2,
			`a:+4 f:the tool panic has a fault: oh t:{"n":1} t:{"n":2} f:there is no tool "none"; the tools are read, ask, change, panic a:done`},
		{"questions", calls("ask", `{"n":1}`, "ask", `{"n":2}`, "ask", `{"n":3}`, "read", `{"n":4}`), 1, `a:+4 t:{"n":1} t:{"n":2} t:{"n":3} t:{"n":4} a:done`},
		{"the most", calls(slices.Repeat([]string{"read", "{}"}, DefaultCalls+1)...), mostAtOnce, "a:+33" + strings.Repeat(" t:{}", DefaultCalls) + " f:not run: one answer can have 32 calls a:done"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx := patience.Context(t, 20*time.Second)
			at := newOnce(test.want)
			var shown []string
			var mu sync.Mutex
			history := []model.Message{{Role: model.User, Text: "do it"}}
			l := &Loop{
				Model: &script{t: t, replies: []reply{test.calls, say("done")}}, Tools: sideBySide(t, at), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
				Env: &tool.Env{Gate: slowGate{at: at}, Show: func(u acp.SessionUpdate) {
					mu.Lock()
					defer mu.Unlock()
					if call, ok := u.(*acp.ToolCall); ok {
						shown = append(shown, string(call.ToolCallID))
					}
				}},
			}
			reason, err := l.Turn(ctx, history, func(m model.Message) { history = append(history, m) })
			if reason != acp.StopReasonEndTurn || err != nil {
				t.Fatal(reason, err)
			}
			checkHistory(t, history)
			if got := summary(history[1:]); got != test.after {
				t.Errorf("history\n%s\nwant\n%s", got, test.after)
			}
			if *at.both || at.most["question"] > 1 || at.most["read"] != test.want || !slices.IsSorted(shown) {
				t.Errorf("at once: %v; beside a change: %v; shown %q", at.most, *at.both, shown)
			}
		})
	}
}

func TestTheEndOfATurnEndsAllItsCalls(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	at := newOnce(5) // of which there are only 3
	began := make(chan struct{}, 9)
	history := []model.Message{{Role: model.User, Text: "do it"}}
	l := &Loop{
		Model: &script{t: t, replies: []reply{calls("read", "{}", "read", "{}", "read", "{}", "change", "{}")}}, Tools: sideBySide(t, at),
		Env: &tool.Env{Show: func(u acp.SessionUpdate) {
			if change, ok := u.(*acp.ToolCallUpdate); ok && change.Status.V == acp.ToolCallStatusInProgress {
				began <- struct{}{}
			}
		}},
	}
	ended := make(chan acp.StopReason, 1)
	go func() {
		reason, _ := l.Turn(ctx, history, func(m model.Message) { history = append(history, m) })
		ended <- reason
	}()
	for range 3 {
		patience.Value(t, "a call that runs", began)
	}
	cancel()
	if reason := patience.Value(t, "the end of the turn", ended); reason != acp.StopReasonCancelled {
		t.Error(reason)
	}
	if got := summary(history[1:]); got != "a:+4 f:context canceled f:context canceled f:context canceled f:not run: the user cancelled the turn" {
		t.Error(got)
	}
}
