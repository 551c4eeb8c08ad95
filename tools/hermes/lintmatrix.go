package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/tools/hermes/live"
	"github.com/hermes-nvim/hermes/tools/hermes/matrix"
)

// matrixFlags are about many agents.
type matrixFlags struct {
	file    string
	results string
	atOnce  int
	total   time.Duration
	again   bool
}

func (m *matrixFlags) flags(f flags) {
	f.StringVar(&m.file, "matrix", "", "drive the agents that `FILE` lists, and write a scoreboard")
	f.StringVar(&m.results, "results", "scoreboard", "the `FOLDER` of the scoreboard; what an earlier run has left there is kept")
	f.IntVar(&m.atOnce, "at-once", 2, "drive at most `N` agents of the matrix at a time")
	f.DurationVar(&m.total, "matrix-total", 4*time.Hour, "the `TIME` that all agents of the matrix may take; a second run continues")
	f.BoolVar(&m.again, "again", false, "drive the agents again whose results are there")
}

// check refuses flags that say nothing about what is driven.
func (m *matrixFlags) check(f flags, argv []string) (err error) {
	many := []string{"results", "at-once", "matrix-total", "again"}
	one := []string{"out", "raw", "report", "format", "max", "cwd"}
	f.Visit(func(set *flag.Flag) {
		switch {
		case m.file == "" && slices.Contains(many, set.Name):
			err = usageError("--%s is for --matrix", set.Name)
		case m.file != "" && slices.Contains(one, set.Name):
			err = usageError("--%s is for one agent: with --matrix, --results names the folder of all reports", set.Name)
		}
	})
	switch {
	case err != nil:
		return err
	case m.file != "" && len(argv) > 0:
		return usageError("--matrix lists the agents: leave out the command after --")
	case m.atOnce < 1:
		return usageError("--at-once %d: want at least 1", m.atOnce)
	case m.total <= 0:
		return usageError("--matrix-total %v is in the past", m.total)
	}
	return nil
}

// The files in the folder of the results. The reports of the agents are below reportsFolder.
const (
	boardJSON     = "index.json"
	boardHTML     = "index.html"
	reportsFolder = "agents"
)

// board is a scoreboard that is being filled. Its rows are on the disk as soon as they
// are known, so a run that is killed can be continued.
type board struct {
	runFlags
	matrixFlags
	agents   []*matrix.Agent
	end      time.Time
	progress *progress

	mu         sync.Mutex
	scoreboard report.Scoreboard
	old        map[string]report.Row // rows of an earlier run, by agent
	failed     error                 // why the files could not be written
}

// lintMatrix drives the agents of a matrix.
func lintMatrix(ctx context.Context, o *runFlags, m *matrixFlags, std *stdio) error {
	b := &board{runFlags: *o, matrixFlags: *m, progress: newProgress(std), end: time.Now().Add(m.total)}
	var err error
	if b.agents, err = matrix.Read(m.file); err != nil {
		return usageError("%w", err)
	}
	options, err := o.ready("agent") // before the work begins
	if err != nil {
		return err
	}
	if err := o.checkTimes(); err != nil {
		return err
	}
	if knows := func(a *matrix.Agent) bool { return b.of(a).checkSteps(options) == nil }; !slices.ContainsFunc(b.agents, knows) {
		return b.of(b.agents[0]).checkSteps(options)
	}
	if err := os.MkdirAll(filepath.Join(m.results, reportsFolder), 0o777); err != nil {
		return &exit{statusUsage, err}
	}
	b.scoreboard = report.Scoreboard{Program: strings.TrimSpace("hermes " + version), Fails: o.limit}
	if err := b.resume(std); err != nil {
		return usageError("%w", err)
	}
	for _, a := range b.agents {
		row := report.Row{Agent: a.Name, Problem: "it has not been driven yet"}
		if old, ok := b.old[a.Name]; ok && !m.again {
			row = old
		}
		b.scoreboard.Rows = append(b.scoreboard.Rows, row)
	}
	if err := b.write(); err != nil { // a folder that cannot be written to, before the work
		return &exit{statusUsage, err}
	}
	b.progress.begin(len(b.agents))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(m.atOnce, len(b.agents)) {
		workers.Go(func() {
			for i := range next {
				if row, kept := b.row(ctx, i); ctx.Err() == nil {
					b.put(i, row, kept)
				}
			}
		})
	}
	for i := range b.agents {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	b.progress.end()
	switch {
	case b.failed != nil:
		return &exit{statusUsage, b.failed}
	case ctx.Err() != nil:
		return errInterrupted
	}
	return b.summary(std.out)
}

// resume reads the results of an earlier run, and says so.
func (b *board) resume(std *stdio) error {
	name := filepath.Join(b.results, boardJSON)
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	rows, err := report.ReadScoreboard(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w; remove it, or choose another folder with --results", name, err)
	}
	b.old = map[string]report.Row{}
	for _, r := range rows {
		if r.Run != nil {
			b.old[r.Agent] = r
		}
	}
	if len(b.old) > 0 && !b.again {
		fmt.Fprintf(std.err, "hermes lint run: continues the run in %s: %d of its agents were driven (--again drives them again)\n", oneLine(name), len(b.old))
	}
	return nil
}

// row returns the row of an agent: the one of an earlier run if nothing has
// changed since.
func (b *board) row(ctx context.Context, i int) (row report.Row, kept bool) {
	a := b.agents[i]
	row = report.Row{Agent: a.Name, Report: reportsFolder + "/" + a.File() + ".html"}
	cannot := func(err error) (report.Row, bool) {
		row.Report, row.Problem = "", oneLine(err.Error())
		return row, false
	}
	left := time.Until(b.end)
	if left <= 0 {
		row.Cut = true
		return cannot(fmt.Errorf("it was not driven: all agents together have taken %v", b.matrixFlags.total))
	}
	one := b.of(a)
	program := live.Program{Argv: a.Command, Env: a.Env, Keeper: keeper()}
	var err error
	if row.Version, err = programVersion(ctx, a, min(one.timeout, left)); err != nil {
		return cannot(err)
	}
	if row.Settings, err = one.settings(a); err != nil {
		return cannot(err)
	}
	if old, ok := b.old[a.Name]; ok && !b.again {
		why := b.changed(&old, &row)
		if why == "" {
			return old, true
		}
		b.progress.say(a.Name, "is driven again: "+why)
	}
	options, err := one.ready(filepath.Base(a.Command[0]))
	if err != nil {
		return cannot(err)
	}
	for _, extension := range []string{".html", ".jsonl"} {
		one.files = append(one.files, filepath.Join(b.results, reportsFolder, a.File()+extension))
	}
	one.total = min(one.total, time.Until(b.end))
	b.progress.start(a.Name)
	r, conversation, err := one.drive(ctx, program, options, func(out live.Outcome) { b.progress.step(a.Name, out.Step) })
	if err != nil {
		return cannot(err)
	}
	all := one.outcomeOf(filepath.Base(a.Command[0]), conversation, r)
	if err := one.tellRun(nil, all, r, true); err != nil {
		return cannot(err)
	}
	row.Fill(all)
	row.Cut = !time.Now().Before(b.end)
	return row, false
}

// of returns the flags for one agent: the flags of the command line, except where the
// file has others.
func (b *board) of(a *matrix.Agent) *runFlags {
	one := b.runFlags
	one.files = nil
	for _, s := range []struct {
		to   *string
		text string
	}{{&one.profile, string(a.Profile)}, {&one.method, a.AuthMethod}, {&one.asking, a.Asking}, {&one.busy, a.Busy}} {
		if s.text != "" {
			*s.to = s.text
		}
	}
	if a.Timeout > 0 {
		one.timeout = a.Timeout
	}
	if a.Total > 0 {
		one.total = a.Total
	}
	if len(a.Prompts) > 0 {
		one.prompts = a.Prompts
	}
	if len(a.Without) > 0 {
		one.without = a.Without
	}
	return &one
}

// settings is a hash of what a run of the agent depends on, besides the agent's version
// and the severity that fails.
func (o *runFlags) settings(a *matrix.Agent) (string, error) {
	run := live.Options{Prompts: o.prompts, Asking: o.asking, Busy: o.busy}
	if err := promptTexts(&run); err != nil {
		return "", err
	}
	config, err := o.configFile()
	if err != nil {
		return "", err
	}
	var files []string
	for _, name := range []string{o.known, config} {
		text := []byte(nil)
		if name != "" {
			if text, err = os.ReadFile(name); err != nil {
				return "", err
			}
		}
		files = append(files, string(text))
	}
	all, err := json.Marshal([]any{
		version, a.Command, a.Version, a.Env, run.Prompts, run.Asking, run.Busy, o.method, o.logout, o.steps, o.without, o.timeout, o.total, o.profile, o.month, files,
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:]), nil
}

// changed says why the row of an earlier run does not do; nothing if it does.
func (b *board) changed(old, now *report.Row) string {
	if old.Version != now.Version {
		return fmt.Sprintf("its version was %s and is %s", oneLine(old.Version), oneLine(now.Version))
	}
	if old.Settings != now.Settings {
		return "its command, its settings or this program have changed"
	}
	if old.Cut {
		return "the time of the run before was over"
	}
	if _, err := os.Stat(filepath.Join(b.results, filepath.FromSlash(now.Report))); err != nil {
		return "its report is gone"
	}
	return ""
}

// maxVersion bounds what a program says about its version, in bytes.
const maxVersion = 200

// programVersion is the first line that the version command of an agent prints; empty
// without such a command.
func programVersion(ctx context.Context, a *matrix.Agent, timeout time.Duration) (string, error) {
	if len(a.Version) == 0 {
		return "", nil
	}
	var said bytes.Buffer // on standard error; complete when it has exited
	p, err := live.Program{Argv: a.Version, Env: a.Env, Keeper: keeper(), Stderr: func(line []byte) {
		if said.Len() == 0 {
			said.Write(line)
		}
	}}.Start()
	if err != nil {
		return "", fmt.Errorf("cannot start %s, which prints the version: %w", a.Version[0], err)
	}
	defer p.End()
	p.In.Close()
	read := make(chan []byte, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(p.Out, 64<<10))
		read <- text
	}()
	select {
	case <-p.Exited:
	case <-ctx.Done():
		return "", errInterrupted
	case <-time.After(timeout):
		return "", fmt.Errorf("%s has not printed the version in %v", a.Version[0], timeout)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(<-read)), "\n")
	if status := p.Status(); status != "exit status 0" {
		return "", fmt.Errorf("%s, which prints the version: %s: %s", a.Version[0], status, lint.Visible(said.Bytes(), maxVersion))
	}
	if line == "" {
		return "", fmt.Errorf("%s has printed no version", a.Version[0])
	}
	return lint.Visible([]byte(strings.TrimSpace(line)), maxVersion), nil
}

// put puts a row into the scoreboard, and that on the disk.
func (b *board) put(i int, row report.Row, kept bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.scoreboard.Rows[i] = row
	if err := b.write(); err != nil && b.failed == nil {
		b.failed = err
	}
	o := b.scoreboard.Outcome(&row)
	b.progress.done(row.Agent, o.String(), o.Status != 0, kept)
}

func (b *board) write() error {
	if err := writeReport(filepath.Join(b.results, boardHTML), b.scoreboard.HTML); err != nil {
		return err
	}
	return writeReport(filepath.Join(b.results, boardJSON), b.scoreboard.JSON)
}

// summary writes a line for each agent and the result, and returns the error of the exit
// status.
func (b *board) summary(w io.Writer) error {
	for i := range b.scoreboard.Rows {
		r := &b.scoreboard.Rows[i]
		o := b.scoreboard.Outcome(r)
		if _, err := fmt.Fprintf(w, "%s: %s\n", oneLine(r.Agent), oneLine(o.String())); err != nil {
			return err
		}
	}
	o := b.scoreboard.Sum()
	if _, err := fmt.Fprintf(w, "\nResult: %s\nScoreboard: %s\n", oneLine(o.String()), oneLine(filepath.Join(b.results, boardHTML))); err != nil {
		return err
	}
	return exitOf(o, nil)
}
