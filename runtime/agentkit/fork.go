package agentkit

import (
	"context"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
)

// MethodFork is the request that opens a copy of a session. It is in the drafts of version 1
// only, so an agent gets it in ExtRequest; see Fork.
const MethodFork = "session/fork"

// CanFork is the Extra of the SessionCapabilities of an agent that answers MethodFork.
const CanFork = `{"fork":{}}`

// Fork answers MethodFork with the types of the stable version: the draft's request has the
// members of a ResumeSessionRequest, and may have more, which are in its Extra. fork returns
// the new session.
//
// See https://agentclientprotocol.com/rfds/session-fork.
func Fork(ctx context.Context, params json.RawMessage, fork func(context.Context, *acp.ResumeSessionRequest) (*acp.NewSessionResponse, error)) (json.RawMessage, error) {
	p := new(acp.ResumeSessionRequest)
	if err := p.UnmarshalJSON(params); err != nil {
		return nil, acp.InvalidParams(MethodFork, err)
	}
	r, err := fork(ctx, p)
	if err != nil {
		return nil, err
	}
	return r.AppendJSON(nil), nil
}
