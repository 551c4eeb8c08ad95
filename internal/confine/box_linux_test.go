package confine_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
)

// A program in a box starts others in it, with an environment of its choice and in
// folders that it has changed.
func TestWhatAProgramChoosesDoesNotWidenItsBox(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		before func(t *testing.T, p *place)
		env    []string
		script string
	}{
		"another temporary folder": {env: []string{"TMPDIR={OUTSIDE}"}, script: "echo x > {OUTSIDE}/new"},
		"another home folder":      {env: []string{"HOME={OUTSIDE}"}, script: "cat {HOME}/.ssh/id"},
		"a link in place of a folder": {before: func(t *testing.T, p *place) {
			replace(t, p.project+"/tmp", p.outside)
		}, script: "echo x > {OUTSIDE}/new"},
		"a link in place of the project": {before: func(t *testing.T, p *place) {
			replace(t, p.project, p.outside)
		}, script: "echo x > {OUTSIDE}/new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			s := confine.Sandbox{Rules: &confine.Rules{Hide: []string{p.home + "/.ssh"}}}
			env := append(os.Environ(), "HOME="+p.home, "TMPDIR="+p.project+"/tmp")
			gone := t.TempDir()
			box, err := s.Box([]string{self, launcherWord}, env, p.project, gone)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(gone); err != nil { // which stops nothing
				t.Fatal(err)
			}
			run := func(script string, more ...string) error {
				words := slices.Concat(box.Wrapper(), []string{"/bin/sh", "-c", p.fill(script)})
				cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
				cmd.Dir, cmd.Env = p.dir, append(slices.Clone(env), more...)
				out, err := cmd.CombinedOutput()
				if strings.Contains(string(out), "SECRET") {
					t.Errorf("it told a secret: %s", out)
				}
				return err
			}
			if err := run("echo x > " + p.project + "/tmp/new"); err != nil {
				t.Fatalf("what the box allows: %v", err)
			}
			if c.before != nil {
				c.before(t, p)
			}
			var more []string
			for _, v := range c.env {
				more = append(more, p.fill(v))
			}
			if err := run(c.script, more...); err == nil {
				t.Errorf("it worked")
			}
			if _, err := os.Stat(p.outside + "/new"); err == nil {
				t.Error("it wrote outside")
			}
		})
	}
}

func replace(t *testing.T, folder, by string) {
	t.Helper()
	if err := os.Rename(folder, folder+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(by, folder); err != nil {
		t.Fatal(err)
	}
}
