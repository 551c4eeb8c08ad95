// Package serve does for an agent what a client does: it hands every request to Neovim, with what
// the user needs to decide, and carries out what Neovim leaves to it. A session here is what the
// agent may do and has done in one.
package serve

import (
	"context"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// Options of a Client. None may be missing.
type Options struct {
	Agent     string // by name
	Command   setup.Command
	RunAccess func() setup.RunAccess
	Context   context.Context // ends with the connection to the agent
	Session   func(id acp.SessionID) (*Session, error)

	Editor      *say.Editor
	Asks        *ask.Asks
	Rules       *ask.Rules
	Policy      func() *permission.Policy // the user's rules, as far as the user is asked at all; nil for none
	Permissions func() *setup.Permissions
	Reviews     *reviews.Reviews
	Keeper      []string // launch.Command's, for commands
}

// Client is what an agent sees.
type Client struct {
	acp.UnimplementedClientHandler
	Options
	services *services.Services // files and terminals, when Neovim leaves them to the host
}

// NewClient makes the client of one connection.
func NewClient(o Options) *Client {
	k := &Client{Options: o}
	k.services = services.New(services.Options{
		Agent:          k.Agent,
		Files:          files.Options{KeepFormat: true, AllowHardLinks: k.Permissions().HardLinks},
		PermitFile:     k.permitFile,
		ApproveWrite:   k.approveWrite,
		MissingIsEmpty: k.Command.Quirks.MissingFile == setup.MissingEmpty,
		ApproveCommand: func(ctx context.Context, id acp.SessionID, cmd *terminal.Command) error {
			s, err := k.Session(id)
			if err != nil {
				return err
			}
			return s.approveCommand(ctx, cmd)
		},
		Terminal:      terminal.Options{Wrapper: k.Command.Box.Wrapper(), Keeper: k.Keeper},
		TerminalStart: k.terminalStarted,
		TerminalData:  k.terminalData,
		TerminalExit:  k.terminalExited,
	})
	return k
}

// Close ends everything that runs for the agent.
func (k *Client) Close() { k.services.Close() }

// CompleteElicitation sends Neovim the event that a URL elicitation is over.
func (k *Client) CompleteElicitation(ctx context.Context, n *acp.CompleteElicitationNotification) error {
	k.Editor.Push(wire.From(n.AppendJSON(nil)).Str("agent", k.Agent).Item(events.Notification(acp.MethodElicitationComplete)))
	return nil
}

// ExtNotification passes on what the protocol does not know.
func (k *Client) ExtNotification(ctx context.Context, method string, params json.RawMessage) error {
	if err := k.Editor.Room(ctx); err != nil {
		return err
	}
	o := new(wire.Object).Str("agent", k.Agent).Str("method", method).Raw("params", params)
	k.Editor.Push(o.Item(events.ExtNotification))
	return nil
}

// ExtRequest puts a method outside the protocol to Neovim.
func (k *Client) ExtRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	q := ask.Question{
		Event: events.ExtRequest, Method: method, Alone: true,
		Data: new(wire.Object).Str("method", method).Raw("params", params),
	}
	v, err := k.ask(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case v.Cancelled:
		return nil, &acp.Error{Code: acp.ErrorCodeRequestCancelled, Message: method + ": cancelled"}
	case v.Error != nil:
		return nil, v.Error
	case v.Default:
		return nil, acp.MethodNotFound(method)
	case len(v.Result) == 0:
		return json.RawMessage("null"), nil
	}
	return v.Result, nil
}
