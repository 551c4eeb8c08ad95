package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/agent"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/batch"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/loop"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/trajectory"
)

// runBatch runs the prompts of a dataset, each in a folder of its own, and keeps the
// trajectories. Called again it goes on with what is left.
func runBatch(ctx context.Context, args []string, std stdio) error {
	f := flag.NewFlagSet("batch", flag.ContinueOnError)
	f.SetOutput(std.err)
	dataset := f.String("dataset", "", "the prompts, a `FILE` of JSON lines")
	out := f.String("out", "", "the `FOLDER` of results; default: data and the name of the dataset")
	workers := f.Int("workers", 4, "how many prompts run at the same time")
	distribution := f.String("distribution", "", "how likely each toolset is for a prompt, in percent, such as core=100,process=50; default: the toolsets of the settings")
	shard := f.String("shard", "0/1", "run only part `I/N` of the prompts, with I from 0")
	seed := f.Uint64("seed", 0, "of the distribution")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *dataset == "" || f.NArg() > 0 || *workers < 1 {
		return errors.New("batch: usage: hermes-agent batch --dataset FILE [--out FOLDER] [--workers N] [--distribution D] [--shard I/N]")
	}
	p, err := assemble(std)
	if err != nil {
		return err
	}
	prompts, err := batch.ReadDataset(*dataset)
	if err != nil {
		return err
	}
	o := batch.Options{Out: *out, Workers: *workers, Seed: *seed, Progress: newBar(std.err).show}
	if o.Out == "" {
		o.Out = filepath.Join("data", strings.TrimSuffix(filepath.Base(*dataset), filepath.Ext(*dataset)))
	}
	if o.Shard, err = batch.ParseShard(*shard); err != nil {
		return err
	}
	if *distribution == "" {
		*distribution = strings.Join(p.Toolsets, ",")
	}
	if o.Distribution, err = batch.ParseDistribution(*distribution); err != nil {
		return err
	}
	if _, err := tool.NewSet(allTools(p.skills), nil, slices.Sorted(maps.Keys(o.Distribution))...); err != nil {
		return fmt.Errorf("batch: distribution: %w", err)
	}
	stats, err := batch.Run(ctx, prompts, p.runJob, o)
	fmt.Fprintf(std.err, "\n%d prompts: %d completed, %d failed; the results are in %s\n", stats.Prompts, stats.Completed, stats.Failed, o.Out)
	return err
}

// mergeBatches combines the results of several runs.
func mergeBatches(_ context.Context, args []string, std stdio) error {
	f := flag.NewFlagSet("merge", flag.ContinueOnError)
	f.SetOutput(std.err)
	out := f.String("out", "", "the `FOLDER` of the combined results")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *out == "" || f.NArg() == 0 {
		return errors.New("merge: usage: hermes-agent merge --out FOLDER PART PART")
	}
	stats, err := batch.Merge(*out, f.Args()...)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "%d prompts: %d completed, %d failed; the results are in %s\n", stats.Prompts, stats.Completed, stats.Failed, *out)
	return nil
}

// runJob runs one prompt on a copy of its folder, without a user: what needs one is denied.
func (p *program) runJob(ctx context.Context, job batch.Job) (_ batch.Outcome, err error) {
	dir, err := os.MkdirTemp("", "hermes-agent-")
	if err != nil {
		return batch.Outcome{}, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err == nil && job.Dir != "" {
		err = os.CopyFS(dir, os.DirFS(job.Dir))
	}
	if err != nil {
		return batch.Outcome{}, err
	}
	tools, err := tool.NewSet(allTools(p.skills), nil, job.Toolsets...)
	if err != nil {
		return batch.Outcome{}, err
	}
	const session acp.SessionID = "batch"
	here := services.New(services.Options{
		ApproveWrite: func(context.Context, acp.SessionID, files.Location, *files.ProtectedError) error { return nil }, // of a copy
	})
	if err := here.OpenSession(session, []string{dir}); err != nil {
		return batch.Outcome{}, err
	}
	processes := process.New(process.Options{Backend: backend(p.Terminal, dir), Keeper: keeper()})
	defer func() { err = errors.Join(err, processes.Close(), here.Close()) }()
	env := &tool.Env{
		Session: session, Cwd: dir, Files: here, Processes: processes, Show: func(acp.SessionUpdate) {},
		Gate: unattended{approval.NewGate(approval.Options{Home: p.home, Allowed: p.Allowed}), dir},
	}
	history := []model.Message{{Role: model.System, Text: agent.SystemPrompt(dir, p.skills)}, {Role: model.User, Text: job.Prompt}}
	l := &loop.Loop{Model: p.client, Name: p.Model.Name, Tools: tools, Env: env, Limits: loop.Limits{Requests: p.Requests}, Log: p.log}
	reason, err := l.Turn(ctx, history, func(m model.Message) { history = append(history, m) })
	turns := trajectory.Convert(history, tools.Specs())
	for i := range turns { // the folder has another name each time
		turns[i].Value = strings.ReplaceAll(turns[i].Value, dir, "/work")
	}
	return batch.Outcome{Conversations: turns, Completed: err == nil && reason == acp.StopReasonEndTurn, Tools: trajectory.Counts(history)}, err
}

// unattended decides when there is no user. Files are those of a copy.
type unattended struct {
	gate *approval.Gate
	dir  string
}

func (unattended) Edit(context.Context, *acp.ToolCallUpdate, string) error { return nil }

func (u unattended) Command(ctx context.Context, _ *acp.ToolCallUpdate, command string, isolated bool) error {
	return u.gate.Check(ctx, command, u.dir, isolated, nil)
}

func (unattended) Use(_ context.Context, _ *acp.ToolCallUpdate, name string) error {
	return fmt.Errorf("%s was not used: there is nobody to ask", name)
}

// bar shows the progress of a batch on a terminal.
type bar struct {
	out   io.Writer
	began time.Time
}

func newBar(out io.Writer) *bar {
	b := &bar{began: time.Now()}
	if f, ok := out.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			b.out = out
		}
	}
	return b
}

func (b *bar) show(p batch.Progress) {
	if b.out != nil {
		fmt.Fprint(b.out, "\r"+bartext(p, time.Since(b.began))+"\x1b[K")
	}
}

// bartext is such as [#####---------------] 25/100, 1 failed, 1m30s left.
func bartext(p batch.Progress, spent time.Duration) string {
	const width = 20
	full := width
	if p.Total > 0 {
		full = width * p.Done / p.Total
	}
	text := fmt.Sprintf("[%s%s] %d/%d", strings.Repeat("#", full), strings.Repeat("-", width-full), p.Done, p.Total)
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	if mine := p.Done - p.Resumed; mine > 0 && p.Done < p.Total {
		text += fmt.Sprintf(", %s left", (spent / time.Duration(mine) * time.Duration(p.Total-p.Done)).Round(time.Second))
	}
	return text
}
