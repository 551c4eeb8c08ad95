package agentkit_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// notes is an agent that keeps a list for each session.
type notes struct {
	acp.UnimplementedAgentHandler
	client   acp.Client
	sessions agentkit.Sessions[*list]
}

type list struct {
	acp.ClientSession
	turns   agentkit.Turns
	lines   []string // only a turn touches them, and one runs at a time
	trusted bool
}

func (n *notes) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{
		ProtocolVersion: 1,
		AgentInfo:       &acp.Implementation{Name: "notes", Version: "1.0.0"},
		AgentCapabilities: &acp.AgentCapabilities{SessionCapabilities: &acp.SessionCapabilities{
			Close: &acp.SessionCloseCapabilities{}, Extra: acp.Extra(agentkit.CanFork),
		}},
	}, nil
}

func (n *notes) NewSession(_ context.Context, p *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return n.open(acp.MethodSessionNew, p.Cwd, p.AdditionalDirectories, nil)
}

func (n *notes) open(method, cwd string, roots, lines []string) (*acp.NewSessionResponse, error) {
	if err := agentkit.CheckRoots(method, cwd, roots); err != nil {
		return nil, err
	}
	id := acp.SessionID(rand.Text())
	_, _, err := n.sessions.Open(id, &list{ClientSession: n.client.Session(id), lines: lines})
	return &acp.NewSessionResponse{SessionID: id}, err
}

func (n *notes) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, err := n.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	return s.turns.Prompt(ctx, func(ctx context.Context) (acp.StopReason, error) {
		for _, block := range p.Prompt {
			if text, ok := block.(*acp.TextContent); ok {
				if err := s.write(ctx, text.Text); err != nil {
					return "", err
				}
			}
		}
		return acp.StopReasonEndTurn, s.Say(ctx, fmt.Sprint("You have ", s.lines, "\n"))
	})
}

// write adds a line if the user agrees, and shows that as a tool call.
func (s *list) write(ctx context.Context, line string) error {
	call := acp.NewToolCall(acp.ToolCallID(rand.Text()), "Write down "+line)
	call.Kind, call.Status = acp.Some(acp.ToolKindEdit), acp.Some(acp.ToolCallStatusPending)
	call.Content = []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(line))}
	if err := s.Update(ctx, call); err != nil {
		return err
	}
	is := func(status acp.ToolCallStatus) error {
		now := acp.NewToolCallUpdate(call.ToolCallID)
		now.Status = acp.Some(status)
		return s.Update(ctx, now)
	}
	if !s.trusted {
		var err error
		s.trusted, err = agentkit.Permit(ctx, s.ClientSession, call.AsUpdate(), "Write down everything")
		if err != nil {
			failed := is(acp.ToolCallStatusFailed) // also if the turn was cancelled
			if errors.Is(err, agentkit.ErrRejected) {
				return failed
			}
			return err
		}
	}
	if err := is(acp.ToolCallStatusInProgress); err != nil {
		return err
	}
	s.lines = append(s.lines, line) // the work
	return is(acp.ToolCallStatusCompleted)
}

func (n *notes) Cancel(context.Context, *acp.CancelNotification) error {
	return nil // the contexts of the turns have ended
}

func (n *notes) CloseSession(ctx context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	s, err := n.sessions.Take(p.SessionID)
	if err != nil {
		return nil, err
	}
	return &acp.CloseSessionResponse{}, s.turns.Close(ctx)
}

func (n *notes) ExtRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != agentkit.MethodFork {
		return nil, acp.MethodNotFound(method)
	}
	return agentkit.Fork(ctx, params, n.fork)
}

func (n *notes) fork(ctx context.Context, p *acp.ResumeSessionRequest) (*acp.NewSessionResponse, error) {
	s, err := n.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	var lines []string
	if err := s.turns.Run(ctx, func(context.Context) error { lines = slices.Clone(s.lines); return nil }); err != nil {
		return nil, err
	}
	return n.open(agentkit.MethodFork, p.Cwd, p.AdditionalDirectories, lines)
}

func (n *notes) ExtNotification(_ context.Context, method string, _ json.RawMessage) error {
	return acp.MethodNotFound(method)
}

// An agent with sessions, turns that can be cancelled, questions and session/fork.
func Example() {
	agent := func(c acp.Client) acp.AgentHandler { return &notes{client: c} }
	if err := rpc.Serve(context.Background(), transport.Stdio(), agent, rpc.Options{}); err != nil {
		log.Fatal(err)
	}
}
