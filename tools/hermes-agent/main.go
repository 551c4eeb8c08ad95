// Command hermes-agent is a coding agent for editors that speak the Agent Client Protocol,
// on any OpenAI-compatible endpoint.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/agent"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model/openai"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/skill"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

var version = "dev" // set by the linker

const usage = `hermes-agent is a coding agent for editors.

usage:
  hermes-agent acp        serve an editor on standard input and output
  hermes-agent version

OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL say which model it uses.
`

func main() {
	if len(os.Args) > 1 && os.Args[1] == keepCommand {
		os.Exit(launch.Keep(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "hermes-agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		fmt.Fprint(out, usage)
		return errors.New("one command is needed")
	}
	switch args[0] {
	case "acp":
		return serve(ctx)
	case "version", "--version":
		fmt.Fprintln(out, "hermes-agent", version)
		return nil
	case "help", "--help", "-h":
		fmt.Fprint(out, usage)
		return nil
	}
	fmt.Fprint(out, usage)
	return fmt.Errorf("there is no command %q", args[0])
}

// serve speaks the protocol until the editor hangs up. Logs go to standard error, which
// editors keep.
func serve(ctx context.Context) error {
	c, err := config.FromEnvironment(os.Getenv)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	sessions, err := store.Open(filepath.Join(c.State, "sessions"))
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	skills := skill.Load(filepath.Join(home, ".hermes", "skills"))
	for _, fault := range skills.Faults() {
		log.Warn("a skill is left out", "error", fault)
	}
	tools, err := tool.NewSet(allTools(skills), nil, defaultToolsets...)
	if err != nil {
		return err
	}
	client := openai.New(openai.Options{BaseURL: c.BaseURL, Key: c.Key})
	models := agent.ListModels(ctx, c.Model, client.Models, func(err error) {
		log.Warn("the endpoint does not list its models", "error", err)
	})
	err = agent.Run(ctx, transport.Stdio(), agent.Options{
		Version: version, Model: client, Models: models, Store: sessions, Tools: tools, Log: log, Skills: skills,
		Approval:  approval.Options{Home: home},
		Processes: func(cwd string) process.Options { return process.Options{Keeper: keeper()} },
	})
	if errors.Is(err, context.Canceled) {
		return nil // a signal
	}
	return err
}

// defaultToolsets are few, because small models do better with few tools.
var defaultToolsets = []string{"core", "skills"}

func allTools(skills *skill.Index) []*tool.Tool {
	return []*tool.Tool{tool.Read(), tool.Write(), tool.Edit(), tool.Terminal(), tool.Todo(), tool.Skill(skills), tool.Process()}
}

// keepCommand is a subcommand that is never called by hand.
const keepCommand = "keep"

// keeper is the command line of this program as a keeper of processes, which ends them
// with the agent.
func keeper() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{"/proc/self/exe", keepCommand}
}
