package store

import (
	"path/filepath"
	"sync"
	"time"
)

// flusher flushes what was written. Callers that wait at the same time share a
// flush.
type flusher struct {
	store *Store

	mu      sync.Mutex
	written uint64 // counts writes
	timer   *time.Timer
	stopped bool

	one     sync.Mutex // is held during a flush
	flushed uint64     // writes that are on the disk
	named   bool       // the directories of the store are
}

// wrote notes a write, which will be flushed.
func (f *flusher) wrote() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written++
	if f.timer == nil && !f.stopped {
		f.timer = time.AfterFunc(f.store.opts.Delay, f.run)
	}
}

// run flushes in the background. The journal keeps the error.
func (f *flusher) run() {
	f.mu.Lock()
	f.timer = nil
	stopped := f.stopped
	f.mu.Unlock()
	if !stopped {
		f.store.Sync()
	}
}

func (f *flusher) stop() error {
	f.mu.Lock()
	first := !f.stopped
	f.stopped = true
	if f.timer != nil {
		f.timer.Stop()
	}
	f.mu.Unlock()
	if !first {
		return nil
	}
	return f.store.Sync()
}

func (f *flusher) count() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.written
}

// Sync waits until everything that was written before survives a power cut.
//
// After a failed flush nobody knows what the disk has. Append and Sync then
// return the error until Compact has written the journal anew. Has reports that
// the blobs are missing that may be lost, so that Put writes them again.
func (s *Store) Sync() error {
	f := &s.flusher
	wanted := f.count()
	f.one.Lock()
	defer f.one.Unlock()
	if f.flushed >= wanted {
		return s.journal.failed(s)
	}
	now := f.count()
	if err := s.flushBlobs(); err != nil {
		return err
	}
	if err := s.flushJournal(); err != nil {
		return err
	}
	f.flushed = now
	return nil
}

// flushNames flushes the names of the store's own directories, once: Open, or an
// earlier program, may have made them.
func (s *Store) flushNames() error {
	if s.flusher.named {
		return nil
	}
	if err := s.disk.flushDir(s.dir); err != nil {
		err = failed("flush", s.dir, err)
		s.journal.fail(err)
		return err
	}
	dir := filepath.Dir(s.dir)
	for range parents {
		s.disk.flushDir(dir) // which may belong to someone else
		dir = filepath.Dir(dir)
	}
	s.flusher.named = true
	return nil
}

// parents is how many directories above a store may be new with it.
const parents = 3

// flushBlobs flushes the blobs that were put since the last flush. The caller
// holds the flusher's lock.
func (s *Store) flushBlobs() error {
	if err := s.flushNames(); err != nil {
		return err
	}
	b := &s.blobs
	b.mu.Lock()
	pending := b.unsynced
	b.unsynced = nil
	b.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	files, dirs := s.names(pending)
	err := s.disk.flushFiles(files, dirs)
	if err == nil {
		return nil
	}
	err = failed("flush blobs", s.path("blobs"), err)
	b.mu.Lock()
	b.pack.finish()
	for _, h := range pending {
		if known, ok := b.known[h]; ok {
			b.set(h, known.lose())
		}
	}
	b.mu.Unlock()
	s.journal.fail(err)
	return err
}

// flushJournal does not keep Append waiting. The caller holds the flusher's
// lock, so Compact does not replace the file meanwhile.
func (s *Store) flushJournal() error {
	j := &s.journal
	j.mu.Lock()
	err, file := j.failure, j.file
	j.mu.Unlock()
	if err == nil && file != nil { // without a file, nothing was written since the last flush
		if err = s.disk.flush(file); err == nil {
			err = s.ours()
		}
		if err != nil {
			j.fail(err)
		}
	}
	return failed("flush the journal", s.journalPath(), err)
}

func (j *journal) fail(err error) {
	j.mu.Lock()
	j.failure = err
	j.mu.Unlock()
}

func (j *journal) failed(s *Store) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return failed("flush the journal", s.journalPath(), j.failure)
}
