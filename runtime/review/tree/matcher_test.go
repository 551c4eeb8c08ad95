package tree

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/review/store"
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
	m := NewMatcher(root, none)
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
	if m.Ignores("a.c") {
		t.Error("it has read the patterns again without being told")
	}
	if m.Forget(); !m.Ignores("a.c") || m.Ignores("a.o") {
		t.Error("it has not read the patterns again")
	}
}
