package journal

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// Names in the folder of a journal.
const (
	eventsName = "events.jsonl"
	storeName  = "store"
)

// Writer writes events and contents. One goroutine uses it, except for Deliver.
type Writer struct {
	Name  string       // of the stream of reports
	Store *store.Store // of the contents

	dir            string
	agent, session string
	file           *os.File
	out            *bufio.Writer
	seq            uint64
	good           int64  // how much of the file is whole, in bytes
	last           uint64 // the number of the last change in it
	added          int64  // bytes since

	mu      sync.Mutex
	written chan struct{} // closed at the next flush
}

// Create makes the folder of a journal. There must be none in it. agent and session
// are the names in its reports; see Event.
func Create(dir, root, agent, session string) (*Writer, error) {
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
	w := &Writer{Name: "shim " + rand.Text(), Store: st, dir: dir, agent: agent, session: session, file: f, out: bufio.NewWriterSize(f, 1<<16), written: make(chan struct{})}
	err = w.Add(Event{Time: time.Now(), Op: Start, Path: root, Text: w.Name, Agent: agent, Session: session})
	if err := errors.Join(err, w.Flush()); err != nil {
		return nil, fmt.Errorf("journal: %w", errors.Join(err, w.Close()))
	}
	return w, nil
}

// Add writes an event, and numbers it if it is a change.
func (w *Writer) Add(e Event) error {
	if e.Phase == Post {
		e.Seq = w.seq + 1
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	n, err := w.out.Write(append(line, '\n'))
	if w.added += int64(n); err != nil {
		return w.rewind(err)
	}
	if e.Phase == Post {
		w.seq++
	}
	return nil
}

// rewind leaves out what could not be written whole, as if it had not been added.
func (w *Writer) rewind(err error) error {
	w.out.Reset(w.file)
	w.seq, w.added = w.last, 0
	return errors.Join(err, w.file.Truncate(w.good))
}

// Flush makes what was added visible to readers. After an error, which a full disk
// may cause, what was added since the last flush is lost.
func (w *Writer) Flush() error {
	if w.added == 0 {
		return nil
	}
	err := w.out.Flush()
	if err != nil {
		err = w.rewind(err)
	} else {
		w.good, w.last, w.added = w.good+w.added, w.seq, 0
	}
	w.mu.Lock()
	close(w.written)
	w.written = make(chan struct{})
	w.mu.Unlock()
	return err
}

// arrived returns a channel that is closed when there is more to read.
func (w *Writer) arrived() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written
}

// Close flushes and closes the files.
func (w *Writer) Close() error {
	return errors.Join(w.Flush(), w.file.Close(), w.Store.Close())
}

// Discard removes a journal that nothing happened in.
func (w *Writer) Discard() {
	w.Close()
	os.Remove(w.file.Name())
	os.RemoveAll(filepath.Join(w.dir, storeName))
	os.Remove(w.dir) // unless something else is there
}
