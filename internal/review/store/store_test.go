package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	s, err := Open(dir, opts)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t testing.TB, s *Store, text string) Hash {
	t.Helper()
	h, err := s.Put([]byte(text))
	must(t, err)
	return h
}

func records(t testing.TB, s *Store) []string {
	t.Helper()
	var all []string
	for r, err := range s.Records() {
		must(t, err)
		all = append(all, string(r))
	}
	return all
}

func seq(texts ...string) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for _, text := range texts {
			if !yield([]byte(text)) {
				return
			}
		}
	}
}

// bothWays runs a test with small blobs in packs, and with a file for each.
func bothWays(t *testing.T, test func(t *testing.T, alone bool)) {
	for name, alone := range map[string]bool{"in packs": false, "in files": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, alone)
		})
	}
}

func TestWhatIsWrittenIsThereAfterReopening(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "review", "x")
	s := open(t, dir, Options{})
	var want []string
	var hashes []Hash
	texts := []string{"", "\x00", "one\r\n", strings.Repeat("long ", 100_000), "\ufeffbom", "\xff\xfe not UTF-8"}
	for _, text := range texts {
		hashes = append(hashes, put(t, s, text))
		must(t, s.Append([]byte(text)))
		want = append(want, text)
	}
	for round := range 2 {
		if got := records(t, s); !slices.Equal(got, want) {
			t.Errorf("round %d: %d records, want %d", round, len(got), len(want))
		}
		for i, h := range hashes {
			if data, err := s.Get(h); err != nil || string(data) != texts[i] || h != HashOf(data) || !s.Has(h) {
				t.Errorf("round %d: blob %d: %v", round, i, err)
			}
		}
		must(t, s.Close())
		s = open(t, dir, Options{})
	}
	if s.Recovered() != nil {
		t.Errorf("cut %+v", s.Recovered())
	}
	if size, err := s.Size(); err != nil || size.Blobs != len(texts) || size.Bytes != 500_024 {
		t.Errorf("%+v, %v", size, err)
	}
}

func TestEqualBlobsAreKeptOnce(t *testing.T) {
	t.Parallel()
	bothWays(t, equalBlobs)
}

func equalBlobs(t *testing.T, alone bool) {
	dir := t.TempDir()
	s := open(t, dir, Options{alone: alone})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 20 {
				put(t, s, fmt.Sprint("blob ", i))
			}
		})
	}
	group.Wait()
	if size, err := s.Size(); err != nil || size.Blobs != 20 || size.Bytes != 130 {
		t.Errorf("%+v, %v", size, err)
	}
	files, packs := 20, 0
	if !alone {
		files, packs = 0, 1
	}
	for round := range 2 {
		have := []int{len(filesBelow(t, filepath.Join(dir, "blobs"))), len(filesBelow(t, filepath.Join(dir, "packs"))), len(filesBelow(t, filepath.Join(dir, "temp")))}
		if !slices.Equal(have, []int{files, packs, 0}) {
			t.Errorf("round %d: %v files", round, have)
		}
		must(t, s.Close())
		s = open(t, dir, Options{alone: alone})
		put(t, s, "blob 7")
	}
}

func filesBelow(t *testing.T, dir string) (files []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	return files
}

func TestOnlyTheUserCanAccessTheFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes mean little here")
	}
	dir := filepath.Join(t.TempDir(), "made", "of old")
	must(t, os.MkdirAll(dir, 0o755))
	must(t, os.Chmod(dir, 0o755))
	s := open(t, dir, Options{})
	put(t, s, "blob")
	must(t, s.Append([]byte("record")))
	must(t, s.Save("index", []byte("index")))
	n := 0
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		n++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	}))
	if n < 9 {
		t.Errorf("only %d files", n)
	}
}

func TestABlobThatChangedIsNeverReturned(t *testing.T) {
	t.Parallel()
	bothWays(t, aBlobThatChanged)
}

func aBlobThatChanged(t *testing.T, alone bool) {
	for name, harm := range map[string]func(path string) error{
		"missing": os.Remove,
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"cut":     func(path string) error { return os.Truncate(path, 3) },
		"other":   func(path string) error { return os.WriteFile(path, []byte("gnostic"), 0o600) },
		"one bit": func(path string) error {
			data, err := os.ReadFile(path)
			data[len(data)-1]++
			return errors.Join(err, os.WriteFile(path, data, 0o600))
		},
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " after reopening: ", again), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				s := open(t, dir, Options{alone: alone})
				h := put(t, s, "content")
				path := s.pathOf(h, s.blobs.get(h))
				must(t, harm(path))
				if again {
					must(t, s.Close())
					s = open(t, dir, Options{alone: alone})
				}
				// A pack whose heads are damaged does not have the blob.
				want := ErrDamaged
				if name == "missing" || again && !alone && name != "one bit" {
					path, want = s.blobPath(h), fs.ErrNotExist
					if !again && !alone {
						path = s.packPath(1)
					}
				}
				data, err := s.Get(h)
				var e *Error
				if !errors.Is(err, want) || !errors.As(err, &e) || e.Path != path {
					t.Fatalf("%q, %v, want %v", data, err, want)
				}
				if s.Has(h) {
					t.Error("still there")
				}
				for range 2 {
					put(t, s, "content")
					if data, err := s.Get(h); err != nil || string(data) != "content" || !s.Has(h) {
						t.Errorf("after it was put again: %q, %v", data, err)
					}
					must(t, s.Close())
					s = open(t, dir, Options{alone: alone})
				}
			})
		}
	}
}

func TestLimitsRefuseWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, Options{Limits: Limits{Blob: 10, Bytes: 25, Blobs: 3, Record: 50, Journal: 120}})
	for _, step := range []struct {
		blob string
		want error
	}{{"0123456789", nil}, {"0123456789x", ErrTooLarge}, {"abcdefghij", nil}, {"klmnop", ErrFull}, {"0123456789", nil}, {"k", nil}, {"l", ErrFull}, {"k", nil}} {
		if _, err := s.Put([]byte(step.blob)); !errors.Is(err, step.want) {
			t.Errorf("%s: %v, want %v", step.blob, err, step.want)
		}
	}
	for _, step := range []struct {
		size int
		want error
	}{{51, ErrTooLarge}, {50, nil}, {40, ErrFull}, {30, nil}, {30, ErrFull}} {
		if err := s.Append(bytes.Repeat([]byte("r"), step.size)); !errors.Is(err, step.want) {
			t.Errorf("%d: %v, want %v", step.size, err, step.want)
		}
	}
	if got := records(t, s); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if err := s.Compact(seq(strings.Repeat("r", 51))); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if err := s.Compact(seq(strings.Repeat("r", 50), strings.Repeat("r", 50))); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	must(t, s.Compact(seq("r")))
	must(t, s.Append(bytes.Repeat([]byte("r"), 50)))
}

func TestConcurrentBlobsDoNotPassTheLimit(t *testing.T) {
	t.Parallel()
	for _, limits := range []Limits{{Bytes: 55}, {Blobs: 5}} {
		inside := make(chan bool, 100)
		s := open(t, t.TempDir(), Options{Limits: limits, Delay: time.Hour, alone: true, fault: func(op, path string) error {
			if op == "rename" && filepath.Base(path) != "journal" {
				inside <- true
				for len(inside) < 5 { // until as many as fit are here
					runtime.Gosched()
				}
			}
			return nil
		}})
		var group sync.WaitGroup
		for i := range 40 {
			group.Go(func() {
				if _, err := s.Put(fmt.Appendf(nil, "blob %5d", i)); err != nil && !errors.Is(err, ErrFull) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if size, err := s.Size(); err != nil || size.Blobs != 5 {
			t.Errorf("%+v: %+v, %v", limits, size, err)
		}
	}
}

func TestCompactionReplacesTheRecordsInOneStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, Options{})
	for i := range 1000 {
		must(t, s.Append(fmt.Append(nil, "record ", i)))
	}
	before, err := s.Size()
	must(t, err)
	must(t, s.Compact(seq("all", "of them")))
	must(t, s.Append([]byte("later")))
	after, err := s.Size()
	must(t, err)
	if after.Journal > before.Journal/50 {
		t.Errorf("%d bytes, %d before", after.Journal, before.Journal)
	}
	for range 2 {
		if got := strings.Join(records(t, s), ","); got != "all,of them,later" {
			t.Error(got)
		}
		must(t, s.Close())
		s = open(t, dir, Options{})
	}
}

// Nothing of a loop over the records is lost or seen twice when records are
// added inside it.
func TestRecordsAreThoseAtTheTimeOfTheCall(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	must(t, s.Append([]byte("a")))
	must(t, s.Append([]byte("b")))
	n := 0
	for r, err := range s.Records() {
		must(t, err)
		must(t, s.Append(append(r, '2')))
		n++
	}
	if got := strings.Join(records(t, s), " "); n != 2 || got != "a b a2 b2" {
		t.Errorf("%d: %s", n, got)
	}
	for range s.Records() {
		break
	}
}

func TestAStoreForReadingChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none"), Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	w := open(t, dir, Options{})
	h := put(t, w, "blob")
	must(t, w.Append([]byte("record")))
	must(t, w.Save("index", []byte("index")))

	r := open(t, dir, Options{ReadOnly: true})
	if data, err := r.Get(h); err != nil || string(data) != "blob" || !r.Has(h) || string(r.Cache("index")) != "index" {
		t.Errorf("%q, %v", data, err)
	}
	must(t, w.Append([]byte("later")))
	if got := records(t, r); !slices.Equal(got, []string{"record"}) {
		t.Error(got)
	}
	_, putErr := r.Put([]byte("x"))
	_, pruneErr := r.Prune(func(func(Hash) bool) {}, 0)
	for what, err := range map[string]error{
		"Put": putErr, "Prune": pruneErr, "Append": r.Append(nil), "Save": r.Save("x", nil), "Compact": r.Compact(seq()),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, r.Sync())
	must(t, r.Close())
	must(t, w.Append([]byte("after the reader")))
}

func TestAClosedStoreRefusesEverything(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	put(t, s, "blob")
	must(t, s.Close())
	must(t, s.Close())
	_, putErr := s.Put([]byte("other"))
	_, pruneErr := s.Prune(func(func(Hash) bool) {}, 0)
	for what, err := range map[string]error{
		"Put": putErr, "Prune": pruneErr, "Append": s.Append(nil), "Save": s.Save("x", nil), "Compact": s.Compact(seq()),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestASecondStoreIsRefusedWithTheHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, Options{Program: "hermes\nhost"})
	_, err := Open(dir, Options{})
	var locked *LockedError
	if !errors.Is(err, ErrLocked) || !errors.As(err, &locked) || locked.PID != os.Getpid() || locked.Program != "hermes host" {
		t.Fatalf("%v: %+v", err, locked)
	}
	if want := fmt.Sprintf("hermes host, process %d on ", os.Getpid()); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v does not say %q", err, want)
	}
	must(t, s.Append([]byte("still works")))
	must(t, s.Close())
	open(t, dir, Options{})
}

func TestADamagedCacheIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, Options{})
	if s.Cache("index") != nil {
		t.Error("made up")
	}
	for _, text := range []string{"", "one", "two"} {
		must(t, s.Save("index", []byte(text)))
		if got := s.Cache("index"); string(got) != text || got == nil {
			t.Errorf("%q, want %q", got, text)
		}
	}
	path := filepath.Join(dir, "cache", "index")
	whole, err := os.ReadFile(path)
	must(t, err)
	for i := range whole {
		must(t, os.WriteFile(path, whole[:i], 0o600))
		if got := s.Cache("index"); got != nil {
			t.Errorf("cut at %d: %q", i, got)
		}
		bad := bytes.Clone(whole)
		bad[i]++
		must(t, os.WriteFile(path, bad, 0o600))
		if got := s.Cache("index"); got != nil {
			t.Errorf("changed at %d: %q", i, got)
		}
	}
	for _, name := range []string{"", "..", "../journal", "a/b", "A", "a.b", strings.Repeat("a", 65)} {
		if err := s.Save(name, nil); err == nil || s.Cache(name) != nil {
			t.Errorf("%q is a name", name)
		}
	}
}

func TestAProjectHasOneStore(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	real, link := filepath.Join(root, "a b'\"\n$(c)"), filepath.Join(root, "link")
	if runtime.GOOS == "windows" {
		real = filepath.Join(root, "a b'")
	}
	must(t, os.Mkdir(real, 0o755))
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	dir := Dir("/state", real)
	if Dir("/state", link) != dir || Dir("/state", real+"/.") != dir || Dir("/state", root) == dir {
		t.Error(dir)
	}
	if rel, err := filepath.Rel("/state", dir); err != nil || strings.ContainsAny(rel, "\n'$") {
		t.Error(dir)
	}
	if gone := Dir("/state", filepath.Join(root, "gone")); gone == dir {
		t.Error(gone)
	}
}

func TestHashesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	h := HashOf([]byte("abc"))
	if h.String() != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error(h)
	}
	text, err := h.MarshalText()
	var back Hash
	if err != nil || back.UnmarshalText(text) != nil || back != h || h.IsZero() || !(Hash{}).IsZero() {
		t.Error(back, err)
	}
	for _, bad := range []string{"", h.String()[1:], h.String() + "0", strings.Replace(h.String(), "b", "x", 1)} {
		if _, err := ParseHash(bad); err == nil {
			t.Errorf("%q is a hash", bad)
		}
	}
}

func TestWritesAreFlushedWithoutBeingAsked(t *testing.T) {
	t.Parallel()
	bothWays(t, writesAreFlushed)
}

func writesAreFlushed(t *testing.T, alone bool) {
	flushed := make(chan string, 100)
	s := open(t, t.TempDir(), Options{alone: alone, Delay: time.Millisecond, fault: func(op, path string) error {
		if op == "flush" {
			flushed <- filepath.Base(path)
		}
		return nil
	}})
	if name := patience.Value(t, "flush of the new journal", flushed); name != "journal" {
		t.Error(name)
	}
	s.flusher.named = true // or the first flush is also one of the store's own names
	h := put(t, s, "blob")
	want := []string{"1", "packs"}
	if alone {
		want = []string{h.String()[2:], h.String()[:2], "blobs"}
	}
	for _, want := range want {
		if name := patience.Value(t, "flush of a blob", flushed); name != want {
			t.Errorf("%s, want %s", name, want)
		}
	}
	patience.Value(t, "flush of the journal", flushed)
	must(t, s.Append(nil))
	if name := patience.Value(t, "flush of a record", flushed); name != "journal" {
		t.Error(name)
	}
}

// A record may name a blob, so after a power cut the record must not be there
// without it.
func TestABlobIsFlushedBeforeTheRecordThatNamesIt(t *testing.T) {
	t.Parallel()
	bothWays(t, aBlobIsFlushedFirst)
}

func aBlobIsFlushedFirst(t *testing.T, alone bool) {
	for _, blobs := range []int{1, 100} {
		for _, compact := range []bool{false, true} {
			var steps []string
			s := open(t, t.TempDir(), Options{alone: alone, Delay: time.Hour, fault: func(op, path string) error {
				if op == "flush" || op == "rename" {
					steps = append(steps, op+" "+filepath.Base(path))
				}
				return nil
			}})
			s.flusher.named = true
			var last Hash
			for i := range blobs {
				last = put(t, s, fmt.Sprint(i))
			}
			steps = nil
			if compact {
				must(t, s.Compact(seq(last.String())))
			} else {
				must(t, s.Append([]byte(last.String())))
				must(t, s.Sync())
				must(t, s.Sync()) // nothing to do
			}
			most := 6
			if alone {
				most = 2*blobs + 6
			}
			first, then := slices.Index(steps, "flush "+filepath.Base(s.pathOf(last, s.blobs.get(last)))), slices.Index(steps, "flush journal")
			if first < 0 || then < first || compact != slices.Contains(steps, "rename journal") || len(steps) > most {
				t.Errorf("%d blobs, compaction %v: %q", blobs, compact, steps)
			}
		}
	}
}

func TestConcurrentSyncsShareAFlush(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	flushes := 0
	s := open(t, t.TempDir(), Options{Delay: time.Hour, fault: func(op, path string) error {
		mu.Lock()
		defer mu.Unlock()
		if op == "flush" {
			flushes++
		}
		return nil
	}})
	s.flusher.named = true
	s.flusher.one.Lock() // a flush is under way
	var group, waiting sync.WaitGroup
	for i := range 50 {
		waiting.Add(1)
		group.Go(func() {
			must(t, s.Append([]byte{byte(i)}))
			waiting.Done()
			must(t, s.Sync())
		})
	}
	waiting.Wait()
	mu.Lock()
	before := flushes
	mu.Unlock()
	s.flusher.one.Unlock()
	group.Wait()
	// All that wait share one, those that came later need one more at most each.
	if n := flushes - before; n < 1 || n > 2 {
		t.Errorf("%d flushes for 50 records", n)
	}
}
