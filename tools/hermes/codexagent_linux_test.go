package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/codex/shared"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/testcodex"
)

func TestACheckOfSharingSaysWhetherACodexCanShareAndDoes(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	check := func(program string) (string, error) {
		var out bytes.Buffer
		err := checkSharing(t.Context(), program, &stdio{out: &out})
		return out.String(), err
	}
	for name, c := range map[string]struct{ help, want string }{
		"no listening": {`case $1 in resume) echo "--remote <ADDR>" ;; esac`, "`codex app-server --help` does not know unix://"},
		"no remote":    {`case $1 in app-server) echo "unix://PATH" ;; esac`, "`codex resume --help` does not know --remote"},
		"no help":      {"exit 1", "too old to share sessions"},
	} {
		program := filepath.Join(t.TempDir(), "codex")
		if err := gobuild.Write(program, "#!/bin/sh\n"+c.help+"\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := check(program); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	program := testcodex.Binary(t)
	if out, err := check(program); err != nil || out != "sharing: no app-server runs; the first session starts one\n" {
		t.Errorf("%q, %v", out, err)
	}
	dir := shared.Dir(program)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", shared.Socket(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if out, err := check(program); err != nil || out != "sharing: an app-server runs, "+shared.Socket(dir)+"\n" {
		t.Errorf("%q, %v", out, err)
	}
}
