package setup

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/confine"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// InSandbox prepares the sandbox of an agent, if it has one. The folders are those that it may change
// besides its own, because it is started before it has any session. isDefault: the sandbox is not
// about this agent alone. launcher: see confine.Sandbox.Box. notice warns the user.
func (c Command) InSandbox(agent string, folders []string, isDefault bool, launcher []string, notice func(level, format string, args ...any)) (*confine.Box, error) {
	if !c.Sandbox.On() {
		return nil, nil
	}
	if c.RunsElsewhere() {
		if isDefault {
			return nil, nil // setup{sandbox} is for the agents that are started here
		}
		return nil, &wire.Error{Kind: wire.ErrorSandbox, Message: fmt.Sprintf(
			"agent %q runs elsewhere, where Hermes cannot confine it: confine it there, or set its sandbox to false", agent)}
	}
	if c.Cwd != "" {
		folders = append(slices.Clone(folders), c.Cwd)
	}
	box, err := c.preset().Box(launcher, c.Process().Environ(), folders...)
	if err != nil {
		if errors.Is(err, confine.ErrUnsupported) {
			err = fmt.Errorf("%w; sandbox = false starts it as it is", err)
		}
		return nil, &wire.Error{Kind: wire.ErrorSandbox, Message: fmt.Sprintf("agent %q cannot be confined", agent), Cause: err}
	}
	if len(box.Wrapper()) == 0 { // best_effort, where there is nothing
		notice("warn", "agent %q is not confined: %s", agent, strings.Join(box.Missing, "; "))
		return nil, nil
	}
	return box, nil
}

// Confined refuses folders of a session that the agent cannot change.
func Confined(agent string, box *confine.Box, roots []string) error {
	for _, root := range roots {
		if root == "" || box.Covers(root) {
			continue
		}
		return &wire.Error{Kind: wire.ErrorSandbox, Message: fmt.Sprintf(
			"agent %q is confined and cannot change %s: add it to the write of its sandbox and connect again (it may change %s)",
			agent, root, strings.Join(box.Rules.Write, ", "))}
	}
	return nil
}

// Boxed describes the sandbox for Lua, nil without one.
func (c Command) Boxed() *wire.Object {
	switch b := c.Box; {
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

// LoginWrapper is the wrapper for programs that Neovim starts. There the link to
// the running program would lead to Neovim.
func (c Command) LoginWrapper() []string {
	words := slices.Clone(c.Box.Wrapper())
	if len(words) > 0 && words[0] == "/proc/self/exe" {
		if self, err := os.Executable(); err == nil {
			words[0] = self
		}
	}
	return words
}
