package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
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
	type agent struct {
		name string
		own  bool // it writes the disk itself, because the client offers no files and no terminals
	}
	steps := map[agent]func(path string) []string{
		{name: "gemini"}: func(path string) []string {
			return []string{
				call(t, "read_file", map[string]any{"file_path": path}),
				call(t, "replace", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA", "instruction": "as asked"}),
				call(t, "run_shell_command", map[string]any{"command": script, "description": "all of it"}),
			}
		},
		{name: "claude"}: func(path string) []string {
			return []string{
				call(t, "mcp__acp__Read", map[string]any{"file_path": path}),
				call(t, "mcp__acp__Edit", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA"}),
				call(t, "mcp__acp__Bash", map[string]any{"command": script, "description": "all of it", "timeout": 60000, "run_in_background": false}),
			}
		},
		{name: "claude", own: true}: func(path string) []string {
			return []string{
				call(t, "Read", map[string]any{"file_path": path}),
				call(t, "Edit", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA", "replace_all": false}),
				call(t, "Bash", map[string]any{"command": script, "description": "all of it"}),
			}
		},
	}
	steps[agent{name: "gemini", own: true}] = steps[agent{name: "gemini"}]
	for i, nvim := range editors.All(t) {
		for agent := range steps {
			if i > 0 && (agent.name != "claude" || agent.own) {
				continue // buffers are refreshed alike, whoever wrote
			}
			title := nvim.Version + "/" + agent.name
			if agent.own {
				title += " by itself"
			}
			t.Run(title, func(t *testing.T) {
				t.Parallel()
				env := environment{hermes: hermes, model: model.URL, home: t.TempDir(), npm: os.Getenv("HERMES_AGENTS"), recording: filepath.Join(t.TempDir(), "traffic.jsonl")}
				launch := agents[agent.name](t, env)
				command := env.recorded(append([]string{launch.Command}, launch.Args...)...)
				launch.Command, launch.Args = command[0], command[1:]
				work := realTempDir(t)
				for file, text := range map[string]string{"hello.txt": "alpha\nbeta\ngamma\n", "deep/list.txt": "one\ntwo\n", "gone.txt": "gone\n"} {
					writeFile(t, filepath.Join(work, file), text)
				}
				run(t, nvim.Path, "review.lua", map[string]any{
					"agent": agent.name, "own": agent.own, "hermes": hermes, "launch": launch, "workspace": work,
					"steps": steps[agent](filepath.Join(work, "hello.txt")),
				})
				lintHurried(t, env.recording, lint.Client)
			})
		}
	}
}
