package plugin

import (
	"sync"

	"github.com/hermes-nvim/hermes/runtime/preset"
)

// presets are the agents that connect knows by name. A user's setup{agents}
// wins over them.
var presets = sync.OnceValue(preset.Builtin)

// presetOf returns the command of a preset and whether there is one.
func presetOf(name string) (command, bool) {
	p, err := presets().Find(name)
	if err != nil {
		return command{}, false
	}
	c := command{Command: p.Program(), Args: p.Args, Env: p.Env, Cwd: p.Cwd, PassEnv: p.PassEnv, Install: p.Install}
	if p.Quirks.MissingFileEmpty {
		c.Quirks.MissingFile = "empty"
	}
	if p.Quirks.OneSession {
		c.Quirks.OneSession = &p.Quirks.OneSession
	}
	return c, true
}
