package host

import (
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/internal/gobuild"
)

// The command of an agent may not show that it runs elsewhere. The program that carries its
// answer here does.
func TestAnAgentThatIsCarriedHereRunsNothingUnasked(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"far":  "#!/bin/sh\n. \"${0%/*}/rest\"\n",
		"near": "#!/bin/sh\n\"$AGENT\"\n",
		"rest": "\"${0%/*}/ssh\" host agent",
		"ssh":  "#!/bin/sh\n\"$AGENT\"\n",
	} {
		must(t, gobuild.Write(filepath.Join(dir, name), text))
	}
	inNeovim(t, func(t *testing.T, e *editor) {
		e.lua(`
local exe, dir = ...
for _, name in ipairs({ "near", "far" }) do
  hermes.setup({ agents = { [name] = {
    command = dir .. "/" .. name,
    env = { HERMES_TEST_SCENARIO = agent(serving).env.HERMES_TEST_SCENARIO, AGENT = exe },
  } } })
end`, testAgent(t), dir)
		for name, asked := range map[string]int{"near": 0, "far": 1} {
			e.lua(`done = {}; hermes.disconnect()`)
			e.until(`#hermes.connections() == 0`)
			e.openWith(`"` + name + `"`)
			e.answers("yes", "reject")
			e.prompt("EXEC true")
			e.is(`{ "`+name+`", #`+own+`, #of("TerminalExited") }`, []any{name, asked, 1 - asked})
		}
	})
}
