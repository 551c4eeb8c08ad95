// Package chat talks to an agent in a terminal: it is a client that prints what the agent
// shows, and reads prompts and answers line by line.
package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Options are what a chat is made of.
type Options struct {
	Cwd     string
	Session acp.SessionID // to go on with; empty: a new one
	Last    bool          // go on with the last session of Cwd, if there is one
	Prompt  string        // of a chat of one turn; empty: the user types prompts
	Mode    string        // what needs permission; empty: as the session has it
	Model   string        // empty: as the session has it
	JSON    bool          // print what the agent shows as JSON, one update a line
	History string        // the file of what the user has typed
	Version string

	In       *os.File
	Out, Err io.Writer
}

// DeniedError says that a chat of one turn came to its end, but something in it was not
// allowed.
type DeniedError struct {
	Calls []string // their titles
}

func (e *DeniedError) Error() string { return "denied: " + strings.Join(e.Calls, "; ") }

// chat is a conversation under way.
type chat struct {
	opts  Options
	conn  *rpc.Conn
	agent acp.Agent
	here  *services.Services
	id    acp.SessionID
	in    *input
	view  *view

	mu      sync.Mutex
	options []acp.SessionConfigOption
	cancel  context.CancelFunc // of the turn
	titles  map[acp.ToolCallID]string
	denied  []string // titles of calls
}

// Run talks to the agent at the other end of t until the user leaves. It closes t.
func Run(ctx context.Context, t transport.Transport, opts Options) error {
	c := &chat{opts: opts, titles: map[acp.ToolCallID]string{}, view: &view{answers: opts.Out, others: opts.Out, color: isTerminal(opts.Out) && os.Getenv("NO_COLOR") == ""}}
	if opts.Prompt != "" { // the answer goes to other programs
		c.view.others, c.view.color = opts.Err, false
	}
	c.in = newInput(opts.In, c.view.others, openHistory(opts.History), c.view.commands)
	c.here = services.New(services.Options{
		Ask: c.ask,
		// The agent has asked.
		ApproveWrite: func(context.Context, *acp.WriteTextFileRequest, files.Location, *files.ProtectedError) error {
			return nil
		},
		Updated: func(_ context.Context, n *acp.SessionNotification) error {
			if changed, ok := n.Update.(*acp.ConfigOptionUpdate); ok {
				c.keep(changed.ConfigOptions)
			}
			c.show(n.Update)
			return nil
		},
	})
	c.conn = rpc.NewConn(t, acp.ClientSide(c.here), rpc.Options{})
	c.agent = acp.Agent{Conn: c.conn}
	defer func() { c.conn.Close(); c.here.Close() }()
	if err := c.open(ctx); err != nil {
		return err
	}
	for id, value := range map[acp.SessionConfigID]string{"mode": opts.Mode, "model": opts.Model} {
		if value == "" {
			continue
		}
		if err := c.choose(ctx, id, value); err != nil {
			return err
		}
	}
	if opts.Prompt == "" {
		return c.talk(ctx)
	}
	return c.once(ctx)
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// open opens the session.
func (c *chat) open(ctx context.Context) error {
	can := c.here.Capabilities()
	can.Terminal = false // the agent shows what its own commands print
	can.Session = &acp.ClientSessionCapabilities{Notices: &acp.NoticeCapabilities{}, Compaction: &acp.CompactionCapabilities{}}
	_, err := c.agent.Initialize(ctx, &acp.InitializeRequest{
		ProtocolVersion: 1, ClientCapabilities: can,
		ClientInfo: &acp.Implementation{Name: "hermes-agent chat", Version: c.opts.Version},
	})
	if err != nil {
		return err
	}
	c.id = c.opts.Session
	if c.opts.Last && c.id == "" {
		list, err := c.agent.ListSessions(ctx, &acp.ListSessionsRequest{Cwd: acp.Some(c.opts.Cwd)})
		if err != nil {
			return err
		}
		if len(list.Sessions) > 0 {
			c.id = list.Sessions[0].SessionID
		}
	}
	if c.id == "" {
		answer, err := c.here.NewSession(ctx, c.agent, &acp.NewSessionRequest{Cwd: c.opts.Cwd})
		if err == nil {
			c.id = answer.SessionID
			c.keep(answer.ConfigOptions)
		}
		return err
	}
	answer, err := c.here.LoadSession(ctx, c.agent, &acp.LoadSessionRequest{SessionID: c.id, Cwd: c.opts.Cwd})
	if err == nil {
		c.view.end()
		c.keep(answer.ConfigOptions)
	}
	return err
}

// talk reads prompts until the user leaves.
func (c *chat) talk(ctx context.Context) error {
	for {
		prompt, err := c.in.prompt(ctx)
		switch {
		case errors.Is(err, errInterrupted):
			continue
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("read the prompt: %w", err)
		}
		words := strings.Fields(prompt)
		switch {
		case len(words) == 0:
		case words[0] == "/quit":
			return nil
		case words[0] == "/help":
			c.view.say("/"+strings.Join(c.view.commands(), "  /")+"\nA line that ends with \\ goes on. Tab completes commands. Ctrl-C cancels, Ctrl-D leaves.", "")
		case words[0] == "/mode", words[0] == "/model":
			c.set(ctx, acp.SessionConfigID(words[0][1:]), strings.Join(words[1:], " "))
		default:
			reason, err := c.turn(ctx, prompt)
			switch {
			case err != nil && c.conn.Err() != nil:
				return err
			case err != nil:
				c.view.say("! "+err.Error(), red)
			case reason != acp.StopReasonEndTurn:
				c.view.say(fmt.Sprintf("\n! the turn ended early: %s", reason), dim)
			}
		}
	}
}

// turn sends a prompt and waits for the end of its turn. Ctrl-C cancels it.
func (c *chat) turn(ctx context.Context, prompt string) (acp.StopReason, error) {
	running, cancel := signal.NotifyContext(ctx, os.Interrupt)
	defer cancel()
	c.mu.Lock()
	c.cancel = cancel
	c.mu.Unlock()
	defer context.AfterFunc(running, func() {
		c.agent.Cancel(context.WithoutCancel(ctx), &acp.CancelNotification{SessionID: c.id})
	})()
	defer c.view.end()
	answer, err := c.here.Prompt(ctx, c.agent, &acp.PromptRequest{SessionID: c.id, Prompt: []acp.ContentBlock{acp.NewTextContent(prompt)}})
	if err != nil {
		return "", err
	}
	return answer.StopReason, nil
}

// ask asks the user about a call. Anything but an answer is a denial, and ends the turn.
// Without a terminal there is nobody to ask, and the turn goes on.
func (c *chat) ask(ctx context.Context, p *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
	if !c.opts.JSON {
		c.view.question(p)
	}
	var choices []string
	for _, o := range p.Options {
		choices = append(choices, OneLine(o.Name))
	}
	n, err := c.in.answer(ctx, choices)
	if err != nil {
		if errors.Is(err, errInterrupted) || errors.Is(err, io.EOF) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.cancel()
		}
		if c.opts.Prompt != "" && !c.opts.JSON {
			c.view.say("! denied: "+err.Error()+"; --mode, --allow and the settings can allow it in advance", red)
		}
		return "", err
	}
	return p.Options[n].OptionID, nil
}
