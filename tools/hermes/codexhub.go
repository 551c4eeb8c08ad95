package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/hermes-nvim/hermes/internal/codex/shared"
	"github.com/hermes-nvim/hermes/internal/process"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// The first arguments of codexHub.
const (
	hubDetach = "detach"
	hubServe  = "serve"
)

// hubProgram is the command line of this program as a hub.
func hubProgram(how, dir, codex string, wrapper []string) ([]string, error) {
	self := "/proc/self/exe" // names the running program, even if its file has been replaced
	if runtime.GOOS != "linux" {
		var err error
		if self, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	return append([]string{self, hubCommand, how, dir, codex}, wrapper...), nil
}

// startHub starts a hub for shared sessions, which outlives this process.
func startHub(dir, codex string, wrapper []string) error {
	argv, err := hubProgram(hubDetach, dir, codex, wrapper)
	if err != nil {
		return err
	}
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("hub for codex: %w: %s", err, oneLine(string(out)))
	}
	return nil
}

// codexHub is the main function of a hub, and of the process that starts one. It
// returns the exit status.
func codexHub(args []string, errs io.Writer) int {
	if len(args) < 3 {
		fmt.Fprintln(errs, "a hub is started by hermes codex-agent --shared, not by hand")
		return 2
	}
	how, dir, codex, wrapper := args[0], args[1], args[2], args[3:]
	var err error
	if how == hubDetach {
		var argv []string
		if argv, err = hubProgram(hubServe, dir, codex, wrapper); err == nil {
			err = shared.Detach(argv)
		}
	} else {
		ctx, stop := process.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		err = shared.Serve(ctx, shared.Options{Dir: dir, Command: launch.Command{Path: codex, Args: []string{"app-server"}, InheritEnv: true, Keeper: keeper(), Wrapper: wrapper}})
	}
	if err != nil {
		fmt.Fprintln(errs, "hermes:", err)
		return 1
	}
	return 0
}
