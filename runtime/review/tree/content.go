package tree

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/runtime/review/store"
)

const (
	// coarsestClock is that of FAT. A file that changed less than that before it
	// was read may change again without another time, so it is read again.
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
			snapshot.Left = append(snapshot.Left, Left{c.found[i].Path, Unreadable})
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
	old, known := c.index[f.Path]
	info := f.info
	for range maxTries {
		now := identify(info)
		r := result{entry: describe(f.Path, info), record: record{id: now}}
		if now.size > c.limits.Hashed {
			r.skipped = true
			return r
		}
		if known && old.settled && old.id == now {
			r.record, r.entry.Hash = old, old.hash
			if r.entry.Kept = now.size <= c.limits.Kept && c.store.Has(old.hash); r.entry.Kept || now.size > c.limits.Kept {
				return r
			}
		}
		if c.opts.between != nil {
			c.opts.between(f.Path)
		}
		begin := time.Now()
		after, err := c.readFile(ctx, f.Path, info, &r)
		switch {
		case errors.Is(err, errChanged):
			if info, err = c.handle.Lstat(filepath.FromSlash(f.Path)); errors.Is(err, fs.ErrNotExist) {
				return result{gone: true}
			}
			if err != nil || !info.Mode().IsRegular() {
				return result{left: true}
			}
			continue
		case errors.Is(err, fs.ErrNotExist):
			return result{gone: true}
		case err != nil:
			return result{left: true}
		}
		r.record.hash = r.entry.Hash
		r.record.settled = after == now && begin.Sub(now.latest()) > c.opts.granularity
		return r
	}
	return result{left: true}
}

func describe(path string, info fs.FileInfo) Entry {
	return Entry{Path: path, Mode: info.Mode() & permissions, Size: info.Size(), ModTime: info.ModTime()}
}

var errChanged = errors.New("it changed while it was read")

// readFile hashes a file and puts its content into the store. It fails with
// errChanged if the file is not the one that was found. It returns what the file
// is after that.
func (c *scan) readFile(ctx context.Context, path string, info fs.FileInfo, r *result) (identity, error) {
	f, err := c.handle.OpenFile(filepath.FromSlash(path), os.O_RDONLY|atomicfile.OpenFlags, 0)
	if err != nil {
		return identity{}, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return identity{}, err
	}
	if !os.SameFile(opened, info) || identify(opened) != identify(info) {
		return identity{}, errChanged
	}
	size := info.Size()
	if size > c.limits.Kept {
		h := sha256.New()
		n, err := io.Copy(h, io.LimitReader(&ctxReader{ctx, f}, size+1))
		if err != nil {
			return identity{}, err
		}
		if n != size {
			return identity{}, errChanged
		}
		h.Sum(r.entry.Hash[:0])
	} else {
		buffer := buffers.Get().(*[]byte)
		defer buffers.Put(buffer)
		if int64(cap(*buffer)) <= size {
			*buffer = make([]byte, size+1, (size+1)*5/4)
		}
		data := (*buffer)[:size+1] // one more shows that it grew
		n, err := io.ReadFull(f, data)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return identity{}, err
		}
		if int64(n) != size {
			return identity{}, errChanged
		}
		data = data[:size]
		if r.entry.Hash, r.unkept = c.store.Put(data); r.unkept != nil {
			r.entry.Hash = store.HashOf(data)
		} else {
			r.entry.Kept = true
		}
	}
	after, err := f.Stat()
	if err != nil {
		return identity{}, err
	}
	return identify(after), nil
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
