package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
)

// runElsewhere runs a command where the client's terminals cannot: in a sandbox, in a
// container or on another machine.
func runElsewhere(ctx context.Context, c *Call, line string, timeout time.Duration) (string, error) {
	out, late, err := c.Processes.Run(ctx, process.Command{Line: line, Dir: c.Cwd}, timeout)
	text := strings.TrimRight(out.Text, "\n")
	if out.Skipped > 0 {
		text = "[the beginning was left out]\n" + text
	}
	if text == "" {
		text = "[no output]"
	}
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s\n[the user cancelled the command]", text)
	case err != nil:
		return "", err
	case late:
		return "", fmt.Errorf("%s\n[ended after %s, because it was still running]", text, timeout)
	case out.Signal != "":
		return "", fmt.Errorf("%s\n[ended by %s]", text, out.Signal)
	case out.Code != nil && *out.Code != 0:
		return "", fmt.Errorf("%s\n[exit code %d]", text, *out.Code)
	}
	return text, nil
}
