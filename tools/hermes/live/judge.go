// Package live judges connections while they happen: it drives an agent with scripted
// steps, plays an agent for a client, and lints what either side says.
package live

import (
	"math"
	"slices"
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
	failed   map[*lint.Rule]*lint.Counts
	counts   [lint.Error + 1]int
	added    int      // messages
	silent   [][2]int // first and last message of the times in which the protocol is silent
}

// NewJudge starts a Judge. It keeps only the findings about one party; with
// lint.Nobody about both.
func NewJudge(o lint.Options, by lint.Party) *Judge {
	j := &Judge{by: by, done: make(chan struct{}), failed: map[*lint.Rule]*lint.Counts{}}
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
	if j.isSilent(&f) {
		f.Severity = lint.Info
	}
	if j.failed[f.Rule] == nil {
		j.failed[f.Rule] = new(lint.Counts)
	}
	j.failed[f.Rule][f.Severity]++
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
	if r.Source == lint.Wire {
		j.added++
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

// Messages is how many messages were added: the number of the last one in findings.
func (j *Judge) Messages() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.added
}

// Silent says that the protocol is silent about what happens from now on, until over is
// called. Findings about the party then are remarks, because they were provoked.
func (j *Judge) Silent() (over func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := len(j.silent)
	j.silent = append(j.silent, [2]int{j.added + 1, math.MaxInt})
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.silent[i][1] = j.added
	}
}

func (j *Judge) isSilent(f *lint.Finding) bool {
	n := f.Message
	if n == 0 {
		n = j.added
	}
	return slices.ContainsFunc(j.silent, func(s [2]int) bool { return s[0] <= n && n <= s[1] })
}

// Report ends the capture, at its first call, and returns what the Judge has found about the
// party.
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
		own := &lint.Verdict{Rule: v.Rule, Exercised: v.Exercised}
		if counts := j.failed[v.Rule]; counts != nil {
			own.Counts = *counts
			own.Failed = counts[lint.Info] + counts[lint.Warn] + counts[lint.Error]
		}
		for _, f := range v.Findings {
			if f.By == j.by {
				if j.isSilent(&f) {
					f.Severity = lint.Info
				}
				own.Findings = append(own.Findings, f)
			}
		}
		if own.Failed > 0 && len(own.Findings) == 0 {
			own.Failed, own.Counts = 0, lint.Counts{} // only others are kept, so nothing can be shown
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
