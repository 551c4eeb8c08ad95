package project

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// Unrecorded is what a session may have changed without a record.
type Unrecorded struct {
	Session string `json:"session"`
	journal.Missing
	At time.Time `json:"at"` // of the last time
	// Stored says that an earlier program, which had the review open, has reported
	// this.
	Stored bool `json:"-"`
}

const (
	unrecordedCache = "unrecorded"
	maxUnrecorded   = 100                // sessions
	unrecordedTime  = 7 * 24 * time.Hour // after which nobody asks any more
)

// UnrecordedIn returns what may have changed without a record in the project of a store, the
// newest last.
func UnrecordedIn(st *store.Store) (list []Unrecorded) {
	json.Unmarshal(st.Cache(unrecordedCache), &list)
	return slices.DeleteFunc(list, func(u Unrecorded) bool { return time.Since(u.At) > unrecordedTime })
}

// Unrecorded returns what may have changed without a record, the newest last.
func (p *Project) Unrecorded() []Unrecorded {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.unrecorded)
}

// notRecorded counts a change of an author without a record, or notes what the whole record
// lacks, and reports it.
func (p *Project) notRecorded(author review.Author, reason string, whole bool) {
	p.once("", reason)
	p.countUnrecorded(author, 1, reason, whole)
}

// countUnrecorded counts n changes without a record. The reason is in the log.
func (p *Project) countUnrecorded(author review.Author, n int, reason string, whole bool) {
	p.mu.Lock()
	u := Unrecorded{Session: author.Session}
	if i := slices.IndexFunc(p.unrecorded, func(u Unrecorded) bool { return u.Session == author.Session }); i >= 0 {
		u = p.unrecorded[i]
		p.unrecorded = slices.Delete(p.unrecorded, i, i+1)
	}
	u.Add(n, reason, whole)
	u.At, u.Stored = time.Now(), false
	p.unrecorded = append(p.unrecorded, u)
	p.unrecorded = p.unrecorded[max(0, len(p.unrecorded)-maxUnrecorded):]
	p.unsaved = true
	p.mu.Unlock()
	if p.opts.OnUnseen != nil {
		p.opts.OnUnseen(author, u)
	}
}

// saveUnrecorded stores it for the next program.
func (p *Project) saveUnrecorded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.unsaved {
		return
	}
	if data, err := json.Marshal(p.unrecorded); err == nil && p.store.Save(unrecordedCache, data) == nil {
		p.unsaved = false
	}
}
