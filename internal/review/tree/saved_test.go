package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

func save(t testing.TB, s *Snapshot, st *store.Store) store.Hash {
	t.Helper()
	h, err := s.Save(st)
	must(t, err)
	return h
}

// same reports whether a snapshot is what another was saved as: times are kept
// only where they matter.
func same(saved, loaded *Snapshot) bool {
	want := slices.Clone(saved.Entries)
	for i := range want {
		if !want[i].Hash.IsZero() {
			want[i].ModTime = time.Time{}
		}
	}
	return slices.EqualFunc(want, loaded.Entries, func(a, b Entry) bool {
		at, bt := a.ModTime, b.ModTime
		a.ModTime, b.ModTime = time.Time{}, time.Time{}
		return reflect.DeepEqual(a, b) && at.Equal(bt)
	}) && slices.Equal(saved.Left, loaded.Left)
}

func TestASavedSnapshotIsTheSame(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeFiles(t, root, map[string]string{
		"a": "1", "dir/x": "+x 2", "dir-x/y": "3", "dir/sub/z": "4", "link": "->a", "big": strings.Repeat("b", 100), "huge": strings.Repeat("h", 1000), "ignored": "", ".gitignore": "ignored", "ä\n": "5",
	})
	st := openStore(t, t.TempDir(), store.Options{})
	for name, root := range map[string]string{"files": root, "nothing": t.TempDir()} {
		s := newProject(t, root, st, Options{Limits: Limits{Kept: 50, Hashed: 500}}).scan(t)
		h := save(t, s, st)
		if again := save(t, s, st); again != h {
			t.Errorf("%s: %v, then %v", name, h, again)
		}
		loaded, err := Load(st, h)
		if err != nil || !same(s, loaded) {
			t.Errorf("%s: %+v\nloaded %+v, %v", name, s, loaded, err)
			continue
		}
		expect(t, name, changes(s, loaded))
		if name == "files" && (len(s.Entries) != 9 || len(s.Left) != 1) {
			t.Errorf("%q", paths(s))
		}
	}
}

func TestSnapshotsShareWhatDidNotChange(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/sub/f%d", i%30, i)] = fmt.Sprint(i)
	}
	makeFiles(t, root, files)
	st := openStore(t, t.TempDir(), store.Options{})
	p := newProject(t, root, st, Options{})
	save(t, p.scan(t), st)
	before, err := st.Size()
	must(t, err)
	makeFiles(t, root, map[string]string{"d3/sub/f3": "changed"})
	save(t, p.scan(t), st)
	after, err := st.Size()
	must(t, err)
	// The content, two directories, the root and the snapshot.
	if n, size := after.Blobs-before.Blobs, after.Bytes-before.Bytes; n != 5 || size > 3000 {
		t.Errorf("%d blobs, %d bytes", n, size)
	}
}

func TestPruningKeepsWhatSnapshotsNeed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	st := openStore(t, t.TempDir(), store.Options{})
	p := newProject(t, root, st, Options{})
	var saved []store.Hash
	var all []*Snapshot
	for i := range 6 {
		makeFiles(t, root, map[string]string{"same": "same", "a/b/c": fmt.Sprint("c", i), fmt.Sprint("n/", i): fmt.Sprint("n", i), "n/0": fmt.Sprint(i)})
		s := p.scan(t)
		all, saved = append(all, s), append(saved, save(t, s, st))
	}
	blobs := NewBlobs(st)
	// The blobs that the oldest three need, whatever the order of the calls.
	live := make(map[store.Hash]bool)
	for _, i := range []int{1, 0, 2} {
		for h := range blobs.Of(saved[i]) {
			live[h] = true
		}
	}
	for range blobs.Of(saved[5]) {
		break
	}
	must(t, blobs.Err())
	done, err := st.Prune(func(yield func(store.Hash) bool) {
		for h := range live {
			if !yield(h) {
				return
			}
		}
	}, 0)
	if err != nil || done.Blobs == 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if size, err := st.Size(); err != nil || size.Blobs != len(live) {
		t.Errorf("%+v, want %d: %v", size, len(live), err)
	}
	for i, h := range saved {
		loaded, err := Load(st, h)
		if i > 2 {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("snapshot %d: %v", i, err)
			}
			continue
		}
		if err != nil || !same(all[i], loaded) {
			t.Fatalf("snapshot %d: %v", i, err)
		}
		for _, e := range loaded.Entries {
			if _, err := st.Get(e.Hash); err != nil {
				t.Errorf("snapshot %d, %s: %v", i, e.Path, err)
			}
		}
	}
	for range NewBlobs(st).Of(saved[4]) {
		t.Error("a blob of a snapshot that is gone")
	}
	gone := NewBlobs(st)
	for range gone.Of(saved[4]) {
	}
	if !errors.Is(gone.Err(), fs.ErrNotExist) {
		t.Error(gone.Err())
	}
}

// The names in a snapshot become paths, so none leads out of the project.
func TestABlobThatIsNotASnapshotIsRefused(t *testing.T) {
	t.Parallel()
	st := openStore(t, t.TempDir(), store.Options{})
	put := func(data []byte) store.Hash {
		h, err := st.Put(data)
		must(t, err)
		return h
	}
	file := func(name string) []byte {
		e := Entry{Mode: 0o644, Hash: store.HashOf(nil)}
		return e.append([]byte(treeMagic), name)
	}
	left := put([]byte(leftMagic))
	snapshot := func(top, left store.Hash) []byte {
		return append(append([]byte(snapshotMagic), top[:]...), left[:]...)
	}
	if s, err := Load(st, put(snapshot(put(file("ok")), left))); err != nil || len(s.Entries) != 1 {
		t.Fatal(err)
	}
	bad := map[string]store.Hash{
		"text":       put([]byte("text")),
		"a tree":     put(file("a")),
		"cut":        put(snapshot(left, left)[:40]),
		"long":       put(append(snapshot(put(file("ok")), left), 0)),
		"no tree":    put(snapshot(store.HashOf([]byte("none")), left)),
		"no left":    put(snapshot(put(file("ok")), store.HashOf([]byte("none")))),
		"not a left": put(snapshot(put(file("ok")), put(file("ok")))),
		"cut left":   put(snapshot(put(file("ok")), put([]byte(leftMagic+"\x05ab")))),
		"kind":       put(snapshot(put([]byte(treeMagic+"x\x01a")), left)),
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/"} {
		bad["name "+name] = put(snapshot(put(file(name)), left))
	}
	for i := len(treeMagic) + 1; i < len(file("name")); i++ {
		bad[fmt.Sprint("cut at ", i)] = put(snapshot(put(file("name")[:i]), left))
	}
	for name, h := range bad {
		if s, err := Load(st, h); err == nil || !strings.Contains(err.Error(), h.String()) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestASnapshotIsSavedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeFiles(t, root, map[string]string{"a": "1", "b/c": "2"})
	dir := t.TempDir()
	s := newProject(t, root, openStore(t, dir, store.Options{}), Options{}).scan(t)
	reading := openStore(t, dir, store.Options{ReadOnly: true})
	if h, err := s.Save(reading); !errors.Is(err, store.ErrReadOnly) || !h.IsZero() {
		t.Errorf("%v, %v", h, err)
	}
	// A scan for a store that cannot be written still finds the files.
	p := New(root, reading, Options{Getenv: nowhere})
	again, err := p.Scan(t.Context())
	if err != nil || !errors.Is(again.Unkept, store.ErrReadOnly) || len(changes(s, again)) > 0 {
		t.Errorf("%+v, %v", again, err)
	}
}

func FuzzSaved(f *testing.F) {
	e := Entry{Mode: 0o4755, Size: 3, Hash: store.HashOf(nil), Kept: true}
	huge := Entry{Mode: 0o600, Size: 1 << 40, ModTime: time.Unix(1, 2)}
	link := Entry{Mode: fs.ModeSymlink, Link: "../x"}
	f.Add(link.append(huge.append(e.append([]byte(treeMagic), "a"), "b"), "c"))
	f.Add([]byte(treeMagic + "f\x010\xcf\xcf\xcf\xcf\xcf\xcf0\xed000")) // a file with the mode of a link
	f.Add([]byte(leftMagic + "\x01a\x01"))
	f.Add(index{"a": {id: identity{1, 2, 3, 4}, hash: e.Hash, settled: true}, "": {}}.append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if children, err := decodeTree(data); err == nil {
			again := []byte(treeMagic)
			for _, c := range children {
				if c.dir {
					again = append(appendString(append(again, kindDir), c.Path), c.Hash[:]...)
					continue
				}
				again = c.append(again, c.Path)
			}
			back, err := decodeTree(again)
			if err != nil || !reflect.DeepEqual(children, back) {
				t.Fatalf("%+v\n%+v, %v", children, back, err)
			}
		}
		if left, err := decodeLeft(data); err == nil && len(left) > len(data) {
			t.Fatal(len(left))
		}
		x := decodeIndex(data)
		if back := decodeIndex(x.append(nil)); !back.equal(x) {
			t.Fatalf("%+v\n%+v", x, back)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	root := b.TempDir()
	files := make(map[string]string)
	for i := range 3000 {
		files[fmt.Sprintf("pkg%d/sub%d/file%d.go", i%20, i%150, i)] = fmt.Sprint(i, strings.Repeat(" a line of a source file\n", 250))
	}
	files[".gitignore"] = "*.o\n*.so\n*.pyc\n__pycache__/\nnode_modules/\n/build/\n/dist/\n.cache\n*.log\n**/tmp/**\n*~\n.*.sw?\n"
	makeFiles(b, root, files)
	old := time.Now().Add(-time.Hour)
	must(b, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, old, old))
	}))
	opts := Options{granularity: time.Nanosecond}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			st, err := store.Open(b.TempDir(), store.Options{Delay: time.Hour})
			must(b, err)
			p := newProject(b, root, st, opts)
			b.StartTimer()
			p.scan(b)
			b.StopTimer()
			must(b, st.Close())
			b.StartTimer()
		}
	})
	st := openStore(b, b.TempDir(), store.Options{Delay: time.Hour})
	p := newProject(b, root, st, opts)
	first := p.scan(b)
	save(b, first, st)
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if s := p.scan(b); len(s.Entries) != 3001 || len(p.read) > 0 {
				b.Fatal(len(s.Entries), p.read)
			}
		}
	})
	// A checkpoint is a scan that is saved and compared.
	b.Run("checkpoint after a change", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n++
			makeFiles(b, root, map[string]string{"pkg7/sub7/file7.go": fmt.Sprint(n)})
			s := p.scan(b)
			save(b, s, st)
			if got := changes(first, s); len(got) != 1 {
				b.Fatal(got)
			}
		}
	})
	b.Run("load", func(b *testing.B) {
		h := save(b, first, st)
		for b.Loop() {
			_, err := Load(st, h)
			must(b, err)
		}
	})
	b.Run("blobs of 100 checkpoints", func(b *testing.B) {
		h := save(b, first, st)
		for b.Loop() {
			blobs, n := NewBlobs(st), 0
			for range 100 {
				for range blobs.Of(h) {
					n++
				}
			}
			if n < 300_000 || blobs.Err() != nil {
				b.Fatal(n, blobs.Err())
			}
		}
	})
}
