package project

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// job is a look at the disk.
type job struct {
	author review.Author // whose the changes are, unless
	user   bool          // they are the user's
	scan   bool          // at everything
	files  []Told        // at these files
	sure   bool          // also if the disk did not change
	then   func(now *tree.Snapshot)
	done   chan struct{}

	dirs       []string      // among the files
	waited     time.Duration // for files to settle
	gone, made []moved
	seen       time.Time     // when the scan began
	turn       review.Author // of a prompt: whose turn begins
	late       time.Time     // when the prompt was sent, if it did not wait for the look
	unseen     []string      // files that cannot be reviewed, to be reported
	why        string        // the first one cannot, and
	by         review.Author // whose it is
}

const (
	maxJobs  = 256 // that wait
	maxFiles = 500 // of a job; above it everything is looked at
)

// add has a job done after those before it. It reports false after Close.
func (p *Project) add(j *job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.addLocked(j)
}

func (p *Project) addLocked(j *job) bool {
	if p.closed {
		return false
	}
	if n := len(p.jobs); n > 0 && j.then == nil && p.jobs[n-1].takes(j, n >= maxJobs) {
		return true
	}
	p.jobs = append(p.jobs, j)
	if !p.working {
		p.working = true
		p.work.Go(p.run)
	}
	return true
}

// takes makes the job do another one too, if both have the same author, or if
// it must.
func (j *job) takes(o *job, must bool) bool {
	same := j.user == o.user && j.author == o.author
	switch {
	case j.then != nil || j.sure || o.sure || !same && (!must || j.user || o.user):
		return false
	case !same:
		j.scan = true
		return true
	}
	j.scan = j.scan || o.scan
	j.files = append(j.files, o.files...)
	if len(j.files) > maxFiles {
		j.files, j.scan = nil, true
	}
	return true
}

func (p *Project) run() {
	for {
		p.mu.Lock()
		p.doing = nil
		if len(p.jobs) == 0 {
			p.working = false
			p.mu.Unlock()
			return
		}
		j := p.jobs[0]
		p.jobs, p.doing = p.jobs[1:], j
		p.mu.Unlock()
		if p.ctx.Err() == nil {
			p.do(p.ctx, j)
		}
		if j.done != nil {
			close(j.done)
		}
		p.tidy()
	}
}

// Settled reports whether nothing is being found out about what agents have
// changed: no look for it is under way, and no editor has yet to say what became
// of a buffer.
func (p *Project) Settled() bool {
	ofAgents := func(j *job) bool { return !j.user && (j.scan || len(j.files) > 0) }
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.held {
		if h.author != nil {
			return false
		}
	}
	return (p.doing == nil || !ofAgents(p.doing)) && !slices.ContainsFunc(p.jobs, ofAgents)
}

func (p *Project) do(ctx context.Context, j *job) {
	scan := j.scan
	for _, f := range j.files {
		for i, name := range p.names(f.Path) {
			if f.exact {
				p.reportedExactly(j, j.author, name, f)
				break
			}
			if i == 0 && !p.isFile(name) {
				scan, j.dirs = true, append(j.dirs, name)
				break
			}
			p.look(ctx, j, j.author, name, f)
		}
	}
	var now *tree.Snapshot
	if scan {
		now = p.scanAll(ctx, j)
	}
	p.renamed(j)
	p.tellUnseen(j)
	if j.then != nil {
		j.then(now)
	}
}

// isFile reports whether a name belongs, or belonged, to a file.
func (p *Project) isFile(name string) bool {
	if s, err := p.readAny(name); err != nil || s.Kind != review.Absent {
		return err == nil && s.Target != "a folder"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		return true
	}
	i, _ := slices.BinarySearchFunc(p.last.Entries, name+"/", func(e tree.Entry, s string) int { return strings.Compare(e.Path, s) })
	return i == len(p.last.Entries) || !strings.HasPrefix(p.last.Entries[i].Path, name+"/")
}

// look looks at one file.
func (p *Project) look(ctx context.Context, j *job, author review.Author, name string, told Told) {
	for range 100 {
		p.mu.Lock()
		at := p.later[name].at
		p.mu.Unlock()
		seen := time.Now()
		before, known, lost := p.lastKnown(name)
		read := p.read
		if known && before.Kind != review.Absent {
			read = p.readAny
		}
		now, err := read(name)
		if p.isSeen(j, author, name, cmp.Or(err, lost)); err != nil {
			return
		}
		if known && before == now && !told.missed && !p.doubted(j, name) {
			p.settled(name)
			return
		}
		if (!known || before != now) && p.settle(ctx, j, name, now, seen) {
			continue
		}
		p.barrier(j)
		if p.attribute(j, author, name, told, at, now, seen) {
			p.settled(name)
			return
		}
	}
}

// attribute says whose a file is that was read, unless something has become known
// of it since. Then it returns false.
func (p *Project) attribute(j *job, author review.Author, name string, told Told, at uint64, now review.State, seen time.Time) bool {
	p.attributing.Lock()
	defer p.attributing.Unlock()
	p.mu.Lock()
	late, busy := p.later[name].at != at, p.writing[name] > 0
	p.mu.Unlock()
	if late || busy {
		return busy // who writes it reports it
	}
	before, known := p.before(name)
	p.note(name, now)
	if !known && told.After != nil && *told.After == now.Text && now.Kind == review.Regular {
		before, _ := told.states(now)
		p.failed("record a change", name, p.review.Claimed(author, name, before, now))
		return true
	}
	if told.missed && known && before == now && p.replay(author, name, told, now) {
		return true
	}
	p.found(j, author, name, before, known, now, seen)
	return true
}

// doubted reports whether a look may say more of a file than is known, although
// the disk has not changed.
func (p *Project) doubted(j *job, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return j.sure || j.user || !j.author.Inferred && p.guessed[name]
}

// barrier waits for what the user did, before something is called an agent's.
func (p *Project) barrier(j *job) {
	if !j.user && p.opts.Barrier != nil {
		p.opts.Barrier(p.ctx)
	}
}

// found says whose a file is that a look at a time has found. known says that before
// is known.
func (p *Project) found(j *job, author review.Author, name string, before review.State, known bool, now review.State, seen time.Time) {
	p.mu.Lock()
	_, held := p.held[name]
	guessed := p.guessed[name]
	p.mu.Unlock()
	user := j.user
	if p.isLate(j, name) {
		user, author = false, j.turn
	}
	if held && now.Kind != review.Regular && (!known || before != now) { // the buffer cannot be what the file is
		if !known {
			_, before, known = p.review.Known(name)
		}
		p.letGo(name, before)
		held = false
	}
	switch {
	case held:
		_, current, _ := p.review.Known(name)
		switch {
		case current == now && guessed && !user && !author.Inferred: // it says more
			p.failed("record a change", name, p.review.Changed(author, name, nil, now))
			p.guess(name, false)
		case current == now || known && before == now:
		case !user:
			p.wait(author, name, before, func(t *review.Trace) *review.Trace { return t })
		case p.opts.OnLook != nil:
			p.opts.OnLook(author, name)
		}
		return
	case user:
		p.failed("record a change", name, p.review.Synced(name, now, seen))
		return
	case !known:
		p.failed("track", name, p.review.Track(name, now))
		p.unknown(j, author, name)
		return
	}
	p.failed("record a change", name, p.review.Found(author, name, &before, now, seen))
	if before != now || !author.Inferred {
		p.guess(name, author.Inferred)
	}
	j.moving(name, before, now)
}

// guess notes whether it was inferred whose the last change of a file is.
func (p *Project) guess(name string, inferred bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if inferred {
		p.guessed[name] = true
	} else {
		delete(p.guessed, name)
	}
}

// scanAll takes a snapshot and attributes what has changed since the last one. It
// returns nil if there is none.
func (p *Project) scanAll(ctx context.Context, j *job) *tree.Snapshot {
	p.mu.Lock()
	p.clock++
	start, last := p.clock, p.last
	p.mu.Unlock()
	p.caughtUp()
	j.seen = time.Now()
	var now *tree.Snapshot
	p.noticeObeyed(j)
	if p.scans {
		var err error
		scan := p.scanner.Scan
		if !j.user {
			scan = p.scanner.Rescan // what an agent writes does not decide what is looked at
		}
		if now, err = scan(ctx); err != nil {
			p.failed("scan", "", err)
			if !j.user && ctx.Err() == nil {
				p.notRecorded(j.author, "the files of the project cannot be compared: "+err.Error(), false)
			}
			return nil
		}
		p.failed("contents are not kept", "", now.Unkept)
		p.trouble(now.Unkept)
		p.compare(ctx, j, start, last, now)
	}
	for _, name := range p.review.Paths() {
		if p.isApart(name) {
			continue
		}
		if !p.covered(name) {
			p.look(ctx, j, j.author, name, Told{})
		} else if last == nil {
			p.sync(ctx, now, name, j)
		}
	}
	return now
}

// sync gives the review the present state of a file that was known before the
// program began.
func (p *Project) sync(ctx context.Context, now *tree.Snapshot, name string, j *job) {
	s, err := p.stateNow(now, name)
	p.isSeen(j, j.author, name, err)
	if _, current, known := p.review.Known(name); err == nil && known && current != s && p.unsettled(j, name, s, j.seen) > 0 {
		p.look(ctx, j, j.author, name, Told{})
		return
	}
	p.attributing.Lock()
	defer p.attributing.Unlock()
	p.mu.Lock()
	_, held := p.held[name]
	_, noted := p.later[name]
	p.mu.Unlock()
	if err == nil && !held && !noted {
		p.failed("record a change", name, p.review.Synced(name, s, j.seen))
	}
}

// compare attributes what differs between two snapshots, the later one of which
// was begun at start.
func (p *Project) compare(ctx context.Context, j *job, start uint64, last, now *tree.Snapshot) {
	var names []string
	if last != nil {
		for _, c := range tree.Compare(last, now) {
			names = append(names, c.Path)
		}
	}
	for _, l := range now.Left { // what Compare knows nothing of
		if last == nil || l.Reason == tree.Ignored {
			continue
		}
		if _, was := last.Entry(l.Path); was || p.isKnown(l.Path) {
			names = append(names, l.Path)
		}
	}
	p.leftOut(j, last, now)
	if len(names) > 0 {
		p.barrier(j)
	}
	p.mu.Lock()
	names = slices.AppendSeq(names, maps.Keys(p.later))
	p.mu.Unlock()
	slices.Sort(names)
	var again []string
	for _, name := range slices.Compact(names) {
		if !p.compareOne(j, start, last, now, name) {
			again = append(again, name)
		}
	}
	if !j.user {
		p.foldersMade(last, now)
	}
	p.mu.Lock()
	p.last = now.After(last)
	maps.DeleteFunc(p.later, func(name string, l later) bool {
		why, left := now.LeftOut(name)
		return l.at < start && (!left || why == tree.Ignored)
	})
	p.mu.Unlock()
	for _, name := range again {
		p.look(ctx, j, j.authorOf(name), name, Told{})
	}
}

// compareOne attributes one file. It returns false if the snapshot may be older
// than what is known of the file, or than what is being written.
func (p *Project) compareOne(j *job, start uint64, last, now *tree.Snapshot, name string) bool {
	p.attributing.Lock()
	defer p.attributing.Unlock()
	p.mu.Lock()
	l, noted := p.later[name]
	busy := p.writing[name] > 0
	p.mu.Unlock()
	if busy || noted && l.at >= start {
		return false
	}
	if why, left := now.LeftOut(name); left && why != tree.Special {
		return why == tree.Ignored || p.isKnown(name) // it is looked at by itself
	}
	before, known := l.state, true
	if !noted {
		var err error
		if before, err = p.stateIn(last, name); err != nil {
			_, before, known = p.review.Known(name)
			p.changedUnseen(j, name, err)
		}
	}
	after, err := p.stateNow(now, name)
	if after.Kind == review.Other && before.Kind == review.Absent {
		// Not a file, and never was, or a new one that has no hunk.
		if _, err := p.read(name); errors.Is(err, errTooLarge) {
			p.changedUnseen(j, name, err)
		}
		return true
	}
	if err != nil {
		p.changedUnseen(j, name, err)
		return true
	}
	if !known || before == after {
		return true
	}
	if p.unsettled(j, name, after, j.seen) > 0 || isMissing(before, after) {
		p.note(name, before) // the look that follows compares with that
		return false
	}
	p.found(j, j.authorOf(name), name, before, true, after, j.seen)
	return true
}

// authorOf is whose a change is that a scan has found.
func (j *job) authorOf(name string) review.Author {
	author := j.author
	if !slices.ContainsFunc(j.dirs, func(dir string) bool { return strings.HasPrefix(name, dir+"/") }) {
		author.Inferred, author.Source = true, "disk"
	}
	return author
}

func (p *Project) isKnown(name string) bool {
	_, _, known := p.review.Known(name)
	return known
}

// covered reports whether the last snapshot says what is at a name.
func (p *Project) covered(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.coveredLocked(name)
}

func (p *Project) coveredLocked(name string) bool {
	if p.last == nil || isAbs(name) {
		return false
	}
	_, left := p.last.LeftOut(name)
	return !left
}

// note keeps what a file is until the next snapshot has it.
func (p *Project) note(name string, s review.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scans && !isAbs(name) {
		p.clock++
		p.later[name] = later{p.clock, s}
	}
}

// before returns what was last known of a file.
func (p *Project) before(name string) (s review.State, known bool) {
	s, known, _ = p.lastKnown(name)
	return s, known
}

// lastKnown is before. lost says that a snapshot has the file, and why not its content.
func (p *Project) lastKnown(name string) (s review.State, known bool, lost error) {
	_, current, known := p.review.Known(name)
	p.mu.Lock()
	l, ok := p.later[name]
	_, held := p.held[name]
	has, last := p.coveredLocked(name), p.last
	p.mu.Unlock()
	if last != nil && !has {
		_, has = last.Entry(name) // of an earlier snapshot
	}
	switch {
	case ok:
		return l.state, true, nil
	case known && !held:
		return current, true, nil
	case has:
		s, lost = p.stateIn(last, name)
		return s, lost == nil, lost
	}
	return review.State{}, false, nil
}
