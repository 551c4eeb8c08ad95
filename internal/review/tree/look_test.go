package tree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

func TestALookSeesTheFilesItIsToldOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(root string) error
		paths  []string
		want   []string
	}{
		"nothing":              {nil, nil, nil},
		"the same":             {nil, []string{"a", "d", "d/x", "l", "none", "none/x", "ignored"}, nil},
		"another file changed": {func(root string) error { return os.WriteFile(root+"/a", []byte("2"), 0o644) }, []string{"b", "d"}, nil},
		"content":              {func(root string) error { return os.WriteFile(root+"/d/x", []byte("2"), 0o644) }, []string{"d/x", "d/x"}, []string{"d/x: content"}},
		"created":              {func(root string) error { return os.WriteFile(root+"/d/new", []byte("2"), 0o644) }, []string{"d/new"}, []string{"d/new: created"}},
		"deleted":              {func(root string) error { return os.Remove(root + "/a") }, []string{"a"}, []string{"a: deleted"}},
		"link":                 {func(root string) error { return errors.Join(os.Remove(root+"/a"), os.Symlink("b", root+"/a")) }, []string{"a"}, []string{"a: link"}},
		"directory deleted":    {func(root string) error { return os.RemoveAll(root + "/d") }, []string{"d"}, []string{"d/sub/y: deleted", "d/x: deleted"}},
		"below one deleted":    {func(root string) error { return os.RemoveAll(root + "/d") }, []string{"d/sub/y"}, []string{"d/sub/y: deleted", "d/x: deleted"}},
		"file in its place": {func(root string) error {
			return errors.Join(os.RemoveAll(root+"/d"), os.WriteFile(root+"/d", nil, 0o644))
		}, []string{"d/x"}, []string{"d: created", "d/sub/y: deleted", "d/x: deleted"}},
		"link in its place": {func(root string) error {
			return errors.Join(os.Rename(root+"/d", root+"/e"), os.Symlink("e", root+"/d"))
		}, []string{"d/x"}, []string{"d: created", "d/sub/y: deleted", "d/x: deleted"}},
		"directory in the place of a file": {func(root string) error { return errors.Join(os.Remove(root+"/a"), os.Mkdir(root+"/a", 0o755)) }, []string{"a"}, []string{"a: deleted"}},
		"git's own":                        {func(root string) error { return os.WriteFile(root+"/.git/config", []byte("2"), 0o644) }, []string{".git/config", ".git"}, nil},
		"first look at an ignored file":    {func(root string) error { return os.WriteFile(root+"/ignored", []byte("2"), 0o644) }, []string{"ignored"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			makeFiles(t, root, map[string]string{"a": "1", "b": "1", "d/x": "1", "d/sub/y": "1", "l": "->a", ".git/config": "", ".gitignore": "ignored\n", "ignored": "1"})
			p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{})
			last := p.scan(t)
			entries, left := slices.Clone(last.Entries), slices.Clone(last.Left)
			if test.change != nil {
				must(t, test.change(root))
			}
			now, err := p.Look(t.Context(), last, test.paths...)
			must(t, err)
			must(t, now.Unkept)
			expect(t, "changes", changes(last, now), test.want...)
			if !slices.Equal(last.Entries, entries) || !slices.Equal(last.Left, left) {
				t.Error("the last snapshot changed")
			}
			if !slices.IsSortedFunc(now.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) }) {
				t.Errorf("%q", paths(now))
			}
			// A scan then agrees, except for files that it does not look at.
			var unseen []string
			for _, c := range Compare(now, p.scan(t)) {
				if !strings.HasPrefix(c.Path, "ignored") {
					unseen = append(unseen, c.Path)
				}
			}
			if name != "another file changed" && name != "link in its place" && len(unseen) > 0 {
				t.Errorf("a scan sees more: %q", unseen)
			}
		})
	}
}

func TestALookAtAnIgnoredFileRemembersIt(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeFiles(t, root, map[string]string{".gitignore": "build\n", "build/x": "1"})
	st := openStore(t, t.TempDir(), store.Options{})
	p := newProject(t, root, st, Options{})
	first, err := p.Look(t.Context(), p.scan(t), "build/x")
	must(t, err)
	if e, ok := first.Entry("build/x"); !ok || !e.Kept || !st.Has(e.Hash) {
		t.Errorf("%+v", e)
	}
	makeFiles(t, root, map[string]string{"build/x": "2"})
	second, err := p.Look(t.Context(), first, "build/x")
	must(t, err)
	expect(t, "changes", changes(first, second), "build/x: content")
	must(t, os.RemoveAll(filepath.Join(root, "build")))
	third, err := p.Look(t.Context(), second, "build/x")
	must(t, err)
	expect(t, "left out", leftOut(third))
	expect(t, "deleted", changes(second, third), "build/x: deleted")
}

func TestALookStaysBelowTheRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{})
	for _, path := range []string{"", "/", "/etc/passwd", "..", "../x", "a/../../x", "a//b", "./a", "a/"} {
		if s, err := p.Look(t.Context(), &Snapshot{}, path); s != nil || !errors.Is(err, errPath) {
			t.Errorf("%q: %+v, %v", path, s, err)
		}
	}
	must(t, os.RemoveAll(root))
	if _, err := p.Look(t.Context(), &Snapshot{}, "a"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func BenchmarkLook(b *testing.B) {
	root := b.TempDir()
	files := make(map[string]string)
	for i := range 3000 {
		files[fmt.Sprintf("pkg%d/sub%d/file%d.go", i%20, i%150, i)] = fmt.Sprint(i)
	}
	makeFiles(b, root, files)
	p := newProject(b, root, openStore(b, b.TempDir(), store.Options{}), Options{})
	last := p.scan(b)
	b.ReportAllocs()
	for b.Loop() {
		now, err := p.Look(b.Context(), last, "pkg7/sub7/file7.go")
		must(b, err)
		if len(now.Entries) != 3000 {
			b.Fatal(len(now.Entries))
		}
	}
}
