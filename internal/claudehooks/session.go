package claudehooks

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/elsewhere"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// maxTools is how many tool calls may be open.
const maxTools = 1000

// errNoAnswer is why a gate denies a tool call that nobody has decided about.
var errNoAnswer = errors.New("the question was not answered in the editor")

// session is a Claude Code in a terminal. When its user clears the conversation or
// takes up another one there, the session stays.
type session struct {
	agent    *agent
	id       acp.SessionID
	token    string
	settings string // path

	mu      sync.Mutex
	turn    *turn // nil between turns
	stopped bool  // the client has cancelled the turn, and Claude Code has not stopped yet
	tools   map[string]*tool

	attending sync.Mutex // for the notifications to be in order
	waiting   bool       // Claude Code waits for its user, as the client knows

	updating sync.Mutex // held while an update is sent
}

func (a *agent) open() (*session, error) {
	s := &session{agent: a, id: acp.SessionID(rand.Text()), token: rand.Text(), tools: map[string]*tool{}}
	path, err := writeSettings(a.hooks.url, s.token, a.opts.Gate, a.opts.closed())
	s.settings = path
	return s, err
}

func (s *session) close() error {
	s.end(acp.StopReasonCancelled, nil)
	return os.RemoveAll(filepath.Dir(s.settings))
}

func (s *session) isToken(token string) bool {
	return subtle.ConstantTimeCompare([]byte(s.token), []byte(token)) == 1
}

// to is the client's end of the session.
func (s *session) to() acp.ClientSession { return s.agent.client.Session(s.id) }

// handle takes an event of Claude Code and returns the answer.
func (s *session) handle(ctx context.Context, e *event) answer {
	s.attend(ctx, e)
	switch e.Name {
	case userPromptSubmit:
		s.begin(ctx, e.Prompt)
	case preToolUse:
		if s.isStopped() {
			break
		}
		if a := s.before(ctx, e); !s.isStopped() {
			return a
		}
	case postToolUse, postToolUseFailure:
		s.after(ctx, e)
	case stop, sessionEnd: // which comes without the other if the user leaves during a turn
		s.end(acp.StopReasonEndTurn, nil)
	case stopFailure:
		var reason string
		json.Unmarshal(e.Error, &reason)
		s.end("", acp.Errorf(acp.ErrorCodeInternalError, "Claude Code: %s", reason))
	case notification:
		if e.Kind == idlePrompt { // there is no other event of a turn that the user interrupts
			s.end(acp.StopReasonEndTurn, nil)
		}
	}
	if s.isStopped() {
		return halt(e.Name)
	}
	return answer{}
}

// attend tells the client whether Claude Code waits for its user. Whatever Claude Code
// does shows that it no longer waits.
func (s *session) attend(ctx context.Context, e *event) {
	s.attending.Lock()
	defer s.attending.Unlock()
	was := s.waiting
	switch {
	case e.Name == notification && waits[e.Kind]:
		s.waiting = true
	case !was || e.Name == notification && e.Kind != idlePrompt:
		return
	default:
		s.waiting = false
	}
	s.failed(elsewhere.Attention{Session: s.id, Waiting: s.waiting, Message: e.Message}.Tell(ctx, s.agent.client.Conn))
}

// update sends an update, unless the turn has been cancelled: nothing may come after the
// answer to its prompt.
func (s *session) update(ctx context.Context, u acp.SessionUpdate) error {
	s.updating.Lock()
	defer s.updating.Unlock()
	if s.isStopped() {
		return nil
	}
	return s.to().Update(ctx, u)
}

func (s *session) failed(err error) {
	if err != nil {
		s.agent.opts.Log.Warn("the client was not told", "session", string(s.id), "error", err)
	}
}

// before shows a tool call that is about to happen, and asks about it if there is a
// gate.
func (s *session) before(ctx context.Context, e *event) answer {
	s.goOn(ctx)
	t := newTool(e)
	t.preview()
	s.mu.Lock()
	if len(s.tools) < maxTools {
		s.tools[e.Call] = t
	}
	s.mu.Unlock()
	err := s.update(ctx, &t.ToolCall)
	if !s.agent.opts.Gate || !changes(e.Tool) || s.isStopped() {
		if err == nil && changes(e.Tool) {
			err = s.await(ctx, t)
		}
		s.failed(err)
		return answer{}
	}
	if err == nil {
		_, err = agentkit.Permit(ctx, s.to(), t.AsUpdate(), "")
	}
	if errors.Is(err, rpc.ErrSessionCancelled) {
		err = errNoAnswer
	}
	why := "The user has rejected this in the editor."
	switch {
	case err == nil:
		return allow()
	case errors.Is(err, agentkit.ErrRejected):
	case !s.agent.opts.closed():
		s.failed(err)
		return answer{}
	default:
		why = "This was denied because the editor could not be asked: " + err.Error()
	}
	s.denied(ctx, e.Call)
	return deny(why)
}

// await returns when the client has taken a tool call in, or does not do that.
func (s *session) await(ctx context.Context, t *tool) error {
	if s.agent.unawaited.Load() || s.isStopped() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, announceTime)
	defer cancel()
	err := elsewhere.ToolCall{Session: s.id, ID: t.ToolCallID}.Await(ctx, s.agent.client.Conn)
	var peer *acp.Error
	if errors.As(err, &peer) && peer.Code == acp.ErrorCodeMethodNotFound {
		s.agent.unawaited.Store(true)
		return nil
	}
	return err
}

// denied shows that a tool call does not happen. Claude Code reports nothing of it.
func (s *session) denied(ctx context.Context, call string) {
	s.take(call)
	u := acp.NewToolCallUpdate(acp.ToolCallID(call))
	u.Status = acp.Some(acp.ToolCallStatusFailed)
	s.failed(s.update(ctx, u))
}

// take removes a tool call that has ended and returns it, nil if it was not seen
// before.
func (s *session) take(call string) *tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tools[call]
	delete(s.tools, call)
	return t
}

// after shows what has become of a tool call.
func (s *session) after(ctx context.Context, e *event) {
	t := s.take(e.Call)
	if t == nil {
		t = newTool(e)
		s.failed(s.update(ctx, &t.ToolCall))
	}
	u := acp.NewToolCallUpdate(t.ToolCallID)
	u.Status, u.Content = t.end(e)
	s.failed(s.update(ctx, u))
}
