package preset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/special"
)

func TestStateIsWhereTheAgentsEnvironmentPutsIt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	env := []string{"HOME=" + home, "MOVED=" + home + "/moved"}
	p := Preset{State: []string{"~/.agent/", "${MOVED:-~/.cache}/a/", "${UNSET:-~/.data}/b/", "~/config.json", "~/none.toml"}}
	got, err := p.state(env)
	want := []string{home + "/.agent/", home + "/moved/a/", home + "/.data/b/", home + "/config.json"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if info, err := os.Stat(home + "/moved/a"); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if b, err := os.ReadFile(home + "/config.json"); err != nil || string(b) != "{}\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.WriteFile(home+"/config.json", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.state(env); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(home + "/config.json"); string(b) != "mine" {
		t.Errorf("it was overwritten: %q", b)
	}
	if _, err := (Preset{State: []string{"relative/"}}).state(env); err == nil || !strings.Contains(err.Error(), `"relative/": not an absolute path`) {
		t.Error(err)
	}
}

// An agent that is started by its program alone keeps its state where the preset of
// that program says.
func TestStateBelongsToTheProgram(t *testing.T) {
	t.Parallel()
	env := []string{"HOME=" + t.TempDir()}
	for command, want := range map[string]string{
		"/opt/bin/claude-agent-acp": ".claude.json", "claude": ".claude.json", "gemini": ".gemini/", "my-agent": "",
		"hermes-agent": "hermes-agent/", "hermes-acp": ".hermes/",
	} {
		got, err := Preset{Command: command}.state(env)
		if err != nil || (len(got) > 0) != (want != "") || len(got) > 0 && !strings.HasSuffix(got[len(got)-1], "/"+want) {
			t.Errorf("%s: %q, %v, want %s", command, got, err, want)
		}
	}
}

func TestEveryStateIsAPathBelowTheHomeFolder(t *testing.T) {
	t.Parallel()
	n := 0
	for _, name := range Builtin().Names() {
		p, err := Builtin().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range p.State {
			n++
			full := expand(path, []string{"HOME=/home/me"})
			if !strings.HasPrefix(full, "/home/me/.") || strings.ContainsAny(full, "${}") || strings.Contains(full, "//") || full == "/home/me/.config/" {
				t.Errorf("%s: %s is %s", name, path, full)
			}
			// Other agents do not see it in their sandboxes.
			inHidden := func(dir string) bool { return pathname.Within(dir, full) }
			if !slices.ContainsFunc(special.Hidden("/home/me", func(string) string { return "" }), inHidden) && !strings.Contains(full, "/.cache/") {
				t.Errorf("%s: %s is not hidden", name, full)
			}
			for _, secret := range []string{"/.ssh", "/.gnupg", "/.aws"} {
				if strings.Contains(full, secret) {
					t.Errorf("%s may change %s", name, full)
				}
			}
		}
	}
	if n < 15 {
		t.Errorf("only %d paths", n)
	}
}

func TestAPresetsSandboxIsReadStrictly(t *testing.T) {
	t.Parallel()
	s, err := Read("a.json", strings.NewReader(`{"a": {"command": "x", "sandbox": {"net": [443]}}, "b": {"sandbox": false}, "c": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	base, err := s.Find("a")
	if err != nil || !base.Sandbox.On() || base.Sandbox.Rules.Net.Ports[0] != 443 {
		t.Errorf("%+v, %v", base, err)
	}
	off, _ := s.Find("b")
	unset, _ := s.Find("c")
	if base.Over(off).Sandbox.On() || !base.Over(unset).Sandbox.On() {
		t.Error("false does not turn it off, or nothing does")
	}
	if _, err := Read("a.json", strings.NewReader(`{"a": {"sandbox": {"wirte": []}}}`)); err == nil || !strings.Contains(err.Error(), "wirte") {
		t.Error(err)
	}
}

func TestABoxHoldsStateAndFolders(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"project", "tmp"} {
		if err := os.Mkdir(filepath.Join(home, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := Preset{Command: "x", State: []string{"~/.x/"}, Sandbox: &confine.Sandbox{Rules: &confine.Rules{}}}
	env := []string{"HOME=" + home, "TMPDIR=" + home + "/tmp"}
	box, err := p.Box([]string{"launcher"}, env, home+"/project")
	if err != nil || !slices.Equal(box.Rules.Write, []string{home + "/.x", home + "/project", home + "/tmp"}) {
		t.Errorf("%+v, %v", box, err)
	}
	if w := box.Wrapper(); len(w) != 4 || w[0] != "launcher" || w[1] != "--rules" || w[3] != "--" {
		t.Errorf("%q", w)
	}
	p.Sandbox = nil
	if box, err := p.Box(nil, env, t.TempDir()); box != nil || err != nil {
		t.Errorf("%+v, %v", box, err)
	}
}
