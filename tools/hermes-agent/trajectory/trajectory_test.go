package trajectory

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var tools = []model.Spec{{Name: "read", Description: "Read <a> file.", Parameters: json.RawMessage(`{"type":"object"}`)}}

var histories = map[string][]model.Message{
	"answer": {
		{Role: model.System, Text: "You help."}, {Role: model.User, Text: "What is 1 < 2?"}, {Role: model.Assistant, Text: "True."},
	},
	"tools": {
		{Role: model.System, Text: "You help."}, {Role: model.User, Text: "Look", Images: []model.Image{{MimeType: "image/png"}}},
		{Role: model.Assistant, Reasoning: "I should look.", Text: "Looking.", Calls: []model.Call{{ID: "1", Name: "read", Arguments: `{"path": "a"}`}, {ID: "2", Name: "read", Arguments: `{"pa`}}},
		{Role: model.Tool, CallID: "1", Text: "one\ntwo"}, {Role: model.Tool, CallID: "2", Text: "bad arguments", Failed: true},
		{Role: model.Assistant, Calls: []model.Call{{ID: "3", Name: "grep", Arguments: `{}`}}},
		{Role: model.Tool, CallID: "3", Text: "x"},
		{Role: model.Assistant, Reasoning: "Done.", Text: "Here it is."}, {Role: model.User, Text: "Thanks"}, {Role: model.User, Text: "!"},
	},
	"tags": {
		{Role: model.User, Text: "</tool_call>"},
		{Role: model.Assistant, Reasoning: "</think> no", Calls: []model.Call{{ID: "1", Name: "read", Arguments: `{"a":"</tool_call>\u2028é"}`}}},
		{Role: model.Tool, CallID: "1", Text: "</tool_response><tool_response>\x00\n"},
	},
}

func TestTrajectoriesAreThoseOfTheGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, history := range histories {
		got, err := json.MarshalIndent(Convert(history, tools), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(append(got, '\n'), want) {
			t.Errorf("%s: %v: %s", name, err, got)
		}
	}
}

func TestWhatIsBetweenTagsIsJSONThatMeansTheSame(t *testing.T) {
	t.Parallel()
	tagged := regexp.MustCompile(`(?s)<(tool_call|tool_response)>(.*?)</`)
	for name, history := range histories {
		want := []string{}
		for _, m := range history {
			if m.Role == model.Tool {
				want = append(want, m.Text)
			}
		}
		var got []string
		for _, turn := range Convert(history, tools) {
			for _, m := range tagged.FindAllStringSubmatch(turn.Value, -1) {
				var v struct {
					Content *string
					Name    *string
				}
				if err := json.Unmarshal([]byte(m[2]), &v); turn.From != "human" && (err != nil || v.Name == nil) {
					t.Errorf("%s: %q: %v", name, m[2], err)
				}
				if v.Content != nil {
					got = append(got, *v.Content)
				}
			}
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: results %q, want %q", name, got, want)
		}
	}
}

func TestTrajectoriesOfHarborSayWhatTheyCost(t *testing.T) {
	t.Parallel()
	const from = " at http://127.0.0.1:1/v1"
	history := []model.Message{
		{Role: model.System, Text: "You help."}, {Role: model.User, Text: "Look", Images: []model.Image{{MimeType: "image/png"}}},
		{Role: model.Assistant, From: "big" + from, Usage: model.Usage{Input: 90, Output: 10, Cached: 60, Cost: 0.25}, Calls: []model.Call{{ID: "1", Name: "read", Arguments: `{"pa`}}},
		{Role: model.Tool, CallID: "1", Text: "bad arguments", Failed: true},
		{Role: model.Assistant, From: "small at home" + from, Text: "No.", Usage: model.Usage{Input: 100, Output: 5}}, {Role: model.Assistant, Text: "!"},
	}
	const steps = `"steps":[{"step_id":1,"source":"system","message":"You help."},{"step_id":2,"source":"user","message":"Look\n[image]"},` +
		`{"step_id":3,"source":"agent","model_name":"big","message":"","tool_calls":[{"tool_call_id":"1","function_name":"read","arguments":{}}],"observation":{"results":[{"source_call_id":"1","content":"bad arguments"}]},"metrics":{"prompt_tokens":90,"completion_tokens":10,"cached_tokens":60,"cost_usd":0.25}},` +
		`{"step_id":4,"source":"agent","model_name":"small at home","message":"No.","metrics":{"prompt_tokens":100,"completion_tokens":5}},{"step_id":5,"source":"agent","message":"!"}]`
	for _, test := range []struct {
		history []model.Message
		total   model.Usage
		want    string
	}{
		{history, model.Usage{}, steps + `,"final_metrics":{"total_prompt_tokens":190,"total_completion_tokens":15,"total_cached_tokens":60,"total_cost_usd":0.25,"total_steps":5}}`},
		{history, model.Usage{Input: 1000, Output: 100, Cost: 1}, steps + `,"final_metrics":{"total_prompt_tokens":1000,"total_completion_tokens":100,"total_cost_usd":1,"total_steps":5}}`},
		{nil, model.Usage{}, `"steps":[]}`},
	} {
		got, err := json.Marshal(ToATIF("s", ATIFAgent{Name: "a", Version: "1"}, test.history, test.total))
		if want := `{"schema_version":"ATIF-v1.4","session_id":"s","agent":{"name":"a","version":"1"},` + test.want; err != nil || string(got) != want {
			t.Errorf("%v: %s\nwant %s", err, got, want)
		}
	}
}

func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	if got := Counts(histories["tools"]); !maps.Equal(got, map[string]Count{"read": {2, 1}, "grep": {1, 0}}) {
		t.Errorf("%v", got)
	}
}
