package shim

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/runtime/review/store"
)

// Names in the folder of a journal.
const (
	eventsName = "events.jsonl"
	storeName  = "store"
)

// maxLine bounds a line of a journal, in bytes: two paths, and escapes.
const maxLine = 128 << 10

// journal writes events and contents. One goroutine uses it, except for arrived.
type journal struct {
	dir   string
	name  string // of the stream of reports
	store *store.Store
	file  *os.File
	out   *bufio.Writer
	seq   uint64
	good  int64  // how much of the file is whole, in bytes
	last  uint64 // the number of the last change in it
	added int64  // bytes since

	mu      sync.Mutex
	written chan struct{} // closed at the next flush
}

// createJournal makes the folder of a journal. There must be none in it.
func createJournal(c Config) (*journal, error) {
	dir := c.Journal
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	st, err := store.Open(filepath.Join(dir, storeName), store.Options{Program: "hermes shim"})
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, eventsName), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		st.Close()
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &journal{dir: dir, name: "shim " + rand.Text(), store: st, file: f, out: bufio.NewWriterSize(f, 1<<16), written: make(chan struct{})}
	err = j.add(Event{Time: time.Now(), Op: Start, Path: c.Root, Text: j.name, Agent: c.Agent, Session: c.Session})
	if err := errors.Join(err, j.flush()); err != nil {
		return nil, fmt.Errorf("journal: %w", errors.Join(err, j.close()))
	}
	return j, nil
}

// add writes an event, and numbers it if it is a change.
func (j *journal) add(e Event) error {
	if e.Phase == Post {
		e.Seq = j.seq + 1
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	n, err := j.out.Write(append(line, '\n'))
	if j.added += int64(n); err != nil {
		return j.rewind(err)
	}
	if e.Phase == Post {
		j.seq++
	}
	return nil
}

// rewind leaves out what could not be written whole, as if it had not been added.
func (j *journal) rewind(err error) error {
	j.out.Reset(j.file)
	j.seq, j.added = j.last, 0
	return errors.Join(err, j.file.Truncate(j.good))
}

// flush makes what was added visible to readers. After an error, which a full disk
// may cause, what was added since the last flush is lost.
func (j *journal) flush() error {
	if j.added == 0 {
		return nil
	}
	err := j.out.Flush()
	if err != nil {
		err = j.rewind(err)
	} else {
		j.good, j.last, j.added = j.good+j.added, j.seq, 0
	}
	j.mu.Lock()
	close(j.written)
	j.written = make(chan struct{})
	j.mu.Unlock()
	return err
}

// arrived returns a channel that is closed when there is more to read.
func (j *journal) arrived() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.written
}

func (j *journal) close() error {
	return errors.Join(j.flush(), j.file.Close(), j.store.Close())
}

// discard removes a journal that nothing happened in.
func (j *journal) discard() {
	j.close()
	os.Remove(j.file.Name())
	os.RemoveAll(filepath.Join(j.dir, storeName))
	os.Remove(j.dir) // unless something else is there
}

// Reader reads the events and the contents of a journal, also while it is written.
// One goroutine may use it at a time.
type Reader struct {
	file  *os.File
	in    *bufio.Reader
	part  []byte       // the start of a line whose end is not there yet
	store *store.Store // nil until a content is wanted
}

// OpenJournal opens the journal in a folder for reading.
func OpenJournal(dir string) (*Reader, error) {
	f, err := os.Open(filepath.Join(dir, eventsName))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &Reader{file: f, in: bufio.NewReader(f)}, nil
}

// Next returns the next event, or io.EOF if there is none yet.
func (r *Reader) Next() (e Event, err error) {
	for {
		line, err := r.in.ReadSlice('\n')
		r.part = append(r.part, line...)
		switch {
		case len(r.part) > maxLine:
			return e, fmt.Errorf("journal: %s: a line has more than %d bytes", r.file.Name(), maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF:
			return e, err
		case err != nil:
			return e, fmt.Errorf("journal: %w", err)
		}
		if err := json.Unmarshal(r.part, &e); err != nil {
			return e, fmt.Errorf("journal: %s: %w", r.file.Name(), err)
		}
		r.part = r.part[:0]
		return e, nil
	}
}

// Content returns the content that an event names (see Version). One that was not
// kept is fs.ErrNotExist.
func (r *Reader) Content(h store.Hash) ([]byte, error) {
	if r.store == nil {
		st, err := store.Open(filepath.Join(filepath.Dir(r.file.Name()), storeName), store.Options{ReadOnly: true})
		if err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
		r.store = st
	}
	data, err := r.store.Get(h)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("journal: %s has no content %s: %w", filepath.Dir(r.file.Name()), h, fs.ErrNotExist)
	} else if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return data, nil
}

// Close closes the files.
func (r *Reader) Close() error {
	err := r.file.Close()
	if r.store != nil {
		err = errors.Join(err, r.store.Close())
	}
	return err
}
