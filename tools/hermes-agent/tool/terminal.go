package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// The bounds of a command.
const (
	defaultTimeout = 2 * time.Minute
	outputBytes    = 64 << 10
	cleanup        = 10 * time.Second // to end a command when the turn is over
)

// Terminal runs a shell command.
func Terminal() *Tool {
	return &Tool{
		Name: "terminal", Toolset: "core", Kind: acp.ToolKindExecute, Asks: true,
		Description: "Run a shell command in the project and return its output.",
		Schema: []byte(`{"type":"object","properties":{"command":{"type":"string","minLength":1},` +
			`"timeout":{"type":"integer","minimum":1,"maximum":3600,"description":"seconds, 120 if absent"}},` +
			`"required":["command"],"additionalProperties":false}`),
		Title: func(c *Call) string {
			var args struct{ Command string }
			c.Decode(&args)
			first, _, more := strings.Cut(strings.TrimSpace(args.Command), "\n")
			if more {
				first += " …"
			}
			return first
		},
		Run: runTerminal,
	}
}

// plain is a line that means the same without a shell.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./-][A-Za-z0-9_./:=@%+, -]*$`)

// commandVector is the program and the arguments of a line. Rules of clients are about
// programs, so only lines that need a shell get one.
func commandVector(line string) []string {
	line = strings.TrimSpace(line)
	if words := strings.Fields(line); plain.MatchString(line) && !strings.Contains(words[0], "=") {
		if _, err := exec.LookPath(words[0]); err == nil { // otherwise it is a word of the shell
			return words
		}
	}
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/c", line}
	}
	return []string{"/bin/sh", "-c", line}
}

func runTerminal(ctx context.Context, c *Call) (string, error) {
	var args struct {
		Command string
		Timeout int
	}
	if err := c.Decode(&args); err != nil {
		return "", err
	}
	vector := commandVector(args.Command)
	question := c.Shown.AsUpdate()
	// Exactly what would run, so that the client need not ask about the terminal as well.
	question.RawInput, _ = json.Marshal(map[string]any{"command": vector[0], "args": vector[1:], "cwd": c.Cwd})
	if err := c.Gate.Command(ctx, question, args.Command, c.Processes.Isolated()); err != nil {
		return "", err
	}
	c.Begin()
	timeout := defaultTimeout
	if args.Timeout > 0 {
		timeout = time.Duration(args.Timeout) * time.Second
	}
	if c.Processes.Elsewhere() {
		return runElsewhere(ctx, c, args.Command, timeout)
	}
	created, err := c.Terminals.CreateTerminal(ctx, &acp.CreateTerminalRequest{
		SessionID: c.Session, Command: vector[0], Args: vector[1:],
		Cwd: acp.Some(c.Cwd), OutputByteLimit: acp.Some[uint64](outputBytes),
	})
	if err != nil {
		return "", fmt.Errorf("start the command: %w", err)
	}
	// The end of a turn ends ctx, and the terminal must not outlive it.
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Hour+cleanup)
	defer stop()
	defer c.Terminals.ReleaseTerminal(after, &acp.ReleaseTerminalRequest{SessionID: c.Session, TerminalID: created.TerminalID})
	if c.Visible {
		c.Update(func(u *acp.ToolCallUpdate) {
			u.Content = []acp.ToolCallContent{acp.NewTerminal(created.TerminalID)}
		})
	}
	waiting, done := context.WithTimeout(ctx, timeout)
	defer done()
	end, waitErr := c.Terminals.WaitForTerminalExit(waiting, &acp.WaitForTerminalExitRequest{SessionID: c.Session, TerminalID: created.TerminalID})
	ending, ended := context.WithTimeout(after, cleanup)
	defer ended()
	if waitErr != nil {
		c.Terminals.KillTerminal(ending, &acp.KillTerminalRequest{SessionID: c.Session, TerminalID: created.TerminalID})
	}
	output, err := c.Terminals.TerminalOutput(ending, &acp.TerminalOutputRequest{SessionID: c.Session, TerminalID: created.TerminalID})
	if err != nil {
		output = &acp.TerminalOutputResponse{Output: fmt.Sprintf("[the output is lost: %v]", err)}
	}
	text := strings.TrimRight(output.Output, "\n")
	if output.Truncated {
		text = "[the beginning was left out]\n" + text
	}
	if text == "" {
		text = "[no output]"
	}
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s\n[the user cancelled the command]", text)
	case waiting.Err() != nil:
		return "", fmt.Errorf("%s\n[ended after %s, because it was still running]", text, timeout)
	case waitErr != nil:
		return "", fmt.Errorf("%s\n[wait for the command: %w]", text, waitErr)
	case end.Signal.OK:
		return "", fmt.Errorf("%s\n[ended by %s]", text, end.Signal.V)
	case end.ExitCode.Or(0) != 0:
		return "", fmt.Errorf("%s\n[exit code %d]", text, end.ExitCode.V)
	}
	return text, nil
}
