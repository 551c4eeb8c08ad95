// Package live judges connections while they happen: it drives an agent with scripted
// steps, plays an agent for a client, and lints what either side says.
package live

import (
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// maxQueue is how much may wait to be judged, in bytes. The line waits above it.
const maxQueue = 64 << 20

// Judge lints records on a goroutine of its own, so that it does not delay the line. It
// is safe for concurrent use.
type Judge struct {
	by     lint.Party
	linter *lint.Linter
	done   chan struct{}

	mu       sync.Mutex
	changed  sync.Cond
	queue    []lint.Record
	bytes    int // of the queue and of what is being judged
	closed   bool
	findings []lint.Finding // since Findings was called
	failed   map[*lint.Rule]int
	counts   [lint.Error + 1]int
}

// NewJudge starts a Judge. Only what a party does counts; with lint.Nobody both do.
func NewJudge(o lint.Options, by lint.Party) *Judge {
	j := &Judge{by: by, done: make(chan struct{}), failed: map[*lint.Rule]int{}}
	j.changed.L = &j.mu
	o.OnFinding = j.found
	j.linter = lint.New(o)
	go j.run()
	return j
}

// maxFindings bounds the findings that wait for Findings.
const maxFindings = 10_000

func (j *Judge) found(f lint.Finding) {
	if j.by != lint.Nobody && f.By != j.by {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed[f.Rule]++
	j.counts[f.Severity]++
	if len(j.findings) < maxFindings {
		j.findings = append(j.findings, f)
	}
}

// Add queues a record with a copy of its bytes. It sets the time of a record without one.
func (j *Judge) Add(r lint.Record) {
	r.Bytes = append([]byte(nil), r.Bytes...)
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.bytes > 0 && j.bytes+len(r.Bytes) > maxQueue && !j.closed {
		j.changed.Wait()
	}
	if j.closed {
		return
	}
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	if r.Transport == "" {
		r.Transport = "stdio"
	}
	j.queue = append(j.queue, r)
	j.bytes += len(r.Bytes)
	j.changed.Broadcast()
}

func (j *Judge) run() {
	defer close(j.done)
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		for len(j.queue) == 0 {
			if j.closed {
				return
			}
			j.changed.Wait()
		}
		r := j.queue[0]
		j.mu.Unlock()
		j.linter.Add(r)
		j.mu.Lock()
		if j.queue = j.queue[1:]; len(j.queue) == 0 {
			j.queue = nil
		}
		j.bytes -= len(r.Bytes)
		j.changed.Broadcast()
	}
}

// Findings waits until everything is judged, and returns what was found since it was
// called last.
func (j *Judge) Findings() []lint.Finding {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.queue) > 0 {
		j.changed.Wait()
	}
	list := j.findings
	j.findings = nil
	return list
}

// Report ends the capture and returns what the party did that counts. Only its first call
// does.
func (j *Judge) Report() *lint.Report {
	j.mu.Lock()
	j.closed = true
	j.changed.Broadcast()
	j.mu.Unlock()
	<-j.done
	whole := j.linter.Report()
	if j.by == lint.Nobody {
		return whole
	}
	r := *whole
	r.Verdicts = nil
	for _, v := range whole.Verdicts {
		if side := v.Rule.Side; side == lint.ByAgent && j.by != lint.Agent || side == lint.ByClient && j.by != lint.Client || side == lint.ByServer {
			continue
		}
		own := &lint.Verdict{Rule: v.Rule, Exercised: v.Exercised, Failed: j.failed[v.Rule]}
		for _, f := range v.Findings {
			if f.By == j.by {
				own.Findings = append(own.Findings, f)
			}
		}
		if own.Failed > 0 && len(own.Findings) == 0 {
			own.Failed = 0 // only others are kept, so nothing can be shown
		}
		r.Verdicts = append(r.Verdicts, own)
	}
	r.Infos, r.Warnings, r.Errors = j.counts[lint.Info], j.counts[lint.Warn], j.counts[lint.Error]
	return &r
}

// record judges a record, and keeps it in a recording, which may be nil.
func record(j *Judge, recording *trace.Writer, r lint.Record) {
	j.Add(r)
	if recording == nil {
		return
	}
	way := trace.ToAgent
	if r.From == lint.Agent {
		way = trace.ToClient
	}
	switch {
	case r.Source == lint.Stderr:
		recording.Line(r.Bytes)
	case r.Source == lint.End:
		recording.End(way)
	case r.Left > 0:
		recording.Note("a message of %d bytes (%s) was too large", r.Left, way)
	case r.Cut:
		recording.CutMessage(way, r.Bytes)
	default:
		recording.Message(way, r.Bytes)
	}
}
