package plugin

import (
	"context"

	"github.com/hermes-nvim/hermes/acp"
)

// ReadTextFile answers with the text of a buffer, when Neovim has one, or of
// the file.
func (k *client) ReadTextFile(ctx context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	if !on(k.conn.host.permissions().Read) {
		return nil, acp.MethodNotFound(acp.MethodFsReadTextFile)
	}
	q := k.question(acp.MethodFsReadTextFile, p.SessionID, p)
	return answered(ctx, k, q, func(ctx context.Context) (*acp.ReadTextFileResponse, error) {
		return nil, acp.MethodNotFound(acp.MethodFsReadTextFile)
	})
}

// WriteTextFile writes into the buffer, when Neovim has one, or the file.
func (k *client) WriteTextFile(ctx context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	if !on(k.conn.host.permissions().Write) {
		return nil, acp.MethodNotFound(acp.MethodFsWriteTextFile)
	}
	q := k.question(acp.MethodFsWriteTextFile, p.SessionID, p)
	return answered(ctx, k, q, func(ctx context.Context) (*acp.WriteTextFileResponse, error) {
		return nil, acp.MethodNotFound(acp.MethodFsWriteTextFile)
	})
}
