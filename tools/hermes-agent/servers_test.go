//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hermes-nvim/hermes/test/llm"
)

// asServer in the environment makes the test program an MCP server.
const asServer = "HERMES_AGENT_TEST_SERVER"

func init() { asOther[asServer] = serveGreetings }

func serveGreetings() error {
	type who struct {
		Name string `json:"name"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "greet", Description: "Greet somebody."}, func(_ context.Context, _ *sdk.CallToolRequest, w who) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello, " + w.Name + os.Getenv("MARK")}}}, nil, nil
	})
	return s.Run(context.Background(), &sdk.StdioTransport{})
}

// withServers writes settings with a server that works, allow behind it, and some that do not.
func withServers(t *testing.T, dir, allow string) {
	t.Helper()
	text := fmt.Sprintf(`mcp_servers:
  greeter: {command: %q, env: {%s: "", %s: "1", MARK: "${MARK}"}%s}
  gone: {command: no-such-program}
  loud: {command: sh, args: [-c, "echo one >&2; echo no licence >&2; exit 3"]}
  vague: {}
  off: {command: no-such-program, enabled: false}
`, os.Args[0], asProgram, asServer, allow)
	for name, text := range map[string]string{"config.yaml": text, ".env": "MARK='!'\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// complaints are what the user is told of the servers that do not work.
var complaints = []string{
	`MCP server gone: exec: "no-such-program": executable file not found in $PATH; correct mcp_servers.gone in the settings, or set enabled: false there`,
	`it said "no licence"; correct mcp_servers.loud in the settings`,
	"MCP server vague: it has neither a command nor a url; correct mcp_servers.vague",
}

func TestServersOfTheSettingsAreUsedWithoutAnEditor(t *testing.T) {
	t.Parallel()
	server, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	for _, test := range []struct {
		allow  string
		out    string
		err    []string
		status int
	}{
		{"", "Done. the user denied it", append(slices.Clone(complaints), `mcp_servers.greeter.allow in the settings can allow it: add "greet"`), statusDenied},
		{", allow: [other]", "Done. the user denied it", complaints, statusDenied},
		{", allow: [other, gr*]", "Done. Hello, you!", complaints, 0},
	} {
		dir := t.TempDir()
		withServers(t, dir, test.allow)
		cmd := exec.Command(os.Args[0], "chat", "-q", `CALL greeter_greet {"name":"you"}`)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), asProgram+"=1", "HERMES_AGENT_HOME="+dir, "XDG_STATE_HOME="+t.TempDir(), "OPENAI_BASE_URL="+server.URL+"/v1", "OPENAI_MODEL=scripted", "OPENAI_API_KEY=")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.Run()
		if cmd.ProcessState.ExitCode() != test.status || !strings.Contains(out.String(), test.out) {
			t.Errorf("%q: %d: %s\n%s", test.allow, cmd.ProcessState.ExitCode(), out.String(), errs.String())
		}
		for _, want := range test.err {
			if !strings.Contains(errs.String(), want) {
				t.Errorf("%q: no %q in\n%s", test.allow, want, errs.String())
			}
		}
	}
}

func TestDoctorTriesTheServersOfTheSettings(t *testing.T) {
	dir := home(t)
	withServers(t, dir, "")
	out, err := play(t, "", "doctor")
	for _, want := range append(slices.Clone(complaints), "good:   MCP server greeter: 1 tools: greeter_greet", "note:   MCP server off is switched off: enabled is false") {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("no %q in %v\n%s", want, err, out)
		}
	}
	if out, err := play(t, "", "status"); err != nil || !strings.Contains(out, "servers   gone, greeter, loud, off, vague") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := play(t, "", "config", "set", "MARK", "?"); err != nil {
		t.Errorf("a variable that the settings name: %v: %s", err, out)
	}
	if out, err := play(t, "", "config", "set", "MARKER", "?"); err == nil {
		t.Error(out)
	}
}

// A trajectory without the tools that it should have had is a lie, so the prompt fails and runs
// again when the servers work.
func TestABatchHasTheServersOfTheSettings(t *testing.T) {
	dir := home(t)
	server, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	t.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	t.Setenv("OPENAI_MODEL", "scripted")
	data, out := filepath.Join(t.TempDir(), "d.jsonl"), filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(data, []byte(`{"prompt":"CALL greeter_greet {\"name\":\"you\"}\nSAY well"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{"batch", "--dataset", data, "--out", out}
	withServers(t, dir, "")
	text, err := play(t, "", all...)
	if err == nil || !strings.Contains(text, "1 failed: "+complaints[0]) {
		t.Errorf("%v: %s", err, text)
	}
	settings := filepath.Join(dir, "config.yaml")
	whole, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	only := strings.Join(strings.Split(string(whole), "\n")[:2], "\n")
	for _, test := range []struct{ settings, want string }{
		{only, `greeter_greet was not used: there is nobody to ask; mcp_servers.greeter.allow in the settings can allow it: add \\\"greet\\\"`},
		{strings.TrimSuffix(only, "}") + ", allow: [greet]}", "Hello, you!"},
	} {
		if err := os.WriteFile(settings, []byte(test.settings+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out = filepath.Join(t.TempDir(), "out")
		if text, err := play(t, "", append(all, "--out", out)...); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		b, err := os.ReadFile(filepath.Join(out, "trajectories.jsonl"))
		if err != nil || !strings.Contains(string(b), test.want) {
			t.Errorf("%v: no %q in\n%s", err, test.want, b)
		}
	}
}
