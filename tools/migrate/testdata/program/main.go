// Command program is a small agent and client for github.com/coder/acp-go-sdk.
package main

import (
	"context"
	"log/slog"
	"os"

	sdk "github.com/coder/acp-go-sdk"
)

type agent struct {
	conn *sdk.AgentSideConnection
}

var _ sdk.Agent = (*agent)(nil)

func (a *agent) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{
		ProtocolVersion:   sdk.ProtocolVersionNumber,
		AgentCapabilities: sdk.AgentCapabilities{LoadSession: false},
	}, nil
}

func (a *agent) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	return sdk.NewSessionResponse{SessionId: "s1"}, nil
}

func (a *agent) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	for _, block := range p.Prompt {
		if block.Text == nil {
			continue
		}
		err := a.conn.SessionUpdate(ctx, sdk.SessionNotification{
			SessionId: p.SessionId,
			Update:    sdk.UpdateAgentMessageText(block.Text.Text),
		})
		if err != nil {
			return sdk.PromptResponse{}, err
		}
	}
	call := sdk.StartToolCall("c1", "Look", sdk.WithStartKind(sdk.ToolKindRead))
	if call.ToolCall != nil {
		_ = call.ToolCall.ToolCallId
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
}

func (a *agent) Authenticate(context.Context, sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodAuthenticate)
}

func (a *agent) Logout(context.Context, sdk.LogoutRequest) (sdk.LogoutResponse, error) {
	return sdk.LogoutResponse{}, nil
}

func (a *agent) Cancel(context.Context, sdk.CancelNotification) error { return nil }

func (a *agent) CloseSession(context.Context, sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	return sdk.CloseSessionResponse{}, nil
}

func (a *agent) ListSessions(context.Context, sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	return sdk.ListSessionsResponse{}, nil
}

func (a *agent) ResumeSession(context.Context, sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	return sdk.ResumeSessionResponse{}, nil
}

func (a *agent) SetSessionConfigOption(context.Context, sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	return sdk.SetSessionConfigOptionResponse{}, nil
}

func (a *agent) SetSessionMode(context.Context, sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	return sdk.SetSessionModeResponse{}, nil
}

// suggest uses a draft that no schema of Hermes has.
func suggest() sdk.UnstableStartNesRequest { return sdk.UnstableStartNesRequest{} }

func main() {
	a := &agent{}
	a.conn = sdk.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	a.conn.SetLogger(slog.Default())
	<-a.conn.Done()
}
