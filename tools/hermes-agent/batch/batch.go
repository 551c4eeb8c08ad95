// Package batch runs many prompts and keeps their trajectories.
//
// A result is one line of a file, appended in one step. A run that is killed continues with
// the prompts that have none, recognized by their text. What a run has made so far is in
// batches/; Combine makes trajectories.jsonl, failed.jsonl and statistics.json of it.
package batch

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"sync"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/trajectory"
)

// Size is how many prompts of the dataset share a file of results.
const Size = 100

// Job is a prompt to run.
type Job struct {
	Index    int // in the dataset, from 0
	Prompt   string
	Dir      string // a folder that the run works on a copy of; empty: an empty folder
	Toolsets []string
}

// Outcome is what a run of a job made.
type Outcome struct {
	Conversations []trajectory.Turn
	Completed     bool // the model came to an end
	Tools         map[string]trajectory.Count
}

// Runner runs a job. An error is not a result: a later run tries the prompt again.
type Runner func(ctx context.Context, job Job) (Outcome, error)

// Record is a line of results.
type Record struct {
	Index         int                         `json:"index"`
	Prompt        string                      `json:"prompt"`
	Toolsets      []string                    `json:"toolsets,omitempty"`
	Conversations []trajectory.Turn           `json:"conversations,omitempty"`
	Completed     bool                        `json:"completed"`
	Error         string                      `json:"error,omitempty"`
	Tools         map[string]trajectory.Count `json:"tools,omitempty"`
}

// Options say how to run a dataset.
type Options struct {
	Out          string // the folder of results
	Workers      int    // 0: one
	Distribution Distribution
	Seed         uint64 // of the distribution
	Shard        Shard
	Progress     func(Progress) // called after each prompt, by one goroutine at a time; nil: nobody
}

// Progress says how far a run is.
type Progress struct {
	Done, Failed, Total int // prompts of this shard; those of earlier runs are done
	Resumed             int // of Done, by earlier runs
}

// Shard is a part of a dataset. The zero value is all of it.
type Shard struct{ Index, Count int }

// Has reports whether a prompt is in the shard. Its text decides, so that the shards of a
// dataset that grows keep their prompts.
func (s Shard) Has(prompt string) bool {
	return s.Count < 2 || hash(prompt)%uint64(s.Count) == uint64(s.Index)
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// Run runs the prompts that have no result yet, and combines all results when they are
// done or ctx ends.
func Run(ctx context.Context, prompts []Prompt, run Runner, o Options) (Statistics, error) {
	results, err := openResults(o.Out)
	if err != nil {
		return Statistics{}, err
	}
	defer results.close()
	var open []Job
	p := Progress{}
	seen := map[string]bool{}
	for i, prompt := range prompts {
		if seen[prompt.Text] || !o.Shard.Has(prompt.Text) {
			continue
		}
		seen[prompt.Text] = true
		p.Total++
		if results.has(prompt.Text) {
			p.Done++
			p.Resumed++
			continue
		}
		open = append(open, Job{Index: i, Prompt: prompt.Text, Dir: prompt.Dir, Toolsets: o.Distribution.Pick(o.Seed, prompt.Text)})
	}
	report := func() {
		if o.Progress != nil {
			o.Progress(p)
		}
	}
	report()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	jobs := make(chan Job)
	go func() {
		defer close(jobs)
		for _, j := range open {
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	var workers sync.WaitGroup
	var mu sync.Mutex // of what follows
	var failed error
	for range max(1, o.Workers) {
		workers.Go(func() {
			for job := range jobs {
				if ctx.Err() != nil {
					continue
				}
				r := record(ctx, job, run)
				if ctx.Err() != nil {
					continue // cut off in the middle, so it is no result
				}
				mu.Lock()
				if err := results.add(r); err != nil {
					failed = errors.Join(failed, err)
					stop()
				} else if p.Done++; !r.Completed {
					p.Failed++
				}
				report()
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if failed != nil {
		return Statistics{}, failed
	}
	stats, err := Combine(o.Out, filepath.Join(o.Out, batchDir))
	return stats, errors.Join(context.Cause(ctx), err)
}

// record runs a job, whose panic is its own.
func record(ctx context.Context, job Job, run Runner) (r Record) {
	r = Record{Index: job.Index, Prompt: job.Prompt, Toolsets: job.Toolsets}
	defer func() {
		if p := recover(); p != nil {
			r.Error = fmt.Sprintf("panic: %v", p)
		}
	}()
	out, err := run(ctx, job)
	if r.Conversations, r.Completed, r.Tools = out.Conversations, out.Completed && err == nil, out.Tools; err != nil {
		r.Error = err.Error()
	}
	return r
}
