package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// blobs is what is known of the blobs of a store.
type blobs struct {
	load sync.Mutex // is held while the blobs are listed

	mu     sync.Mutex
	known  map[Hash]blob // nil until they are listed
	bytes  int64
	coming struct { // what is being written
		blobs int
		bytes int64
	}
	shards   map[string]bool // the directories that exist
	pack     pack
	packs    map[int]int64 // where what was listed of each ends
	unsynced []Hash
	temps    int
	closed   bool
}

type blob struct {
	size int64     // negative after lose
	put  time.Time // when this program put it, zero if it did not
	pack int       // where it is; 0 if it has a file of its own
	at   int64     // of its bytes in the pack
}

// lose says that the disk failed to keep a blob, so it must be written again.
func (b blob) lose() blob {
	b.size = min(b.size, ^b.size)
	return b
}

// bytes is how many bytes a blob has, or had.
func (b blob) bytes() int64 { return max(b.size, ^b.size) }

func (b *blobs) close() {
	b.mu.Lock()
	b.closed = true
	b.pack.finish()
	b.mu.Unlock()
}

// loaded lists the blobs, unless they are listed already.
func (s *Store) loaded() (*blobs, error) {
	b := &s.blobs
	b.load.Lock()
	defer b.load.Unlock()
	b.mu.Lock()
	done := b.known != nil
	b.mu.Unlock()
	if done {
		return b, nil
	}
	known, shards, err := s.listBlobs()
	if err != nil {
		return nil, err
	}
	last, packs, err := s.listPacks(known)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known, b.shards, b.pack, b.packs, b.bytes = known, shards, last, packs, 0
	for _, k := range known {
		b.bytes += k.size
	}
	return b, nil
}

func (s *Store) listBlobs() (known map[Hash]blob, shards map[string]bool, err error) {
	known, shards = make(map[Hash]blob), make(map[string]bool)
	top := s.path("blobs")
	dirs, err := os.ReadDir(top)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, failed("list blobs", top, err)
	}
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		shards[dir.Name()] = true
		entries, err := os.ReadDir(filepath.Join(top, dir.Name()))
		if err != nil {
			return nil, nil, failed("list blobs", filepath.Join(top, dir.Name()), err)
		}
		for _, e := range entries {
			h, err := ParseHash(dir.Name() + e.Name())
			if err != nil {
				continue
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				known[h] = blob{size: info.Size()}
			}
		}
	}
	return known, shards, nil
}

func (s *Store) blobPath(h Hash) string {
	name := h.String()
	return s.path("blobs", name[:2], name[2:])
}

// pathOf returns the file that has a blob.
func (s *Store) pathOf(h Hash, b blob) string {
	if b.pack > 0 {
		return s.packPath(b.pack)
	}
	return s.blobPath(h)
}

// Has reports whether the store has a blob.
func (s *Store) Has(h Hash) bool {
	b, err := s.loaded()
	if err != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known, ok := b.known[h]
	return ok && known.size >= 0
}

// Put keeps data and returns its name. Data that the store has already costs
// nothing.
func (s *Store) Put(data []byte) (Hash, error) {
	h := HashOf(data)
	path := s.blobPath(h)
	if err := s.put(h, path, data); err != nil {
		return Hash{}, failed("write blob", path, err)
	}
	return h, nil
}

func (s *Store) put(h Hash, path string, data []byte) error {
	if err := s.writable(); err != nil {
		return err
	}
	size := int64(len(data))
	if size > s.limits.Blob {
		return fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, size, s.limits.Blob)
	}
	b, err := s.loaded()
	if err != nil {
		return err
	}
	shard := filepath.Dir(path)

	b.mu.Lock()
	known, ok := b.known[h]
	if ok {
		known.put = time.Now() // so that Prune keeps it
		b.known[h] = known
	}
	switch {
	case b.closed:
		err = ErrClosed
	case ok && known.size == size:
		b.mu.Unlock()
		return nil
	case b.bytes+b.coming.bytes+size > s.limits.Bytes:
		err = fmt.Errorf("%w of %d bytes", ErrFull, s.limits.Bytes)
	case len(b.known)+b.coming.blobs >= s.limits.Blobs:
		err = fmt.Errorf("%w of %d blobs", ErrFull, s.limits.Blobs)
	}
	if err != nil {
		b.mu.Unlock()
		return err
	}
	if size <= maxPacked && !s.opts.alone {
		defer b.mu.Unlock()
		at, err := s.appendPacked(h, data)
		if err != nil {
			return failed("write blob", s.path("packs"), err)
		}
		at.put = time.Now()
		s.keep(h, at)
		return nil
	}
	b.coming.bytes += size
	b.coming.blobs++
	b.temps++
	temp := s.path("temp", strconv.Itoa(b.temps))
	made := b.shards[filepath.Base(shard)]
	b.mu.Unlock()

	if !made {
		if err = s.disk.mkdir(shard); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if err == nil {
		err = s.disk.put(temp, path, data, false)
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	b.coming.bytes -= size
	b.coming.blobs--
	if err != nil {
		return err
	}
	b.shards[filepath.Base(shard)] = true
	s.keep(h, blob{size: size, put: time.Now()})
	return nil
}

// keep notes a blob that was written. It is called with the lock held.
func (s *Store) keep(h Hash, at blob) {
	s.blobs.set(h, at)
	s.blobs.unsynced = append(s.blobs.unsynced, h)
	s.flusher.wrote()
}

// set is called with the lock held.
func (b *blobs) set(h Hash, to blob) {
	b.bytes += max(to.size, 0) - max(b.known[h].size, 0)
	b.known[h] = to
}

// Get returns a blob. One that is missing is fs.ErrNotExist, one whose bytes
// have changed is ErrDamaged; Put makes it whole again.
func (s *Store) Get(h Hash) ([]byte, error) {
	b, err := s.loaded()
	if err != nil {
		return nil, failed("read blob", s.blobPath(h), err)
	}
	path, data, err := s.read(h)
	if err != nil && s.opts.ReadOnly && s.followPacks() {
		if _, err = s.loaded(); err == nil {
			path, data, err = s.read(h)
		}
	}
	if err == nil {
		return data, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[h]; ok {
		if known.pack == b.pack.number && known.pack > 0 {
			b.pack.finish() // something is wrong with this file
		}
		b.set(h, known.lose())
	}
	return nil, failed("read blob", path, err)
}

// read reads a blob from where it is now.
func (s *Store) read(h Hash) (path string, data []byte, err error) {
	b := &s.blobs
	known := b.get(h)
	for {
		path = s.pathOf(h, known)
		if known.pack > 0 {
			data, err = s.readPacked(known)
		} else {
			data, err = os.ReadFile(path)
		}
		if err == nil && HashOf(data) != h {
			err = ErrDamaged
		}
		now := b.get(h)
		if err == nil || now.pack == known.pack && now.at == known.at {
			return path, data, err
		}
		known = now // Prune moved it meanwhile
	}
}

func (b *blobs) get(h Hash) blob {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known[h]
}

// Save keeps data that the program can do without, such as an index, under a
// name of small letters, digits and "-". Nothing else is kept under that name.
func (s *Store) Save(name string, data []byte) error {
	path := s.path("cache", name)
	err := s.writable()
	if err == nil {
		err = checkName(name)
	}
	if err == nil {
		b := &s.blobs
		b.mu.Lock()
		b.temps++
		temp := s.path("temp", strconv.Itoa(b.temps))
		if b.closed {
			err = ErrClosed
		}
		b.mu.Unlock()
		if err == nil {
			h := HashOf(data)
			err = s.disk.put(temp, path, append(h[:], data...), false)
		}
	}
	return failed("write", path, err)
}

// Cache returns what Save kept under a name, or nothing if it is not there or
// not whole.
func (s *Store) Cache(name string) []byte {
	if checkName(name) != nil {
		return nil
	}
	data, err := os.ReadFile(s.path("cache", name))
	var h Hash
	if err != nil || len(data) < len(h) || HashOf(data[copy(h[:], data):]) != h {
		return nil
	}
	return data[len(h):]
}

func checkName(name string) error {
	if name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("not a name: %q", name)
	}
	return nil
}
