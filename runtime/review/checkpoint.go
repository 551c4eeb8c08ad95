package review

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/tree"
)

// ErrNoCheckpoint says that there is no such checkpoint, or no longer.
var ErrNoCheckpoint = errors.New("there is no such checkpoint")

// Checkpoint is a moment to which the files of a project can go back.
type Checkpoint struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"` // usually the prompt
	Session string    `json:"session,omitempty"`
	Turn    string    `json:"turn,omitempty"`
	At      time.Time `json:"at"`
	Tree    Hash      `json:"tree,omitzero"` // a snapshot of the project, see package tree
	Change  ChangeID  `json:"change,omitempty"`
}

type turn struct {
	id    string
	files map[string]bool
}

func (r *Review) turn(session string) *turn {
	if r.turns[session] == nil {
		r.turns[session] = &turn{files: make(map[string]bool)}
	}
	return r.turns[session]
}

// StartTurn says that a prompt was sent.
func (r *Review) StartTurn(session, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns[session] = &turn{id, make(map[string]bool)}
}

// Works stores that a turn of a session runs, or that it is over and everything that it
// did is known.
func (r *Review) Works(session string, works bool) error {
	return r.locked(func() error {
		if r.works[session] == works || session == "" {
			return nil
		}
		r.works[session] = true
		if !works {
			delete(r.works, session)
		}
		r.unsaved[session] = true
		return r.saveWorks()
	})
}

// saveWorks stores which turns run.
func (r *Review) saveWorks() error {
	for _, session := range slices.Sorted(maps.Keys(r.unsaved)) {
		rec := record{Works: session}
		if !r.works[session] {
			rec = record{Rests: session}
		}
		if err := r.append(rec); err != nil {
			return fmt.Errorf("store whether a turn of %s runs: %w", session, err)
		}
		delete(r.unsaved, session)
	}
	return nil
}

// Working returns the sessions whose turns run, sorted. After Open they are those that the
// program before this one did not see the end of.
func (r *Review) Working() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.works))
}

// TurnFiles returns the files that a session has changed since its last prompt,
// sorted.
func (r *Review) TurnFiles(session string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turns[session] == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(r.turns[session].files))
}

// Checkpoint makes a checkpoint. Its ID and its time are chosen here.
func (r *Review) Checkpoint(c Checkpoint) (Checkpoint, error) {
	err := r.locked(func() error {
		number := 1
		if n := len(r.points); n > 0 {
			last, _ := strconv.Atoi(r.points[n-1].ID)
			number = last + 1
		}
		c.ID, c.At, c.Change = strconv.Itoa(number), time.Now(), r.changes
		if err := r.append(record{Checkpoint: &c}); err != nil {
			return fmt.Errorf("make a checkpoint: %w", err)
		}
		r.points = append(r.points, c)
		r.tell(Event{Kind: Checkpointed, Checkpoint: c.ID})
		return nil
	})
	return c, err
}

// Checkpoints returns all checkpoints, oldest first.
func (r *Review) Checkpoints() []Checkpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.points)
}

// Forget removes checkpoints.
func (r *Review) Forget(ids ...string) error {
	return r.locked(func() error {
		if err := r.append(record{Forget: ids}); err != nil {
			return fmt.Errorf("forget checkpoints: %w", err)
		}
		r.points = slices.DeleteFunc(r.points, func(c Checkpoint) bool { return slices.Contains(ids, c.ID) })
		return nil
	})
}

func (r *Review) point(id string) (Checkpoint, error) {
	i := slices.IndexFunc(r.points, func(c Checkpoint) bool { return c.ID == id })
	if i < 0 {
		return Checkpoint{}, fmt.Errorf("checkpoint %s: %w", id, ErrNoCheckpoint)
	}
	return r.points[i], nil
}

// RestoreOptions say what Restore goes back on.
type RestoreOptions struct {
	Session string   // only what this session changed; "" means any
	Paths   []string // only these files; nil means all
	// Tree is a snapshot of the project as it is, for the checkpoint that Apply
	// makes first.
	Tree Hash
	// Then and Now, if both are set, are the snapshot of the checkpoint and one of
	// the project as it is. Restore then plans to restore the bytes of Then, also
	// where the user has changed them since, and of files that are not under
	// review. Files must be named as package tree names them. Files that either
	// snapshot leaves out stay.
	Then, Now *Snapshot
}

// Restore plans to go back to a checkpoint: every later change of an agent is
// taken back, accepted or not, and what the user did since stays. The plan's
// changes are the preview. Apply makes a checkpoint first, so that it can be
// undone.
func (r *Review) Restore(id string, opts RestoreOptions) (p *Plan, err error) {
	err = r.locked(func() error {
		c, err := r.point(id)
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		r.acts++
		act := r.acts
		if opts.Then != nil && opts.Now != nil {
			p, err = r.restoreExactly(opts)
		} else {
			p, err = r.plan(r.restored(opts), func(_ string, f *tracked) (file, bool, error) {
				now := f.revert(func(by ChangeID) bool {
					a, ok := r.authors[by]
					// A change of the turn itself may have been known before its checkpoint was made.
					later := by > c.Change || c.Turn != "" && a.Session == c.Session && a.Turn == c.Turn
					return ok && later && (opts.Session == "" || a.Session == opts.Session)
				}, act)
				return now, now.decidedBy(act), nil
			})
			for i := 0; err == nil && i < len(p.Changes); i++ {
				p.Changes[i].Incomplete = r.files[p.Changes[i].Path].forgot > c.Change
			}
		}
		if err != nil {
			return fmt.Errorf("restore checkpoint %s: %w", id, err)
		}
		p.before = func() error {
			_, err := r.Checkpoint(Checkpoint{Name: "before going back to: " + c.Name, Session: opts.Session, Tree: opts.Tree})
			return err
		}
		return nil
	})
	return p, err
}

// restored returns the known files that Restore may change.
func (r *Review) restored(opts RestoreOptions) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.files)), func(path string) bool {
		return opts.Paths != nil && !slices.Contains(opts.Paths, path)
	})
}

// restoreExactly plans to give files the bytes that they had.
func (r *Review) restoreExactly(opts RestoreOptions) (*Plan, error) {
	differ := func(path string, now tree.Entry) {
		if r.files[path] == nil && (opts.Paths == nil || slices.Contains(opts.Paths, path)) {
			r.files[path] = &tracked{file: fileOf(r.stateNow(opts.Now, path, now)), changed: time.Now()}
		}
	}
	for _, c := range tree.Compare(opts.Now, opts.Then) {
		differ(c.Path, c.Old)
	}
	for _, l := range opts.Now.Left { // what Compare knows nothing of
		if _, was := opts.Then.Entry(l.Path); was && l.Reason == tree.Special {
			differ(l.Path, tree.Entry{})
		}
	}
	return r.plan(r.restored(opts), func(path string, f *tracked) (file, bool, error) {
		then, was := opts.Then.Entry(path)
		if _, is := opts.Now.Entry(path); !was && !is { // left out, or outside of the project
			return file{}, false, nil
		}
		if _, left := opts.Then.LeftOut(path); left {
			return file{}, false, nil
		}
		s, err := r.stateOf(then)
		if err != nil || f.current() == s {
			return file{}, false, err
		}
		return f.write(s, writer{undo: true}), true, nil
	})
}

// stateNow is what a file is in the snapshot of now. Its content is not needed.
func (r *Review) stateNow(now *Snapshot, path string, e tree.Entry) State {
	_, special := now.LeftOut(path)
	_, folder := slices.BinarySearch(now.Dirs, path)
	switch s, err := r.stateOf(e); {
	case folder:
		return State{Kind: Other, Target: "a folder"}
	case special:
		return State{Kind: Other, Target: "a special file"}
	case err != nil:
		return TooLarge(e.Size)
	default:
		return s
	}
}

// TooLarge is the state of a file whose content is not kept.
func TooLarge(size int64) State {
	return State{Kind: Other, Target: fmt.Sprintf("a file of %d bytes", size)}
}

// stateOf reads the content of an entry. The zero Entry is an absent file.
func (r *Review) stateOf(e tree.Entry) (State, error) {
	switch {
	case e.Path == "":
		return State{}, nil
	case e.IsLink():
		return State{Kind: Link, Target: e.Link}, nil
	}
	text, err := r.store.Get(e.Hash)
	if err != nil {
		return State{}, fmt.Errorf("%s: %w", e.Path, err)
	}
	return State{Kind: Regular, Text: string(text), Mode: e.Mode.Perm()}, nil
}
