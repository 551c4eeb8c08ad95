package serve

import (
	"context"
	"errors"
	"io/fs"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

// ReadTextFile answers with the text of a buffer, when Neovim has one, or of
// the file.
func (k *Client) ReadTextFile(ctx context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	if !k.Permissions().MayRead() {
		return nil, acp.MethodNotFound(acp.MethodFsReadTextFile)
	}
	q := k.question(acp.MethodFsReadTextFile, p.SessionID, p)
	loc, err := k.readable(p)
	q.Refuse(err)
	q.Heard = func(v ask.Answer) { k.readInEditor(p, loc, v) }
	return answered(ctx, k, q, func(ctx context.Context) (*acp.ReadTextFileResponse, error) {
		return k.services.ReadTextFile(ctx, p)
	})
}

// WriteTextFile writes into the buffer, when Neovim has one, or the file.
// Files that other programs run or trust are written after the user agreed.
func (k *Client) WriteTextFile(ctx context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	if !k.Permissions().MayWrite() {
		return nil, acp.MethodNotFound(acp.MethodFsWriteTextFile)
	}
	q := k.question(acp.MethodFsWriteTextFile, p.SessionID, p)
	q.Max = wire.MaxWrite
	loc, err := k.writable(ctx, p)
	q.Refuse(err)
	var id string
	q.Asked = func(requestID string) { id = requestID }
	q.Heard = func(v ask.Answer) { k.writtenInEditor(p, loc, v) }
	q.Rebase = k.rebase(p, loc)
	return answered(ctx, k, q, func(ctx context.Context) (*acp.WriteTextFileResponse, error) {
		if err != nil {
			return nil, err
		}
		return k.write(ctx, loc, p, id)
	})
}

// write writes the file on disk. Neovim gets a message before and after.
func (k *Client) write(ctx context.Context, loc files.Location, p *acp.WriteTextFileRequest, id string) (*acp.WriteTextFileResponse, error) {
	ws, err := k.services.Workspace(p.SessionID)
	if err != nil {
		return nil, err
	}
	old, err := ws.ReadText(p.Path, files.Range{})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		old = "" // binary or too large to show, and about to be replaced
	}
	q := k.Editor.Queue
	data := func(now string) *wire.Object {
		return new(wire.Object).Str("agent", k.Agent).Str("sessionId", string(p.SessionID)).Str("requestId", id).
			Str("path", p.Path).Str("old", old).Str("new", now)
	}
	if err := q.Delivered(ctx, q.Push(data(p.Content).Item(events.FileWritePre))); err != nil {
		return nil, err
	}
	s, err := k.Session(p.SessionID)
	if err != nil {
		return nil, invalidSession(acp.MethodFsWriteTextFile, err)
	}
	var now string
	err = s.recorded(p.Path, loc, p.Content, func() (err error) {
		now, err = k.services.WriteFile(p, loc) // the file keeps its format, and what others have changed
		return err
	})
	if err != nil {
		return nil, err
	}
	q.Push(data(now).Item(events.FileWritten))
	return &acp.WriteTextFileResponse{}, nil
}

// readable and writable are the checks of package services, once the folders of the
// session are open.
func (k *Client) readable(p *acp.ReadTextFileRequest) (files.Location, error) {
	if err := k.openRoots(p.SessionID); err != nil {
		return files.Location{}, err
	}
	return k.services.Readable(p)
}

func (k *Client) writable(ctx context.Context, p *acp.WriteTextFileRequest) (files.Location, error) {
	if err := k.openRoots(p.SessionID); err != nil {
		return files.Location{}, err
	}
	return k.services.Writable(ctx, p)
}

func (k *Client) openRoots(id acp.SessionID) error {
	s, err := k.Session(id)
	if err != nil {
		return err
	}
	return s.openRoots()
}

// permitFile applies the rules that deny to a file that the agent reads or
// writes.
func (k *Client) permitFile(id acp.SessionID, path string, at files.Location, write bool) error {
	policy := k.Rules.Current()
	if policy == nil {
		return nil
	}
	return policy.Permit(permission.File(k.Agent, id, write, path, at.Path, at.Real))
}

// approveWrite asks the user about a file that other programs run or trust. No rule
// answers: one for edits was not made for such files.
func (k *Client) approveWrite(ctx context.Context, p *acp.WriteTextFileRequest, at files.Location, why *files.ProtectedError) error {
	choice, err := k.askItself(ctx, ask.Own(p.SessionID, acp.ToolCallUpdate{
		Title:   acp.Some("Write " + at.Name + ", " + why.Reason),
		Kind:    acp.Some(acp.ToolKindEdit),
		Content: []acp.ToolCallContent{&acp.Diff{Path: p.Path, NewText: p.Content}},
	},
		acp.PermissionOption{OptionID: ask.OptionAllow, Name: "Write it", Kind: acp.PermissionOptionKindAllowOnce},
		acp.PermissionOption{OptionID: ask.OptionReject, Name: "Leave it", Kind: acp.PermissionOptionKindRejectOnce}))
	if err == nil && choice != ask.OptionAllow {
		err = errLeftAlone
	}
	return err
}

var errLeftAlone = errors.New("the user wants it left alone")

// rebase returns how the change of a write is made in another text.
func (k *Client) rebase(p *acp.WriteTextFileRequest, loc files.Location) ask.Rebase {
	return func(disk *string, now string) (string, error) {
		s := k.services
		if disk != nil && !s.Knows(p.SessionID, loc.Real) {
			s.Shown(p.SessionID, loc.Real, *disk, files.Range{})
		}
		return s.Rebase(p.SessionID, loc.Real, now, p.Content)
	}
}

// readInEditor remembers what Neovim has shown the agent of a file.
func (k *Client) readInEditor(p *acp.ReadTextFileRequest, loc files.Location, v ask.Answer) {
	if loc.Real == "" || v.Cancelled || v.Default || v.Error != nil {
		return
	}
	lines := files.Range{Line: p.Line, Limit: p.Limit}
	var r acp.ReadTextFileResponse
	switch {
	case v.Whole != nil:
		k.services.Shown(p.SessionID, loc.Real, *v.Whole, lines)
	case lines == files.Range{} && r.UnmarshalJSON(v.Result) == nil:
		k.services.Shown(p.SessionID, loc.Real, r.Content, lines)
	}
}

// writtenInEditor remembers what the agent has written to a buffer.
func (k *Client) writtenInEditor(p *acp.WriteTextFileRequest, loc files.Location, v ask.Answer) {
	if loc.Real == "" || v.Cancelled || v.Default || v.Error != nil {
		return
	}
	text := p.Content
	if v.Whole != nil {
		text = *v.Whole
	}
	k.services.Shown(p.SessionID, loc.Real, text, files.Range{})
}
