package tree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// A Matcher says of a path what a scan of the project finds.
func TestAMatcherAgreesWithAScan(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := map[string]string{
		".gitignore":          "*.o\n/build/\n!keep.o\n",
		"a.o":                 "",
		"keep.o":              "",
		"a.c":                 "",
		"build/x":             "",
		"sub/build/x":         "",
		"sub/.gitignore":      "local\n",
		"sub/local/deep/x":    "",
		"sub/other":           "",
		"inner/.git/HEAD":     "ref: refs/heads/main\n",
		"inner/.git/config":   "",
		"inner/a.o":           "",
		"inner/deep/a.o":      "",
		".git/HEAD":           "ref: refs/heads/main\n",
		".git/info/exclude":   "secret\n",
		"secret":              "",
		"sub/secret":          "",
		"sub/deep/notsecret":  "",
		"sub/deep/.gitignore": "!secret\n",
		"sub/deep/secret":     "",
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	st, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	none := func(string) string { return "" }
	now, err := New(root, st, Options{Getenv: none}).Scan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	m := NewMatcher(root, none, time.Time{})
	for name := range files {
		_, scanned := now.Entry(name)
		if got := m.Ignores(name); got == scanned {
			t.Errorf("%s: ignored is %v, in the scan is %v", name, got, scanned)
		}
	}
	if m.Ignores(".") || m.Ignores("build") || !m.Ignores("build/") {
		t.Error("a pattern for folders must not match files, and nothing ignores the root")
	}

	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.c\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if m.Ignores("a.c") || !m.Ignores("a.o") {
		t.Error("it has read the patterns again")
	}
}

// Files that are written after a Matcher was made decide nothing, even where it
// has not looked before.
func TestAMatcherKnowsWhatWasIgnoredAtItsStart(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("old/.gitignore", "build\n")
	write("read/.gitignore", "build\n")
	write("moved/.gitignore", "*\n")
	write("moved/deep/.gitignore", "*\n")
	write("repo/.git/HEAD", "ref: refs/heads/main\n")
	write("repo/.git/info/exclude", "build\n")
	write("plain/f", "")
	made := time.Now()
	m := NewMatcher(root, nowhere, made)
	m.Read("read")
	for after := filepath.Join(root, "after"); ; {
		write("after", "")
		info, err := os.Lstat(after)
		must(t, err)
		if _, changed := statusOf(info); changed == 0 || changed > made.UnixNano() {
			break // the clock of the files has moved on
		}
	}
	for _, dir := range []string{"read", "plain", "new", "repo/sub"} {
		write(dir+"/.gitignore", "*\n")
	}
	write("repo/.git/info/exclude", "*\n")
	write("plain/.git/HEAD", "ref: refs/heads/main\n")
	write("plain/.git/info/exclude", "*\n")
	must(t, os.Rename(filepath.Join(root, "moved"), filepath.Join(root, "here")))
	m.Made("here")
	for path, want := range map[string]bool{
		"old/build": true, "read/build": true, "old/f": false, "read/f": false, "plain/f": false, "new/f": false, "repo/f": false, "repo/sub/f": false, "here/f": false, "here/deep/f": false,
	} {
		if got := m.Ignores(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// A file is not ignored from the moment on when git tracks it, whoever has added it, and it stays
// one of the project.
func TestAMatcherKnowsWhatGitTracksNow(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"nothing", "a file"} {
		root := t.TempDir()
		git(t, root, "", "init", "-q")
		makeFiles(t, root, map[string]string{".gitignore": "build/\n", "a": "", "build/x": "", "build/deep/y": "", "build/z": "", "inner/.gitignore": "*.o\n", "inner/a.o": "", "inner/b.o": ""})
		git(t, filepath.Join(root, "inner"), "", "init", "-q")
		if first == "a file" {
			git(t, root, "", "add", "a")
		}
		m := NewMatcher(root, nowhere, time.Now())
		check := func(when string, tracked ...string) {
			t.Helper()
			for _, path := range []string{"build/x", "build/deep/y", "build/z", "inner/a.o", "inner/b.o"} {
				if got := m.Ignores(path); got == slices.Contains(tracked, path) {
					t.Errorf("%s was tracked at first; %s: %s is ignored: %v", first, when, path, got)
				}
			}
		}
		check("at first")
		git(t, root, "", "add", "-f", "build/x")
		check("with a file", "build/x")
		git(t, filepath.Join(root, "inner"), "", "add", "-f", "a.o")
		check("with one of a repository in it", "build/x", "inner/a.o")
		git(t, root, "", "add", "-f", "build/deep")
		git(t, root, "", "rm", "-q", "--cached", "build/x")
		check("without the first one", "build/x", "build/deep/y", "inner/a.o")
	}
}
