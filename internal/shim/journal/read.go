package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// maxLine bounds a line of a journal, in bytes: two paths, and escapes.
const maxLine = 128 << 10

// Reader reads the events and the contents of a journal, also while it is written.
// One goroutine may use it at a time.
type Reader struct {
	file  *os.File
	in    *bufio.Reader
	part  []byte       // the start of a line whose end is not there yet
	store *store.Store // nil until a content is wanted
}

// Open opens the journal in a folder for reading.
func Open(dir string) (*Reader, error) {
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
