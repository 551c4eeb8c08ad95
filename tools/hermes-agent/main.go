// Command hermes-agent is a coding agent for editors that speak the Agent Client Protocol,
// on any OpenAI-compatible endpoint.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/term"

	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/agent"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/chat"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
)

// version is set by make when the program is linked; otherwise it is the version of the
// module.
var version string

func init() {
	info, _ := debug.ReadBuildInfo()
	version = versionOf(version, info)
}

func versionOf(linked string, info *debug.BuildInfo) string {
	module := ""
	if info != nil && info.Main.Version != "(devel)" {
		module = info.Main.Version
	}
	return cmp.Or(linked, module, "dev")
}

// command is a subcommand.
type command struct {
	name, usage string
	run         func(ctx context.Context, args []string, std stdio) error
}

// stdio is what a subcommand reads and writes besides files.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// say prints a line. The text may have come from a server, the head has not.
func (s stdio) say(head, format string, args ...any) {
	fmt.Fprintln(s.out, head+chat.OneLine(fmt.Sprintf(format, args...)))
}

var commands = []command{
	{"acp", "serve an editor on standard input and output", serve},
	{"chat", "talk to the agent in this terminal", runChat},
	{"batch", "run the prompts of a dataset and keep their trajectories", runBatch},
	{"merge", "combine the results of several batches", mergeBatches},
	{"sessions", "list, export or delete the sessions", sessionsCommand},
	{"setup", "ask for the endpoint, the key and the model", setup},
	{"config", "show, change, check or migrate the settings", settings},
	{"doctor", "look for what does not work", doctor},
	{"status", "show what is in use", status},
}

const usageHead = `hermes-agent is a coding agent for editors.

usage: hermes-agent COMMAND   (in a terminal, chat is the default)

`

const usageTail = `
OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL say which model it uses.
Without them config.yaml does, and .env has the key.
`

func usage(w io.Writer) {
	fmt.Fprint(w, usageHead)
	for _, c := range commands {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.usage)
	}
	fmt.Fprintf(w, "  %-9s %s\n%s", "version", "print the version", usageTail)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == keepCommand {
		os.Exit(launch.Keep(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == sandboxCommand {
		fmt.Fprintln(os.Stderr, "hermes-agent:", sandbox(os.Args[2:]))
		os.Exit(125)
	}
	if len(os.Args) > 1 && os.Args[1] == superviseCommand {
		os.Exit(process.Supervise(os.Args[2:], []string{"/proc/self/exe", supervisedCommand}, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == supervisedCommand {
		os.Exit(shim.Child(os.Args[2:]))
	}
	launch.Seclude()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	std := stdio{os.Stdin, os.Stdout, os.Stderr}
	if err := run(ctx, os.Args[1:], std); err != nil {
		std.fail(err)
		os.Exit(exitStatus(err))
	}
}

// The exit statuses of what did not fail as a whole.
const (
	statusFailed = 1
	statusDenied = 2 // the turn came to its end, but something was not allowed
	statusSome   = 3 // some prompts of a batch failed
)

// statusError ends the program with a status of its own.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

func exitStatus(err error) int {
	var own *statusError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &own):
		return own.status
	}
	return statusFailed
}

func (s stdio) fail(err error) {
	fmt.Fprintln(s.err, "hermes-agent:", chat.Clean(err.Error()))
}

func run(ctx context.Context, args []string, std stdio) error {
	if in, ok := std.in.(*os.File); ok && len(args) == 0 && term.IsTerminal(int(in.Fd())) {
		return runChat(ctx, nil, std)
	}
	if len(args) == 0 {
		usage(std.out)
		return errors.New("which command?")
	}
	for _, c := range commands {
		if c.name == args[0] {
			return c.run(ctx, args[1:], std)
		}
	}
	switch args[0] {
	case "--check":
		return doctor(ctx, args[1:], std)
	case "version", "--version":
		fmt.Fprintln(std.out, version)
		return nil
	case "help", "--help", "-h":
		usage(std.out)
		return nil
	}
	usage(std.out)
	return fmt.Errorf("there is no command %q", args[0])
}

// serve speaks the protocol until the editor hangs up. Logs go to standard error, which
// editors keep. Without a model it waits for the user to name one.
func serve(ctx context.Context, args []string, std stdio) error {
	if len(args) > 0 && args[0] == agent.SetupFlag {
		return setup(ctx, args[1:], std)
	}
	if len(args) > 0 {
		return fmt.Errorf("acp: unexpected argument %q", args[0])
	}
	p, err := assemble(std)
	if err != nil && !lacksModel(err) {
		return err
	}
	sessions, models, err := p.state(ctx)
	if err != nil {
		return err
	}
	err = agent.Run(ctx, transport.Stdio(), p.options(models, sessions))
	if errors.Is(err, context.Canceled) {
		return nil // a signal
	}
	return err
}
