package steering_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/steering"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// message is one of a recording.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

// answered are the calls of a method in a recording, each with its answer.
func answered(t *testing.T, file, method string) (list [][2]json.RawMessage) {
	t.Helper()
	rec, err := trace.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]json.RawMessage{}
	for _, r := range rec.Records {
		var m message
		if r.Direction == trace.About {
			continue
		}
		if err := json.Unmarshal(r.Bytes, &m); err != nil {
			t.Fatal(err)
		}
		switch params, ok := open[string(m.ID)]; {
		case r.Direction == trace.ToAgent && m.Method == method:
			open[string(m.ID)] = m.Params
		case r.Direction == trace.ToClient && m.Method == "" && ok:
			list = append(list, [2]json.RawMessage{params, m.Result})
		}
	}
	return list
}

// The recordings are of claude-agent-acp 0.101.0 and codex-acp 2.6.0.
func TestPublishedAgentsSteerAsHere(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude", "codex"} {
		for moment, want := range map[string][]steering.Result{
			"run": {{Outcome: steering.Injected}},
			"ask": {{Outcome: steering.Injected}},
			"idle": {
				{Outcome: steering.PromptRequired, Reason: "noRunningTurn"},
				{Outcome: steering.StartedNewTurn}, // was asked without idleBehavior
			},
		} {
			file := filepath.Join("testdata", agent+"-"+moment+".jsonl")
			for _, init := range answered(t, file, acp.MethodInitialize) {
				var r acp.InitializeResponse
				if err := r.UnmarshalJSON(init[1]); err != nil {
					t.Fatal(err)
				}
				if !steering.Announced(&r) {
					t.Errorf("%s does not announce steering", file)
				}
			}
			var got []steering.Result
			for i, call := range answered(t, file, steering.Method) {
				r, err := steering.Read(call[1], nil)
				if err != nil {
					t.Error(file, err)
				}
				got = append(got, r)
				if i > 0 {
					continue
				}
				var p acp.PromptRequest
				if err := p.UnmarshalJSON(call[0]); err != nil {
					t.Fatal(err)
				}
				if is, was := string((steering.Request{&p}).AppendJSON(nil)), compact(t, call[0]); is != was {
					t.Errorf("%s: the request is %s, was %s", file, is, was)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", file, got, want)
			}
		}
	}
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var p acp.PromptRequest
	if err := p.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return string(p.AppendJSON(nil))
}

func TestOnlyAnAnnouncementCounts(t *testing.T) {
	t.Parallel()
	for meta, want := range map[string]bool{
		`{"steering":{"supported":true}}`:         true,
		`{"steering":{"supported":true,"new":1}}`: true,
		`{"steering":{"supported":false}}`:        false,
		`{"steering":{"supported":"yes"}}`:        false,
		`{"steering":{}}`:                         false,
		`{"steering":true}`:                       false,
		`{}`:                                      false,
		``:                                        false,
	} {
		if got := steering.Announced(&acp.InitializeResponse{Meta: json.RawMessage(meta)}); got != want {
			t.Errorf("%s: %v", meta, got)
		}
	}
}

func TestAnAnswerSaysWhetherTheMessageWasTaken(t *testing.T) {
	t.Parallel()
	broke := errors.New("the connection broke")
	for _, c := range []struct {
		name   string
		result string
		err    error
		want   steering.Result
		taken  bool
		fails  string
	}{
		{name: "injected", result: `{"outcome":"injected"}`, want: steering.Result{Outcome: "injected"}, taken: true},
		{name: "a turn that nobody asked for", result: `{"_meta":{},"outcome":"startedNewTurn"}`, want: steering.Result{Outcome: "startedNewTurn"}, taken: true},
		{name: "no turn", result: `{"outcome":"promptRequired","reason":"noRunningTurn"}`, want: steering.Result{Outcome: "promptRequired", Reason: "noRunningTurn"}},
		{name: "failed", result: `{"outcome":"failed","reason":null}`, want: steering.Result{Outcome: "failed"}},
		{name: "failed for a reason of another type", result: `{"outcome":"failed","reason":{"code":1}}`, want: steering.Result{Outcome: "failed"}},
		{name: "an unknown method", err: acp.Errorf(acp.ErrorCodeMethodNotFound, "no"), want: steering.Result{Outcome: "failed", Reason: "no"}},
		{name: "refused params", err: acp.Errorf(acp.ErrorCodeInvalidParams, "bad"), want: steering.Result{Outcome: "failed", Reason: "bad"}},
		{name: "an error inside the agent", err: acp.Errorf(acp.ErrorCodeInternalError, "oops"), fails: "oops"},
		{name: "a broken connection", err: broke, fails: "broke"},
		{name: "another outcome", result: `{"outcome":"maybe"}`, fails: `outcome "maybe"`},
		{name: "no outcome", result: `{}`, fails: `outcome ""`},
		{name: "null", result: `null`, fails: "not valid"},
		{name: "nothing", fails: "not valid"},
		{name: "an outcome that is no text", result: `{"outcome":1}`, fails: "not valid"},
		{name: "no JSON", result: `{"outcome":"injected"`, fails: "not valid"},
	} {
		got, err := steering.Read([]byte(c.result), c.err)
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: error %v, want one with %q", c.name, err, c.fails)
			}
		case err != nil || got != c.want || got.Taken() != c.taken:
			t.Errorf("%s: %+v, taken %v, %v", c.name, got, got.Taken(), err)
		}
		if c.err == broke && !errors.Is(err, broke) {
			t.Errorf("%s: %v hides its cause", c.name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"outcome":"injected"}`, `{"outcome":"promptRequired","reason":"noRunningTurn"}`, `{"outcome":"failed","reason":{}}`, `{"outcome":"x"}`, `[]`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := steering.Read(text, nil)
		if err != nil {
			if r != (steering.Result{}) {
				t.Errorf("%q: %+v and %v", text, r, err)
			}
			return
		}
		var plain struct {
			Outcome steering.Outcome `json:"outcome"`
		}
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatalf("%q was read: %v", text, err)
		}
		if r.Taken() && !strings.Contains(string(text), "outcome") && !strings.Contains(string(text), `\u`) {
			t.Errorf("%q: taken", text)
		}
	})
}
