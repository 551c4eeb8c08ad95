package preset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
)

// codexIn is the preset of codex under a name, with a PATH that has the program or
// not.
func codexIn(t *testing.T, installed bool, name string, over *Set) Preset {
	t.Helper()
	dir := t.TempDir()
	if installed {
		if err := gobuild.Write(filepath.Join(dir, "codex"), "#!/bin/sh\n"); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	s := Builtin()
	if over != nil {
		s = s.With(over)
	}
	p, err := s.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCodexIsHermesItselfWhereItsProgramIsInstalled(t *testing.T) {
	self, _ := os.Executable()
	mine, err := Read("mine", strings.NewReader(`{"codex":{"command":"my-codex","args":["x"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	more, err := Read("more", strings.NewReader(`{"codex":{"env":{"A":"b"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name      string
		installed bool
		over      *Set
		program   string
		args      []string
		why       string
	}{
		{"codex", true, nil, self, []string{"codex-agent"}, "codex is installed: Hermes speaks"},
		{"codex", false, nil, "codex-acp", nil, "codex is not in PATH: codex-acp is used"},
		{"codex-acp", true, nil, "codex-acp", nil, ""},
		{"codex", true, mine, "my-codex", []string{"x"}, ""},
		{"codex", true, more, self, []string{"codex-agent"}, "codex is installed"},
		{"gemini", true, nil, "gemini", []string{"--acp"}, ""},
	} {
		p := codexIn(t, test.installed, test.name, test.over)
		if c := p.Process(); c.Path != test.program || !slices.Equal(c.Args, test.args) {
			t.Errorf("%+v: %s %q", test, c.Path, c.Args)
		}
		if why := p.Choice(); (test.why == "") != (why == "") || !strings.Contains(why, test.why) {
			t.Errorf("%+v: %q", test, why)
		}
	}
}
