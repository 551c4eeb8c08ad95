package host

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// supervised returns the command of an agent with what has a shim report what it changes, if
// one is to. The folder is that of the session that would begin now, because the agent is
// started before it has any. Its review opens now, so that it hears of everything. The reports
// name no session: they join the turn that the agent runs. Of an agent that shares its sessions
// the app-server runs in the shim, because that changes the files, and goes on without the agent.
func (h *Host) supervised(p connectOp, c setup.Command) (setup.Command, error) {
	if !setup.Is(c.Shim) {
		return c, nil
	}
	refuse := func(why string) (setup.Command, error) {
		return c, &wire.Error{Kind: wire.ErrorInvalid, Message: fmt.Sprintf("agent %q cannot run in a shim: %s", p.Agent, why)}
	}
	state := h.reviews.StateDir()
	switch {
	case c.RunsElsewhere():
		return refuse("it runs elsewhere")
	case len(h.shim) == 0:
		return refuse("this host has none")
	case state == "":
		return refuse("the review is off; setup{review = true} turns it on")
	case len(p.Folders) == 0:
		return refuse("no folder is known")
	}
	r := h.reviews.Open(p.Folders[0])
	if r == nil {
		return refuse(fmt.Sprintf("%q is not an absolute path", p.Folders[0]))
	}
	words := append(slices.Clone(h.shim), "--agent", p.Agent, "--session", "", "--root", r.Given, "--state", state, "--")
	if !setup.Is(c.Shared) {
		c.Shims = words
		return c, nil
	}
	list, err := json.Marshal(words)
	c.Args = slices.Concat(c.Args, []string{"--wrapper", string(list)})
	return c, err
}
