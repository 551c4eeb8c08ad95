package setup

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/preset"
)

func TestEveryQuirkOfAPresetReachesTheHost(t *testing.T) {
	t.Parallel()
	kind := reflect.TypeFor[preset.Quirks]()
	for i := range kind.NumField() {
		var p preset.Preset
		reflect.ValueOf(&p.Quirks).Elem().Field(i).Set(reflect.ValueOf(new(true)))
		if fromPreset(p).Quirks == (Quirks{}) {
			t.Errorf("nothing knows of %s", kind.Field(i).Name)
		}
	}
	off := Command{Quirks: Quirks{IgnoresEOF: new(bool)}}
	c := fromPreset(preset.Preset{Command: "x", Quirks: preset.Quirks{IgnoresEOF: new(true)}})
	if wait := c.Process().EOFWait; wait >= politeWait {
		t.Errorf("waits %v for an agent that ignores the end of its input", wait)
	}
	if wait := c.over(off).Process().EOFWait; wait != politeWait {
		t.Errorf("turned off, waits %v", wait)
	}
}

func TestThePresetOfGeminiReadsMissingFilesAsEmpty(t *testing.T) {
	t.Parallel()
	h := new(Agents)
	for agent, want := range map[string]string{"gemini": "empty", "claude": ""} {
		c, err := h.Resolve(agent, Command{})
		if err != nil || c.Quirks.MissingFile != want {
			t.Errorf("%s: %q, %v", agent, c.Quirks.MissingFile, err)
		}
	}
	c, err := h.Resolve("gemini", Command{Quirks: Quirks{MissingFile: "error"}})
	if err != nil || c.Quirks.MissingFile != "error" {
		t.Errorf("overridden: %q, %v", c.Quirks.MissingFile, err)
	}
}

func TestOnlyAgentsThatCanShareTheirSessionsDo(t *testing.T) {
	bin := t.TempDir()
	if err := gobuild.Write(filepath.Join(bin, "codex"), "#!/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	h, yes := new(Agents), true
	c, err := h.Resolve("codex", Command{Shared: &yes})
	if err != nil || !slices.Equal(c.Args, []string{"codex-agent", "--shared"}) {
		t.Errorf("started with %q, %v", c.Args, err)
	}
	if !Is(c.Quirks.Elsewhere) || !c.Process().LeaveTurns {
		t.Error("its turns are not those of others, too")
	}
	if c, err := h.Resolve("codex", Command{}); err != nil || slices.Contains(c.Args, "--shared") {
		t.Errorf("without it: %q, %v", c.Args, err)
	}
	for name, test := range map[string]struct {
		agent string
		given Command
		want  string
	}{
		"another agent":   {"gemini", Command{}, "cannot share"},
		"another program": {"codex", Command{Command: "codex-acp"}, "cannot share"},
		"another way":     {"codex-acp", Command{}, "cannot share"},
		"a sandbox":       {"codex", Command{Sandbox: new(confine.Sandbox)}, "sandbox = false"},
	} {
		test.given.Shared = &yes
		if _, err := h.Resolve(test.agent, test.given); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
