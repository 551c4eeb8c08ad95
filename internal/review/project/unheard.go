package project

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Replay takes what programs in a shim have changed in a folder while no program had
// its review open, for programs that only look at what is stored. It does nothing if
// everything is known already, or if a program has the review open: that one takes
// it, too.
func Replay(ctx context.Context, state, root string, opts Options) (err error) {
	if len(Unheard(state, root)) == 0 {
		return nil
	}
	p, err := Open(state, root, opts)
	if locked := (*store.LockedError)(nil); errors.As(err, &locked) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	stop, err := p.Listen()
	if err != nil {
		return err
	}
	defer stop()
	if err := p.Replayed(ctx); err != nil {
		return err
	}
	return p.Wait(ctx)
}

// Unheard lists the journals with changes that the review of a folder has not taken, among
// the given ones, or else among all. A journal that cannot be read has none.
func Unheard(state, root string, journals ...string) (list []string) {
	dir := store.Dir(state, root)
	if journals == nil {
		journals = journalsIn(dir)
	}
	seen := make(map[string]uint64)
	if st, err := store.Open(dir, store.Options{ReadOnly: true}); err == nil {
		var handled []feed.Position
		json.Unmarshal(st.Cache(feedCache), &handled)
		for _, at := range handled {
			seen[at.Producer] = at.Seq
		}
		st.Close()
	}
	for _, folder := range journals {
		r, err := journal.Open(folder)
		if err != nil {
			continue
		}
		name, last := "", uint64(0)
		for e, err := r.Next(); err == nil; e, err = r.Next() {
			if e.Op == journal.Start {
				name = e.Text
			}
			last = max(last, e.Seq)
		}
		r.Close()
		if last > seen[name] {
			list = append(list, folder)
		}
	}
	return list
}

// Unopened lists the folders in which programs in a shim have run and whose review no
// program has opened yet. Their Dir has only the journals.
func Unopened(state string) (list []store.Project) {
	dirs, _ := filepath.Glob(filepath.Join(filepath.Dir(store.Dir(state, "/")), "*", "shim"))
	for _, dir := range dirs {
		dir = filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(dir, "lock")); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, folder := range journalsIn(dir) {
			if first, err := startOf(folder); err == nil {
				list = append(list, store.Project{Dir: dir, Root: first.Path, Used: first.Time})
				break
			}
		}
	}
	return list
}
