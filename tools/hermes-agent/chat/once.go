package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/loop"
)

// once runs the turn of a chat that has only one. It is done, denied or failed.
func (c *chat) once(ctx context.Context) error {
	reason, err := c.turn(ctx, c.opts.Prompt)
	if err == nil && reason != acp.StopReasonEndTurn {
		err = fmt.Errorf("the turn ended early: %s", reason)
	}
	c.mu.Lock()
	denied := c.denied
	c.mu.Unlock()
	if err == nil && len(denied) > 0 {
		err = &DeniedError{denied}
	}
	if c.opts.JSON {
		return errors.Join(err, c.result(reason, denied, err))
	}
	return err
}

// result prints how a turn ended, as the last line.
func (c *chat) result(reason acp.StopReason, denied []string, err error) error {
	status, why := "done", ""
	if err != nil {
		status, why = "failed", err.Error()
	}
	if errors.As(err, new(*DeniedError)) {
		status = "denied"
	}
	line, err := json.Marshal(map[string]any{"result": map[string]any{
		"status": status, "stopReason": reason, "sessionId": c.id, "denied": append([]string{}, denied...), "error": why,
	}})
	if err == nil {
		_, err = c.opts.Out.Write(append(line, '\n'))
	}
	return err
}

// show prints an update, and remembers what was denied.
func (c *chat) show(u acp.SessionUpdate) {
	c.mu.Lock()
	switch u := u.(type) {
	case *acp.ToolCall:
		c.titles[u.ToolCallID] = OneLine(u.Title)
	case *acp.ToolCallUpdate:
		if bytes.Equal(u.Meta, loop.Denied) {
			c.denied = append(c.denied, c.titles[u.ToolCallID])
		}
	}
	open := c.cancel != nil // what a session has shown before is not of this turn
	c.mu.Unlock()
	switch {
	case !c.opts.JSON:
		c.view.show(u)
	case open:
		c.opts.Out.Write(append(acp.AppendSessionUpdate(nil, u), '\n'))
	}
}
