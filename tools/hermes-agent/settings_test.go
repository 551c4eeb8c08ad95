package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/test/llm"
	"github.com/hermes-nvim/hermes/test/llm/dialect"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
)

// play runs a subcommand with a folder of settings and returns what it prints.
func play(t *testing.T, in string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, stdio{strings.NewReader(in), &out, &out})
	return out.String(), err
}

func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HERMES_AGENT_HOME", dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENAI_MODEL", "HERMES_AGENT_BACKEND"} {
		t.Setenv(name, "")
	}
	return dir
}

func TestSetupTriesTheEndpointAndKeepsWhatWorks(t *testing.T) {
	dir := home(t)
	server, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	if out, err := play(t, "127.0.0.1:1\nhttp://127.0.0.1:1/v1\nk\nn\n", "setup"); err == nil || !strings.Contains(out, `"127.0.0.1:1" is not an http address such as`) ||
		!strings.Contains(out, "does not work: model at http://127.0.0.1:1/v1: dial tcp") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := play(t, "", "doctor"); err == nil || !strings.Contains(out, "broken: no model: run "+os.Args[0]+" setup, or set OPENAI_BASE_URL") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := play(t, "", "status"); err != nil || !strings.Contains(out, "endpoint  none") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "config.yaml")); err == nil {
		t.Error("settings that do not work are kept")
	}
	out, err := play(t, server.URL+"/v1\nsecret-key\n\n", "setup")
	if err != nil || !strings.Contains(out, "It works. 1 model: ") || strings.Contains(out, "counts more") {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err = play(t, "", "--check"); err != nil || !strings.Contains(out, "good:   the endpoint "+server.URL) {
		t.Errorf("%v: %s", err, out)
	}
	if out, err = play(t, "", "config"); err != nil || !strings.Contains(out, server.URL) || !strings.Contains(out, "OPENAI_API_KEY is set") || strings.Contains(out, "secret-key") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err = play(t, "", "status"); err != nil || !strings.Contains(out, "key       set") || !strings.Contains(out, "sessions  0 in") || strings.Contains(out, "secret-key") {
		t.Errorf("%v: %s", err, out)
	}
	t.Setenv("OPENAI_MODEL", "other")
	if out, err = play(t, "\n\n\n", "setup"); err != nil || !strings.Contains(out, "But OPENAI_MODEL is set in the environment") {
		t.Errorf("%v: %s", err, out)
	}
}

// The model answers a probe by its words, as a model does. The server has three habits.
func TestTheDoctorTriesAModelAndShowsWhatItIsLike(t *testing.T) {
	dir := home(t)
	calls := func(n int) string {
		list := strings.Repeat(`,{"type":"function","function":{"name":"note","arguments":"{\"word\":\"one\"}"}}`, n)[1:]
		return `data: {"choices":[{"delta":{"reasoning":"hm","tool_calls":[` + list + `]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	}
	refuse := func(status int, text string) dialect.Answer {
		return dialect.Answer{Status: status, Body: `{"error":{"message":"` + text + `"}}`}
	}
	server, err := dialect.Habit{Refuses: []dialect.Refusal{
		{If: `"reasoning":`, Answer: refuse(400, "property 'reasoning' is unsupported")},
		{If: `image_url`, Answer: refuse(500, "image input is not supported")},
		{If: `"max_tokens":`, Answer: refuse(400, "max_tokens is too large: the maximum context length is 4096 tokens")},
		{If: `twice in one answer`, Answer: dialect.Answer{Body: calls(2)}},
		{If: `note once`, Unless: `"role":"tool"`, Answer: dialect.Answer{Body: calls(1)}},
	}, Answers: []dialect.Answer{{Body: `{"choices":[{"message":{"content":"one"},"finish_reason":"stop"}]}`}}}.Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	t.Setenv("OPENAI_BASE_URL", server.URL)
	out, err := play(t, "", "doctor", "--model")
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"good:   an answer: it comes in one piece", "good:   a call: 1 calls", "good:   two calls in one answer: 2 calls", "good:   a result, with the reasoning before it",
		"note:   does not work: a picture", "good:   the size of the context window: 4096 tokens",
		"profile: reasoning in reasoning; window of 4096 tokens; ids are missing; does without reasoning, pictures\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	asked := len(server.Requests())
	if asked != 8 { // two of the six are asked once more
		t.Errorf("%d requests", asked)
	}
	if kept, err := os.ReadFile(filepath.Join(os.Getenv("XDG_STATE_HOME"), "hermes-agent", "endpoints.json")); err != nil || !strings.Contains(string(kept), `"pictures"`) {
		t.Errorf("%s, %v", kept, err)
	}
	const untried = "note:   no turn was tried; hermes-agent doctor --model tries one\n"
	if strings.Contains(out, untried) {
		t.Error(out)
	}
	if err := config.Set(dir, "models", "{own: {name: scripted}}"); err != nil {
		t.Fatal(err)
	}
	for name, why := range map[string]string{"scripted": "", "own": "", "none": `has no model "none"`} {
		t.Setenv("OPENAI_MODEL", name)
		out, err = play(t, "", "doctor")
		if (err == nil) != (why == "") || !strings.Contains(out, why) || strings.Contains(out, untried) != (err == nil) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	if len(server.Requests()) != asked {
		t.Error("plain doctor makes requests")
	}
	t.Setenv("OPENAI_MODEL", "none")
	server.Close()
	if out, err = play(t, "", "doctor", "--model"); err == nil || !strings.Contains(out, "broken: an answer: model at") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestSettingsAreChangedAndChecked(t *testing.T) {
	dir := home(t)
	for _, args := range [][]string{
		{"config", "set", "model.base_url", "http://127.0.0.1:1/v1"}, {"config", "set", "toolsets", "[core, process]"}, {"config", "set", "OPENAI_API_KEY", "k"},
	} {
		if out, err := play(t, "", args...); err != nil {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, ".env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("model: {base_url: \"http://127.0.0.1:1/v1\", nam: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := play(t, "", "config", "check"); err != nil || !strings.Contains(out, "missing: toolsets") || !strings.Contains(out, "nam") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := play(t, "", "config", "migrate"); err != nil || !strings.Contains(out, "added: toolsets") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := play(t, "", "config", "fly"); err == nil || !strings.Contains(err.Error(), "config migrate") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := play(t, "", "config", "set", "OPENAI_APIKEY", "k"); err == nil || !strings.Contains(err.Error(), "nothing reads OPENAI_APIKEY; a secret can be OPENAI_BASE_URL") {
		t.Errorf("%v: %s", err, out)
	}
	if err := config.Set(dir, "model.headers", "{X-Api-Key: abc, X-Team: blue}"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config.yaml")
	exposed := "note:   " + file + " holds secrets, in X-Api-Key, but other users can read it: run chmod 600 " + file
	if out, _ := play(t, "", "doctor"); strings.Contains(out, "secret") || strings.Contains(out, "no turn was tried") {
		t.Error(out)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, _ := play(t, "", "doctor"); strings.Contains(out, exposed) != (runtime.GOOS != "windows") {
		t.Error(out)
	}
	out, err := play(t, "", "doctor")
	if err == nil || !strings.Contains(err.Error(), "1 broken") || !strings.Contains(out, "broken: the model at http://127.0.0.1:1/v1: dial tcp") || !strings.Contains(out, "name another one with "+os.Args[0]+" setup") || !strings.Contains(out, "good:   toolsets: core") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestSessionsAreListedExportedAndPruned(t *testing.T) {
	home(t)
	sessions, err := store.Open(filepath.Join(os.Getenv("XDG_STATE_HOME"), "hermes-agent", "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []acp.SessionID{"old", "new"} {
		s, err := sessions.Create(store.Info{ID: id, Cwd: "/w", Title: "Fix\x1b it", Model: "m", Created: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []model.Message{
			{Role: model.System, Text: "sys"}, {Role: model.User, Text: "go"},
			{Role: model.Assistant, Reasoning: "hm", Usage: model.Usage{Input: 7, Output: 3}, Calls: []model.Call{{ID: "1", Name: "read", Arguments: `{"path":"a"}`}}}, {Role: model.Tool, CallID: "1", Text: "one"},
		} {
			if err := s.AddMessage(m); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(s.Replace([]model.Message{{Role: model.System, Text: "sys"}, {Role: model.User, Text: "a summary"}}), s.AddMessage(model.Message{Role: model.Assistant, Text: "done"}), s.Close()); err != nil {
			t.Fatal(err)
		}
		if at := time.Now().Add(-time.Duration(1-i) * 100 * 24 * time.Hour); os.Chtimes(filepath.Join(os.Getenv("XDG_STATE_HOME"), "hermes-agent", "sessions", string(id)+".jsonl"), at, at) != nil {
			t.Fatal("no times")
		}
	}
	for _, test := range []struct {
		args string
		want []string
		err  string
	}{
		{"sessions", []string{"new  ", "old  ", "  m                 Fix<U+001B> it  (/w)\n"}, ""},
		{"sessions export old", []string{`"id":"old","model":"m","conversations":[{"from":"system","value":"sys\n\n<tools>`, `{"from":"tool","value":"<tool_response>`, `{"from":"gpt","value":"done"}]`, `"tools":{"read":{"calls":1,"failed":0}}`}, ""},
		{"sessions export --format atif old", []string{`{"schema_version":"ATIF-v1.4","session_id":"old","agent":{"name":"hermes-agent","version":"dev","model_name":"m"},"steps":[{"step_id":1,"source":"system","message":"sys"},{"step_id":2,"source":"user","message":"go"},` +
			`{"step_id":3,"source":"agent","message":"","reasoning_content":"hm","tool_calls":[{"tool_call_id":"1","function_name":"read","arguments":{"path":"a"}}],"observation":{"results":[{"source_call_id":"1","content":"one"}]},"metrics":{"prompt_tokens":7,"completion_tokens":3}},{"step_id":4,"source":"agent","message":"done"}],"final_metrics":{"total_prompt_tokens":7,"total_completion_tokens":3,"total_steps":4}}` + "\n"}, ""},
		{"sessions export none", nil, "unknown session"},
		{"sessions export --format x old", nil, "usage"},
		{"sessions prune", nil, "usage"},
		{"sessions fly", nil, "usage"},
		{"sessions prune --days 30", []string{"1 sessions deleted, 1 kept\n"}, ""},
		{"sessions export old", nil, "unknown session"},
	} {
		out, err := play(t, "", strings.Fields(test.args)...)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v", test.args, err)
		}
		for _, want := range test.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %s in\n%s", test.args, want, out)
			}
		}
	}
}
