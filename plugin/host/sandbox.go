package host

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/confine"
)

// box prepares the sandbox of an agent, nil when it has none. The folders are
// those that it may change besides its own, because it is started before it has
// any session.
func (h *Host) box(p connectOp, c setup.Command) (*confine.Box, error) {
	if !c.Sandbox.On() {
		return nil, nil
	}
	if c.RunsElsewhere() {
		if p.SandboxDefault {
			return nil, nil // setup{sandbox} is for the agents that are started here
		}
		return nil, &wire.Error{Kind: wire.ErrorSandbox, Message: fmt.Sprintf(
			"agent %q runs elsewhere, where Hermes cannot confine it: confine it there, or set its sandbox to false", p.Agent)}
	}
	box, err := c.Confine(h.launcher, p.Folders...)
	if err != nil {
		if errors.Is(err, confine.ErrUnsupported) {
			err = fmt.Errorf("%w; sandbox = false starts it as it is", err)
		}
		return nil, &wire.Error{Kind: wire.ErrorSandbox, Message: fmt.Sprintf("agent %q cannot be confined", p.Agent), Cause: err}
	}
	if len(box.Wrapper()) == 0 { // best_effort, where there is nothing
		h.Notice("warn", "agent %q is not confined: %s", p.Agent, strings.Join(box.Missing, "; "))
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
		if root == "" || r.force || c.cmd.Box.Covers(root) {
			continue
		}
		return &wire.Error{Kind: wire.ErrorSandbox, Message: fmt.Sprintf(
			"agent %q is confined and cannot change %s: add it to the write of its sandbox and connect again (it may change %s)",
			c.name, root, strings.Join(c.cmd.Box.Rules.Write, ", "))}
	}
	return nil
}
