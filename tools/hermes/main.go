// Command hermes is everything in Hermes that runs outside of Neovim.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/hermes-nvim/hermes/internal/process"
	"github.com/hermes-nvim/hermes/internal/shim"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// version is set by make when the program is linked; otherwise it is the version
// of the module.
var version string

func init() {
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		version = info.Main.Version
	}
}

// command is a subcommand. Its error is printed, and the exit status is 1 or
// the status of an *exit.
type command struct {
	name, usage string
	run         func(ctx context.Context, args []string, std *stdio) error
}

var commands = []command{
	{"host", "serve a Neovim over stdin and stdout; Neovim starts this itself", serveNeovim},
	{"demo-agent", "be a small agent over stdin and stdout: no account, no network", demoAgent},
	{"codex-agent", "be Codex as an agent over stdin and stdout: needs the codex binary, no Node.js", codexAgent},
	{"claude-hooks", "be the Claude Code of a terminal as an agent over stdin and stdout, by its hooks", claudeHooks},
	{"serve", "put an agent on the network: HTTP, WebSocket, TCP, Unix socket", serveAgent},
	{"run", "give an agent one prompt, without an editor", runAgent},
	{"record", "record what goes between a client and an agent", record},
	{"replay", "play the agent's or the client's side of a recording", replay},
	{"review", "show what agents changed in a project, or report a change to the editor", reviewProject},
	{"lint", "judge captures of traffic by the rules of the protocol", lintCaptures},
	{"confine", "run a program that can reach only some files and networks", confined},
	{"shim", "run a program in its terminal and report what it changes to the editor", shimProgram},
	{"agents", "list the agents known by name", agents},
	{"version", "print the version", printVersion},
}

// Subcommands that are never called by hand.
const (
	keepCommand = "keep"
	shimCommand = "shim-child"
	hubCommand  = "codex-hub"
)

// keeper is the command line of this program as a keeper of agents. The link names
// the running program, even if its file has been replaced.
func keeper() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{"/proc/self/exe", keepCommand}
}

// launcher is the command line of this program as one that confines another.
func launcher() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{"/proc/self/exe", "confine"}
}

// shimLauncher is the command line of this program as a shim of another; nil if its file
// cannot be found.
func shimLauncher() []string {
	if runtime.GOOS == "linux" {
		return []string{"/proc/self/exe", "shim"}
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, "shim"}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == keepCommand {
		os.Exit(launch.Keep(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == hubCommand {
		os.Exit(codexHub(os.Args[2:], standard().err))
	}
	if len(os.Args) > 1 && os.Args[1] == shimCommand {
		os.Exit(shim.Child(os.Args[2:]))
	}
	ctx, stop := process.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	std := standard()
	if len(os.Args) < 2 {
		usage(std.err)
		os.Exit(2)
	}
	for _, c := range commands {
		if c.name != os.Args[1] {
			continue
		}
		os.Exit(finish(std, c.name, c.run(ctx, os.Args[2:], std)))
	}
	switch os.Args[1] {
	case "help", "-h", "--help":
		usage(std.out)
		return
	case "--version":
		fmt.Fprintln(std.out, version)
		return
	}
	fmt.Fprintf(std.err, "hermes: there is no subcommand %q\n", os.Args[1])
	usage(std.err)
	os.Exit(2)
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: hermes COMMAND [ARGUMENT...]")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-12s %s\n", c.name, c.usage)
	}
}

func printVersion(_ context.Context, args []string, std *stdio) error {
	if err := noArguments("version", args, std.out); err != nil {
		return err
	}
	_, err := fmt.Fprintln(std.out, version)
	return err
}
