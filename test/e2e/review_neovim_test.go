package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/test/editors"
	"github.com/hermes-nvim/hermes/test/llm"
)

// A published agent writes through Neovim, with commands of Neovim and with
// commands of its own. No buffer is stale, and each change is told once.
func TestNeovimIsToldOnceOfEachChangeOfARealAgent(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	hermes := build(t)
	const script = `sed s/two/2/ deep/list.txt > t && mv t deep/list.txt; rm gone.txt; printf 'made\n' > new.txt`
	steps := map[string]func(path string) []string{
		"gemini": func(path string) []string {
			return []string{
				call(t, "read_file", map[string]any{"file_path": path}),
				call(t, "replace", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA", "instruction": "as asked"}),
				call(t, "run_shell_command", map[string]any{"command": script, "description": "all of it"}),
			}
		},
		"claude": func(path string) []string {
			return []string{
				call(t, "mcp__acp__Read", map[string]any{"file_path": path}),
				call(t, "mcp__acp__Edit", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA"}),
				call(t, "mcp__acp__Bash", map[string]any{"command": script, "description": "all of it", "timeout": 60000, "run_in_background": false}),
			}
		},
	}
	for _, nvim := range editors.All(t) {
		for name := range steps {
			t.Run(nvim.Version+"/"+name, func(t *testing.T) {
				t.Parallel()
				env := environment{hermes: hermes, model: model.URL, home: t.TempDir(), npm: os.Getenv("HERMES_AGENTS")}
				work := realTempDir(t)
				for file, text := range map[string]string{"hello.txt": "alpha\nbeta\ngamma\n", "deep/list.txt": "one\ntwo\n", "gone.txt": "gone\n"} {
					writeFile(t, filepath.Join(work, file), text)
				}
				run(t, nvim.Path, "review.lua", map[string]any{
					"agent": name, "hermes": hermes, "launch": agents[name](t, env), "workspace": work, "steps": steps[name](filepath.Join(work, "hello.txt")),
				})
			})
		}
	}
}
