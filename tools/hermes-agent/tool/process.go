package tool

import (
	"context"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
)

// Process runs commands in the background and talks to them.
func Process() *Tool {
	return &Tool{
		Name: "process", Toolset: "process", Kind: acp.ToolKindExecute, Asks: true,
		Description: "Run commands in the background, such as servers. start returns an id for the other actions. " +
			"poll returns new output, log pages of all of it, wait waits for the end, write types text and submit a line, if it was started with input.",
		Schema: []byte(`{"type":"object","properties":{"action":{"enum":["start","list","poll","log","wait","kill","write","submit"]},` +
			`"command":{"type":"string"},"input":{"type":"boolean","description":"you will type into it"},"pty":{"type":"boolean","description":"for programs that want a terminal"},"id":{"type":"string"},"data":{"type":"string"},` +
			`"offset":{"type":"integer","description":"line of the log, from the end if negative"},"limit":{"type":"integer","minimum":1},` +
			`"timeout":{"type":"integer","minimum":1,"description":"seconds"}},"required":["action"],"additionalProperties":false}`),
		Title: func(c *Call) string {
			var args struct{ Action, Command, ID string }
			c.Decode(&args)
			if args.Action == "start" {
				return "Start " + args.Command
			}
			return strings.TrimSpace("Process " + args.Action + " " + args.ID)
		},
		Run: runProcess,
	}
}

func runProcess(ctx context.Context, c *Call) (string, error) {
	var args struct {
		Action, Command, ID, Data string
		Input, PTY                bool
		Offset                    *int
		Limit, Timeout            int
	}
	if err := c.Decode(&args); err != nil {
		return "", err
	}
	if !slices.Contains([]string{"start", "write", "submit"}, args.Action) { // what nobody is asked about
		c.Begin()
	}
	answer, err := c.Processes.Do(ctx, process.Request{
		Action: args.Action, ID: args.ID, Data: args.Data, Offset: args.Offset, Limit: args.Limit, Timeout: args.Timeout,
		Command: process.Command{
			Line: args.Command, Dir: c.Cwd, Input: args.Input, PTY: args.PTY, Effect: c.effect, Shown: c.shown,
			Approve: func(ctx context.Context, line, _ string) (err error) {
				if args.Action == "start" {
					err = c.allow(ctx, line)
				} else {
					err = c.Gate.Command(ctx, c.Shown.AsUpdate(), line, c.Processes.Reach(ctx))
				}
				if err == nil {
					c.Begin()
				}
				return err
			},
		},
	})
	if err != nil {
		return "", err
	}
	return encode(answer)
}
