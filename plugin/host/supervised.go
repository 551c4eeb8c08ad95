package host

import (
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/plugin/wire"
)

// supervised returns the words in front of the command line of an agent that have a
// shim report what it changes; none if it is not to. The folder is that of the session
// that would begin now, because the agent is started before it has any. Its review opens
// now, so that it hears of everything. The reports name no session: they join the turn
// that the agent runs.
func (h *Host) supervised(p connectOp, c command) ([]string, error) {
	if !isTrue(c.Shim) {
		return nil, nil
	}
	refuse := func(why string) ([]string, error) {
		return nil, &wire.Error{Kind: wire.ErrorInvalid, Message: fmt.Sprintf("agent %q cannot run in a shim: %s", p.Agent, why)}
	}
	state := h.reviews.StateDir()
	switch {
	case c.runsElsewhere():
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
	return append(slices.Clone(h.shim), "--agent", p.Agent, "--session", "", "--root", r.Given, "--state", state, "--"), nil
}
