package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
)

func TestStoresThatNobodyUsesAreRemoved(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	if all, err := Projects(state); all != nil || err != nil {
		t.Error(all, err)
	}
	if removed, err := Expire(state, time.Now()); removed != nil || err != nil {
		t.Error(removed, err)
	}
	now := time.Now()
	use := func(root string, at time.Time) *Store {
		s := open(t, Dir(state, root), Options{Root: root})
		put(t, s, root)
		must(t, s.Append([]byte(root)))
		must(t, os.Chtimes(filepath.Join(s.dir, "lock"), at, at))
		return s
	}
	for root, age := range map[string]time.Duration{"/old": 100 * time.Hour, "/new": time.Hour} {
		s := use(root, now)
		must(t, s.Close())
		at := now.Add(-age)
		must(t, os.Chtimes(filepath.Join(s.dir, "lock"), at, at))
	}
	busy := use("/busy", now.Add(-100*time.Hour))
	must(t, os.MkdirAll(filepath.Join(projectsDir(state), expired+"x", "blobs"), 0o700)) // of a program that was killed
	must(t, os.MkdirAll(filepath.Join(projectsDir(state), "not a store"), 0o700))
	list := func() (roots []string) {
		all, err := Projects(state)
		must(t, err)
		for _, p := range all {
			if p.Dir != Dir(state, p.Root) || p.Used.After(now.Add(time.Minute)) {
				t.Errorf("%+v", p)
			}
			roots = append(roots, p.Root)
		}
		slices.Sort(roots)
		return roots
	}
	if got := list(); !slices.Equal(got, []string{"/busy", "/new", "/old"}) {
		t.Error(got)
	}
	removed, err := Expire(state, now.Add(-50*time.Hour))
	if err != nil || len(removed) != 1 || removed[0].Root != "/old" {
		t.Errorf("%+v, %v", removed, err)
	}
	if got := list(); !slices.Equal(got, []string{"/busy", "/new"}) {
		t.Error(got)
	}
	entries, err := os.ReadDir(projectsDir(state))
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
	must(t, busy.Append([]byte("still works")))
	must(t, busy.Sync())
	s := use("/old", now) // again, from the start
	if got := records(t, s); !slices.Equal(got, []string{"/old"}) {
		t.Errorf("%q", got)
	}
	must(t, s.Close())
	dir := s.dir
	open(t, dir, Options{Root: "/moved"})
	all, err := Projects(state)
	if err != nil || !slices.ContainsFunc(all, func(p Project) bool { return p.Dir == dir && p.Root == "/moved" }) {
		t.Errorf("%+v, %v", all, err)
	}
}

// An Open of a store that is being removed returns a new store, or fails, but
// never returns one without a name.
func TestAStoreCanBeOpenedWhileItIsRemoved(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	dir := Dir(state, "/project")
	var group sync.WaitGroup
	stop := make(chan bool)
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				Expire(state, time.Now().Add(time.Hour))
			}
		}
	})
	// Most tries are refused on a busy machine, and each may be.
	limit := time.Now().Add(patience.Soon)
	for opened := 0; opened < 50; {
		s, err := Open(dir, Options{Root: "/project"})
		if err != nil {
			if time.Now().After(limit) {
				t.Errorf("opened only %d times, then: %v", opened, err)
				break
			}
			continue
		}
		opened++
		must(t, s.Append([]byte("one")))
		if err := s.Sync(); err != nil {
			t.Error(err)
		}
		must(t, s.Close())
	}
	close(stop)
	group.Wait()
}

// The same at the worst moment: the lock is taken, but of a directory that has
// just lost its name.
func TestALockWithoutANameIsTakenAgain(t *testing.T) {
	t.Parallel()
	if renameHoldsFiles {
		t.Skip("a directory keeps its name here")
	}
	dir := filepath.Join(t.TempDir(), "store")
	for _, times := range []int{1, 2, 10} {
		n := 0
		s, err := Open(dir, Options{fault: func(op, path string) error {
			if op == "truncate" && filepath.Base(path) == "lock" {
				if n++; n <= times {
					must(t, os.Rename(dir, fmt.Sprint(dir, times, n)))
				}
			}
			return nil
		}})
		if times == 10 {
			if !errors.Is(err, ErrRemoved) {
				t.Error(err)
			}
			continue
		}
		must(t, err)
		must(t, s.Append([]byte("one")))
		must(t, s.Sync())
		must(t, s.Close())
		again := open(t, dir, Options{})
		if got := records(t, again); len(got) == 0 {
			t.Errorf("%d times: lost", times)
		}
		must(t, again.Close())
	}
}
