package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestMCPServersAreInTheSettings(t *testing.T) {
	t.Parallel()
	const text = `mcp_servers:
  files: {command: files-mcp, args: ["--root", 7, "${ROOT}"], env: {TOKEN: "a ${SECRET}", PORT: 8080, DEBUG: true}, allow: [read_*, list]}
  web: {url: "https://example.com/${ROOT}/mcp", headers: {Authorization: "Bearer ${SECRET}"}, enabled: false}
  old: {type: sse, url: "http://127.0.0.1:1/sse"}
  http: {type: http, url: "http://127.0.0.1:1/mcp", enabled: true}
  stdio: {type: stdio, command: x}
`
	dir, c, err := load(t, map[string]string{"OPENAI_API_KEY": "k", "ROOT": "/r"}, map[string]string{fileName: text, envName: "SECRET='s e'\n"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"files": "stdio files-mcp [--root 7 /r] map[DEBUG:true PORT:8080 TOKEN:a s e]  map[] [read_* list] true <nil>",
		"web":   "http  [] map[] https://example.com//r/mcp map[Authorization:Bearer s e] [] false <nil>",
		"old":   "sse  [] map[] http://127.0.0.1:1/sse map[] [] true <nil>",
		"http":  "http  [] map[] http://127.0.0.1:1/mcp map[] [] true <nil>",
		"stdio": "stdio x [] map[]  map[] [] true <nil>",
	} {
		s := c.Servers[name]
		if got := fmt.Sprint(s.Type, " ", s.Command, " ", s.Args, " ", s.Env, " ", s.URL, " ", s.Headers, " ", s.Allow, " ", s.On(), " ", s.Fault); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	if unknown := Unknown(dir); unknown != nil {
		t.Error(unknown)
	}
	if !Refers(dir, "SECRET") || Refers(dir, "OTHER") || Refers(dir, "SECRE") {
		t.Error("the variables of the file are not known")
	}
}

// One server must not stop the others, nor the agent.
func TestAServerThatCannotBeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{}":                              "it has neither a command nor a url",
		"":                                "it has neither a command nor a url",
		"{command: x, url: 'http://x/y'}": "it has a command and a url, and can have only one of them",
		"{type: http, command: x}":        "the type http needs a url",
		"{type: stdio, url: 'http://x'}":  "the type stdio needs a command",
		"{type: ws, url: 'http://x'}":     `the type "ws" is none of stdio, http, sse`,
		"{url: 'example.com/mcp'}":        `url: "example.com/mcp" is not an http address`,
		"{command: x, env: {A: '${NO_A} ${NO_B}'}}":         "env.A: NO_A and NO_B are not set: add them to .env with hermes-agent config set",
		"{url: 'http://x', headers: {X-Key: '${NO_A}'}}":    "headers.X-Key: NO_A is not set: add it to .env with hermes-agent config set",
		"{command: '${NO_A}', args: ['${NO_B}']}":           "command: NO_A is not set",
		"{url: 'http://x', headers: {A: b}, env: {C: d}}":   "env belongs to a command",
		"{command: x, headers: {A: b}}":                     "headers belong to a url",
		"{command: x, allow: ['']}":                         "allow: a tool without a name",
		"{command: x, enabled: false, env: {A: '${NO_A}'}}": "",
	} {
		_, c, err := load(t, map[string]string{"OPENAI_API_KEY": "k"}, map[string]string{fileName: "mcp_servers:\n  s: " + text + "\n  good: {command: y}\n"})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Servers["s"].Fault; (got == nil) != (want == "") || got != nil && !strings.HasPrefix(got.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, got, want)
		}
		if c.Servers["good"].Fault != nil {
			t.Error(c.Servers["good"].Fault)
		}
	}
	_, _, err := load(t, map[string]string{"OPENAI_API_KEY": "k"}, map[string]string{fileName: "mcp_servers:\n  s: {command: [x]}\n"})
	if err == nil || !strings.Contains(err.Error(), fileName) {
		t.Error(err)
	}
}

func TestSecretsOfServersThatOthersCanReadAreFound(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, fileName)
	text := "mcp_servers:\n  a: {command: x, env: {GITHUB_TOKEN: abc, PORT: 1, OTHER_KEY: '${K}'}}\n  b: {url: 'http://x', headers: {Authorization: Bearer x}}\n"
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := Exposed(dir); !slices.Equal(got, []string{"mcp_servers.a.env.GITHUB_TOKEN", "mcp_servers.b.headers.Authorization"}) {
		t.Errorf("%q", got)
	}
}
