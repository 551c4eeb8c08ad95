package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/test/llm"
	"github.com/hermes-nvim/hermes/test/llm/dialect"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/batch"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/trajectory"
)

var update = flag.Bool("update", false, "rewrite the golden file")

const dataset = `{"prompt":"THINK what is there?\nCALL read {\"path\":\"a.txt\"}\nCALL edit {\"path\":\"a.txt\",\"old\":\"two\",\"new\":\"2\"}\nCALL terminal {\"command\":\"cat a.txt\"}\nSAY that is it.","dir":"project"}
"SAY hello"
{"prompt":"CALL terminal {\"command\":\"rm -rf x\"}\nCALL write {\"path\":\"Makefile\",\"content\":\"x\"}\nCALL terminal {\"command\":\"cat a.txt\"}\nSAY tried"}
`

func TestABatchRunsPromptsAndKeepsTheirTrajectories(t *testing.T) {
	home(t)
	server, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	t.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	t.Setenv("OPENAI_MODEL", "scripted")
	t.Setenv("LC_ALL", "C") // the messages of cat are in the trajectories
	dir := t.TempDir()
	for name, text := range map[string]string{"d.jsonl": dataset, "project/a.txt": "one\ntwo\n"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{"batch", "--dataset", filepath.Join(dir, "d.jsonl"), "--workers", "2", "--distribution", "core"}
	out, err := play(t, "", append(all, "--out", filepath.Join(dir, "out"))...)
	if err != nil || !strings.Contains(out, "3 prompts: 3 completed, 0 failed") {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(dir, "out", "trajectories.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var golden strings.Builder // without the tools, which have their own tests
	for line := range strings.Lines(string(got)) {
		var r batch.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		for _, turn := range r.Conversations[1:] {
			golden.WriteString(turn.From + ": " + turn.Value + "\n")
		}
		if !strings.Contains(r.Conversations[0].Value, "Working directory: /work\n") || !strings.Contains(r.Conversations[0].Value, `<tools>[{"name":"read"`) {
			t.Errorf("the system prompt is %s", r.Conversations[0].Value)
		}
	}
	file := filepath.Join("testdata", "batch.golden")
	if *update {
		if err := os.WriteFile(file, []byte(golden.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || golden.String() != string(want) {
		t.Errorf("%v:\n%s", err, golden.String())
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "project", "a.txt")); string(text) != "one\ntwo\n" {
		t.Errorf("the folder of the dataset has %q", text)
	}

	for _, shard := range []string{"0/2", "1/2"} {
		if out, err := play(t, "", append(all, "--shard", shard, "--out", filepath.Join(dir, shard[:1]))...); err != nil {
			t.Errorf("%s: %v: %s", shard, err, out)
		}
	}
	if out, err = play(t, "", "merge", "--out", filepath.Join(dir, "merged"), filepath.Join(dir, "0"), filepath.Join(dir, "1")); err != nil || !strings.Contains(out, "3 prompts") {
		t.Errorf("%v: %s", err, out)
	}
	if merged, err := os.ReadFile(filepath.Join(dir, "merged", "trajectories.jsonl")); err != nil || string(merged) != string(got) {
		t.Errorf("%v: merged shards differ:\n%s", err, merged)
	}
}

// scene is a folder for a batch, whose model follows the script in the prompts.
func scene(t *testing.T, base string, files map[string]string) string {
	t.Helper()
	home(t)
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENAI_BASE_URL", base)
	t.Setenv("OPENAI_MODEL", "scripted")
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func records(t *testing.T, name string) (list []batch.Record) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(b)) {
		var r batch.Record
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func TestABatchThatCannotSucceedStopsAndSaysWhy(t *testing.T) {
	many := ""
	for i := range 40 {
		many += fmt.Sprintf("\"SAY %d\"\n", i)
	}
	dir := scene(t, guarded(t, "right"), map[string]string{"d.jsonl": many})
	_, err := play(t, "", "batch", "--dataset", filepath.Join(dir, "d.jsonl"), "--out", filepath.Join(dir, "out"))
	if exitStatus(err) != statusSome || !strings.Contains(err.Error(), "the batch stopped: model at") || !strings.Contains(err.Error(), "401 Unauthorized: who are you") {
		t.Errorf("%d, %v", exitStatus(err), err)
	}
	if list := records(t, filepath.Join(dir, "out", "failed.jsonl")); len(list) == 0 || len(list) > 4 {
		t.Errorf("%d prompts were tried", len(list))
	}
	refused := dialect.Habit{Refuses: []dialect.Refusal{{If: "SAY [0-9]*[05]\"", Answer: dialect.Answer{Status: 400, Body: `{"error":"I do not like it"}`}}}, Answers: []dialect.Answer{{Body: `{"choices":[{"message":{"content":"one"},"finish_reason":"stop"}]}`}}}
	server, err := refused.Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	t.Setenv("OPENAI_BASE_URL", server.URL)
	text, err := play(t, "", "batch", "--dataset", filepath.Join(dir, "d.jsonl"), "--out", filepath.Join(dir, "some"))
	if exitStatus(err) != statusSome || err.Error() != "batch: 8 of 40 prompts failed" || !strings.Contains(text, "\n8 failed: model at "+server.URL+": 400 Bad Request: I do not like it\n") {
		t.Errorf("%d, %v: %s", exitStatus(err), err, text)
	}
}

// The whole conversation is in the trajectory, also what the model no longer sees.
func TestABatchShortensConversationsThatAreTooLong(t *testing.T) {
	call := func(n int) dialect.Answer {
		return dialect.Answer{Body: fmt.Sprintf(`{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"read","arguments":"{\"path\":\"a.txt\",\"limit\":%d}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":50,"completion_tokens":5}}`, n)}
	}
	server, err := dialect.Habit{
		Refuses: []dialect.Refusal{
			{If: "Summarize the work", Answer: dialect.Answer{Body: `{"choices":[{"message":{"content":"a.txt was read"},"finish_reason":"stop"}]}`}},
			{If: `(?s)("role":"tool".*){4}`, Answer: dialect.Answer{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 6000 tokens."}}`}},
		},
		Answers: []dialect.Answer{call(1001), call(1002), call(1003), call(1004), call(1005), call(1006), {Body: `{"choices":[{"message":{"content":"enough"},"finish_reason":"stop"}]}`}},
	}.Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	dir := scene(t, server.URL, map[string]string{"p/a.txt": strings.Repeat("some words\n", 1000), "d.jsonl": `{"prompt":"read it","dir":"p"}`})
	if text, err := play(t, "", "batch", "--dataset", filepath.Join(dir, "d.jsonl"), "--out", filepath.Join(dir, "out")); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	list := records(t, filepath.Join(dir, "out", "trajectories.jsonl"))
	if len(list) != 1 || len(list[0].Conversations) != 2+6*2+1 || list[0].Tools["read"].Calls != 6 {
		t.Errorf("%.3000v", list)
	}
}

// What is paid for is in the record: summaries, too. It names the models that answered.
func TestRecordsCountEveryRequestAndNameWhoAnswered(t *testing.T) {
	say := func(what, usage string) dialect.Answer {
		return dialect.Answer{Body: `{"choices":[{"message":{` + what + `},"finish_reason":"stop"}],"usage":` + usage + `}`}
	}
	call := func(n int) dialect.Answer {
		return say(fmt.Sprintf(`"tool_calls":[{"id":"1","function":{"name":"read","arguments":"{\"path\":\"a.txt\",\"limit\":%d}"}}]`, n), `{"prompt_tokens":50,"completion_tokens":5,"cost":0.01}`)
	}
	habit := dialect.Habit{
		Refuses: []dialect.Refusal{
			{If: "Summarize the work", Answer: say(`"content":"a.txt was read"`, `{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":10},"cost":1}`)},
			{If: `(?s)("role":"tool".*){4}`, Answer: dialect.Answer{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 6000 tokens."}}`}},
			{If: `(?s)"role":"tool".*"model":"big"`, Answer: dialect.Answer{Status: 400, Body: `{"error":"big is away"}`}},
		},
		Answers: []dialect.Answer{call(1001), call(1002), call(1003), call(1004), say(`"content":"enough"`, `{"prompt_tokens":50,"completion_tokens":5,"cost":0.01}`)},
	}
	for _, test := range []struct{ dataset, max, why string }{
		{`{"prompt":"read it","dir":"p"}`, "100", ""},
		{`{"prompt":"read it","dir":"p"}` + "\n" + `{"prompt":"again"}`, "0.9", "the budget is used up"}, // by the summary
	} {
		server, err := habit.Serve()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		dir := scene(t, server.URL, map[string]string{"p/a.txt": strings.Repeat("some words\n", 1000), "d.jsonl": test.dataset})
		t.Setenv("OPENAI_MODEL", "deep")
		for name, value := range map[string]string{"model.fallback": "fast", "models": "{deep: {name: big}, fast: {name: small}}"} {
			if err := config.Set(os.Getenv("HERMES_AGENT_HOME"), name, value); err != nil {
				t.Fatal(err)
			}
		}
		out := filepath.Join(dir, "out")
		_, err = play(t, "", "batch", "--dataset", filepath.Join(dir, "d.jsonl"), "--out", out, "--workers", "1", "--max-cost", test.max)
		if (err == nil) != (test.why == "") || err != nil && !strings.Contains(err.Error(), test.why) {
			t.Fatal(err)
		}
		list := records(t, filepath.Join(out, "trajectories.jsonl"))
		if len(list) != 1 || list[0].Model != "deep, fast" || list[0].Requests != 6 || list[0].Tokens != (batch.Tokens{Input: 1250, Output: 125, Cached: 10}) || math.Abs(list[0].Cost-1.05) > 1e-9 {
			for i := range list {
				list[i].Conversations = nil
			}
			t.Errorf("%d records: %+v", len(list), list)
		}
	}
}

func TestABatchAlsoWritesTrajectoriesAsHarborHasThem(t *testing.T) {
	server, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	dir := scene(t, server.URL+"/v1", map[string]string{"project/a.txt": "one\ntwo\n", "d.jsonl": dataset + "{\"prompt\":\"SAY hello\",\"id\":\"7\"}\n"})
	all := []string{"batch", "--dataset", filepath.Join(dir, "d.jsonl"), "--workers", "2", "--samples", "2", "--distribution", "core"}
	read := func(out, name string) string {
		b, err := os.ReadFile(filepath.Join(dir, out, name))
		if err != nil {
			return ""
		}
		return string(b)
	}
	for out, more := range map[string][]string{"without": nil, "with": {"--atif"}, "0": {"--atif", "--shard", "0/2"}, "1": {"--atif", "--shard", "1/2"}} {
		if text, err := play(t, "", append(append(all, "--out", filepath.Join(dir, out)), more...)...); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if text, err := play(t, "", "merge", "--out", filepath.Join(dir, "merged"), filepath.Join(dir, "0"), filepath.Join(dir, "1")); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	const name = "trajectories.atif.jsonl"
	if got := read("without", name); got != "" {
		t.Error(got)
	}
	if read("with", "trajectories.jsonl") != read("without", "trajectories.jsonl") || read("merged", "trajectories.jsonl") != read("with", "trajectories.jsonl") || read("merged", name) != read("with", name) {
		t.Error("the files are not the same as without, or merged")
	}
	var sessions []string
	for text := range strings.Lines(read("with", name)) {
		var tr trajectory.ATIF
		if err := json.Unmarshal([]byte(text), &tr); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, tr.Session)
		steps, last := len(tr.Steps), tr.Steps[len(tr.Steps)-1]
		if tr.Version != "ATIF-v1.4" || tr.Agent != (trajectory.ATIFAgent{Name: "hermes-agent", Version: version, Model: "scripted"}) || tr.Steps[0].Source != "system" || !strings.Contains(tr.Steps[0].Message, "Working directory: /work\n") || last.Model != "scripted" || last.Metrics == nil || last.Metrics.Prompt != 10 || tr.Final.Prompt != 10*(steps-2) || tr.Final.Steps != steps {
			t.Errorf("%s", text)
		}
		if strings.Contains(text, os.TempDir()) {
			t.Errorf("the folder of the run is in %s", text)
		}
	}
	if got := strings.Join(sessions, " "); got != "0-0 0-1 1-0 1-1 2-0 2-1 3-0 3-1" {
		t.Error(got)
	}
	if list := records(t, filepath.Join(dir, "with", "trajectories.jsonl")); list[7].ID != "7" || list[7].Index != 3 || list[7].Sample != 1 {
		t.Errorf("%+v", list[7])
	}
}

func TestABatchSaysWhatIsWrongWithItsArguments(t *testing.T) {
	home(t)
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	file := filepath.Join(t.TempDir(), "d.jsonl")
	if err := os.WriteFile(file, []byte("\"a\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, why := range map[string]string{
		"batch": "usage", "batch --dataset none": "none", "batch --dataset F --shard 2/2": "shard", "batch --dataset F --distribution fly=50": `no toolset "fly"`,
		"batch --dataset F --distribution core=x": "share", "batch --dataset F --workers 0": "usage", "merge": "usage", "merge --out X none": "none",
	} {
		if out, err := play(t, "", strings.Fields(strings.ReplaceAll(args, "F", file))...); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v: %s", args, err, out)
		}
	}
}

func TestTheBarShowsHowFarABatchIs(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]batch.Progress{
		"[--------------------] 0/40":                      {Total: 40},
		"[##########----------] 20/40, 3 failed, 20s left": {Done: 20, Failed: 3, Total: 40},
		"[###############-----] 30/40, 10s left":           {Done: 30, Resumed: 10, Total: 40},
		"[####################] 40/40":                     {Done: 40, Total: 40},
		"[####################] 0/0":                       {},
	} {
		if got := bartext(p, 20*time.Second); got != want {
			t.Errorf("%+v: %s, want %s", p, got, want)
		}
	}
}
