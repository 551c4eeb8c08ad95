package main

import (
	"cmp"
	"context"
	"crypto/sha256"
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

	"github.com/hermes-nvim/hermes/tools/hermes-agent/agent"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/batch"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/chat"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// runBatch runs the prompts of a dataset, each in a folder of its own, and keeps the
// trajectories. Called again it goes on with the prompts that are left.
func runBatch(ctx context.Context, args []string, std stdio) error {
	f := flag.NewFlagSet("batch", flag.ContinueOnError)
	f.SetOutput(std.err)
	dataset := f.String("dataset", "", "the prompts, a `FILE` of JSON lines")
	out := f.String("out", "", "the `FOLDER` of results; default: data and the name of the dataset")
	workers := f.Int("workers", 4, "how many prompts run at the same time")
	distribution := f.String("distribution", "", "how likely each toolset is for a prompt, in percent, such as core=100,process=50; default: the toolsets of the settings")
	shard := f.String("shard", "0/1", "run only part `I/N` of the prompts, with I from 0")
	seed := f.Uint64("seed", 0, "of the distribution")
	samples := f.Int("samples", 1, "how often each prompt runs")
	check := f.String("check", "", "a `COMMAND` that says, by its exit status, whether a run did what it should; a row can have its own")
	atif := f.Bool("atif", false, "also write trajectories.atif.jsonl, in Harbor's format")
	tokens := f.Int("max-tokens", 0, "stop when all runs in the folder have used so many tokens")
	var allow []approval.Entry
	allowing(f, &allow)
	cost := f.Float64("max-cost", 0, "stop when they have cost so many dollars, if the endpoint says what it costs")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *dataset == "" || f.NArg() > 0 || *workers < 1 || *samples < 1 {
		return errors.New("batch: usage: hermes-agent batch --dataset FILE [--out FOLDER] [--workers N] [--samples N] [--check COMMAND] [--allow RULE] [--atif] [--max-tokens N] [--max-cost DOLLARS] [--distribution D] [--shard I/N]")
	}
	p, err := assemble(std)
	if err != nil {
		return err
	}
	p.Allowed = append(p.Allowed, allow...)
	prompts, err := batch.OpenDataset(*dataset)
	if err != nil {
		return err
	}
	defer prompts.Close()
	o := batch.Options{
		Out: *out, Workers: *workers, Samples: *samples, Seed: *seed, Budget: batch.Budget{Tokens: *tokens, Cost: *cost}, Progress: newBar(std.err).show,
	}
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
	j := jobs{program: p, models: agent.ListModels(ctx, p.Config.Model.Name, p.client.Models, func(error) {}), work: workPrefix(o.Out), check: *check, atif: *atif}
	j.name = j.models.Default(ctx)
	o.Begin = func() { sweep(j.work) }
	stats, err := batch.Run(ctx, prompts, j.run, o)
	if stats.Prompts > 0 || err == nil {
		fmt.Fprintf(std.err, "\n%s; the results are in %s\n", summary(stats), o.Out)
	}
	why(std.err, stats)
	if stats.Failed > 0 && (err == nil || errors.As(err, new(*batch.StopError))) {
		return &statusError{statusSome, cmp.Or(err, fmt.Errorf("batch: %d of %d prompts failed", stats.Failed, stats.Prompts))}
	}
	return err
}

// workPrefix is how the names of the folders begin that the prompts of a batch run in. The
// next run with the same results removes those that a killed one has left.
func workPrefix(out string) string {
	if absolute, err := filepath.Abs(out); err == nil {
		out = absolute
	}
	sum := sha256.Sum256([]byte(out))
	return fmt.Sprintf("hermes-agent-batch-%x-", sum[:6])
}

// sweep removes what a killed run has left.
func sweep(prefix string) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range left {
		os.RemoveAll(dir)
	}
}

func summary(s batch.Statistics) string {
	text := fmt.Sprintf("%d prompts: %d completed, %d failed", s.Prompts, s.Completed, s.Failed)
	if s.Checked > 0 {
		text += fmt.Sprintf(", %d of %d checks passed", s.Passed, s.Checked)
	}
	if s.Tokens.Input > 0 {
		text += fmt.Sprintf(", %d tokens in, %d out", s.Tokens.Input, s.Tokens.Output)
	}
	if s.Cost > 0 {
		text += fmt.Sprintf(", $%.2f", s.Cost)
	}
	return text
}

// whyLines is how many reasons are printed, the commonest ones first.
const whyLines = 5

// why says why prompts failed.
func why(out io.Writer, s batch.Statistics) {
	reasons := slices.SortedFunc(maps.Keys(s.Failures), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Failures[b], s.Failures[a]), cmp.Compare(a, b))
	})
	for i, reason := range reasons {
		if i == whyLines {
			fmt.Fprintf(out, "and %d other reasons\n", len(reasons)-i)
			return
		}
		fmt.Fprintf(out, "%d failed: %s\n", s.Failures[reason], chat.OneLine(reason))
	}
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
	fmt.Fprintf(std.out, "%s; the results are in %s\n", summary(stats), *out)
	return nil
}

// bar shows the progress of a batch: on a terminal at once, elsewhere a line a minute.
type bar struct {
	out      io.Writer
	terminal bool
	began    time.Time
	last     time.Time // when a line was written
}

func newBar(out io.Writer) *bar {
	b := &bar{out: out, began: time.Now()}
	if f, ok := out.(*os.File); ok {
		info, err := f.Stat()
		b.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return b
}

func (b *bar) show(p batch.Progress) {
	text := bartext(p, time.Since(b.began))
	switch {
	case b.terminal:
		fmt.Fprint(b.out, "\r"+text+"\x1b[K")
	case time.Since(b.last) >= time.Minute:
		b.last = time.Now()
		fmt.Fprintln(b.out, text)
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
	if p.Equal > 0 {
		text += fmt.Sprintf(", %d equal rows left out", p.Equal)
	}
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	if mine := p.Done - p.Resumed; mine > 0 && p.Done < p.Total {
		text += fmt.Sprintf(", %s left", (spent / time.Duration(mine) * time.Duration(p.Total-p.Done)).Round(time.Second))
	}
	return text
}
