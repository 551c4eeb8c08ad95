package reviews

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/runtime/review/store"
)

// One program at a time has the review of a folder. Another Neovim there waits for it,
// and takes over when the first ends.

const (
	lockPause = 250 * time.Millisecond // between two tries
	lockWait  = 2 * time.Second        // until the user hears of it: a Neovim that ends has the lock a moment longer
)

// wait waits until a folder is no longer reviewed elsewhere, and then reviews it here.
func (r *Reviews) wait(p *Folder, state string, by *store.LockedError) {
	r.host.Log.Info("a review waits", "folder", p.Given, "for", by)
	began, told := time.Now(), false
	for {
		select {
		case <-time.After(lockPause):
		case <-r.host.Context.Done():
			return
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
			if told {
				r.host.Notice("info", "what agents change in %s is reviewed here now", p.Given)
			}
			return
		}
		var locked *store.LockedError
		if !errors.As(next.err, &locked) {
			r.host.Log.Warn("no review", "folder", p.Given, "error", next.err)
			continue
		}
		if !told && time.Since(began) > lockWait && p.isNews() {
			told = true
			r.host.Notice("warn", "%s; changes of agents are not reviewed here until it ends", reviewedBy(p.Given, locked))
		}
	}
}

// reviewedBy says who reviews a folder.
func reviewedBy(folder string, by *store.LockedError) string {
	if by.PID == 0 {
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

// elsewhere says of the folders that other programs review who does.
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
