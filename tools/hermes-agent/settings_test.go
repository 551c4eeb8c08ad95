package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/test/llm"
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
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "HERMES_AGENT_BACKEND"} {
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
	out, err := play(t, "", "doctor")
	if err == nil || !strings.Contains(err.Error(), "1 broken") || !strings.Contains(out, "broken: the model at http://127.0.0.1:1/v1: dial tcp") || !strings.Contains(out, "name another one with "+os.Args[0]+" setup") || !strings.Contains(out, "good:   toolsets: core") {
		t.Errorf("%v: %s", err, out)
	}
}
