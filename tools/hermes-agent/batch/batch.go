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
	"slices"
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
	ATIF          *trajectory.ATIF            `json:"atif,omitempty"` // combined results have it in a file of its own
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
// done or ctx ends. It holds the prompts that run in memory, and of the others what tells
// them apart.
func Run(ctx context.Context, d *Dataset, run Runner, o Options) (Statistics, error) {
	planned, p, err := plan(d, o)
	if err != nil {
		return Statistics{}, err
	}
	results, err := openResults(o.Out)
	if err != nil {
		return Statistics{}, err
	}
	defer results.close()
	if o.Begin != nil {
		o.Begin()
	}
	open := slices.DeleteFunc(planned, func(t task) bool { return results.done[t.key] })
	p.Resumed = p.Total - len(open)
	p.Done = p.Resumed
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
	jobs := make(chan task)
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
			for t := range jobs {
				if ctx.Err() != nil {
					continue
				}
				job, err := t.job(d, o)
				if err != nil { // what was planned is no longer true
					mu.Lock()
					if ended == nil {
						ended = &StopError{err}
						stop(ended)
					}
					mu.Unlock()
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

// task is a job of which only the place and the digest of its key are in memory.
type task struct {
	row           row
	index, sample int
	key           digest
}

// plan lists the jobs of a dataset that are different, and counts those that are not.
func plan(d *Dataset, o Options) (tasks []task, p Progress, err error) {
	seen := map[digest]bool{}
	index := -1
	err = d.each(func(r row, prompt Prompt) {
		index++
		for sample := range max(1, o.Samples) {
			key := prompt.key(sample)
			if !o.Shard.Has(key) {
				continue
			}
			t := task{r, index, sample, sum(key)}
			if seen[t.key] {
				p.Equal++
				continue
			}
			seen[t.key] = true
			p.Total++
			tasks = append(tasks, t)
		}
	})
	return tasks, p, err
}

// job reads the prompt of a task.
func (t task) job(d *Dataset, o Options) (Job, error) {
	prompt, err := d.prompt(t.row)
	if err != nil || sum(prompt.key(t.sample)) != t.key {
		return Job{}, errors.Join(fmt.Errorf("%s has changed since this run began; start it again", d.name), err)
	}
	return Job{Index: t.index, Sample: t.sample, Prompt: prompt, Toolsets: o.Distribution.Pick(o.Seed, prompt.Text)}, nil
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
