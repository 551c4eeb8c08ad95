package store

import (
	"errors"
	"io/fs"
	"iter"
	"slices"
	"time"
)

// Group is a set of blobs that are useful only together, such as the blobs of a
// checkpoint.
type Group struct {
	At     time.Time // its age decides which goes first
	Pinned bool      // it always stays
	Blobs  iter.Seq[Hash]
}

// Retain decides which groups stay: those that are pinned, and of the others the
// newest that fit into the limits. A quarter of the limits stays free for what
// comes. It changes nothing: remove the other groups from the journal, then
// call Prune.
func (s *Store) Retain(now time.Time, groups []Group) (keep []bool, err error) {
	b, err := s.loaded()
	if err != nil {
		return nil, err
	}
	var bytes int64
	seen := make(map[Hash]bool)
	add := func(g Group) (fits bool) {
		for h := range g.Blobs { // which may read from the store
			if !seen[h] {
				seen[h] = true
				b.mu.Lock()
				bytes += max(b.known[h].size, 0)
				b.mu.Unlock()
			}
		}
		return bytes <= s.limits.Bytes/4*3 && len(seen) <= s.limits.Blobs/4*3
	}
	keep = make([]bool, len(groups))
	var order []int
	kept := 0
	for i, g := range groups {
		if keep[i] = g.Pinned; g.Pinned {
			add(g)
			kept++
		} else {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return groups[b].At.Compare(groups[a].At) })
	for _, i := range order {
		if kept >= s.limits.Groups || now.Sub(groups[i].At) > s.limits.Age || !add(groups[i]) {
			break
		}
		keep[i] = true
		kept++
	}
	return keep, nil
}

// Pruned is what Prune removed.
type Pruned struct {
	Blobs int
	Bytes int64
}

// Prune removes the blobs that are not in live. It keeps those that were put
// less than grace ago, because what names them may not be written yet. An error
// leaves blobs that the next Prune removes.
func (s *Store) Prune(live iter.Seq[Hash], grace time.Duration) (Pruned, error) {
	var done Pruned
	if err := s.writable(); err != nil {
		return done, failed("prune", s.dir, err)
	}
	b, err := s.loaded()
	if err != nil {
		return done, err
	}
	keep := make(map[Hash]bool)
	for h := range live {
		keep[h] = true
	}
	b.mu.Lock()
	var dead []Hash
	for h, known := range b.known {
		if !keep[h] && (known.put.IsZero() || time.Since(known.put) >= grace) {
			dead = append(dead, h)
		}
	}
	b.mu.Unlock()
	var errs []error
	for _, h := range dead {
		size, removed, err := s.removeBlob(h, grace)
		if err != nil {
			errs = append(errs, failed("remove blob", s.blobPath(h), err))
			if len(errs) == 10 { // the others will fail as well
				break
			}
			continue
		}
		if removed {
			done.Blobs++
			done.Bytes += size
		}
	}
	return done, errors.Join(append(errs, s.prunePacks())...)
}

// removeBlob keeps the lock, so that no Put finds the blob meanwhile.
func (s *Store) removeBlob(h Hash, grace time.Duration) (size int64, removed bool, err error) {
	b := &s.blobs
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.known[h]
	if b.closed {
		return 0, false, ErrClosed
	}
	if !known.put.IsZero() && time.Since(known.put) < grace {
		return 0, false, nil
	}
	if known.pack == 0 {
		if err := s.disk.remove(s.blobPath(h)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, false, err
		}
	}
	size = max(known.size, 0)
	b.bytes -= size
	delete(b.known, h)
	return size, true, nil
}
