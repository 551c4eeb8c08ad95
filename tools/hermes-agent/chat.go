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
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
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
	mode := f.String("mode", "", "what needs permission: ask, accept-edits or plan")
	name := f.String("model", "", "the `NAME` of a model of the endpoint")
	events := f.Bool("json", false, "with -q: print what the agent shows as JSON, one update a line, and how the turn ended")
	var allow []approval.Entry
	allowing(f, &allow)
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
	if *quick != (strings.TrimSpace(prompt) != "") || *events && !*quick {
		return errors.New("chat: usage: hermes-agent chat [-c] [--session ID] [--mode MODE] [--model NAME] [--allow RULE] [-q [--json] PROMPT]")
	}
	p, err := assemble(std)
	if err != nil {
		return err
	}
	p.Allowed = append(p.Allowed, allow...)
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
		Mode: *mode, Model: *name, JSON: *events,
		History: filepath.Join(p.State, "chat_history"), In: in, Out: std.out, Err: std.err,
	})
	if end := <-ended; !errors.Is(end, context.Canceled) { // a signal
		err = errors.Join(err, end)
	}
	if errors.As(err, new(*chat.DeniedError)) {
		return &statusError{statusDenied, err}
	}
	return err
}

// allowing adds the flag for what needs no question.
func allowing(f *flag.FlagSet, list *[]approval.Entry) {
	f.Func("allow", "run this dangerous command without a question: the `COMMAND` itself, or a rule such as git-discard; or what commands in the sandbox reach: a folder such as ~/.cache/, or a host such as example.com:443; may be repeated", func(text string) error {
		entry, err := approval.ParseEntry(text)
		*list = append(*list, entry)
		return err
	})
}
