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

// packsOf lists the packs of a store with their sizes.
func packsOf(t testing.TB, s *Store) map[int]int64 {
	t.Helper()
	sizes, err := s.packSizes()
	must(t, err)
	return sizes
}

func TestAPackGrowsUntilItIsFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all []Hash
	text := func(i int) string { return fmt.Sprint(i, strings.Repeat(" text", maxPacked/5-10)) }
	for len(all) < 2*packFull/maxPacked+10 {
		s := open(t, dir, Options{})
		for range 20 {
			all = append(all, put(t, s, text(len(all))))
		}
		must(t, s.Close())
	}
	s := open(t, dir, Options{})
	sizes := packsOf(t, s)
	if len(sizes) != 3 || sizes[1] < packFull || sizes[2] < packFull || sizes[1] > packFull+maxPacked+int64(headLen) {
		t.Errorf("packs of %v bytes", sizes)
	}
	for i, h := range all {
		if data, err := s.Get(h); err != nil || string(data) != text(i) {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if files := filesBelow(t, filepath.Join(dir, "blobs")); len(files) > 0 {
		t.Errorf("%d files", len(files))
	}
}

// A pack that does not end with a whole blob stays as it is, and what it has stays
// readable. Later blobs go to another one.
func TestADamagedPackLosesOnlyWhatIsDamaged(t *testing.T) {
	t.Parallel()
	whole := func() (dir string, blobs []Hash, data []byte) {
		dir = t.TempDir()
		s := open(t, dir, Options{})
		for i := range 4 {
			blobs = append(blobs, put(t, s, fmt.Sprint("blob ", i)))
		}
		must(t, s.Close())
		data, err := os.ReadFile(s.packPath(1))
		must(t, err)
		return dir, blobs, data
	}
	_, _, data := whole()
	each := len(data) / 4
	harm := map[string]func(pack []byte, at int) []byte{
		"cut":      func(pack []byte, at int) []byte { return pack[:at] },
		"zeros":    func(pack []byte, at int) []byte { clear(pack[at:]); return pack },
		"one bit":  func(pack []byte, at int) []byte { pack[at] ^= 1; return pack },
		"garbage":  func(pack []byte, at int) []byte { return append(pack[:at], strings.Repeat("\xff", 100)...) },
		"repeated": func(pack []byte, at int) []byte { return append(pack[:at], pack[:each/2]...) },
	}
	for name, harm := range harm {
		for at := 0; at < len(data); at += 7 { // no multiple of what a blob takes
			dir, blobs, data := whole()
			must(t, os.WriteFile(filepath.Join(dir, "packs", "1"), harm(data, at), 0o600))
			s := open(t, dir, Options{})
			for i, h := range blobs {
				got, err := s.Get(h)
				if i < at/each && (err != nil || string(got) != fmt.Sprint("blob ", i)) {
					t.Errorf("%s at %d: blob %d before it: %v", name, at, i, err)
				}
				if i == at/each && !errors.Is(err, ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s at %d: blob %d: %q, %v", name, at, i, got, err)
				}
			}
			for i := range blobs {
				put(t, s, fmt.Sprint("blob ", i))
			}
			must(t, s.Close())
			s = open(t, dir, Options{})
			for i, h := range blobs {
				if got, err := s.Get(h); err != nil || string(got) != fmt.Sprint("blob ", i) {
					t.Errorf("%s at %d: blob %d put again: %v", name, at, i, err)
				}
			}
			must(t, s.Close())
		}
	}
}

// A program that reads finds what was put after it opened the store, and what was
// moved meanwhile.
func TestAReaderFindsWhatMoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, r := open(t, dir, Options{}), open(t, dir, Options{ReadOnly: true})
	var all []Hash
	for i := range 10 {
		all = append(all, put(t, w, fmt.Sprint("blob ", i)))
	}
	read := func(what string, blobs []Hash) {
		t.Helper()
		for _, h := range blobs {
			if data, err := r.Get(h); err != nil || HashOf(data) != h {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	read("put", all)
	done, err := w.Prune(slices.Values(all[7:]), 0)
	must(t, err)
	if sizes := packsOf(t, w); done.Blobs != 7 || len(sizes) != 1 || sizes[1] != 0 {
		t.Errorf("%+v, packs %v", done, sizes)
	}
	read("moved", all[7:])
	if _, err := r.Get(all[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	read("put later", []Hash{put(t, w, "later")})
	if done, err := w.Prune(slices.Values([]Hash{}), 0); err != nil || done.Blobs != 4 || len(packsOf(t, w)) > 0 {
		t.Errorf("%+v, %v, packs %v", done, err, packsOf(t, w))
	}
	read("put last", []Hash{put(t, w, "last")})
}

// Put finds what it needs while Prune moves it.
func TestPacksArePrunedWhileBlobsCome(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := s.Prune(slices.Values([]Hash{HashOf([]byte("stays"))}), 0); err != nil {
				t.Error(err)
			}
		}
	}()
	h := put(t, s, "stays")
	for i := range 300 {
		put(t, s, fmt.Sprint("goes ", i))
		put(t, s, "stays")
		if data, err := s.Get(h); err != nil || string(data) != "stays" {
			t.Fatalf("%d: %q, %v", i, data, err)
		}
	}
	close(stop)
	<-ended
	if _, err := s.Prune(slices.Values([]Hash{h}), 0); err != nil {
		t.Error(err)
	}
	if size, err := s.Size(); err != nil || size.Blobs != 1 || len(packsOf(t, s)) > 1 {
		t.Errorf("%+v, %v", size, err)
	}
}

// Blobs that Prune cannot move stay where they are.
func TestAFailedMoveLosesNothing(t *testing.T) {
	t.Parallel()
	for _, failing := range []string{"create", "write", "flush", "remove"} {
		armed := false
		dir := t.TempDir()
		s := open(t, dir, Options{Delay: time.Hour, fault: func(op, path string) error {
			if armed && op == failing && strings.Contains(path, "packs") {
				return syscall.EIO
			}
			return nil
		}})
		stays := []Hash{put(t, s, "stays"), put(t, s, "stays, too")}
		put(t, s, dropped)
		must(t, s.Sync())
		armed = true
		if _, err := s.Prune(slices.Values(stays), 0); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", failing, err)
		}
		armed = false
		for range 2 {
			for _, h := range stays {
				if data, err := s.Get(h); err != nil || HashOf(data) != h || !s.Has(h) {
					t.Errorf("%s: %v", failing, err)
				}
			}
			s.Close() // with the error of a flush
			s = open(t, dir, Options{})
		}
		if _, err := s.Prune(slices.Values(stays), 0); err != nil || len(packsOf(t, s)) != 1 {
			t.Errorf("%s: %v, packs %v", failing, err, packsOf(t, s))
		}
	}
}

func FuzzPack(f *testing.F) {
	h := HashOf([]byte("text"))
	b := head(h, 4)
	f.Add(append(b[:], "text"...))
	f.Add(append(append(append(b[:], "text"...), b[:]...), "te"...))
	f.Fuzz(func(t *testing.T, pack []byte) {
		dir := t.TempDir()
		must(t, os.Mkdir(filepath.Join(dir, "packs"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "packs", "7"), pack, 0o600))
		s, err := Open(dir, Options{ReadOnly: true})
		must(t, err)
		blobs, err := s.loaded()
		must(t, err)
		if p := blobs.pack; p.end > int64(len(pack)) || p.ended != (p.end < int64(len(pack))) {
			t.Errorf("%+v of %d bytes", p, len(pack))
		}
		for h := range blobs.known {
			if data, err := s.Get(h); err == nil && HashOf(data) != h || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q, %v", data, err)
			}
		}
	})
}
