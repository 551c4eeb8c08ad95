package tree

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/review/store"
)

const (
	// coarsestClock is the resolution of times on FAT. A file that changed less
	// than that before it was read may change again without another time, so it is
	// read again.
	coarsestClock = 2 * time.Second
	maxTries      = 3 // to read a file that changes meanwhile
)

// permissions are the bits of a mode that count.
const permissions = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// result is what is known of a file after it was read.
type result struct {
	entry   Entry
	record  record
	left    bool // it could not be read
	gone    bool
	unkept  error
	skipped bool // it is a link, or not read
}

// read makes entries of what was found, and the next index.
func (c *scan) read(ctx context.Context) (*Snapshot, index, error) {
	results := make([]result, len(c.found))
	err := each(ctx, len(c.found), func(i int) { results[i] = c.readEntry(ctx, &c.found[i]) })
	if err != nil {
		return nil, nil, err
	}
	snapshot := &Snapshot{Entries: make([]Entry, 0, len(results)), Left: c.left}
	next := make(index, len(results))
	for i := range results {
		r := &results[i]
		switch {
		case r.gone:
			continue
		case r.left:
			snapshot.Left = append(snapshot.Left, Left{c.found[i].Path, Unreadable, identify(c.found[i].info)})
			continue
		}
		snapshot.Entries = append(snapshot.Entries, r.entry)
		if !r.skipped {
			next[r.entry.Path] = r.record
		}
		if snapshot.Unkept == nil {
			snapshot.Unkept = r.unkept
		}
	}
	return snapshot, next, nil
}

func (c *scan) readEntry(ctx context.Context, f *found) result {
	if f.IsLink() {
		return result{entry: f.Entry, skipped: true}
	}
	info := f.info
	for try := 0; ; try++ {
		r, done := c.known(f.Path, info)
		if done {
			return r
		}
		c.step("open", f.Path)
		begin := time.Now()
		again, err := c.readFile(ctx, f, info, &r)
		switch {
		case err == nil:
			r.record.hash = r.entry.Hash
			r.record.settled = begin.Sub(r.record.id.latest()) > c.opts.granularity
			return r
		case errors.Is(err, fs.ErrNotExist):
			return result{gone: true}
		case !errors.Is(err, errChanged) || again == nil || !again.Mode().IsRegular() || try == maxTries:
			return result{left: true}
		}
		info = again
	}
}

// known returns what is known of a file without reading it, and whether that is all.
func (c *scan) known(path string, info fs.FileInfo) (r result, done bool) {
	now := identify(info)
	r = result{entry: describe(path, info), record: record{id: now}}
	if now.size > c.limits.Hashed {
		r.skipped = true
		return r, true
	}
	old, ok := c.index[path]
	if !ok || !old.settled || old.id != now {
		return r, false
	}
	r.record, r.entry.Hash = old, old.hash
	if now.size <= c.limits.Kept {
		r.entry.Kept = c.store.Has(old.hash)
		return r, r.entry.Kept
	}
	return r, true
}

func describe(path string, info fs.FileInfo) Entry {
	return Entry{Path: path, Mode: info.Mode() & permissions, Size: info.Size(), ModTime: info.ModTime()}
}

var errChanged = errors.New("it changed while it was read")

// readFile hashes a file and puts its content into the store. It fails with
// errChanged if the file is not the one of info, before and after, and then
// returns the one that is there now.
func (c *scan) readFile(ctx context.Context, in *found, info fs.FileInfo, r *result) (again fs.FileInfo, err error) {
	h, err := c.open(in.dir)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	name := path.Base(in.Path)
	f, err := h.OpenFile(name, os.O_RDONLY|atomicfile.OpenFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unchanged := func() error {
		now, err := f.Stat()
		if err == nil && (!os.SameFile(now, info) || identify(now) != identify(info)) {
			err = errChanged
		}
		return err
	}
	if err = unchanged(); err == nil {
		c.step("read", in.Path)
		err = c.readContent(ctx, f, info.Size(), r, unchanged)
	}
	if errors.Is(err, errChanged) {
		if now, err := h.Lstat(name); err == nil || errors.Is(err, fs.ErrNotExist) {
			return now, errors.Join(err, errChanged)
		}
	}
	return nil, err
}

// readContent reads a file of a known size.
func (c *scan) readContent(ctx context.Context, f *os.File, size int64, r *result, unchanged func() error) error {
	if size > c.limits.Kept {
		h := sha256.New()
		n, err := io.Copy(h, io.LimitReader(&ctxReader{ctx, f}, size+1))
		if err == nil && n != size {
			err = errChanged
		}
		if err == nil {
			err = unchanged()
		}
		h.Sum(r.entry.Hash[:0])
		return err
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	if int64(cap(*buffer)) <= size {
		*buffer = make([]byte, size+1, (size+1)*5/4)
	}
	data := (*buffer)[:size+1] // one more shows that it grew
	n, err := io.ReadFull(f, data)
	switch {
	case err == nil || int64(n) != size && errors.Is(err, io.ErrUnexpectedEOF):
		return errChanged
	case !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF):
		return err
	}
	if err := unchanged(); err != nil {
		return err
	}
	data = data[:size]
	if r.entry.Hash, r.unkept = c.store.Put(data); r.unkept != nil {
		r.entry.Hash = store.HashOf(data)
	}
	r.entry.Kept = r.unkept == nil
	return nil
}

// buffers hold the contents of files while they are hashed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// ctxReader ends with a context.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *ctxReader) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
