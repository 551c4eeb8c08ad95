package openai

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/test/llm/dialect"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

func serve(t *testing.T, d dialect.Habit) *dialect.Talk {
	t.Helper()
	server, err := d.Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server
}

func TestTheWindowIsAskedForInTheWayOfEachServer(t *testing.T) {
	t.Parallel()
	const list = `{"data":[{"id":"scripted"}]}`
	for _, test := range []struct {
		server string
		paths  map[string]string
		want   int
	}{
		{"vLLM, SGLang", map[string]string{"/v1/models": `{"data":[{"id":"scripted","max_model_len":10}]}`}, 10},
		{"OpenRouter, of the model and of the provider", map[string]string{"/v1/models": `{"data":[{"id":"scripted","context_length":20,"top_provider":{"context_length":15}}]}`}, 15},
		{"Groq", map[string]string{"/v1/models": `{"data":[{"id":"scripted","context_window":30}]}`}, 30},
		{"Mistral", map[string]string{"/v1/models": `{"data":[{"id":"scripted","max_context_length":40}]}`}, 40},
		{"Together, without data", map[string]string{"/v1/models": `[{"id":"scripted","context_length":50}]`}, 50},
		{"llama.cpp", map[string]string{"/v1/models": `{"models":[{"name":"scripted"}],"data":[{"id":"scripted","meta":{"n_ctx":60}}]}`}, 60},
		{"older llama.cpp", map[string]string{"/v1/models": list, "/props": `{"default_generation_settings":{"n_ctx":70}}`}, 70},
		{"LM Studio, loaded with less than there is", map[string]string{"/v1/models": list, "/api/v0/models": `{"data":[{"id":"scripted","max_context_length":1000,"loaded_context_length":80}]}`}, 80},
		{"LiteLLM", map[string]string{"/v1/models": list, "/model/info": `{"data":[{"model_name":"scripted","model_info":{"max_input_tokens":90}}]}`}, 90},
		{"ollama", map[string]string{"/v1/models": list, "/api/show": `{"parameters":"stop \"x\"\nnum_ctx                        100","model_info":{"llama.context_length":131072}}`}, 100},
		{"ollama, with the window that nobody set", map[string]string{"/v1/models": list, "/api/show": `{"parameters":"stop \"x\"","model_info":{"llama.context_length":131072}}`}, 0},
		{"OpenAI", map[string]string{"/v1/models": list}, 0},
	} {
		sizes, err := New(Options{BaseURL: serve(t, dialect.Habit{Paths: test.paths}).URL}).Models(t.Context())
		if size, listed := sizes["scripted"]; err != nil || !listed || size != test.want {
			t.Errorf("%s: %v, %v, want %d", test.server, sizes, err, test.want)
		}
	}
}

func TestWhatIsLearnedIsKeptForAWeek(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "endpoints.json")
	server := serve(t, dialect.Habit{
		Refuses: []dialect.Refusal{{If: "stream_options", Answer: dialect.Answer{Status: 400, Body: `{"error":"stream_options: extra"}`}}},
		Answers: []dialect.Answer{{Body: `{"choices":[{"message":{"content":"one"},"finish_reason":"stop"}]}`}},
	})
	ask := func() int {
		before := len(server.Requests())
		c := New(Options{BaseURL: server.URL, Profiles: OpenProfiles(path)})
		if _, err := c.Complete(t.Context(), model.Request{Model: "m"}, func(model.Delta) {}); err != nil {
			t.Fatal(err)
		}
		return len(server.Requests()) - before
	}
	if first, second := ask(), ask(); first != 2 || second != 1 {
		t.Errorf("%d requests, then %d", first, second)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Format("2006-01-02")
	old := strings.ReplaceAll(string(b), now, time.Now().Add(-8*24*time.Hour).UTC().Format("2006-01-02"))
	if old == string(b) {
		t.Fatalf("no date in %s", b)
	}
	for _, text := range []string{old, "{"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if again := ask(); again != 2 {
			t.Errorf("after %.20q, %d requests", text, again)
		}
	}
}

func TestOpaqueMembersGoBackToTheirModelOnly(t *testing.T) {
	t.Parallel()
	server := serve(t, dialect.Habit{Answers: []dialect.Answer{{Body: `{"choices":[{"message":{"content":"one","reasoning":"hm","blob":"xyz","tool_calls":[{"id":"call00001","seal":"abc","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"stop"}]}`}}})
	c := New(Options{BaseURL: server.URL})
	reply, err := c.Complete(t.Context(), model.Request{Model: "m"}, func(model.Delta) {})
	if err != nil {
		t.Fatal(err)
	}
	for name, mine := range map[string]bool{"m": true, "n": false} {
		if _, err := c.Complete(t.Context(), model.Request{Model: name, Messages: []model.Message{reply.Message, {Role: model.Tool, CallID: "call00001", Text: "ok"}}}, func(model.Delta) {}); err != nil {
			t.Fatal(err)
		}
		all := server.Requests()
		for _, secret := range []string{`"blob":"xyz"`, `"seal":"abc"`, `"reasoning":"hm"`} {
			if sent := strings.Contains(all[len(all)-1], secret); sent != mine {
				t.Errorf("model %s gets %s: %v", name, secret, sent)
			}
		}
	}
}

func TestTagsAreReadHoweverTheTextIsCut(t *testing.T) {
	t.Parallel()
	read := []model.Spec{{Name: "read", Parameters: []byte(`{"type":"object"}`)}}
	for _, text := range []string{
		"<think>\nhm\n</think>\n\nlook:\n<tool_call>\n{\"name\":\"read\",\"arguments\":{}}\n</tool_call>\n",
		"\n<thinking>\nhm\n</thinking>\nlook:\n<tool_call>{\"name\":\"read\",\"arguments\":{}}</tool_call>",
	} {
		for cut := range len(text) {
			tags := newTags(read, false)
			var visible, thought string
			var calls []model.Call
			take := func(v, r string, c []model.Call) { visible, thought, calls = visible+v, thought+r, append(calls, c...) }
			take(tags.feed(text[:cut]))
			take(tags.feed(text[cut:]))
			take(tags.end())
			if got := fmt.Sprintf("%q %q %v", strings.TrimSpace(visible), strings.TrimSpace(thought), calls); got != `"look:" "hm" [{ read {} map[]}]` {
				t.Errorf("cut at %d of %q: %s", cut, text, got)
			}
		}
	}
}

// A text that is not cut into pieces by tags must come out as it went in.
func FuzzTextsWithoutCallsStayAsTheyAre(f *testing.F) {
	f.Add("a <tool_call> b\n```\n<think>\n", 3)
	f.Add("</thin", 2)
	f.Add("  `` <function", 5)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if strings.Contains(text, "think") || strings.Contains(text, "THINK") || strings.Contains(text, "thought") || strings.Contains(text, "reasoning") || strings.Contains(text, "read") {
			return
		}
		cut = max(0, min(cut, len(text)))
		tags := newTags([]model.Spec{{Name: "read"}}, false)
		one, _, _ := tags.feed(text[:cut])
		two, _, _ := tags.feed(text[cut:])
		rest, _, calls := tags.end()
		if got := one + two + rest; got != text && strings.TrimSpace(text) != "" || len(calls) > 0 {
			t.Errorf("%q became %q with %v", text, got, calls)
		}
	})
}
