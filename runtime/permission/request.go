package permission

import (
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
)

// Request is what is known about the tool call that an agent asks permission for.
// Rules are compared with it.
type Request struct {
	Agent   string // name of the agent in the user's configuration
	Session acp.SessionID
	Kind    acp.ToolKind
	Paths   []string // every path it names
	Command []string // the words of a plain command; nil when a shell could read more into it
	Env     []string // NAME=value of each variable that comes with the command
	Dir     string   // where the command runs; empty when the request does not say
	// Roots are the folders of the session, its working folder first; nil when
	// they are unknown.
	Roots []string
	// Truncated says that part of the tool call is missing, so no rule allows it.
	Truncated bool

	words       []string // every possible word of the command, however a shell reads it
	names       []string // other texts that may be names of files
	below       bool     // it may touch any file below its paths
	morePaths   bool     // it may name paths that are not among Paths
	moreCommand bool     // it may run something that is not in Command
}

// Describe reads a Request from a tool call: its kind, paths (locations, diffs
// and rawInput) and command. Arguments that it does not understand make the
// request uncertain, so that fewer rules allow it. It ignores the title, because
// an agent may write anything there.
func Describe(agent string, session acp.SessionID, call *acp.ToolCallUpdate) Request {
	q := Request{Agent: agent, Session: session, Kind: call.Kind.Or("")}
	for _, l := range call.Locations {
		q.path(l.Path)
	}
	for _, c := range call.Content {
		if d, ok := c.(*acp.Diff); ok {
			q.path(d.Path)
		}
	}
	if len(call.RawInput) == 0 {
		return q
	}
	var input any
	err := json.Unmarshal(call.RawInput, &input)
	switch members, ok := input.(map[string]any); {
	case ok:
		q.arguments(members)
	case err != nil || input != nil:
		q.morePaths, q.moreCommand = true, true
		q.Env = append(q.Env, unknownVariable)
	}
	return q
}

// File is the Request for a file that an agent reads or writes through its
// client, under each of its names.
func File(agent string, session acp.SessionID, write bool, paths ...string) Request {
	q := Request{Agent: agent, Session: session, Kind: acp.ToolKindRead, Paths: paths}
	if write {
		q.Kind = acp.ToolKindEdit
	}
	return q
}

// runs reports whether the request is about a command.
func (q *Request) runs() bool {
	return q.Kind == acp.ToolKindExecute || q.Command != nil || q.words != nil
}
