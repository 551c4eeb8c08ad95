package reviews

import (
	"context"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

// Host is what reviews need of the host.
type Host struct {
	*say.Editor
	Context  context.Context  // ends with the host
	Agents   func() []string  // that are connected
	Sessions func() []Session // that are open
	Asks     *ask.Asks
	Policy   func() *permission.Policy // the user's rules; nil for none
	MayAsk   func() bool               // whether the user is asked for permission at all
}

// Session is a session of an agent.
type Session interface {
	Agent() string
	ID() acp.SessionID
	Root() string                  // its working folder
	Prompted() (turn, text string) // the turn that runs, empty for none
	CallAbout(path string) string  // the tool call of the turn that has last named a file
}

// session finds one by its id; agent may be empty for any. nil if there is none.
func (h Host) session(agent string, id acp.SessionID) Session {
	for _, s := range h.Sessions() {
		if s.ID() == id && (agent == "" || agent == s.Agent()) {
			return s
		}
	}
	return nil
}

// done ends an operation.
func (h Host) done(id string, result any) {
	if result == nil {
		result = none{}
	}
	h.DoneWhole(id, wire.ObjectOf(result))
}
