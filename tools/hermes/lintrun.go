package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/tools/hermes/live"
)

const lintRunSynopsis = `[FLAG...] -- AGENT [ARGUMENT...]
       hermes lint run --matrix FILE [FLAG...]

Drives an agent through all that its capabilities offer, in version 1 of the protocol,
and judges what it does.
Each step has a tier and passes, fails, or is not exercised. The exit status is 0
for an agent that conforms, 1 for one that does not or that has findings at the
severity of --fail-on, and 2 if that could not be found out, for example because
the agent needs a login.

With --matrix it drives all agents that a file lists, each as if it were alone, and
writes a scoreboard with a row for each agent. A second run continues the first.
`

// The prompts that do if the user has no better ones.
const (
	plainPrompt  = "Say hello in one word. Use no tools."
	askingPrompt = "Create the file hermes-lint.txt in the current folder. Its content is the word hello. Do nothing else."
	busyPrompt   = "Count from 1 to 500 in words, one number a line. Use no tools."
)

// runFlags say how agents are driven.
type runFlags struct {
	liveFlags
	prompts, steps list
	without        list
	asking, busy   string
	method         string
	logout         bool
	timeout, total time.Duration
	cwd            string
}

func (o *runFlags) flags(f flags) {
	o.liveFlags.flags(f, "out", "report")
	f.Var(&o.prompts, "prompt", "use the prompt `TEXT|FILE` instead of our own; more of them are more steps; may be repeated")
	f.StringVar(&o.asking, "permission-prompt", "", "the prompt `TEXT|FILE` that makes the agent ask for permission (default: to create a file)")
	f.StringVar(&o.busy, "cancel-prompt", "", "the prompt `TEXT|FILE` that keeps the agent busy until it is cancelled (default: to count)")
	f.StringVar(&o.method, "auth-method", "", "log in with the method `ID` of those that the agent offers")
	f.BoolVar(&o.logout, "allow-logout", false, "also log out, which may end a real login")
	f.Var(&o.steps, "step", "play only the step `ID`; may be repeated")
	f.Var(&o.without, "without", "leave out the step `ID`, and say so in the verdict; may be repeated")
	f.DurationVar(&o.timeout, "timeout", time.Minute, "the `TIME` that a step may take")
	f.DurationVar(&o.total, "total", 20*time.Minute, "the `TIME` that the whole run may take; what is left then is not played")
	f.StringVar(&o.cwd, "cwd", "", "working `FOLDER` of the sessions (default: a temporary one)")
}

// checkTimes refuses times that are over before they begin.
func (o *runFlags) checkTimes() error {
	if o.timeout <= 0 {
		return usageError("--timeout %v is in the past", o.timeout)
	}
	if o.total <= 0 {
		return usageError("--total %v is in the past", o.total)
	}
	return nil
}

// checkSteps refuses steps that there are not.
func (o *runFlags) checkSteps(options lint.Options) error {
	run := live.Options{Lint: options, Prompts: o.prompts, Steps: o.steps, Without: o.without}
	if len(run.Prompts) == 0 {
		run.Prompts = []string{plainPrompt}
	}
	if err := run.CheckSteps(); err != nil {
		return usageError("%w", err)
	}
	return nil
}

// lintRun drives an agent, or the agents of a matrix.
func lintRun(ctx context.Context, args []string, std *stdio) error {
	args, argv := splitCommand(args)
	f := newFlags("lint run", lintRunSynopsis, std.out)
	var o runFlags
	var m matrixFlags
	o.flags(f)
	m.flags(f)
	if rest, err := f.parse(args); err != nil {
		return err
	} else if len(rest) > 0 || len(argv) == 0 && m.file == "" {
		return usageError("the agent's command is missing after --: hermes lint run -- AGENT [ARGUMENT...]")
	}
	if err := m.check(f, argv); err != nil {
		return err
	}
	if m.file != "" {
		return lintMatrix(ctx, &o, &m, std)
	}
	name := filepath.Base(argv[0])
	options, err := o.ready(name)
	if err != nil {
		return err
	}
	if err := cmp.Or(o.checkTimes(), o.checkSteps(options)); err != nil {
		return err
	}
	var done func(live.Outcome)
	if o.format == "text" {
		done = func(one live.Outcome) { fmt.Fprintln(std.out, one.String()) }
	}
	r, conversation, err := o.drive(ctx, live.Program{Argv: argv, Keeper: keeper()}, options, done)
	if err != nil {
		return err
	}
	all := o.outcomeOf(name, conversation, r)
	if err := o.tellRun(std.out, all, r, false); err != nil {
		return err
	}
	return exitOf(all, nil)
}

// drive drives an agent, and calls done after each step unless it is nil.
func (o *runFlags) drive(ctx context.Context, agent live.Program, options lint.Options, done func(live.Outcome)) (*live.Result, *report.Conversation, error) {
	conversation := o.timeline(&options)
	run := live.Options{
		Version: version, Timeout: o.timeout, Total: o.total, Lint: options, AuthMethod: o.method, Logout: o.logout, Keeper: keeper(),
		Asking: o.asking, Busy: o.busy, Prompts: o.prompts, Steps: o.steps, Without: o.without, Done: done,
	}
	if err := promptTexts(&run); err != nil {
		return nil, nil, err
	}
	var err error
	if run.Workspace, err = filepath.Abs(o.cwd); err != nil {
		return nil, nil, err
	}
	if o.cwd == "" {
		if run.Workspace, err = os.MkdirTemp("", "hermes-lint-"); err != nil {
			return nil, nil, err
		}
		defer os.RemoveAll(run.Workspace)
	}
	if run.Recording, err = o.recorded("hermes lint run", agent.Argv); err != nil {
		return nil, nil, err
	}
	var started error
	run.Start = func(stderr func([]byte)) (*live.Agent, error) {
		agent.Stderr = stderr
		a, err := agent.Start()
		if err != nil && started == nil {
			started = err
		}
		return a, err
	}
	run.Known = o.before.hasStep
	r, err := live.Run(ctx, run)
	if run.Recording != nil {
		if e := run.Recording.Close(); e != nil {
			err = errors.Join(err, e)
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, errInterrupted
	case err != nil:
		return nil, nil, err
	case started != nil:
		return nil, nil, &exit{statusUsage, fmt.Errorf("cannot start %s: %w", oneLine(agent.Argv[0]), started)}
	}
	return r, conversation, nil
}

// promptTexts fills in the prompts. One that names a file is the text of that file.
func promptTexts(o *live.Options) error {
	if len(o.Prompts) == 0 {
		o.Prompts = []string{plainPrompt}
	}
	for _, p := range []*string{&o.Asking, &o.Busy} {
		if *p == "" {
			*p = map[*string]string{&o.Asking: askingPrompt, &o.Busy: busyPrompt}[p]
		}
	}
	all := []*string{&o.Asking, &o.Busy}
	for i := range o.Prompts {
		all = append(all, &o.Prompts[i])
	}
	for _, p := range all {
		info, err := os.Stat(*p)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if info.Size() > maxPrompt {
			return usageError("the prompt in %s has more than %d bytes", *p, maxPrompt)
		}
		text, err := os.ReadFile(*p)
		if err != nil {
			return err
		}
		*p = string(text)
	}
	return nil
}

// outcomeOf is the outcome of a run. The configuration knows the run by the name of its
// command.
func (o *liveFlags) outcomeOf(command string, conversation *report.Conversation, r *live.Result) report.Outcome {
	file := o.judged(r.Report, command)
	file.Conversation, file.Run = conversation, r.Run()
	if r.Name != "" {
		file.Name = r.Name
	}
	return o.outcome([]report.File{file})
}

// tellRun writes the outcome of a run to the files, and to w unless it is nil, there with
// the steps if they have not been written yet.
func (o *liveFlags) tellRun(w io.Writer, all report.Outcome, r *live.Result, steps bool) error {
	write := func(w io.Writer, format *lintFormat, steps bool) error {
		if format.name != "text" && format.name != "json" {
			return format.write(w, all, &o.lintOutput)
		}
		if format.name == "text" && steps {
			for i := range r.Outcomes {
				fmt.Fprintln(w, r.Outcomes[i].String())
			}
		}
		if format.name == "text" {
			fmt.Fprintln(w)
		}
		if err := format.write(w, all, &o.lintOutput); err != nil {
			return err
		}
		if format.name == "json" {
			return r.JSON(w)
		}
		fmt.Fprintln(w)
		return r.Summary(w)
	}
	for _, name := range o.files {
		if err := writeReport(name, func(w io.Writer) error {
			return write(&printer{to: w}, formatOfFile(name), true)
		}); err != nil {
			return fmt.Errorf("no report: %w", err)
		}
	}
	if w != nil {
		if err := write(w, lintFormatOf(func(l lintFormat) bool { return l.name == o.format }), steps); err != nil {
			return fmt.Errorf("no report: %w", err)
		}
	}
	return nil
}
