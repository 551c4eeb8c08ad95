package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/test/llm"
	"github.com/hermes-nvim/hermes/test/llm/dialect"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/agent"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// guarded is an endpoint for those who have the key.
func guarded(t *testing.T, key string) (base string) {
	t.Helper()
	scripted, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scripted.Close() })
	address, err := url.Parse(scripted.URL)
	if err != nil {
		t.Fatal(err)
	}
	inside := httputil.NewSingleHostReverseProxy(address)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+key && r.Header.Get("X-Team") == "blue" {
			inside.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"who are you"}}`)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

func TestSettingsCountAsSoonAsTheyAreMade(t *testing.T) {
	dir := home(t)
	if err := config.Set(dir, "model.headers", "{X-Team: blue}"); err != nil {
		t.Fatal(err)
	}
	base := guarded(t, "right")
	e := &endpoint{}
	models := agent.ListModels(t.Context(), "", e.Models, func(error) {})
	say := func() (string, error) {
		reply, err := e.Complete(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Text: "SAY hello"}}, Tools: []model.Spec{{Name: "read", Parameters: []byte("{}")}}}, func(model.Delta) {})
		return reply.Message.Text, err
	}
	var login *model.LoginError
	if err := e.ready(models); !errors.As(err, &login) || !errors.Is(err, config.ErrNoModel) {
		t.Errorf("without an endpoint: %v", err)
	}
	if _, err := say(); !errors.As(err, &login) {
		t.Errorf("without an endpoint: %v", err)
	}
	if out, err := play(t, base+"\nwrong\ny\n\n", "acp", agent.SetupFlag); err != nil {
		t.Fatal(err, out)
	}
	if err := e.ready(models); err != nil {
		t.Error(err)
	}
	if _, err := say(); !errors.As(err, &login) {
		t.Errorf("with a wrong key: %v", err)
	}
	if out, err := play(t, "\nright\n\n", "setup"); err != nil {
		t.Fatal(err, out)
	}
	if text, err := say(); err != nil || !strings.HasPrefix(text, "hello") {
		t.Errorf("with the right key: %q, %v", text, err)
	}
	if err := config.Set(dir, "model.name", "mine"); err != nil {
		t.Fatal(err)
	}
	if err := e.ready(models); err != nil || models.Default(t.Context()) != "mine" {
		t.Errorf("%v; the model is %q", err, models.Default(t.Context()))
	}
}

// The special setting wins over the general one, and both over the endpoint, also if that
// does not list its models.
func TestTheWindowIsThatOfTheModelFirst(t *testing.T) {
	for _, list := range []string{`{"data":[{"id":"big","context_length":30000},{"id":"listed","context_length":30000}]}`, ""} {
		dir := home(t)
		habit := dialect.Habit{Paths: map[string]string{"/v1/models": list}}
		server, err := habit.Serve()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		t.Setenv("OPENAI_BASE_URL", server.URL)
		for _, test := range []struct {
			name           string
			general, wants int
		}{{"deep", 20000, 10000}, {"deep", 0, 10000}, {"fast", 20000, 20000}, {"listed", 20000, 20000}, {"fast", 0, 0}} {
			for name, value := range map[string]string{"model.name": test.name, "model.context": fmt.Sprint(test.general), "models": "{deep: {name: big, context: 10000}, fast: {name: small}}"} {
				if err := config.Set(dir, name, value); err != nil {
					t.Fatal(err)
				}
			}
			p, err := assemble(stdio{err: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			models := agent.ListModels(t.Context(), p.Config.Model.Name, p.client.Models, func(error) {})
			models.Default(t.Context())
			j := jobs{program: p, models: models, name: test.name}
			if got := j.window(); got != test.wants {
				t.Errorf("in a batch, %+v: %d", test, got)
			}
			if got := p.options(models, nil).Window(test.name); got != test.wants {
				t.Errorf("in a session, %+v: %d", test, got)
			}
		}
	}
}

func TestModelsHaveSettingsOfTheirOwn(t *testing.T) {
	dir := home(t)
	server, err := dialect.Habit{
		Refuses: []dialect.Refusal{{If: `"model":"big`, Answer: dialect.Answer{Status: 400, Body: `{"error":"big is away"}`}}},
		Answers: []dialect.Answer{{Body: `{"choices":[{"message":{"content":"one"},"finish_reason":"stop"}]}`}},
		Paths:   map[string]string{"/v1/models": `{"data":[{"id":"small-8b","context_length":8192},{"id":"big-70b"}]}`},
	}.Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	t.Setenv("OPENAI_BASE_URL", server.URL)
	for name, value := range map[string]string{
		"model.name": "deep", "model.fallback": "fast", "model.parameters": "{temperature: 1, seed: 5}",
		"models": "{deep: {name: big-70b, context: 1000}, fast: {name: small-8b, parameters: {temperature: 0.2, provider: {order: [groq]}}}}",
	} {
		if err := config.Set(dir, name, value); err != nil {
			t.Fatal(err)
		}
	}
	e := &endpoint{}
	sizes, err := e.Models(t.Context())
	if err != nil || sizes["deep"] != 1000 || sizes["fast"] != 8192 || sizes["small-8b"] != 8192 {
		t.Errorf("%v, %v", sizes, err)
	}
	notice := ""
	reply, err := e.Complete(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Text: "x"}}}, func(d model.Delta) { notice += d.Notice })
	if err != nil || reply.Message.Text != "one" || !strings.HasSuffix(notice, "big is away; fast answers instead") {
		t.Errorf("%+v, %v, %q", reply, err, notice)
	}
	all := server.Requests()
	for at, want := range []string{`"model":"big-70b","seed":5,"stream":true,"stream_options":{"include_usage":true},"temperature":1}`, `"model":"small-8b","provider":{"order":["groq"]},"seed":5,"stream":true,"stream_options":{"include_usage":true},"temperature":0.2}`} {
		if len(all) != 2 || !strings.HasSuffix(all[at], want) {
			t.Errorf("%v", all)
		}
	}
	if err := config.Set(dir, "models", "{fast: {name: big-70b}, deep: {name: big-70b}}"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Complete(t.Context(), model.Request{}, func(model.Delta) {}); err == nil || !strings.Contains(err.Error(), "big is away") {
		t.Error(err)
	}
}
