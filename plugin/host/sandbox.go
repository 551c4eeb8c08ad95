package host

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/confine"
	"github.com/hermes-nvim/hermes/runtime/preset"
)

// box prepares the sandbox of an agent, nil when it has none. The folders are
// those that it may change besides its own, because it is started before it has
// any session.
func (h *Host) box(p connectOp, c command) (*confine.Box, error) {
	if !c.Sandbox.On() {
		return nil, nil
	}
	if c.runsElsewhere() {
		if p.SandboxDefault {
			return nil, nil // setup{sandbox} is for the agents that are started here
		}
		return nil, &wire.Error{Kind: wire.ErrorSandbox, Message: fmt.Sprintf(
			"agent %q runs elsewhere, where Hermes cannot confine it: confine it there, or set its sandbox to false", p.Agent)}
	}
	folders := slices.Clone(p.Folders)
	if c.Cwd != "" {
		folders = append(folders, c.Cwd)
	}
	agent := c.preset()
	box, err := agent.Box(h.launcher, c.process().Environ(), folders...)
	if err != nil {
		if errors.Is(err, confine.ErrUnsupported) {
			err = fmt.Errorf("%w; sandbox = false starts it as it is", err)
		}
		return nil, &wire.Error{Kind: wire.ErrorSandbox, Message: fmt.Sprintf("agent %q cannot be confined", p.Agent), Cause: err}
	}
	if len(box.Wrapper()) == 0 { // best_effort, where there is nothing
		h.notice("warn", "agent %q is not confined: %s", p.Agent, strings.Join(box.Missing, "; "))
		return nil, nil
	}
	return box, nil
}

// fitBox refuses a session in folders that the agent cannot change.
func (r *request) fitBox() error {
	switch r.method {
	case acp.MethodSessionNew, acp.MethodSessionLoad, acp.MethodSessionResume, methodFork:
	default:
		return nil
	}
	c := r.conn
	for _, root := range r.roots() {
		if root == "" || r.force || c.cmd.box.Covers(root) {
			continue
		}
		return &wire.Error{Kind: wire.ErrorSandbox, Message: fmt.Sprintf(
			"agent %q is confined and cannot change %s: add it to the write of its sandbox and connect again (it may change %s)",
			c.name, root, strings.Join(c.cmd.box.Rules.Write, ", "))}
	}
	return nil
}

// boxed describes the sandbox for Lua, nil without one.
func (c *connection) boxed() *wire.Object {
	switch b := c.cmd.box; {
	case b == nil:
		return nil
	case b.Rules == nil:
		return new(wire.Object).Strs("wrapper", b.Wrapper())
	default:
		o := new(wire.Object).Strs("write", b.Rules.Write).Strs("hide", b.Rules.Hide).Flag("sockets", b.Rules.Sockets)
		if b.Rules.Read != nil {
			o.Strs("read", b.Rules.Read)
		}
		if net, err := b.Rules.Net.MarshalJSON(); err == nil {
			o.Raw("net", net)
		}
		if len(b.Missing) > 0 {
			o.Strs("missing", b.Missing)
		}
		return o
	}
}

// loginWrapper is the wrapper for programs that Neovim starts. There the link to
// the running program would lead to Neovim.
func (c *connection) loginWrapper() []string {
	words := slices.Clone(c.cmd.box.Wrapper())
	if len(words) > 0 && words[0] == "/proc/self/exe" {
		if self, err := os.Executable(); err == nil {
			words[0] = self
		}
	}
	return words
}

// preset is the agent as package preset describes it.
func (c command) preset() preset.Preset {
	p := preset.Preset{Command: c.Command, Args: c.Args, Env: c.Env, Cwd: c.Cwd, PassEnv: c.PassEnv, State: c.State, Sandbox: c.Sandbox}
	p.Quirks.IgnoresEOF = c.Quirks.IgnoresEOF
	return p
}
