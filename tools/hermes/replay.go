package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

const replaySynopsis = `[--speed N|max] [--wait TIME] FILE
       hermes replay --as client [--cwd FOLDER] [--speed N|max] [--wait TIME] FILE -- AGENT [ARGUMENT...]

Plays the agent's side of a recording over stdin and stdout, or the client's
side against an agent. The exit status is 0 when the other side did what is in
the recording, 1 when it did not; standard error says where they differ.
`

// replay plays one side of a recording.
func replay(ctx context.Context, args []string, std *stdio) error {
	args, argv := splitCommand(args)
	f := newFlags("replay", replaySynopsis, std.out)
	as := f.String("as", "agent", "`SIDE` to play: agent or client")
	speed := f.String("speed", "max", "how fast time passes: 1 as recorded, 10 ten times as fast, max without pauses")
	cwd := f.String("cwd", "", "`FOLDER` of a played client's sessions, instead of the recorded one")
	wait := f.Duration("wait", 0, "how long the other side may take for an expected message (default: forever as agent, 1m as client)")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usageError("give one recording (hermes replay -h)")
	}
	o := trace.PlayOptions{
		Wait:         *wait,
		OnStderr:     func(line []byte) { fmt.Fprintln(std.err, oneLine(string(line))) },
		OnDifference: func(text string) { fmt.Fprintf(std.err, "hermes replay: %s\n", oneLine(text)) },
	}
	if *speed != "max" {
		if o.Speed, err = strconv.ParseFloat(*speed, 64); err != nil || !(o.Speed > 0) || o.Speed > 1e9 {
			return usageError("--speed %q is neither max nor a number above 0", *speed)
		}
	}
	switch {
	case *as == "agent" && len(argv) > 0:
		return usageError("a command is only for --as client")
	case *as == "agent":
	case *as != "client":
		return usageError("--as %q is neither agent nor client", *as)
	case len(argv) == 0:
		return usageError("the agent to talk to is missing after --")
	default:
		o.Side = trace.Client
	}
	rec, err := trace.ReadFile(rest[0])
	if err != nil {
		return err
	}
	if rec.Cut {
		fmt.Fprintf(std.err, "hermes replay: %s ends inside a line; that line is left out\n", oneLine(rec.Name))
	}
	if o.Side == trace.Agent {
		return played(ctx, trace.Play(ctx, std.transport(), rec, o))
	}
	if o.Wait == 0 {
		o.Wait = time.Minute
	}
	if *cwd != "" {
		if o.Cwd, err = filepath.Abs(*cwd); err != nil {
			return err
		}
	}
	o.OnStderr = nil // it belongs to the recorded agent; the live one has its own
	process, err := launch.Start(context.WithoutCancel(ctx), launch.Command{
		Path: argv[0], Args: argv[1:], InheritEnv: true,
		OnStderr: func(line string) { fmt.Fprintln(std.err, oneLine(line)) },
	})
	if err != nil {
		return err
	}
	err = trace.Play(ctx, process.Transport(), rec, o)
	process.Stop(ctx)
	return played(ctx, err)
}

// played gives an interrupted play the exit status of an interrupt.
func played(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errInterrupted
	}
	return err
}
