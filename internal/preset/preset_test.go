package preset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
)

func TestEveryBuiltinPresetCanBeStarted(t *testing.T) {
	t.Parallel()
	s := Builtin()
	for _, name := range strings.Fields("claude-agent-acp claude-code-acp codex-acp gemini opencode copilot qwen cline droid kilo pi goose nanocoder auggie cursor hermes-agent demo") {
		p, err := s.Find(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Name == "" || p.Title == "" || p.Install == "" || p.Process().Path == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	demo, _ := s.Find("demo")
	self, _ := os.Executable()
	if c := demo.Process(); c.Path != self || !slices.Equal(c.Args, []string{"demo-agent"}) {
		t.Errorf("%+v", c)
	}
	old, _ := s.Find("claude-code-acp")
	if c := old.Process(); c.EOFWait != shortWait {
		t.Errorf("waits %v for an agent that ignores the end of its input", c.EOFWait)
	}
}

// Agents that talk to whatever model the user has a key for need the keys.
func TestAgentsOfManyProvidersGetTheirKeys(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields("cline goose kilo nanocoder opencode pi") {
		p, err := Builtin().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, prefix := range []string{"ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*"} {
			if !slices.Contains(p.PassEnv, prefix) {
				t.Errorf("%s is not given %s", name, prefix)
			}
		}
	}
}

// An agent that wants a login says so without the way to it.
func TestEveryPresetSaysHowToLogIn(t *testing.T) {
	t.Parallel()
	for _, name := range Builtin().Names() {
		if p, err := Builtin().Find(name); err != nil || p.Auth == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDroidGetsAProcessForEachSession(t *testing.T) {
	t.Parallel()
	p, err := Builtin().Find("droid")
	if err != nil || p.Quirks.OneSession == nil || !*p.Quirks.OneSession {
		t.Errorf("%+v, %v", p.Quirks, err)
	}
}

func TestAnUnknownNameListsTheKnownOnes(t *testing.T) {
	t.Parallel()
	_, err := Builtin().Find("nobody")
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), `unknown agent "nobody"; known agents: auggie, claude, `) {
		t.Error(err)
	}
}

func TestUsersOverridePresetsMemberByMember(t *testing.T) {
	t.Parallel()
	mine, err := Read("mine", strings.NewReader(`{
		"gemini-cli": {"args": ["--acp", "--debug"], "env": {"A": "1"}, "pass_env": ["X_*"], "quirks": {"ignores_eof": true}},
		"opencode": {"command": "/opt/opencode"},
		"claude-code-acp": {"quirks": {"ignores_eof": false}},
		"own": {"command": "own-agent", "aliases": ["mine"], "quirks": {"one_session": true}}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	s := Builtin().With(mine)
	g, err := s.Find("gemini")
	if err != nil || g.Command != "gemini" || !slices.Equal(g.Args, []string{"--acp", "--debug"}) || !*g.Quirks.MissingFileEmpty || !*g.Quirks.IgnoresEOF ||
		!slices.Equal(g.PassEnv, []string{"GEMINI_*", "GOOGLE_*", "X_*"}) || !slices.Equal(g.Process().Env, []string{"A=1"}) {
		t.Errorf("%+v, %v", g, err)
	}
	if old, _ := s.Find("claude-code-acp"); old.Process().EOFWait != 0 {
		t.Error("a quirk cannot be taken back")
	}
	if o, _ := s.Find("opencode"); o.Command != "/opt/opencode" || o.Args != nil || o.Install == "" {
		t.Errorf("%+v", o)
	}
	if own, err := s.Find("mine"); err != nil || own.Name != "own" || !*own.Quirks.OneSession {
		t.Errorf("%+v, %v", own, err)
	}
	if g, _ := Builtin().Find("gemini"); len(g.Args) != 1 || g.Quirks.IgnoresEOF != nil {
		t.Error("the presets themselves were changed")
	}
	if none, err := ReadFile(filepath.Join(t.TempDir(), "none.json")); err != nil || len(Builtin().With(none).Names()) != len(Builtin().Names()) {
		t.Error(err)
	}
}

func TestBadPresetsNameThePlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n\"a\": {\"commnd\": \"x\"}}": `f: json: unknown field "commnd"`,
		"{\n\"a\": {\"command\": 1}}":    "f: line 2: ",
		"{\n\n,":                         "f: line 3: ",
		`{} {}`:                          "f: there is more text",
		`{"a b": {}}`:                    `f: "a b" is not a valid name`,
		`{"a": {"aliases": ["x"]}, "b": {"aliases": ["x"]}}`: `f: "x" is an alias of both a and b`,
		`{"a": {"aliases": ["b"]}, "b": {}}`:                 `f: "b" is both an alias of a and an agent`,
		strings.Repeat(" ", maxFile+1):                       "f: more than",
	} {
		if _, err := Read("f", strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

const sample = `{"version":"1.0.0","extensions":[],"agents":[
 {"id":"packed","name":"Packed","version":"1.2.3","repository":"https://example.com/r","distribution":{"npx":{"package":"@x/packed@1.2.3","args":["--acp"],"env":{"A":"b"}},"binary":{}}},
 {"id":"named","name":"Named","website":"https://example.com/w","distribution":{"npx":{"package":"@x/named@1","cmd":"named-acp","args":["-v"]}}},
 {"id":"snake","name":"Snake","distribution":{"uvx":{"package":"snake==4","cmd":"snake-acp"}}},
 {"id":"built","name":"Built","distribution":{"binary":{"linux-x86_64":{"archive":"https://example.com/b.tgz","sha256":"ab","cmd":"./dist/built","args":["acp"]},
   "windows-x86_64":{"archive":"https://example.com/b.zip","cmd":".\\dist\\built.exe"}}}},
 {"id":"Bad/../Name","name":"Bad","distribution":{"npx":{"package":"x"}}},
 {"id":"nothing","name":"Nothing","distribution":{}},
 {"id":"packed","name":"Again","distribution":{"npx":{"package":"x"}}}
]}`

func TestARegistryBecomesPresets(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "registry.json")
	if err := os.WriteFile(path, []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	set, skipped, err := LoadRegistry(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"packed": "npx -y @x/packed@1.2.3 --acp",
		"named":  "npx -y --package @x/named@1 named-acp -v",
		"snake":  "uvx --from snake==4 snake-acp",
	} {
		p, err := set.Find(name)
		if got := p.Process().String(); err != nil || got != want || p.Install == "" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if p, _ := set.Find("packed"); p.Website != "https://example.com/r" || p.Env["A"] != "b" || p.Title != "Packed" {
		t.Errorf("%+v", p)
	}
	text := fmt.Sprint(skipped)
	for _, want := range []string{`agent 5 ("Bad/../Name"): the id needs`, `agent 6 ("nothing"): it has no npx`, `agent 7 ("packed"): listed twice`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

func TestABinaryOfARegistryIsForOnePlatform(t *testing.T) {
	t.Parallel()
	e := entry{ID: "b"}
	e.Distribution.Binary = map[string]binary{
		"linux-aarch64":  {Archive: "https://x/a.tgz", SHA256: "ab", Cmd: "./d/b", Args: []string{"acp"}},
		"windows-x86_64": {Archive: "https://x/a.zip", Cmd: `.\d\b.exe`},
	}
	p, err := e.preset("linux", "arm64")
	if err != nil || p.Process().String() != "b acp" || !strings.Contains(p.Install, "https://x/a.tgz") || !strings.Contains(p.Install, "sha256 of the archive: ab") {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := e.preset("windows", "amd64"); err != nil || p.Command != "b.exe" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := e.preset("darwin", "amd64"); err == nil || err.Error() != "there is no build for darwin-x86_64" {
		t.Error(err)
	}
}

func TestARegistryComesOverHTTPSOnly(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, sample) }))
	defer plain.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, sample) })
	mux.HandleFunc("/down", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) })
	mux.HandleFunc("/huge", func(w http.ResponseWriter, _ *http.Request) {
		for chunk := make([]byte, 1<<20); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/v2", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"version":"2.0.0","agents":[]}`) })
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	for path, want := range map[string]string{
		"/good": "", "/down": "which is not https", "/huge": "more than", "/v2": "reads version 1", "/none": "404 Not Found",
		"/slow": "context deadline exceeded",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience.Soon)
		if path == "/slow" {
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		}
		client := *server.Client()
		set, _, err := fetch(ctx, server.URL+path, &client)
		cancel()
		if want == "" && (err != nil || len(set.Names()) < 3) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, _, err := LoadRegistry(t.Context(), plain.URL); err == nil || !strings.Contains(err.Error(), "only https URLs and files") {
		t.Error(err)
	}
	if _, _, err := LoadRegistry(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
