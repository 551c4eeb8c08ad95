package reviews

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/calls"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
	"github.com/hermes-nvim/hermes/runtime/review/project"
	"github.com/hermes-nvim/hermes/runtime/review/store"
)

const (
	reportLimit = 10 * time.Second // how long a report to another program takes
	maxReports  = 1000             // that wait
)

// reporter tells the program that reviews a folder what is changed from here: by agents, so
// that it is theirs in that review, and by the user, so that it is not.
type reporter struct {
	reviews *Reviews
	folder  string // as given
	socket  string
	line    line
	lost    atomic.Bool              // something was not reported
	client  *feed.Client             // of the line; nil before the first report
	unsent  map[string][]feed.Report // of the line: changes in buffers, which the disk has not
}

func newReporter(r *Reviews, folder, socket string) *reporter {
	return &reporter{reviews: r, folder: folder, socket: socket, line: line{start: r.host.Start, most: maxReports}, unsent: make(map[string][]feed.Report)}
}

// Recorder returns what notes the changes of agents in a folder, here or in the program that
// reviews the folder. It waits until that is known; nil if nothing does.
func (p *Folder) Recorder() calls.Recorder {
	switch {
	case p.IsOpen():
		return p
	case p.reporter() != nil:
		return p.reporter()
	}
	return nil
}

// reporter returns what reports to the program that reviews the folder; nil if there is none.
func (p *Folder) reporter() *reporter {
	if p == nil || !errors.As(p.err, new(*store.LockedError)) {
		return nil
	}
	return p.reports
}

// reporterOf returns the reporter of the folder that has a path, if another program reviews it.
func (r *Reviews) reporterOf(path string) *reporter {
	r.mu.Lock()
	defer r.mu.Unlock()
	for given, p := range r.projects {
		if _, in := pathname.Below(given, path); !in {
			continue
		}
		select {
		case <-p.Ready:
			if to := p.reporter(); to != nil {
				return to
			}
		default:
		}
	}
	return nil
}

// Look implements calls.Recorder.
func (t *reporter) Look(a review.Author, files ...project.Told) {
	for _, f := range files {
		t.tell(a, feed.Report{Kind: feed.Write, Path: f.Path, Before: versionOf(f.Before), After: versionOf(f.After)})
	}
}

// Expect implements calls.Recorder. What the files are before is what the other program knows.
func (t *reporter) Expect(...string) {}

// Scan implements calls.Recorder.
func (t *reporter) Scan(a review.Author) { t.tell(a, feed.Report{Kind: feed.Scan}) }

// write reports a write to the disk.
func (t *reporter) write(a review.Author, path string, write func() error) error {
	before := t.textAt(path)
	if err := write(); err != nil {
		return err
	}
	t.tell(a, feed.Report{Kind: feed.Write, Path: path, Before: before, After: t.textAt(path)})
	return nil
}

// changed reports a change of an agent that has reached a buffer, once the disk has it.
func (t *reporter) changed(op Op) {
	if op.Text == nil || op.Before == nil || op.Agent == "" {
		return
	}
	report := t.by(op.author, feed.Report{Kind: feed.Write, Path: op.Path, Before: versionOf(op.Before), After: versionOf(op.Text)})
	t.post(func() {
		t.unsent[op.Path] = append(t.unsent[op.Path], report)
		if now := t.textAt(op.Path); now != nil && now.Text != nil && *now.Text == *op.Text {
			t.sendUnsent(op.Path)
		}
	})
}

// saved reports that the user has saved a file, and before that what agents have made of it.
func (t *reporter) saved(path string) {
	t.post(func() {
		t.sendUnsent(path)
		t.send(feed.Report{Kind: feed.Write, Path: path, User: true, After: t.textAt(path), Author: review.Author{Source: "user"}})
	})
}

// sendUnsent sends what agents have made of a file in a buffer.
func (t *reporter) sendUnsent(path string) {
	for _, report := range t.unsent[path] {
		t.send(report)
	}
	delete(t.unsent, path)
}

// by adds whose a change is.
func (t *reporter) by(a review.Author, report feed.Report) feed.Report {
	report.Agent, a.Session = t.reviews.splitKey(a.Session)
	report.Author, report.PID, report.At = a, os.Getpid(), time.Now()
	return report
}

func (t *reporter) tell(a review.Author, report feed.Report) {
	report = t.by(a, report)
	t.post(func() { t.send(report) })
}

func (t *reporter) post(f func()) {
	if !t.line.post(f) {
		t.lost.Store(true)
	}
}

// send tells the other program, which may have ended.
func (t *reporter) send(report feed.Report) {
	ctx, cancel := context.WithTimeout(t.reviews.host.Context, reportLimit)
	defer cancel()
	if t.lost.Swap(false) {
		t.send(feed.Report{Kind: feed.Unseen, Reason: "a Neovim reported more than could be taken", Author: report.Author, Agent: report.Agent})
	}
	var err error
	for range 2 { // a connection may be that of an earlier program
		if t.client == nil {
			if t.client, err = feed.Dial(ctx, t.socket); err != nil {
				t.client = nil
				break
			}
		}
		if err = t.client.Tell(ctx, report); err == nil || errors.As(err, new(*feed.Error)) {
			break
		}
		t.close()
	}
	if err != nil {
		t.reviews.host.Log.Warn("a change is not reported to the program that reviews it", "path", report.Path, "error", err)
	}
}

// close ends the connection.
func (t *reporter) close() {
	if t.client != nil {
		t.client.Close()
		t.client = nil
	}
}

func versionOf(text *string) *feed.Version {
	if text == nil {
		return nil
	}
	return &feed.Version{Size: int64(len(*text)), Hash: store.HashOf([]byte(*text)), Text: text}
}

// textAt is what a file is now, nil if it has no text that can be told.
func (t *reporter) textAt(path string) *feed.Version {
	text, exists, err := project.TextBelow(t.folder, path)
	switch {
	case err != nil || len(text) > feed.MaxMessage:
		return nil
	case !exists:
		return &feed.Version{Absent: true}
	}
	return versionOf(&text)
}
