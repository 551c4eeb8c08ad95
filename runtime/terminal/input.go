package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// Write sends text to a command as its input, as the user would type it if there
// is a PTY. It waits until the command has room for it, at most until ctx ends;
// a part of the text may have been sent by then. Calls for the same command must
// not overlap. ErrNoInput means that the command was started without input.
func (m *Manager) Write(ctx context.Context, id acp.TerminalID, text string) error {
	t, err := m.find("write to", id)
	if err != nil {
		return err
	}
	if t.to == nil {
		return fmt.Errorf("write to %s: %w", id, ErrNoInput)
	}
	t.to.SetWriteDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() { t.to.SetWriteDeadline(time.Now()) })()
	if _, err = t.to.WriteString(text); errors.Is(err, os.ErrDeadlineExceeded) {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("write to %s: %w", id, plain(err))
	}
	return nil
}
