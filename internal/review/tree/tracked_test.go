package tree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// Git does not ignore what it tracks. The judge is git itself, whatever form its index
// has.
func TestWhatGitTracksIsNotIgnored(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string][][]string{
		"version 2":     {{"update-index", "--index-version", "2"}},
		"version 3":     {{"add", "-N", "later"}},
		"version 4":     {{"update-index", "--index-version", "4"}},
		"a split index": {{"update-index", "--split-index"}, {"add", "-f", "build/late"}},
		"SHA-256":       {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			init := []string{"init", "-q"}
			if name == "SHA-256" {
				init = append(init, "--object-format=sha256")
			}
			git(t, root, "", init...)
			files := map[string]string{".gitignore": "build/\n*.gen\nvendor\n", "later": "", "a/x.gen": "", "b/x.gen": "", "vendor/lib/x/f": "", "vendor/lib.c": "", "vendor/other": "", "build/.gitignore": "!*\n", "build/late": "", "build.c": ""}
			for _, dir := range []string{"build/", "build/deep/er/", "build/none/", "sub/build/"} {
				for _, file := range []string{"x", "y", "x.gen", "very long name, so that the lengths of names in the index differ much"} {
					files[dir+file] = file
				}
			}
			makeFiles(t, root, files)
			git(t, root, "", "add", "-f", "build/x", "build/deep/er/x.gen", "sub/build/y", "a/x.gen", "vendor/lib", "vendor/lib.c", ".gitignore", "build.c",
				"build/very long name, so that the lengths of names in the index differ much")
			git(t, root, "", "commit", "-q", "-m", "x")
			for _, args := range prepare {
				git(t, root, "", args...)
			}
			st := openStore(t, t.TempDir(), store.Options{})
			for _, dir := range []string{"", "sub", "a"} {
				here := filepath.Join(root, dir)
				want := filesOfGit(t, here)
				if len(want) == 0 {
					t.Fatal("git has no files")
				}
				if got := paths(newProject(t, here, st, Options{Getenv: nowhere}).scan(t)); !slices.Equal(got, want) {
					t.Errorf("%q\nhave %q\nwant %q", dir, got, want)
				}
			}
			m := NewMatcher(root, nowhere, time.Time{})
			want := filesOfGit(t, root)
			for file := range files {
				if m.Ignores(file) == slices.Contains(want, file) {
					t.Errorf("%s: ignored is %v", file, m.Ignores(file))
				}
			}
			if !m.Ignores("build/none/") || m.Ignores("build/") || m.Ignores("build/deep/") {
				t.Error("a folder with tracked files is not ignored, and others are")
			}
		})
	}
}

// A damaged index tracks less, and takes neither time nor memory.
func TestADamagedIndexIsReadAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	git(t, root, "", "init", "-q")
	makeFiles(t, root, map[string]string{"a": "", "b/c": "", "d": ""})
	git(t, root, "", "add", ".")
	for _, version := range []string{"2", "4"} {
		git(t, root, "", "update-index", "--index-version", version)
		data, err := os.ReadFile(filepath.Join(root, ".git/index"))
		must(t, err)
		whole, _ := indexNames(string(data), 20)
		if !slices.Equal(whole, []string{"a", "b/c", "d"}) {
			t.Fatalf("%q", whole)
		}
		for n := range data {
			names, _ := indexNames(string(data[:n]), 20)
			if len(names) > len(whole) {
				t.Errorf("%d bytes: %q", n, names)
			}
			// It ends somewhere, and one byte is another: each is read past the end in some way.
			for at := range n {
				for _, bits := range []byte{0xff, 0x80, 0x40, 1} {
					damaged := slices.Clone(data[:n])
					damaged[at] ^= bits
					indexNames(string(damaged), 20)
				}
			}
			for _, bits := range []byte{0xff, 0x80, 1} {
				damaged := slices.Clone(data)
				damaged[n] ^= bits
				indexNames(string(damaged), 20)
				indexNames(string(damaged), 32)
			}
		}
	}
}

// FuzzIndexNames: an index is a file in the project, so an agent can write it.
func FuzzIndexNames(f *testing.F) {
	entry := make([]byte, 40+20)
	for _, version := range []string{"\x02", "\x03", "\x04"} {
		head := "DIRC\x00\x00\x00" + version + "\x00\x00\x00\x02" + string(entry)
		f.Add(head+"\x00\x01a\x00"+string(make([]byte, 40)), true)
		f.Add(head+"\x40\x01\x00\x00\x00a\x00"+string(entry)+"\x40\x00"+string(make([]byte, 20)), true)
		f.Add(head+"\x00\x01a\x00link\x00\x00\x00\x20"+string(make([]byte, 64)), false)
	}
	f.Fuzz(func(t *testing.T, data string, sha1 bool) {
		size := 20
		if !sha1 {
			size = 32
		}
		names, shared := indexNames(data, size)
		for _, name := range names {
			if name == "" || strings.ContainsRune(name, 0) {
				t.Errorf("%q", name)
			}
		}
		if !slices.IsSorted(names) && shared != "" {
			t.Errorf("not sorted: %q", names)
		}
		if shared != "" && len(shared) != 2*size {
			t.Errorf("shared %q", shared)
		}
	})
}

// The rules at the last Scan decide about a Rescan, and not rules that were written
// since.
func TestARescanIgnoresWhatWasIgnoredBefore(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"exclude":             {".git/info/exclude": "*\n"},
		".gitignore":          {".gitignore": "*\n"},
		"deeper":              {"a/.gitignore": "*\n"},
		"of a new folder":     {"new/.gitignore": "*\n"},
		"a nested repository": {"a/.git/HEAD": "ref: refs/heads/main\n", "a/.git/info/exclude": "*\n"},
		"the configuration":   {".git/config": "[core]\n\texcludesFile = " + os.DevNull + "\n\texcludesFile = ~/all\n"},
		"another repository":  {".git/commondir": "../more", "more/info/exclude": "*\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, root := t.TempDir(), t.TempDir()
			git(t, root, "", "init", "-q")
			makeFiles(t, home, map[string]string{"all": "*\n"})
			makeFiles(t, root, map[string]string{".gitignore": "build/\n", "a/x": "1", "build/x": "1", "tracked": "1"})
			p := newProject(t, root, openStore(t, t.TempDir(), store.Options{}), Options{Getenv: func(name string) string {
				if name == "HOME" {
					return home
				}
				return nowhere(name)
			}})
			before := p.scan(t)
			makeFiles(t, root, files)
			makeFiles(t, root, map[string]string{"a/x": "2", "a/evil": "2", "new/evil": "2", "build/y": "2"})
			for range 2 {
				now, err := p.Rescan(context.Background())
				must(t, err)
				got := changes(before, now)
				for _, want := range []string{"a/x", "a/evil", "new/evil"} {
					if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
						t.Errorf("the change of %s is missing in %q", want, got)
					}
				}
				if _, left := now.LeftOut("build/y"); !left {
					t.Error("what was ignored before is not left out")
				}
			}
			if now := p.scan(t); len(now.Entries) > len(before.Entries)+3 {
				t.Errorf("a scan does not read the patterns again: %q", paths(now))
			}
		})
	}
}
