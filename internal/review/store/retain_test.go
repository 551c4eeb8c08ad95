package store

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
)

func TestPruningRemovesWhatNothingNames(t *testing.T) {
	t.Parallel()
	bothWays(t, pruning)
}

func pruning(t *testing.T, alone bool) {
	dir := t.TempDir()
	s := open(t, dir, Options{alone: alone})
	var live []Hash
	for i := range 100 {
		if h := put(t, s, fmt.Sprint("old ", i)); i%10 == 0 {
			live = append(live, h)
		}
	}
	if done, err := s.Prune(slices.Values(live), time.Hour); err != nil || done.Blobs != 0 {
		t.Errorf("removed what may not be named yet: %+v, %v", done, err)
	}
	must(t, s.Close())
	s = open(t, dir, Options{alone: alone}) // whose records are complete
	fresh := put(t, s, "fresh")
	again := put(t, s, "old 1")
	done, err := s.Prune(slices.Values(live), time.Hour)
	if err != nil || done != (Pruned{Blobs: 89, Bytes: 89*6 - 8}) {
		t.Errorf("%+v, %v", done, err)
	}
	for round := range 2 {
		for _, h := range append(live, fresh, again) {
			if _, err := s.Get(h); err != nil || !s.Has(h) {
				t.Error(err)
			}
		}
		gone := HashOf([]byte("old 2"))
		if _, err := s.Get(gone); !errors.Is(err, fs.ErrNotExist) || s.Has(gone) {
			t.Error(err)
		}
		if size, err := s.Size(); err != nil || size.Blobs != 12 {
			t.Errorf("round %d: %+v, %v", round, size, err)
		}
		must(t, s.Close())
		s = open(t, dir, Options{alone: alone})
	}
	done, err = s.Prune(slices.Values(live), 0)
	if err != nil || done.Blobs != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	put(t, s, "old 2")
}

func TestTheOldestGroupsAreGivenUpFirst(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	s := open(t, t.TempDir(), Options{})
	// group makes one of n blobs, of which each has size bytes.
	group := func(name string, hours, n, size int, pinned bool) Group {
		g := Group{At: now.Add(-time.Duration(hours) * time.Hour), Pinned: pinned}
		var blobs []Hash
		for i := range n {
			blobs = append(blobs, put(t, s, fmt.Sprintf("%-*s", size, fmt.Sprint(name, i))))
		}
		g.Blobs = slices.Values(blobs)
		return g
	}
	tests := map[string]struct {
		groups []Group
		want   []bool
	}{
		"none":            {nil, []bool{}},
		"all fit":         {[]Group{group("a", 3, 1, 10, false), group("a", 2, 1, 10, false)}, []bool{true, true}},
		"number":          {[]Group{group("a", 5, 1, 10, false), group("a", 1, 1, 10, false), group("a", 4, 1, 10, false), group("a", 3, 1, 10, false), group("a", 2, 1, 10, false)}, []bool{false, true, true, true, true}},
		"age":             {[]Group{group("a", 25, 1, 10, false), group("a", 23, 1, 10, false)}, []bool{false, true}},
		"pinned":          {[]Group{group("a", 99, 1, 10, true), group("a", 98, 1, 10, false)}, []bool{true, false}},
		"size":            {[]Group{group("a", 3, 1, 90, false), group("b", 1, 2, 90, false), group("c", 2, 1, 90, false)}, []bool{false, true, true}},
		"size of pinned":  {[]Group{group("a", 3, 3, 100, true), group("b", 1, 2, 20, false)}, []bool{true, false}},
		"shared blobs":    {[]Group{group("b", 3, 2, 90, false), group("b", 1, 2, 90, false), group("c", 2, 1, 90, false)}, []bool{true, true, true}},
		"count":           {[]Group{group("d", 3, 1, 3, false), group("e", 1, 9, 3, false), group("f", 2, 30, 3, false)}, []bool{false, true, false}},
		"a gap stays one": {[]Group{group("a", 3, 1, 10, false), group("b", 2, 4, 90, false), group("c", 1, 1, 90, false)}, []bool{false, false, true}},
	}
	s.limits = Limits{Bytes: 400, Blobs: 40, Groups: 4, Age: 24 * time.Hour}
	for name, test := range tests {
		if got, err := s.Retain(now, test.groups); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// The lists of groups are made from what the store has.
func TestGroupsMayReadFromTheStore(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	h := put(t, s, "names others")
	reads := func(yield func(Hash) bool) {
		if _, err := s.Get(h); err != nil {
			t.Error(err)
		}
		yield(h)
	}
	err := patience.Ends(t, "Retain", func() error {
		keep, err := s.Retain(time.Now(), []Group{{At: time.Now(), Blobs: reads}})
		if err == nil && !keep[0] {
			t.Error("it was not kept")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
