package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/hermes-nvim/hermes/internal/pathname"
)

// Add watches files, by absolute paths. They need not exist, nor their folders.
// Changes of them after Add has returned are noticed.
func (w *Watcher) Add(files ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	arm := false
	for _, f := range files {
		if f = filepath.Clean(f); w.files[f] {
			continue
		}
		w.files[f] = true
		p := filepath.Dir(f)
		w.parents[p]++
		arm = arm || w.parents[p] == 1
	}
	if arm {
		w.arm()
	}
}

// Remove stops watching files.
func (w *Watcher) Remove(files ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	arm := false
	for _, f := range files {
		if f = filepath.Clean(f); !w.files[f] {
			continue
		}
		delete(w.files, f)
		p := filepath.Dir(f)
		if w.parents[p]--; w.parents[p] == 0 {
			delete(w.parents, p)
			arm = true
		}
	}
	if arm {
		w.arm()
	}
}

// Roots watches every file below folders, and nothing else but the files of Add.
// Links are not followed. Without folders it stops. A folder that does not exist is
// left out.
func (w *Watcher) Roots(folders ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.roots = w.roots[:0]
	for _, f := range folders {
		w.roots = append(w.roots, filepath.Clean(f))
	}
	clear(w.tree)
	for _, f := range w.roots {
		w.grow(f)
	}
	w.arm()
}

// event notes what happened, and reports whether it matters. w.mu is held.
func (w *Watcher) event(e fsnotify.Event) bool {
	name := filepath.Clean(e.Name)
	happened, arm := false, false
	if w.files[name] {
		w.changed(name)
		happened = true
	}
	if e.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 && (w.above[name] || w.tree[name]) {
		// The folder may be another one now, and the system goes on to watch the first.
		w.disarm(name)
		arm = true
	}
	if arm && w.above[name] {
		for f := range w.files {
			if pathname.Within(name, f) {
				w.changed(f)
				happened = true
			}
		}
	}
	if w.tree[filepath.Dir(name)] || w.tree[name] {
		if e.Op != fsnotify.Write || !w.tree[name] { // of a folder, a write is about its files
			w.changed(name)
			happened = true
		}
		if w.tree[name] && arm {
			maps.DeleteFunc(w.tree, func(f string, _ bool) bool { return pathname.Within(name, f) })
		}
		if e.Op.Has(fsnotify.Create) {
			arm = w.grow(name) || arm
		}
	}
	if arm {
		w.arm()
	}
	return happened
}

// lost begins anew, because events were lost. w.mu is held.
func (w *Watcher) lost(err error) {
	w.rescan()
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.failed("files", err)
	}
	for f := range w.watched {
		w.disarm(f)
	}
	clear(w.tree)
	for _, f := range w.roots {
		w.grow(f)
	}
	w.arm()
}

// grow adds a folder and those in it to the tree, and reports whether it did.
func (w *Watcher) grow(folder string) (grown bool) {
	filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case d == nil || !d.IsDir():
			return nil
		case w.opts.Skip != nil && w.opts.Skip(path) && !slices.Contains(w.roots, path):
			return fs.SkipDir
		case len(w.tree) >= w.opts.Folders:
			w.failed(path, w.tooMany())
			return fs.SkipAll
		}
		w.tree[path], grown = true, true
		w.watch(path) // before its entries are read, so that none is missed
		return nil
	})
	return grown
}

// disarm forgets the watches of a folder and of those in it. The system may go on
// to watch them where they are now. w.mu is held.
func (w *Watcher) disarm(folder string) {
	for f := range w.watched {
		if pathname.Within(folder, f) {
			w.fs.Remove(f) // fails if it is gone already
			delete(w.watched, f)
		}
	}
}

// arm watches the folders that have to be watched, and no others. In place of a
// folder that is missing, it watches the one above, where it will appear. w.mu is
// held.
func (w *Watcher) arm() {
	// A folder may appear before the one above it is watched, so that nothing says so.
	// Then it looks again. Ten looks are enough unless a folder comes and goes all the time.
	for range 10 {
		if w.closed || w.armOnce() {
			return
		}
	}
}

// armOnce does what arm does, and reports whether nothing has come or gone meanwhile.
func (w *Watcher) armOnce() (calm bool) {
	want := make(map[string]bool)
	var missing []string
	clear(w.above)
	for _, p := range slices.Sorted(maps.Keys(w.parents)) {
		exists := false
		for f := p; !w.above[f]; f = filepath.Dir(f) {
			w.above[f] = true
			if !exists {
				if exists = isFolder(f); !exists {
					missing = append(missing, f)
				}
			}
			if exists {
				want[f] = true
				if w.opts.Root == "" || f == w.opts.Root || !pathname.Within(w.opts.Root, f) {
					break
				}
			}
			if f == filepath.Dir(f) {
				break
			}
		}
	}
	for f := range w.tree {
		want[f] = true
	}
	// Those of known files first, then those near the root.
	order := slices.SortedFunc(maps.Keys(want), func(a, b string) int {
		if w.above[a] != w.above[b] {
			if w.above[a] {
				return -1
			}
			return 1
		}
		if d := strings.Count(a, string(filepath.Separator)) - strings.Count(b, string(filepath.Separator)); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	if n := w.opts.Folders; len(order) > n {
		w.failed(order[n], w.tooMany())
		for _, f := range order[n:] {
			delete(want, f)
		}
		order = order[:n]
	}
	for f := range w.watched {
		if !want[f] {
			w.fs.Remove(f)
			delete(w.watched, f)
		}
	}
	calm = true
	for _, f := range order {
		calm = w.watch(f) && calm
	}
	return calm && !slices.ContainsFunc(missing, isFolder)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// watch watches a folder. It reports false when there is none. w.mu is held.
func (w *Watcher) watch(folder string) (exists bool) {
	switch {
	case w.watched[folder] || w.closed:
		return true
	case len(w.watched) >= w.opts.Folders:
		w.failed(folder, w.tooMany())
		return true
	}
	err := w.fs.Add(folder)
	switch {
	case err == nil:
		w.watched[folder] = true
	case errors.Is(err, fs.ErrNotExist):
		return false
	default:
		w.failed(folder, err)
	}
	return true
}

func (w *Watcher) tooMany() error { return fmt.Errorf("%w (%d)", ErrTooMany, w.opts.Folders) }
