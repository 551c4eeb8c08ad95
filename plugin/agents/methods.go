package agents

import (
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// methodSetModel is in no schema any more, yet many agents offer models by it:
// params {sessionId, modelId}, for agents that announce models with a session.
const methodSetModel = "session/set_model"

// plain is a generated message without its type.
type plain interface {
	json.Unmarshaler
	acp.Appender
}

// method makes the messages of one agent method.
type method struct {
	params, result func() plain
}

// read checks a result. In its place comes what the types hold of it when the
// decoder forgave something.
func (m method) read(result *[]byte) error {
	d, v := jx.New(*result), m.result()
	err := acp.Read(d, v)
	if err == nil && d.Forgave() {
		*result = v.AppendJSON(nil)
	}
	return err
}

func pair[P, R any, PP interface {
	*P
	plain
}, PR interface {
	*R
	plain
}]() method {
	return method{
		params: func() plain { return PP(new(P)) },
		result: func() plain { return PR(new(R)) },
	}
}

// methods are the agent methods Neovim may call; initialize is ours alone.
var methods = map[string]method{
	acp.MethodAuthenticate:           pair[acp.AuthenticateRequest, acp.AuthenticateResponse](),
	acp.MethodLogout:                 pair[acp.LogoutRequest, acp.LogoutResponse](),
	acp.MethodSessionNew:             pair[acp.NewSessionRequest, acp.NewSessionResponse](),
	acp.MethodSessionLoad:            pair[acp.LoadSessionRequest, acp.LoadSessionResponse](),
	acp.MethodSessionResume:          pair[acp.ResumeSessionRequest, acp.ResumeSessionResponse](),
	acp.MethodSessionList:            pair[acp.ListSessionsRequest, acp.ListSessionsResponse](),
	acp.MethodSessionClose:           pair[acp.CloseSessionRequest, acp.CloseSessionResponse](),
	acp.MethodSessionDelete:          pair[acp.DeleteSessionRequest, acp.DeleteSessionResponse](),
	acp.MethodSessionPrompt:          pair[acp.PromptRequest, acp.PromptResponse](),
	acp.MethodSessionSetMode:         pair[acp.SetSessionModeRequest, acp.SetSessionModeResponse](),
	acp.MethodSessionSetConfigOption: pair[acp.SetSessionConfigOptionRequest, acp.SetSessionConfigOptionResponse](),
}
