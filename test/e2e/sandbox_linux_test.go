package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/test/editors"
	"github.com/hermes-nvim/hermes/test/llm"
)

// Published agents complete their turns inside, with the commands that they run
// themselves (gemini) and those that they have the client run (claude), and what they
// try outside fails.
func TestConfinedAgentsCompleteTheirTurns(t *testing.T) {
	t.Parallel()
	if lacks := (confine.Rules{}).Missing(); len(lacks) > 0 {
		if os.Getenv("CI") != "" {
			t.Fatal(lacks)
		}
		t.Skip(lacks)
	}
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	dir := realTempDir(t)
	work, outside, home := filepath.Join(dir, "work"), filepath.Join(dir, "outside"), filepath.Join(dir, "home")
	for _, d := range []string{work, outside, filepath.Join(dir, "tmp")} {
		writeFile(t, filepath.Join(d, "file"), "text")
	}
	writeFile(t, filepath.Join(home, ".ssh/id"), "SECRET")
	env := environment{hermes: build(t), model: model.URL, home: home, npm: os.Getenv("HERMES_AGENTS")}
	type agent struct {
		Launch    launch `json:"launch"`
		Prompt    string `json:"prompt"`
		Terminals int    `json:"terminals"`
	}
	script := func(name string) string {
		return fmt.Sprintf("echo x > %s/%s || printf 'ref%%s\\n' used; cat %s/.ssh/id; echo y > %s", outside, name, home, name)
	}
	prompt := func(tool string, input map[string]any) string {
		b, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		return "SAY trying\nCALL " + tool + " " + string(b) + "\nSAY done"
	}
	run(t, editors.All(t)[0].Path, "sandbox.lua", map[string]any{
		"hermes": env.hermes, "workspace": work, "outside": outside,
		"agents": map[string]agent{
			"gemini": {agents["gemini"](t, env), prompt("run_shell_command", map[string]any{"command": script("gemini"), "description": "try"}), 0},
			"claude": {agents["claude"](t, env), prompt("mcp__acp__Bash", map[string]any{
				"command": script("claude"), "description": "try", "timeout": 60000, "run_in_background": false,
			}), 1},
		},
	}, "HOME="+home, "TMPDIR="+filepath.Join(dir, "tmp"))
	if b, err := os.ReadDir(outside); err != nil || len(b) != 1 {
		t.Errorf("something is new outside: %v, %v", b, err)
	}
}
