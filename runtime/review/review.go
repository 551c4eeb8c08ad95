package review

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/review/tree"
)

// Hash names a text that a Store keeps: the SHA-256 of its bytes. The zero Hash names
// nothing.
type Hash = store.Hash

// Snapshot is the state of a project's files at one time.
type Snapshot = tree.Snapshot

// Store keeps what a Review remembers.
type Store interface {
	Put(data []byte) (Hash, error)
	Get(Hash) ([]byte, error)
	Append(record []byte) error
	Records() iter.Seq2[[]byte, error]
	Compact(iter.Seq[[]byte]) error
}

// Options are settings of a Review. The zero value is the default.
type Options struct {
	// OnEvent gets every event, in order and outside of any lock, so it may call
	// the Review. It must not block for long.
	OnEvent func(Event)
	// Remember is how many bytes of rejected and deleted lines a file keeps, so
	// that decisions can be undone and checkpoints restored. 0 means 1 MiB.
	Remember int
	// Keep is how long a file stays known after its last change was decided. 0
	// means two weeks.
	Keep time.Duration
}

// Event is something that happened to a file or a checkpoint.
type Event struct {
	Kind       EventKind
	Path       string
	Change     ChangeID // of Edited
	Author     Author   // of Edited
	Before     State    // of Edited
	After      State    // of Edited
	Checkpoint string   // of Checkpointed
}

// EventKind says what an Event is about.
type EventKind string

// The kinds of events. A change of an agent is Edited and then Updated.
const (
	Edited       EventKind = "edited"       // an agent changed a file
	Updated      EventKind = "updated"      // hunks of a file came, changed or went
	Checkpointed EventKind = "checkpointed" // a checkpoint was made
)

// Review is what agents have changed in the files of one project and the user's
// decisions about it. Paths are names that the caller chooses; any bytes will
// do. It is safe for concurrent use.
type Review struct {
	store   Store
	opts    Options
	mu      sync.Mutex
	files   map[string]*tracked
	authors map[ChangeID]Author
	changes ChangeID // the last one
	hunks   uint64   // the last number of a hunk
	acts    uint32   // the last decision
	turns   map[string]*turn
	works   map[string]bool // sessions whose turns run
	unsaved map[string]bool // of which that is not stored
	points  []Checkpoint
	events  []Event
	telling sync.Mutex
	lost    []error
}

// tracked is a file and what is known about it outside of its text.
type tracked struct {
	file
	hunks   []rawHunk // of the version below, nil if not yet known
	version uint64
	dirty   bool // not yet in the store
	// The newest change of an agent in the order in which they became known, now and when
	// the hunks got their versions.
	newest, numbered ChangeID
	intents          []intent
	changed          time.Time
	account          account
	claimed          bool     // only a report says what the file was
	blob             Hash     // of the text that was stored last
	stored           *version // whose text that is
	others           []Hash   // that the last record needs as well
}

// intent is a change that the caller was about to make.
type intent struct {
	author Author
	after  fingerprint
}

// Open returns the Review that a store holds, which is empty if the store is.
func Open(s Store, opts Options) (*Review, error) {
	if opts.Remember == 0 {
		opts.Remember = 1 << 20
	}
	if opts.Keep == 0 {
		opts.Keep = 14 * 24 * time.Hour
	}
	r := &Review{
		store: s, opts: opts,
		files: make(map[string]*tracked), authors: make(map[ChangeID]Author), turns: make(map[string]*turn), works: make(map[string]bool), unsaved: make(map[string]bool),
	}
	if err := r.load(); err != nil {
		return nil, fmt.Errorf("open review: %w", err)
	}
	return r, nil
}

// locked runs f under the lock and then reports the events.
func (r *Review) locked(f func() error) error {
	r.mu.Lock()
	err := f()
	r.mu.Unlock()
	if r.opts.OnEvent == nil {
		return err
	}
	// One goroutine at a time reports events, and it reports all of them, so that
	// they stay in order.
	for r.telling.TryLock() {
		r.mu.Lock()
		events := r.events
		r.events = nil
		r.mu.Unlock()
		for _, e := range events {
			r.opts.OnEvent(e)
		}
		r.telling.Unlock()
		r.mu.Lock()
		more := len(r.events) > 0
		r.mu.Unlock()
		if !more {
			break
		}
	}
	return err
}

func (r *Review) tell(e Event) {
	if r.opts.OnEvent != nil {
		r.events = append(r.events, e)
	}
}

func (r *Review) session(id ChangeID) string { return r.authors[id].Session }

func (r *Review) nextHunk() uint64 { r.hunks++; return r.hunks }

// Track makes a file known before anybody changes it. It does nothing for a
// file that is known already.
func (r *Review) Track(path string, s State) error {
	return r.locked(func() error {
		if r.files[path] == nil {
			r.files[path] = &tracked{file: fileOf(s.plain()), changed: time.Now()}
		}
		return nil
	})
}

// Known reports whether a file is known, and its base and current state.
func (r *Review) Known(path string) (base, current State, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.files[path]
	if f == nil {
		return State{}, State{}, false
	}
	return f.base(), f.current(), true
}

// LastChange returns the time of the latest change of a file by an agent, zero if there is
// none. Changes may be recorded in another order.
func (r *Review) LastChange(path string) (at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.files[path]; f != nil {
		at = f.changed
	}
	return at
}

// Paths returns the known files, sorted, including files without pending
// changes.
func (r *Review) Paths() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.files))
}

// Changed records that an agent changed a file, and what the file is now (which
// is not always what a message said it would be). If the file is not known yet,
// before is its base; otherwise before is not used, because what an agent
// changes is the current text. A change that is already known is not recorded
// again, but if this author says more about it, for example the tool call, the
// author is improved. So the caller may report a change from every source it
// has.
//
// After an error of the store the change is known but will be lost with the
// program, unless Flush succeeds.
func (r *Review) Changed(author Author, path string, before *State, after State) error {
	return r.locked(func() error {
		f, err := r.known(path, before)
		if err != nil {
			return err
		}
		f.intents = slices.DeleteFunc(f.intents, func(i intent) bool { return i.after == fingerprintOf(after) })
		return r.changed(author, path, f, after)
	})
}

// known returns a file. If it is not known yet, before is its base.
func (r *Review) known(path string, before *State) (*tracked, error) {
	f := r.files[path]
	if f == nil {
		if before == nil {
			return nil, fmt.Errorf("record a change of %s: %w", path, ErrUnknown)
		}
		f = &tracked{file: fileOf(before.plain())}
		r.files[path] = f
	}
	return f, nil
}

func (r *Review) changed(author Author, path string, f *tracked, after State) error {
	if author.At.IsZero() {
		author.At = time.Now()
	}
	after = after.plain()
	before := f.current()
	if before == after {
		known, ok := r.authors[f.last]
		if !ok || !author.better(known) {
			return nil
		}
		author.At = known.At
		r.authors[f.last] = author
		f.version-- // the hunks may be others' now
		r.tell(Event{Kind: Updated, Path: path})
		return r.save(path, f)
	}
	r.changes++
	r.authors[r.changes] = author
	r.set(path, f, f.file.changed(after, r.writer(r.changes)))
	return r.edited(path, f, before, after)
}

// set replaces a file.
func (r *Review) set(path string, f *tracked, now file) {
	var until ChangeID
	now.text, until = now.text.forget(r.opts.Remember)
	now.forgot = max(now.forgot, until)
	now.version = f.file.version + 1
	f.file, f.dirty = now, true
}

// Intend stores that an agent is about to change a file that is known, so that
// the change is the agent's even if the program ends before Changed.
func (r *Review) Intend(author Author, path string, after State) error {
	return r.locked(func() error {
		f := r.files[path]
		if f == nil {
			return fmt.Errorf("record a change of %s to come: %w", path, ErrUnknown)
		}
		f.intents = append(f.intents, intent{author, fingerprintOf(after.plain())})
		return r.save(path, f)
	})
}

// Synced records what a file is when the caller looks at it again, as after the
// start of the program: an intended change is the agent's, any other the user's,
// unless a report says otherwise of what happened before the look, which began at a
// time.
func (r *Review) Synced(path string, s State, at time.Time) error {
	return r.locked(func() error {
		f := r.files[path]
		if f == nil {
			return nil
		}
		intents := f.intents
		f.intents = nil
		for _, i := range intents {
			if i.after == fingerprintOf(s.plain()) {
				return r.changed(i.author, path, f, s)
			}
		}
		if s = s.plain(); f.current() != s {
			r.happen(path, f, happened{at: at, after: s})
			r.tell(Event{Kind: Updated, Path: path})
			return r.save(path, f)
		}
		if len(intents) == 0 {
			return nil
		}
		return r.save(path, f)
	})
}

// Renamed records that an agent moved a file, after Changed has recorded that
// one was deleted and the other created.
func (r *Review) Renamed(from, to string) error {
	return r.locked(func() error {
		f, t := r.files[from], r.files[to]
		if f == nil || t == nil {
			return fmt.Errorf("record that %s became %s: %w", from, to, ErrUnknown)
		}
		if f.from != "" && f.base().Kind == Absent && r.files[f.from] != nil { // it was moved here before
			first := f.from
			f.from = ""
			errs := r.save(from, f)
			if f = r.files[first]; first == to {
				f.to = ""
				return errors.Join(errs, r.save(to, f))
			}
			from = first
		}
		if f.base().Kind == Absent { // an agent made it, so the user has never had it there
			return nil
		}
		f.to, t.from = to, from
		return errors.Join(r.save(from, f), r.save(to, t))
	})
}

// Wrote records what a file is now because of the user, or of anybody who is not
// an agent: a save, another program, a checkout. With undo it is the editor's
// undo or redo, which can bring back an agent's lines as the agent's.
func (r *Review) Wrote(path string, s State, undo bool) error {
	return r.locked(func() error { return r.wrote(path, s, undo) })
}

func (r *Review) wrote(path string, s State, undo bool) error {
	f := r.files[path]
	s = s.plain()
	if f == nil || f.current() == s {
		return nil
	}
	now := f.write(s, writer{undo: undo})
	if !undo {
		now = f.outside(s) // a buffer may have what was away
	}
	r.set(path, f, now)
	r.tell(Event{Kind: Updated, Path: path})
	return r.save(path, f)
}

// Saved says that the user changed a file from before to after. It reports whether the review
// had found that change already. If the review had only inferred that an agent made it, it
// becomes the user's.
func (r *Review) Saved(path string, before, after State) (found bool, err error) {
	err = r.locked(func() error {
		f := r.files[path]
		if f == nil {
			return nil
		}
		now := f.current()
		without, ok := now.without(before, after.plain())
		if !ok || without == now {
			return nil
		}
		found = true
		users := f.write(without, writer{}).write(now, writer{})
		if r.reported(users) < r.reported(f.file) {
			return nil
		}
		r.set(path, f, users)
		r.tell(Event{Kind: Updated, Path: path})
		return r.save(path, f)
	})
	return found, err
}

// without returns what a state would be if one that it goes back to had stayed as it was before.
func (s State) without(before, after State) (State, bool) {
	if before.Kind != Regular {
		return before, s == after
	}
	text, conflicts := Merge(after.Text, s.Text, before.Text)
	if s.Kind != Regular || after.Kind != Regular || len(conflicts) > 0 {
		return State{}, false
	}
	s.Text = text
	return s, true
}

// reported counts the pending changes of a file whose author was reported, not inferred.
func (r *Review) reported(f file) int {
	said := func(by ChangeID) bool { return !r.authors[by].Inferred }
	n := f.text.count(func(l line) bool { open := l.open(); return open != nil && said(open.by) })
	if s := f.node.open(); s != nil && said(s.fact.by) {
		n++
	}
	return n
}

// Edit says that lines Start to End, exclusive, of a text became others. Lines
// have their terminators.
type Edit struct {
	Start, End int
	Lines      []string
}

// Edited records that the user edited a file in a buffer. It costs what the edit
// costs, not what the file does, and nothing is stored before Flush.
func (r *Review) Edited(path string, e Edit, undo bool) error {
	return r.locked(func() error {
		f := r.files[path]
		if f == nil {
			return nil
		}
		n := f.text.sum.current
		if n == 1 && opaque(f.text.lines(0, 1)[0]) {
			return fmt.Errorf("edit %s: %w", path, ErrOpaque)
		}
		if e.Start < 0 || e.End < e.Start || e.End > n {
			return fmt.Errorf("edit %s: lines %d to %d of %d", path, e.Start, e.End, n)
		}
		now := f.file
		if now.node.now().kind == Absent {
			now.node = now.node.set(node{kind: Regular}, writer{})
		}
		now.text = now.text.edit(e.Start, e.End, e.Lines, writer{undo: undo})
		r.set(path, f, now)
		return nil
	})
}
