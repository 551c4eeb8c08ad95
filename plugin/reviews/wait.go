package reviews

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/pathname"
	"github.com/hermes-nvim/hermes/internal/review/calls"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// One program at a time has the review of a folder. Another Neovim there asks for it when its
// user looks at it or sends a prompt there. The first gives it up unless something is going on
// there; until then, the other reports its changes to it. The program without the review takes
// over when the other ends.

const (
	program    = "Hermes in Neovim"
	lockPause  = 250 * time.Millisecond // between two tries
	givenPause = 10 * time.Millisecond  // the same when the review was given
	busyLimit  = time.Second            // that Neovim has to send what the user has done
	takeLimit  = 3 * time.Second        // to give the review, and to take it
	takePause  = 2 * time.Second        // after giving the review, before taking it back
)

// Claim asks the program that reviews a folder for the review. It returns the folder as it is
// then, which is p if the other program keeps it. The user gets a notice that says why.
func (r *Reviews) Claim(ctx context.Context, p *Folder) *Folder {
	if p == nil || p.IsOpen() || p.reporter() == nil {
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, takeLimit)
	defer cancel()
	if err := p.askFor(ctx); err != nil {
		r.host.Log.Info("the review is not given", "folder", p.Given, "error", err)
		var locked *store.LockedError
		var kept *feed.Error
		switch errors.As(p.err, &locked); {
		case errors.Is(ctx.Err(), context.Canceled) || !p.isNews():
		case errors.As(err, &kept):
			p.warned.Store(true)
			r.host.Notice("warn", "%s and keeps the review: %s; what agents change here is in that review", reviewedBy(p.Given, locked), kept.Message)
		default:
			p.warned.Store(true)
			r.host.Notice("warn", "%s; changes of agents are not reviewed here until it ends", reviewedBy(p.Given, locked))
		}
		return p
	}
	select {
	case p.given <- struct{}{}:
	default:
	}
	select {
	case <-p.instead:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.projects[p.Given]; now != nil {
		return now
	}
	return p
}

// askFor asks the program that has the review to give it to this one. That may have just
// got it, and not listen yet.
func (p *Folder) askFor(ctx context.Context) error {
	c, err := feed.Dial(ctx, p.reports.socket)
	for until := time.Now().Add(lockPause); err != nil && time.Now().Before(until); {
		time.Sleep(givenPause)
		c, err = feed.Dial(ctx, p.reports.socket)
	}
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Yield(ctx, feed.Program{Name: program, PID: os.Getpid()})
}

// yield gives the review to another program, unless something is going on here.
func (p *Folder) yield(to feed.Program) (then func(), err error) {
	<-p.Ready
	r := p.reviews
	r.barrier(r.host.Context, false, busyLimit) // if Neovim is busy, or stopped, it reports the rest later, like any other
	if !p.deciding.TryLock() {
		return nil, errors.New("a decision is being carried out there")
	}
	defer p.deciding.Unlock()
	ctx, cancel := context.WithTimeout(r.host.Context, busyLimit)
	defer cancel()
	_ = p.Wait(ctx) // a turn that has just ended is not over before what it left was looked for
	if by, busy := p.Running(); busy {
		agent, _ := r.splitKey(by.Session)
		return nil, fmt.Errorf("%s works there", agent)
	}
	if p.asking.Load() > 0 {
		return nil, errors.New("a program waits there for an answer")
	}
	if name := p.Unsaved(); name != "" {
		return nil, fmt.Errorf("%s is not saved there", name)
	}
	next := newReviewed(r, p.Given)
	next.reports = r.newReporter(p.Given, p.reports.socket)
	locked := &store.LockedError{PID: to.PID, Program: to.Name}
	next.err = locked
	close(next.Ready)
	r.mu.Lock()
	state := r.state
	current := !r.closing && r.projects[p.Given] == p
	if current {
		r.projects[p.Given] = next
	}
	r.mu.Unlock()
	if !current {
		return nil, errors.New("it ends")
	}
	return func() {
		r.host.Start(func() {
			p.letGo()
			p.close()
			r.wait(next, state, locked, takePause)
		})
	}, nil
}

// letGo releases all held buffers in Neovim: nothing is under review here any
// more.
func (p *Folder) letGo() {
	p.mu.Lock()
	names := make([]string, 0, len(p.ticks))
	for name := range p.ticks {
		names = append(names, name)
	}
	p.mu.Unlock()
	q := p.reviews.host.Queue
	for _, name := range names {
		q.Push(wire.ItemOf(Release{p.Path(name)}))
	}
	for _, f := range p.Review().Files() {
		q.Push(new(wire.Object).Str("root", p.Root()).Str("path", p.Path(f.Path)).
			Num("hunks", 0).Num("added", 0).Num("removed", 0).Strs("sessions", []string{}).Item(events.ReviewUpdated))
	}
}

// wait waits until a folder is no longer reviewed elsewhere, and then reviews it here. The
// first try is after a pause, unless the review is given to this program.
func (r *Reviews) wait(p *Folder, state string, by *store.LockedError, pause time.Duration) {
	r.host.Log.Info("a review waits", "folder", p.Given, "for", by)
	given := false
	for {
		p.reports.join()
		select {
		case <-time.After(pause):
		case <-p.given:
			given = true
		case <-r.host.Context.Done():
			return
		}
		if pause = lockPause; given {
			pause = givenPause
		}
		next := newReviewed(r, p.Given)
		r.mu.Lock()
		if r.closing || r.state != state || r.projects[p.Given] != p {
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		next.tryOpen(state)
		if next.err == nil {
			r.replace(p, next, state)
			if p.warned.Load() && !given {
				r.host.Notice("info", "what agents change in %s is reviewed here now", p.Given)
			}
			return
		}
		if !errors.As(next.err, new(*store.LockedError)) {
			r.host.Log.Warn("no review", "folder", p.Given, "error", next.err)
		}
	}
}

// reviewedBy says who reviews a folder.
func reviewedBy(folder string, by *store.LockedError) string {
	if by == nil || by.PID == 0 {
		return "another program reviews " + folder
	}
	return fmt.Sprintf("process %d (%s) reviews %s", by.PID, by.Program, folder)
}

// replace has a review that is open take the place of one that is not, also for the
// turns that run.
func (r *Reviews) replace(p, next *Folder, state string) {
	r.mu.Lock()
	stale := r.closing || r.state != state || r.projects[p.Given] != p
	if !stale {
		r.projects[p.Given] = next
		delete(r.noted, p.Given)
	}
	r.mu.Unlock()
	defer close(p.instead)
	if stale {
		next.close()
		return
	}
	next.holdAll()
	for _, s := range r.host.Sessions() {
		if turn, text := s.Prompted(); turn != "" && r.Open(s.Root()) == next {
			if err := next.Prompt(r.host.Context, SessionKey(s.Agent(), s.ID()), turn, text); err != nil {
				r.host.Log.Warn("the prompt has no checkpoint", "session", s.ID(), "error", err)
			}
		}
	}
}

// elsewhere lists the folders that other programs review, and those programs.
func (r *Reviews) elsewhere() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []string{}
	for _, p := range r.projects {
		var locked *store.LockedError
		select {
		case <-p.Ready:
			if errors.As(p.err, &locked) {
				list = append(list, reviewedBy(p.Given, locked))
			}
		default:
		}
	}
	slices.Sort(list)
	return list
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

func (r *Reviews) newReporter(folder, socket string) *reporter {
	return &reporter{
		ctx: r.host.Context, log: r.host.Log, split: r.splitKey, folder: folder, socket: socket,
		line: line{start: r.host.Start, most: maxReports}, unsent: make(map[string][]feed.Report),
		rest: func() { r.barrier(r.host.Context, false, busyLimit) },
	}
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
