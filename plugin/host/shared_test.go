package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/runtime/confine"
)

func TestOnlyAgentsThatCanShareTheirSessionsDo(t *testing.T) {
	bin := t.TempDir()
	if err := gobuild.Write(filepath.Join(bin, "codex"), "#!/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	h, yes := new(Host), true
	c, err := h.resolve("codex", command{Shared: &yes})
	if err != nil || !slices.Equal(c.Args, []string{"codex-agent", "--shared"}) {
		t.Errorf("started with %q, %v", c.Args, err)
	}
	if !isTrue(c.Quirks.Elsewhere) || !c.process().LeaveTurns {
		t.Error("its turns are not those of others, too")
	}
	if c, err := h.resolve("codex", command{}); err != nil || slices.Contains(c.Args, "--shared") {
		t.Errorf("without it: %q, %v", c.Args, err)
	}
	for name, test := range map[string]struct {
		agent string
		given command
		want  string
	}{
		"another agent":   {"gemini", command{}, "cannot share"},
		"another program": {"codex", command{Command: "codex-acp"}, "cannot share"},
		"another way":     {"codex-acp", command{}, "cannot share"},
		"a sandbox":       {"codex", command{Sandbox: new(confine.Sandbox)}, "sandbox = false"},
	} {
		test.given.Shared = &yes
		if _, err := h.resolve(test.agent, test.given); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
