package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strings"

	codexschema "github.com/hermes-nvim/hermes/schema/codex"

	"github.com/hermes-nvim/hermes/internal/codex/shared"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/runtime/codex/codexagent"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// codexAgent is Codex as an agent. Reports go to standard error, where clients look
// when something is wrong.
func codexAgent(ctx context.Context, args []string, std *stdio) error {
	flags := newFlags("codex-agent", "[flags]", std.out)
	program := flags.String("codex", "codex", "the codex `PROGRAM`")
	mode := flags.String("mode", "", "the first `MODE` of sessions: plan, approval-required, auto or unrestricted; without it, the mode of codex's own configuration")
	model := flags.String("model", "", "the first `MODEL` of sessions; codex chooses otherwise")
	share := flags.Bool("shared", false, "share sessions with `codex --remote`, by an app-server that both use")
	wrap := flags.String("wrapper", "", "with --shared: `WORDS` in front of the command line of the app-server, as a JSON list")
	check := flags.Bool("check", false, "say whether codex can be used and how it differs from the version that Hermes knows, and exit")
	if rest, err := flags.parse(args); err != nil {
		return err
	} else if len(rest) > 0 {
		return usageError("unexpected argument %q", rest[0])
	}
	if *mode != "" && !slices.Contains(codex.Profiles, codex.Profile(*mode)) {
		return usageError("--mode %q: use plan, approval-required, auto or unrestricted", *mode)
	}
	var wrapper []string
	if err := json.Unmarshal([]byte(cmp.Or(*wrap, "[]")), &wrapper); err != nil || len(wrapper) > 0 && wrapper[0] == "" {
		return usageError("--wrapper %q: use a JSON list of words, such as [\"nice\",\"-n\",\"5\"]", *wrap)
	} else if len(wrapper) > 0 && !*share {
		return usageError("--wrapper: it is for the app-server of --shared")
	}
	command := launch.Command{Path: *program, Args: []string{"app-server"}, InheritEnv: true, Keeper: keeper()}
	if *check {
		if err := checkCodex(ctx, *program, command, std); err != nil || !*share {
			return err
		}
		return checkSharing(ctx, *program, std)
	}
	opts := codexagent.Options{
		Command: command, Version: version, Log: slog.New(slog.NewTextHandler(std.err, nil)),
		Settings: codex.Settings{Profile: codex.Profile(*mode), Model: *model},
	}
	if *share {
		path, err := exec.LookPath(*program)
		if err != nil {
			return err
		}
		dir := shared.Dir(path)
		opts.Dial, opts.Socket = shared.Join(dir, wrapper, func() error { return startHub(dir, path, wrapper) }), shared.Socket(dir)
	}
	return codexagent.Serve(ctx, std.transport(), opts)
}

// checkCodex prints what is known about an installed codex. It fails when the agent
// could not work with it.
func checkCodex(ctx context.Context, program string, command launch.Command, std *stdio) error {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	pinned, err := codexschema.Pinned()
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "codex: %s\nknown: %s %s\n", oneLine(strings.TrimSpace(string(out))), pinned.Package, pinned.Version)
	server := codex.NewServer(codex.ServerOptions{Command: command, Version: version})
	defer server.Close()
	agent, err := server.Agent(ctx)
	if err != nil {
		return err
	}
	account, err := agent.GetAccount(ctx, &appserver.GetAccountParams{})
	if err != nil {
		return err
	}
	login := "not needed"
	switch {
	case account.Account != nil:
		login = "done"
	case account.RequiresOpenaiAuth:
		login = "needed: run `codex login`"
	}
	fmt.Fprintf(std.out, "login: %s\n", login)
	bundle, err := codexschema.Bundle(program)
	if err != nil {
		return err
	}
	reduced, err := codexschema.Reduce(bundle)
	if err != nil {
		return err
	}
	changes, err := codexschema.Changes(reduced)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "protocol: %s\n", cmp.Or(strings.Repeat("differs", min(len(changes), 1)), "the same"))
	for _, c := range changes {
		fmt.Fprintln(std.out, oneLine(c))
	}
	return nil
}

// checkSharing prints whether an installed codex shares sessions now. It fails when
// that codex is too old for it.
func checkSharing(ctx context.Context, program string, std *stdio) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		args []string
		has  string
	}{{[]string{"app-server", "--help"}, "unix://"}, {[]string{"resume", "--help"}, "--remote"}} {
		out, err := exec.CommandContext(ctx, path, c.args...).Output()
		if err != nil || !strings.Contains(string(out), c.has) {
			return fmt.Errorf("this codex is too old to share sessions: `codex %s` does not know %s", strings.Join(c.args, " "), c.has)
		}
	}
	dir := shared.Dir(path)
	sharing := "no app-server runs; the first session starts one"
	if shared.Running(ctx, dir) {
		sharing = "an app-server runs, " + shared.Socket(dir)
	}
	_, err = fmt.Fprintf(std.out, "sharing: %s\n", oneLine(sharing))
	return err
}
