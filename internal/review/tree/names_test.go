package tree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hermes-nvim/hermes/internal/sockdir"
)

// put makes files below a folder.
func put(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNamesAreThoseThatGitDoesNotIgnore(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.go": "", "src/b.go": "", "src/b.log": "", ".github/ci.yml": "", "node_modules/x/y.js": "", ".gitignore": "*.log\n",
	}
	none := Options{Getenv: func(string) string { return "" }}
	for _, test := range []struct {
		name  string
		more  map[string]string
		want  []string
		limit int
		all   bool
	}{
		{name: "repository", more: map[string]string{".git/HEAD": "", ".git/config": ""}, all: true,
			want: []string{".github/ci.yml", ".gitignore", "a.go", "node_modules/x/y.js", "src/b.go"}},
		{name: "folder", all: true, want: []string{".gitignore", "a.go", "src/b.go"}},
		{name: "limit", limit: 5, want: []string{".gitignore", "a.go"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := sockdir.New(t) // in no repository
			put(t, root, files)
			put(t, root, test.more)
			opts := none
			opts.Limits.Files = test.limit
			got, all, err := Names(context.Background(), root, opts)
			if err != nil || all != test.all || !slices.Equal(got, test.want) {
				t.Errorf("%q, complete %v, %v; want %q, complete %v", got, all, err, test.want, test.all)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, all, err := Names(ctx, t.TempDir(), none); err != nil || all || len(got) > 0 {
		t.Errorf("after its time: %q, complete %v, %v", got, all, err)
	}
	if _, _, err := Names(context.Background(), filepath.Join(t.TempDir(), "none"), none); err == nil {
		t.Error("a folder that is not there has been listed")
	}
}
