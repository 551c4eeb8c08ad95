package e2e

import (
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/test/editors"
	"github.com/hermes-nvim/hermes/test/llm"
)

// Everything that makes hermes-agent worth having, in a real Neovim, with a model over
// HTTP: unsaved text, denials, hunks, plans, live terminals, commands in the background, cancelling, another process.
func TestADayWithTheAgentInTheBox(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	hermes := build(t)
	for _, nvim := range editors.All(t) {
		t.Run(nvim.Version, func(t *testing.T) {
			t.Parallel()
			env := environment{hermes: hermes, model: model.URL, home: t.TempDir(), recording: filepath.Join(t.TempDir(), "traffic.jsonl")}
			agent := agents["hermes"](t, env)
			writeFile(t, filepath.Join(env.home, "config.yaml"), "version: 1\ntoolsets: [core, process]\n")
			agent.Env["HERMES_AGENT_HOME"] = env.home
			command := env.recorded(append([]string{agent.Command}, agent.Args...)...)
			agent.Command, agent.Args = command[0], command[1:]
			run(t, nvim.Path, "hermes_agent.lua", map[string]any{"hermes": hermes, "launch": agent, "workspace": realTempDir(t)})
			lintClean(t, env.recording, lint.Client, lint.Agent)
		})
	}
}
