package setup

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/plugin/wire"
)

// InShim returns the command of an agent so that a shim reports its changes, if the setup wants
// that. The agent is started before it has a session, so the folder is the one of the session that
// would begin now. The review of the folder opens now, so that it gets all reports. The reports
// name no session: they join the turn that the agent runs. If the agent shares its sessions, the
// app-server runs in the shim, because it changes the files, and goes on without the agent. shim
// is this program as hermes shim, state the folder of the reviews, empty for none, and open opens
// one.
func (c Command) InShim(agent string, folders, shim []string, state string, open func(folder string) (root string, ok bool)) (Command, error) {
	if !Is(c.Shim) {
		return c, nil
	}
	refuse := func(why string) (Command, error) {
		return c, &wire.Error{Kind: wire.ErrorInvalid, Message: fmt.Sprintf("agent %q cannot run in a shim: %s", agent, why)}
	}
	switch {
	case c.RunsElsewhere():
		return refuse("it runs elsewhere")
	case len(shim) == 0:
		return refuse("this host has none")
	case state == "":
		return refuse("the review is off; setup{review = true} turns it on")
	case len(folders) == 0:
		return refuse("no folder is known")
	}
	root, ok := open(folders[0])
	if !ok {
		return refuse(fmt.Sprintf("%q is not an absolute path", folders[0]))
	}
	words := append(slices.Clone(shim), "--agent", agent, "--session", "", "--root", root, "--state", state, "--")
	if !Is(c.Shared) {
		c.Shims = words
		return c, nil
	}
	list, err := json.Marshal(words)
	c.Args = slices.Concat(c.Args, []string{"--wrapper", string(list)})
	return c, err
}
