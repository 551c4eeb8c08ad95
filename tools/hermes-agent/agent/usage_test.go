package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// costly is a model of a costly endpoint.
type costly struct{ usage model.Usage }

func (c costly) Complete(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
	return model.Reply{Message: model.Message{Role: model.Assistant, Text: "ok"}, Usage: c.usage}, nil
}

func TestClientsGetWhatIsKnownOfTheUsage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		window int
		usage  model.Usage
		want   string // of the second turn
	}{
		{"everything", 1000, model.Usage{Input: 90, Output: 10, Cached: 60, Cost: 0.25}, `{"used":100,"size":1000,"cost":{"amount":0.5,"currency":"USD"},"_meta":{"hermes.cached":60}}`},
		{"no window", 0, model.Usage{Input: 90, Output: 10, Cached: 60, Cost: 0.25}, `{"used":100,"size":0,"cost":{"amount":0.5,"currency":"USD"},"_meta":{"hermes.cached":60}}`},
		{"tokens only", 0, model.Usage{Input: 90, Output: 10}, `{"used":100,"size":0}`},
		{"nothing", 1000, model.Usage{}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.model, e.sizes = costly{test.usage}, map[string]int{"scripted": test.window}
			e.start()
			id := e.open()
			e.play(id, "one", acp.StopReasonEndTurn)
			e.play(id, "two", acp.StopReasonEndTurn)
			got := ""
			e.mu.Lock()
			if e.usage != nil {
				got = strings.Replace(string(acp.AppendSessionUpdate(nil, e.usage)), `"sessionUpdate":"usage_update",`, "", 1)
			}
			e.mu.Unlock()
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// The cost is the session's, and not that of the program which has it open.
func TestTheCostOfASessionGoesOnWhenItIsOpenedAgain(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.model = costly{model.Usage{Input: 90, Output: 10, Cost: 0.25}}
	e.start()
	id := e.open()
	e.play(id, "one", acp.StopReasonEndTurn)
	e.play(id, "two", acp.StopReasonEndTurn)
	for _, want := range []float64{0.75, 1} {
		e.start()
		if _, err := e.LoadSession(t.Context(), e.agent, &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir}); err != nil {
			t.Fatal(err)
		}
		e.play(id, "again", acp.StopReasonEndTurn)
		e.mu.Lock()
		if u := e.usage; u == nil || u.Cost == nil || u.Cost.Amount != want {
			t.Errorf("%+v, want %v", u, want)
		}
		e.mu.Unlock()
	}
	if got := e.play(id, "/context", acp.StopReasonEndTurn); !strings.HasSuffix(got, "Since the session was opened: 90 tokens in, 10 out, $0.2500") {
		t.Error(got)
	}
}

// A summary is paid for like every answer.
func TestSummariesCountInTheTotal(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	r := &reader{reads: 3, paid: model.Usage{Input: 70_000, Output: 7000, Cached: 700, Cost: 2.5}}
	e.model, e.sizes = r, map[string]int{"scripted": 10_000}
	e.start()
	e.file("a.txt", strings.Repeat("some words in a line\n", 200))
	id := e.open()
	e.play(id, "read it", acp.StopReasonEndTurn)
	if got := e.play(id, "/compact", acp.StopReasonEndTurn); !strings.Contains(got, "replaced by a summary") {
		t.Fatal(got)
	}
	e.mu.Lock()
	if u := e.usage; u == nil || u.Cost == nil || u.Cost.Amount != 2.5 || u.Used > 10_000 {
		t.Errorf("the update is %+v", u)
	}
	e.mu.Unlock()
	got := e.play(id, "/context", acp.StopReasonEndTurn)
	var in, cached, out int
	var dollars float64
	_, total, _ := strings.Cut(got, "opened: ")
	if _, err := fmt.Sscanf(total, "%d tokens in, %d of them cached, %d out, $%g", &in, &cached, &out, &dollars); err != nil || in <= 70_000 || cached != 700 || out <= 7000 || dollars != 2.5 {
		t.Errorf("%q: %v", got, err)
	}
}
