package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// dropped is more than half of what is kept, so that the pack that has it goes.
var dropped = strings.Repeat("dropped ", 30)

// script uses every method of a store that writes, and notes what is known
// about the result.
type script struct {
	dir     string
	opts    Options
	records []string   // that must be there
	maybe   [][]string // what may be there instead: an operation was under way
	blobs   map[string]bool
	errs    []error
	recover bool            // go on after errors as a program would
	onDid   func(op string) // is called after each operation that did not fail
	next    []string        // the records after a compaction that is under way
}

// did notes the result of an operation that leads to records. It reports
// whether to go on.
func (c *script) did(op string, err error, records ...string) bool {
	if err == nil {
		c.records, c.maybe = records, nil
		if c.onDid != nil {
			c.onDid(op)
		}
		return true
	}
	c.errs = append(c.errs, err)
	if !c.recover {
		c.maybe = append(c.maybe, records)
	}
	return c.recover
}

func (c *script) put(s *Store, text string) bool {
	_, err := s.Put([]byte(text))
	if err == nil {
		c.blobs[text] = true
	}
	return c.did("put", err, c.records...)
}

func (c *script) append(s *Store, text string) bool {
	return c.did("append", s.Append([]byte(text)), append(slices.Clone(c.records), text)...)
}

// heal does what a program does after the store failed: it puts everything
// again and compacts.
func (c *script) heal(s *Store) error {
	for text := range c.blobs {
		if _, err := s.Put([]byte(text)); err != nil {
			return err
		}
	}
	return s.Compact(seq(c.records...))
}

// run returns the store that it left open, nil if it could not be opened.
func (c *script) run() *Store {
	c.blobs = make(map[string]bool)
	c.opts.Delay = time.Hour // no flushes but the script's
	s, err := Open(c.dir, c.opts)
	if err != nil {
		c.errs = append(c.errs, err)
		return nil
	}
	compact := func(records ...string) bool {
		before := c.records
		c.next = records
		if c.did("compact", s.Compact(seq(records...)), records...) {
			return true
		}
		c.maybe = append(c.maybe, before)
		return false
	}
	drop := HashOf([]byte(dropped))
	prune := func() bool {
		delete(c.blobs, dropped)
		_, err := s.Prune(func(yield func(Hash) bool) {
			for text := range c.blobs {
				if !yield(HashOf([]byte(text))) {
					return
				}
			}
		}, 0)
		if err == nil && s.Has(drop) {
			err = errors.New("not pruned")
		}
		return c.did("prune", err, c.records...)
	}
	sync := func() bool { return c.did("sync", s.Sync(), c.records...) }
	_ = c.append(s, "one") &&
		c.put(s, "first") && c.put(s, dropped) &&
		c.append(s, "two") && sync() &&
		c.put(s, "second") && c.append(s, strings.Repeat("three ", 20)) &&
		compact("one and two", "three") &&
		c.append(s, "four") &&
		c.did("save", s.Save("index", []byte("an index")), c.records...) &&
		prune() && c.put(s, "third") && c.append(s, "") && sync()
	return s
}

// check opens the store again without faults.
func (c *script) check(t *testing.T, what string) {
	t.Helper()
	s, err := Open(c.dir, Options{})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer s.Close()
	if r := s.Recovered(); r != nil && !errors.Is(r.Reason, errTorn) {
		t.Errorf("%s: %+v", what, r)
	}
	got := records(t, s)
	if !slices.Equal(got, c.records) && !slices.ContainsFunc(c.maybe, func(m []string) bool { return slices.Equal(got, m) }) {
		t.Errorf("%s: records are %q, want %q or %q", what, got, c.records, c.maybe)
	}
	for text := range c.blobs {
		if data, err := s.Get(HashOf([]byte(text))); err != nil || string(data) != text {
			t.Errorf("%s: blob %q: %v", what, text, err)
		}
	}
	for _, text := range []string{"first", dropped, "second", "third"} {
		if _, err := s.Get(HashOf([]byte(text))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: blob %q: %v", what, text, err)
		}
	}
	if index := s.Cache("index"); index != nil && string(index) != "an index" {
		t.Errorf("%s: index %q", what, index)
	}
	if left := filesBelow(t, filepath.Join(c.dir, "temp")); len(left) > 0 {
		t.Errorf("%s: left %v", what, left)
	}
	// It takes writes.
	must(t, s.Append([]byte("new")))
	if again := records(t, s); !slices.Equal(again, append(got, "new")) {
		t.Errorf("%s: %q, then %q", what, got, again)
	}
}

// A device error cannot be produced on demand, so the test injects it.
func TestAnErrorAtAnyStepLeavesTheOldOrTheNewState(t *testing.T) {
	t.Parallel()
	bothWays(t, anErrorAtAnyStep)
}

func anErrorAtAnyStep(t *testing.T, alone bool) {
	steps := 0
	whole := script{dir: t.TempDir(), opts: Options{alone: alone, fault: func(string, string) error { steps++; return nil }}}
	must(t, whole.run().Close())
	if len(whole.errs) > 0 || len(whole.records) != 4 || len(whole.blobs) != 3 {
		t.Fatalf("%+v", whole)
	}
	whole.check(t, "no fault")
	if steps < 50 {
		t.Fatalf("only %d steps", steps)
	}
	causes := []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EACCES}
	refused := 0
	for n := range steps {
		for mode, until := range map[string]int{"once": n, "twice": n + 1, "from then on": 1 << 30} {
			cause := causes[n%len(causes)]
			at, last, off := 0, "", false
			c := script{dir: t.TempDir(), recover: true, opts: Options{alone: alone}}
			c.opts.fault = func(op, path string) error {
				defer func() { at++ }()
				if off || at < n || at > until {
					return nil
				}
				if at == n {
					last = op + " " + filepath.Base(path)
				}
				if op == "write" && n%2 == 0 {
					return &shortWrite{n, cause}
				}
				return cause
			}
			s := c.run()
			what := fmt.Sprintf("%v at step %d (%s) %s", cause, n, last, mode)
			for _, err := range c.errs {
				var e *Error
				if !errors.Is(err, cause) || !errors.As(err, &e) || !strings.Contains(e.Path, c.dir) || e.Advice() == "" {
					t.Errorf("%s: %v", what, err)
				}
			}
			if len(c.errs) > 0 {
				refused++
			}
			off = true
			if s != nil {
				if err := c.heal(s); err != nil {
					t.Errorf("%s: not healed: %v", what, err)
				}
				must(t, s.Close())
			}
			c.check(t, what)
		}
	}
	if refused < steps {
		t.Errorf("%d steps, only %d refusals", steps, refused)
	}
}

// The end of the program leaves what was written before, also of a write that
// is under way.
func TestAKillAtAnyStepLeavesTheOldOrTheNewState(t *testing.T) {
	t.Parallel()
	bothWays(t, aKillAtAnyStep)
}

func aKillAtAnyStep(t *testing.T, alone bool) {
	var writes []int // bytes of each step, 0 if it is not a write
	sizes := script{dir: t.TempDir(), opts: Options{alone: alone}}
	sizes.opts.fault = func(op, path string) error {
		n := 0
		if op == "write" {
			n = 3
			if filepath.Base(path) == "journal" || filepath.Base(filepath.Dir(path)) == "packs" {
				n = 50
			}
		}
		writes = append(writes, n)
		return nil
	}
	must(t, sizes.run().Close())
	kill := errors.New("killed")
	for n, bytes := range writes {
		for part := range bytes + 1 {
			at := 0
			c := script{dir: t.TempDir(), opts: Options{alone: alone}}
			c.opts.fault = func(op, path string) error {
				at++
				switch {
				case at <= n:
					return nil
				case at == n+1 && op == "write":
					return &shortWrite{part, kill}
				}
				return kill
			}
			if s := c.run(); s != nil {
				s.Close()
			}
			c.check(t, fmt.Sprintf("killed at step %d after %d bytes", n, part))
		}
	}
}

// The remains of a failed write must not follow the next record.
func TestAFailedWriteLeavesNothingBehindLaterRecords(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"write", "truncate"} {
		dir := t.TempDir()
		failing := false
		s := open(t, dir, Options{Delay: time.Hour, fault: func(step, path string) error {
			if !failing || filepath.Base(path) != "journal" {
				return nil
			}
			if step == "write" {
				return &shortWrite{100, syscall.ENOSPC}
			}
			if step == op {
				return syscall.EIO
			}
			return nil
		}})
		must(t, s.Append([]byte("one")))
		failing = true
		if err := s.Append([]byte(strings.Repeat("long", 100))); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free space") {
			t.Error(err)
		}
		failing = false
		if op == "write" { // and nothing to cut later
			info, err := os.Stat(filepath.Join(dir, "journal"))
			if err != nil || info.Size() != s.journal.end {
				t.Errorf("%d bytes, want %d", info.Size(), s.journal.end)
			}
		}
		must(t, s.Append([]byte("two")))
		must(t, s.Close())
		s = open(t, dir, Options{})
		if got := records(t, s); s.Recovered() != nil || !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("%q, %+v", got, s.Recovered())
		}
	}
}

func TestAFailedWriteLeavesNothingInAPack(t *testing.T) {
	t.Parallel()
	failing := false
	s := open(t, t.TempDir(), Options{Delay: time.Hour, fault: func(op, path string) error {
		if failing && op == "write" {
			return &shortWrite{100, syscall.ENOSPC}
		}
		return nil
	}})
	put(t, s, "one")
	failing = true
	if _, err := s.Put([]byte(dropped)); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free space") {
		t.Error(err)
	}
	failing = false
	if sizes := packsOf(t, s); sizes[1] != int64(headLen+3) {
		t.Errorf("packs of %v bytes", sizes)
	}
	put(t, s, "two")
	if sizes := packsOf(t, s); sizes[1] != int64(headLen+3)*2 {
		t.Errorf("packs of %v bytes", sizes)
	}
}

// A flush that failed is not repeated: the system may have dropped the bytes
// and report success.
func TestAfterAFailedFlushEverythingIsWrittenAgain(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"journal", "blobs", "packs"} {
		failing := false
		dir := t.TempDir()
		s := open(t, dir, Options{alone: part == "blobs", Delay: time.Hour, fault: func(op, path string) error {
			if failing && op == "flush" && filepath.Base(path) == part {
				return syscall.EIO
			}
			return nil
		}})
		must(t, s.Append([]byte("one")))
		h := put(t, s, "blob")
		failing = true
		if err := s.Sync(); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", part, err)
		}
		failing = false
		for what, err := range map[string]error{"Sync": s.Sync(), "Append": s.Append(nil)} {
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: %s after a failed flush: %v", part, what, err)
			}
		}
		if s.Has(h) != (part == "journal") {
			t.Errorf("%s: the blob is there: %v", part, s.Has(h))
		}
		must(t, os.WriteFile(s.pathOf(h, s.blobs.get(h)), nil, 0o600)) // what may be on the disk
		if part == "journal" {
			s.Get(h)
		}
		put(t, s, "blob")
		if data, err := s.Get(h); err != nil || string(data) != "blob" {
			t.Errorf("%s: %q, %v", part, data, err)
		}
		must(t, s.Compact(seq("one")))
		must(t, s.Append([]byte("two")))
		must(t, s.Sync())
		if got := records(t, s); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("%s: %q", part, got)
		}
		must(t, s.Close())
		s = open(t, dir, Options{})
		if data, err := s.Get(h); err != nil || string(data) != "blob" {
			t.Errorf("%s: after reopening: %q, %v", part, data, err)
		}
	}
}

// A journal that is cut anywhere has the records before the cut.
func TestAJournalIsReadUpToTheCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, Options{})
	ends := []int64{int64(headerLen)}
	texts := []string{"one", "", strings.Repeat("x", 300), "\x00\x00\x00\x00\x00\x00\x00\x00", "last"}
	for _, text := range texts {
		must(t, s.Append([]byte(text)))
		ends = append(ends, s.journal.end)
	}
	must(t, s.Close())
	path := filepath.Join(dir, "journal")
	whole, err := os.ReadFile(path)
	must(t, err)
	for size := range whole {
		for _, reading := range []bool{true, false} {
			must(t, os.WriteFile(path, whole[:size], 0o600))
			s, err := Open(dir, Options{ReadOnly: reading})
			must(t, err)
			n := 0
			for n < len(texts) && ends[n+1] <= int64(size) {
				n++
			}
			if got := records(t, s); !slices.Equal(got, texts[:n]) {
				t.Errorf("cut at %d: %d records, want %d", size, len(got), n)
			}
			if reading {
				must(t, s.Close())
				continue
			}
			r := s.Recovered()
			clean := int64(size) == ends[n]
			if clean != (r == nil) || r != nil && (r.Reason == nil || size >= headerLen && r.Cut != int64(size)-ends[n]) {
				t.Errorf("cut at %d: %+v", size, r)
			}
			must(t, s.Append([]byte("new")))
			must(t, s.Close())
			s, err = Open(dir, Options{})
			must(t, err)
			if got := records(t, s); s.Recovered() != nil || !slices.Equal(got, append(slices.Clone(texts[:n]), "new")) {
				t.Errorf("cut at %d, then written: %q", size, got)
			}
			must(t, s.Close())
		}
	}
}

// The bytes that a failing disk or a power cut left behind the last good record
// may matter to someone.
func TestADamagedEndIsSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, Options{Limits: Limits{Record: 100}})
	var ends []int64
	for i := range 5 {
		must(t, s.Append(fmt.Append(nil, "record ", i)))
		ends = append(ends, s.journal.end)
	}
	must(t, s.Close())
	path := filepath.Join(dir, "journal")
	whole, err := os.ReadFile(path)
	must(t, err)
	for name, test := range map[string]struct {
		data []byte
		good int
	}{
		"a bit of the third record":       {flip(whole, ends[1]+frameLen+2), 2},
		"the checksum of the first":       {flip(whole, int64(headerLen)+4), 0},
		"the length of the last, longer":  {flip(whole, ends[3]+1), 4},
		"the length of the third, longer": {flip(whole, ends[1]), 2},
		"zeros behind the end":            {append(slices.Clone(whole), make([]byte, 4096)...), 5},
		"text behind the end":             {append(slices.Clone(whole), "garbage, garbage"...), 5},
		"the header":                      {flip(whole, 2), 0},
		"no header":                       {[]byte("hermes"), 0},
		"nothing":                         {nil, 0},
	} {
		must(t, os.WriteFile(path, test.data, 0o600))
		os.Remove(path + ".damaged")
		s, err := Open(dir, Options{Limits: Limits{Record: 100}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := records(t, s); len(got) != test.good {
			t.Errorf("%s: %q, want %d records", name, got, test.good)
		}
		r := s.Recovered()
		if r == nil || r.Aside != path+".damaged" {
			t.Fatalf("%s: %+v", name, r)
		}
		aside, err := os.ReadFile(r.Aside)
		if err != nil || int64(len(aside)) != r.Cut || !strings.HasSuffix(string(test.data), string(aside)) {
			t.Errorf("%s: %q, %+v, %v", name, aside, r, err)
		}
		must(t, s.Append([]byte("new")))
		must(t, s.Close())
		s = open(t, dir, Options{})
		if got := records(t, s); len(got) != test.good+1 || s.Recovered() != nil {
			t.Errorf("%s: %q after writing", name, got)
		}
		must(t, s.Close())
	}
}

func flip(data []byte, at int64) []byte {
	data = slices.Clone(data)
	data[at] ^= 0x80
	return data
}

// An older program must not cut what it does not understand.
func TestAJournalOfANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "journal")
	newer := append([]byte(journalMagic), journalVersion+1, '\n', 'x', 'y', 'z')
	must(t, os.WriteFile(path, newer, 0o600))
	for _, reading := range []bool{false, true} {
		if _, err := Open(dir, Options{ReadOnly: reading}); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "update Hermes") {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != string(newer) {
		t.Errorf("%q, %v", data, err)
	}
}

func FuzzJournal(f *testing.F) {
	whole := header()
	for _, text := range []string{"", "one", strings.Repeat("two", 100)} {
		whole = appendFrame(whole, []byte(text))
		f.Add(whole)
	}
	f.Add(whole[:len(whole)-1])
	f.Add(flip(whole, 20))
	f.Add(append(slices.Clone(whole), make([]byte, 100)...))
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newReader(strings.NewReader(string(data)), int64(len(data)), limit)
		if err := r.header(); err != nil {
			if r.at != 0 || !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
				t.Fatal(r.at, err)
			}
			return
		}
		// Written again, the records are the same bytes.
		again := header()
		for {
			record, err := r.next()
			if err != nil {
				break
			}
			if len(record) > limit {
				t.Fatal(len(record))
			}
			again = appendFrame(again, record)
		}
		if int64(len(again)) != r.at || string(again) != string(data[:r.at]) {
			t.Fatalf("%q\n%q", again, data[:r.at])
		}
		if end, _ := scan(strings.NewReader(string(data)), int64(len(data)), limit); end != r.at {
			t.Fatal(end, r.at)
		}
	})
}
