package agentkit_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"
	"sync"

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
	saved    sync.Map // lines by the id of their session; another agent has files
}

type list struct {
	acp.ClientSession
	turns   agentkit.Turns
	lines   []string // only a turn touches them, and one runs at a time
	trusted bool
	save    func(lines []string)
}

func (n *notes) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{
		ProtocolVersion: 1,
		AgentInfo:       &acp.Implementation{Name: "notes", Version: "1.0.0"},
		AgentCapabilities: &acp.AgentCapabilities{LoadSession: true, SessionCapabilities: &acp.SessionCapabilities{
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
	s := n.list(acp.SessionID(rand.Text()))
	s.lines = lines
	s.save(lines)
	_, _, err := n.sessions.Open(s.ID, s)
	return &acp.NewSessionResponse{SessionID: s.ID}, err
}

func (n *notes) list(id acp.SessionID) *list {
	return &list{ClientSession: n.client.Session(id), save: func(lines []string) { n.saved.Store(id, lines) }}
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
	s.save(s.lines)
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

// LoadSession opens a session that was saved and repeats what was said in it.
func (n *notes) LoadSession(ctx context.Context, p *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if err := agentkit.CheckRoots(acp.MethodSessionLoad, p.Cwd, p.AdditionalDirectories); err != nil {
		return nil, err
	}
	if _, ok := n.saved.Load(p.SessionID); !ok {
		return nil, acp.Errorf(acp.ErrorCodeResourceNotFound, "no session %q was saved", p.SessionID)
	}
	s := n.list(p.SessionID)
	before, replaced, err := n.sessions.Open(s.ID, s)
	if err != nil {
		return nil, err
	}
	return &acp.LoadSessionResponse{}, s.turns.Run(ctx, func(ctx context.Context) error {
		if replaced { // its updates must not come into the replay
			if err := before.turns.Close(ctx); err != nil {
				return err
			}
		}
		saved, _ := n.saved.Load(s.ID)
		s.lines = slices.Clone(saved.([]string))
		for i, line := range s.lines {
			if err := s.Update(ctx, acp.NewUserMessageChunk(acp.NewTextContent(line))); err != nil {
				return err
			}
			if err := s.Say(ctx, fmt.Sprint("You have ", s.lines[:i+1], "\n")); err != nil {
				return err
			}
		}
		return nil
	})
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
