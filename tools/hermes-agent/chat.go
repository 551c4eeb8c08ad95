package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/agent"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/chat"
)

// runChat talks to the agent in this terminal. The agent is the one that editors get; only
// the client is another one.
func runChat(ctx context.Context, args []string, std stdio) error {
	f := flag.NewFlagSet("chat", flag.ContinueOnError)
	f.SetOutput(std.err)
	quick := f.Bool("q", false, "send one prompt, the arguments or standard input, and print the answer")
	last := f.Bool("c", false, "continue the last session of this folder")
	session := f.String("session", "", "continue the session with this `ID`")
	if err := f.Parse(args); err != nil {
		return err
	}
	in, ok := std.in.(*os.File)
	if !ok {
		return errors.New("chat: standard input is not a file")
	}
	prompt := strings.Join(f.Args(), " ")
	if *quick && prompt == "" {
		b, err := io.ReadAll(in)
		if err != nil {
			return fmt.Errorf("chat: %w", err)
		}
		prompt = string(b)
	}
	if *quick != (strings.TrimSpace(prompt) != "") {
		return errors.New("chat: usage: hermes-agent chat [-c] [--session ID] [-q PROMPT]")
	}
	p, err := assemble(std)
	if err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	sessions, models, err := p.state(ctx)
	if err != nil {
		return err
	}
	here, there := transport.Pair()
	// Ctrl-C ends a turn and not the agent.
	served, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- agent.Run(served, there, p.options(models, sessions)) }()
	err = chat.Run(served, here, chat.Options{
		Cwd: cwd, Session: acp.SessionID(*session), Last: *last, Prompt: prompt, Version: version,
		History: filepath.Join(p.State, "chat_history"), In: in, Out: std.out, Err: std.err,
	})
	if end := <-ended; !errors.Is(end, context.Canceled) { // a signal
		err = errors.Join(err, end)
	}
	return err
}
