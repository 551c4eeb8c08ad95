package tree

import (
	"encoding/binary"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// identity shows whether a file has changed, without reading it. As in git, the
// device is not part of it: some systems number devices anew.
type identity struct {
	size    int64
	changed int64 // its time of modification, in nanoseconds
	status  int64 // when its status changed, 0 where the system does not say
	inode   uint64
}

func identify(info fs.FileInfo) identity {
	id := identity{size: info.Size(), changed: info.ModTime().UnixNano()}
	id.inode, id.status = statusOf(info)
	return id
}

// latest is the time of the last change that the file system noted.
func (id identity) latest() time.Time { return time.Unix(0, max(id.changed, id.status)) }

// record is what the index has of a file.
type record struct {
	id   identity
	hash store.Hash
	// settled: any change after the file was read has another identity.
	settled bool
}

// index is what is known from the last scan, by path.
type index map[string]record

func (x index) equal(other index) bool { return maps.Equal(x, other) }

const indexVersion = 1

// indexName is where the store keeps the index of a root.
func indexName(root string) string { return "tree-" + store.HashOf([]byte(root)).String()[:32] }

func (x index) save(st *store.Store, root string) error {
	return st.Save(indexName(root), x.append(nil))
}

func loadIndex(st *store.Store, root string) index { return decodeIndex(st.Cache(indexName(root))) }

func (x index) append(dst []byte) []byte {
	dst = append(dst, indexVersion)
	for _, path := range slices.Sorted(maps.Keys(x)) {
		r := x[path]
		dst = appendString(dst, path)
		dst = binary.AppendVarint(dst, r.id.size)
		dst = binary.AppendVarint(dst, r.id.changed)
		dst = binary.AppendVarint(dst, r.id.status)
		dst = binary.AppendUvarint(dst, r.id.inode)
		dst = append(dst, r.hash[:]...)
		dst = append(dst, map[bool]byte{true: 1}[r.settled])
	}
	return dst
}

// decodeIndex returns an empty index if the data is not one: every file is then
// read again.
func decodeIndex(data []byte) index {
	x := make(index)
	if len(data) == 0 || data[0] != indexVersion {
		return x
	}
	d := decoder{data: data[1:]}
	for len(d.data) > 0 && !d.bad {
		path := d.string()
		r := record{id: identity{d.varint(), d.varint(), d.varint(), d.uvarint()}, hash: d.hash()}
		r.settled = d.byte() == 1
		x[path] = r
	}
	if d.bad {
		return make(index)
	}
	return x
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// decoder reads what this package encodes. After an error everything is zero.
type decoder struct {
	data []byte
	bad  bool
}

func (d *decoder) fail() {
	d.data, d.bad = nil, true
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.data)) {
		d.fail()
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) string() string { return string(d.take(d.uvarint())) }

func (d *decoder) hash() (h store.Hash) {
	copy(h[:], d.take(uint64(len(h))))
	return h
}

func (d *decoder) byte() byte {
	if b := d.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.data)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.data = d.data[size:]
	return n
}

func (d *decoder) varint() int64 {
	n, size := binary.Varint(d.data)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.data = d.data[size:]
	return n
}
