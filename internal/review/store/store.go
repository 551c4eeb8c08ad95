// Package store keeps the state of the reviews of one project below a state
// directory: blobs, which are named by their content, and a journal of records.
//
// Data that a method has written survives the end of the program at any moment,
// and a power cut once Sync has returned, which also happens on its own within
// a second. Any error leaves the old state or the new one.
//
// One program at a time has a store open for writing. Others get a
// *LockedError, and may read.
//
// The files, which only the user can access:
//
//	lock             who has the store open for writing
//	project          the root of the project
//	journal          a header, then records: length, checksum, bytes
//	journal.damaged  what Open cut from the journal, the last time
//	blobs/ab/cdef…   a large blob; its name is its hash
//	packs/N          small blobs, one after the other
//	cache/NAME       what Cache returns
//	temp/…           files that are being written
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

// Options are settings of a Store. The zero value is the default.
type Options struct {
	// Program names this program in the errors of others.
	Program string
	// Root is the project, for Projects.
	Root string
	// ReadOnly opens a store without its lock. The state is the one of the
	// moment; methods that write fail with ErrReadOnly.
	ReadOnly bool
	Limits   Limits
	// Delay is the longest time from a write to the flush that makes it survive
	// a power cut: one second.
	Delay time.Duration

	fault func(op, path string) error // tests make steps fail here
	alone bool                        // tests: small blobs have files of their own, too
}

// Limits bound a store. Zero values mean the defaults.
type Limits struct {
	Blob    int64         // the largest blob, in bytes: 16 MiB
	Bytes   int64         // all blobs, in bytes: 1 GiB
	Blobs   int           // their number: 200,000
	Record  int           // the largest record, in bytes: 16 MiB
	Journal int64         // the journal, in bytes: 256 MiB
	Groups  int           // what Retain keeps: 500
	Age     time.Duration // of what Retain keeps: 30 days
}

func (l Limits) withDefaults() Limits {
	set := func(p *int64, to int64) {
		if *p == 0 {
			*p = to
		}
	}
	set(&l.Blob, 16<<20)
	set(&l.Bytes, 1<<30)
	set(&l.Journal, 256<<20)
	set((*int64)(&l.Age), int64(30*24*time.Hour))
	if l.Blobs == 0 {
		l.Blobs = 200_000
	}
	if l.Groups == 0 {
		l.Groups = 500
	}
	if l.Record == 0 {
		l.Record = 16 << 20
	}
	return l
}

// Store is the state of one project. It is safe for concurrent use.
type Store struct {
	dir    string
	opts   Options
	limits Limits
	disk   disk
	lock   *os.File
	locked bool

	journal journal
	blobs   blobs
	flusher flusher
}

// Dir returns the directory of the store of a project, below a state directory.
// Links in root do not matter: there is one store for each project.
func Dir(state, root string) string {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	h := HashOf([]byte(filepath.Clean(root)))
	return filepath.Join(projectsDir(state), h.String()[:32])
}

// Open opens the store in a directory, which it creates. A journal that ends in
// the middle of a record, because the program or the system was killed, is cut
// there; see Recovered.
func Open(dir string, opts Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, failed("open review state", dir, err)
	}
	if opts.Delay <= 0 {
		opts.Delay = time.Second
	}
	s := &Store{dir: dir, opts: opts, limits: opts.Limits.withDefaults(), disk: disk{opts.fault}}
	s.journal.limit = s.limits.Record
	s.flusher.store = s
	if err := s.open(); err != nil {
		s.unlock()
		return nil, failed("open review state", dir, err)
	}
	return s, nil
}

func (s *Store) open() error {
	if s.opts.ReadOnly {
		return s.readOnly()
	}
	for try := 0; ; try++ {
		if err := s.disk.before("use directory", s.dir); err != nil {
			return err
		}
		if err := atomicfile.OwnDir(s.dir); err != nil {
			return err
		}
		err := s.takeLock()
		if err == nil {
			err = s.ours()
		}
		if err == nil {
			break
		}
		s.unlock()
		// Another program may just be removing the directory; see Expire.
		if try == 3 || !errors.Is(err, ErrRemoved) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// Others could read what an older directory holds.
	if err := os.Chmod(s.dir, dirMode); err != nil {
		return err
	}
	for _, name := range []string{"blobs", "packs", "cache", "temp"} {
		if err := s.disk.mkdir(s.path(name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return failed("make directory", s.path(name), err)
		}
	}
	s.removeLeftovers()
	if old, err := os.ReadFile(s.path("project")); s.opts.Root != "" && (err != nil || string(old) != s.opts.Root) {
		if err := s.disk.put(s.path("temp", "project"), s.path("project"), []byte(s.opts.Root), false); err != nil {
			return failed("write", s.path("project"), err)
		}
	}
	return s.openJournal()
}

// removeLeftovers removes the temporary files of programs that were killed.
// They cost only space, so errors do not matter.
func (s *Store) removeLeftovers() {
	entries, _ := os.ReadDir(s.path("temp"))
	for _, e := range entries {
		s.disk.remove(s.path("temp", e.Name()))
	}
}

func (s *Store) readOnly() error {
	info, err := os.Stat(s.dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New("not a directory")
	}
	return s.openJournalForReading()
}

func (s *Store) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

// takeLock takes the lock and writes into its file who has it.
func (s *Store) takeLock() error {
	path := s.path("lock")
	f, err := s.disk.create(path, atomicfile.OpenFlags)
	if err != nil {
		return failed("open the lock", path, err)
	}
	s.lock = f
	for tries := 0; ; tries++ {
		err = atomicfile.TryLock(f)
		if !errors.Is(err, syscall.EINTR) || tries == 10 {
			break
		}
	}
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return readHolder(path)
	case err != nil:
		return failed("lock", path, fmt.Errorf("%w: %w", errNoLocks, err))
	}
	s.locked = true
	host, _ := os.Hostname()
	program := s.opts.Program
	if program == "" {
		program = filepath.Base(os.Args[0])
	}
	text := fmt.Sprintf("%d\n%s\n%s\n", os.Getpid(), line(host), line(program))
	// It only makes an error of others more helpful, and a full disk is no
	// reason not to open.
	if s.disk.truncate(f, 0) == nil {
		s.disk.writeAt(f, []byte(text), 0)
	}
	return nil
}

// ours reports an error if the directory is no longer the one that was locked:
// someone removed it, and another program may have made it again.
func (s *Store) ours() error {
	mine, err := s.lock.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(s.path("lock")); err != nil || !os.SameFile(mine, now) {
		return ErrRemoved
	}
	return nil
}

func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// readHolder returns the error that says who has the lock. The holder may not
// have written it yet.
func readHolder(path string) *LockedError {
	data, _ := os.ReadFile(path)
	e := &LockedError{}
	if lines := strings.Split(string(data), "\n"); len(lines) == 4 {
		e.PID, _ = strconv.Atoi(lines[0])
		e.Host, e.Program = lines[1], lines[2]
	}
	return e
}

func (s *Store) unlock() {
	if s.lock == nil {
		return
	}
	if s.locked {
		s.lock.Truncate(0) // nobody has it
		atomicfile.Unlock(s.lock)
	}
	s.lock.Close()
	s.lock, s.locked = nil, false
}

// Close flushes the store and releases its lock. Methods fail after it.
func (s *Store) Close() error {
	err := s.flusher.stop()
	err = errors.Join(err, s.closeJournal())
	s.blobs.close()
	s.unlock()
	return err
}

// Size is what a store occupies, in bytes.
type Size struct {
	Blobs   int   // their number
	Bytes   int64 // of all blobs
	Journal int64
}

// Size returns what the store occupies.
func (s *Store) Size() (Size, error) {
	c, err := s.loaded()
	if err != nil {
		return Size{}, err
	}
	c.mu.Lock()
	size := Size{Blobs: len(c.known), Bytes: c.bytes}
	c.mu.Unlock()
	s.journal.mu.Lock()
	size.Journal = s.journal.end
	s.journal.mu.Unlock()
	return size, nil
}

func (s *Store) writable() error {
	if s.opts.ReadOnly {
		return ErrReadOnly
	}
	return nil
}

// Holder returns the program that has the store open for writing according to
// the lock, nil if none has. The lock still names a program that was killed.
func (s *Store) Holder() *LockedError {
	if e := readHolder(s.path("lock")); e.PID != 0 {
		return e
	}
	return nil
}
