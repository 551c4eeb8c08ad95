package gitdir

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

// Objects are the objects of a repository: files, folders and commits, by the hashes of what is
// in them. It is not safe for concurrent use.
type Objects struct {
	folders []string // with objects: its own, and those that it borrows from
	size    int      // of a hash, in bytes
	packs   map[string]*pack
	seen    map[string]time.Time // when a folder of packs was read
}

// maxBorrowed is how many folders of other repositories are looked at.
const maxBorrowed = 8

// OpenObjects opens the objects in the folder that all work trees of a repository share. hash is
// the size of a hash in bytes, 20 or 32. read is as for Of.
func OpenObjects(common string, hash int, read func(path string) string) *Objects {
	o := &Objects{folders: []string{filepath.Join(common, "objects")}, size: hash, packs: make(map[string]*pack), seen: make(map[string]time.Time)}
	for i := 0; i < len(o.folders) && len(o.folders) <= maxBorrowed; i++ {
		for line := range strings.Lines(read(filepath.Join(o.folders[i], "info", "alternates"))) {
			if line = strings.TrimRight(line, "\r\n"); line != "" && line[0] != '#' {
				o.folders = append(o.folders, from(o.folders[i], line))
			}
		}
	}
	return o
}

// Close closes the files that are open.
func (o *Objects) Close() {
	for _, p := range o.packs {
		p.file.Close()
	}
}

// Blob returns the name of the object that has a text.
func (o *Objects) Blob(text io.Reader, size int64) (id string, err error) {
	var h hash.Hash = sha1.New()
	if o.size == sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	if n, err := io.Copy(h, text); err != nil || n != size {
		return "", fmt.Errorf("it has changed meanwhile: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Has reports whether there is an object, as a file of its own or in a pack.
func (o *Objects) Has(id string) bool {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != o.size {
		return false
	}
	for _, dir := range o.folders {
		if info, err := os.Lstat(filepath.Join(dir, id[:2], id[2:])); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return o.Packed(id, func(string) bool { return true })
}

// Packed reports whether an object is in one of the packs that counts, by the path of its index.
func (o *Objects) Packed(id string, counts func(index string) bool) bool {
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != o.size {
		return false
	}
	o.look()
	for path, p := range o.packs {
		if counts(path) && p.has(raw) {
			return true
		}
	}
	return false
}

// look opens packs that are new, and forgets those that are gone.
func (o *Objects) look() {
	for _, dir := range o.folders {
		dir = filepath.Join(dir, "pack")
		info, err := os.Stat(dir)
		if err != nil || info.ModTime().Equal(o.seen[dir]) {
			continue
		}
		o.seen[dir] = info.ModTime()
		found := make(map[string]bool)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if filepath.Ext(path) != ".idx" {
				continue
			}
			found[path] = true
			if o.packs[path] == nil {
				if p, err := openPack(path, o.size); err == nil {
					o.packs[path] = p
				}
			}
		}
		for path, p := range o.packs {
			if filepath.Dir(path) == dir && !found[path] {
				p.file.Close()
				delete(o.packs, path)
			}
		}
	}
}

// pack is the index of a pack, version 2: the names of its objects, in order.
//
// See gitformat-pack(5).
type pack struct {
	file *os.File
	upTo [256]uint32 // how many names begin with at most this byte
	size int
}

const packHeader = 8 + 4*256

func openPack(path string, size int) (*pack, error) {
	f, _, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	var head [packHeader]byte
	p := &pack{file: f, size: size}
	_, err = f.ReadAt(head[:], 0)
	if err == nil && !bytes.Equal(head[:8], []byte("\xfftOc\x00\x00\x00\x02")) {
		err = fmt.Errorf("%s is no index of a pack", path)
	}
	for i := range p.upTo {
		p.upTo[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if err == nil && i > 0 && p.upTo[i] < p.upTo[i-1] {
			err = fmt.Errorf("%s is damaged", path)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}

// has reports whether an object is in the pack.
func (p *pack) has(id []byte) bool {
	low, high := uint32(0), p.upTo[id[0]]
	if id[0] > 0 {
		low = p.upTo[id[0]-1]
	}
	name := make([]byte, p.size)
	for low < high {
		middle := low + (high-low)/2
		if _, err := p.file.ReadAt(name, packHeader+int64(middle)*int64(p.size)); err != nil {
			return false
		}
		switch bytes.Compare(name, id) {
		case 0:
			return true
		case -1:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}
