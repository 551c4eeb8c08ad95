package reviews

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

const (
	reportLimit = 10 * time.Second // how long a report to another program takes
	maxReports  = 1000             // that wait
)

// reporter reports changes from here to the program that reviews the folder: agents'
// changes, so that they are theirs in that review, and the user's, so that they are not
// taken for an agent's.
type reporter struct {
	ctx    context.Context // ends with the host
	log    *slog.Logger
	split  func(key string) (agent, id string) // of a session
	folder string                              // as given
	socket string
	line   line
	rest   func()                      // has Neovim say what it has not said yet
	lost   atomic.Bool                 // something was not reported
	client atomic.Pointer[feed.Client] // written by the line; nil before the first connection
	unsent map[string][]feed.Report    // of the line: changes in buffers, which the disk has not
}

// join has the other program ask this one for what it knows before it decides. It does nothing
// while it does so.
func (t *reporter) join() {
	if !t.isConnected() {
		t.line.post(func() {
			ctx, cancel := context.WithTimeout(t.ctx, reportLimit)
			defer cancel()
			t.connect(ctx)
		})
	}
}

// flush returns once everything is reported that is known here.
func (t *reporter) flush() {
	t.rest()
	done := make(chan struct{})
	if t.line.post(func() { close(done) }) {
		<-done
	}
}

// Look implements calls.Recorder.
func (t *reporter) Look(a review.Author, files ...project.Told) {
	for _, f := range files {
		t.tell(a, feed.Report{Kind: feed.Write, Path: f.Path, Before: versionOf(f.Before), After: versionOf(f.After)})
	}
}

// Expect implements calls.Recorder. The other program knows the files before the change
// itself.
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
func (t *reporter) changed(a review.Author, path, before, text string) {
	report := t.by(a, feed.Report{Kind: feed.Write, Path: path, Before: versionOf(&before), After: versionOf(&text)})
	t.post(func() {
		t.unsent[path] = append(t.unsent[path], report)
		if now := t.textAt(path); now != nil && now.Text != nil && *now.Text == text {
			t.sendUnsent(path)
		}
	})
}

// saved reports that the user has saved a file, after the changes of agents in its buffer.
// before is the old text, nil if there was no file, and text the new one; text is nil if the
// editor has sent neither.
func (t *reporter) saved(path string, before, text *string) {
	t.post(func() {
		t.sendUnsent(path)
		report := feed.Report{Kind: feed.Write, Path: path, User: true, Author: review.Author{Source: "user"}}
		if text == nil {
			report.After = t.textAt(path)
		} else if report.After = versionOf(text); before == nil {
			report.Before = &feed.Version{Absent: true}
		} else {
			report.Before = versionOf(before)
		}
		t.send(report)
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
	report.Agent, a.Session = t.split(a.Session)
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

// send sends a report to the other program, which may have ended.
func (t *reporter) send(report feed.Report) {
	ctx, cancel := context.WithTimeout(t.ctx, reportLimit)
	defer cancel()
	if t.lost.Swap(false) {
		t.send(feed.Report{Kind: feed.Unseen, Reason: "a Neovim reported more than could be taken", Author: report.Author, Agent: report.Agent})
	}
	var err error
	for range 2 { // a connection may lead to an earlier program
		if err = t.connect(ctx); err != nil {
			break
		}
		c := t.client.Load()
		if err = c.Tell(ctx, report); err == nil || errors.As(err, new(*feed.Error)) {
			break
		}
		c.Close()
		<-c.Done()
	}
	if err != nil {
		t.log.Warn("a change is not reported to the program that reviews it", "path", report.Path, "error", err)
	}
}

// connect makes a connection, unless there is one.
func (t *reporter) connect(ctx context.Context) error {
	if t.isConnected() {
		return nil
	}
	c, err := feed.Join(ctx, t.socket, t.flush)
	if err != nil {
		return err
	}
	go func() {
		select {
		case <-t.ctx.Done():
			c.Close()
		case <-c.Done():
		}
	}()
	t.client.Store(c)
	return nil
}

func (t *reporter) isConnected() bool {
	c := t.client.Load()
	if c == nil {
		return false
	}
	select {
	case <-c.Done():
		return false
	default:
		return true
	}
}

func versionOf(text *string) *feed.Version {
	if text == nil {
		return nil
	}
	return &feed.Version{Size: int64(len(*text)), Hash: store.HashOf([]byte(*text)), Text: text}
}

// textAt returns the present text of a file, nil if it has none that can be
// reported.
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
