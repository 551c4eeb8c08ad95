package tree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// A snapshot in a store is a blob for each directory, so that snapshots share
// those that did not change, one for what is left out, and one that names both.
const (
	snapshotMagic = "hermes snapshot 1\n"
	treeMagic     = "hermes tree 1\n"
	leftMagic     = "hermes left out 1\n"
)

const (
	kindDir  = 'd'
	kindFile = 'f'
	kindLink = 'l'

	flagKept   = 1
	flagHashed = 2
)

// maxNesting is the depth of directories that Load follows.
const maxNesting = 10_000

// Save puts a snapshot into a store, where Load finds it. Directories that are
// there already cost little.
func (s *Snapshot) Save(st *store.Store) (store.Hash, error) {
	entries := s.Entries
	top, err := saveTree(st, &entries, "")
	if err != nil {
		return store.Hash{}, fmt.Errorf("save snapshot: %w", err)
	}
	data := []byte(leftMagic)
	for _, l := range s.Left {
		data = append(appendString(data, l.Path), byte(l.Reason))
	}
	left, err := st.Put(data)
	if err != nil {
		return store.Hash{}, fmt.Errorf("save snapshot: %w", err)
	}
	data = append([]byte(snapshotMagic), top[:]...)
	h, err := st.Put(append(data, left[:]...))
	if err != nil {
		return store.Hash{}, fmt.Errorf("save snapshot: %w", err)
	}
	return h, nil
}

// saveTree saves the entries at the front whose paths begin with prefix, and
// removes them. Those below one directory follow each other in order of path.
func saveTree(st *store.Store, entries *[]Entry, prefix string) (store.Hash, error) {
	data := []byte(treeMagic)
	for len(*entries) > 0 {
		e := &(*entries)[0]
		name, below := strings.CutPrefix(e.Path, prefix)
		if !below {
			break
		}
		if dir, _, ok := strings.Cut(name, "/"); ok {
			h, err := saveTree(st, entries, prefix+dir+"/")
			if err != nil {
				return h, err
			}
			data = append(appendString(append(data, kindDir), dir), h[:]...)
			continue
		}
		data = e.append(data, name)
		*entries = (*entries)[1:]
	}
	return st.Put(data)
}

func (e *Entry) append(dst []byte, name string) []byte {
	if e.IsLink() {
		return appendString(appendString(append(dst, kindLink), name), e.Link)
	}
	dst = appendString(append(dst, kindFile), name)
	dst = binary.AppendUvarint(dst, uint64(e.Mode))
	dst = binary.AppendVarint(dst, e.Size)
	switch {
	case e.Hash.IsZero():
		return binary.AppendVarint(append(dst, 0), e.ModTime.UnixNano())
	case e.Kept:
		dst = append(dst, flagHashed|flagKept)
	default:
		dst = append(dst, flagHashed)
	}
	return append(dst, e.Hash[:]...)
}

var errNotSnapshot = errors.New("not a snapshot")

// Load returns a snapshot that was saved. It fails with store.ErrDamaged or
// fs.ErrNotExist if the store does not have all of it any more.
func Load(st *store.Store, h store.Hash) (*Snapshot, error) {
	s, err := load(st, h)
	if err != nil {
		return nil, fmt.Errorf("load snapshot %s: %w", h, err)
	}
	return s, nil
}

func load(st *store.Store, h store.Hash) (*Snapshot, error) {
	top, left, err := loadTop(st, h)
	if err != nil {
		return nil, err
	}
	data, err := st.Get(left)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{}
	if s.Left, err = decodeLeft(data); err != nil {
		return nil, err
	}
	var add func(h store.Hash, prefix string, depth int) error
	add = func(h store.Hash, prefix string, depth int) error {
		data, err := st.Get(h)
		if err != nil {
			return err
		}
		children, err := decodeTree(data)
		if err == nil && depth == maxNesting {
			err = errNotSnapshot
		}
		if err != nil {
			return err
		}
		for _, c := range children {
			if c.dir {
				if err := add(c.Hash, prefix+c.Path+"/", depth+1); err != nil {
					return err
				}
				continue
			}
			c.Path = prefix + c.Path
			s.Entries = append(s.Entries, c.Entry)
		}
		return nil
	}
	return s, add(top, "", 0)
}

func loadTop(st *store.Store, h store.Hash) (top, left store.Hash, err error) {
	data, err := st.Get(h)
	if err != nil {
		return top, left, err
	}
	text, ok := strings.CutPrefix(string(data), snapshotMagic)
	if !ok || len(text) != len(top)+len(left) {
		return top, left, errNotSnapshot
	}
	copy(top[:], text)
	copy(left[:], text[len(top):])
	return top, left, nil
}

func decodeLeft(data []byte) (all []Left, err error) {
	text, ok := strings.CutPrefix(string(data), leftMagic)
	if !ok {
		return nil, errNotSnapshot
	}
	d := decoder{data: []byte(text)}
	for len(d.data) > 0 {
		all = append(all, Left{Path: d.string(), Reason: Reason(d.byte())})
	}
	if d.bad {
		return nil, errNotSnapshot
	}
	return all, nil
}

// child is a line of a directory: a file, a link, or a directory with the hash
// of its own blob.
type child struct {
	Entry
	dir bool
}

func decodeTree(data []byte) (children []child, err error) {
	text, ok := strings.CutPrefix(string(data), treeMagic)
	if !ok {
		return nil, errNotSnapshot
	}
	d := decoder{data: []byte(text)}
	for len(d.data) > 0 {
		kind := d.byte()
		c := child{Entry: Entry{Path: d.string()}, dir: kind == kindDir}
		if c.Path == "" || c.Path == "." || c.Path == ".." || strings.Contains(c.Path, "/") {
			return nil, errNotSnapshot
		}
		switch kind {
		case kindDir:
			c.Hash = d.hash()
		case kindLink:
			c.Mode, c.Link = fs.ModeSymlink, d.string()
		case kindFile:
			c.Mode = fs.FileMode(d.uvarint())
			c.Size = d.varint()
			if c.Mode&^permissions != 0 || c.Size < 0 {
				return nil, errNotSnapshot
			}
			switch flags := d.byte(); flags {
			case 0:
				c.ModTime = time.Unix(0, d.varint())
			case flagHashed, flagHashed | flagKept:
				c.Hash, c.Kept = d.hash(), flags&flagKept != 0
				if c.Hash.IsZero() {
					return nil, errNotSnapshot
				}
			default:
				return nil, errNotSnapshot
			}
		default:
			return nil, errNotSnapshot
		}
		children = append(children, c)
	}
	if d.bad {
		return nil, errNotSnapshot
	}
	return children, nil
}

// Blobs lists what snapshots need in a store, for its Prune and Retain. It
// remembers directories, which snapshots share. It is not safe for concurrent
// use.
type Blobs struct {
	store *store.Store
	known map[store.Hash][]store.Hash // by directory: what it names, its directories last
	dirs  map[store.Hash]int          // how many of them are directories
	err   error
}

// NewBlobs returns a Blobs for the snapshots in a store.
func NewBlobs(st *store.Store) *Blobs {
	return &Blobs{store: st, known: make(map[store.Hash][]store.Hash), dirs: make(map[store.Hash]int)}
}

// Err returns the first error. The blobs of a directory that cannot be read are
// missing from the lists.
func (b *Blobs) Err() error { return b.err }

// Of returns the blobs of a snapshot, those with the contents of files too. A
// blob may come more than once.
func (b *Blobs) Of(snapshot store.Hash) iter.Seq[store.Hash] {
	return func(yield func(store.Hash) bool) {
		top, left, err := loadTop(b.store, snapshot)
		if err != nil {
			b.fail(snapshot, err)
			return
		}
		_ = yield(snapshot) && yield(left) && b.walk(top, yield, 0)
	}
}

func (b *Blobs) fail(h store.Hash, err error) {
	if b.err == nil {
		b.err = fmt.Errorf("list the blobs of %s: %w", h, err)
	}
}

func (b *Blobs) walk(h store.Hash, yield func(store.Hash) bool, depth int) bool {
	if !yield(h) {
		return false
	}
	names, known := b.known[h]
	if !known {
		data, err := b.store.Get(h)
		var children []child
		if err == nil {
			children, err = decodeTree(data)
		}
		if err == nil && depth == maxNesting {
			err = errNotSnapshot
		}
		if err != nil {
			b.fail(h, err)
			return true
		}
		var dirs []store.Hash
		for _, c := range children {
			switch {
			case c.dir:
				dirs = append(dirs, c.Hash)
			case c.Kept:
				names = append(names, c.Hash)
			}
		}
		names = append(names, dirs...)
		b.known[h], b.dirs[h] = names, len(dirs)
	}
	files := len(names) - b.dirs[h]
	for i, name := range names {
		if i < files && !yield(name) || i >= files && !b.walk(name, yield, depth+1) {
			return false
		}
	}
	return true
}
