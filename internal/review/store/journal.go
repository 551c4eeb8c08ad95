package store

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"sync"
)

// The journal begins with a header. A record follows the other: the length of
// its bytes and a checksum of length and bytes, both 32 bits and little-endian,
// then the bytes. Zeros, which a power cut can leave at the end of a file, are
// not a record, because the checksum of a length of zero is not zero.
const (
	journalMagic   = "hermes-review\n"
	journalVersion = 1
	headerLen      = len(journalMagic) + 2
	frameLen       = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func header() []byte { return append([]byte(journalMagic), journalVersion, '\n') }

func appendFrame(dst, record []byte) []byte {
	var head [frameLen]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(record)))
	sum := crc32.Update(crc32.Checksum(head[:4], castagnoli), castagnoli, record)
	binary.LittleEndian.PutUint32(head[4:], sum)
	return append(append(dst, head[:]...), record...)
}

// errTorn is the end of a journal whose last record is not whole: the program
// was killed while it wrote it.
var errTorn = errors.New("the last record is not whole")

// reader reads the records of a journal of a known size.
type reader struct {
	r    *bufio.Reader
	size int64
	at   int64 // the end of the last whole record
	max  int
}

func newReader(r io.Reader, size int64, limit int) *reader {
	return &reader{r: bufio.NewReaderSize(r, 64<<10), size: size, max: limit}
}

// header reads the header.
func (r *reader) header() error {
	b := make([]byte, headerLen)
	if _, err := io.ReadFull(r.r, b); err != nil {
		return fmt.Errorf("%w: it has no header", ErrDamaged)
	}
	switch v := b[len(journalMagic)]; {
	case string(b[:len(journalMagic)]) != journalMagic || b[headerLen-1] != '\n' || v == 0:
		return fmt.Errorf("%w: it is not a journal", ErrDamaged)
	case v > journalVersion:
		return ErrNewer
	}
	r.at = int64(headerLen)
	return nil
}

// next returns the next record, io.EOF after the last, errTorn, or an error
// that wraps ErrDamaged.
func (r *reader) next() ([]byte, error) {
	left := r.size - r.at
	if left == 0 {
		return nil, io.EOF
	}
	if left < frameLen {
		return nil, errTorn
	}
	var head [frameLen]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return nil, cut(err)
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	switch {
	case n > int64(r.max):
		return nil, fmt.Errorf("%w: a record of %d bytes", ErrDamaged, n)
	case n > left-frameLen:
		return nil, errTorn
	}
	record := make([]byte, n)
	if _, err := io.ReadFull(r.r, record); err != nil {
		return nil, cut(err)
	}
	sum := crc32.Update(crc32.Checksum(head[:4], castagnoli), castagnoli, record)
	if sum != binary.LittleEndian.Uint32(head[4:]) {
		return nil, fmt.Errorf("%w: the checksum at byte %d is wrong", ErrDamaged, r.at)
	}
	r.at += frameLen + n
	return record, nil
}

// cut turns the end of a file that got shorter into errTorn.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTorn
	}
	return err
}

// journal is the open journal of a store.
type journal struct {
	limit int // of a record, in bytes

	mu        sync.Mutex
	file      *os.File // nil while it must be opened again, and in a store for reading
	end       int64    // of the last whole record
	dirty     bool     // bytes behind end may have to be cut
	failure   error    // of a flush: nobody knows what is on the disk, until Compact
	closed    bool
	frame     []byte
	recovered *Recovered
}

// Recovered is what Open found at the end of the journal.
type Recovered struct {
	Cut    int64  // bytes that were removed
	Reason error  // ErrDamaged, or the program was killed while it wrote them
	Aside  string // the file that has them now
}

// Recovered says what Open had to remove, nil if nothing.
func (s *Store) Recovered() *Recovered { return s.journal.recovered }

func (s *Store) journalPath() string { return s.path("journal") }

func (s *Store) openJournal() error {
	j, path := &s.journal, s.journalPath()
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		// The journal is the file of which a half can harm, so it is there
		// with its header, or not at all.
		if err := s.disk.put(s.path("temp", "journal"), path, header(), true); err != nil {
			return failed("make the journal", path, err)
		}
	}
	f, err := s.openJournalFile()
	if err != nil {
		return failed("open the journal", path, err)
	}
	j.file = f
	info, err := f.Stat()
	if err == nil {
		j.end, err = scan(f, info.Size(), j.limit)
	}
	torn := errors.Is(err, errTorn)
	switch {
	case err == nil:
		return nil
	case !torn && !errors.Is(err, ErrDamaged):
		return failed("read the journal", path, err)
	}
	j.recovered = &Recovered{Cut: info.Size() - j.end, Reason: err, Aside: s.path("journal.damaged")}
	if err := s.setAside(f, j.end, info.Size()); err != nil {
		if !torn {
			return failed("set the damaged end of the journal aside", j.recovered.Aside, err)
		}
		j.recovered.Aside = "" // it is only what a program that was killed had begun to write
	}
	if j.end == 0 {
		return s.replaceJournal(header())
	}
	return failed("cut the journal", path, s.disk.truncate(f, j.end))
}

func (s *Store) openJournalFile() (*os.File, error) {
	if err := s.disk.before("open", s.journalPath()); err != nil {
		return nil, err
	}
	return os.OpenFile(s.journalPath(), os.O_RDWR, 0)
}

// scan returns the end of the last whole record, and why it is not the end of
// the file.
func scan(r io.Reader, size int64, limit int) (int64, error) {
	records := newReader(r, size, limit)
	err := records.header()
	for err == nil {
		_, err = records.next()
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return records.at, err
}

// setAside keeps bytes of the journal in a file of its own.
func (s *Store) setAside(f *os.File, from, to int64) error {
	data, err := io.ReadAll(io.NewSectionReader(f, from, to-from))
	if err != nil {
		return err
	}
	return s.disk.put(s.path("temp", "damaged"), s.path("journal.damaged"), data, true)
}

func (s *Store) openJournalForReading() error {
	f, err := os.Open(s.journalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end, err := scan(f, info.Size(), s.journal.limit)
	if err != nil && !errors.Is(err, errTorn) && !errors.Is(err, ErrDamaged) {
		return failed("read the journal", s.journalPath(), err)
	}
	s.journal.end = end
	return nil
}

// Append adds a record to the journal. The journal has all of it or, after an
// error, nothing of it.
func (s *Store) Append(record []byte) error {
	if err := s.append(record); err != nil {
		return failed("write the journal", s.journalPath(), err)
	}
	s.flusher.wrote()
	return nil
}

func (s *Store) append(record []byte) error {
	if err := s.writable(); err != nil {
		return err
	}
	j := &s.journal
	if len(record) > j.limit {
		return fmt.Errorf("%w: a record of %d bytes, the limit is %d", ErrTooLarge, len(record), j.limit)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := s.ready(); err != nil {
		return err
	}
	if j.failure != nil {
		return j.failure
	}
	j.frame = appendFrame(j.frame[:0], record)
	if size := j.end + int64(len(j.frame)); size > s.limits.Journal {
		return fmt.Errorf("%w of %d bytes", ErrFull, s.limits.Journal)
	}
	if err := s.disk.writeAt(j.file, j.frame, j.end); err != nil {
		j.dirty = true
		s.ready() // or the next Append cuts it
		return err
	}
	j.end += int64(len(j.frame))
	if cap(j.frame) > 1<<20 {
		j.frame = nil
	}
	return nil
}

// ready makes the journal end after its last whole record. It is called with
// the lock held.
func (s *Store) ready() error {
	j := &s.journal
	if j.closed {
		return ErrClosed
	}
	if j.file == nil {
		f, err := s.openJournalFile()
		if err != nil {
			return err
		}
		j.file = f
	}
	if j.dirty {
		if err := s.disk.truncate(j.file, j.end); err != nil {
			return err
		}
		j.dirty = false
	}
	return nil
}

// Records returns the records, oldest first, up to the last one at the time of
// the call. It ends with the first error. Compact must not run meanwhile.
func (s *Store) Records() iter.Seq2[[]byte, error] {
	s.journal.mu.Lock()
	end := s.journal.end
	s.journal.mu.Unlock()
	return func(yield func([]byte, error) bool) {
		if end == 0 {
			return
		}
		f, err := os.Open(s.journalPath())
		if err != nil {
			yield(nil, failed("read the journal", s.journalPath(), err))
			return
		}
		defer f.Close()
		r := newReader(f, end, s.journal.limit)
		if err := r.header(); err != nil {
			yield(nil, failed("read the journal", s.journalPath(), err))
			return
		}
		for {
			record, err := r.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(record, failed("read the journal", s.journalPath(), err)) || err != nil {
				return
			}
		}
	}
}

// Compact replaces all records by others, in one step: after an error, the
// journal is the old one. Records that are appended meanwhile follow the new
// ones.
func (s *Store) Compact(records iter.Seq[[]byte]) error {
	if err := s.writable(); err != nil {
		return failed("compact the journal", s.journalPath(), err)
	}
	data := header()
	for record := range records {
		if len(record) > s.journal.limit {
			err := fmt.Errorf("%w: a record of %d bytes, the limit is %d", ErrTooLarge, len(record), s.journal.limit)
			return failed("compact the journal", s.journalPath(), err)
		}
		data = appendFrame(data, record)
		if int64(len(data)) > s.limits.Journal {
			return failed("compact the journal", s.journalPath(), fmt.Errorf("%w of %d bytes", ErrFull, s.limits.Journal))
		}
	}
	// The blobs that the new journal names must be on the disk before the journal
	// is.
	s.flusher.one.Lock()
	defer s.flusher.one.Unlock()
	if err := s.flushBlobs(); err != nil {
		return err
	}
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	if s.journal.closed {
		return failed("compact the journal", s.journalPath(), ErrClosed)
	}
	if err := s.ours(); err != nil {
		return failed("compact the journal", s.journalPath(), err)
	}
	return failed("compact the journal", s.journalPath(), s.replaceJournal(data))
}

// replaceJournal is called with the lock held.
func (s *Store) replaceJournal(data []byte) error {
	j := &s.journal
	path, temp := s.journalPath(), s.path("temp", "journal")
	if j.file != nil { // some systems do not replace a file that is open
		j.file.Close()
		j.file = nil
	}
	if err := s.disk.put(temp, path, data, true); err != nil {
		return err
	}
	// A directory that cannot be flushed costs the new journal at a power cut,
	// but not the old one.
	s.disk.flushDir(s.dir)
	j.end, j.dirty, j.failure = int64(len(data)), false, nil
	s.ready() // or the next Append opens it
	return nil
}

func (s *Store) closeJournal() error {
	j := &s.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return failed("close the journal", s.journalPath(), err)
}
