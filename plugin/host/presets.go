package host

import (
	"cmp"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/preset"
)

// presets are the agents that connect knows by name. A user's setup{agents}
// wins over them.
var presets = sync.OnceValue(preset.Builtin)

func fromPreset(p preset.Preset) command {
	c := command{Command: p.Program(), Args: p.Args, Env: p.Env, Cwd: p.Cwd, PassEnv: p.PassEnv,
		State: p.State, share: p.Shared, Sandbox: p.Sandbox, Install: p.Install, Auth: p.Auth}
	if isTrue(p.Quirks.MissingFileEmpty) {
		c.Quirks.MissingFile = missingEmpty
	}
	c.Quirks.OneSession, c.Quirks.IgnoresEOF, c.Quirks.Elsewhere = p.Quirks.OneSession, p.Quirks.IgnoresEOF, p.Quirks.Elsewhere
	return c
}

// process is the program to start.
func (c command) process() launch.Command {
	cmd := c.preset().Process()
	cmd.InheritEnv, cmd.LeaveTurns = c.InheritEnv, isTrue(c.Quirks.Elsewhere)
	cmd.EOFWait, cmd.TermWait, cmd.KillWait = cmp.Or(cmd.EOFWait, politeWait), politeWait, time.Second
	return cmd
}
