package tree

import (
	"context"
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

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// files are made below a directory: a name that ends with "/" is a directory, a
// text that begins with "->" a link, and one that begins with "+x " executable.
func makeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if to, ok := strings.CutPrefix(text, "->"); ok {
			os.Remove(path)
			must(t, os.Symlink(to, path))
			continue
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "+x ") {
			mode = 0o755
		}
		must(t, os.WriteFile(path, []byte(text), mode))
		must(t, os.Chmod(path, mode))
	}
}

func openStore(t testing.TB, dir string, opts store.Options) *store.Store {
	t.Helper()
	st, err := store.Open(dir, opts)
	must(t, err)
	t.Cleanup(func() { st.Close() })
	return st
}

// nowhere is an environment without settings of git.
func nowhere(name string) string {
	return map[string]string{"HOME": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}[name]
}

// project is a scanner of files, which counts what it reads.
type project struct {
	*Scanner
	root string
	mu   sync.Mutex
	read []string
}

func newProject(t testing.TB, root string, st *store.Store, opts Options) *project {
	t.Helper()
	p := &project{root: root}
	if opts.Getenv == nil {
		opts.Getenv = nowhere
	}
	before := opts.between
	opts.between = func(step, path string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if step == "open" {
			p.read = append(p.read, path)
		}
		if before != nil {
			before(step, path)
		}
	}
	p.Scanner = New(root, st, opts)
	return p
}

func (p *project) scan(t testing.TB) *Snapshot {
	t.Helper()
	p.read = nil
	s, err := p.Scan(t.Context())
	must(t, err)
	must(t, s.Unkept)
	slices.Sort(p.read)
	return s
}

func paths(s *Snapshot) (all []string) {
	for _, e := range s.Entries {
		all = append(all, e.Path)
	}
	return all
}

func leftOut(s *Snapshot) (all []string) {
	for _, l := range s.Left {
		all = append(all, l.Path+": "+l.Reason.String())
	}
	return all
}

func changes(old, new *Snapshot) (all []string) {
	for _, c := range Compare(old, new) {
		all = append(all, c.Path+": "+c.What.String())
	}
	return all
}

func expect(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestASnapshotHasEveryFileAsItIs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := map[string]string{
		"empty": "", "a": "text\n", "crlf": "a\r\nb", "binary": "\x00\xff", "run": "+x #!/bin/sh\n", "link": "->a", "dangling": "->../no where",
		"dir/sub/deep": "deep", "dir-x": "sorts before dir/", "a b'$(c)": "odd", "ünï": "utf-8", "to dir": "->dir", "none/": "", "dir/.git/config": "not the one of the project", ".git/HEAD": "x",
	}
	if runtime.GOOS != "windows" {
		files["new\nline\t\"\\"] = "escapes"
	}
	if runtime.GOOS == "linux" {
		files["latin\xe9"] = "not UTF-8"
	}
	makeFiles(t, root, files)
	st := openStore(t, t.TempDir(), store.Options{})
	link := filepath.Join(t.TempDir(), "root")
	must(t, os.Symlink(root, link))
	for _, root := range []string{root, link} {
		s := newProject(t, root, st, Options{}).scan(t)
		var want []string
		for name, text := range files {
			if strings.Contains(name, ".git/") || strings.HasSuffix(name, "/") {
				continue
			}
			want = append(want, name)
			e, ok := s.Entry(name)
			if !ok {
				t.Errorf("%q is missing", name)
				continue
			}
			if to, ok := strings.CutPrefix(text, "->"); ok {
				if !e.IsLink() || e.Link != to || e.Kept || !e.Hash.IsZero() {
					t.Errorf("%q: %+v", name, e)
				}
				continue
			}
			info, err := os.Lstat(filepath.Join(root, name))
			must(t, err)
			data, err := st.Get(e.Hash)
			if err != nil || string(data) != text || !e.Kept || e.Size != int64(len(text)) || e.Mode != info.Mode() || !e.ModTime.Equal(info.ModTime()) {
				t.Errorf("%q: %q, %+v, %v", name, data, e, err)
			}
		}
		slices.Sort(want)
		expect(t, "paths", paths(s), want...)
		expect(t, "left out", leftOut(s))
		if _, ok := s.Entry("no such file"); ok {
			t.Error("made up an entry")
		}
	}
}

func TestCompareTellsWhatChanged(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeFiles(t, root, map[string]string{
		"same": "1", "touched": "1", "content": "1", "size": "1", "mode": "1", "both": "1", "gone": "1", "link": "->a", "same link": "->a", "to link": "1", "to file": "->a", "dir/x": "1", "moved": "moved", "file to dir": "1", "dir to file/x": "1",
	})
	p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{})
	old := p.scan(t)
	expect(t, "nothing", changes(old, old))
	for _, name := range []string{"gone", "link", "to link", "to file", "file to dir"} {
		must(t, os.Remove(filepath.Join(root, name)))
	}
	must(t, os.RemoveAll(filepath.Join(root, "dir to file")))
	must(t, os.Rename(filepath.Join(root, "moved"), filepath.Join(root, "dir/moved")))
	makeFiles(t, root, map[string]string{
		"touched": "1", "content": "2", "size": "22", "mode": "1", "both": "+x 2", "link": "->b", "to link": "->a", "to file": "1", "dir/new": "1", "file to dir/x": "1", "dir to file": "1",
	})
	must(t, os.Chmod(filepath.Join(root, "mode"), 0o600))
	new := p.scan(t)
	want := []string{
		"both: content+mode", "content: content", "dir to file: created", "dir to file/x: deleted", "dir/moved: created", "dir/new: created", "file to dir: deleted", "file to dir/x: created", "gone: deleted", "link: link", "mode: mode", "moved: deleted", "size: content", "to file: link", "to link: link",
	}
	if runtime.GOOS == "windows" {
		want = slices.DeleteFunc(want, func(s string) bool { return strings.HasPrefix(s, "mode") })
		want[0] = "both: content"
	}
	expect(t, "changes", changes(old, new), want...)
	for _, c := range Compare(old, new) {
		if (c.Old.Path == c.Path) != (c.What != Created) || (c.New.Path == c.Path) != (c.What != Deleted) {
			t.Errorf("%+v", c)
		}
	}
}

func TestOnlyWhatChangedIsReadAgain(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), t.TempDir()
	makeFiles(t, root, map[string]string{"a": "1", "b": "2", "d/c": "3", "l": "->a"})
	st := openStore(t, dir, store.Options{})
	opts := Options{granularity: time.Nanosecond}
	p := newProject(t, root, st, opts)
	first := p.scan(t)
	expect(t, "first", p.read, "a", "b", "d/c")
	p.scan(t)
	expect(t, "second", p.read)
	makeFiles(t, root, map[string]string{"b": "22"})
	must(t, os.Remove(filepath.Join(root, "a")))
	p.scan(t)
	expect(t, "after a change", p.read, "b")

	// The index is in the store.
	must(t, st.Close())
	st = openStore(t, dir, store.Options{})
	p = newProject(t, root, st, opts)
	p.scan(t)
	expect(t, "after reopening", p.read)
	// The content is not in the store any more.
	c, _ := first.Entry("d/c")
	_, err := st.Prune(func(func(store.Hash) bool) {}, 0)
	must(t, err)
	p.scan(t)
	expect(t, "after pruning", p.read, "b", "d/c")
	if data, err := st.Get(c.Hash); err != nil || string(data) != "3" {
		t.Errorf("%q, %v", data, err)
	}
	// The index is damaged, or of another version.
	real, err := filepath.EvalSymlinks(root)
	must(t, err)
	for _, data := range []string{"", "x", "\x01\x05", "\x02"} {
		must(t, st.Save(indexName(real), []byte(data)))
		p = newProject(t, root, st, opts)
		p.scan(t)
		expect(t, fmt.Sprintf("index %q", data), p.read, "b", "d/c")
	}
}

// A file that is written twice within a tick of the clock has the same size and
// time both times.
func TestAChangeWithinATickOfTheClockIsSeen(t *testing.T) {
	t.Parallel()
	for granularity, seen := range map[time.Duration]bool{0: true, time.Nanosecond: false} {
		root := t.TempDir()
		makeFiles(t, root, map[string]string{"a": "old"})
		p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{granularity: granularity})
		old := p.scan(t)
		makeFiles(t, root, map[string]string{"a": "new"})
		// As if the clock had stood still.
		info, err := os.Lstat(filepath.Join(root, "a"))
		must(t, err)
		r := p.index["a"]
		r.id = identify(info)
		p.index["a"] = r
		if got := changes(old, p.scan(t)); seen != (len(got) == 1) {
			t.Errorf("clock of %v: %q", granularity, got)
		}
	}
	// A time in the future says nothing.
	root := t.TempDir()
	makeFiles(t, root, map[string]string{"a": "old"})
	p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{granularity: time.Nanosecond})
	future := time.Now().Add(time.Hour)
	must(t, os.Chtimes(filepath.Join(root, "a"), future, future))
	p.scan(t)
	p.scan(t)
	expect(t, "a time in the future", p.read, "a")
}

func TestAFileThatChangesWhileItIsReadIsReadWhole(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"open", "read"} {
		for _, kept := range []int64{0, 1} { // the default, and none
			root := t.TempDir()
			file := filepath.Join(root, "a")
			must(t, os.WriteFile(file, []byte("first"), 0o644))
			n, until := 0, 0
			p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{Limits: Limits{Kept: kept}, between: func(step, path string) {
				if n++; step == when && n <= until {
					must(t, os.WriteFile(file, []byte([]string{"longer than before", "short", "SHORT"}[n%3]), 0o644))
				}
			}})
			for until = range 8 {
				n = 0
				s := p.scan(t)
				if e, ok := s.Entry("a"); ok {
					data, err := os.ReadFile(file)
					must(t, err)
					if e.Hash != store.HashOf(data) || e.Size != int64(len(data)) {
						t.Errorf("%s, %d changes: %+v, but it is %q", when, until, e, data)
					}
				}
			}
			until = 1000
			expect(t, "a file that never rests", leftOut(p.scan(t)), "a: unreadable")
		}
	}
}

// An agent may put a link in place of a file or a directory at any moment.
func TestASwappedLinkLeadsNowhere(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	makeFiles(t, outside, map[string]string{"secret": "0ther", "d/secret": "0ther"})
	for name, swap := range map[string]func(root string) error{
		"file": func(root string) error {
			return errors.Join(os.Remove(root+"/d/secret"), os.Symlink(outside+"/secret", root+"/d/secret"))
		},
		"file, inside": func(root string) error {
			return errors.Join(os.Remove(root+"/d/secret"), os.Symlink("../other", root+"/d/secret"))
		},
		"file, beside": func(root string) error {
			return errors.Join(os.Remove(root+"/d/secret"), os.Symlink("twin", root+"/d/secret"))
		},
		"directory": func(root string) error {
			return errors.Join(os.Rename(root+"/d", root+"/e"), os.Symlink(outside+"/d", root+"/d"))
		},
		"directory, inside": func(root string) error {
			return errors.Join(os.Rename(root+"/d", root+"/e"), os.Symlink("f", root+"/d"))
		},
		"gone":     func(root string) error { return os.Remove(root + "/d/secret") },
		"dir gone": func(root string) error { return os.RemoveAll(root + "/d") },
		"dir again": func(root string) error {
			return errors.Join(os.Remove(root+"/d/secret"), os.Mkdir(root+"/d/secret", 0o755))
		},
	} {
		for _, when := range []string{"list d", "open d/secret"} {
			root := t.TempDir()
			makeFiles(t, root, map[string]string{"d/secret": "mine!", "d/twin": "other", "other": "other", "f/secret": "other"})
			st := openStore(t, t.TempDir(), store.Options{})
			done := false
			p := newProject(t, root, st, Options{between: func(step, path string) {
				if step+" "+path == when && !done {
					done = true
					must(t, swap(root))
				}
			}})
			s := p.scan(t)
			if e, ok := s.Entry("d/secret"); ok && (!e.IsLink() || e.Link == "") || st.Has(store.HashOf([]byte("0ther"))) {
				t.Errorf("%s at %s: %+v", name, when, e)
			}
			if e, ok := s.Entry("d/secret"); ok && when != "list d" {
				t.Errorf("%s at %s: %+v", name, when, e)
			}
			if _, left := s.LeftOut("d/secret"); left && strings.Contains(name, "gone") {
				t.Errorf("%s at %s: left out", name, when)
			}
		}
	}
}

func TestLimitsLeaveOutTheSameFilesEveryTime(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := map[string]string{"big": strings.Repeat("b", 200), "huge": strings.Repeat("h", 2000), "small": "s"}
	for i := range 10 {
		files[fmt.Sprintf("d%d/x", i)] = "x"
		files[fmt.Sprintf("d%d/sub/y", i)] = "y"
	}
	makeFiles(t, root, files)
	st := openStore(t, t.TempDir(), store.Options{})
	scan := func(l Limits) *Snapshot { return newProject(t, root, st, Options{Limits: l}).scan(t) }
	all := scan(Limits{})
	if len(all.Entries) != 23 || len(all.Left) != 0 {
		t.Fatalf("%q, %q", paths(all), leftOut(all))
	}

	sizes := scan(Limits{Kept: 100, Hashed: 1000})
	for name, want := range map[string]struct{ hashed, kept bool }{"small": {true, true}, "big": {true, false}, "huge": {}} {
		e, ok := sizes.Entry(name)
		if !ok || e.Hash.IsZero() == want.hashed || e.Kept != want.kept {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if big, _ := all.Entry("big"); big.Hash != store.HashOf([]byte(files["big"])) || len(changes(all, sizes)) > 0 {
		t.Error(changes(all, sizes))
	}
	must(t, os.Chtimes(filepath.Join(root, "huge"), time.Now(), time.Now().Add(time.Minute)))
	expect(t, "a file that is not read", changes(sizes, scan(Limits{Kept: 100, Hashed: 1000})), "huge: content")

	for range 3 {
		some := scan(Limits{Files: 18})
		expect(t, "files above the limit", paths(some), "big", "d0/x", "d1/x", "huge", "small")
		expect(t, "left out above the limit", leftOut(some), "d0/sub: too many files", "d1/sub: too many files", "d2: too many files", "d3: too many files", "d4: too many files", "d5: too many files", "d6: too many files", "d7: too many files", "d8: too many files", "d9: too many files")
		expect(t, "nobody knows of those", changes(all, some))
		expect(t, "nobody knows of those", changes(some, all))
	}
	expect(t, "a directory above the limit", leftOut(scan(Limits{Files: 12})), ".: too many files")

	flat := scan(Limits{Depth: 1})
	if len(flat.Entries) != 13 || len(flat.Left) != 10 || flat.Left[0] != (Left{Path: "d0/sub", Reason: TooDeep}) {
		t.Errorf("%q, %q", paths(flat), leftOut(flat))
	}
	if why, left := flat.LeftOut("d3/sub/y"); !left || why != TooDeep {
		t.Error(why, left)
	}
	if _, left := flat.LeftOut("d3/x"); left {
		t.Error("d3/x")
	}
}

// Something that git ignores is neither deleted when it becomes ignored, nor
// created when it is not ignored any more.
func TestWhatBecomesIgnoredIsNotDeleted(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeFiles(t, root, map[string]string{"a.o": "1", "build/x/y": "2", "src": "3", ".gitignore": ""})
	p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{})
	seen := p.scan(t)
	makeFiles(t, root, map[string]string{".gitignore": "*.o\nbuild/\n"})
	ignored := p.scan(t)
	expect(t, "ignored", leftOut(ignored), "a.o: ignored", "build: ignored")
	expect(t, "becomes ignored", changes(seen, ignored), ".gitignore: content")
	expect(t, "is not ignored any more", changes(ignored, seen), ".gitignore: content")
	must(t, os.Remove(filepath.Join(root, "src")))
	expect(t, "something else", changes(ignored, p.scan(t)), "src: deleted")
}

func TestAScanWithoutItsRootFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeFiles(t, dir, map[string]string{"file": "x", "root/a": "1"})
	st := openStore(t, t.TempDir(), store.Options{})
	for _, name := range []string{"none", "file"} {
		s, err := New(filepath.Join(dir, name), st, Options{Getenv: nowhere}).Scan(t.Context())
		var e *Error
		if s != nil || !errors.As(err, &e) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	p := newProject(t, filepath.Join(dir, "root"), st, Options{between: func(string, string) { cancel(why) }})
	if s, err := p.Scan(ctx); s != nil || !errors.Is(err, why) {
		t.Errorf("%+v, %v", s, err)
	}
	p.scan(t)
	must(t, os.RemoveAll(filepath.Join(dir, "root")))
	if s, err := p.Scan(t.Context()); s != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%+v, %v", s, err)
	}
}

// A full store is no reason not to know what changed.
func TestASnapshotIsCompleteWithoutRoomForContents(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeFiles(t, root, map[string]string{"a": "12345", "b": "67890", "c": "1"})
	st := openStore(t, t.TempDir(), store.Options{Limits: store.Limits{Bytes: 6}})
	p := newProject(t, root, st, Options{})
	old, err := p.Scan(t.Context())
	must(t, err)
	if !errors.Is(old.Unkept, store.ErrFull) || len(old.Entries) != 3 {
		t.Errorf("%+v", old)
	}
	kept := 0
	for _, e := range old.Entries {
		if e.Hash.IsZero() || e.Kept != st.Has(e.Hash) {
			t.Errorf("%+v", e)
		}
		if e.Kept {
			kept++
		}
	}
	if kept == 0 {
		t.Error("nothing is kept")
	}
	makeFiles(t, root, map[string]string{"b": "67891"})
	new, err := p.Scan(t.Context())
	must(t, err)
	expect(t, "changes", changes(old, new), "b: content")
}
