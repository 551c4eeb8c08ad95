package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/hermes-nvim/hermes/tools/hermes/live"
)

const lintAgentSynopsis = `[FLAG...] [SCRIPT]

Is an agent for a client that starts this command as its agent. On the first prompt
it asks the client for everything that an agent may ask, or does what the script
says, and judges what the client does. The report comes when the client has left.
`

// lintAgent plays an agent for a client.
func lintAgent(ctx context.Context, args []string, std *stdio) error {
	f := newFlags("lint agent", lintAgentSynopsis, std.out)
	var o liveFlags
	o.flags(f, "record", "out")
	timeout := f.Duration("timeout", time.Minute, "the `TIME` that the client may take to answer; a person has ten times as long")
	show := f.Bool("show", false, "print the script that is played without one, and exit")
	rest, err := f.parse(args)
	switch {
	case err != nil:
		return err
	case len(rest) > 1:
		return usageError("unexpected argument %q: there is one script", rest[1])
	case *timeout <= 0:
		return usageError("--timeout %v is in the past", *timeout)
	}
	options, err := o.ready("client")
	switch {
	case err != nil:
		return err
	case *show:
		_, err := io.WriteString(std.out, live.ScriptOf(options.RuleSet))
		return err
	}
	script := ""
	if len(rest) == 1 {
		text, err := os.ReadFile(rest[0])
		if err != nil {
			return &exit{statusUsage, err}
		}
		if _, err := live.ParseScript(string(text)); err != nil {
			return usageError("%s: %w", rest[0], err)
		}
		script = string(text)
	}
	recording, err := o.recorded("hermes lint agent", os.Args)
	if err != nil {
		return err
	}
	conversation := o.timeline(&options)
	r, err := live.Play(ctx, live.PlayOptions{
		In: std.in, Out: std.protocol(), Script: script, Version: version, Lint: options, Recording: recording, Timeout: *timeout,
		Known: o.before.hasStep,
	})
	if recording != nil {
		err = errors.Join(err, recording.Close())
	}
	if err != nil {
		return err
	}
	to := std.err
	if len(o.files) > 0 {
		to = nil
	}
	all := o.outcomeOf("client", conversation, r)
	if err := o.tellRun(to, all, r, true); err != nil {
		return err
	}
	return exitOf(all, nil)
}
