package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

const (
	feedCache  = "feed"           // how far reports have been handled
	reportTime = 10 * time.Second // that a report may take
	saveAfter  = 200 * time.Millisecond
	lateLimit  = time.Second // that other programs have before a decision, to say what they know
)

// Listen opens the socket of the project, where programs outside report what they
// change. stop closes it; call it before Close.
func (p *Project) Listen() (stop func(), err error) {
	l, err := feed.Listen(feed.Path(store.Dir(p.state, p.root)))
	if err != nil {
		return nil, fmt.Errorf("review %s: %w", p.given, err)
	}
	s := &feed.Server{Logger: p.log, Ask: p.opts.OnAsk, Yield: p.opts.OnYield}
	save := func() {
		p.saveUnrecorded()
		if data, err := json.Marshal(s.Handled()); err == nil {
			p.store.Save(feedCache, data)
		}
	}
	// Reports that have been handled and decided must not come again after a
	// crash.
	soon := time.AfterFunc(saveAfter, save)
	p.late.Store(s)
	s.Handle = func(ctx context.Context, r feed.Report) error {
		soon.Reset(saveAfter)
		return p.report(ctx, r)
	}
	json.Unmarshal(p.store.Cache(feedCache), &s.Positions) // without it, reports that are sent again change nothing either
	ctx, cancel := context.WithCancel(p.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Serve(ctx, l); err != nil {
			p.log.Warn("the socket is closed", "error", err)
		}
	}()
	replayed := make(chan struct{})
	p.replayed.Store(&replayed)
	go func() {
		defer close(replayed)
		p.replayJournals(ctx)
	}()
	return func() {
		p.late.Store(nil)
		cancel()
		<-done
		<-replayed
		p.forgetVouchers(0)
		soon.Stop()
		save()
	}, nil
}

// heard waits until other programs have reported what they know, such as a save of the user
// there, which would be rejected with what an agent has made. One that does not answer in time
// reports it later.
func (p *Project) heard() {
	s := p.late.Load()
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, lateLimit)
	defer cancel()
	if err := s.Flush(ctx); err != nil && p.ctx.Err() == nil {
		p.log.Warn("another program has not said what is changed there", "folder", p.given)
	}
}

// Replayed waits until what programs in a shim have changed before Listen is known.
func (p *Project) Replayed(ctx context.Context) error {
	replayed := p.replayed.Load()
	if replayed == nil {
		return nil
	}
	select {
	case <-*replayed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("review %s: %w", p.given, context.Cause(ctx))
	}
}

// Journal takes what the journal of a shim has, wherever that is. It is for projects that
// do not Listen.
func (p *Project) Journal(ctx context.Context, dir string) error {
	p.mu.Lock()
	p.elsewhere = append(p.elsewhere, dir)
	p.mu.Unlock()
	defer p.forgetVouchers(0)
	var errs []error
	err := journal.Reports(dir, func(r feed.Report) {
		if r.Seq > 0 {
			errs = append(errs, p.report(ctx, r))
		}
	})
	return errors.Join(append(errs, err)...)
}

// Program returns the names of the agent and of the session under which a shim
// with the process id reports. They are empty if its journal is not here.
func (p *Project) Program(pid int) (agent, session string) {
	suffix := fmt.Sprintf("-%d", pid)
	for _, dir := range slices.Backward(p.journals()) {
		if !strings.HasSuffix(dir, suffix) {
			continue
		}
		if first, err := startOf(dir); err == nil {
			return first.Agent, first.Session
		}
	}
	return "", ""
}

// Process returns the process of the shim that reports as a session of an agent. It is
// 0 if that session has no journal here, or a later shim got its number. The process
// may have ended.
func (p *Project) Process(agent, session string) int {
	later := map[int]bool{}
	for _, dir := range slices.Backward(p.journals()) {
		pid, _ := strconv.Atoi(dir[strings.LastIndexByte(dir, '-')+1:])
		if later[pid] {
			continue
		}
		later[pid] = true
		if first, err := startOf(dir); err == nil && first.Agent == agent && first.Session == session {
			return pid
		}
	}
	return 0
}

// startOf returns the first event of a journal.
func startOf(dir string) (journal.Event, error) {
	r, err := journal.Open(dir)
	if err != nil {
		return journal.Event{}, err
	}
	defer r.Close()
	first, err := r.Next()
	if err == nil && first.Op != journal.Start {
		err = fmt.Errorf("journal: %s has no start", dir)
	}
	return first, err
}

// replayJournals takes the changes of programs in a shim that have ended while no
// editor was there.
func (p *Project) replayJournals(ctx context.Context) {
	for _, dir := range p.journals() {
		if err := journal.Replay(ctx, dir, feed.Path(store.Dir(p.state, p.root))); err != nil && ctx.Err() == nil {
			p.log.Warn("a journal is not read", "error", err)
		}
	}
}

// journals lists the folders of the journals of programs in a shim, the oldest first.
func (p *Project) journals() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append(journalsIn(store.Dir(p.state, p.root)), p.elsewhere...)
}

func journalsIn(dir string) (dirs []string) {
	journals, _ := filepath.Glob(filepath.Join(dir, "shim", "*", "events.jsonl")) // sorted by time
	for _, name := range journals {
		dirs = append(dirs, filepath.Dir(name))
	}
	return dirs
}

// authorOf says whose a reported change is, outside of turns.
func authorOf(r feed.Report) review.Author {
	author := r.Author
	switch {
	case author.Session == "" && r.Agent == "":
		author.Session = author.Source
	case author.Session == "":
		author.Session = r.Agent
	case r.Agent != "":
		author.Session = r.Agent + "/" + author.Session
	}
	return author
}

// report looks at the files that a report is about. It returns when that is done.
func (p *Project) report(ctx context.Context, r feed.Report) error {
	author := authorOf(r)
	if r.Kind == feed.Connect || r.Kind == feed.Accept {
		return nil // it changes no file
	}
	running, busy := p.Running()
	pre := r.Phase == feed.Pre || r.Phase == feed.Ask
	if r.Author.Session == "" && r.Agent == "" && busy {
		author.Session, author.Turn = running.Session, running.Turn
	}
	author = p.join(author, r)
	if r.Kind == feed.Unseen {
		p.notRecorded(author, r.Reason, r.Whole)
		return nil
	}
	if r.Missed || r.Kind == feed.Scan {
		p.Scan(author)
	}
	paths := []string{r.Path}
	switch r.Kind {
	case feed.Scan:
		paths = nil
	case feed.Rename:
		paths = []string{r.From, r.Path}
	}
	for _, path := range paths {
		if name := p.Name(path); isAbs(name) && !p.isKnown(name) {
			return fmt.Errorf("%s: is not in the project %s", path, p.root)
		}
	}
	if pre {
		p.announce(paths, true)
	} else {
		defer p.announce(paths, false)
	}
	switch {
	case r.Kind == feed.Scan:
	case r.User:
		p.userSaved(r.Path, r.Before, r.After)
	case r.Kind == feed.Read, r.Phase == feed.Failed:
		p.reportedFolder(r)
	case pre && busy:
		p.Look(running, toldOf(paths)...)
	case pre:
		for _, path := range paths { // nobody works, so the present text is the user's
			p.UserWrote(path)
		}
	default:
		p.noticeSteering(author, paths...)
		if p.hasCaughtUp(r, paths) {
			break
		}
		told := toldOf(paths)
		if journal := p.vouch(r); journal != nil && p.chain(r, journal, &told) {
			author.At = r.At
		} else if p.isMissed(r) {
			told = p.missed(r)
		} else if r.Kind == feed.Write {
			told[0].Before, told[0].After = p.texts(r)
		}
		p.Look(author, told...)
	}
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	err := p.Wait(ctx) // what is not done in time is done later
	if pre {
		p.Expect(paths...)
	}
	return err
}

func toldOf(paths []string) (told []Told) {
	for _, path := range paths {
		told = append(told, Told{Path: path})
	}
	return told
}

// texts returns what a report says of a file, if it says both what the file was and
// what it is.
func (p *Project) texts(r feed.Report) (before, after *string) {
	before, ok := p.textOf(r.Before)
	if !ok || r.After == nil || r.After.Text == nil {
		return nil, nil
	}
	return before, r.After.Text
}

// textOf returns the text of a version of a file, nil if there is no file. It reports
// false if the text is not known.
func (p *Project) textOf(v *feed.Version) (*string, bool) {
	switch {
	case v == nil:
		return nil, false
	case v.Absent:
		return nil, true
	case v.Text != nil:
		return v.Text, true
	}
	return textFrom(p.store.Get, v.Hash)
}

func textFrom(get func(store.Hash) ([]byte, error), h store.Hash) (*string, bool) {
	data, err := get(h)
	text := string(data)
	return &text, err == nil
}
