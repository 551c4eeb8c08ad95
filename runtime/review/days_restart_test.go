package review

import (
	"slices"
	"time"
)

// A program that ends or is killed in the days of TestDaysEndWithWhatTheUserDid, and the next one.

// look has the review look at a file.
func (w *days) look(path string, p *paper) error {
	at := w.tick()
	w.learned(path, at)
	return w.Synced(path, p.now(), at)
}

// learned notes that the review knows of something that happened to a file at a time.
func (w *days) learned(path string, at time.Time) {
	if w.last == nil {
		w.last = make(map[string]time.Time)
	}
	if at.After(w.last[path]) {
		w.last[path] = at
	}
}

// crossed reports whether a report is on its way of what happened to a file before something else
// that the review knows: what puts them in order ends with a program.
func (w *days) crossed() bool {
	return slices.ContainsFunc(w.reports, func(r lateReport) bool { return r.author.At.Before(w.last[r.path]) })
}

// takeOver opens the review in the next program, which then hears and looks at everything.
func (w *days) takeOver(killed bool) error {
	if err := w.reopen(killed); err != nil {
		return err
	}
	return w.catchUp()
}

// reopen opens the review in the next program. The one before may have been killed.
func (w *days) reopen(killed bool) error {
	w.note("another program takes over, killed %v", killed)
	if !killed {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	r, err := Open(w.store, Options{})
	if err != nil {
		return err
	}
	w.Review = r
	return nil
}
