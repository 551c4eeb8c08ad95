package setup

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/internal/preset"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/transport/pathmap"
)

// Command is how an agent is started or reached.
type Command struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`

	// The agent gets a small part of the environment; these widen it.
	PassEnv    []string `json:"pass_env,omitempty"` // names; a final * stands for any rest
	InheritEnv bool     `json:"inherit_env,omitempty"`

	Remote
	Quirks    Quirks    `json:"quirks,omitempty"`
	Reconnect *bool     `json:"reconnect,omitempty"`       // in place of Config.Reconnect
	Terminal  RunAccess `json:"terminal_access,omitempty"` // in place of Permissions.Terminal

	Shared *bool    `json:"shared,omitempty"` // its sessions, with its own terminal
	share  []string // the arguments for that; nil: it cannot

	Paths map[string]string `json:"paths,omitempty"` // the agent's names of folders, by their names here

	Sandbox *confine.Sandbox `json:"sandbox,omitempty"` // of the agent and its commands
	Box     *confine.Box     `json:"-"`                 // made of it for a connection; nil: nothing is confined
	State   []string         `json:"-"`                 // where the agent keeps things of its own, see preset.Preset

	Shim  *bool    `json:"shim,omitempty"` // what it changes is reported by a shim
	Shims []string `json:"-"`              // made of it for a connection, in front of the command line

	Install string `json:"-"` // what to do when the program is missing
	Auth    string `json:"-"` // how one logs in
}

// MissingEmpty is the value of Quirks.MissingFile that answers with no text.
const MissingEmpty = "empty"

// Quirks are what to do differently for an agent.
type Quirks struct {
	// MissingFile is the answer to reading a file that is not there: "error",
	// or "empty" for agents that create a file only after they have read it.
	MissingFile string `json:"missing_file,omitempty"`
	// OneSession: the agent mixes its sessions up and gets a process for each.
	OneSession *bool `json:"one_session,omitempty"`
	// IgnoresEOF: the agent does not end with its input.
	IgnoresEOF *bool `json:"ignores_eof,omitempty"`
	// Unannounced: the agent supports more than it has announced.
	Unannounced *bool `json:"unannounced,omitempty"`
	// Elsewhere: the user also prompts the agent elsewhere.
	Elsewhere *bool `json:"elsewhere,omitempty"`
}

// over returns q with the members that o sets replaced.
func (q Quirks) over(o Quirks) Quirks {
	return Quirks{
		MissingFile: cmp.Or(o.MissingFile, q.MissingFile),
		OneSession:  cmp.Or(o.OneSession, q.OneSession),
		IgnoresEOF:  cmp.Or(o.IgnoresEOF, q.IgnoresEOF),
		Unannounced: cmp.Or(o.Unannounced, q.Unannounced),
		Elsewhere:   cmp.Or(o.Elsewhere, q.Elsewhere),
	}
}

// over returns c with the members that o sets replaced; env is merged.
func (c Command) over(o Command) Command {
	if o.Command != "" {
		c.Command, c.Args, c.share, c.Remote = o.Command, nil, nil, Remote{}
	}
	c.Remote = c.Remote.over(o.Remote)
	c.Reconnect = cmp.Or(o.Reconnect, c.Reconnect)
	c.Terminal = cmp.Or(o.Terminal, c.Terminal)
	c.Shared = cmp.Or(o.Shared, c.Shared)
	c.Shim = cmp.Or(o.Shim, c.Shim)
	c.Quirks = c.Quirks.over(o.Quirks)
	if o.Args != nil {
		c.Args = o.Args
	}
	if o.Cwd != "" {
		c.Cwd = o.Cwd
	}
	if o.Paths != nil {
		c.Paths = o.Paths
	}
	c.Sandbox = cmp.Or(o.Sandbox, c.Sandbox)
	c.PassEnv = slices.Concat(c.PassEnv, o.PassEnv)
	c.InheritEnv = c.InheritEnv || o.InheritEnv
	env := maps.Clone(c.Env)
	if env == nil {
		env = make(map[string]string)
	}
	maps.Copy(env, o.Env)
	c.Env = env
	return c
}

// shared returns c with what makes the agent share its sessions with its terminal.
func (c Command) shared(name string) (Command, error) {
	switch {
	case c.share == nil:
		return c, wire.Invalid("connect: agent %q cannot share its sessions with its terminal; \"codex\" can if the codex binary is in PATH", name)
	case c.Sandbox != nil:
		return c, wire.Invalid("connect: agent %q: what is shared cannot be in a sandbox; set sandbox = false", name)
	}
	yes := true
	c.Args, c.Quirks.Elsewhere = slices.Concat(c.Args, c.share), &yes
	return c, nil
}

// PathRules are c.Paths, for its connections.
func (c Command) PathRules() ([]pathmap.Rule, error) {
	var rules []pathmap.Rule
	for here, there := range c.Paths {
		r, err := pathmap.NewRule(here, there)
		if err != nil {
			return nil, wire.Invalid("%v", err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func fromPreset(p preset.Preset) Command {
	c := Command{Command: p.Program(), Args: p.Args, Env: p.Env, Cwd: p.Cwd, PassEnv: p.PassEnv,
		State: p.State, share: p.Shared, Sandbox: p.Sandbox, Install: p.Install, Auth: p.Auth}
	if Is(p.Quirks.MissingFileEmpty) {
		c.Quirks.MissingFile = MissingEmpty
	}
	c.Quirks.OneSession, c.Quirks.IgnoresEOF, c.Quirks.Elsewhere = p.Quirks.OneSession, p.Quirks.IgnoresEOF, p.Quirks.Elsewhere
	return c
}

// preset is the agent as package preset describes it.
func (c Command) preset() preset.Preset {
	p := preset.Preset{Command: c.Command, Args: c.Args, Env: c.Env, Cwd: c.Cwd, PassEnv: c.PassEnv, State: c.State, Sandbox: c.Sandbox}
	p.Quirks.IgnoresEOF = c.Quirks.IgnoresEOF
	return p
}

// politeWait is how long an agent has to end after its input has, and after
// TERM. Neovim kills the host two seconds after it has asked it to stop. Where
// there are no keepers, agents that ignore both must be gone by then, because
// nobody would be there to kill them.
const politeWait = 600 * time.Millisecond

// Process is the program to start.
func (c Command) Process() launch.Command {
	cmd := c.preset().Process()
	cmd.InheritEnv, cmd.LeaveTurns = c.InheritEnv, Is(c.Quirks.Elsewhere)
	cmd.EOFWait, cmd.TermWait, cmd.KillWait = cmp.Or(cmd.EOFWait, politeWait), politeWait, time.Second
	return cmd
}
