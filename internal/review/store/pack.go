package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

// To make a file costs more than to write a small one, ten times as much on a file
// system that has just removed many. So small blobs share files, the packs. A pack is a row of blobs,
// each with a head before it: the length of its bytes, a checksum of the length and
// the hash, both 32 bits and little-endian, and the hash. A pack only grows, and
// Prune removes it when less than half of it is needed.
const (
	maxPacked = 64 << 10 // the largest blob in a pack, in bytes
	packFull  = 16 << 20 // the size from which on a pack does not grow
	headLen   = 8 + len(Hash{})
)

// pack is where the next small blob goes. The lock of blobs guards it.
type pack struct {
	number int      // from 1; 0 if there is none
	file   *os.File // nil until it is written to
	end    int64    // of the last whole blob
	dirty  bool     // bytes behind end have to be cut
	ended  bool     // it does not grow any more
}

// finish closes a pack, so that the next blob begins another one.
func (p *pack) finish() {
	if p.file != nil {
		p.file.Close()
	}
	p.file, p.ended = nil, true
}

func (s *Store) packPath(number int) string { return s.path("packs", strconv.Itoa(number)) }

func head(h Hash, size int) (b [headLen]byte) {
	binary.LittleEndian.PutUint32(b[:], uint32(size))
	copy(b[8:], h[:])
	binary.LittleEndian.PutUint32(b[4:], checksum(b))
	return b
}

func checksum(head [headLen]byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:4], castagnoli), castagnoli, head[8:])
}

// listPacks adds the blobs in packs to those that are known. If two have one hash,
// it takes the later one, which was written because the other was damaged.
func (s *Store) listPacks(known map[Hash]blob) (last pack, ends map[int]int64, err error) {
	sizes, err := s.packSizes()
	ends = make(map[int]int64, len(sizes))
	for number, size := range sizes {
		if err != nil {
			break
		}
		ends[number], err = s.listPack(number, 0, size, func(h Hash, b blob) {
			if old, ok := known[h]; !ok || old.pack <= number {
				known[h] = b
			}
		})
		if number > last.number {
			// A write that did not end may have left bytes behind the last whole blob.
			last = pack{number: number, end: ends[number], ended: ends[number] < size}
		}
	}
	return last, ends, err
}

// packSizes lists the packs with their sizes.
func (s *Store) packSizes() (map[int]int64, error) {
	dir := s.path("packs")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("list blobs", dir, err)
	}
	sizes := make(map[int]int64, len(entries))
	for _, e := range entries {
		number, err := strconv.Atoi(e.Name())
		if err != nil || number <= 0 {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sizes[number] = info.Size()
		}
	}
	return sizes, nil
}

// followPacks lists what another program has added to the packs since they were
// listed. It reports whether there is anything new.
func (s *Store) followPacks() bool {
	sizes, err := s.packSizes()
	b := &s.blobs
	b.mu.Lock()
	defer b.mu.Unlock()
	for number, end := range b.packs {
		if err != nil || sizes[number] < end {
			b.known = nil // some are gone, so all are listed again
			return true
		}
	}
	grown := false
	for number, size := range sizes {
		from := b.packs[number]
		if size <= from {
			continue
		}
		end, err := s.listPack(number, from, size, b.set)
		if err != nil {
			break
		}
		b.packs[number] = end
		grown = grown || end > from
	}
	return grown
}

// listPack lists the blobs of a pack from one on, and returns where the last whole one
// ends.
func (s *Store) listPack(number int, from, size int64, add func(Hash, blob)) (end int64, err error) {
	end = from
	f, err := os.Open(s.packPath(number))
	if errors.Is(err, fs.ErrNotExist) {
		return end, nil // pruned
	}
	if err != nil {
		return end, failed("list blobs", s.packPath(number), err)
	}
	defer f.Close()
	for {
		var b [headLen]byte
		if _, err := f.ReadAt(b[:], end); err == io.EOF {
			return end, nil
		} else if err != nil {
			return end, failed("list blobs", f.Name(), err)
		}
		n := int64(binary.LittleEndian.Uint32(b[:]))
		at := end + int64(headLen)
		if binary.LittleEndian.Uint32(b[4:]) != checksum(b) || at+n > size {
			return end, nil
		}
		add(Hash(b[8:]), blob{size: n, pack: number, at: at})
		end = at + n
	}
}

// appendPacked writes a small blob. It is called with the lock held.
func (s *Store) appendPacked(h Hash, data []byte) (blob, error) {
	p := &s.blobs.pack
	if err := s.readyPack(); err != nil {
		return blob{}, err
	}
	b := head(h, len(data))
	frame := append(append(make([]byte, 0, headLen+len(data)), b[:]...), data...)
	if err := s.disk.writeAt(p.file, frame, p.end); err != nil {
		p.dirty = true
		s.readyPack() // gives the space back, or the next blob does
		return blob{}, err
	}
	at := p.end + int64(headLen)
	if p.end += int64(len(frame)); p.end >= packFull {
		p.finish()
	}
	return blob{size: int64(len(data)), pack: p.number, at: at}, nil
}

// readyPack opens a pack that ends after its last whole blob. It is called with the
// lock held.
func (s *Store) readyPack() error {
	p := &s.blobs.pack
	if p.file == nil && p.number > 0 && !p.ended {
		path := s.packPath(p.number)
		err := s.disk.before("open", path)
		if err == nil {
			p.file, err = os.OpenFile(path, os.O_RDWR|atomicfile.OpenFlags, 0)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if p.file == nil {
		f, err := s.disk.create(s.packPath(p.number+1), os.O_TRUNC)
		if err != nil {
			return err
		}
		*p = pack{number: p.number + 1, file: f}
	}
	if p.dirty {
		if err := s.disk.truncate(p.file, p.end); err != nil {
			return err
		}
		p.dirty = false
	}
	return nil
}

// readPacked reads a blob of a pack.
func (s *Store) readPacked(b blob) ([]byte, error) {
	f, err := os.Open(s.packPath(b.pack))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, b.bytes())
	if _, err := f.ReadAt(data, b.at); err == io.EOF {
		return nil, ErrDamaged
	} else if err != nil {
		return nil, err
	}
	return data, nil
}

// prunePacks removes the packs of which less than half is needed, after it has
// written that half again.
func (s *Store) prunePacks() error {
	sizes, err := s.packSizes()
	if err != nil {
		return err
	}
	b := &s.blobs
	b.mu.Lock()
	needed := make(map[int]int64)
	for _, known := range b.known {
		if known.pack > 0 {
			needed[known.pack] += int64(headLen) + known.bytes()
		}
	}
	b.mu.Unlock()
	var errs []error
	for number, size := range sizes {
		if needed[number] >= size/2 && size > 0 {
			continue
		}
		if err := s.removePack(number); err != nil {
			errs = append(errs, failed("remove blobs", s.packPath(number), err))
		}
	}
	return errors.Join(errs...)
}

// removePack removes a pack. Blobs of it that are needed go to another pack, and are
// on the disk before.
func (s *Store) removePack(number int) error {
	b := &s.blobs
	moved, err := s.movePacked(number)
	if err == nil && len(moved) > 0 {
		err = s.Sync()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		for h, old := range moved {
			if _, ok := b.known[h]; ok {
				b.set(h, old)
			}
		}
		return err
	}
	if b.closed {
		return ErrClosed
	}
	return s.disk.remove(s.packPath(number))
}

// movePacked writes what is needed of a pack to another one, and returns where it
// was.
func (s *Store) movePacked(number int) (moved map[Hash]blob, err error) {
	b := &s.blobs
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	if b.pack.number == number {
		b.pack.finish()
	}
	moved = make(map[Hash]blob)
	for h, known := range b.known {
		if known.pack != number {
			continue
		}
		data, err := s.readPacked(known)
		if err == nil && HashOf(data) != h {
			err = ErrDamaged
		}
		if errors.Is(err, ErrDamaged) {
			b.set(h, known.lose())
			continue
		}
		if err != nil {
			return moved, err
		}
		now, err := s.appendPacked(h, data)
		if err != nil {
			return moved, err
		}
		now.put = known.put
		moved[h] = known
		s.keep(h, now)
	}
	return moved, nil
}

// names lists the files in which blobs are, and their directories, each once.
func (s *Store) names(list []Hash) (files, dirs []string) {
	seen := make(map[string]bool)
	add := func(list *[]string, path string) {
		if !seen[path] {
			seen[path] = true
			*list = append(*list, path)
		}
	}
	b := &s.blobs
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range list {
		known, ok := b.known[h]
		if !ok {
			continue // pruned
		}
		path := s.pathOf(h, known)
		add(&files, path)
		add(&dirs, filepath.Dir(path))
		if known.pack == 0 {
			add(&dirs, s.path("blobs"))
		}
	}
	return files, dirs
}
