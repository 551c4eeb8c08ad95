//go:build amd64 || arm64

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
)

// A command in the sandbox reaches further than the project only after a yes, and the model
// is told what it was not allowed to do.
func TestAChatAsksWhatACommandMayReach(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		t.Skip(lacks)
	}
	p := newPerson(t)
	settings, home := t.TempDir(), t.TempDir()
	for _, dir := range []string{"docs", "tmp"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(settings, "config.yaml"), []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "HERMES_AGENT_HOME="+settings, "HOME="+home, "TMPDIR="+home+"/tmp")
	if out, err := p.command("doctor").Output(); err != nil || !strings.Contains(string(out), "good:   commands run in a sandbox, and what they may reach beyond their project is asked about\n") {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	p.start("chat")
	p.sees("> ")
	p.types(`CALL terminal {"command":"cat a.txt > f; cat f; echo x > ~/docs/a; echo ma''de"}` + "\r")
	p.sees("* Create ~/docs/a")
	p.sees("1 Allow for this command: ~/docs/")
	p.sees("3 Always allow: ~/docs/")
	p.sees("4 Reject")
	p.sees("1 to 4? ")
	p.types("1\r")
	p.sees("made")
	p.sees("> ")
	p.types(`CALL terminal {"command":"echo x > ~/docs/b; echo next"}` + "\r")
	p.sees("* Create ~/docs/b")
	p.sees("4 Reject")
	p.sees("1 to 4? ")
	p.types("4\r")
	p.sees("not allowed: Create ~/docs/b: the user denied it")
	p.sees("> ")
	p.types(`CALL terminal {"command":"echo x > ~/docs/c; echo o''nce"}` + "\r")
	p.sees("* Create ~/docs/c")
	p.sees("4 Reject")
	p.sees("1 to 4? ")
	p.types("3\r")
	p.sees("once")
	p.sees("> ")
	p.leaves()
	p.start("chat")
	p.sees("> ")
	p.types(`CALL terminal {"command":"echo x > ~/docs/d; echo for e''ver"}` + "\r")
	p.sees("for ever")
	p.sees("> ")
	p.leaves()
	for name, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if _, err := os.Stat(filepath.Join(home, "docs", name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
