package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/preset"
	"github.com/hermes-nvim/hermes/internal/process"
)

const runSynopsis = `[flags] AGENT [PROMPT|-]
       hermes run [flags] [PROMPT|-] -- COMMAND [ARGUMENT...]

AGENT is one of those that hermes agents lists. Without a prompt, or with -, it
is read from standard input. The exit status is 0 when the turn ended, 1 for an
error, 2 for wrong usage, 3 when the agent refused or reached a limit, 4 when
the turn ended but something in it was not allowed, 5 when it ended but some of
what the agent said was lost, 124 after --timeout and 130 after an interrupt.
`

// maxPrompt bounds a prompt from standard input, in bytes.
const maxPrompt = 16 << 20

// job is what hermes run was asked to do.
type job struct {
	agent   preset.Preset
	prompt  string
	cwd     string
	approve string
	wanted  settings
	session string
	paths   folders
	record  string
	patch   string // where --review writes
	std     *stdio
	raw     bool
	verbose bool
	timeout time.Duration
	show    *display
}

// runAgent gives an agent one prompt and shows the turn.
func runAgent(ctx context.Context, args []string, std *stdio) error {
	j, err := parseJob(ctx, args, std)
	if err != nil {
		return err
	}
	again := make(chan os.Signal, 4)
	process.Notify(again, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(again)
	return j.show.end(newTurn(j).play(ctx, again))
}

func parseJob(ctx context.Context, args []string, std *stdio) (*job, error) {
	args, argv := splitCommand(args)
	f := newFlags("run", runSynopsis, std.out)
	j := &job{std: std}
	var env list
	f.StringVar(&j.cwd, "cwd", "", "working `FOLDER` of the session (default: this one)")
	format := f.String("format", "text", "what to print: text as it arrives, json for one line per event, quiet for the last message only")
	f.StringVar(&j.approve, "approve", "reads", "what the agent may do: all, reads (inside the working folder), none")
	for name, approve := range map[string]string{"approve-all": "all", "approve-reads": "reads", "deny-all": "none"} {
		f.BoolFunc(name, "the same as -approve "+approve, func(string) error {
			j.approve = approve
			return nil
		})
	}
	f.DurationVar(&j.timeout, "timeout", 0, "cancel the turn after this `TIME`, such as 90s or 10m (default: never)")
	f.StringVar(&j.wanted.mode, "mode", "", "session mode, by its `ID`")
	f.StringVar(&j.wanted.model, "model", "", "model, by its `ID`")
	f.Var(&j.wanted.options, "option", "config option of the session, `ID=VALUE`; may be repeated")
	f.StringVar(&j.session, "session", "", "continue the session with this `ID`")
	f.Var(&j.paths, "map", mapUsage)
	f.StringVar(&j.record, "record", "", "write a recording of the connection to `FILE`")
	f.StringVar(&j.patch, "review", "", reviewUsage)
	f.BoolVar(&j.raw, "raw", false, "keep secrets in the recording")
	f.BoolVar(&j.verbose, "verbose", false, "show the agent's standard error")
	own := preset.Preset{Env: map[string]string{}}
	f.Var(sandboxFlag{&own.Sandbox}, "sandbox", sandboxUsage)
	f.Var(&env, "env", "environment of the agent: `NAME` passes a variable on, NAME=VALUE sets one; may be repeated")
	registry := f.String("registry", "", registryUsage)
	rest, err := f.parse(args)
	if err != nil {
		return nil, err
	}
	show := *std
	if j.patch == "-" {
		if *format == "json" {
			return nil, usageError("--review - and --format json both need standard output; name a file")
		}
		show.out = &indented{to: std.err}
	}
	if j.show, err = newDisplay(*format, &show); err != nil {
		return nil, err
	}
	switch j.approve {
	case "all", "reads", "none":
	default:
		return nil, usageError("--approve %q is not one of all, reads, none", j.approve)
	}
	if err := j.wanted.check(); err != nil {
		return nil, err
	}
	if j.timeout < 0 {
		return nil, usageError("--timeout %v is in the past", j.timeout)
	}
	if len(argv) > 0 {
		j.agent = preset.Preset{Name: filepath.Base(argv[0]), Command: argv[0], Args: argv[1:]}
	} else if len(rest) == 0 {
		return nil, usageError("give the name of an agent, or its command after -- (hermes run -h)")
	} else {
		set, err := knownAgents(ctx, std, *registry)
		if err != nil {
			return nil, err
		}
		if j.agent, err = set.Find(rest[0]); err != nil {
			return nil, &exit{statusUsage, fmt.Errorf("%w; a command goes after --", err)}
		}
		rest = rest[1:]
	}
	if len(rest) > 1 {
		return nil, usageError("unexpected argument %q: the prompt is one argument, in quotes", rest[1])
	}
	for _, v := range env {
		if name, value, set := strings.Cut(v, "="); set {
			own.Env[name] = value
		} else {
			own.PassEnv = append(own.PassEnv, name)
		}
	}
	j.agent = j.agent.Over(own)
	if j.cwd, err = filepath.Abs(cmp.Or(j.cwd, ".")); err != nil {
		return nil, err
	}
	if info, err := os.Stat(j.cwd); err != nil {
		return nil, usageError("--cwd: %w", err)
	} else if !info.IsDir() {
		return nil, usageError("--cwd: %s is not a folder", j.cwd)
	}
	if j.patch != "" && j.patch != "-" {
		if j.patch, err = filepath.Abs(j.patch); err != nil {
			return nil, err
		}
	}
	j.prompt, err = readPrompt(rest, std.in)
	return j, err
}

// readPrompt reads the prompt from the arguments or from in.
func readPrompt(args []string, in io.Reader) (string, error) {
	text := ""
	switch {
	case len(args) > 0 && args[0] != "-":
		text = args[0]
	case len(args) == 0 && isTerminal(in):
		return "", usageError("the prompt is missing: give it in quotes, or - to type it")
	default:
		data, err := io.ReadAll(io.LimitReader(in, maxPrompt+1))
		if err != nil {
			return "", fmt.Errorf("reading the prompt: %w", err)
		} else if len(data) > maxPrompt {
			return "", usageError("the prompt has more than %d bytes", maxPrompt)
		}
		text = string(data)
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "", usageError("the prompt is empty")
	case !utf8.ValidString(text):
		return "", usageError("the prompt is not UTF-8")
	}
	return text, nil
}

// The reasons why this program stops a turn.
var (
	errInterrupted = &exit{Status: statusInterrupted, Err: errors.New("interrupted")}
	errTimeout     = &exit{Status: statusTimeout, Err: errors.New("the turn did not end in time")}
)
