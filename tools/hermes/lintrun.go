package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/lint/report"
	"github.com/hermes-nvim/hermes/tools/hermes/live"
)

const lintRunSynopsis = `[FLAG...] -- AGENT [ARGUMENT...]

Drives an agent through all that its capabilities offer, in version 1 of the protocol,
and judges what it does.
Each step has a tier and passes, fails, or is not exercised. The exit status is 0
for an agent that conforms, 1 for one that does not or that has findings at the
severity of --fail-on, and 2 if that could not be found out, for example because
the agent needs a login.
`

// The prompts that do if the user has no better ones.
const (
	plainPrompt  = "Say hello in one word. Use no tools."
	askingPrompt = "Create the file hermes-lint.txt in the current folder. Its content is the word hello. Do nothing else."
	busyPrompt   = "Count from 1 to 500 in words, one number a line. Use no tools."
)

// lintRun drives an agent.
func lintRun(ctx context.Context, args []string, std *stdio) error {
	args, argv := splitCommand(args)
	f := newFlags("lint run", lintRunSynopsis, std.out)
	var o liveFlags
	o.flags(f, "out", "report")
	var texts list
	f.Var(&texts, "prompt", "use the prompt `TEXT|FILE` instead of our own; more of them are more steps; may be repeated")
	asking := f.String("permission-prompt", "", "the prompt `TEXT|FILE` that makes the agent ask for permission (default: to create a file)")
	busy := f.String("cancel-prompt", "", "the prompt `TEXT|FILE` that keeps the agent busy until it is cancelled (default: to count)")
	method := f.String("auth-method", "", "log in with the method `ID` of those that the agent offers")
	logout := f.Bool("allow-logout", false, "also log out, which may end a real login")
	var only list
	f.Var(&only, "step", "play only the step `ID`; may be repeated")
	timeout := f.Duration("timeout", time.Minute, "the `TIME` that a step may take")
	cwd := f.String("cwd", "", "working `FOLDER` of the sessions (default: a temporary one)")
	if rest, err := f.parse(args); err != nil {
		return err
	} else if len(rest) > 0 || len(argv) == 0 {
		return usageError("the agent's command is missing after --: hermes lint run -- AGENT [ARGUMENT...]")
	}
	options, err := o.ready(filepath.Base(argv[0]))
	if err != nil {
		return err
	}
	if *timeout <= 0 {
		return usageError("--timeout %v is in the past", *timeout)
	}
	conversation := o.timeline(&options)
	run := live.Options{
		Version: version, Timeout: *timeout, Lint: options, AuthMethod: *method, Logout: *logout, Keeper: keeper(),
		Asking: *asking, Busy: *busy, Prompts: texts, Steps: only,
	}
	if err := promptTexts(&run); err != nil {
		return err
	}
	if run.Workspace, err = filepath.Abs(*cwd); err != nil {
		return err
	}
	if *cwd == "" {
		if run.Workspace, err = os.MkdirTemp("", "hermes-lint-"); err != nil {
			return err
		}
		defer os.RemoveAll(run.Workspace)
	}
	if run.Recording, err = o.recorded("hermes lint run", argv); err != nil {
		return err
	}
	var started error
	run.Start = func(stderr func([]byte)) (*live.Agent, error) {
		a, err := live.Program{Argv: argv, Keeper: keeper(), Stderr: stderr}.Start()
		if err != nil && started == nil {
			started = err
		}
		return a, err
	}
	if o.format == "text" {
		run.Done = func(one live.Outcome) { fmt.Fprintln(std.out, one.String()) }
	}
	r, err := live.Run(ctx, run)
	if run.Recording != nil {
		if e := run.Recording.Close(); e != nil {
			err = errors.Join(err, e)
		}
	}
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case err != nil:
		return err
	case started != nil:
		return &exit{statusUsage, fmt.Errorf("cannot start %s: %w", oneLine(argv[0]), started)}
	}
	failed, err := o.tellRun(std.out, report.File{Name: filepath.Base(argv[0]), Report: r.Report, Conversation: conversation}, r, false)
	switch {
	case err != nil:
		return err
	case o.limit <= lint.Error && r.Decision == live.NotConformant:
		return &exit{Status: 1}
	case failed == nil && o.limit <= lint.Error && r.Decision == live.Undecided:
		return &exit{Status: statusUsage}
	}
	return failed
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

// tellRun writes the outcome of a run to the files, and to w unless it is nil, there with
// the steps if they have not been written yet. failed says that there are findings that
// fail.
func (o *liveFlags) tellRun(w io.Writer, file report.File, r *live.Result, steps bool) (failed, err error) {
	o.judged(file.Report, file.Name)
	files, failed := o.outcome([]report.File{file})
	write := func(w io.Writer, format *lintFormat, steps bool) error {
		if format.name != "text" && format.name != "json" {
			return format.write(w, files, &o.lintOutput)
		}
		if format.name == "text" && steps {
			for i := range r.Outcomes {
				fmt.Fprintln(w, r.Outcomes[i].String())
			}
		}
		if format.name == "text" {
			fmt.Fprintln(w)
		}
		if err := format.write(w, files, &o.lintOutput); err != nil {
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
			return nil, err
		}
	}
	if w == nil {
		return failed, nil
	}
	return failed, write(w, lintFormatOf(func(l lintFormat) bool { return l.name == o.format }), steps)
}
