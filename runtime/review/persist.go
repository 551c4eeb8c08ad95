package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
)

func (r *Review) append(rec record) error {
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return r.store.Append(data)
}

// save stores a file. If that fails, Flush tries again.
func (r *Review) save(path string, f *tracked) error {
	f.dirty = true
	r.pendingOf(f) // the numbers of the hunks are stored too
	rec, err := r.saved(path, f)
	if err == nil {
		err = r.append(rec)
	}
	if err != nil {
		return fmt.Errorf("store the review of %s: %w", path, err)
	}
	f.recorded(rec)
	return nil
}

// recorded notes that the journal has a record of the file. Until then it has
// the one before, which needs its blob.
func (f *tracked) recorded(rec record) {
	f.blob, f.stored, f.dirty = rec.File.Text, f.text.held, false
	f.others = nil
	for _, a := range rec.File.Away {
		f.others = append(f.others, a.hashes()...)
	}
}

func (r *Review) saved(path string, f *tracked) (rec record, err error) {
	s := r.encodeFile(path, f)
	s.Text = f.blob
	if f.stored != f.text.held {
		s.Text = Hash{}
		if text := f.text.all(); len(text) > 0 {
			s.Text, err = r.store.Put(text)
		}
	}
	if err == nil {
		s.Away, err = r.saveAway(f)
	}
	return record{File: s}, err
}

// Flush stores what is not yet stored: the user's edits, and what an error of
// the store left. Call it when the user pauses and before the program ends.
func (r *Review) Flush() error {
	return r.locked(func() error {
		errs := []error{r.saveWorks()}
		for _, path := range slices.Sorted(maps.Keys(r.files)) {
			if f := r.files[path]; f.dirty {
				errs = append(errs, r.save(path, f))
			}
		}
		return errors.Join(errs...)
	})
}

// load reads the journal. A file whose text is missing or damaged is no longer
// known; Lost says so.
func (r *Review) load() error {
	saved := make(map[string]*savedFile)
	count := func(c counters) {
		r.changes, r.hunks, r.acts = max(r.changes, c.Changes), max(r.hunks, c.Hunks), max(r.acts, c.Acts)
	}
	for data, err := range r.store.Records() {
		if err != nil {
			return err
		}
		var rec record
		if err := json.Unmarshal(data, &rec); err != nil {
			r.lost = append(r.lost, fmt.Errorf("a record of the review: %w", err))
			continue
		}
		if rec.File != nil {
			saved[string(rec.File.Path)] = rec.File
			count(rec.File.Counters)
		}
		if rec.Checkpoint != nil {
			r.points = append(r.points, *rec.Checkpoint)
		}
		if rec.Works != "" {
			r.works[rec.Works] = true
		}
		delete(r.works, rec.Rests)
		r.points = slices.DeleteFunc(r.points, func(c Checkpoint) bool { return slices.Contains(rec.Forget, c.ID) })
		if rec.Counters != nil {
			count(*rec.Counters)
		}
	}
	for path, s := range saved {
		var text []byte
		var err error
		if !s.Text.IsZero() {
			text, err = r.store.Get(s.Text)
		}
		var f *tracked
		if err == nil {
			f, err = decodeFile(s, string(text))
		}
		if err != nil {
			r.lost = append(r.lost, fmt.Errorf("the review of %s: %w", path, err))
			continue
		}
		r.files[path] = f
		f.recorded(record{File: s})
		f.away = r.loadAway(s.Away)
		r.remember(s)
	}
	return nil
}

// Lost returns what Open could not read. The files are as they are, but no
// longer under review.
func (r *Review) Lost() []error { return slices.Clone(r.lost) }

// Compact makes the journal short again. Files of which nothing has been pending
// for Options.Keep are no longer known then.
func (r *Review) Compact() error {
	return r.locked(func() error {
		var records [][]byte
		add := func(rec record) error {
			data, err := json.Marshal(rec)
			records = append(records, data)
			return err
		}
		c := r.counters()
		if err := add(record{Counters: &c}); err != nil {
			return fmt.Errorf("compact the review: %w", err)
		}
		used := make(map[ChangeID]bool)
		var old []string
		kept := make(map[*tracked]record)
		for _, path := range slices.Sorted(maps.Keys(r.files)) {
			f := r.files[path]
			if !f.pending() && len(f.intents) == 0 && time.Since(f.changed) > r.opts.Keep {
				old = append(old, path)
				continue
			}
			rec, err := r.saved(path, f)
			if err == nil {
				err = add(rec)
			}
			if err != nil {
				return fmt.Errorf("compact the review: %s: %w", path, err)
			}
			kept[f] = rec
			for _, s := range append([]savedAway{{File: rec.File}}, rec.File.Away...) {
				for id := range s.File.Authors {
					used[id] = true
				}
			}
		}
		for _, p := range r.points {
			if err := add(record{Checkpoint: &p}); err != nil {
				return fmt.Errorf("compact the review: %w", err)
			}
		}
		for session := range r.works {
			if err := add(record{Works: session}); err != nil {
				return fmt.Errorf("compact the review: %w", err)
			}
		}
		if err := r.store.Compact(slices.Values(records)); err != nil {
			return fmt.Errorf("compact the review: %w", err)
		}
		for _, path := range old {
			delete(r.files, path)
		}
		for f, rec := range kept {
			f.recorded(rec)
		}
		clear(r.unsaved)
		maps.DeleteFunc(r.authors, func(id ChangeID, _ Author) bool { return !used[id] })
		return nil
	})
}

// Blobs returns the blobs that the store must keep for the files under review.
// The trees of checkpoints name the blobs that checkpoints need.
func (r *Review) Blobs() iter.Seq[Hash] {
	return func(yield func(Hash) bool) {
		r.mu.Lock()
		var all []Hash
		for _, f := range r.files {
			if !f.blob.IsZero() {
				all = append(all, f.blob)
			}
			all = append(all, f.others...)
		}
		r.mu.Unlock()
		for _, h := range all {
			if !yield(h) {
				return
			}
		}
	}
}
