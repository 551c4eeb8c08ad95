package testagent

import (
	"context"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// Client is a client that remembers the texts of updates and answers file
// requests with their path.
type Client struct {
	acp.UnimplementedClientHandler

	mu    sync.Mutex
	texts map[acp.SessionID][]string
}

// SessionUpdate implements acp.ClientHandler.
func (c *Client) SessionUpdate(_ context.Context, p *acp.SessionNotification) error {
	m, ok := p.Update.(*acp.AgentMessageChunk)
	if !ok {
		return nil
	}
	if t, ok := m.Content.(*acp.TextContent); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.texts == nil {
			c.texts = map[acp.SessionID][]string{}
		}
		c.texts[p.SessionID] = append(c.texts[p.SessionID], t.Text)
	}
	return nil
}

// ReadTextFile implements acp.ClientHandler.
func (c *Client) ReadTextFile(_ context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: "text of " + p.Path}, nil
}

// Texts returns the texts of a session so far.
func (c *Client) Texts(id acp.SessionID) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.texts[id]...)
}

// Forget drops what was remembered of a session.
func (c *Client) Forget(id acp.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.texts, id)
}

// Prompt sends a prompt and waits for its end.
func Prompt(ctx context.Context, conn acp.Caller, id acp.SessionID, text string) (acp.StopReason, error) {
	r, err := acp.Agent{Conn: conn}.Prompt(ctx, &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.NewTextContent(text)}})
	if err != nil {
		return "", err
	}
	return r.StopReason, nil
}
