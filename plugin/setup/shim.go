package setup

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/plugin/wire"
)

// InShim returns the command with what has a shim report what the agent changes, if one is to.
// The folder is that of the session that would begin now, because the agent is started before it
// has any. Its review opens now, so that it hears of everything. The reports name no session: they
// join the turn that the agent runs. Of an agent that shares its sessions the app-server runs in
// the shim, because that changes the files, and goes on without the agent. shim is this program as
// hermes shim, state the folder of the reviews, empty for none, and open opens one.
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
