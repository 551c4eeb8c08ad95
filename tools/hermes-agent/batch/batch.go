// Package batch runs many prompts and keeps their trajectories.
//
// A result is one line of a file, appended in one step. A run that is killed continues with
// the prompts that have none. The results so far are in batches/; Combine makes
// trajectories.jsonl, failed.jsonl and statistics.json of them.
package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/trajectory"
)

// Size is how many prompts of the dataset share a file of results.
const Size = 100

// Job is a prompt to run.
type Job struct {
	Index  int // in the dataset, from 0
	Sample int // of the same prompt, from 0
	Prompt
	Toolsets []string
}

// Outcome is what a run of a job made.
type Outcome struct {
	Conversations []trajectory.Turn           `json:"conversations,omitempty"`
	Completed     bool                        `json:"completed"`      // the model came to an end
	Stop          string                      `json:"stop,omitempty"` // why it ended otherwise
	Tools         map[string]trajectory.Count `json:"tools,omitempty"`
	Model         string                      `json:"model,omitempty"` // that answered; more than one if one failed
	Requests      int                         `json:"requests,omitempty"`
	Tokens        Tokens                      `json:"tokens,omitzero"`
	Cost          float64                     `json:"cost,omitempty"`  // in dollars, if the endpoint says
	Patch         string                      `json:"patch,omitempty"` // what it changed in the folder
	Check         *Check                      `json:"check,omitempty"`
}

// Tokens are the tokens of all requests of a run.
type Tokens struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	Cached int `json:"cached,omitempty"` // of Input
}

// Check is what a command says about a run.
type Check struct {
	Command string `json:"command"`
	Passed  bool   `json:"passed"`
	Output  string `json:"output,omitempty"` // the end of it
}

// Runner runs a job. An error is not a result: a later run tries the prompt again. After a
// *StopError no other prompt is tried either.
type Runner func(ctx context.Context, job Job) (Outcome, error)

// StopError says why a batch ended before its last prompt.
type StopError struct{ Err error }

func (e *StopError) Error() string { return "the batch stopped: " + e.Err.Error() }
func (e *StopError) Unwrap() error { return e.Err }

// Record is a line of results.
type Record struct {
	Index    int             `json:"index"`
	Sample   int             `json:"sample,omitempty"`
	ID       string          `json:"id,omitempty"`
	Prompt   string          `json:"prompt"`
	Dir      string          `json:"dir,omitempty"` // as the dataset has it
	Row      json.RawMessage `json:"row,omitempty"` // what else the dataset has
	Toolsets []string        `json:"toolsets,omitempty"`
	Outcome
	Error string `json:"error,omitempty"`
	// Seconds that the run took. Combined results leave it out, so that the same dataset
	// gives the same bytes.
	Seconds float64 `json:"seconds,omitempty"`
}

// Options say how to run a dataset.
type Options struct {
	Out          string // the folder of results
	Workers      int    // 0: one
	Samples      int    // runs of each prompt; 0: one
	Distribution Distribution
	Seed         uint64 // of the distribution
	Shard        Shard
	Budget       Budget
	Begin        func()         // called when nobody else works in Out; nil: nobody
	Progress     func(Progress) // called after each prompt, by one goroutine at a time; nil: nobody
}

// Budget bounds what the runs of a folder may use, together. Zero is no bound. Prompts that
// run when it is used up come to their end.
type Budget struct {
	Tokens int
	Cost   float64 // in dollars
}

// Progress says how far a run is.
type Progress struct {
	Done, Failed, Total int // prompts of this shard; Done includes earlier runs
	Resumed             int // of Done, by earlier runs
	Equal               int // rows that are left out, because another one is the same
}

// Shard is a part of a dataset. The zero value is all of it.
type Shard struct{ Index, Count int }

// Has reports whether a prompt is in the shard. Only its key decides, so that the shards of
// a dataset that grows keep their prompts.
func (s Shard) Has(key string) bool {
	return s.Count < 2 || hash(key)%uint64(s.Count) == uint64(s.Index)
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
	if o.Begin != nil {
		o.Begin()
	}
	open, p := plan(prompts, results, o)
	report := func() {
		if o.Progress != nil {
			o.Progress(p)
		}
	}
	report()
	outer := ctx
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var workers sync.WaitGroup
	var mu sync.Mutex // of what follows
	var failed, ended error
	if o.Budget.spent(results.spent) {
		open, ended = nil, errSpent
	}
	spent := make(chan struct{}) // closed when the budget is
	jobs := make(chan Job)
	go func() {
		defer close(jobs)
		for _, j := range open {
			select {
			case <-spent:
				return
			default:
			}
			select {
			case jobs <- j:
			case <-spent:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	row := failures{most: max(o.Workers, fewestFailures)}
	for range max(1, o.Workers) {
		workers.Go(func() {
			for job := range jobs {
				if ctx.Err() != nil {
					continue
				}
				r, err := record(ctx, job, run)
				mu.Lock()
				why := row.see(r, err)
				if ctx.Err() != nil { // cut off in the middle, so it is no result
					mu.Unlock()
					continue
				}
				if err := results.add(r); err != nil {
					failed = errors.Join(failed, err)
					stop(err)
				} else if p.Done++; !r.Completed {
					p.Failed++
				}
				if why != nil && ended == nil {
					ended = &StopError{why}
					stop(ended)
				}
				if o.Budget.spent(results.spent) && ended == nil {
					ended = errSpent
					close(spent)
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
	if p.Done == p.Total {
		ended = nil // nothing was left to stop
	}
	stats, err := Combine(o.Out, filepath.Join(o.Out, batchDir))
	return stats, errors.Join(context.Cause(outer), ended, err)
}

// plan lists the jobs that have no result yet.
func plan(prompts []Prompt, results *results, o Options) (open []Job, p Progress) {
	seen := map[string]bool{}
	for i, prompt := range prompts {
		for sample := range max(1, o.Samples) {
			key := prompt.key(sample)
			if !o.Shard.Has(key) {
				continue
			}
			if seen[key] {
				p.Equal++
				continue
			}
			seen[key] = true
			p.Total++
			if results.done[sum(key)] {
				p.Done++
				p.Resumed++
				continue
			}
			open = append(open, Job{Index: i, Sample: sample, Prompt: prompt, Toolsets: o.Distribution.Pick(o.Seed, prompt.Text)})
		}
	}
	return open, p
}

// fewestFailures is how many prompts in a row fail in the same way before a batch stops.
const fewestFailures = 10

// failures recognizes an endpoint that is gone.
type failures struct {
	most  int
	last  string
	again int
}

// see returns why the batch has to stop.
func (f *failures) see(r Record, err error) error {
	var stop *StopError
	switch {
	case errors.As(err, &stop):
		return stop.Err
	case r.Error == "":
		f.last, f.again = "", 0
	case r.Error == f.last:
		f.again++
	default:
		f.last, f.again = r.Error, 1
	}
	if f.again >= f.most {
		return fmt.Errorf("%d prompts in a row failed in the same way: %s", f.again, f.last)
	}
	return nil
}

var errSpent = &StopError{errors.New("the budget is used up")}

func (b Budget) spent(used Outcome) bool {
	return b.Tokens > 0 && used.Tokens.Input+used.Tokens.Output >= b.Tokens || b.Cost > 0 && used.Cost >= b.Cost
}

// record runs a job, whose panic is its own.
func record(ctx context.Context, job Job, run Runner) (r Record, err error) {
	r = Record{Index: job.Index, Sample: job.Sample, ID: job.ID, Prompt: job.Text, Dir: job.Place, Row: json.RawMessage(job.Row), Toolsets: job.Toolsets}
	defer func() {
		if p := recover(); p != nil {
			r.Error = fmt.Sprintf("panic: %v", p)
		}
	}()
	began := time.Now()
	r.Outcome, err = run(ctx, job)
	r.Seconds = time.Since(began).Round(time.Millisecond).Seconds()
	if err != nil {
		r.Completed, r.Error = false, err.Error()
	}
	return r, err
}
