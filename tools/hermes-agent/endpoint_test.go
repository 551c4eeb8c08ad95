package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/test/llm"
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
